"""VersiCode's masks: its released files write `<mask>` or, later, `<line_mask>`; ours distinguish them by brackets."""

from __future__ import annotations

from pipeline.core.vocabularies.samples import Granularity

MASK = "<mask>"
"""The mask of the released files for [token-mask], [line-mask] and [block-mask] of the paper."""

HIDDEN = "TOKEN_MASK"
"""Stands for the core token outside of a masked line or block: a line has one mask, and the rest is valid Python."""

_MASKS = {str(granularity): f"[{granularity}-mask]" for granularity in Granularity}
_NAME = _MASKS[Granularity.TOKEN]


def as_released(masked_code: str, granularity: str) -> str:
    """Return masked code as VersiCode's files have it: a scorer puts the answer into every `<mask>`."""
    if granularity == Granularity.TOKEN:
        return masked_code.replace(_NAME, MASK)
    return masked_code.replace(_MASKS[granularity], MASK).replace(_NAME, HIDDEN)


def is_masked(masked_code: str) -> bool:
    """Return whether code has a mask in any spelling."""
    return MASK in masked_code or any(mask in _bracketed(masked_code, "") for mask in _MASKS.values())


def from_released(masked: str, code: str, core_token: str, granularity: str) -> tuple[str, str] | None:
    """Return the masked code with distinguished masks, and the answer; the inverse of `as_released`.

    Of several `<mask>`, one hides a line or block and the others the core token. None where no assignment gives the
    code.
    """
    masked = _bracketed(masked, code)
    if granularity == Granularity.TOKEN:
        parts = masked.replace(MASK, _NAME).split(_NAME)
        fits = len(parts) > 1 and core_token.join(parts) == code
        return (_NAME.join(parts), core_token) if fits else None
    for candidate in _candidates(masked, _MASKS[granularity]):
        before, _, after = (part.replace(_NAME, core_token) for part in candidate.partition(_MASKS[granularity]))
        if len(before) + len(after) <= len(code) and code.startswith(before) and code.endswith(after):
            return candidate, code[len(before) : len(code) - len(after)]
    return None


def _bracketed(masked: str, code: str) -> str:
    """Return masked code with the unambiguous spellings as ours."""
    for granularity, mask in _MASKS.items():
        masked = masked.replace(f"<{granularity}_mask>", mask)
    return masked if HIDDEN in code else masked.replace(HIDDEN, _NAME)


def _candidates(masked: str, mask: str) -> list[str]:
    """Return the readings of masked code: each `<mask>` may be the one of the granularity."""
    if mask in masked:
        return [masked.replace(MASK, _NAME)]
    parts = masked.split(MASK)
    return [_NAME.join(parts[:place]) + mask + _NAME.join(parts[place:]) for place in range(1, len(parts))]


def filled(masked: str, completion: str, core_token: str, granularity: str, code: str) -> str:
    """Return the program of a completion in masked code; other masks hide the core token.

    Where the masks cannot be distinguished, the first counts as that of the granularity. A completion of a block may be
    the whole program, as the references are.
    """
    mask = _MASKS[granularity]
    if granularity == Granularity.TOKEN:
        return _bracketed(masked, code).replace(MASK, mask).replace(mask, completion)
    restored = from_released(masked, code, core_token, granularity)
    candidates = [restored[0]] if restored else _candidates(_bracketed(masked, code), mask)
    before, marker, after = (candidates[0] if candidates else masked).partition(mask)
    before, after = before.replace(_NAME, core_token), after.replace(_NAME, core_token)
    if granularity == Granularity.BLOCK and before.strip() and completion.lstrip().startswith(before.strip()):
        return completion
    return before + (completion if marker else "") + after
