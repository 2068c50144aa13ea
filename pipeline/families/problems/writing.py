"""Problems that somebody writes about changes that no example decides: what is asked for, and the rows that come."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import RejectReason
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.running import score_by_tests
from pipeline.execution.mutation.score import MutationScore
from pipeline.execution.validation.cases import MODULE, Case
from pipeline.execution.validation.stage import Runner
from pipeline.families.problems.changed import Changed, change_context, changed_apis, undecided
from pipeline.families.problems.drafted import ProblemWriter, Unwritten, WrittenProblem, drafted_row
from pipeline.families.problems.library import Library
from pipeline.families.problems.rules import ProblemRules
from pipeline.families.problems.running import OpenEnvironment, environments_with_tests, places_of
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.rows import EnvironmentRow, ProblemRow, ProblemRunRow, SnippetRow
from pipeline.lake.stage import Reject
from pipeline.llm.rules import SpelledNameRules


@dataclass(slots=True)
class WrittenRows:
    """What came of having problems written: rows of the stage's tables, the changes that got none, and notes."""

    problems: list[ProblemRow] = field(default_factory=list)
    runs: list[ProblemRunRow] = field(default_factory=list)
    environments: list[EnvironmentRow] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    notes: list[Reject] = field(default_factory=list)


def write_problems(
    library: Library,
    snippets: Sequence[SnippetRow],
    decided: Iterable[ProblemRow],
    places: Mapping[str, OpenEnvironment],
    rules: ProblemRules,
    mutation: MutationRules,
    writer: ProblemWriter,
    spelled_name: SpelledNameRules,
    runner: Runner,
) -> WrittenRows:
    """Have problems written about the changes of a library; `decided` are the problems that it has, `places` theirs.

    Rejects: those of `changed_apis`, NO_ENVIRONMENT where one of the two versions has none, DRAFT_WAITING and
    DRAFT_REFUSED where nothing was written yet, or nothing that holds, DUPLICATE.
    """
    have = list(decided)
    left = undecided(library.changes.values(), have, writer.rules.kinds)
    chosen, rejects = changed_apis(left, library, writer.rules)
    versions = {version for changed in chosen for version in (changed.version, changed.other_version)} - set(places)
    environments, unreachable = environments_with_tests(library.history.releases.values(), versions, runner)
    opened, closed = places_of(environments, runner)
    everywhere = {**places, **opened}
    runnable = [changed for changed in chosen if {changed.version, changed.other_version} <= everywhere.keys()]
    requests, failed = parted(
        guarded(
            runnable,
            lambda changed: changed.id,
            lambda changed: [
                Unwritten(
                    changed,
                    change_context(changed, library, snippets, rules.function, writer.rules),
                    library,
                    spelled_name,
                )
            ],
        )
    )
    refused = [*rejects, *_homeless(chosen, runnable), *failed]
    rows = WrittenRows(environments=environments, rejects=refused, notes=[*unreachable, *closed])
    ids = {row["id"] for row in have}
    for request, written in zip(requests, writer.write(requests, everywhere), strict=True):
        place = everywhere[request.changed.version]
        score = partial(_score, request, written, place, runner, mutation)
        if broken := attempt(request.id, _enter, rows, request, written, place, rules, score, ids):
            rows.rejects.append(broken)
    return rows


def _homeless(chosen: Iterable[Changed], runnable: Collection[Changed]) -> list[Reject]:
    return [
        Reject(one.id, RejectReason.NO_ENVIRONMENT, f"{one.path}: {one.version} or {one.other_version} is not built")
        for one in chosen
        if one not in runnable
    ]


def _score(
    request: Unwritten, written: WrittenProblem, place: OpenEnvironment, runner: Runner, rules: MutationRules
) -> MutationScore:
    """Return how many mutants of the reference the hidden tests kill that were written."""
    text = written.text
    if text is None:
        return MutationScore()
    names = place.row["import_names"]
    case = Case(request.id, "", text.program, import_names=names, test_file=text.tests(request.roots), module=MODULE)
    offset = text.starting_code.count("\n")
    lines = range(offset + 1, text.program.count("\n") + 2)
    return score_by_tests(case, lines, Family.PROBLEM, place.environment, runner, rules)


def _enter(
    rows: WrittenRows,
    request: Unwritten,
    written: WrittenProblem,
    place: OpenEnvironment,
    rules: ProblemRules,
    score: Callable[[], MutationScore],
    ids: set[str],
) -> None:
    """Take in what was written about one change."""
    changed = request.changed
    if written.text is None:
        refusal = written.refusal
        assert refusal is not None
        reason = RejectReason.DRAFT_WAITING if refusal.waiting else RejectReason.DRAFT_REFUSED
        rows.rejects.append(Reject(request.id, reason, f"{changed.path} in {changed.version}: {refusal.problem}"))
        return
    row = drafted_row(request, written.text, written, place, rules, score())
    if row["id"] in ids:
        detail = f"{changed.path} in {changed.version}: the same program as another problem"
        rows.rejects.append(Reject(request.id, RejectReason.DUPLICATE, detail))
        return
    ids.add(row["id"])
    rows.problems.append(row)
    rows.runs += written.runs
