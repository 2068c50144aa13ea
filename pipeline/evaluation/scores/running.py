"""Pass@k: samples run in the pinned environments of the snapshot's rows, in the sandbox."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.core.errors import InputError
from pipeline.core.progress import ReportProgress, no_progress
from pipeline.core.rules.fingerprint import plain
from pipeline.core.rules.load import load
from pipeline.core.settings import index_url, settings
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.scores import Exclusion, Metric
from pipeline.evaluation.scores.planning import Sources, plan, plan_control, unparted
from pipeline.evaluation.scores.predictions import Excluded
from pipeline.evaluation.scores.runs import CONTROLS, UNJUDGED, CaseRun, ProjectRun, Run, RunFile, RunResult
from pipeline.evaluation.scores.tally import Answered
from pipeline.evaluation.scores.tasks import Task, Tasks
from pipeline.execution.caches.using import use_caches
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.samples.engine import Engine
from pipeline.families.all_families import BY_NAME
from pipeline.families.repository_tasks.answers import Answer
from pipeline.families.repository_tasks.project import Project
from pipeline.families.repository_tasks.project_context import ProjectContext, open_project
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.running import judge_answers
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.index.http import BadAnswer, Fetcher, NotFound, Unreachable
from pipeline.lake.rows import EnvironmentRow, ProjectRow, R
from pipeline.snapshots.format.reader import Snapshot

_REASONS = {Outcome.NO_ENVIRONMENT: Exclusion.NO_ENVIRONMENT, Outcome.HARNESS_ERROR: Exclusion.NOT_JUDGED}
_UNAVAILABLE = (StepFailed, IndexUnreachable, Unreachable, NotFound, BadAnswer, ValueError)


@dataclass(frozen=True)
class Runners:
    """The engine that validates cases, and the context in which tests of projects run."""

    engine: Engine
    project_context: ProjectContext


@dataclass(slots=True)
class Passes:
    """Passed samples of each task by metric, in order; exclusions, and samples without a verdict (`open`).

    `results` are those of each text by metric. `runs` is the number of new runs.
    """

    scores: dict[Answered, dict[Metric, list[float]]] = field(default_factory=dict)
    excluded: list[Excluded] = field(default_factory=list)
    open: dict[Answered, dict[Metric, int]] = field(default_factory=dict)
    results: dict[Answered, dict[str, dict[Metric, RunResult]]] = field(default_factory=dict)
    runs: int = 0


def run_samples(
    samples: Mapping[Answered, Sequence[str]],
    tasks: Tasks,
    sources: Sources,
    runners: Runners,
    file: RunFile,
    report: ReportProgress,
) -> Passes:
    """Run the samples of tasks, equal ones once; outcomes in the file are reused.

    A sample passes if all repeats of its run pass. Runs without a verdict are repeated once, and then have no score.

    Errors: SnapshotError.
    """
    passes = Passes()
    planned = {key: _plan(passes, tasks[key[1]][key[0]], texts, sources) for key, texts in samples.items()}
    by_key = {run.key: run for runs in planned.values() for run in runs}
    new = [run for run in by_key.values() if run.key not in file.outcomes]
    passes.runs = len(new)
    run_planned(new, sources, runners, file, report)
    run_planned([run for run in new if file.outcomes[run.key] in UNJUDGED], sources, runners, file, report)
    for answered, runs in planned.items():
        _judge(passes, tasks[answered[1]][answered[0]], samples[answered], runs, file)
    return passes


def run_planned(
    runs: Collection[Run], sources: Sources, runners: Runners, file: RunFile, report: ReportProgress
) -> None:
    """Run planned runs, one environment or project after the other, and store their outcomes in the file."""
    done = 0
    for (where, in_project), group in _by_place(runs).items():
        project, environment = sources.projects.get(where), sources.environments.get(where)
        row = project if in_project else environment
        report(f"{row.get('project') or row['library']} {row['version']}" if row else where, done, len(runs))
        try:
            if in_project:
                _run_in_project(project, group, runners, file)
            else:
                _run_in_environment(environment, group, runners, file)
        except Exception as error:  # noqa: BLE001 - stored with each run that it stopped
            unfinished = [run for run in group if run.key not in file.outcomes]
            _give_up(unfinished, error, file, Outcome.HARNESS_ERROR)
        done += len(group)


def run_controls(tasks: Sequence[Task], snapshot: Snapshot) -> Mapping[str, Outcome]:
    """Run the empty answers of tasks of one family; return their outcomes by id. Scorings have them then, too.

    Errors: SnapshotError, SandboxUnavailable.
    """
    runners = runners_at(settings().cache)
    use_caches(settings().cache, runners)
    sources = Sources.read(snapshot, [runners.engine.settings, plain(runners.project_context.rules)])
    runs = [run for task in tasks for run in plan_control(task, sources) if run.metric is Metric.PASS]
    with RunFile(None, settings().cache / CONTROLS) as file:
        for _ in range(2):
            new = [run for run in runs if file.outcomes.get(run.key, Outcome.HARNESS_ERROR) in UNJUDGED]
            run_planned(new, sources, runners, file, no_progress)
        return {run.answered[1]: file.outcomes[run.key] for run in runs}


def _plan(passes: Passes, task: Task, texts: Sequence[str], sources: Sources) -> list[Run]:
    """Return the runs of a task's samples, and of its control."""
    runs = [run for text in dict.fromkeys(texts) for run in plan(task, text, sources)]
    if texts and (why := unparted(task)):
        passes.excluded.append(Excluded(Exclusion.TESTS_NOT_PARTED, why, task.id))
    elif texts and not runs and BY_NAME[task.family].running:
        reason = Exclusion.NOT_RUNNABLE
        passes.excluded.append(Excluded(reason, f"{task.family}: {reason.meaning}", task.id))
    return [*runs, *(plan_control(task, sources) if runs else ())]


def _by_place(runs: Iterable[Run]) -> dict[tuple[str, bool], list[Run]]:
    """Group runs by the lock of their environment, or by their project."""
    groups: dict[tuple[str, bool], list[Run]] = defaultdict(list)
    for run in runs:
        if isinstance(run, ProjectRun):
            groups[run.project_id, True].append(run)
        elif isinstance(run, CaseRun):
            groups[run.lock_id, False].append(run)
    return groups


def _run_in_environment(row: EnvironmentRow | None, runs: Sequence[Run], runners: Runners, file: RunFile) -> None:
    by_key = {run.key: run for run in runs}
    engine = runners.engine
    try:
        environment = engine.store.open(_required(row))
    except _UNAVAILABLE as error:
        _give_up(runs, error, file)
        return
    run_cases(
        environment,
        [run.case for run in runs if isinstance(run, CaseRun)],
        engine.sandbox,
        engine.rules,
        engine.workers,
        lambda result: file.keep(by_key[result.id], result.outcome, result.detail, result.duration_s),
    )


def _run_in_project(row: ProjectRow | None, runs: Sequence[Run], runners: Runners, file: RunFile) -> None:
    of_project = [run for run in runs if isinstance(run, ProjectRun)]
    try:
        project = open_project(_required(row), runners.project_context)
        answers = [_answer(project, run) for run in of_project]
    except _UNAVAILABLE as error:
        _give_up(runs, error, file)
        return
    judged = judge_answers(project, answers, runners.project_context.workers)
    for run, result in zip(of_project, judged, strict=True):
        file.keep(run, result.verdict, result.detail, result.duration_s)


def _answer(project: Project, run: ProjectRun) -> Answer:
    text = project.tree.text(run.path)
    if text is None:
        raise InputError(
            f"{run.path}: no such file in the project: run `driftline verify` on the snapshot",
            code="snapshot_project_incomplete",
        )
    return Answer(run.key, run.path, run.rewrite(text), run.tests)


def _required(row: R | None) -> R:
    if row is None:
        raise InputError(
            "the snapshot lacks an environment or project of the task: run `driftline verify` on it",
            code="snapshot_project_incomplete",
        )
    return row


def _give_up(runs: Iterable[Run], error: Exception, file: RunFile, outcome: Outcome = Outcome.NO_ENVIRONMENT) -> None:
    for run in runs:
        file.keep(run, outcome, f"{type(error).__name__}: {error}")


def _judge(passes: Passes, task: Task, texts: Sequence[str], runs: Sequence[Run], file: RunFile) -> None:
    """Turn the outcomes of a task's runs into scores of its samples; runs without a verdict have none."""
    if any(run.control and file.outcomes[run.key] is Outcome.PASSED for run in runs):
        reason = Exclusion.EMPTY_PASSES
        passes.excluded.append(Excluded(reason, f"{task.family}: {reason.meaning}", task.id))
        return
    results: dict[str, dict[Metric, RunResult]] = defaultdict(dict)
    for run in runs:
        if not run.control:
            results[run.sample][run.metric] = RunResult(file.outcomes[run.key], file.details.get(run.key, ""))
    passes.results[task.family, task.id] = results
    unjudged: dict[Outcome, list[str]] = defaultdict(list)
    for metric in dict.fromkeys(metric for by_metric in results.values() for metric in by_metric):
        scores = passes.scores.setdefault((task.family, task.id), {}).setdefault(metric, [])
        for outcome, detail in (results[text][metric] for text in texts):
            if outcome in UNJUDGED:
                unjudged[outcome].append(detail)
                waiting = passes.open.setdefault((task.family, task.id), {})
                waiting[metric] = waiting.get(metric, 0) + 1
            else:
                scores.append(float(outcome is Outcome.PASSED))
    for outcome, details in unjudged.items():
        passes.excluded.append(Excluded(_REASONS[outcome], f"{len(details)} runs: {details[0]}", task.id))


def runners_at(cache: Path) -> Runners:
    """Return what runs samples and projects, with environments and sources below a folder.

    Errors: RuleError, SettingsError, SandboxUnavailable.
    """
    current, sandbox = settings(), find_sandbox()
    store = EnvironmentStore(
        cache / "environments",
        index_url=index_url(),
        rules=environment_rules(),
        workers=current.workers,
        sandbox=sandbox,
    )
    engine = Engine(store, sandbox, load(current.rules / "validation.yaml", ValidationRules), current.workers)
    of_projects = load(current.rules / "repository.yaml", RepositoryRules)
    fetcher = Fetcher(timeout_s=current.timeout_s)
    projects = ProjectSources(cache / "projects", fetcher, index_url(), of_projects)
    return Runners(engine, ProjectContext(projects, store, sandbox, of_projects, current.workers))
