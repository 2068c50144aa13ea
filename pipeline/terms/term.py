"""The base of every closed vocabulary."""

from enum import StrEnum
from typing import Self


class Term(StrEnum):
    """A member of a closed vocabulary; `meaning` is the sentence that users read in the card."""

    meaning: str

    # Members have a meaning; `Family(text)`, which looks one up, has none.
    def __new__(cls, value: str, meaning: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member
