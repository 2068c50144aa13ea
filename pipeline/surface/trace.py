"""What was made from what: a value that was made for one release holds in the next if what it was made from does.

These are verifying traces in the sense of Mokhov, Mitchell and Peyton Jones, "Build Systems à la Carte" (2018): while
a value is made, every fact that is asked for is noted, and the value is kept with the facts as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

Value = TypeVar("Value")


class Facts(Protocol):
    """What can be asked of a release, by name; None where there is nothing of that name."""

    def get(self, name: str, /) -> Any:
        """Return a fact."""


class Trace:
    """Notes which facts are asked for while something is made."""

    def __init__(self) -> None:
        self._asked: set[str] | None = None

    def ask(self, name: str) -> None:
        """Note that a fact was looked at, whether or not there is one of that name."""
        if self._asked is not None:
            self._asked.add(name)

    def ask_all(self, names: Set[str]) -> None:
        """Note that something was used that was made from these facts."""
        if self._asked is not None:
            self._asked |= names

    @contextmanager
    def noting(self) -> Iterator[set[str]]:
        """Hand out a set that holds, afterwards, all that was asked for meanwhile."""
        outer, asked = self._asked, set[str]()
        self._asked = asked
        try:
            yield asked
        finally:
            self._asked = outer
            self.ask_all(asked)


class Memory(Generic[Value]):
    """Values by key, each with the facts that it was made from."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[dict[str, Any], Value]] = {}

    def get(self, key: Hashable, facts: Facts, trace: Trace, make: Callable[[], Value]) -> Value:
        """Return the kept value if every fact behind it is the same, else make it anew."""
        kept = self._kept.get(key)
        if kept is not None and _hold(kept[0], facts):
            trace.ask_all(kept[0].keys())
            return kept[1]
        with trace.noting() as asked:
            value = make()
        self._kept[key] = {name: facts.get(name) for name in asked}, value
        return value


def _hold(known: dict[str, Any], facts: Facts) -> bool:
    """Return whether facts are what they were; equal ones are replaced by the newest, next time they are identical."""
    for name, fact in known.items():
        now = facts.get(name)
        if now is not fact:
            if now != fact:
                return False
            known[name] = now
    return True


class Traced(Mapping[str, Value]):
    """A mapping that tells a trace which of its keys are looked up, those that it lacks too."""

    def __init__(self, known: Mapping[str, Value], trace: Trace) -> None:
        self._known = known
        self._trace = trace

    def __getitem__(self, name: str) -> Value:
        self._trace.ask(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        self._trace.ask(str(name))
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
