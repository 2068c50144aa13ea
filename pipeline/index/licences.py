"""Licences: what metadata states, as an SPDX expression, and whether a list of licences allows it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from pipeline.core.rules.load import Rule


class LicenceRules(Rule):
    """What metadata says, mapped to SPDX: classifiers, whole texts, and how texts begin that hold the licence itself.

    Texts are compared in lower case, spaces folded.
    """

    classifiers: dict[str, str]
    texts: dict[str, str]
    beginnings: dict[str, str]


def spdx(
    expression: str | None, text: str | None, classifiers: Sequence[str], rules: LicenceRules
) -> tuple[str | None, str | None]:
    """Return the SPDX expression and the words it was read from, (None, words) where they cannot be read.

    The License-Expression field (PEP 639) counts first, then the classifiers, then the License field as an
    expression, as one of the known texts, or as the text of a licence. Several classifiers mean that any of them may be
    chosen.
    """
    licence_classifiers = [c for c in classifiers if c.startswith("License :: ")]
    if expression and (canonical := _canonical(expression)):
        return canonical, expression
    mapped = sorted({rules.classifiers[c] for c in licence_classifiers if c in rules.classifiers})
    if mapped:
        return " OR ".join(mapped), "; ".join(licence_classifiers)
    if text:
        folded = " ".join(text.split())
        canonical = rules.texts.get(folded.lower()) or (_canonical(folded) if len(folded) < 100 else None)
        by_beginning = (spdx for beginning, spdx in rules.beginnings.items() if folded.lower().startswith(beginning))
        return canonical or next(by_beginning, None), folded[:200]
    return None, "; ".join(licence_classifiers) or None


def is_allowed(expression: str, licences: Collection[str]) -> bool:
    """Return whether an SPDX licence expression allows what the listed licences allow.

    Of `A OR B` one must be listed, of `A AND B` both; `A WITH exception` permits more than A. An expression that is
    not SPDX is not allowed (SPDX specification 2.3, annex D; PEP 639).
    """
    try:
        words = canonicalize_license_expression(expression).replace("(", " ( ").replace(")", " ) ").split()
    except InvalidLicenseExpression:
        return False
    return _any_of(words, licences)


def _any_of(words: list[str], licences: Collection[str]) -> bool:
    """Read `A OR B OR …` off the front of the words."""
    allowed = _all_of(words, licences)
    while words[:1] == ["OR"]:
        words.pop(0)
        allowed = _all_of(words, licences) or allowed
    return allowed


def _all_of(words: list[str], licences: Collection[str]) -> bool:
    """Read `A AND B AND …` off the front of the words; AND binds closer than OR."""
    allowed = _single(words, licences)
    while words[:1] == ["AND"]:
        words.pop(0)
        allowed = _single(words, licences) and allowed
    return allowed


def _single(words: list[str], licences: Collection[str]) -> bool:
    """Read one licence, with its exception, or a bracket off the front of the words."""
    word = words.pop(0)
    if word == "(":
        allowed = _any_of(words, licences)
        words.pop(0)
        return allowed
    if words[:1] == ["WITH"]:
        del words[:2]
    return word in licences


def _canonical(expression: str) -> str | None:
    try:
        return str(canonicalize_license_expression(expression))
    except InvalidLicenseExpression:
        return None
