"""Where almost the same code stands in another source."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.corpus.snippets.similarity import Likeness, tokens
from pipeline.lake.guard import attempt
from pipeline.lake.stage import Reject
from pipeline.quality.flags.rules import AlikeRules
from pipeline.quality.flags.subjects import Subject


def alike_elsewhere(subjects: Iterable[Subject], rules: AlikeRules) -> tuple[dict[str, str], list[Reject]]:
    """Return, by instance, where almost the same code stands in the work of somebody else.

    Each piece of code of an origin is compared once, however many instances are made of it; what is shorter than the
    rules say is alike by chance. An instance at whose code an exception is raised is compared with none, and a note.
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
    likeness, known = Likeness(rules), sorted(places)
    for number, (_, code) in enumerate(known):
        likeness.add(number, code.split())
    found: dict[str, str] = {}
    for origin, code in known:
        others = sorted({known[number][0] for number in likeness.near(code.split())} - {origin})
        for subject in places[origin, code] if others else ():
            found.setdefault(subject.row["id"], f"almost the same code stands in {', '.join(others)}")
    return found, failed
