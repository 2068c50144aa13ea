"""What the rows of a release are made from, by name: where names lead, what definitions say, what is public where."""

from __future__ import annotations

from typing import Any

from pipeline.surface.records import ALTERNATIVE
from pipeline.surface.resolve import Distribution, Found


class ReleaseFacts:
    """What the rows of a release are made from: where names lead, states of definitions, what is public where."""

    def __init__(self, distribution: Distribution) -> None:
        self.known: dict[str, Any] = {name: module.skeleton for name, module in distribution.modules.items()}
        self.known |= distribution.facts
        self.modules = dict(distribution.modules)

    def get(self, name: str, /) -> Any:
        """Return a fact; None where there is nothing of that name."""
        module, is_definition, place = name.partition("!")
        if not is_definition:
            return self.known.get(name)
        members = self.modules[module].definitions if module in self.modules else {}
        *parents, last = place.split(".")
        for parent in parents:
            above = members.get(parent) or members.get(parent + ALTERNATIVE)
            members = above.members if above is not None else {}
        definition = members.get(last)
        return (self.modules[module].source, definition) if definition is not None else None


def line_of(found: Found) -> int:
    """Return the line in which the docstring of a definition begins."""
    assert found.module is not None
    return found.module.lines.get(content_fact(found).partition("!")[2], 1)


def content_fact(found: Found) -> str:
    """Name the fact what the state of a definition is."""
    assert found.module is not None
    assert found.definition is not None
    inside = found.path.removeprefix(f"{found.module.name}.").rpartition(".")[0]
    return f"{found.module.name}!{inside}{'.' if inside else ''}{found.definition.name}"


def place_fact(canonical: str) -> str:
    """Name the fact under which path a definition has its state."""
    return f"={canonical}"


def exposed_fact(path: str) -> str:
    """Name the fact which module stands at a public path."""
    return f"@{path}"
