"""Programs whose changed call takes variables, run as a library is in two releases."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.surface import ParameterKind
from pipeline.corpus.witnesses.candidates import text_of
from pipeline.corpus.witnesses.changed_uses import UsingProgram
from pipeline.corpus.witnesses.lifted import lift_values
from pipeline.corpus.witnesses.reduced import ProvenProgram
from pipeline.corpus.witnesses.script_runs import ScriptRuns, failing_place, outputs
from pipeline.corpus.witnesses.scripts import line_of
from pipeline.lake.rows import SymbolParameter
from tests.corpus.witnesses.libraries import run_in_folders

NEW = """
def pack(size, items=(), *more, key=None): return [size, items, more, key]
"""


def _parameter(name: str, kind: ParameterKind) -> SymbolParameter:
    return {"name": name, "kind": kind, "default": None, "annotation": None}


PACK = [
    _parameter("size", ParameterKind.POSITIONAL_OR_KEYWORD),
    _parameter("items", ParameterKind.POSITIONAL_OR_KEYWORD),
    _parameter("more", ParameterKind.VAR_POSITIONAL),
    _parameter("key", ParameterKind.KEYWORD_ONLY),
]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptRuns:
    run_in_folders(monkeypatch, tmp_path, "lib", {"1": "", "2": NEW}, Outcome.API_MISSING)
    runner: Any = SimpleNamespace()
    return ScriptRuns({}, runner)


def _lifted(
    runs: ScriptRuns, program: str, signature: list[SymbolParameter] | None = PACK, least: int = 2
) -> str | None:
    lines = tuple(map(line_of, ast.parse(program).body))
    lines = tuple(line_of(line.node, "it" if line.text.startswith("print") else None) for line in lines)
    runs.run({version: {text_of(lines): lines} for version in ("1", "2")})
    printed = outputs(lines, runs.results[text_of(lines), "2"])
    assert printed is not None
    place = failing_place(lines, printed, runs.results[text_of(lines), "1"])
    assert place is not None
    core: Any = SimpleNamespace(path="lib.pack")
    uses: Any = ((),) * len(lines)
    proven = ProvenProgram(UsingProgram(None, lines, uses, core), "2", "1", printed, place)
    (lifted,) = lift_values([proven], [signature], least, runs)
    if lifted is None:
        return None
    # what fails in the other release, and what is printed, is the same
    assert lifted.program.lines[lifted.place].text.startswith(lines[place].text.partition("(")[0])
    assert "".join(lifted.printed) == "".join(printed)
    assert len(lifted.program.uses) == len(lifted.program.lines) == len(lifted.printed)
    return text_of(lifted.program.lines)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        pytest.param(
            "import lib\nprint(lib.pack(3, 'ABC'))",
            "import lib\nitems = 'ABC'\nsize = 3\nprint(lib.pack(size, items))",
            id="values get the names of their parameters, in the order of the alphabet",
        ),
        pytest.param(
            "import lib\nrow = [1]\nx = lib.pack(2, row, key=len)\nprint(x[:3])",
            "import lib\nrow = [1]\nkey = len\nsize = 2\nx = lib.pack(size, row, key=key)\nprint(x[:3])",
            id="variables stay, and what Python names is a value",
        ),
        pytest.param(
            "import lib\nprint(lib.pack(3, 'A', 'B', 'C'))",
            "import lib\nitems = 'A'\nmore_1 = 'B'\nmore_2 = 'C'\nsize = 3\nprint(lib.pack(size, items, more_1, more_2))",
            id="values that a parameter collects are numbered",
        ),
        pytest.param(
            "from lib import pack\nprint(pack(3, 'ABC'))",
            "from lib import pack\nitems = 'ABC'\nsize = 3\nprint(pack(size, items))",
            id="the import fails in the other release",
        ),
    ],
)
def test_values_of_the_changed_call_stand_above_it(runs: ScriptRuns, program: str, expected: str) -> None:
    assert _lifted(runs, program) == text_of(tuple(map(line_of, ast.parse(expected).body)))


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("import lib\nprint(lib.pack(3))", id="too few arguments"),
        pytest.param("import lib\nsize = 1\nitems = []\nprint(lib.pack(size, items))", id="variables alone"),
        pytest.param("import lib\nsize = 1\nprint(lib.pack(3, 'ABC'))", id="a name that is taken"),
        pytest.param("import lib\nprint([lib.pack(n, 3) for n in [1]])", id="a scope of its own"),
        pytest.param("import lib\nfor n in [1]:\n    print(lib.pack(n, 3))", id="a statement in another"),
        pytest.param("import lib\nprint(lib.pack(*[1], 2))", id="an argument that is spread"),
        pytest.param("import lib\nprint(lib.pack(1, lib.pack(2, 3)))", id="two calls in a line"),
        pytest.param("from lib import pack\nx = pack(1, 2)\nprint(pack(3, x))", id="two lines, and the import fails"),
    ],
)
def test_other_programs_stay(runs: ScriptRuns, program: str) -> None:
    assert _lifted(runs, program) is None


def test_nothing_is_lifted_where_only_an_argument_changed(runs: ScriptRuns) -> None:
    assert _lifted(runs, "import lib\nprint(lib.pack(3, 'ABC'))", None) is None


def test_so_many_arguments_as_the_rule_says(runs: ScriptRuns) -> None:
    assert _lifted(runs, "import lib\nprint(lib.pack(3))", least=1) is not None


def test_a_program_that_prints_something_else_with_variables_stays(runs: ScriptRuns) -> None:
    """The size is read before the list grows; as variables, by the alphabet, after it."""
    program = "import lib\nrow = []\nprint(lib.pack(len(row), row.append(1)))"
    assert _lifted(runs, program) is None
