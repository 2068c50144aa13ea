"""The cases that judge a sample in the environment of a release: its program with the outputs or tests of the task."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Granularity
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.filling import filled, solved
from pipeline.evaluation.scores.marking.marked_cases import Lines, marked
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.splitting import NotParted, Parted, part
from pipeline.families.completions_and_migrations.expected_outputs import Example, displaying
from pipeline.families.completions_and_migrations.masks import MASKS
from pipeline.families.completions_and_migrations.required_names import RequiredNames, required_names

if TYPE_CHECKING:  # verifiers of exported tasks do not have it
    from pipeline.lake.rows import (
        PublishedCompletionRow,
        PublishedFunctionRow,
        PublishedMigrationRow,
        PublishedProblemRow,
    )


Judging = Iterator[tuple[Metric, Case]]


def _completion(row: PublishedCompletionRow, sample: str, example: Example) -> Judging:
    named = RequiredNames(frozenset([row["core_token"]]), frozenset(), frozenset([row["core_token"]]))
    displayed = [text for check in example["checks"] if (text := (check["expected"] or "").strip())]
    is_silent = not displayed
    is_in_comment = any(f"# {text}" in row["code"] for text in displayed)
    if (
        row["granularity"] != Granularity.TOKEN
        and (is_silent or is_in_comment)
        and (missing := named.missing_from(sample))
    ):
        # Any program that runs would pass where the right one displays nothing, and a literal where a comment has it.
        yield Metric.PASS, _without(missing)
        return
    program = filled(row, sample)
    if row["granularity"] != Granularity.TOKEN and is_silent:
        masked = row["masked_code"], row["core_token"], Granularity(row["granularity"])
        lines = _masked_lines(*masked, program), _masked_lines(*masked, row["code"])
        case = marked(Case("", "", program), Case("", "", row["code"]), named, *lines)
    else:
        case = displaying(example, row["code"], program)
    yield Metric.PASS, case


def _masked_lines(masked_code: str, core_token: str, granularity: Granularity, program: str) -> Lines | None:
    """Return the first and last line that stand in the place of a completion's mask; None in a program of its own."""
    before, _, after = masked_code.replace(MASKS[Granularity.TOKEN], core_token).partition(MASKS[granularity])
    if not (program.startswith(before) and program.endswith(after)):
        return None
    return before.count("\n") + 1, program.count("\n") + 1 - after.count("\n")


def _migration(row: PublishedMigrationRow, sample: str, example: Example) -> Judging:
    required = required_names(row["source_code"], row["target_code"], row["target_path"])
    if missing := required.missing_from(sample):
        # Equal outputs would not show that the answer is for the target version.
        yield Metric.PASS, _without(missing)
    else:
        reference = displaying(example, row["target_code"], row["target_code"])
        yield Metric.PASS, marked(displaying(example, row["target_code"], sample), reference, required)


def _without(names: Sequence[str]) -> Case:
    """Return the case of an answer that lacks names, which fails and says so."""
    return Case("", "", f"raise AssertionError('the answer does not use {', '.join(names)}')\n")


def _function(row: PublishedFunctionRow, sample: str, example: object) -> Judging:
    if parted := _parted(row["tests"], row["module"]):
        yield Metric.PASS, Case("", "", filled(row, sample), parted=parted, module=row["module"])


def _problem(row: PublishedProblemRow, sample: str, example: object) -> Judging:
    program = solved(row["starting_code"], sample)
    for metric, text, module in (
        (Metric.PASS, row["hidden_tests"], row["module"]),
        (Metric.PASS_VISIBLE, row["test"], None),
    ):
        if parted := _parted(text, module):
            yield metric, Case("", "", program, parted=parted, module=module)


def _parted(tests: str, module: str | None) -> Parted | None:
    parts = parts_of(tests, module)
    return parts if isinstance(parts, Parted) else None


@functools.lru_cache(512)
def parts_of(tests: str, module: str | None) -> Parted | str:
    """Return tests in parts, or why they cannot be parted."""
    try:
        return part(tests, module)
    except NotParted as error:
        return str(error)


CASES: Mapping[Family, Callable[[Any, str, Any], Judging]] = {
    Family.COMPLETION: _completion,
    Family.FUNCTION: _function,
    Family.MIGRATION: _migration,
    Family.PROBLEM: _problem,
}
"""The cases of a sample by family, of a row, a sample, and the example behind a completion or migration."""
