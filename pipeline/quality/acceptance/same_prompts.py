"""Rows that ask the same: the same task in several releases is one row, and a prompt has one answer."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from packaging.version import Version

from pipeline.core.vocabularies.changes import LibEvolutionEvalTag
from pipeline.core.vocabularies.review import RejectReason, ReviewStatus
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Evidence, MigrationBasis
from pipeline.families.proof import Runs
from pipeline.lake.rows import (
    AnyRow,
    FunctionRunRow,
    ProblemRunRow,
    PublishedCompletionRow,
    PublishedMigrationRow,
    R,
)
from pipeline.lake.stage import Reject
from pipeline.quality.acceptance.visible_calls import has_visible_call

_TAGS = (
    # The last release of an API is rare, and asks for the most.
    LibEvolutionEvalTag.DEPRECATED,
    LibEvolutionEvalTag.INTRODUCED,
    LibEvolutionEvalTag.MODIFIED,
    LibEvolutionEvalTag.UNCHANGED,
)


_NAME = re.compile(r"[A-Za-z_]\w*")


def one_answer(rows: Iterable[R], prompt: Sequence[str], answer: Callable[[R], str]) -> tuple[list[R], list[Reject]]:
    """Refuse the rows that are equal in the columns of the prompt and not in the answer: each answer is right.

    Such are aliases, and APIs that do the same for the same input.
    """
    return _of_groups(rows, itemgetter(*prompt), lambda group: _all_or_none(group, answer))


def one_row(rows: Iterable[R], task: Sequence[str]) -> tuple[list[R], list[Reject]]:
    """Keep of the rows that are equal in the columns of the task, in different releases, the one that tells most.

    That is one whose tag a failure in the neighbouring release proves, then the last release of an API, then one that
    changed it, then the first.
    """
    return _of_groups(rows, itemgetter(*task), lambda group: _first(group, _rank, RejectReason.DUPLICATE))


def one_of_alike(
    rows: Iterable[R], task: Callable[[R], object], order: Callable[[R], tuple[Any, ...]]
) -> tuple[list[R], list[Reject]]:
    """Keep the first of the rows that are equal in the task, and differ in the code around it.

    The others ask for the same knowledge once more, which gives it more weight.
    """
    return _of_groups(rows, task, lambda group: _first(group, order, RejectReason.NEAR_DUPLICATE))


def one_of_each(
    rows: Iterable[R], tasks: Sequence[Callable[[R], object]], order: Callable[[R], tuple[Any, ...]]
) -> tuple[list[R], list[Reject]]:
    """Keep the rows by the order of which no earlier one that is kept is equal in one of the tasks."""
    first_rows: dict[tuple[int, object], str] = {}
    rows_left: list[R] = []
    rejects: list[Reject] = []
    for row in sorted(rows, key=lambda row: (*order(row), row["id"])):
        places = list(enumerate(task(row) for task in tasks))
        other = next((first_rows[place] for place in places if place in first_rows), None)
        if other is None:
            first_rows |= dict.fromkeys(places, str(row["id"]))
            rows_left.append(row)
        else:
            rejects.append(Reject(row["id"], RejectReason.NEAR_DUPLICATE, f"the same task, or program, as {other}"))
    return rows_left, rejects


def migration_task(row: PublishedMigrationRow) -> tuple[object, ...]:
    """Return what a migration asks for: from which API to which, and by which change.

    Of a method that keeps its name while its class gets another one, it asks for the class.
    """
    paths = [row["path"], row["target_path"]]
    classes = [path.rpartition(".")[0] for path in paths]
    of_classes = all(owner.rpartition(".")[2][:1].isupper() for owner in classes)
    if of_classes and classes[0] != classes[1] and row["source_name"] == row["target_name"]:
        paths = classes
    # Dependents move by one change from any release to any other.
    of_dependents = row["basis"] == MigrationBasis.DEPENDENT_CHANGED
    versions = () if of_dependents else (row["version"], row["target_version"])
    # Two parameters of an API are two changes.
    return *paths, *versions, row["basis"], row["change_id"]


def replaced_names(row: PublishedMigrationRow) -> tuple[object, ...]:
    """Return which names of a program give way to which others; the row itself where none does in calls of one API.

    Of functions that got the same new parameter, such as the decorators of one module, each asks for that name.
    """
    if row["basis"] != MigrationBasis.PARAMETERS:
        return (row["id"],)
    old, new = (frozenset(_NAME.findall(row[side])) for side in ("source_code", "target_code"))
    if not old - new or not new - old:
        return (row["id"],)
    return old - new, new - old, row["version"], row["target_version"]


def few_of_each_move(
    rows: Iterable[PublishedMigrationRow], most: int
) -> tuple[list[PublishedMigrationRow], list[Reject]]:
    """Keep the first so many migrations, by their order, of what moved together from one place to another."""
    counts: Counter[object] = Counter()
    rows_left: list[PublishedMigrationRow] = []
    rejects: list[Reject] = []
    for row in rows:
        move = _move(row)
        counts[move] += 1
        if move is None or counts[move] <= most:
            rows_left.append(row)
        else:
            detail = f"{most} others move from {move[0] or '(top)'} to {move[1] or '(top)'} too"
            rejects.append(Reject(row["id"], RejectReason.NEAR_DUPLICATE, detail))
    return rows_left, rejects


def _move(row: PublishedMigrationRow) -> tuple[str, str, str, str] | None:
    """Return the places before what both paths have, and the releases; None where the name is another, or no other."""
    old, new = row["path"].split("."), row["target_path"].split(".")
    pairs = zip(reversed(old), reversed(new), strict=False)
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    if not same or old == new:
        return None
    return ".".join(old[:-same]), ".".join(new[:-same]), row["version"], row["target_version"]


def surest_first(row: PublishedCompletionRow) -> tuple[Any, ...]:
    """Order completions that are alike: labels by runs first, then those that wait for nobody, then long code.

    Long code shows more of what is hidden, and contexts are made of it. A line whose call is visible comes later.
    """
    is_static, is_pending = row["evidence"] != Evidence.EXECUTED, row["review_status"] == ReviewStatus.PENDING
    return is_static, is_pending, has_visible_call(row), -len(row["code"]), Version(row["version"])


def passing_versions(runs: Runs, subject: str, versions: Iterable[str]) -> list[str]:
    """Return the versions in which a snippet passes, or a probe finds a path, oldest first."""
    passed = (version for version in versions if runs.outcome(subject, version) == Outcome.PASSED)
    return sorted(passed, key=Version)


def versions_of_reference(version: str, others: Iterable[ProblemRunRow | FunctionRunRow]) -> list[str]:
    """Return the version of a reference, in which it passed, and those of its runs in other releases that passed."""
    passed = {run["version"] for run in others if run["outcome"] == Outcome.PASSED}
    return sorted({version, *passed}, key=Version)


def _of_groups(
    rows: Iterable[R], key: Callable[[R], object], decide: Callable[[list[R]], tuple[list[R], list[Reject]]]
) -> tuple[list[R], list[Reject]]:
    groups: dict[object, list[R]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    rows_left: list[R] = []
    rejects: list[Reject] = []
    for group in groups.values():
        some, others = decide(group)
        rows_left += some
        rejects += others
    return rows_left, rejects


def _all_or_none(group: list[R], answer: Callable[[R], str]) -> tuple[list[R], list[Reject]]:
    answers = sorted(set(map(answer, group)))
    if len(answers) == 1:
        return group, []
    detail = " | ".join(answers)[:300]
    return [], [Reject(row["id"], RejectReason.SEVERAL_ANSWERS, detail) for row in group]


def _first(group: list[R], order: Callable[[R], tuple[Any, ...]], reason: RejectReason) -> tuple[list[R], list[Reject]]:
    first, *others = sorted(group, key=lambda row: (*order(row), row["id"]))
    detail = f"the same task with the same answer in {first['version']}: {first['id']}"
    return [first], [Reject(row["id"], reason, detail) for row in others]


def _rank(row: AnyRow) -> tuple[object, ...]:
    distinguished = row["evidence"] == Evidence.EXECUTED and row["neighbour_outcome"] not in (None, Outcome.PASSED)
    tag = _TAGS.index(row["libevolutioneval_tag"])
    return not distinguished, tag, Version(row["version"])
