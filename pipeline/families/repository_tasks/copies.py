"""Where else on a machine the text of a project's file can be read: installed copies, vendored ones, bytecode, wheels.

What is found is hidden from runs in which an answer stands in the place of the file.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name

from pipeline.execution.sandbox.environment import Environment

_OF_THE_SYSTEM = ("lib/python3*", "local/lib/python3*", "share/python-wheels")
_ALIKE = 0.5
"""Share of the longer lines of code of a file that a copy of it has at least; another release has most of them."""
_INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Folders of what is installed. The standard library is never hidden, though a project may be a backport of it."""
_LONG = 20
"""Characters from which on a line tells something."""
_RUNS_TESTS = ("pytest", "hypothesis")


def hidden_copies(environment: Environment, masked: Mapping[str, bytes], packages: Collection[str]) -> list[Path]:
    """Return the files of the machine, as a sandbox shows it, that tell what is in some files of a project.

    Of a project that pytest itself needs nothing is hidden: without it no test would run.
    """
    if not masked or needed_by_pytest(environment.site_packages) & {name.lower() for name in packages}:
        return []
    by_name = _files(tuple(sorted({*environment.folders, *_system()})))
    found = set(by_name.get("", ()))
    for path, content in masked.items():
        name = path.rpartition("/")[2]
        lines = _lines(content)
        copies = [copy for copy in by_name.get(name, ()) if _is_alike(copy, lines)]
        found.update(copies)
        found.update(pyc for copy in copies for pyc in copy.parent.glob(f"__pycache__/{copy.stem}.*.pyc"))
    return sorted(found)


@lru_cache(64)
def needed_by_pytest(site_packages: Path) -> frozenset[str]:
    """Return the top-level modules of what runs the tests, with all that it requires, as far as it is installed."""
    installed = {canonicalize_name(one.metadata["Name"] or ""): one for one in distributions(path=[str(site_packages)])}
    waiting: list[str]
    waiting, known = [*_RUNS_TESTS], set[NormalizedName]()
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in known or name not in installed:
            continue
        known.add(name)
        waiting += [required for text in installed[name].requires or () if (required := _required(text))]
    modules = {str(name).replace("-", "_") for name in known}
    for distribution in known:
        top = installed[distribution].read_text("top_level.txt") or ""
        modules.update(top.split())
    return frozenset(module.lower() for module in modules)


def _required(text: str) -> str | None:
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return None
    return None if wanted.marker and "extra" in str(wanted.marker) else wanted.name


def _system() -> Iterator[Path]:
    for pattern in _OF_THE_SYSTEM:
        yield from (path for path in Path("/usr").glob(pattern) if path.is_dir())


@lru_cache(16)
def _files(folders: tuple[Path, ...]) -> Mapping[str, list[Path]]:
    """Return the installed Python files below folders by their names, wheels under an empty one."""
    found: dict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                if name.endswith(".py") and not _INSTALLED.isdisjoint(Path(place).parts):
                    found[name].append(Path(place, name))
                elif name.endswith(".whl"):
                    found[""].append(Path(place, name))
    return found


def _lines(content: bytes) -> frozenset[bytes]:
    lines = map(bytes.strip, content.split(b"\n"))
    return frozenset(line for line in lines if len(line) >= _LONG and not line.startswith(b"#"))


def _is_alike(path: Path, lines: Collection[bytes]) -> bool:
    """Tell whether a file is a copy of the text with these lines, of the same release or another."""
    try:
        own = _lines(path.read_bytes())
    except OSError:
        return False
    return bool(lines) and len(own & set(lines)) >= _ALIKE * len(lines)
