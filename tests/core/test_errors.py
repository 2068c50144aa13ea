"""Every error that has a cause of its own has a code, every code its cause in the reference, and tests match codes."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator, Mapping

import pytest
import yaml

from pipeline.core.errors import CodedError, FatalError, InputError, present
from pipeline.core.settings import PROJECT
from pipeline.index.http import NotFound
from pipeline.lake.delta import LakeProblem
from pipeline.lake.sql import SqlProblem
from tests.errors import raises

CODES = PROJECT / "pipeline" / "core" / "error_codes.yaml"
OWN_VOCABULARY = {"LakeError": LakeProblem, "SqlError": SqlProblem}
"""Errors that take a member of an enum instead of a text."""

TREES = {path: ast.parse(path.read_text("utf-8")) for path in sorted((PROJECT / "pipeline").rglob("*.py"))}


def coded_classes() -> dict[str, set[str]]:
    """Return the names of classes of coded errors, each with the codes that all errors of a class have, if any."""
    classes = [node for tree in TREES.values() for node in tree.body if isinstance(node, ast.ClassDef)]
    coded: dict[str, set[str]] = {"CodedError": set()}
    while (
        added := {node.name for node in classes if coded.keys() & {ast.unparse(base) for base in node.bases}}
        - coded.keys()
    ):
        for node in classes:
            if node.name in added:
                inherited = (coded.get(ast.unparse(base), set()) for base in node.bases)
                own = class_code(node)
                coded.setdefault(node.name, set()).update([own] if own else set().union(*inherited))
    return coded


def class_code(node: ast.ClassDef) -> str | None:
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="code")], value=ast.Constant(value=str(code))):
                return code
    return None


def errors_of(tree: ast.Module, names: Mapping[str, object]) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := ast.unparse(node.func).rpartition(".")[2]) in names:
            yield node, name


def codes_of(node: ast.Call) -> set[str]:
    values = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
    constants = (inner for value in values for inner in ast.walk(value) if isinstance(inner, ast.Constant))
    return {str(constant.value) for constant in constants}


def test_every_error_has_a_code() -> None:
    names = {name: code for name, code in coded_classes().items() if name not in OWN_VOCABULARY}
    without = [
        f"{path.relative_to(PROJECT)}:{node.lineno}: {name}"
        for path, tree in TREES.items()
        for node, name in errors_of(tree, names)
        if not codes_of(node) and not names[name]
    ]
    assert without == []


def test_the_reference_has_every_code_and_no_other() -> None:
    names = coded_classes()
    raised = {code for tree in TREES.values() for node, _ in errors_of(tree, names) for code in codes_of(node)}
    raised |= set().union(*names.values())
    raised |= {str(member) for vocabulary in OWN_VOCABULARY.values() for member in vocabulary}
    rooms = yaml.safe_load(CODES.read_text("utf-8"))
    listed = [code for codes in rooms.values() for code in codes]
    assert sorted(listed) == sorted(raised)


def test_a_code_survives_another_process_and_does_not_change_the_message() -> None:
    for error in (InputError("no such file", code="file_missing"), NotFound("https://a/b: status 404")):
        copy = pickle.loads(pickle.dumps(error))
        assert (str(copy), copy.code) == (str(error), error.code)
    assert str(InputError("no such file", code="file_missing")) == "no such file"
    with raises(FatalError, code="disk_full"):
        raise FatalError("no space", code="disk_full")
    assert CodedError("x").code == ""


def test_a_missing_value_is_named() -> None:
    assert present("", "the lock of requests 2.31.0") == ""
    with pytest.raises(ValueError, match=r"requests 2\.31\.0"):
        present(None, "the lock of requests 2.31.0")


MOST_WORDS = 3
"""A name of what is at fault may have so many words, such as `statement 3`; more are a sentence, or a command."""


def matched_texts(node: ast.Call) -> Iterator[ast.expr]:
    """Yield what a test expects of the message of an error."""
    match ast.unparse(node.func):
        case "pytest.raises":
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "match")
        case "raises":
            yield from node.args[1:]


def test_tests_match_no_sentences_of_errors() -> None:
    """A message can be reworded without a test that fails: `raises` of `tests/errors.py` takes its code instead."""
    sentences = [
        f"{path.relative_to(PROJECT)}:{node.lineno}: {text.value}"
        for path in sorted((PROJECT / "tests").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        for expected in matched_texts(node)
        for text in ast.walk(expected)
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
        if len(text.value.split()) > MOST_WORDS and not text.value.startswith("driftline ")
    ]
    assert sentences == []
