"""The licence of a release: what its metadata states, as an SPDX expression."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from pipeline.rules import Rule


class LicenceRules(Rule):
    """`classifiers` and `texts` map what metadata says to SPDX; texts are compared in lower case, spaces folded."""

    classifiers: dict[str, str]
    texts: dict[str, str]


def spdx(
    expression: str | None, text: str | None, classifiers: Sequence[str], rules: LicenceRules
) -> tuple[str | None, str | None]:
    """Return the SPDX expression and the words it was read from, (None, words) where they cannot be read.

    The License-Expression field (PEP 639) counts first, then the classifiers, then the License field as an
    expression or as one of the known texts. Several classifiers mean that any of them may be chosen.
    """
    stated = [c for c in classifiers if c.startswith("License :: ")]
    if expression and (found := _canonical(expression)):
        return found, expression
    known = sorted({rules.classifiers[c] for c in stated if c in rules.classifiers})
    if known:
        return " OR ".join(known), "; ".join(stated)
    if text:
        folded = " ".join(text.split())
        found = rules.texts.get(folded.lower()) or (_canonical(folded) if len(folded) < 100 else None)
        return found, folded[:200]
    return None, "; ".join(stated) or None


def _canonical(expression: str) -> str | None:
    try:
        return str(canonicalize_license_expression(expression))
    except InvalidLicenseExpression:
        return None
