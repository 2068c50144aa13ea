"""Small packages written in the test, read as a release is read."""

from collections.abc import Mapping
from textwrap import dedent

from pipeline.crawl import SourceTree
from pipeline.lake import Row
from pipeline.rules import RULES, load
from pipeline.surface import Surface, SurfaceRules, read_surface

SURFACE_RULES = load(RULES / "surface.yaml", SurfaceRules)


def tree(files: Mapping[str, str], root: str = "") -> SourceTree:
    sources = {path: dedent(text).encode() for path, text in files.items()}
    tops = sorted({path.split("/")[0].removesuffix(".py").removesuffix(".pyi") for path in files})
    return SourceTree(sources, root, tuple(tops))


def surface(files: Mapping[str, str] | str, root: str = "") -> Surface:
    if isinstance(files, str):
        files = {"pkg/__init__.py": files}
    return read_surface(tree(files, root), SURFACE_RULES)


def rows(files: Mapping[str, str] | str) -> dict[str, Row]:
    return {row["path"]: row for row in surface(files).symbols}


def kinds(files: Mapping[str, str] | str) -> dict[str, str]:
    return {path: str(row["kind"]) for path, row in rows(files).items() if path != "pkg"}
