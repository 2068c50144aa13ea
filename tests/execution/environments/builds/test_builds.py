from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.core.vocabularies.running import EnvironmentOutcome as Outcome
from pipeline.execution.environments.builds.build_rules import Constraint
from pipeline.execution.environments.builds.build_site import error_lines
from pipeline.execution.environments.builds.builds import Builder
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.execution.environments.resolution.interpreters import Interpreter
from pipeline.execution.environments.resolution.pinned import read_lock
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.sandbox.sandbox import NoSandbox
from tests.errors import raises
from tests.execution.environments.builds.sources import JUNE, MAY, Builders, built, said_by, source
from tests.index_server import Index, wheel


def test_a_source_is_resolved_built_and_kept(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    file = index.add("lib", "1.0", source("lib", depends=("dep",)), MAY)
    index.add("dep", "1.0", wheel("dep", "1.0", {"dep.py": ""}), MAY)
    index.add("dep", "2.0", wheel("dep", "2.0", {"dep.py": ""}), "2022-01-01T00:00:00Z")
    lock = builder_at(tmp_path).lock(["lib==1.0"], python, JUNE)
    dep, lib = read_lock(lock)
    assert (dep.requirement, dep.built) == ("dep==1.0", None)
    assert file is not None
    assert (lib.requirement, lib.sha256s) == ("lib==1.0", (file.sha256,))
    assert lib.built is not None
    assert lib.built.as_of == JUNE
    text = builder_at(tmp_path).installable(lock, python)
    found = re.search(r"^lib @ file://(\S+) \\\n    --hash=sha256:(\w+)$", text, re.M)
    assert found
    assert hashlib.sha256(Path(found[1]).read_bytes()).hexdigest() == found[2]
    assert text.startswith("dep==1.0 \\\n")
    index.projects.clear()
    assert builder_at(tmp_path).installable(lock, python) == text


def test_the_same_source_makes_the_same_wheel(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    index.add("lib", "1.0", source("lib", body="said['epoch'] = os.environ.get('SOURCE_DATE_EPOCH')"), MAY)
    wheels = [built(builder_at(tmp_path / name), python) for name in "ab"]
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    assert said_by(wheels[0]) == {"epoch": str(int(datetime(2021, 5, 1, tzinfo=UTC).timestamp()))}


@pytest.mark.parametrize(
    ("tag", "asked", "version", "from_source"),
    [
        ("cp39-cp39-linux_x86_64", ("lib==1.0", "dep"), "1.0", False),
        ("cp39-cp39-linux_x86_64", ("lib==1.0", "dep>=2"), "2.0", True),
        ("cp39-cp39-linux_x86_64", ("lib==1.0", "dep==2.0"), "2.0", True),
        ("cp39-cp39-linux_x86_64", ("lib==1.0", "dep<1"), "0.9", True),
        ("cp38-cp38-linux_x86_64", ("lib==1.0", "dep"), "2.0", True),
        ("py3-none-any", ("lib==1.0", "dep"), "2.0", True),
        ("py3-none-any", ("lib==1.0", "dep<2"), "1.0", False),
    ],
)
def test_wheels_go_before_sources(
    index: Index,
    builder_at: Builders,
    python: Interpreter,
    tmp_path: Path,
    tag: str,
    asked: tuple[str, ...],
    version: str,
    from_source: bool,
) -> None:
    index.add("lib", "1.0", wheel("lib", "1.0", {"lib.py": ""}), MAY)
    index.add("dep", "0.9", source("dep", "0.9"), "2020-01-01T00:00:00Z")
    compiled = f"dep-1.0-{tag}.whl", wheel("dep", "1.0", {"dep.py": ""})[1]
    index.add("dep", "1.0", compiled, "2020-02-01T00:00:00Z")
    index.add("dep", "1.0", source("dep", "1.0", body="raise SystemExit('must not run')"), "2020-02-01T00:00:00Z")
    index.add("dep", "2.0", source("dep", "2.0"), MAY)
    dep = read_lock(builder_at(tmp_path).lock(list(asked), python, JUNE))[0]
    assert (dep.version, dep.built is not None) == (version, from_source)


def test_what_has_a_cutoff_of_its_own(index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path) -> None:
    index.add("lib", "1.0", source("lib", depends=("tool",)), MAY)
    index.add("tool", "1.0", wheel("tool", "1.0", {"tool.py": ""}), MAY)
    index.add("tool", "2.0", wheel("tool", "2.0", {"tool.py": ""}), "2023-01-01T00:00:00Z")
    later = {"Tool": datetime(2024, 1, 1, tzinfo=UTC)}
    lock = builder_at(tmp_path).lock(["lib==1.0"], python, JUNE, later)
    assert [pin.requirement for pin in read_lock(lock)] == ["lib==1.0", "tool==2.0"]


def test_build_requirements_are_those_of_the_day(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    body = "import helper; said['helper'] = helper.version"
    index.add("lib", "1.0", source("lib", body=body, requires=("helper",)), MAY)
    for version, day in (("1.0", MAY), ("2.0", "2021-05-20T00:00:00Z"), ("3.0", "2023-01-01T00:00:00Z")):
        index.add("helper", version, wheel("helper", version, {"helper.py": f"version = {version!r}"}), day)
    assert said_by(built(builder_at(tmp_path / "day"), python)) == {"helper": "2.0"}
    constrained = builder_at(tmp_path / "constrained", constraints=(held_to("helper<2"),))
    assert said_by(built(constrained, python)) == {"helper": "1.0"}
    never = builder_at(tmp_path / "never", constraints=(held_to("helper<1"),))
    assert said_by(built(never, python)) == {"helper": "2.0"}


def held_to(requirement: str) -> Constraint:
    return Constraint(requirement=requirement, before=JUNE.date())


def test_what_is_compiled_against_is_what_it_runs_with(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    body = "import numpy; said['numpy'] = numpy.version"
    index.add("lib", "1.0", source("lib", body=body, requires=("numpy",), depends=("numpy",)), MAY)
    for version in ("1.19", "1.20"):
        index.add("numpy", version, wheel("numpy", version, {"numpy.py": f"version = {version!r}"}), MAY)
    builder = builder_at(tmp_path)
    lock = builder.lock(["lib==1.0", "numpy==1.19"], python, JUNE)
    found = re.search(r"file://(\S+)", builder.installable(lock, python))
    assert found
    assert said_by(Path(found[1])) == {"numpy": "1.19"}


def test_what_a_setup_needs_and_does_not_declare(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    index.add("lib", "1.0", source("lib", body="import numpy, Cython"), MAY)
    index.add("numpy", "1.0", wheel("numpy", "1.0", {"numpy.py": ""}), MAY)
    index.add("cython", "1.0", wheel("cython", "1.0", {"Cython.py": ""}), MAY)
    assert built(builder_at(tmp_path / "a"), python).name == "lib-1.0-py3-none-any.whl"
    with raises(StepFailed, "numpy"):
        built(builder_at(tmp_path / "b", undeclared={}), python)


@pytest.mark.parametrize(
    ("body", "outcome", "missing", "detail"),
    [
        ("raise SystemExit('error: no luck today')", Outcome.BUILD_FAILED, None, "no luck today"),
        ("import nothing_of_that_name", Outcome.BUILD_FAILED, None, "No module named 'nothing_of_that_name'"),
        (
            "open('x.c', 'w').write('#include <nothere.h>')\n"
            "import subprocess; subprocess.check_call(['gcc', '-c', 'x.c'])",
            Outcome.BUILD_FAILED,
            "header nothere.h",
            "fatal error: nothere.h: No such file or directory",
        ),
        (
            "import subprocess; subprocess.check_call(['gfortran-of-another-machine'])",
            Outcome.BUILD_FAILED,
            "tool gfortran-of-another-machine",
            "No such file or directory: 'gfortran-of-another-machine'",
        ),
        ("import time; time.sleep(600)", Outcome.TIMED_OUT, None, "not done after 2 s"),
        ("x = open('x', 'wb')\nwhile True: x.write(bytes(1 << 20))", Outcome.BUILD_FAILED, "scratch", "No space left"),
        (
            "x = []\nwhile True: x.append(bytearray(1 << 20))",
            Outcome.BUILD_FAILED,
            None,
            "emory",
        ),
        ("return 'nothing.whl'", Outcome.BUILD_FAILED, None, "The build backend returned an error"),
    ],
)
def test_failures_end_in_an_outcome(
    index: Index,
    builder_at: Builders,
    python: Interpreter,
    tmp_path: Path,
    body: str,
    outcome: Outcome,
    missing: str | None,
    detail: str,
) -> None:
    index.add("lib", "1.0", source("lib", body=body), MAY)
    patience = 2 if outcome == Outcome.TIMED_OUT else 60
    builder = builder_at(tmp_path, time_s=patience, memory_mib=256, scratch_mib=64)
    with pytest.raises(StepFailed) as failed:
        built(builder, python)
    assert failed.value.outcome == outcome
    assert (failed.value.missing or "").startswith(missing or "")
    assert bool(failed.value.missing) == bool(missing)
    assert detail in failed.value.detail
    assert len(failed.value.detail) <= 800
    assert not list(tmp_path.rglob("*.whl"))


def test_a_sandbox_that_cannot_show_the_index_alone_builds_nothing(
    index: Index, python: Interpreter, tmp_path: Path
) -> None:
    index.add("lib", "1.0", source("lib"), MAY)
    builder = Builder(tmp_path, facts=IndexFacts(index.simple), sandbox=NoSandbox(), rules=environment_rules())
    with raises(StepFailed, "sandbox") as failed:
        builder.lock(["lib==1.0"], python, JUNE)
    assert failed.value.outcome == Outcome.BUILD_FAILED


def test_an_index_that_fails_is_not_a_fact_about_the_release(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    index.add("lib", "1.0", source("lib", requires=("helper",)), MAY)
    index.add("helper", "1.0", wheel("helper", "1.0", {"helper.py": ""}), MAY)
    index.faults["/files/helper-1.0-py3-none-any.whl"] = [503] * 99
    with pytest.raises(IndexUnreachable):
        built(builder_at(tmp_path), python)


def test_what_nothing_helps_is_not_built_again(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    body = "if 'SOURCE_DATE_EPOCH' in os.environ: raise SystemExit('fatal error: nothere.h: No such file or directory')"
    index.add("lib", "1.0", source("lib", body=body), MAY)
    builder = builder_at(tmp_path)
    lock = builder.lock(["lib==1.0"], python, JUNE)
    later = lock.replace("2021-06-01", "2021-12-01")
    for text in (lock, later):
        with pytest.raises(StepFailed) as failed:
            builder.installable(text, python)
        assert failed.value.missing == "header nothere.h"
    assert [path for path, _ in index.asked].count("/files/lib-1.0.tar.gz") == 2


@pytest.mark.parametrize(
    ("change", "works"), [("NAME = 'other'", False), ("VERSION = '9.0'", False), ("REQUIRES[:] = ['new']", True)]
)
def test_a_wheel_is_of_what_was_resolved(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path, change: str, works: bool
) -> None:
    body = f"global NAME, VERSION\nif 'SOURCE_DATE_EPOCH' in os.environ: {change}"
    index.add("lib", "1.0", source("lib", body=body), MAY)
    if works:
        assert built(builder_at(tmp_path), python).name == "lib-1.0-py3-none-any.whl"
        return
    with pytest.raises(StepFailed) as failed:
        built(builder_at(tmp_path), python)
    assert failed.value.outcome == Outcome.BUILD_FAILED
    assert "lib has invalid metadata" in failed.value.detail


@pytest.mark.parametrize(
    ("log", "lines"),
    [
        ("a\nb\nc", ["a", "b", "c"]),
        ("running build\nerror: no\nerror: no\ndone", ["error: no"]),
        ("hint: an error likely\nx.c:1:2: error: y\n   12 | x = L1_error;\n      |  ^ error", ["x.c:1:2: error: y"]),
        (
            "copying lib/errors.h -> build\n  cause: The build backend returned an error",
            ["cause: The build backend returned an error"],
        ),
        ("\n".join(f"error {n}" for n in range(99)), [f"error {n}" for n in range(89, 99)]),
        ("", []),
    ],
)
def test_the_lines_of_a_log_that_name_a_problem(log: str, lines: list[str]) -> None:
    assert error_lines(log).splitlines() == lines
