"""Which files of a release can be installed as they are on an interpreter, and which versions have none."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.execution.environments.resolution.index_proxy import everything
from pipeline.index.index import IndexFile, Project

PURE = "-none-any.whl"
"""How the name of a wheel ends that has nothing compiled in it."""


@functools.cache
def tags_of(python: str) -> frozenset[Tag]:
    """Return the tags of the wheels that a CPython X.Y of this machine can install (PEP 425, 600)."""
    version = tuple(map(int, python.split(".")))
    interpreter = f"cp{version[0]}{version[1]}"
    return frozenset([*cpython_tags(version), *compatible_tags(version, interpreter)])


def fits(file: IndexFile, python: str) -> bool:
    """Whether a file is a wheel for a CPython X.Y of this machine."""
    if file.kind is not ArtifactKind.WHEEL:
        return False
    try:
        return not tags_of(python).isdisjoint(parse_wheel_filename(file.filename)[3])
    except InvalidWheelFilename:
        return False


@dataclass
class WheelsFirst:
    """A view of the index that shows source distributions only where they are needed.

    Of a compiled distribution that has a wheel for this Python as of its cut-off, it shows the source of the version
    that is asked for exactly (`exact`), and no other: what has no wheel is passed over for what has one, as pip does
    with --prefer-binary. What is not compiled is as good from source: networkx had wheels up to 1.11 and again from
    2.4 on. `hid` tells whether anything was kept back.
    """

    python: str
    cutoff: Callable[[str], datetime]
    exact: Mapping[str, str]
    hid: bool = False

    def __call__(self, project: Project) -> list[IndexFile]:
        """Return the files to show of a distribution."""
        files = everything(project)
        day = self.cutoff(project.library)
        wheels = [file for file in files if fits(file, self.python) and file.uploaded and file.uploaded < day]
        if not wheels or any(file.filename.endswith(PURE) for file in wheels):
            return files
        exact = set(project.releases.get(self.exact.get(project.library, ""), ()))
        listed = [file for file in files if file.kind is ArtifactKind.WHEEL or file in exact]
        self.hid |= len(listed) < len(files)
        return listed
