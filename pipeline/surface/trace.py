"""What was made from what: a value that was made for one release holds in the next if what it was made from does.

These are verifying traces in the sense of Mokhov, Mitchell and Peyton Jones, "Build Systems à la Carte" (2018): while
a value is made, every fact that is asked for is noted, and the value is kept with the names of the facts. What of
them changed is found once for a release, not once for each value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Trace:
    """Notes which facts are asked for while something is made.

    `changed` are the facts that the last release had otherwise.
    """

    def __init__(self) -> None:
        self.changed: set[str] = set()
        self.asked: set[str] | None = None

    def ask(self, name: str) -> None:
        """Note that a fact was looked at, whether or not there is one of that name."""
        if self.asked is not None:
            self.asked.add(name)

    def noting(self, make: Callable[[], Value]) -> tuple[set[str], Value]:
        """Make something, and return with it what was asked for meanwhile."""
        outer, asked = self.asked, set[str]()
        self.asked = asked
        try:
            return asked, make()
        finally:
            self.asked = outer


class Memory(Generic[Value]):
    """Values by key, each with the names of the facts that it was made from.

    It holds what the last two releases asked for: of anything older nobody knows whether its facts changed.
    """

    def __init__(self) -> None:
        self._before: dict[Hashable, tuple[set[str], Value]] = {}
        self._now: dict[Hashable, tuple[set[str], Value]] = {}

    def turn(self) -> None:
        """Go on to the next release."""
        self._before, self._now = self._now, {}

    def get(
        self,
        key: Hashable,
        trace: Trace,
        make: Callable[[], Value],
        renew: Callable[[Value], Value] | None = None,
    ) -> Value:
        """Return the value of the last release if no fact behind it has changed, else make it anew.

        `renew` is given a value that still holds, to replace what it says beside its facts.
        """
        kept = self._now.get(key)
        if kept is None:
            kept = self._before.get(key)
            if kept is None or not trace.changed.isdisjoint(kept[0]):
                kept = trace.noting(make)
            elif renew is not None:
                kept = kept[0], renew(kept[1])
            self._now[key] = kept
        if trace.asked is not None:
            trace.asked |= kept[0]
        return kept[1]

    def drop(self, key: Hashable) -> None:
        """Forget a value that holds only for whoever asked for it now."""
        self._now.pop(key, None)


class Traced(Mapping[str, Value]):
    """A mapping that tells a trace which of its keys are looked up, those that it lacks too."""

    def __init__(self, known: Mapping[str, Value], trace: Trace) -> None:
        self._known = known
        self._trace = trace

    def __getitem__(self, name: str) -> Value:
        self._trace.ask(name)
        return self._known[name]

    def get(self, name: str, default: Value | None = None) -> Value | None:  # type: ignore[override]
        """Return what is there by that name, else the default."""
        self._trace.ask(name)
        return self._known.get(name, default)

    def __contains__(self, name: object) -> bool:
        self._trace.ask(str(name))
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
