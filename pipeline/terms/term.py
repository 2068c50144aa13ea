"""The base of every closed vocabulary."""

from enum import StrEnum


class Term(StrEnum):
    """A member of a closed vocabulary; `meaning` is the sentence that users read in the card."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> "Term":
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member
