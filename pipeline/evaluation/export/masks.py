"""VersiCode's masks: its released files write `<mask>` for every mask, ours distinguish them."""

from __future__ import annotations

from pipeline.core.vocabularies.samples import Granularity

MASK = "<mask>"
"""The mask of the released files for [token-mask], [line-mask] and [block-mask] of the paper."""

_MASKS = {str(granularity): f"[{granularity}-mask]" for granularity in Granularity}
_NAME = _MASKS[Granularity.TOKEN]


def as_released(masked_code: str) -> str:
    """Return masked code as VersiCode's files have it."""
    for mask in _MASKS.values():
        masked_code = masked_code.replace(mask, MASK)
    return masked_code


def from_released(masked: str, code: str, core_token: str, granularity: str) -> tuple[str, str] | None:
    """Return the masked code with distinguished masks, and the answer; the inverse of `as_released`.

    Every mask but one hides the core token; that of the granularity hides the rest of the code. None where no
    assignment gives the code.
    """
    parts = masked.split(MASK)
    if granularity == Granularity.TOKEN:
        fits = len(parts) > 1 and core_token.join(parts) == code
        return (_NAME.join(parts), core_token) if fits else None
    for place in range(1, len(parts)):
        before, after = core_token.join(parts[:place]), core_token.join(parts[place:])
        if len(before) + len(after) <= len(code) and code.startswith(before) and code.endswith(after):
            masked_code = _NAME.join(parts[:place]) + _MASKS[granularity] + _NAME.join(parts[place:])
            return masked_code, code[len(before) : len(code) - len(after)]
    return None


def filled(masked: str, completion: str, core_token: str, granularity: str, code: str) -> str:
    """Return the program of a completion in masked code; other masks hide the core token.

    Where the masks cannot be distinguished, the first counts as that of the granularity.
    """
    if granularity == Granularity.TOKEN:
        return masked.replace(MASK, completion)
    restored = from_released(masked, code, core_token, granularity)
    mine = _MASKS[granularity]
    whole = restored[0] if restored else masked.replace(MASK, mine, 1).replace(MASK, _NAME)
    before, mask, after = whole.partition(mine)
    return before.replace(_NAME, core_token) + (completion if mask else "") + after.replace(_NAME, core_token)
