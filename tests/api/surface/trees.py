"""Small packages written in the test, read as a release is read."""

from collections.abc import Mapping
from hashlib import sha256
from textwrap import dedent
from typing import Any

from pipeline.api.surface.extract.signature_decorators import HelperRules
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.api.surface.parse_cache import ReadingRules, Records
from pipeline.api.surface.reader import Surface, SurfaceReader
from pipeline.core.rules.load import RULES, load
from pipeline.index.tree import SourceTree

Contents = Mapping[str, bytes]
SURFACE_RULES = load(RULES / "surface.yaml", SurfaceRules)
READING_RULES = ReadingRules(
    SURFACE_RULES, load(RULES / "helpers.yaml", HelperRules), load(RULES / "directives.yaml", DirectiveRules)
)


def tree(files: Mapping[str, str | bytes], root: str = "") -> tuple[SourceTree, Contents]:
    """Return the tree of a release of these files, and what gives their bytes by sha256; `.so` and `.pyd` are compiled."""
    sources = {path: text if isinstance(text, bytes) else dedent(text).encode() for path, text in files.items()}
    compiled = tuple(path for path in sources if path.endswith((".so", ".pyd")))
    hashes = {path: sha256(content).hexdigest() for path, content in sources.items() if path not in compiled}
    contents = {sha256(content).hexdigest(): content for content in sources.values()}
    tops = sorted({top for path in files if not (top := path.split("/")[0].split(".")[0]).startswith("_")})
    return SourceTree(hashes, root, tuple(tops), compiled), contents


def surface(files: Mapping[str, str | bytes] | str, root: str = "") -> Surface:
    if isinstance(files, str):
        files = {"pkg/__init__.py": files}
    sources, contents = tree(files, root)
    return reader_of(contents).read(sources)


def reader_of(contents: Contents) -> SurfaceReader:
    """Return a reader of releases whose files' bytes are at hand, by sha256."""
    return SurfaceReader(Records(None, READING_RULES, lambda wanted: {sha: contents[sha] for sha in wanted}))


def rows(files: Mapping[str, str] | str) -> dict[str, Any]:
    return dict(surface(files).symbols)


def kinds(files: Mapping[str, str] | str) -> dict[str, str]:
    return {path: str(row["kind"]) for path, row in rows(files).items() if path != "pkg"}
