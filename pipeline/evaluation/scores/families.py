"""The metrics of each family that need no run, as the paper of its benchmark defines them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from packaging.utils import canonicalize_name

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Granularity
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.api import api_f1, api_hit
from pipeline.evaluation.scores.critical import critical_diff, exact_match, holds
from pipeline.evaluation.scores.filling import beyond, inside
from pipeline.evaluation.scores.retrieval import mentioned, recall
from pipeline.evaluation.scores.similarity import (
    identifier_f1,
    identifier_sequence_match,
    prefix_match,
    published_prefix_match,
    published_sequence_match,
)
from pipeline.families.completions_and_migrations.required_names import new_part
from pipeline.lake.rows import (
    PublishedBlockCompletionRow,
    PublishedCompatibilityRow,
    PublishedCompletionRow,
    PublishedContextRow,
    PublishedMigrationRow,
    PublishedProblemRow,
    PublishedRepositoryTaskRow,
    PublishedSceneRow,
)

Values = Mapping[Metric, float | None]
"""Scores of one sample, 0 to 1 each; None where a metric does not apply to the reference."""

# What may precede a list of releases, and one of them.
_LABEL = re.compile(r"\A\W*(answer|(compatible )?(releases|versions))\W*:", re.IGNORECASE)
_V = re.compile(r"\Av(?=\d)", re.IGNORECASE)
# A dash or dots between two releases of a line make one word of both.
_BETWEEN = re.compile(r"""(?<=\d)["'`*]*[ \t]*(?:[-–—…]+|\.\.+)[ \t]*["'`*]*(?=v?\d)""", re.IGNORECASE)
# A word with the operator before it, and with the end of a wildcard such as `2.1.*`.
_WORD = re.compile(r"""(?:(?<![<>=~^≤≥≠])([<>=~^≤≥≠]+)[ \t"'`*]*)?([\w.!+-]+(?:(?<=\.)\*(?!\*))?)""")
_EXACT = frozenset({"", "==", "==="})


def completion(task: PublishedCompletionRow, sample: str) -> Values:
    """Score the code in place of the mask: a token by EM, a line or block by all metrics of `fragment`."""
    if task["granularity"] == Granularity.TOKEN:
        return {Metric.EM: exact_match(sample, task["core_token"], Granularity.TOKEN)}
    if task["granularity"] == Granularity.BLOCK:
        return fragment(inside(task, sample), task["answer"], task["core_token"], True)
    return fragment(sample, task["answer"], task["core_token"], False)


def migration(task: PublishedMigrationRow, sample: str) -> Values:
    """Score a program for the target version, as a block (VersiCode, 2406.07411, section 5)."""
    target = task["target_code"]
    new = new_part(task["source_code"], target, task["target_path"])
    return fragment(sample, target, task["target_name"], True, new)


def fragment(sample: str, reference: str, core_token: str, block: bool, new: str | None = None) -> Values:
    """Score statements against those of the reference, with a part of a path that must be in them, if any.

    Of a block, ISM and PM are 0 where the core token is missing or the code is not valid, as VersiCode's scorer has it.
    """
    diff = critical_diff(sample, reference, core_token, new)
    counts = not block or (diff.core_token and diff.valid)
    return {
        Metric.EM: diff.core_token,
        Metric.ISM: identifier_sequence_match(sample, reference) if counts else 0.0,
        Metric.PM: prefix_match(sample, reference) if counts else 0.0,
        Metric.ISM_PUBLISHED: published_sequence_match(sample, reference) if counts else 0.0,
        Metric.PM_PUBLISHED: published_prefix_match(sample, reference) if counts else 0.0,
        Metric.CDC: diff.passed,
        Metric.CDC_CORE_TOKEN: diff.core_token,
        Metric.CDC_VALID: diff.valid,
        Metric.CDC_ARGUMENTS: diff.arguments,
        Metric.CDC_WITH: diff.with_statement,
        Metric.CDC_KEYWORDS: diff.keywords,
        Metric.API_F1: api_f1(sample, reference),
    }


def block_completion(task: PublishedBlockCompletionRow, sample: str) -> Values:
    """Score a block of another language, without a check of its grammar."""
    named = holds(sample, task["core_token"])
    return {
        Metric.EM: named,
        Metric.ISM: identifier_sequence_match(sample, task["answer"]) if named else 0.0,
        Metric.PM: prefix_match(sample, task["answer"]) if named else 0.0,
        Metric.ISM_PUBLISHED: published_sequence_match(sample, task["answer"]) if named else 0.0,
        Metric.PM_PUBLISHED: published_prefix_match(sample, task["answer"]) if named else 0.0,
    }


def expression(task: PublishedContextRow, sample: str) -> Values:
    """Score the code after the hint, up to the next line of the context (LibEvolutionEval, 2412.04478, section 3)."""
    hint, below = task["hint"], task.get("right_context_few_lines") or ""
    predicted, reference = _before(sample, below), task["reference_call"].removeprefix(hint)
    return {
        Metric.API_F1: api_f1(predicted, reference, hint),
        Metric.IDENTIFIER_F1: identifier_f1(predicted, reference),
    }


def _before(sample: str, below: str) -> str:
    """Cut a completion where it repeats the next line; text right of the cursor is no line of its own."""
    following = next((line.strip() for line in below.split("\n")[1:] if line.strip()), None)
    lines = sample.split("\n")
    at = next((i for i, line in enumerate(lines) if i and line.strip() == following), len(lines))
    return "\n".join(lines[:at])


def problem(task: PublishedProblemRow, sample: str) -> Values:
    """Score a solution by the APIs that the reference calls; calls of the starting code do not count."""
    starting_code = task["starting_code"]
    calls = [name for name in task["api_calls"] if api_hit(task["solution"], [name], starting_code)]
    return {Metric.API_HIT: api_hit(beyond(starting_code, sample), calls, starting_code)}


def compatibility(task: PublishedCompatibilityRow, sample: str) -> Values:
    """Score a list of releases: right is what names the compatible ones and says nothing else."""
    return {Metric.RELEASES: named_releases(task["library"], sample) == set(task["compatible"])}


def named_releases(library: str, sample: str) -> set[str]:
    """Return the releases that an answer names, with other words that it has; `Flask==2.1.0` and `v2.1.0` are 2.1.0.

    Words that name no exact release, such as `>=2.1.0`, `2.1.*` and `2.1.0-2.2.0`, are returned as they are.
    """
    answer = _BETWEEN.sub("-", _LABEL.sub("", sample))
    own, named = canonicalize_name(library), set[str]()
    for operator, token in _WORD.findall(answer):
        word = _V.sub("", token.strip(".-"))
        if operator not in _EXACT:
            named.add(f"{operator}{word}")
        elif word not in {"", "and"} and canonicalize_name(word) != own:
            named.add(word)
    return named


def repository_task(task: PublishedRepositoryTaskRow, sample: str) -> Values:
    """Score a body by the dependencies that the reference names (EvoCodeBench).

    Dependencies that only ran, such as an operator's method, occur in no text and do not count.
    """
    observed = [*task["intra_class"], *task["intra_file"], *task["cross_file"]]
    dependencies = mentioned(task["reference"], observed)
    return {Metric.RECALL: recall(mentioned(sample, dependencies), dependencies)}


def scene(task: PublishedSceneRow, sample: str) -> Values:
    """Codev-Bench measures by running alone."""
    return {}


SCORERS: Mapping[Family, Callable[[Any, str], Values]] = {
    Family.COMPLETION: completion,
    Family.CONTEXT: expression,
    Family.CONTROLLED: expression,
    Family.BLOCK_COMPLETION: block_completion,
    Family.FUNCTION: completion,
    Family.MIGRATION: migration,
    Family.COMPATIBILITY: compatibility,
    Family.PROBLEM: problem,
    Family.REPOSITORY_TASK: repository_task,
    Family.SCENE: scene,
}
