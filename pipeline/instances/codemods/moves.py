"""How the names of a program follow an API to its path in the other release."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from pipeline.instances.codemods.imports import ImportPlan, reach
from pipeline.instances.codemods.program import Program, Span, dotted
from pipeline.instances.codemods.signatures import Unfit
from pipeline.lake import Row
from pipeline.terms import Access


@dataclass(frozen=True, slots=True)
class Move:
    """A path that has another one in the other release, where it lies in the module `module`, or is one.

    What `needs_object` is a method that takes the place of what was called without an object.
    """

    old: str
    new: str
    module: str
    is_module: bool = False
    needs_object: bool = False


class Mover:
    """Plans what uses of moved paths become: `texts` by the bytes of an expression, `imports` for the statements."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.taken = frozenset(program.used | program.bound.keys())
        self.texts: dict[Span, str] = {}
        self.attributes: dict[Span, str] = {}
        self.imports = ImportPlan()

    def follow(self, usage: Row, move: Move) -> None:
        """Plan one use. Errors: Unfit where it cannot be told how the program would write the new path."""
        if move.needs_object:
            raise Unfit(f"{move.new} is a method, and nothing tells of which object")
        span = usage["start_byte"], usage["end_byte"]
        node = self.program.chains.get(span)
        below = usage["path"][len(move.old) :].count(".")
        if node is None:
            raise Unfit("the use is no plain chain of names")
        if usage["access"] == Access.INDIRECT:
            self._indirect(span, move, below)
            return
        length = dotted(node).count(".") + 1
        if length <= below:
            self._through_import(move)
            return
        for _ in range(below):
            node = node.value if isinstance(node, cst.Attribute) else node
        if isinstance(node, cst.Name):
            self._name(node, move)
        else:
            self._chain(node, move)

    def _indirect(self, span: Span, move: Move, below: int) -> None:
        if below:
            return
        if _parent(move.old) != _parent(move.new):
            raise Unfit(f"{move.old} is reached through an object, which has no {move.new}")
        self.attributes[span] = _name(move.new)

    def _through_import(self, move: Move) -> None:
        if not move.is_module:
            raise Unfit(f"no name of the program stands for {move.old}")
        self.imports.moved[move.old] = move.new

    def _name(self, node: cst.Name, move: Move) -> None:
        local, bound = node.value, self.program.bound
        if local not in bound:
            raise Unfit(f"{local} is bound by no import that can be read")
        if local in self.program.modules:
            if bound[local] != move.old or not move.is_module:
                raise Unfit(f"{local} does not stand for {move.old}")
            self.imports.moved[move.old] = move.new
            return
        others = {name: place for name, place in bound.items() if name != local}
        found = reach(move.new, move.module, others, self.taken - {local})
        text = found.text
        if found.missing is not None and not found.missing[0]:
            self.imports.added.add(found.missing)
        elif found.missing is not None:
            self.imports.replaced[local] = found.missing
            if local != _name(bound[local]):
                self.imports.kept.add(local)
                text = local + found.text.removeprefix(found.missing[1])
        if text != local:
            self.texts[self.program.span(node)] = text

    def _chain(self, node: cst.BaseExpression, move: Move) -> None:
        text = dotted(node)
        first = text.partition(".")[0]
        if first not in self.program.bound:
            raise Unfit(f"{first} is bound by no import that can be read")
        root = self.program.bound[first]
        if _parent(move.old) == _parent(move.new):
            text = f"{_parent(text)}.{_name(move.new)}"
        elif move.is_module and f"{move.new}.".startswith(f"{root}."):
            text = first + move.new[len(root) :]
        else:
            found = reach(move.new, move.module, self.program.bound, self.taken, first=first, by_module=True)
            text = found.text
            if found.missing is not None:
                self.imports.added.add(found.missing)
        if move.is_module:
            self.imports.moved[move.old] = move.new
        self.texts[self.program.span(node)] = text


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _name(path: str) -> str:
    return path.rpartition(".")[2]
