"""What an environment is asked for: a release, perhaps a Python, and what stands beside it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pipeline.lake.rows import ReleaseRow


@dataclass(frozen=True, slots=True)
class EnvironmentRequest:
    """A release to be installed, by its normalised name and version, and how.

    `python` is X.Y, or None where the rules choose. `pins` are requirements beside it (PEP 508). `undeclared` are those
    that code imports and nothing requires: they are as of the very day, without slack. `tools` ("pytest") are resolved
    with the rest but are exempt from the cut-off. `release_time`, `requires_python` and `import_names` are asked of the
    index, or read from what was installed, where they are None or empty. Nothing that was uploaded at `as_of` or later
    is used, tools apart.
    """

    library: str
    version: str
    python: str | None = None
    pins: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    release_time: datetime | None = None
    requires_python: str | None = None
    import_names: tuple[str, ...] = ()
    as_of: datetime | None = None
    undeclared: tuple[str, ...] = ()

    @property
    def requirement(self) -> str:
        """The release itself as a requirement."""
        return f"{self.library}=={self.version}"


def request_of(release: ReleaseRow) -> EnvironmentRequest:
    """Return what a row of `releases` asks for: the release alone, on a Python that the rules choose."""
    return EnvironmentRequest(
        release["library"],
        release["version"],
        release_time=release["release_time"],
        requires_python=release["requires_python"],
        import_names=tuple(release["import_names"]),
        as_of=release.get("as_of"),
    )
