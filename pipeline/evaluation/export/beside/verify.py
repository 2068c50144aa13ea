"""The verifier of an exported task: judges the file that an agent left, as `driftline score --run` judges an answer.

`python3 verifier.pyz` reads `case.json` beside it, and writes `reward.txt`, 1 or 0, and `verdict.json`. The answer runs
as a user who can reach neither of them, nor this process. Without a verdict, which is no fault of the answer, there is
no reward, and the status is 1.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.scores import Metric
from pipeline.corpus.source_text import source_text
from pipeline.evaluation.export.artifacts import answer_in, whole_file
from pipeline.evaluation.scores.cases import CASES
from pipeline.evaluation.scores.fragments import extracted
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.own_container import OwnContainer
from pipeline.execution.sandbox.supervise import Limits
from pipeline.execution.validation.fresh import Fresh
from pipeline.execution.validation.repeats import run_case
from pipeline.families.repository_tasks.answers import Answer, judge_by
from pipeline.families.repository_tasks.project import Project
from pipeline.families.repository_tasks.tree import Tree, TreeRules
from pipeline.families.repository_tasks.variant_runs import run_share

if TYPE_CHECKING:  # they need pydantic
    from pipeline.execution.validation.rules import ValidationRules
    from pipeline.families.repository_tasks.rules import RepositoryRules

_LOGS = Path("/logs/verifier")
_UTF8_BYTES = 4


@dataclass(frozen=True, slots=True)
class _Rules:
    """What of the rules of running a case counts here."""

    options: tuple[str, ...]
    vary: tuple[str, ...]
    clock_shift_days: int
    repeats: int
    output_tail: int
    ignore_warnings: bool
    limits: Limits


@dataclass(frozen=True, slots=True)
class _ProjectRules(TreeRules):
    """What of the rules of projects counts here."""

    tests: int
    test_time_s: float
    test_calls: int
    changed_import_cpu_s: float
    limits: Limits


@dataclass(frozen=True, slots=True)
class _Verdict:
    """How a run ended, why, and how long it took in seconds."""

    outcome: Outcome
    detail: str | None
    duration_s: float


def judged(task: dict[str, Any], tests: Path) -> _Verdict:
    """Run the answer of a task, a second time where the first came to no verdict; `tests` has the verifier's files."""
    prefix = Path(task["environment"])
    site_packages, *_ = sorted(prefix.glob("lib/python*/site-packages"))
    environment = Environment("", "", prefix / "bin" / "python", site_packages, (prefix,))
    # Files are counted over file systems of the sandbox's own, which a container does not have.
    rules = task["rules"] | {"limits": Limits(**task["rules"]["limits"] | {"files": sys.maxsize})}
    judge = _in_project if "path" in task else _program
    for _ in range(2):
        verdict = judge(task, environment, rules, tests)
        if verdict.outcome is not Outcome.HARNESS_ERROR:
            break
    return verdict


def _program(task: dict[str, Any], environment: Environment, rules: dict[str, Any], tests: Path) -> _Verdict:
    """Run the program of the answer."""
    family, row, characters = Family(task["family"]), task["row"], task["sample_chars"]
    try:
        text = _content(Path(task["artifact"]), characters).decode()
    except UnicodeDecodeError:
        text = ""
    answer = answer_in(family, row, text)
    sample = extracted(answer, row.get("granularity")) if len(answer) <= characters else ""
    cases = dict(CASES[family](row, sample, task["example"]))
    case = replace(cases[Metric.PASS], import_names=tuple(task["import_names"]))
    of_cases = cast("ValidationRules", _Rules(**rules))
    result = run_case(environment, case, Fresh(environment, OwnContainer(), of_cases), of_cases)
    return _Verdict(result.outcome, result.detail, result.duration_s)


def _in_project(task: dict[str, Any], environment: Environment, rules: dict[str, Any], tests: Path) -> _Verdict:
    """Run tests of the project with the agent's file in it."""
    sets = {name: frozenset(rules[name]) for name in ("test_folders", "aside")}
    of_projects = _ProjectRules(**rules | sets | {"test_files": tuple(rules["test_files"])})
    with tarfile.open(tests / "project.tar.gz") as archive:
        members = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        tree = Tree(task["root"], {name: file.read() for name, file in members.items() if file}, of_projects)
    path = task["path"]
    reference = tree.text(path) or ""
    text = source_text(_content(Path(task["artifact"]), task["sample_chars"] + len(reference))) or ""
    if task["scene"]:
        *around, is_body = task["scene"]
        text = whole_file(text, *around, is_body=is_body)
    project = Project(tree, tuple(task["packages"]), environment, OwnContainer(), cast("RepositoryRules", of_projects))
    answer = Answer("", path, text, task["tests"])
    run, *_ = judge_by(lambda variants: run_share(project, variants, 0), {path: reference}, [answer])
    return _Verdict(run.verdict, run.detail, run.duration_s)


def _content(artifact: Path, characters: int) -> bytes:
    """Return the agent's file; nothing where it is no file, or longer than any answer."""
    try:
        if artifact.is_symlink() or not artifact.is_file() or artifact.stat().st_size > 2 * _UTF8_BYTES * characters:
            return b""
        return artifact.read_bytes()
    except OSError:
        return b""


def main(tests: Path) -> int:
    """Write the reward of a task; return 0, or 1 without a verdict."""
    if os.getuid():
        sys.stderr.write("the verifier needs root in its container, to run the answer as another user\n")
        return 1
    _LOGS.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(_LOGS.stat().st_mode)
    for folder in (tests, _LOGS):
        folder.chmod(0o700)
    rewards = [_LOGS / "reward.json", _LOGS / "reward.txt"]
    for reward in rewards:
        reward.unlink(missing_ok=True)
    result = judged(json.loads((tests / "case.json").read_text(encoding="utf-8")), tests)
    verdict = {"outcome": result.outcome, "detail": result.detail, "seconds": round(result.duration_s, 3)}
    (_LOGS / "verdict.json").write_text(json.dumps(verdict) + "\n", encoding="utf-8")
    is_judged = result.outcome is not Outcome.HARNESS_ERROR
    if is_judged:
        rewards[-1].write_text(f"{int(result.outcome is Outcome.PASSED)}\n", encoding="utf-8")
    _LOGS.chmod(mode)
    return 0 if is_judged else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[0]).resolve().parent))
