"""Where else the text of a project's file can be read: built, installed or vendored copies, bytecode, archives.

What is found is hidden from runs in which an answer stands in the place of the file, and left out of exports.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import distributions
from pathlib import Path
from typing import IO

from pipeline.execution.sandbox.environment import Environment
from pipeline.index.archives import ArchiveLimits, BadArchive, UnsafeArchive, read_members

BYTECODE = (".pyc", ".pyo")
ARCHIVES = (".whl", ".egg", ".zip", ".pyz", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_LARGEST = 1 << 25
"""Bytes of an installed archive that is looked into: a larger one is hidden."""
_OF_THE_SYSTEM = (
    *("lib/python3*", "lib64/python3*", "local/lib/python3*", "lib/pypy3*", "local/lib/pypy3*"),
    "share/python-wheels",
)
_ALIKE = 0.5
"""Share of the longer lines of code of a file that a copy of it has at least; another release has most of them."""
_INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Folders of what is installed. The standard library is never hidden, though a project may be a backport of it."""
_LONG = 20
"""Characters from which on a line tells something."""
_RUNS_TESTS = ("pytest", "hypothesis")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


class Copies:
    """Recognizes copies of some files, given by path, of the same release or another."""

    def __init__(self, masked: Mapping[str, bytes]) -> None:
        self._contents = frozenset(filter(None, masked.values()))
        self._lines: dict[str, list[frozenset[bytes]]] = defaultdict(list)
        for path, content in masked.items():
            self._lines[_name(path)].append(_lines(content))

    def are_equal(self, content: bytes) -> bool:
        """Tell whether one of the files has this content."""
        return content in self._contents

    def are_alike(self, path: str, content: bytes) -> bool:
        """Tell whether a file has the name of one of the files, and most of its longer lines."""
        texts = self._lines.get(_name(path), ())
        own = _lines(content) if texts else frozenset()
        return any(lines and len(own & lines) >= _ALIKE * len(lines) for lines in texts)

    def are_packed(self, archive: IO[bytes], limits: ArchiveLimits) -> bool:
        """Tell whether an archive may hold a copy: an encrypted zip, which the guarded reader refuses, may."""
        try:
            members = read_members(archive, lambda name: _name(name) in self._lines, limits)
            return any(
                self.are_equal(distribution.content) or self.are_alike(distribution.name, distribution.content)
                for distribution in members
            )
        except (BadArchive, UnsafeArchive):
            return True


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def hidden_copies(environment: Environment, masked: Mapping[str, bytes], packages: Collection[str]) -> list[Path]:
    """Return installed files that contain copies of masked project files.

    Of a project that pytest itself needs nothing is hidden: without it no test would run.
    """
    if not masked or needed_by_pytest(environment.site_packages) & {name.lower() for name in packages}:
        return []
    by_name = _files(tuple(sorted({*environment.folders, *_system()})))
    copies = Copies(masked)
    copies_by_name = {path for path in by_name.get("", ()) if path.suffix == ".whl" or _is_packed(path, copies)}
    for path in masked:
        name = _name(path)
        for copy in by_name.get(name, ()):
            if _is_alike(copy, copies):
                copies_by_name.update(
                    [copy, *copy.parent.glob(f"__pycache__/{copy.stem}.*.pyc"), *copy.parent.glob(f"{copy.stem}.pyc")]
                )
        copies_by_name.update(
            distribution
            for distribution in by_name.get(f"{name}c", ())
            if _package(distribution) in {Path(path).parent.name, *_INSTALLED}
        )
    return sorted(copies_by_name)


@lru_cache(64)
def needed_by_pytest(site_packages: Path) -> frozenset[str]:
    """Return the top-level modules of what runs the tests, with all that it requires, as far as it is installed."""
    installed = {
        _normalized(package.metadata["Name"] or ""): package for package in distributions(path=[str(site_packages)])
    }
    waiting: list[str]
    waiting, visited = [*_RUNS_TESTS], set[str]()
    while waiting:
        name = _normalized(waiting.pop())
        if name in visited or name not in installed:
            continue
        visited.add(name)
        waiting += [required for text in installed[name].requires or () if (required := _required(text))]
    modules = {name.replace("-", "_") for name in visited}
    for distribution in visited:
        top = installed[distribution].read_text("top_level.txt") or ""
        modules.update(top.split())
    return frozenset(module.lower() for module in modules)


def _required(text: str) -> str | None:
    """Return the name of a requirement (PEP 508), None where it is for an extra; verifiers have no `packaging`."""
    requirement, _, marker = text.partition(";")
    name = _NAME.match(requirement.strip())
    return None if name is None or "extra" in marker else name[0]


def _normalized(name: str) -> str:
    """Return the normalized name of a distribution (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _system() -> Iterator[Path]:
    for pattern in _OF_THE_SYSTEM:
        yield from (path for path in Path("/usr").glob(pattern) if path.is_dir())


@lru_cache(16)
def _files(folders: tuple[Path, ...]) -> Mapping[str, list[Path]]:
    """Return the installed Python files below folders by their names, bytecode without a source by that with a `c`,
    archives under an empty one.
    """
    copies_by_name: dict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for place, _, names in os.walk(folder):
            is_installed = not _INSTALLED.isdisjoint(Path(place).parts)
            for name in names:
                path = Path(place, name)
                if name.endswith(ARCHIVES) and (is_installed or name.endswith(".whl")):
                    copies_by_name[""].append(path)
                elif is_installed and name.endswith(".py"):
                    copies_by_name[name].append(path)
                elif is_installed and name.endswith(".pyc") and not (source := _source(path)).exists():
                    copies_by_name[f"{source.name}c"].append(path)
    return copies_by_name


def _source(bytecode: Path) -> Path:
    """Return the file from which bytecode is made (PEP 3147, or beside it)."""
    folder = bytecode.parent
    return (folder.parent if folder.name == "__pycache__" else folder) / f"{bytecode.name.split('.')[0]}.py"


def _package(bytecode: Path) -> str:
    return _source(bytecode).parent.name


def _is_packed(path: Path, copies: Copies) -> bool:
    """Tell whether an installed archive may hold a copy: whatever is not looked into may."""
    try:
        if path.stat().st_size > _LARGEST:
            return True
        with path.open("rb") as archive:
            return copies.are_packed(archive, ArchiveLimits())
    except OSError:
        return True


def _lines(content: bytes) -> frozenset[bytes]:
    lines = map(bytes.strip, content.split(b"\n"))
    return frozenset(line for line in lines if len(line) >= _LONG and not line.startswith(b"#"))


def _is_alike(path: Path, copies: Copies) -> bool:
    try:
        return copies.are_alike(path.name, path.read_bytes())
    except OSError:
        return False
