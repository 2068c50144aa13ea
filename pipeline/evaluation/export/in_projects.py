"""Validation of records that run in a project: the project's own tests, in the environment that the export names."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.core.rules.fingerprint import plain
from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.evaluation.export.changes import Change, changes_of
from pipeline.evaluation.export.errors import ExportError
from pipeline.evaluation.export.projects import PROJECTS
from pipeline.evaluation.export.records import BadRecord, Fields, RecordError, checked, read_answered, read_records
from pipeline.evaluation.export.results import Record
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.execution.validation.samples.validate import Summary
from pipeline.execution.validation.samples.verdict_file import Verdict, VerdictFile
from pipeline.families.repository_tasks.answers import Answer, judge_answers
from pipeline.families.repository_tasks.project_context import Workshop, open_project
from pipeline.families.repository_tasks.running import TestRun
from pipeline.families.repository_tasks.sdists import TooLarge
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import BadAnswer, NotFound, Unreachable, WrongHash
from pipeline.lake.ids import content_id, sha256_json
from pipeline.lake.schema import Row

Tell = Callable[[str, int, int], None]

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
_TOLD = 5
"""Tests of which a verdict tells how they came out."""

_BATCH = 16
"""Records of one project between two looks at what is done."""


_NEEDED: Fields = {
    **dict.fromkeys(("folder", "outcome", "project", "version", "sha256", "python", "lock_id", "lock"), str),
    **dict.fromkeys(("packages", "import_names"), list),
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A record: the change it asks for, None where it cannot be run, and its verdict but for the outcome."""

    verdict: Verdict
    change: Change | None = None


def validate_in_projects(
    path: Path,
    wanted: ExportFormat,
    verdicts: Path,
    workshop: Workshop,
    tell: Tell,
    answers: Path | None = None,
    *,
    again: bool,
    restart: bool,
) -> Summary:
    """Run every record of a file of EvoCodeBench or Codev-Bench, and write a verdict of each in their order.

    With a file of answers only what it answers is run. A killed run goes on where it was.

    Errors: ExportError where no project is known; NoVerdicts.
    """
    began = time.monotonic()
    projects = _projects(path)
    with VerdictFile(verdicts, forget=restart) as file:
        known = dict(file.known)
        asked = [*_asked(read_answered(path, wanted, answers), wanted, projects, workshop)]
        settled = {key for key, outcome in known.items() if outcome is Outcome.PASSED or not again}
        new = [one for one in asked if one.verdict.key not in settled]
        _run(new, projects, workshop, file, tell)
        file.finish((one.verdict.key, one.verdict.line or 0) for one in asked)
        order = [one.verdict.key for one in asked]
        outcomes = Counter(file.known[key] for key in order)
    environments = len({one.verdict.lock_id for one in new if one.verdict.lock_id})
    seconds = round(time.monotonic() - began, 1)
    return Summary(outcomes, order, len(asked) - len(new), environments, seconds, {})


def _projects(path: Path) -> Mapping[str, Row]:
    """Return the projects that stand beside a file, or one folder above it, by their folders."""
    places = [folder / PROJECTS for folder in (path.parent, path.parent.parent)]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise ExportError(
            f"{path}: runs in projects, and no {PROJECTS} beside it tells in which environments. `driftline export`"
            " writes one; put it beside the file"
        )
    projects: dict[str, Row] = {}
    for one in read_records(found):
        number = one.number if isinstance(one, BadRecord) else one[0]
        try:
            row = checked(_record(one), _NEEDED, {"size": int})
        except RecordError as error:
            raise ExportError(f"{found}: line {number}: {error}. Take the file that was exported") from None
        projects[row["folder"]] = row | {"size": row.get("size") or 0}
    return projects


def _record(one: tuple[int, Record] | BadRecord) -> Record:
    """Return what was read. Errors: RecordError where it is no record."""
    if isinstance(one, BadRecord):
        raise RecordError(one.detail)
    return one[1]


def _asked(
    records: Iterable[tuple[int, Record] | BadRecord],
    wanted: ExportFormat,
    projects: Mapping[str, Row],
    workshop: Workshop,
) -> Iterator[_Asked]:
    """Yield what each record asks for, equal ones with keys of their own."""
    rules = sha256_json(plain(workshop.rules))
    seen: Counter[str] = Counter()
    for one in records:
        number = one.number if isinstance(one, BadRecord) else one[0]
        try:
            record = _record(one)
            changes = changes_of(wanted, record)
        except RecordError as error:
            detail = f"record {number}: {error}"
            key = content_id(number, detail)
            yield _Asked(Verdict(f"record {number}", Outcome.BAD_SAMPLE, detail=detail, line=number, key=key))
            continue
        for change in changes:
            project = projects.get(change.folder, {})
            key = content_id(wanted, record, project.get("lock_id"), project.get("sha256"), rules)
            seen[key] += 1
            begun = Verdict(change.name, Outcome.NO_ENVIRONMENT, line=number, key=f"{key}-{seen[key]}")
            yield _in_project(begun, change, project)


def _in_project(begun: Verdict, change: Change, project: Row) -> _Asked:
    if not project:
        detail = f"record {begun.line}: {PROJECTS} has no project in {change.folder}; add its line"
        return _Asked(replace(begun, detail=detail))
    told = {name: project[name] for name in ("python", "lock_id", "version")}
    return _Asked(replace(begun, **told, library=project["project"]), change)


def _run(
    asked: Sequence[_Asked], projects: Mapping[str, Row], workshop: Workshop, file: VerdictFile, tell: Tell
) -> None:
    """Run what can be run, project by project, and append a verdict of each record."""
    # The copies of a project differ in what they lack, and answers are run in the whole tree.
    groups: dict[tuple[str, str], list[tuple[Verdict, Change]]] = defaultdict(list)
    for one in asked:
        if one.change is None:
            file.append(one.verdict)
        else:
            project = projects[one.change.folder]
            groups[project["sha256"], project["lock_id"]].append((one.verdict, one.change))
    total, done = sum(map(len, groups.values())), 0
    for group in groups.values():
        project = projects[group[0][1].folder]
        for start in range(0, len(group), _BATCH):
            tell(project["project"], done, total)
            batch = group[start : start + _BATCH]
            for verdict in _judged(project, batch, workshop):
                file.append(verdict)
            done += len(batch)
            tell(project["project"], done, total)


def _judged(row: Row, group: Sequence[tuple[Verdict, Change]], workshop: Workshop) -> Iterator[Verdict]:
    """Run the changes of one project and yield a verdict of each."""
    try:
        project = open_project(row, workshop)
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
    for run in judge_answers(project, answers, workshop.workers) if answers else ():
        yield _verdict(verdicts[run.id], run)


def _verdict(begun: Verdict, run: TestRun) -> Verdict:
    """Return the verdict of a run: it passed if all of its tests did."""
    seconds = round(run.duration_s, 3)
    if run.outcome is not Outcome.PASSED:
        return replace(begun, outcome=run.outcome, detail=run.detail, duration_s=seconds)
    others = [f"{test}: {outcome}" for test, outcome in run.outcomes.items() if outcome is not TestOutcome.PASSED]
    detail = "\n".join([*others[:_TOLD], *([f"and {len(others) - _TOLD} more"] if len(others) > _TOLD else [])])
    return replace(begun, outcome=_OUTCOMES[run.worst], detail=detail or None, duration_s=seconds)
