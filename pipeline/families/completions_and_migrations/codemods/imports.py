"""Import statements that follow an API to another name or module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from pipeline.families.completions_and_migrations.codemods.program import dotted
from pipeline.families.completions_and_migrations.codemods.signatures import Unfit


@dataclass(frozen=True, slots=True)
class Reach:
    """How a program writes a path: the expression, and the `(module, name)` that it has yet to import, if any.

    A module of the top level is `("", name)`.
    """

    text: str
    missing: tuple[str, str] | None = None


def reach(
    path: str, module: str, bound: Mapping[str, str], used: frozenset[str], *, first: str = "", by_module: bool = False
) -> Reach:
    """Say how a program can write a path that lies in a module; `first` is the name that it prefers to start at.

    `bound` are the names that it imports, `used` all that it uses. Where it has to import something, that is the
    module (`by_module`) or what stands in it, or else the other. Errors: Unfit where both names are taken.
    """
    imported = [
        (name != first, -len(place), name)
        for name, place in bound.items()
        if f"{path}.".startswith(f"{place}.") and len(place) >= len(module)
    ]
    if imported:
        name = min(imported)[2]
        return Reach(name + path[len(bound[name]) :])
    rest = path.removeprefix(f"{module}.")
    package, _, last = module.rpartition(".")
    ways = [Reach(rest, (module, rest.partition(".")[0])), Reach(f"{last}.{rest}", (package, last))]
    free = [way for way in (reversed(ways) if by_module else ways) if way.missing and way.missing[1] not in used]
    if not free:
        raise Unfit(f"{rest.partition('.')[0]} and {last} mean something else in the program")
    return free[0]


@dataclass(slots=True)
class ImportPlan:
    """What is to become of a program's imports.

    `replaced` are local names of `from` imports whose place is taken by (module, name), under the old local name where
    `aliased` has it; `gone` are local names that nothing needs any more; `moved` are modules, old path to new;
    `added` are imported anew.
    """

    replaced: dict[str, tuple[str, str]] = field(default_factory=dict)
    aliased: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    moved: dict[str, str] = field(default_factory=dict)
    added: set[tuple[str, str]] = field(default_factory=set)

    def moved_to(self, path: str) -> str:
        """Return where a module, or what lies in it, is now."""
        for old, new in self.moved.items():
            if f"{path}.".startswith(f"{old}."):
                return new + path[len(old) :]
        return path


class ImportEditor(cst.CSTTransformer):
    """Carries out a plan; `done` says which statements became what, in order."""

    def __init__(self, plan: ImportPlan) -> None:
        self.plan = plan
        self.done: list[tuple[str, str | None]] = []
        self.used: set[tuple[str, str]] = set()

    def leave_SimpleStatementLine(  # noqa: N802 - libcst calls it so
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine] | cst.RemovalSentinel:
        """Replace a line that is one import statement."""
        if len(updated_node.body) != 1:
            return updated_node
        statement = updated_node.body[0]
        if isinstance(statement, cst.ImportFrom):
            new = self._from(statement)
        elif isinstance(statement, cst.Import):
            new = self._import(statement)
        else:
            return updated_node
        if new is None:
            return updated_node
        texts = [_PLAIN.code_for_node(each).strip() for each in new]
        self.done.append((_PLAIN.code_for_node(statement).strip(), "; ".join(texts) or None))
        if not new:
            return cst.RemovalSentinel.REMOVE
        lines = [updated_node.with_changes(body=[new[0]])]
        lines += [cst.SimpleStatementLine([each]) for each in new[1:]]
        return cst.FlattenSentinel(lines)

    def _from(self, node: cst.ImportFrom) -> list[cst.BaseSmallStatement] | None:
        if node.relative or node.module is None or isinstance(node.names, cst.ImportStar):
            return None
        module, plan = dotted(node.module), self.plan
        place = plan.moved_to(module)
        staying: list[cst.ImportAlias] = []
        leaving: dict[str, list[cst.ImportAlias]] = {}
        for alias in node.names:
            local = alias.evaluated_alias or alias.evaluated_name
            target = plan.replaced.get(local)
            if local in plan.gone:
                continue
            if target is None:
                staying.append(alias)
            elif target not in self.used or local in plan.aliased:
                self.used.add(target)
                alias_name = local if local in plan.aliased and local != target[1] else None
                there = staying if target[0] == place else leaving.setdefault(target[0], [])
                there.append(_renamed(alias, target[1], alias_name))
        if place == module and staying == list(node.names) and not leaving:
            return None
        first = [_from_import(node, place, staying)] if staying else []
        return [*first, *(_from_import(None, other, aliases) for other, aliases in leaving.items())]

    def _import(self, node: cst.Import) -> list[cst.BaseSmallStatement] | None:
        aliases = []
        for alias in node.names:
            path = alias.evaluated_name
            if (alias.evaluated_alias or path.partition(".")[0]) in self.plan.gone:
                continue
            place = self.plan.moved_to(path)
            aliases.append(alias if place == path else alias.with_changes(name=_chain(place)))
        if aliases == list(node.names):
            return None
        return [node.with_changes(names=_without_last_comma(aliases))] if aliases else []

    def lines(self) -> list[str]:
        """Return the import statements that no edited one took in."""
        missing = sorted(self.plan.added - self.used)
        return [f"from {module} import {name}" if module else f"import {name}" for module, name in missing]


_PLAIN = cst.Module([])


def _renamed(alias: cst.ImportAlias, name: str, alias_name: str | None) -> cst.ImportAlias:
    return alias.with_changes(name=cst.Name(name), asname=cst.AsName(cst.Name(alias_name)) if alias_name else None)


def _from_import(node: cst.ImportFrom | None, module: str, aliases: Sequence[cst.ImportAlias]) -> cst.ImportFrom:
    if node is None:
        plain = [alias.with_changes(comma=cst.MaybeSentinel.DEFAULT) for alias in aliases]
        return cst.ImportFrom(_chain(module), _without_last_comma(plain))
    names = _between_commas(aliases) if node.lpar else _without_last_comma(aliases)
    return node.with_changes(module=_chain(module), names=names)


def _without_last_comma(aliases: Sequence[cst.ImportAlias]) -> list[cst.ImportAlias]:
    return _between_commas([*aliases[:-1], aliases[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)])


def _between_commas(aliases: Sequence[cst.ImportAlias]) -> list[cst.ImportAlias]:
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    between = [each if isinstance(each.comma, cst.Comma) else each.with_changes(comma=comma) for each in aliases[:-1]]
    return [*between, aliases[-1]]


def _chain(path: str) -> cst.Name | cst.Attribute:
    node: cst.Name | cst.Attribute = cst.Name(path.partition(".")[0])
    for name in path.split(".")[1:]:
        node = cst.Attribute(node, cst.Name(name))
    return node
