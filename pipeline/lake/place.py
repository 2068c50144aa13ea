"""Where work is: the run, library, stage and release at hand, for every log line and every failure.

The names are context variables of structlog, which Airflow's logs and those of the command line merge into each line.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager


class ReleaseNote(str):
    """A note on an exception (PEP 678) that names the release at which it was raised; tracebacks show it."""

    __slots__ = ()

    @property
    def version(self) -> str:
        """The release."""
        return self.removeprefix("at release ")


def at(**names: object) -> AbstractContextManager[None]:
    """Let every log line within the block have these names."""
    # slow to import
    from structlog.contextvars import bound_contextvars

    return bound_contextvars(**names)


@contextmanager
def at_release(version: str) -> Iterator[None]:
    """Work on one release: log lines within name it, and so does an exception that leaves the block."""
    with at(release=version):
        try:
            yield
        except BaseException as error:
            if release_of(error) is None:
                error.add_note(ReleaseNote(f"at release {version}"))
            raise


def release_of(error: BaseException | None) -> str | None:
    """Return the release at which an exception, or what it came from, was raised; None where none was at hand."""
    while error is not None:
        for note in getattr(error, "__notes__", ()):
            if isinstance(note, ReleaseNote):
                return note.version
        error = error.__cause__ or error.__context__
    return None
