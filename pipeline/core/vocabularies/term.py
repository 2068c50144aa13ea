"""The base of every closed vocabulary."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping
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


@functools.cache
def vocabularies() -> Mapping[str, type[Term]]:
    """Return every closed vocabulary by name: the enums in the modules beside this one."""
    package = __name__.rpartition(".")[0]
    modules = [
        importlib.import_module(module.name).__name__
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}.")
    ]
    enums = [enum for enum in Term.__subclasses__() if enum.__module__ in modules]
    return {enum.__name__: enum for enum in sorted(enums, key=lambda enum: enum.__name__)}
