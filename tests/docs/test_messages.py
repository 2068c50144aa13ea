"""Messages of errors are short sentences in words of the field, like those of the documents."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.core.settings import PROJECT
from tests.docs.test_words import complaints

SENTENCE_END = re.compile(r"(?<=[.;:!?])\s+|\n")
ADVICE = "What to do"
OF_STAGES = {
    "core/settings.py",
    "corpus/documentation/inventory.py",
    "corpus/documentation/rules.py",
    "corpus/github/rules.py",
    "corpus/stack_overflow/api.py",
    "corpus/stack_overflow/rules.py",
    "execution/sandbox/sandlock.py",
    "families/completions_and_migrations/codemods/moves.py",
    "families/completions_and_migrations/codemods/rewrite.py",
    "families/completions_and_migrations/codemods/signatures.py",
    "families/completions_and_migrations/completions.py",
    "families/repository_tasks/specification.py",
    "llm/client/store.py",
}
"""Sources of stages, some with details of rejects: to be reworded when their stages get another version."""


def messages(tree: ast.AST) -> Iterator[str]:
    """Yield the text of each error that is raised, with values as one word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            for argument in node.exc.args:
                if text := "".join(parts(argument)):
                    yield text


def parts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            for value in values:
                yield from ["VALUE"] if isinstance(value, ast.FormattedValue) else parts(value)
        case ast.BinOp(left=left, right=right):
            yield from (*parts(left), *parts(right))


def complaints_of(source: str) -> list[str]:
    texts = [text for text in messages(ast.parse(source)) if " " in text]
    return complaints([part for text in texts for part in SENTENCE_END.split(text.replace(ADVICE, "")) if part])


def test_messages_are_short_and_in_words_of_the_field() -> None:
    found = {}
    for path in sorted([*(PROJECT / "pipeline").rglob("*.py"), *(PROJECT / "dags").rglob("*.py")]):
        if complained := complaints_of(path.read_text("utf-8")):
            found[Path(*path.relative_to(PROJECT).parts[1:]).as_posix()] = complained
    assert {name: lines for name, lines in found.items() if name not in OF_STAGES} == {}
    assert found.keys() >= OF_STAGES, "take those out that are reworded"


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("raise ValueError(f'{name} was told')", "'told'"),
        ("raise ValueError('a: what is' + f' lost, {it}')", "'what'"),
        (f"raise ValueError('{'one ' * 26}')", "26 words"),
    ],
)
def test_messages_of_each_form_are_read(source: str, complaint: str) -> None:
    assert [line.startswith(complaint) for line in complaints_of(source)] == [True]
