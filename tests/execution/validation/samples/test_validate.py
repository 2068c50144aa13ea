"""A file of samples becomes a file of verdicts: whatever is in the one, and whatever happens in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.samples.engine import CHUNK, Engine, chunks
from pipeline.execution.validation.samples.validate import (
    NothingToValidate,
    Range,
    Summary,
    ValidationRequest,
    validate_file,
)
from pipeline.execution.validation.samples.verdict_file import NoVerdicts, Verdict, read_verdicts
from tests.errors import raises
from tests.execution.validation.demo import catalogue_of, engine_at, publish, sample, write
from tests.index_server import Index, wheel

Validate = Callable[..., tuple[Summary, dict[str | int | None, Verdict]]]


@pytest.fixture
def engine(index: Index, tmp_path: Path, sandbox: Sandbox, rules: ValidationRules) -> Engine:
    publish(index)
    return engine_at(index, tmp_path / "environments", sandbox, rules.model_copy(update={"repeats": 1}))


@pytest.fixture
def validate(tmp_path: Path, engine: Engine) -> Validate:
    """Validate samples and return the summary, and the verdicts by id."""

    def run(*samples: Any, engine: Engine = engine, **asked: Any) -> Any:
        path = write(tmp_path / "samples.jsonl", *samples)
        question = ValidationRequest(path, tmp_path / "out.jsonl", **asked)
        summary = validate_file(question, engine, catalogue_of(engine), lambda what, done, total: None)
        return summary, {verdict.id: verdict for verdict in read_verdicts(tmp_path / "out.jsonl")}

    return run


def test_samples_of_every_kind(validate: Validate, engine: Engine) -> None:
    summary, found = validate(
        sample("passes"),
        sample("fails", test="assert result == 8"),
        sample("gone", version="2.0", code="import shape\nshape.perimeter(1)"),
        sample("another call", code="import shape\nshape.area(1, scale=2)"),
        sample("just runs", test=None),
        sample("beside", extra_dependencies="beside==1.0", code="import beside", test="assert beside.VALUE == 1"),
        sample("no environment", extra_dependencies=["beside==7"]),
        sample("does not import", library="broken"),
        sample("no such release", version="1.9"),
        b"\xff",
        sample("passes", version="2.0"),
    )
    assert [(name, verdict.outcome) for name, verdict in found.items()] == [
        ("passes", "bad_sample"),  # the second of that name, since a dictionary keeps the last
        ("fails", "failed_assertion"),
        ("gone", "api_missing"),
        ("another call", "signature_mismatch"),
        ("just runs", "passed"),
        ("beside", "passed"),
        ("no environment", "no_environment"),
        ("does not import", "no_environment"),
        ("no such release", "bad_sample"),
        (None, "bad_sample"),
    ]
    assert sum(summary.outcomes.values()) == 11
    assert summary.outcomes[Outcome.PASSED] == 3
    assert (summary.reused, summary.environments) == (0, 6)
    told = found["no environment"].detail or ""
    assert told.startswith("unresolvable: ")
    assert "beside==7" in told
    assert (found["does not import"].detail or "").startswith("import_failed: ")
    assert found["does not import"].attempts[0]["outcome"] == "import_failed"


def test_what_no_requirement_names_is_added_and_told(validate: Validate, engine: Engine) -> None:
    known = {"beside": "beside", "gone": "of-no-index"}
    missing = engine.missing.model_copy(update={"modules": known, "fixtures": {}})
    lacking, gone = {"code": "import shape, beside", "test": "assert beside.VALUE == 1"}, {"code": "import gone"}
    samples = [
        sample("added", **lacking | {"test": "assert beside.VALUE"}),
        sample("still fails", **lacking | {"test": "assert beside.VALUE == 3"}),
        sample("named", extra_dependencies="beside==1.0", **lacking),
        sample("optional", code="import shape\ntry: import beside\nexcept ImportError: beside = None", test="assert not beside"),
        sample("not to be had", test=None, **gone),
        sample("unknown", test=None, code="import nothing_of_that_name"),
    ]  # fmt: skip
    found = validate(*samples, engine=replace(engine, missing=missing))[1]
    assert {name: (verdict.outcome, tuple(verdict.added)) for name, verdict in found.items()} == {
        "added": ("passed", ("beside",)),
        "still fails": ("failed_assertion", ("beside",)),
        "named": ("passed", ()),
        "optional": ("passed", ()),
        "not to be had": ("import_error", ()),
        "unknown": ("import_error", ()),
    }
    assert "No module named 'gone'" in str(found["not to be had"].detail)
    assert "of-no-index has it, and cannot be added: unresolvable" in str(found["not to be had"].detail)


def test_a_verdict_tells_which_dependency_moved(validate: Validate, index: Index) -> None:
    day, later = "2021-01-01T00:00:00Z", "2021-04-01T00:00:00Z"
    index.add("needy", "1.0", wheel("needy", "1.0", {"needy.py": "import old"}, Requires_Dist="old"), day)
    index.add_wheel("old", "1.0", {"old.py": "raise SystemError('not on this Python')"}, day)
    index.add_wheel("old", "1.1", {"old.py": ""}, later)
    verdict = validate(sample("moved", library="needy", code="import needy", test=None))[1]["moved"]
    assert (verdict.outcome, verdict.rung) == ("passed", "one_later")
    assert verdict.moved == "old 1.0 -> 1.1 (wheel of 2021-04-01)"
    assert [tried["moved"] for tried in verdict.attempts] == [None, None, verdict.moved]


def test_a_verdict_tells_what_was_run_where(validate: Validate, engine: Engine) -> None:
    _, found = validate(sample("a", code="print('said')\nresult = 9"))
    verdict = found["a"]
    assert (verdict.library, verdict.version, verdict.line, verdict.rung) == ("shape", "1.0", 1, "wheels")
    assert verdict.python in {interpreter.python for interpreter in engine.store.interpreters}
    assert (engine.store.root / str(verdict.lock_id)).is_dir()
    assert verdict.output == "said"
    assert verdict.duration_s is not None
    assert verdict.duration_s > 0
    assert verdict.detail is None


def test_test_modules_asserts_and_coverage(validate: Validate, index: Index, engine: Engine) -> None:
    code = "import shape\ndef big(side):\n    if side > 100:\n        return True\n    return shape.area(side) > 100\n"
    module = "from work import big\nimport pytest\n@pytest.mark.parametrize('side', [11, 12])\ndef test_big(side):\n    assert big(side)\n"
    for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        publish_installed(index, name)
    _, found = validate(
        sample("both", code=code, test="assert not big(1)", test_file=module, module="work", python="3.11"),
        sample("file fails", code=code, test=None, test_file=module.replace("12", "2"), module="work", python="3.11"),
        sample("asserts fail", code=code, test="assert big(1)", test_file=module, module="work", python="3.11"),
        engine=replace(engine, cover=True),
    )
    assert {verdict.python for verdict in found.values()} == {"3.11"}
    outcomes = [verdict.outcome for verdict in found.values()]
    assert outcomes == ["passed", "failed_assertion", "failed_assertion"], [v.detail for v in found.values()]
    coverage = found["both"].coverage
    assert coverage is not None
    assert (coverage["statements"], list(coverage["missing"]), coverage["share"]) == (5, [4], 0.8)


def publish_installed(index: Index, name: str) -> None:
    """Publish a distribution of our own environment, so that pytest is there without the real index."""
    from importlib.metadata import distribution

    found = distribution(name)
    files = {str(path): path.read_text() for path in found.files or () if path.suffix == ".py"}
    needs = "iniconfig\nRequires-Dist: pluggy\nRequires-Dist: packaging\nRequires-Dist: pygments"
    file = wheel(name, found.version, files, **({"Requires_Dist": needs} if name == "pytest" else {}))
    index.add(name, found.version, file, "2021-01-01T00:00:00Z")


def test_a_second_run_makes_nothing_again(validate: Validate, engine: Engine) -> None:
    samples = [sample("a"), sample("b", test="assert False"), sample("c", version="2.0")]
    first, before = validate(*samples)
    again, after = validate(*reversed(samples), b"no")
    assert (first.reused, again.reused, again.environments) == (0, 3, 0)
    assert [(one.id, one.line) for one in after.values()] == [("c", 1), ("b", 2), ("a", 3), (None, 4)]
    assert {name: replace(one, line=None) for name, one in after.items() if name} == {
        name: replace(one, line=None) for name, one in before.items()
    }
    changed, found = validate(sample("a", code="result = 1"), *samples[1:])
    assert (changed.reused, found["a"].outcome) == (2, "failed_assertion")
    assert validate(*samples, again=True)[0].reused == 1  # c passed; a has to be run again, b did not pass
    assert validate(*samples, restart=True)[0].reused == 0
    other = replace(engine, rules=engine.rules.model_copy(update={"time_s": 4.0}))
    assert validate(*samples, engine=other)[0].reused == 0


def test_only_some_samples_are_run_and_the_verdicts_of_others_stay(validate: Validate) -> None:
    samples = [sample("a"), sample("b"), sample("c")]
    assert list(validate(*samples, only=frozenset({"b"}))[1]) == ["b"]
    summary, found = validate(*samples, only=frozenset({"c"}))
    assert (list(found), summary.reused) == (["b", "c"], 1)
    with raises(NothingToValidate, code="sample_unknown"):
        validate(*samples, only=frozenset({"a", "d"}))


def test_only_holds_for_what_is_settled_without_running(validate: Validate) -> None:
    samples = [sample("a"), sample("b", version="8"), sample("c", code=7)]
    assert list(validate(*samples, only=frozenset({"a"}))[1]) == ["a"]
    assert list(validate(*samples, only=frozenset({"c"}))[1]) == ["a", "c"]
    assert list(validate(*samples)[1]) == ["a", "b", "c"]
    assert validate(*samples, only=frozenset({"a"}))[0].outcomes == {"passed": 1, "bad_sample": 2}  # they stay


def test_a_silent_index_is_asked_again_by_the_next_run(
    validate: Validate, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urllib3.util.retry.time.sleep", lambda seconds: None)
    samples = [sample("a"), sample("b", library="beside", code="import beside", test=None)]
    index.faults["/pypi/beside/json"] = [503] * 20
    summary, found = validate(*samples)
    assert [verdict.outcome for verdict in found.values()] == ["passed", "no_environment"]
    assert (found["b"].transient, "503" in (found["b"].detail or "")) == (True, True)
    index.faults.clear()
    summary, found = validate(*samples)
    assert ([verdict.outcome for verdict in found.values()], summary.reused) == (["passed", "passed"], 1)


def test_without_an_index_what_is_there_is_used(
    validate: Validate, index: Index, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urllib3.util.retry.time.sleep", lambda seconds: None)
    validate(sample("a"))
    offline = engine_at(index, engine.store.root, engine.sandbox, engine.rules)
    index.faults |= {path: [503] * 50 for path in index.requests if path != "/files"}
    _, found = validate(sample("b"), sample("c", version="2.0"), engine=offline)
    assert [(one.outcome, one.transient) for one in found.values()] == [("passed", False), ("no_environment", True)]


def test_hostile_samples_end_and_stop_no_others(validate: Validate) -> None:
    flood = "import sys\nwhile True:\n    sys.stdout.write('x' * 65536)"
    _, found = validate(
        sample("endless", code="while True: pass", timeout_s=0.5),
        sample("flood", code=flood),
        sample("kills", code="import os\nos.kill(os.getppid(), 9)\nresult = 9"),
        sample("leaves", code="import os\nos._exit(0)"),
        sample("memory", code="x = 'x' * (1 << 40)"),
        sample("fine"),
    )
    outcomes = {name: verdict.outcome for name, verdict in found.items()}
    assert outcomes["endless"] == "timed_out"
    assert outcomes["memory"] == "out_of_memory"
    assert outcomes["fine"] == "passed"
    assert outcomes["flood"] != "passed"
    assert outcomes["leaves"] != "passed"
    assert all(len(verdict.output or "") < 10_000 for verdict in found.values())


@pytest.mark.parametrize("samples", [[], [b"", b" "]])
def test_nothing_to_validate(validate: Validate, samples: list[bytes]) -> None:
    with raises(NothingToValidate, code="samples_empty"):
        validate(*samples)


def test_a_file_of_something_else_is_no_output(validate: Validate, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text("precious\n")
    with pytest.raises(NoVerdicts):
        validate(sample("a"))
    assert (tmp_path / "out.jsonl").read_text() == "precious\n"


def test_an_environment_that_fails_in_an_unforeseen_way(
    validate: Validate, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = engine.store.build
    monkeypatch.setattr(engine.store, "build", lambda wanted: build(wanted) if wanted.version == "1.0" else 1 / 0)
    _, found = validate(sample("a", version="2.0"), sample("b"))
    assert [verdict.outcome for verdict in found.values()] == ["no_environment", "passed"]
    assert (found["a"].detail, found["a"].transient) == ("ZeroDivisionError: division by zero", True)


def test_samples_that_somebody_changes_meanwhile_are_not_taken_for_others(
    validate: Validate, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = engine.store.build

    def meddle(wanted: Any) -> Any:
        # In place: two environments are built at once, and an emptied file would take the other sample away too.
        with (tmp_path / "samples.jsonl").open("r+b") as file:
            changed = file.read().replace(b"result == 9", b"result >= 0")
            file.seek(0)
            file.write(changed)
        return build(wanted)

    monkeypatch.setattr(engine.store, "build", meddle)
    _, found = validate(sample("a"), sample("b", test=None))
    assert [(one.outcome, one.transient) for one in found.values()] == [("harness_error", True), ("passed", False)]
    assert "the file of the samples changed during the run" in (found["a"].detail or "")


@pytest.mark.parametrize(
    ("jobs", "workers", "at_least", "sizes"),
    [(1, 2, 1, [1]), (4, 2, 1, [2, 2]), (4, 2, 3, [3, 1]), (100, 2, 3, [CHUNK] * 6 + [4]), (0, 2, 3, [])],
)
def test_groups_are_parted_among_the_workers(jobs: int, workers: int, at_least: int, sizes: list[int]) -> None:
    assert [len(chunk) for chunk in chunks([None] * jobs, workers, at_least)] == sizes  # type: ignore[list-item]


def test_a_killed_run_goes_on_where_it_was(index: Index, tmp_path: Path) -> None:
    publish(index)
    samples = [sample(f"s{n}", code="import time\ntime.sleep(0.2)\nresult = 9") for n in range(12)]
    write(tmp_path / "samples", *samples)
    command = [
        sys.executable,
        "-c",
        "from pipeline.cli.main import main; main()",
        "validate",
        "samples",
        "--out",
        "out",
    ]
    command += ["--process", "fresh", "--repeats", "1", "--workers", "1"]
    variables = os.environ | {"DRIFTLINE_INDEX_URL": index.simple, "DRIFTLINE_DATA": str(tmp_path / "data")}
    variables["PYTHONPATH"] = str(Path(__file__).parents[4])
    out = tmp_path / "out"
    with subprocess.Popen(command, cwd=tmp_path, env=variables, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (not out.exists() or out.read_bytes().count(b"\n") < 3):
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
    left = out.read_bytes().count(b"\n")
    assert 3 <= left < 12
    done = subprocess.run(
        [*command, "--json"], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kept"] == left
    assert [verdict.id for verdict in read_verdicts(out)] == [one["id"] for one in samples]


def test_a_range_of_releases(validate: Validate) -> None:
    span = Range(SpecifierSet(">=1.1,<3"))
    code = "import shape\nresult = shape.perimeter(2) + 1"
    summary, _ = validate(sample("a", code=code), sample("b", version="2.0"), range=span)
    assert summary.outcomes == Counter({Outcome.PASSED: 6, Outcome.API_MISSING: 2})
    again, _ = validate(sample("a", code=code), sample("b", version="2.0"), range=span)
    assert (again.reused, again.order) == (8, summary.order)
    _, found = validate(sample("a"), range=Range(SpecifierSet(">7")))
    assert (found["a"].outcome, found["a"].detail) == ("bad_sample", "line 1: library: shape has no release in >7")


def test_samples_are_bisected_together(validate: Validate, tmp_path: Path) -> None:
    span = Range(SpecifierSet(">=1.0,<=3.0"), bisect=True)
    going = sample("goes", code="import shape\nshape.perimeter(1)", test=None)
    coming = sample("comes", code="import shape\nshape.area(1, scale=2)", test=None)
    summary, _ = validate(going, coming, sample("stays"), range=span)
    found = list(summary.bisections.values())
    assert [(one.last, one.first, one.starts, one.monotone) for one in found] == [
        ("1.2", "2.0", False, True),
        ("1.2", "2.0", True, True),
        (None, None, False, True),
    ]
    verdicts = list(read_verdicts(tmp_path / "out.jsonl"))
    assert {(one.id, one.version) for one in verdicts} == {
        (name, version)
        for name, bisected in zip(("goes", "comes", "stays"), found, strict=True)
        for version in bisected.outcomes
    }
