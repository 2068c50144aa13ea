"""Exact match and the critical diff check of VersiCode, which compares how code uses an API."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.core.vocabularies.samples import Granularity
from pipeline.evaluation.scores.reading import Call, read


def exact_match(prediction: str, core_token: str, granularity: Granularity) -> bool:
    """Return EM: a token must equal the core token, a line or block must hold it as a whole word (2406.07411, 4.1)."""
    if granularity == Granularity.TOKEN:
        return prediction.strip() == core_token
    return holds(prediction, core_token)


def holds(code: str, name: str) -> bool:
    """Say whether code has a name as a whole word."""
    return name in code and _word(name).search(code) is not None


@dataclass(frozen=True, slots=True)
class CriticalDiff:
    """The five rules of the critical diff check (VersiCode, 2406.07411, appendix E.1).

    The last three are None where they do not apply: the reference does not call the core token, has no `with`, or its
    call has no keywords.
    """

    core_token: bool
    valid: bool
    arguments: bool | None
    with_statement: bool | None
    keywords: bool | None

    @property
    def passed(self) -> bool:
        """Whether no rule is broken, which is what CDC@k counts."""
        return (
            self.core_token
            and self.valid
            and self.arguments is not False
            and self.with_statement is not False
            and self.keywords is not False
        )


def critical_diff(prediction: str, reference: str, core_token: str, new_part: str | None = None) -> CriticalDiff:
    """Compare predicted statements, at any indentation, with the reference; `core_token` is the name of the API.

    `new_part` is a further name that rule 1 asks for: of a moved API, what tells its new path from the old one. The
    paper's rule does not know it, and takes a copy of the old code.

    The header of a compound statement without its body counts as valid. Rules 3 (number of arguments) and 5 (keywords)
    compare the reference's first call of the core token with the most similar call of the prediction.
    A prediction that does not parse fails those of rules 2 to 5 that apply.
    """
    expected, predicted = read(reference), read(prediction)
    first = next((call for call in expected.calls if call.name == core_token), None)
    arguments, keywords = _as_called(first, predicted.calls) if first else (None, None)
    return CriticalDiff(
        core_token=holds(prediction, core_token) and (new_part is None or holds(prediction, new_part)),
        valid=predicted.valid,
        arguments=arguments,
        with_statement=predicted.has_with if expected.has_with else None,
        keywords=keywords,
    )


def _as_called(expected: Call, calls: Iterable[Call]) -> tuple[bool, bool | None]:
    """Return whether rules 3 and 5 hold for the call that is most similar to the expected one."""
    judged = [
        (call.arguments == expected.arguments, call.keywords == expected.keywords if expected.keywords else None)
        for call in calls
        if call.name == expected.name
    ]
    missing = (False, False if expected.keywords else None)
    return max(judged, key=lambda rules: rules.count(True), default=missing)


@functools.lru_cache(4096)
def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
