"""What was answered about names: where they lead, what star imports bring, what `__all__` lists."""

from __future__ import annotations

from typing import NamedTuple

from pipeline.api.surface.resolve.resolution import Resolution
from pipeline.api.surface.resolve.trace import Memory, Trace


class Exports(NamedTuple):
    """The names of an `__all__`: `complete` if all of it was understood.

    `possible` are the names that it may have besides, where it takes the `__all__` of a module which makes that as it
    runs; it is None where there is no telling.
    """

    names: list[str]
    complete: bool
    possible: list[str] | None


Names = dict[str, None]
"""Names in order: a package that star-imports all of its modules asks for each name in each of them."""


class ResolutionCache:
    """What was answered about names, in this release and the one before."""

    def __init__(self) -> None:
        self.trace = Trace()
        self.resolution = Memory[Resolution]()
        self.stars = Memory[Names]()
        self.exports = Memory[Exports | None]()

    def turn(self) -> None:
        """Go on to the next release."""
        for memory in (self.resolution, self.stars, self.exports):
            memory.turn()
