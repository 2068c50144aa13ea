"""Pass@k of a snapshot whose library is Python itself, run in the sandbox; only the making of environments is replaced."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.core.vocabularies.scores import Exclusion, Facet, Metric
from pipeline.evaluation.scores.running import Runners
from pipeline.evaluation.scores.score import Scored, score_predictions
from pipeline.execution.environments.resolution.failures import StepFailed
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.environment import Environment, bare_environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.samples.engine import Engine
from pipeline.families.repository_tasks.project_context import ProjectContext
from pipeline.families.repository_tasks.rules import RepositoryRules
from tests.evaluation.scores.snapshots import LINE, MIGRATION, PROBLEM, RULES_OF_SCORES, TOKEN, lines, snapshot

CODE = "from textwrap import wrap\nlines = wrap('a b', 1)\nlines\n"
CHECKS = [
    {"statement": "from textwrap import wrap\n", "expected": None, "options": []},
    {"statement": "lines = wrap('a b', 1)\n", "expected": None, "options": []},
    {"statement": "lines\n", "expected": "['a', 'b']\n", "options": []},
]
SOLVE = "from textwrap import wrap\n\ndef solve(text):\n"
TESTED = {
    "core_token": "wrap",
    "tests": "from body import solve\ndef test_normal_input_1():\n    assert solve('a b') == ['a', 'b']\n",
    "module": "body",
    "lock_id": "lock",
}
UNFINISHED = "import textwrap\ndef solve(text):\n"
OF_WRAP = {"code": CODE, "core_token": "wrap"}
TABLES_OF_WRAP: dict[str, list[dict[str, Any]]] = {
    "completions": [
        TOKEN | OF_WRAP | {"answer": "wrap", "masked_code": CODE.replace("wrap(", "[token-mask](").replace(" wrap", " [token-mask]")},
        LINE | OF_WRAP | {"answer": "lines = wrap('a b', 1)", "masked_code": CODE.replace("lines = wrap('a b', 1)", "[line-mask]")},
        LINE | OF_WRAP | {"id": "unheard", "snippet_id": "s2", "answer": "wrap('')", "code": "wrap('')\n", "masked_code": "x = 1\n[line-mask]\n"},
        LINE | OF_WRAP | {"id": "part", "reference_outcome": None, "masked_code": "[line-mask]\n"},
        LINE | OF_WRAP | {"id": "lost", "lock_id": "gone", "masked_code": CODE.replace("lines = wrap('a b', 1)", "[line-mask]")},
    ],
    "migrations": [MIGRATION | {"target_code": CODE, "target_name": "wrap", "target_path": "textwrap.wrap"}],
    "problems": [
        PROBLEM | {"starting_code": "import textwrap\n", "hidden_tests": "from sample import result\ndef test_it():\n    assert result == ['a', 'b']\n", "test": "assert len(result) == 2"},
        PROBLEM | {"id": "unfinished", "starting_code": UNFINISHED, "hidden_tests": "from sample import solve\ndef test_it():\n    assert solve('a b') == ['a', 'b']\n", "test": "assert solve('')== []"},
    ],
    "functions": [
        {"id": "body", "library": "demo", "granularity": "block", "answer": "return wrap(text, 1)", "masked_code": f"{SOLVE}    [block-mask]\n", **TESTED},
        {"id": "name", "library": "demo", "granularity": "token", "answer": "wrap", "masked_code": f"{SOLVE}    return [token-mask](text, 1)\n".replace("import wrap", "import [token-mask]"), **TESTED},
        {"id": "comment", "library": "demo", "granularity": "line", "answer": "wrap('')", "masked_code": f"{SOLVE}    [line-mask]\n    return ['a', 'b']\n", **TESTED},
    ],
    "snippets": [
        {"id": "s1", "preamble": "", "code": CODE, "checks": CHECKS},
        {"id": "s2", "preamble": "", "code": "x = 1\nwrap('')\n", "checks": CHECKS[:0]},
    ],
    "environments": [
        {"library": "demo", "version": "2.0", "outcome": "built", "python": "3.11", "lock_id": lock, "lock": "", "import_names": ["textwrap"]}
        for lock in ("lock", "gone")
    ],
}  # fmt: skip


class Shelf:
    """Environments of no library: the interpreter that runs us."""

    rules = environment_rules()

    def open(self, row: Any) -> Environment:
        """Return the bare environment, but for a lock that cannot be installed."""
        if row["lock_id"] == "gone":
            raise StepFailed(EnvironmentOutcome.NO_INTERPRETER, "demo 2.0 needs Python 2.7, which is not installed")
        return bare_environment()


@pytest.fixture
def runners() -> Runners:
    store = cast(EnvironmentStore, Shelf())
    sandbox: Sandbox = find_sandbox()
    rules = load(RULES / "validation.yaml", ValidationRules).model_copy(update={"repeats": 1})
    engine = Engine(store, sandbox, rules)
    of_projects = load(RULES / "repository.yaml", RepositoryRules)
    return Runners(engine, ProjectContext(cast(Any, None), store, sandbox, of_projects))


@pytest.fixture
def folder(tmp_path: Path, data: Path) -> Path:
    return snapshot(tmp_path / "snapshot", TABLES_OF_WRAP)


def scored(folder: Path, runners: Runners, *predictions: dict[str, Any]) -> Scored:
    return score_predictions(
        folder, io.BytesIO(lines(*predictions)), RULES_OF_SCORES, runners, folder.parent / "runs.jsonl"
    )


def passes(found: Scored, metric: Metric = Metric.PASS) -> dict[tuple[str, int], tuple[float | None, int, int]]:
    return {
        (row["family"], row["k"]): (row["mean"], row["tasks"], row["short"])
        for row in found.rows
        if row["metric"] == metric and row["facet"] == Facet.FAMILY
    }


def test_samples_pass_that_display_what_the_example_does(folder: Path, runners: Runners) -> None:
    found = scored(
        folder,
        runners,
        {"id": "token", "completions": ["wrap", "fill", "wrap"]},
        {"id": "line", "completions": ["lines = ['a', 'b']", "lines = wrap('a b', width=1)", "lines = wrap('a b')"]},
        {
            "id": "migration",
            "completions": ["from textwrap import wrap\nprint(wrap('a b', 1))\n", "print(['a', 'b'])\n", ""],
        },
    )
    assert passes(found)["completion", 1] == (0.6667, 2, 0)
    assert passes(found)["completion", 3] == (1.0, 2, 0)
    assert passes(found)["completion", 10][1:] == (0, 2)
    assert passes(found)["migration", 1] == (0.3333, 1, 0)


def test_a_problem_has_hidden_tests_and_a_visible_one(folder: Path, runners: Runners) -> None:
    texts = ["result = textwrap.wrap('a b', 1)\n", "result = 'xy'\n"]
    found = scored(folder, runners, {"id": "problem", "completions": texts})
    assert passes(found)["problem", 1][0] == 0.5
    assert passes(found, Metric.PASS_VISIBLE)["problem", 1][0] == 1.0


def test_a_function_passes_with_its_tests(folder: Path, runners: Runners) -> None:
    found = scored(
        folder,
        runners,
        {"id": "body", "completions": ["    return wrap(text, 1)", "return text.split()", "pass", "return wrap(text)"]},
        {"id": "name", "completions": ["wrap", "fill"]},
        {"id": "comment", "completions": ["wrap('')"]},
    )
    assert passes(found)["function", 1] == (0.5, 2, 0)
    unheard = [(one.reason, one.id) for one in found.excluded if one.reason is Exclusion.EMPTY_PASSES]
    assert unheard == [(Exclusion.EMPTY_PASSES, "comment")]


def test_a_problem_may_be_answered_as_its_prompt_asks_the_whole_program_in_a_code_block(
    folder: Path, runners: Runners
) -> None:
    body = "    return textwrap.wrap(text, 1)\n"
    found = scored(
        folder,
        runners,
        {"id": "unfinished", "completions": [body, f"I wrap it.\n```python\n{UNFINISHED}{body}```\n", body.lstrip()]},
    )
    assert passes(found)["problem", 1][0] == 1.0


@pytest.mark.parametrize(
    ("of", "reason", "detail"),
    [
        ("comment", Exclusion.EMPTY_PASSES, "empty answer passes"),
        ("part", Exclusion.NOT_RUNNABLE, "as part of a project"),
        ("lost", Exclusion.NO_ENVIRONMENT, "needs Python 2.7"),
    ],
)
def test_what_running_cannot_tell_is_named(
    folder: Path, runners: Runners, of: str, reason: Exclusion, detail: str
) -> None:
    found = scored(folder, runners, {"id": of, "completions": ["wrap('')"]})
    told = [each for each in found.excluded if each.reason is not Exclusion.NOT_PREDICTED]
    assert [(each.reason, each.id) for each in told] == [(reason, of)]
    assert detail in told[0].detail
    assert {mean for mean, _, _ in passes(found).values()} <= {None}
    waiting = {row["open"] for row in found.rows if row["metric"] == Metric.PASS and row["facet"] == Facet.FAMILY}
    assert waiting == ({1} if reason is Exclusion.NO_ENVIRONMENT else set())


def test_what_was_run_is_not_run_again_even_if_it_was_killed(folder: Path, runners: Runners) -> None:
    asked = {"id": "line", "completions": ["lines = ['a', 'b']", "lines = ['a', 'b']", "lines = 1"]}
    first = scored(folder, runners, asked)
    assert first.runs == 3  # two texts, and the answer that leaves it out
    with (folder.parent / "runs.jsonl").open("ab") as file:
        file.write(b'{"key": "unfini')
    again = scored(folder, runners, asked)
    assert (again.runs, again.rows) == (0, first.rows)
    (folder.parent / "runs.jsonl").unlink()
    assert scored(folder, runners, asked).runs == 2  # that of the control is kept for every model


def test_no_text_breaks_the_run(folder: Path, runners: Runners) -> None:
    texts = ["lines = '\0'", "(" * 10_000, "import os; os._exit(0)", "\x0c\r\n\ufeff", "exit()"]
    found = scored(folder, runners, {"id": "line", "completions": texts})
    assert passes(found)["completion", 1] == (0.0, 1, 0)


def test_a_run_that_breaks_is_no_failure_of_the_prediction(
    folder: Path, runners: Runners, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("pipeline.evaluation.scores.running.run_cases", full)
        found = scored(folder, runners, {"id": "line", "completions": ["lines = ['a', 'b']"]})
    told = [each for each in found.excluded if each.reason is Exclusion.NOT_JUDGED]
    assert [(each.id, each.detail) for each in told] == [("line", "1 runs: OSError: No space left on device")]
    assert (
        passes(scored(folder, runners, {"id": "line", "completions": ["lines = ['a', 'b']"]}))["completion", 1][0]
        == 1.0
    )


def test_references_that_fail_or_are_slow_here_are_run_again_alone(folder: Path, runners: Runners) -> None:
    """The example of `line` takes half a second longer than the limit allows for its half; that of `body` is wrong."""
    wrong = {"answer": "return text", "masked_code": f"{SOLVE}    [block-mask]\n"}
    slow = {"answer": "import time; time.sleep(0.7); return wrap(text, 1)", "masked_code": f"{SOLVE}    [block-mask]\n"}
    fine = TABLES_OF_WRAP["functions"][0]
    tables = TABLES_OF_WRAP | {"functions": [fine, fine | {"id": "wrong"} | wrong, fine | {"id": "slow"} | slow]}
    other = snapshot(folder.parent / "other", tables)
    limited = replace(
        runners, engine=replace(runners.engine, rules=runners.engine.rules.model_copy(update={"time_s": 1.2}))
    )
    path = folder.parent / "references.jsonl"
    predictions = [{"id": of, "completions": ["return wrap(text, 1)"]} for of in ("body", "wrong", "slow")]
    for _ in range(2):
        found = score_predictions(
            other, io.BytesIO(lines(*predictions)), RULES_OF_SCORES, limited, None, references=path
        )
        doubtful = {run.id: run for run in found.references}
        assert set(doubtful) == {"wrong", "slow"}
        assert (doubtful["wrong"].passed, doubtful["slow"].passed, doubtful["slow"].slow) == (False, True, True)
        assert doubtful["slow"].limit_s == 1.2
        assert passes(found)["function", 1][0] == 1.0, "verdicts on answers stay"
    assert len(path.read_bytes().splitlines()) == 3, "measured once on a machine"
