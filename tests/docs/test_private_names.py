"""Names in the code are words of the field: the private ones of earlier days only become fewer."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from pipeline.core.rules.load import RULES

ROOT = RULES.parent
PRIVATE = {
    "asked",
    "came",
    "found",
    "given",
    "heard",
    "kept",
    "known",
    "lacking",
    "made",
    "said",
    "say",
    "says",
    "seen",
    "shown",
    "standing",
    "stands",
    "stated",
    "taken",
    "tell",
    "telling",
    "tells",
    "told",
    "wanted",
    "went",
    "what",
    "who",
}
"""Words that say how a value came about, and not what it is (the glossary of CONTRIBUTING has the words instead)."""

AT_MOST = {
    "api": 8,
    "cli": 1,
    "core": 5,
    "corpus": 81,
    "execution": 8,
    "families": 139,
    "index": 4,
    "lake": 30,
    "orchestration": 18,
    "quality": 1,
}
"""So many names of a room have a private word in them; a room that is not here has none."""


def names_in(tree: ast.AST) -> Iterator[str]:
    """Yield every name that code binds: of functions, classes, parameters, variables and attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def private_names(source: str) -> list[str]:
    return [name for name in names_in(ast.parse(source)) if PRIVATE & set(re.findall("[a-z]+", name.lower()))]


def test_private_names_become_fewer() -> None:
    counts: Counter[str] = Counter()
    for path in [*(ROOT / "pipeline").rglob("*.py"), *(ROOT / "dags").rglob("*.py")]:
        parts = path.relative_to(ROOT).parts
        counts[parts[1] if parts[0] == "pipeline" else parts[0]] += len(private_names(path.read_text()))
    assert +counts == AT_MOST, "name what the thing is; where there are fewer names now, lower the number"


def test_each_way_to_bind_a_name_counts() -> None:
    source = (
        "def told(who): ...\nclass Said: ...\nself.kept = _is_known = 1\nfor release in shown: ...\nknowledge = 1\n"
    )
    assert sorted(private_names(source)) == ["Said", "_is_known", "kept", "told", "who"]
