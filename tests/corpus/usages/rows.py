"""Small real libraries, read by the real surface, for the tests of usage and snippets."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pipeline.api.surface.stage import surface_stage
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Output
from tests.api.surface.trees import surface

LIB = {
    "lib/__init__.py": '''
from lib._impl import Base, Thing, Other, make, find, things, opened, CONSTANT, current, shared
from lib import sub

__all__ = ["Base", "Thing", "Other", "make", "find", "things", "opened", "CONSTANT", "current", "sub", "Wide", "shared"]

class Wide(dict):
    """Has members from outside."""
    def own(self): ...
''',
    "lib/_impl.py": """
from __future__ import annotations
from typing import Any, Iterator, Optional

CONSTANT = 3

class Base:
    def inherited(self): ...

class Thing(Base):
    count: int = 0
    other: Other
    def other_of(self, deep=False) -> "Other": ...
    def maybe(self) -> Optional[Other]: ...
    def same(self) -> "Self": ...
    def plain(self): ...
    @classmethod
    def build(cls) -> Thing: ...

class Other:
    @property
    def thing(self) -> Thing: ...
    def end(self): ...

def make(a=1, b=2) -> Thing: ...
def find(name) -> Thing | None: ...
def things() -> Iterator[Thing]: ...
def opened() -> Iterator[Thing]: ...
def shared(function): ...
current: Thing = Thing()
""",
    "lib/sub.py": """
from lib._impl import Thing
__all__ = ["Thing", "helper"]
def helper(x): ...
""",
}


def symbols_of(files: Mapping[str, str]) -> dict[str, Any]:
    """Return the symbols of one release by path, as they are at any version."""
    return dict(surface(files).symbols)


def release(version: str, predecessor: str | None = None, import_names: tuple[str, ...] = ("lib",)) -> ReleaseRow:
    """Return a `releases` row."""
    return {
        "library": "lib",
        "version": version,
        "release_time": datetime(2020, 1, int(version.partition(".")[0]), tzinfo=UTC),
        "predecessor": predecessor,
        "requires_python": None,
        "artifact": f"lib-{version}-py3-none-any.whl",
        "artifact_kind": "wheel",
        "sha256": "0" * 64,
        "size": 1,
        "url": "",
        "import_names": list(import_names),
        "licence": "MIT",
        "licence_stated": "MIT",
        "attribution": f"author of {version}",
        "purl": f"pkg:pypi/lib@{version}",
    }


def surfaces(files_of: Mapping[str, Mapping[str, str]]) -> tuple[list[Any], Output]:
    """Return the releases and the surface tables of a library's history: version to its files."""
    versions = list(files_of)
    releases = [release(v, versions[i - 1] if i else None) for i, v in enumerate(versions)]
    return releases, surface_stage({"releases": releases}, lambda row: surface(files_of[row["version"]]))
