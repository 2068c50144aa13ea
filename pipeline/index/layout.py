"""Which files of an archive are the library: the import root, the top-level packages and modules, what is in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from packaging.utils import canonicalize_name

from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.index.manifest import Manifest
from pipeline.index.rules import CrawlRules
from pipeline.index.tree import SourceTree, without_stubs

SOURCE_ROOTS = ("src/", "lib/", "")
PACKAGE_FILES = ("__init__.py", "__init__.pyi")
_DATA = re.compile(r"[^/]+\.data/(?:purelib|platlib)/")

Choose = Callable[[Collection[str]], Collection[str]]
"""Selects files of a release by their paths from the import root."""


def source_tree(manifest: Manifest, library: str, rules: CrawlRules, choose: Choose | None = None) -> SourceTree:
    """Return the sources of a library in an artifact, of which only those files that are wanted.

    A tree without import names says that there is nothing to import.
    """
    announced = frozenset(map(without_stubs, manifest.top_level.split()))
    candidates = [
        (root, names)
        for root in _roots(manifest)
        if (names := _import_names(root, manifest, announced, library, rules))
    ]
    if not candidates:
        return SourceTree({}, "", ())
    root, names = max(candidates, key=lambda tree: (bool(announced & set(tree[1])), _names_library(tree[1], library)))
    tops = {*names, *_private_packages(root, manifest)}
    files = {path: manifest.files[root + path] for path in _below(root, manifest.files) if _top(path) in tops}
    chosen = files if choose is None else choose(files)
    return SourceTree(
        {path: sha256 for path, sha256 in files.items() if path in chosen},
        root,
        tuple(names),
        tuple(_extension_modules(_below(root, manifest.compiled), files, names)),
    )


def _roots(manifest: Manifest) -> list[str]:
    """Return the folders that can be the import root: of an sdist `name-version/` and below.

    Of a wheel it is the top, or what an installer puts there (PEP 427, "The .data directory").
    """
    if manifest.artifact.kind is ArtifactKind.WHEEL:
        return ["", *sorted({match[0] for name in manifest.files if (match := _DATA.match(name))})]
    tops = sorted({name.split("/")[0] + "/" for name in manifest.files if "/" in name})
    return [top + root for top in tops for root in SOURCE_ROOTS]


def _below(root: str, names: Iterable[str]) -> list[str]:
    return [name[len(root) :] for name in names if name.startswith(root)]


def _import_names(
    root: str, manifest: Manifest, announced: frozenset[str], library: str, rules: CrawlRules
) -> list[str]:
    """Return the packages and modules, compiled ones too, at the root of the library.

    A folder without an __init__ is a namespace package (PEP 420) where the archive announces it, and where nothing else
    is there; in an sdist, which has folders of every kind, its name must also begin the library's. In a wheel that
    announces nothing (no top_level.txt: meson-python) it is one too if there are packages in it, as in `mpl_toolkits`.
    """
    split = [without_stubs(name).partition("/") for name in _below(root, manifest.files)]
    packages = {top for top, _, rest in split if rest in PACKAGE_FILES}
    modules = {stem for name, slash, _ in split if not slash and (stem := name.rpartition(".")[0]).isidentifier()}
    tops = packages | modules
    tops |= {_top(name) for name in _below(root, manifest.compiled) if "/" not in name}
    spaces = {top for top, slash, _ in split if slash and top.isidentifier()} - packages
    no_libraries = rules.not_the_library - {library}
    public, spaces = ({top for top in some - no_libraries if not top.startswith("_")} for some in (tops, spaces))
    if manifest.artifact.kind is not ArtifactKind.WHEEL and not announced & spaces:
        spaces = {top for top in spaces if f"{library}-".startswith(f"{canonicalize_name(top)}-")}
    if manifest.artifact.kind is ArtifactKind.WHEEL and not announced:
        public |= {top for top, _, rest in split if top in spaces and rest.partition("/")[2] in PACKAGE_FILES}
    return sorted((public | spaces) & announced or public or spaces)


def _private_packages(root: str, manifest: Manifest) -> set[str]:
    """Return the packages beside a public one whose name says that they are its inside: `_pytest`."""
    split = (path.partition("/") for path in _below(root, manifest.files))
    return {top for top, _, rest in split if rest in PACKAGE_FILES and top.startswith("_")}


def _names_library(names: Sequence[str], library: str) -> bool:
    return library in {canonicalize_name(name) for name in names}


def _extension_modules(compiled: Iterable[str], files: Iterable[str], names: Sequence[str]) -> Iterator[str]:
    """Yield what can be imported of the compiled files; shared libraries lie in folders that are no packages."""
    packages = {folder for folder, _, name in (path.rpartition("/") for path in files) if name in PACKAGE_FILES}
    for path in compiled:
        folder, _, name = path.rpartition("/")
        if _top(path) in names and folder in packages | {""} and name.split(".")[0].isidentifier():
            yield path


def _top(path: str) -> str:
    first, slash, _ = without_stubs(path).partition("/")
    return first if slash else first.split(".")[0]
