"""Validation of records that run in a project: the project's own tests, in the environment that the export names."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.core.progress import ReportProgress
from pipeline.core.rules.fingerprint import plain
from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.evaluation.export.changes import Change, changes_of
from pipeline.evaluation.export.format import ExportError, Record
from pipeline.evaluation.export.projects import PROJECTS
from pipeline.evaluation.export.records import BadRecord, Fields, RecordError, checked, read_answered, read_records
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.execution.validation.samples.validate import Summary
from pipeline.execution.validation.samples.verdict_file import Verdict, VerdictFile
from pipeline.families.repository_tasks.answers import Answer
from pipeline.families.repository_tasks.project_context import ProjectContext, TracedProject, open_project
from pipeline.families.repository_tasks.running import judge_answers
from pipeline.families.repository_tasks.sdists import TooLarge
from pipeline.families.repository_tasks.variant_runs import TestRun
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import BadAnswer, NotFound, Unreachable, WrongHash
from pipeline.lake.ids import content_id, sha256_json

_OUTCOMES = {
    TestOutcome.PASSED: Outcome.PASSED,
    TestOutcome.FAILED: Outcome.FAILED_ASSERTION,
    TestOutcome.ERROR: Outcome.WRONG_EXCEPTION,
    TestOutcome.TIMED_OUT: Outcome.TIMED_OUT,
    TestOutcome.NOT_RUN: Outcome.WRONG_EXCEPTION,
    TestOutcome.SKIPPED: Outcome.FAILED_ASSERTION,
}
_SILENT = (IndexUnreachable, Unreachable)
_GONE = (StepFailed, NotFound, BadAnswer, WrongHash, TooLarge, BadArchive, UnsafeArchive, ValueError)
_LISTED_TESTS = 5
"""Tests of a verdict whose outcomes are listed."""

_BATCH = 16
"""Records of one project between two reports of progress."""


_NEEDED: Fields = {
    **dict.fromkeys(("folder", "outcome", "project", "version", "sha256", "python", "lock_id", "lock"), str),
    **dict.fromkeys(("packages", "import_names"), list),
}


@dataclass(frozen=True, slots=True)
class _Request:
    """The change of a record, None where it cannot be run, and its verdict before the run."""

    verdict: Verdict
    change: Change | None = None


def validate_in_projects(
    path: Path,
    export_format: ExportFormat,
    verdicts: Path,
    project_context: ProjectContext,
    report: ReportProgress,
    answers: Path | None = None,
    *,
    again: bool,
    restart: bool,
) -> Summary:
    """Run every record of a file of EvoCodeBench or Codev-Bench, and write their verdicts in order.

    With a file of answers only answered records run. A killed run resumes.

    Errors: ExportError without a file of projects; NoVerdicts.
    """
    began = time.monotonic()
    projects = _projects(path)
    with VerdictFile(verdicts, forget=restart) as file:
        previous = dict(file.outcomes)
        requests = [*_requests(read_answered(path, export_format, answers), export_format, projects, project_context)]
        settled = {key for key, outcome in previous.items() if outcome is Outcome.PASSED or not again}
        new = [request for request in requests if request.verdict.key not in settled]
        _run(new, projects, project_context, file, report)
        file.finish((request.verdict.key, request.verdict.line or 0) for request in requests)
        order = [request.verdict.key for request in requests]
        outcomes = Counter(file.outcomes[key] for key in order)
    environments = len({request.verdict.lock_id for request in new if request.verdict.lock_id})
    seconds = round(time.monotonic() - began, 1)
    return Summary(outcomes, order, len(requests) - len(new), environments, seconds, {})


def _projects(path: Path) -> Mapping[str, TracedProject]:
    """Return the projects by folder, from the file of projects beside a file or one folder above it."""
    places = [folder / PROJECTS for folder in (path.parent, path.parent.parent)]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise ExportError(
            f"{path}: its records run in projects, whose environments are in {PROJECTS}; no such file is beside it."
            " `driftline export` writes one; put it beside the file",
            code="records_without_projects",
        )
    projects: dict[str, TracedProject] = {}
    for entry in read_records(file):
        number = entry.number if isinstance(entry, BadRecord) else entry[0]
        try:
            row = checked(_record(entry), _NEEDED, {"size": int})
        except RecordError as error:
            raise ExportError(
                f"{file}: line {number}: {error}. Use the exported file", code="projects_file_invalid"
            ) from None
        projects[row["folder"]] = {
            "project": row["project"],
            "version": row["version"],
            "outcome": row["outcome"],
            "sha256": row["sha256"],
            "size": row.get("size") or 0,
            "packages": row["packages"],
            "python": row["python"],
            "lock_id": row["lock_id"],
            "lock": row["lock"],
            "import_names": row["import_names"],
        }
    return projects


def _record(entry: tuple[int, Record] | BadRecord) -> Record:
    """Return the record of an entry. Errors: RecordError for a bad one."""
    if isinstance(entry, BadRecord):
        raise RecordError(entry.detail, code="record_not_json")
    return entry[1]


def _requests(
    records: Iterable[tuple[int, Record] | BadRecord],
    export_format: ExportFormat,
    projects: Mapping[str, TracedProject],
    project_context: ProjectContext,
) -> Iterator[_Request]:
    """Yield the request of each change of each record; equal ones have different keys."""
    rules = sha256_json(plain(project_context.rules))
    copies: Counter[str] = Counter()
    for entry in records:
        number = entry.number if isinstance(entry, BadRecord) else entry[0]
        try:
            record = _record(entry)
            changes = changes_of(export_format, record)
        except RecordError as error:
            detail = f"record {number}: {error}"
            key = content_id(number, detail)
            yield _Request(Verdict(f"record {number}", Outcome.BAD_SAMPLE, detail=detail, line=number, key=key))
            continue
        for change in changes:
            project = projects.get(change.folder)
            state = (project["lock_id"], project["sha256"]) if project else (None, None)
            key = content_id(export_format, record, *state, rules)
            copies[key] += 1
            begun = Verdict(change.name, Outcome.NO_ENVIRONMENT, line=number, key=f"{key}-{copies[key]}")
            yield _in_project(begun, change, project)


def _in_project(begun: Verdict, change: Change, project: TracedProject | None) -> _Request:
    if not project:
        detail = f"record {begun.line}: {PROJECTS} has no project in {change.folder}; add its line"
        return _Request(replace(begun, detail=detail))
    verdict = replace(
        begun,
        python=project["python"],
        lock_id=project["lock_id"],
        version=project["version"],
        library=project["project"],
    )
    return _Request(verdict, change)


def _run(
    queue: Sequence[_Request],
    projects: Mapping[str, TracedProject],
    project_context: ProjectContext,
    file: VerdictFile,
    report: ReportProgress,
) -> None:
    """Run the requests project by project, and append their verdicts."""
    # Copies of a project lack different lines, and answers run in the complete tree.
    groups: dict[tuple[str | None, str | None], list[tuple[Verdict, Change]]] = defaultdict(list)
    for request in queue:
        if request.change is None:
            file.append(request.verdict)
        else:
            project = projects[request.change.folder]
            groups[project["sha256"], project["lock_id"]].append((request.verdict, request.change))
    total, done = sum(map(len, groups.values())), 0
    for group in groups.values():
        project = projects[group[0][1].folder]
        for start in range(0, len(group), _BATCH):
            report(project["project"], done, total)
            batch = group[start : start + _BATCH]
            for verdict in _judged(project, batch, project_context):
                file.append(verdict)
            done += len(batch)
            report(project["project"], done, total)


def _judged(
    row: TracedProject, group: Sequence[tuple[Verdict, Change]], project_context: ProjectContext
) -> Iterator[Verdict]:
    """Run the changes of one project and yield their verdicts."""
    try:
        project = open_project(row, project_context)
    except (*_SILENT, *_GONE) as error:
        for begun, _ in group:
            yield replace(begun, detail=str(error), transient=isinstance(error, _SILENT))
        return
    answers = []
    for begun, change in group:
        text = project.tree.text(change.path) if change.path in project.tree.files else None
        if text is None:
            detail = f"record {begun.line}: {row['project']} has no Python file {change.path}; correct its path"
            yield replace(begun, outcome=Outcome.BAD_SAMPLE, detail=detail)
        else:
            answers.append(Answer(begun.key, change.path, change.rewrite(text), change.tests))
    verdicts = {begun.key: begun for begun, _ in group}
    for run in judge_answers(project, answers, project_context.workers) if answers else ():
        yield _verdict(verdicts[run.id], run)


def _verdict(begun: Verdict, run: TestRun) -> Verdict:
    """Return the verdict of a run, which passes if all of its tests do."""
    seconds = round(run.duration_s, 3)
    if run.outcome is not Outcome.PASSED:
        return replace(begun, outcome=run.outcome, detail=run.detail, duration_s=seconds)
    others = [f"{test}: {outcome}" for test, outcome in run.outcomes.items() if outcome is not TestOutcome.PASSED]
    detail = "\n".join(
        [*others[:_LISTED_TESTS], *([f"and {len(others) - _LISTED_TESTS} more"] if len(others) > _LISTED_TESTS else [])]
    )
    return replace(begun, outcome=_OUTCOMES[run.worst], detail=detail or None, duration_s=seconds)
