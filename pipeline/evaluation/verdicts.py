"""Verdicts: a line for each answer with its code as extracted, scores, outcomes of runs and the reason of a failure."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.core.credentials import cut
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.scores import Exclusion, Metric
from pipeline.evaluation.scores.families import named_releases
from pipeline.evaluation.scores.runs import UNJUDGED, RunResult
from pipeline.evaluation.scores.score import Scored
from pipeline.evaluation.scores.tally import Answered
from pipeline.families.all_families import BY_NAME
from pipeline.lake.tables import replacing

FILE = "verdicts.jsonl"
_NOT_STATIC = frozenset({Metric.PASS, Metric.PASS_VISIBLE, Metric.MRR})
"""Metrics of runs, and of documents."""

_NEVER_RUN = frozenset({Exclusion.NOT_RUNNABLE, Exclusion.TESTS_NOT_PARTED, Exclusion.EMPTY_PASSES})
"""Reasons that hold for all samples of a task. Others are of one sample, of other lines or of documents."""


def write_verdicts(scored: Scored, folder: Path) -> None:
    """Write a line for each sample of each task, in the order of families, ids and samples. Errors: OSError."""
    excluded: dict[str, list[Exclusion]] = defaultdict(list)
    for each in scored.excluded:
        if each.id and each.reason in _NEVER_RUN:
            excluded[each.id].append(each.reason)
    # A half of a surrogate pair becomes its escape, which JSON reads.
    with replacing(folder / FILE) as path, path.open("w", encoding="utf-8", errors="backslashreplace") as file:
        for answered, texts in sorted(scored.texts.items()):
            reasons = excluded[answered[1]] if BY_NAME[answered[0]].running else ()
            for line in _verdicts(answered, texts, scored, reasons):
                file.write(cut(json.dumps(line, ensure_ascii=False)) + "\n")


def _verdicts(
    answered: Answered, texts: Sequence[str], scored: Scored, excluded: Iterable[Exclusion]
) -> Iterator[dict[str, Any]]:
    family, of = answered
    row = scored.tasks[of][family].row
    first: dict[str, int] = {}
    for number, text in enumerate(texts):
        runs = scored.results.get(answered, {}).get(text, {})
        overlong = number in scored.overlong.get(answered, ())
        static = {m: values[number] for m, values in scored.verdicts[answered].items() if m not in _NOT_STATIC}
        passed = {m: float(run.outcome is Outcome.PASSED) for m, run in runs.items() if run.outcome not in UNJUDGED}
        same = first.setdefault(text, number)
        yield {
            "id": of,
            "family": family,
            "sample": number,
            "answer": text,
            "scores": static | passed,
            "outcomes": {metric: run.outcome for metric, run in runs.items()},
            "reason": _reason(runs, excluded, overlong)
            or (_releases(row["library"], row["compatible"], text) if family is Family.COMPATIBILITY else ""),
            "equal_to": same if same < number else None,
        }


def _reason(runs: Mapping[Metric, RunResult], excluded: Iterable[Exclusion], overlong: bool) -> str:
    """Return why an answer counts as empty, and why its runs do not pass or why it has none."""
    length = [Exclusion.SAMPLE_TOO_LONG.meaning] if overlong else []
    details = [run.detail for run in runs.values() if run.outcome is not Outcome.PASSED]
    return "; ".join(dict.fromkeys([*length, *details, *(reason.meaning for reason in excluded if not runs)]))


def _releases(library: str, compatible: Collection[str], text: str) -> str:
    """Return which releases a list lacks, and what it names beside the right ones."""
    named, right = named_releases(library, text), set(compatible)
    differences = (("lacks", right - named), ("is not right with", named - right))
    return "; ".join(f"{words} {', '.join(sorted(releases))}" for words, releases in differences if releases)
