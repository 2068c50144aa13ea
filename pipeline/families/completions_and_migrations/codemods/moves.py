"""How the names of a program follow an API to its path in the other release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

import libcst as cst

from pipeline.core.vocabularies.samples import Access
from pipeline.families.completions_and_migrations.codemods.imports import ImportPlan, reach
from pipeline.families.completions_and_migrations.codemods.program import Program, Span, dotted
from pipeline.families.completions_and_migrations.codemods.signatures import Unfit
from pipeline.lake.rows import UsageRow


class Receiver(Enum):
    """Where the receiver of a method call stands in the call of the function that replaces the method."""

    FIRST = auto()
    """`obj.do(a)` becomes `do(obj, a)`."""
    IN_LIST = auto()
    """`obj.do(a)` becomes `do([obj, a])`."""


@dataclass(frozen=True, slots=True)
class Move:
    """A path that has another one in the other release, where it lies in the module `module`, or is one.

    `receiver` is set where a function replaces a method. `refusal` says why no program can follow it, if so.
    """

    old: str
    new: str
    module: str
    is_module: bool = False
    receiver: Receiver | None = None
    refusal: str | None = None


class Mover:
    """Plans what uses of moved paths become: `texts` by the bytes of an expression, `imports` for the statements.

    `functions` are those that replace a method, by the bytes of what is called.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.used_names = frozenset(program.used | program.bound.keys())
        self.texts: dict[Span, str] = {}
        self.attributes: dict[Span, str] = {}
        self.functions: dict[Span, tuple[str, Receiver]] = {}
        self.imports = ImportPlan()

    def follow_all(self, uses: Sequence[tuple[UsageRow, Move]]) -> None:
        """Plan all uses, whole modules first. Errors: Unfit."""
        by_module: dict[str, list[tuple[UsageRow, Move]]] = {}
        for usage, move in uses:
            by_module.setdefault(self._module_name(usage, move), []).append((usage, move))
        for local, group in sorted(by_module.items()):
            if not self._whole_module(local, [move for _, move in group]):
                for usage, move in group:
                    self.follow(usage, move)

    def _module_name(self, usage: UsageRow, move: Move) -> str:
        """Return the imported module that a use names before what has moved, `graph` in `graph.cut`; else nothing."""
        node = self.program.chains.get((usage["start_byte"], usage["end_byte"]))
        if node is None or usage["access"] == Access.INDIRECT or move.is_module or move.refusal:
            return ""
        local = dotted(node).partition(".")[0]
        imported = local not in self.program.modules and self.program.bound.get(local) == _parent(move.old)
        return local if imported and move.module == _parent(move.new) else ""

    def _whole_module(self, local: str, moves: Sequence[Move]) -> bool:
        """Import another module under the name of one, where all that the program takes from it went there alike."""
        package, _, name = moves[0].module.rpartition(".")
        alike = {move.module for move in moves} == {moves[0].module} and all(
            _name(move.old) == _name(move.new) for move in moves
        )
        all_of_it = local and self.program.counts[local] == len(moves)
        if not (alike and all_of_it and package) or local != name or moves[0].module in self.program.bound.values():
            return False
        self.imports.replaced[local] = package, name
        return True

    def follow(self, usage: UsageRow, move: Move) -> None:
        """Plan one use. Errors: Unfit where it cannot be told how the program would write the new path."""
        if move.refusal:
            raise Unfit(move.refusal)
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
        if move.receiver is not None:
            reached = reach(move.new, move.module, self.program.bound, self.used_names)
            if reached.missing is not None:
                self.imports.added.add(reached.missing)
            self.functions[span] = reached.text, move.receiver
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
        reached = reach(move.new, move.module, others, self.used_names - {local})
        text = reached.text
        if reached.missing is not None and not reached.missing[0]:
            self.imports.added.add(reached.missing)
        elif reached.missing is not None:
            self.imports.replaced[local] = reached.missing
            if local != _name(bound[local]):
                self.imports.aliased.add(local)
                text = local + reached.text.removeprefix(reached.missing[1])
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
            reached = reach(move.new, move.module, self.program.bound, self.used_names, first=first, by_module=True)
            text = reached.text
            if reached.missing is not None:
                self.imports.added.add(reached.missing)
        if move.is_module:
            self.imports.moved[move.old] = move.new
        self.texts[self.program.span(node)] = text


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _name(path: str) -> str:
    return path.rpartition(".")[2]
