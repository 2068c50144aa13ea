"""What adapters share: a family's prompts, and the verdict on an answer, which is that of `score --run`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import InputError
from pipeline.core.progress import no_progress
from pipeline.core.rules.fingerprint import plain
from pipeline.core.rules.load import load
from pipeline.core.settings import settings
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.prompts import PromptInput
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.asking.evaluate import questions, without_reasoning
from pipeline.evaluation.prompts.make import Prompt
from pipeline.evaluation.prompts.rules import prompt_rules
from pipeline.evaluation.scores.families import SCORERS
from pipeline.evaluation.scores.planning import Sources, plan
from pipeline.evaluation.scores.predictions import Prediction
from pipeline.evaluation.scores.rules import ScoreRules
from pipeline.evaluation.scores.running import Passes, run_samples, runners_at
from pipeline.evaluation.scores.runs import CONTROLS, RunFile
from pipeline.evaluation.scores.tally import tally
from pipeline.evaluation.scores.tasks import read_tasks
from pipeline.evaluation.views import TaskView
from pipeline.execution.caches.using import use_caches
from pipeline.families.all_families import BY_NAME
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.names import latest
from pipeline.snapshots.format.reader import Snapshot


@dataclass(frozen=True, slots=True)
class Question:
    """A task as a harness asks it; `metrics` are those that its answers may have."""

    id: str
    system: str | None
    prompt: str
    reference: str
    canary: str
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The scores of an answer by metric, from 0 to 1.

    A metric without a score is explained by `missing`: a run failed before it began, or an empty answer passes too.
    """

    scores: Mapping[Metric, float]
    missing: str


class Judge:
    """The tasks of a family in a setting and a view, and verdicts on answers to them.

    `snapshot` is a folder, or a profile for its latest; the setting is by default that of the family.

    Errors: SnapshotError for a snapshot that is not there, or has no prompt in the view; InputError for an unknown
    setting, one of another family, and a cutoff with no row of the family after it; SandboxUnavailable where answers
    are run.
    """

    def __init__(self, snapshot: str, family: Family, view: TaskView, setting: str | None = None) -> None:
        self.family, self.setting = family, setting or BY_NAME[family].setting
        self.main = BY_NAME[family].metric
        self.folder = _find(snapshot)
        reader, rules = Snapshot(self.folder), settings().rules
        self._rules = load(rules / "scores.yaml", ScoreRules)
        of_ids = read_tasks(reader, (), running=True)
        self._tasks = {of: by[family] for of, by in of_ids.items() if family in by}
        self._runners = runners_at(settings().cache) if BY_NAME[family].running else None
        self._file, self._tallying = RunFile(None, settings().cache / CONTROLS), threading.Lock()
        # More answers at once than the machine has room for would run into their time limits.
        self._places = threading.BoundedSemaphore(settings().workers)
        if self._runners:
            use_caches(settings().cache, self._runners)
            self._sources = Sources.read(
                reader, [self._runners.engine.settings, plain(self._runners.project_context.rules)]
            )
        self.questions = self._questions(view)
        self.metrics = tuple(dict.fromkeys(metric for each in self.questions.values() for metric in each.metrics))

    def _questions(self, view: TaskView) -> dict[str, Question]:
        by_setting = prompt_rules()
        of_family = [
            name
            for name, rules in by_setting.items()
            if rules.templates[(rule := rules.settings[name]).template].family is self.family
            and PromptInput.ATTEMPT not in rule.inputs
        ]
        if self.setting not in of_family:
            there = ", ".join(of_family)
            raise InputError(
                f"setting {self.setting!r}: {self.family.table} have {there}; name one of them",
                code="prompt_setting_unknown",
            )
        ignore_case = load(settings().rules / "masking.yaml", MaskingRules).ignore_case
        rendered = questions(self.folder, self.setting, by_setting[self.setting], view, ignore_case=ignore_case)
        if not rendered.prompts:
            without = "; ".join(f"{rows} rows: {reason.meaning}" for reason, rows in rendered.without.items())
            raise SnapshotError(
                f"{self.folder.name}: no row of {self.family.table} has a prompt in the view {view}"
                f" ({without or 'no rows'}); name another snapshot or view",
                code="harness_no_prompts",
            )
        return {each.id: self._question(each) for each in rendered.prompts}

    def _question(self, prompt: Prompt) -> Question:
        task = self._tasks[prompt.id]
        of_runs = [run.metric for run in plan(task, "", self._sources)] if self._runners else []
        metrics = (*of_runs, *SCORERS[self.family](task.row, ""))
        return Question(prompt.id, prompt.system, prompt.prompt, task.right_answer, prompt.canary, metrics)

    def verdict(self, of: str, answer: str) -> Verdict:
        """Score an answer of a model to a task, and run it where the family is run; several threads may ask.

        Errors: KeyError for an unknown task; SnapshotError.
        """
        tasks = {of: {self.family: self._tasks[of]}}
        prediction = Prediction(of, [without_reasoning(answer)], family=self.family)
        with self._tallying:
            tallied = tally(tasks, [(1, prediction)], self._rules, lambda _: ())
        passes = Passes()
        if self._runners:
            with self._places:
                passes = run_samples(tallied.samples, tasks, self._sources, self._runners, self._file, no_progress)
        scores = {
            metric: values[0]
            for each in (tallied.scores, passes.scores)
            for metric, values in each.get((self.family, of), {}).items()
            if values
        }
        missing = "; ".join(excluded.detail for excluded in (*tallied.excluded, *passes.excluded))
        return Verdict(scores, missing)


def _find(name: str) -> Path:
    folder = Path(name)
    snapshot = folder if folder.is_dir() else latest(settings().snapshots, name)
    if snapshot is None:
        raise SnapshotError(
            f"{name}: no such folder, and no profile of that name has a snapshot in {settings().snapshots}. Name"
            " another one, or run `driftline refresh` first",
            code="snapshot_unknown",
        )
    return snapshot
