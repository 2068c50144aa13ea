"""Where a distribution begins among the names of all: at the top, or inside a namespace package that others share."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property


class Roots(frozenset[str]):
    """The modules of a distribution with none above them, by dotted name."""

    @classmethod
    def of(cls, modules: Collection[str]) -> Roots:
        """Return the roots of modules: those at the top, and the first ones inside namespace packages (PEP 420)."""
        return cls(name for name in modules if not any(above in modules for above in _above(name)))

    def reach(self, path: str) -> bool:
        """Return whether an absolute dotted path leads into the distribution: to a root, or below one."""
        if path.partition(".")[0] in self:
            return True
        return any(f"{path}.".startswith(f"{root}.") for root in self._in_namespaces)

    @cached_property
    def _in_namespaces(self) -> tuple[str, ...]:
        return tuple(name for name in self if "." in name)


def _above(name: str) -> Iterator[str]:
    """Yield the names of the packages around a module, the outermost first."""
    end = name.find(".")
    while end >= 0:
        yield name[:end]
        end = name.find(".", end + 1)
