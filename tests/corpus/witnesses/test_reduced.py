"""Programs without needless lines, run as a library is in two releases."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.witnesses.candidates import text_of
from pipeline.corpus.witnesses.changed_uses import UsingProgram
from pipeline.corpus.witnesses.reduced import ProvenProgram, reduce_programs, without_failing_line
from pipeline.corpus.witnesses.script_runs import ScriptRuns, failing_place, outputs
from pipeline.corpus.witnesses.scripts import line_of
from tests.corpus.witnesses.libraries import run_in_folders

OLD = """
class App:
    def __init__(self): self.settings, self.calls = {}, []
    def first(self, function): self.calls.append(function); return function
    def run(self): return [call() for call in self.calls] + sorted(self.settings)
"""
NEW = "class App:\n    settings, calls = {}, []\n    def run(self): return []\n"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptRuns:
    run_in_folders(monkeypatch, tmp_path, "lib", {"1": OLD, "2": NEW}, Outcome.API_MISSING)
    runner: Any = SimpleNamespace()
    return ScriptRuns({}, runner)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            "client = dict(os.environ)\nlib.App.first\nprint(lib.App().run())",
            "lib.App.first\nprint(lib.App().run())",
            id="a line that nothing needs, with the import that it alone needs",
        ),
        pytest.param(
            "app = lib.App()\napp.settings['a'] = os.sep\napp.first(str)\nprint(app.run())",
            None,
            id="no line on which the output hangs",
        ),
        pytest.param(
            "class Own(lib.App):\n    idle = os.sep\n    calls = []\n\napp = Own()\napp.first(str)\nprint(app.run())",
            "class Own(lib.App):\n    pass\n\napp = Own()\napp.first(str)\nprint(app.run())",
            id="statements of a class that nothing needs",
        ),
        pytest.param(
            "from itertools import islice\napp = lib.App()\napp.first(os.getpgid and str)\nprint(list(islice(app.run(), 2)))",
            "app = lib.App()\napp.first(os.getpgid and str)\nprint(list(app.run()))",
            id="a limit that an iterator does not reach",
        ),
        pytest.param(
            "from itertools import islice\napp = lib.App()\napp.first(os.getpgid and str)\nprint(list(islice(app.run(), 1)))",
            None,
            id="no limit that an iterator may have reached",
        ),
        pytest.param(
            "app = lib.App()\napp.first(dict(a=os.sep).keys)\nprint(app.run())",
            None,
            id="no argument of the line that fails",
        ),
        pytest.param(
            "app = lib.App()\nname = dict(a=str(1), b=os.sep)['a']\napp.first(name.upper)\nprint(app.run())",
            "app = lib.App()\nname = dict(a=str(1))['a']\napp.first(name.upper)\nprint(app.run())",
            id="an argument by name",
        ),
        pytest.param(
            "app = lib.App()\nname = os.sep\napp.calls += []\napp.first(name.upper)\nprint(app.run())",
            "app = lib.App()\nname = os.sep\napp.first(name.upper)\nprint(app.run())",
            id="a line that changes nothing, though others need its name",
        ),
        pytest.param(
            "app = lib.App()\n@app.first\ndef idle():\n    return os.sep\n\nprint(1)",
            None,
            id="not the line that fails",
        ),
        pytest.param(
            "a = lib.App()\na.settings['a'] = 1\na.settings['a'] = 1\na.first(os.getcwd and str)\nprint(a.run())",
            None,
            id="neither of two lines that stand for each other",
        ),
    ],
)
def test_lines_that_change_no_output_go(runs: ScriptRuns, body: str, expected: str | None) -> None:
    lines = tuple(map(line_of, ast.parse(f"import lib\nimport os\n{body}").body))
    lines = tuple(line_of(line.node, "it" if line.text.startswith("print") else None) for line in lines)
    runs.run({version: {text_of(lines): lines} for version in ("1", "2")})
    printed = outputs(lines, runs.results[text_of(lines), "1"])
    assert printed is not None
    place = failing_place(lines, printed, runs.results[text_of(lines), "2"])
    assert place is not None
    core: Any = "use"
    uses: Any = tuple((core,) if number == place else () for number in range(len(lines)))
    (reduced,) = reduce_programs([ProvenProgram(UsingProgram(None, lines, uses, core), "1", "2", printed, place)], runs)
    imports = "import lib\n" if expected and "os." not in expected else "import lib\nimport os\n"
    assert text_of(reduced.program.lines) == text_of(tuple(map(line_of, ast.parse(imports + (expected or body)).body)))
    assert reduced.program.lines[reduced.place] is lines[place]


@pytest.mark.parametrize(
    ("body", "place", "expected"),
    [
        ("a = gone()\nprint(a)", 0, None),
        ("a = 1\nb = gone()\nprint(a)\nprint(b)", 1, "a = 1\nprint(a)\n"),
        ("a = []\na.append(gone())\nb = a[0]\nprint(b)\nprint(2)", 1, "a = []\nprint(2)\n"),
    ],
    ids=["all depends on it", "something does not", "what it changes, and what that gives"],
)
def test_the_rest_of_a_program(body: str, place: int, expected: str | None) -> None:
    lines = tuple(line_of(node) for node in ast.parse(body).body)
    uses: Any = [()] * len(lines)
    rest = without_failing_line(UsingProgram(None, lines, tuple(uses), cast(Any, None)), place)
    assert (text_of(rest.lines) if rest else None) == expected
