"""Where almost the same code stands in another source."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.corpus.snippets.similarity import Likeness, tokens
from pipeline.lake.guard import attempt
from pipeline.lake.stage import Reject
from pipeline.quality.flags.rules import AlikeRules
from pipeline.quality.flags.subjects import Subject


def alike_elsewhere(subjects: Iterable[Subject], rules: AlikeRules) -> tuple[dict[str, str], list[Reject]]:
    """Return, by instance, the other origins with almost the same code.

    Each piece of code of an origin is compared once, for all instances made of it. Code shorter than `min_tokens` is
    alike by chance. An instance whose code raises an exception is compared with none, and is a note.
    """
    places: dict[tuple[str, str], list[Subject]] = {}
    failed: list[Reject] = []
    for subject in subjects:
        for code in subject.codes:
            words = attempt(str(subject.row["id"]), tokens, code)
            if isinstance(words, Reject):
                failed.append(words)
            elif len(words) >= rules.min_tokens:
                places.setdefault((subject.origin, " ".join(words)), []).append(subject)
    likeness, codes = Likeness(rules), sorted(places)
    for number, (_, code) in enumerate(codes):
        likeness.add(number, code.split())
    evidence: dict[str, str] = {}
    for origin, code in codes:
        others = sorted({codes[number][0] for number in likeness.near(code.split())} - {origin})
        for subject in places[origin, code] if others else ():
            evidence.setdefault(subject.row["id"], f"almost the same code stands in {', '.join(others)}")
    return evidence, failed
