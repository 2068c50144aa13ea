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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.export.artifacts import answer_in
from pipeline.evaluation.scores.cases import CASES
from pipeline.evaluation.scores.fragments import unfenced
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.own_container import OwnContainer
from pipeline.execution.sandbox.supervise import Limits
from pipeline.execution.validation.cases import Result
from pipeline.execution.validation.fresh import Fresh
from pipeline.execution.validation.repeats import run_case

if TYPE_CHECKING:  # it needs pydantic
    from pipeline.execution.validation.rules import ValidationRules

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
    limits: Limits


def judged(task: dict[str, Any]) -> Result:
    """Run the program of the answer, a second time where the first came to no verdict."""
    family, row = Family(task["family"]), task["row"]
    answer = answer_in(family, row, _text(Path(task["artifact"]), task["sample_chars"]))
    sample = unfenced(answer) if len(answer) <= task["sample_chars"] else ""
    cases = dict(CASES[family](row, sample, task["example"]))
    case = replace(cases[Metric.PASS], import_names=tuple(task["import_names"]))
    prefix = Path(task["environment"])
    site_packages, *_ = sorted(prefix.glob("lib/python*/site-packages"))
    environment = Environment("", "", prefix / "bin" / "python", site_packages, (prefix,))
    # Files are counted over file systems of the sandbox's own, which a container does not have.
    limits = Limits(**task["rules"]["limits"] | {"files": sys.maxsize})
    rules = cast("ValidationRules", _Rules(**task["rules"] | {"limits": limits}))
    for _ in range(2):
        result = run_case(environment, case, Fresh(environment, OwnContainer(), rules), rules)
        if result.outcome is not Outcome.HARNESS_ERROR:
            break
    return result


def _text(artifact: Path, characters: int) -> str:
    """Return the text of the agent's file; nothing where it is no readable file."""
    try:
        if artifact.is_symlink() or not artifact.is_file() or artifact.stat().st_size > 2 * _UTF8_BYTES * characters:
            return ""
        return artifact.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return ""


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
    result = judged(json.loads((tests / "case.json").read_text(encoding="utf-8")))
    verdict = {"outcome": result.outcome, "detail": result.detail, "seconds": round(result.duration_s, 3)}
    (_LOGS / "verdict.json").write_text(json.dumps(verdict) + "\n", encoding="utf-8")
    is_judged = result.outcome is not Outcome.HARNESS_ERROR
    if is_judged:
        rewards[-1].write_text(f"{int(result.outcome is Outcome.PASSED)}\n", encoding="utf-8")
    _LOGS.chmod(mode)
    return 0 if is_judged else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[0]).resolve().parent))
