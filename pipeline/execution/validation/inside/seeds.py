"""Seeds of random numbers, also of libraries that have their own: runs with the same number have the same seeds."""

import random
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Modules with random numbers of their own, and what seeds them.
_SEEDED = {"numpy.random.mtrand": "seed", "torch": "manual_seed"}


def seed_all(number: int) -> None:
    """Seed what is loaded, and see to it that the others are seeded as they are loaded."""
    random.seed(number)
    for name, function in _SEEDED.items():
        seed(sys.modules.get(name), function, number)
    if set(_SEEDED) - set(sys.modules):
        sys.meta_path.insert(0, _SeedsAfterImport(number))


def seed(module: "Any", function: str, number: int) -> None:
    """Call the function that seeds a module, if it is there."""
    call = getattr(module, function, None)
    if call is not None:
        call(number)


class _SeedsAfterImport:
    """Finds nothing by itself: it lets the other finders find a module, and has it seeded once it is loaded."""

    def __init__(self, number: int) -> None:
        self.number = number

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        """Return the spec that the other finders give, with a loader that seeds."""
        if name not in _SEEDED:
            return None
        for finder in [finder for finder in sys.meta_path if finder is not self]:
            find = getattr(finder, "find_spec", None)  # type: Any
            spec = find(name, path, target) if find else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Seeding(spec.loader, self.number)
                return spec
        return None


class _Seeding:
    """A loader that hands on to another, puts that in its place again, and then seeds the module."""

    def __init__(self, loader: "Any", number: int) -> None:
        self.loader = loader
        self.number = number

    def create_module(self, spec: "Any") -> "Any":
        """Return what the other makes."""
        return self.loader.create_module(spec)

    def exec_module(self, module: "Any") -> None:
        """Load the module as if the other had been asked."""
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        seed(module, _SEEDED[module.__name__], self.number)
