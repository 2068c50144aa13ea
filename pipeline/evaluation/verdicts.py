"""Verdicts: a line for each answer with its code as it was extracted, its scores, how it ran and why it fails."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.core.credentials import cut
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.scores import Exclusion, Metric
from pipeline.evaluation.scores.families import named_releases
from pipeline.evaluation.scores.runs import UNJUDGED, Ran
from pipeline.evaluation.scores.score import Scored
from pipeline.evaluation.scores.tally import Answered
from pipeline.families.all_families import BY_NAME
from pipeline.lake.tables import replacing

FILE = "verdicts.jsonl"
_NOT_STATIC = frozenset({Metric.PASS, Metric.PASS_VISIBLE, Metric.MRR})
"""Metrics of runs, and of documents."""


def write_verdicts(scored: Scored, folder: Path) -> None:
    """Write a line for each sample of each task, in the order of families, ids and samples. Errors: OSError."""
    excluded: dict[str, list[Exclusion]] = defaultdict(list)
    for each in scored.excluded:
        if each.id:
            excluded[each.id].append(each.reason)
    # A half of a surrogate pair becomes its escape, which JSON reads.
    with replacing(folder / FILE) as path, path.open("w", encoding="utf-8", errors="backslashreplace") as file:
        for answered, texts in sorted(scored.texts.items()):
            reasons = excluded[answered[1]] if BY_NAME[answered[0]].running else ()
            for line in _verdicts(answered, texts, scored, reasons):
                file.write(cut(json.dumps(line, ensure_ascii=False)) + "\n")


def _verdicts(
    answered: Answered, texts: Sequence[str], scored: Scored, excluded: Collection[Exclusion]
) -> Iterator[dict[str, Any]]:
    family, of = answered
    row = scored.tasks[of][family].row
    first: dict[str, int] = {}
    for number, text in enumerate(texts):
        runs = scored.ran.get(answered, {}).get(text, {})
        static = {m: values[number] for m, values in scored.verdicts[answered].items() if m not in _NOT_STATIC}
        passed = {m: float(ran.outcome is Outcome.PASSED) for m, ran in runs.items() if ran.outcome not in UNJUDGED}
        same = first.setdefault(text, number)
        yield {
            "id": of,
            "family": family,
            "sample": number,
            "answer": text,
            "scores": static | passed,
            "outcomes": {metric: ran.outcome for metric, ran in runs.items()},
            "reason": _reason(runs, excluded)
            or (_releases(row["library"], row["compatible"], text) if family is Family.COMPATIBILITY else ""),
            "equal_to": same if same < number else None,
        }


def _reason(runs: Mapping[Metric, Ran], excluded: Collection[Exclusion]) -> str:
    """Return why the runs of an answer do not pass, or why it has none."""
    details = [ran.detail for ran in runs.values() if ran.outcome is not Outcome.PASSED]
    return "; ".join(dict.fromkeys(details)) or "; ".join(reason.meaning for reason in excluded if not runs)


def _releases(library: str, compatible: Collection[str], text: str) -> str:
    """Return which releases a list lacks, and what it names beside the right ones."""
    named, right = named_releases(library, text), set(compatible)
    differences = (("lacks", right - named), ("is not right with", named - right))
    return "; ".join(f"{words} {', '.join(sorted(releases))}" for words, releases in differences if releases)
