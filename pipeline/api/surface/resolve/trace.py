"""What was made from what: a value that was made for one release holds in the next if what it was made from does.

These are verifying traces in the sense of Mokhov, Mitchell and Peyton Jones, "Build Systems à la Carte" (2018): while
a value is made, every fact that is asked for is noted, and the value is kept with the names of the facts. What of
them changed is found once for a release, not once for each value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Generic, TypeVar

Value = TypeVar("Value")

FORGETTING = 8
"""Releases after which values that nobody asks for any more are thrown away."""


class Trace:
    """Notes which facts are asked for while something is made.

    `changed` are the facts that the last release had otherwise.
    """

    def __init__(self) -> None:
        self.changed: set[str] = set()
        self.dependencies: set[str] | None = None

    def ask(self, name: str) -> None:
        """Note that a fact was looked at, whether or not there is one of that name."""
        if self.dependencies is not None:
            self.dependencies.add(name)

    def noting(self, make: Callable[[], Value]) -> tuple[set[str], Value]:
        """Make something, and return with it what was asked for meanwhile."""
        outer, dependencies = self.dependencies, set[str]()
        self.dependencies = dependencies
        try:
            return dependencies, make()
        finally:
            self.dependencies = outer


class _Entry(Generic[Value]):
    """A value with the facts that it was made from, and the number of the last release that it is known to hold in."""

    __slots__ = ("dependencies", "release", "value")

    def __init__(self, dependencies: set[str], value: Value, release: int) -> None:
        self.dependencies = dependencies
        self.value = value
        self.release = release


class Memory(Generic[Value]):
    """Values by key, each with the names of the facts that it was made from.

    A value counts if the last release asked for it: of anything older nobody knows whether its facts changed.
    """

    def __init__(self) -> None:
        self._entries: dict[Hashable, _Entry[Value]] = {}
        self._release = 0

    def turn(self) -> None:
        """Go on to the next release."""
        self._release += 1
        if self._release % FORGETTING == 0:
            last = self._release - 1
            self._entries = {key: entry for key, entry in self._entries.items() if entry.release == last}

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
        entry, now = self._entries.get(key), self._release
        if entry is None or entry.release != now:
            if entry is None or entry.release != now - 1 or not trace.changed.isdisjoint(entry.dependencies):
                entry = self._entries[key] = _Entry(*trace.noting(make), now)
            else:
                entry.release = now
                if renew is not None:
                    entry.value = renew(entry.value)
        if trace.dependencies is not None:
            trace.dependencies |= entry.dependencies
        return entry.value

    def drop(self, key: Hashable) -> None:
        """Forget a value that holds only for whoever asked for it now."""
        self._entries.pop(key, None)


class Traced(Mapping[str, Value]):
    """A mapping that tells a trace which of its keys are looked up, those that it lacks too."""

    def __init__(self, values: Mapping[str, Value], trace: Trace) -> None:
        self._values = values
        self._trace = trace

    def __getitem__(self, name: str) -> Value:
        self._trace.ask(name)
        return self._values[name]

    def get(self, name: str, default: Value | None = None) -> Value | None:  # type: ignore[override]
        """Return what is there by that name, else the default."""
        self._trace.ask(name)
        return self._values.get(name, default)

    def __contains__(self, name: object) -> bool:
        self._trace.ask(str(name))
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
