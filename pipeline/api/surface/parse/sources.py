"""The source files of a release: which of them hold modules in scope, and which modules they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.index.tree import SourceTree, without_stubs


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a release: the module that it is, its path from the import root, and the sha256 of its bytes.

    It is read as far as others use it as a rule, or `whole`, with methods that have a private name.
    """

    module: str
    path: str
    sha256: str
    whole: bool = False

    @property
    def key(self) -> str:
        """What the record of the file depends on: its bytes, the module that they are, and how much of it is read."""
        return f"{self.sha256}:{self.path}{':whole' if self.whole else ''}"


def sources_in_scope(tree: SourceTree, rules: SurfaceRules) -> Iterator[SourceFile]:
    """Yield the files of a release that hold modules in scope, sources and stubs, in order of path."""
    # beside a source, its stub comes second, in whichever folder
    for path in sorted(paths_in_scope(tree.files, rules), key=without_stubs):
        name = module_name(path)
        top = name.partition(".")[0]
        # a private package beside the public one (`_pytest`) has what that one re-exports
        if (top in tree.import_names or top.startswith("_")) and _importable(name):
            yield SourceFile(name, path, tree.files[path])


def paths_in_scope(paths: Iterable[str], rules: SurfaceRules) -> set[str]:
    """Return those files of a release, by their paths from the import root, that hold modules in scope.

    A folder that may be one of tests is one if there is more in it that is out of scope: all else in it serves those.
    """
    inside: set[str] = set()
    of_tests: set[str] = set()
    perhaps: dict[str, list[str]] = {}
    for path in paths:
        name = module_name(path)
        within = rules.in_scope(name, folder=path.rpartition("/")[2].startswith("__init__."))
        if rules.may_be_tests(name):
            perhaps[path] = [path[: slash.start()] for slash in re.finditer("/", path)]
            perhaps[path] = [folder for folder in perhaps[path] if rules.may_be_tests(folder.rpartition("/")[2])]
        if within:
            inside.add(path)
        else:
            of_tests.update(perhaps.get(path, ()))
    return {path for path in inside if of_tests.isdisjoint(perhaps.get(path, ()))}


def module_name(path: str) -> str:
    """Return the dotted name of the module that a path from the import root is, whatever its suffixes.

    Stubs in a folder of their own, `requests-stubs/api.pyi`, are those of the package (PEP 561).
    """
    folder, _, file = without_stubs(path).rpartition("/")
    stem = file.split(".")[0]
    parts = [*folder.split("/"), stem] if folder else [stem]
    return ".".join(parts).removesuffix(".__init__")


def _importable(name: str) -> bool:
    """Return whether a module can be imported by that name; `__main__` is a program, not a module."""
    return all(segment.isidentifier() for segment in name.split(".")) and not name.endswith("__main__")
