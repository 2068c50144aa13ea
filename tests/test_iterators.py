"""No function lets `StopIteration` out: it ends whatever `map` or `for` runs above, in silence, and a generator by RuntimeError."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from pipeline.core.settings import PROJECT


def bare_nexts(text: str) -> Iterator[str]:
    """Yield the calls that raise `StopIteration` where nothing is left; `more_itertools.first` and `one` raise ValueError."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == "__next__" or (isinstance(node.func, ast.Name) and name == "next" and len(node.args) < 2):
                yield ast.unparse(node)
        elif isinstance(node, ast.Raise) and node.exc is not None and "StopIteration" in ast.unparse(node.exc):
            yield ast.unparse(node)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("next(x for x in y)", ["next((x for x in y))"]),
        ("[next(done) for _ in y]\niter(y).__next__()", ["next(done)", "iter(y).__next__()"]),
        ("raise StopIteration", ["raise StopIteration"]),
        ("next(done, None)\nhistory.next(version)\ntokenize(iter(y).__next__)\nraise", []),
    ],
)
def test_bare_calls_are_found(text: str, bare: list[str]) -> None:
    assert sorted(bare_nexts(text)) == sorted(bare)


@pytest.mark.parametrize("folder", ["pipeline", "dags"])
def test_every_next_has_a_default(folder: str) -> None:
    paths = (PROJECT / folder).rglob("*.py")
    assert {str(path.relative_to(PROJECT)): found for path in paths if (found := [*bare_nexts(path.read_text())])} == {}
