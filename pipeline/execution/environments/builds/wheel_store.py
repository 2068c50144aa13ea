"""Wheels that were built here, kept by what they were built from; nothing enters that is not what it should be."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from packaging.metadata import parse_email
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from pipeline.core.errors import CodedError
from pipeline.execution.environments.resolution.pinned import Pin
from pipeline.execution.environments.resolution.wheel_compatibility import PURE, tags_of
from pipeline.index.archives import ArchiveLimits, BadArchive, UnsafeArchive, read_members
from pipeline.lake.ids import content_id

_METADATA = ".dist-info/METADATA"


class NotTheWheel(CodedError):
    """What a build handed out is not a wheel of the distribution that was to be built."""


@dataclass(frozen=True, slots=True)
class WheelStore:
    """The folder `root/<key>/<wheel>`; `limits` is what a wheel may unpack to."""

    root: Path
    limits: ArchiveLimits

    @contextlib.contextmanager
    def reserved(self, pin: Pin, python: str, beside: Sequence[str]) -> Iterator[None]:
        """Keep others from building the same wheel meanwhile."""
        folder = self._folder(pin, python, beside)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            yield

    def find(self, pin: Pin, python: str, beside: Sequence[str]) -> Path | None:
        """Return the wheel of a source distribution for Python X.Y, if it was built before.

        What is not compiled does not depend on what it runs with.
        """
        own = self._only(self._folder(pin, python, beside))
        plain = self._only(self._folder(pin, python, ()))
        return own or (plain if plain and plain.name.endswith(PURE) else None)

    def put(self, name: str, content: bytes, pin: Pin, python: str, beside: Sequence[str]) -> Path:
        """Check a wheel and keep it.

        Errors: NotTheWheel.
        """
        self._check(name, content, pin, python)
        folder = self._folder(pin, python, () if name.endswith(PURE) else beside)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as temporary:
            ready = Path(temporary, "wheel")
            ready.mkdir()
            (ready / name).write_bytes(content)
            try:
                ready.rename(folder)
            except OSError:
                # Another process built it at the same time and was there first.
                if not (folder / name).is_file():
                    raise
        return folder / name

    def _folder(self, pin: Pin, python: str, beside: Sequence[str]) -> Path:
        constraints = pin.built.constraints if pin.built else ()
        return self.root / content_id(pin.sha256s[0], python, *sorted(constraints), *sorted(beside))

    @staticmethod
    def _only(folder: Path) -> Path | None:
        return next(folder.glob("*.whl"), None)

    def _check(self, name: str, content: bytes, pin: Pin, python: str) -> None:
        try:
            built, version, _, tags = parse_wheel_filename(name)
        except InvalidWheelFilename as error:
            raise NotTheWheel(str(error), code="wheel_name_invalid") from None
        if "/" in name or (built, version) != (canonicalize_name(pin.name), Version(pin.version)):
            raise NotTheWheel(f"{name[:200]} is not a wheel of {pin.requirement}", code="wheel_of_other")
        if tags.isdisjoint(tags_of(python)):
            raise NotTheWheel(f"{name[:200]} is not for Python {python} on this machine", code="wheel_not_for_python")
        try:
            members = list(read_members(io.BytesIO(content), lambda path: path.endswith(_METADATA), self.limits))
        except (BadArchive, UnsafeArchive) as error:
            raise NotTheWheel(f"{name}: {error}", code="wheel_unreadable") from None
        metadata = [parse_email(member.content)[0] for member in members]
        names = [(canonicalize_name(raw.get("name", "")), raw.get("version")) for raw in metadata]
        if len(names) != 1 or names[0][0] != built or _version(names[0][1]) != version:
            raise NotTheWheel(f"{name} holds the metadata of {names or 'nothing'}", code="wheel_metadata_differs")


def _version(text: str | None) -> Version | None:
    try:
        return Version(text or "")
    except InvalidVersion:
        return None
