"""Names in the code are words of the field."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import pytest
import yaml

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

STANDARD = re.compile("not_?found", re.IGNORECASE)
"""HTTP's own words."""


@cache
def declared() -> frozenset[str]:
    """Return the names that data have: columns of tables, and keys of rule files."""
    files = [*(ROOT / "schemas").glob("*.yaml"), *RULES.rglob("*.yaml")]
    return frozenset({name for path in files for name in _names_of(yaml.safe_load(path.read_text()))})


def _names_of(content: Any) -> Iterator[str]:
    """Yield all keys, and what is called `name`."""
    match content:
        case dict():
            yield from map(str, content)
            if isinstance(content.get("name"), str):
                yield content["name"]
            for value in content.values():
                yield from _names_of(value)
        case list():
            for value in content:
                yield from _names_of(value)


def names_in(tree: ast.AST) -> Iterator[str]:
    """Yield every name that code binds: of functions, classes, parameters, variables, attributes, captures and imports.

    A field whose name data declare, and a term that is called as its value, are not ours to name.
    """
    fields = {id(target) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for target in _declared_in(node)}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) if id(node) not in fields:
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.alias(asname=str(name)):
                yield name


def _declared_in(node: ast.ClassDef) -> Iterator[ast.Name]:
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name) as target) if name in declared():
                yield target
            case ast.Assign(targets=[ast.Name(id=name) as target], value=value):
                first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
                if isinstance(first, ast.Constant) and first.value == name.lower():
                    yield target


def private_names(source: str) -> list[str]:
    return [name for name in names_in(ast.parse(source)) if _is_private(name)]


def _is_private(name: str) -> bool:
    """Say whether a private word is in a name; methods of Python's own files have one."""
    words = re.findall("[A-Z]?[a-z]+|[A-Z]+", STANDARD.sub("", name))
    return not hasattr(io.RawIOBase, name) and not PRIVATE.isdisjoint(word.lower() for word in words)


def test_names_are_words_of_the_field() -> None:
    paths: Iterable[Any] = [*(ROOT / "pipeline").rglob("*.py"), *(ROOT / "dags").rglob("*.py")]
    private = {str(path.relative_to(ROOT)): names for path in paths if (names := private_names(path.read_text()))}
    assert private == {}, "name what the thing is"


def test_each_way_to_bind_a_name_counts() -> None:
    source = (
        "def told(who): ...\nclass Said: ...\nself.kept = _is_known = 1\nfor release in shown: ...\nknowledge = 1\n"
        "class DraftsTold:\n    wanted_by: int\n"
    )
    assert sorted(private_names(source)) == ["DraftsTold", "Said", "_is_known", "kept", "told", "wanted_by", "who"]


@pytest.mark.parametrize(
    "source",
    [
        "match value:\n    case int(given): ...\n",
        "match value:\n    case int() as given: ...\n",
        "match value:\n    case [_, *given]: ...\n",
        "match value:\n    case {'a': _, **given}: ...\n",
        "try: ...\nexcept ValueError as given: ...\n",
        "import module as given\n",
        "from module import name as given\n",
    ],
)
def test_captures_caught_errors_and_imports_bind_names(source: str) -> None:
    assert private_names(source) == ["given"]


def test_names_of_other_modules_do_not_count() -> None:
    assert private_names("import given\nfrom module import told\nmatch value:\n    case _: ...\n") == []


def test_names_that_data_declare_do_not_count() -> None:
    source = (
        "class Row:\n    kept: str\nclass Reason:\n    NOT_MADE = 'not_made', 'nothing makes it'\n"
        "class NotFound: ...\nclass File:\n    def tell(self): ...\n"
    )
    assert private_names(source) == []
    assert private_names("stated = 1\n") == ["stated"]
