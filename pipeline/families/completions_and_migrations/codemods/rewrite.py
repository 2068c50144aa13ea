"""A snippet written for another release: names, imports and calls follow what changed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from pipeline.core.vocabularies.samples import Codemod
from pipeline.families.completions_and_migrations.codemods.calls import (
    ArgumentEdit,
    code_of,
    edits_of,
    written,
    written_arguments,
)
from pipeline.families.completions_and_migrations.codemods.imports import ImportEditor
from pipeline.families.completions_and_migrations.codemods.moves import Move, Mover, Receiver
from pipeline.families.completions_and_migrations.codemods.program import Pieces, Program, Span, Statement, names_of
from pipeline.families.completions_and_migrations.codemods.signatures import Parameter, Unfit, adapt, bind, is_unchanged
from pipeline.lake.rows import RewriteEdit, UsageRow

_DEFAULT = cst.MaybeSentinel.DEFAULT


@dataclass(frozen=True, slots=True)
class Recall:
    """How a callable is called in both releases; `renamed` are parameters, old name to new.

    `replaced` are those that the library says to give instead, which need not take the same values.
    What another API replaces `may_keep` arguments by position, where no name of a parameter tells how to give them.
    """

    before: tuple[Parameter, ...]
    after: tuple[Parameter, ...]
    renamed: Mapping[str, str]
    may_keep: bool = False
    replaced: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Task:
    """One use of a snippet that the other release may want otherwise."""

    usage: UsageRow
    move: Move | None = None
    recall: Recall | None = None

    @property
    def span(self) -> Span:
        """The bytes of the use."""
        return self.usage["start_byte"], self.usage["end_byte"]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The parts of the new program, and what was done, as rows of the column `edits`, in the order of the text."""

    pieces: Pieces
    edits: tuple[RewriteEdit, ...]


def rewrite(program: Program, tasks: Sequence[Task]) -> Rewritten | None:
    """Write a snippet for another release; None where nothing in it is to be written otherwise.

    Errors: Unfit where a use cannot be written so that it does the same.
    """
    mover = Mover(program)
    mover.follow_all([(task.usage, task.move) for task in tasks if task.move is not None])
    editor = _UseEditor(program, mover, tasks)
    bodies = [
        _lines(statement.visit(editor)) if editor.concerns(statement) else [statement]
        for statement in program.module.body
    ]
    imports = ImportEditor(mover.imports)
    if any(task.move for task in tasks):
        _plan_imports(mover, bodies)
        bodies = [[line for node in body for line in _lines(node.visit(imports))] for body in bodies]
    added = imports.lines()
    edits = [*editor.edits, *_import_edits(tasks, imports, added)]
    if not edits:
        return None
    pieces = program.put_together(bodies, added)
    _compiles(pieces)
    return Rewritten(pieces, tuple(sorted(edits, key=lambda row: row["line"])))


def _plan_imports(mover: Mover, bodies: Sequence[Sequence[Statement]]) -> None:
    """Take away the imports that only the old code needed; a name that is replaced must not be left anywhere."""
    program, plan = mover.program, mover.imports
    still_used = names_of("".join(program.module.code_for_node(node) for body in bodies for node in body))
    for local, (_, name) in plan.replaced.items():
        if local in still_used and local not in plan.aliased and local != name:
            raise Unfit(f"{local} is used in a way that cannot be followed")
    plan.gone |= (program.bound.keys() & (program.used - still_used)) - plan.replaced.keys()


def _lines(visited: object) -> list[Statement]:
    """Return what visiting a statement left: one, several, or none."""
    if isinstance(visited, cst.FlattenSentinel):
        return list(visited)
    return [visited] if isinstance(visited, cst.SimpleStatementLine | cst.BaseCompoundStatement) else []


def _import_edits(tasks: Sequence[Task], imports: ImportEditor, added: Sequence[str]) -> Iterable[RewriteEdit]:
    path = next((task.usage["path"] for task in tasks if task.move), "")
    for old, new in imports.done:
        yield _edit(Codemod.IMPORT, 1, path, None, old, new)
    for line in added:
        yield _edit(Codemod.IMPORT, 1, path, None, None, line)


def _edit(
    codemod: Codemod, line: int, path: str, parameter: str | None, old: str | None, new: str | None
) -> RewriteEdit:
    return {"codemod": codemod, "line": line, "path": path, "parameter": parameter, "old": old, "new": new}


def _compiles(pieces: Pieces) -> None:
    try:
        # what is odd about other people's code is not told here
        with warnings.catch_warnings(action="ignore"):
            compile(pieces.preamble + pieces.code, "<rewritten>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise Unfit(f"what comes out is no program: {error}") from None


class _UseEditor(cst.CSTTransformer):
    """Writes uses anew: expressions as the mover planned them, and the arguments of calls."""

    def __init__(self, program: Program, mover: Mover, tasks: Sequence[Task]) -> None:
        self.program = program
        self.mover = mover
        self.tasks = {task.span: task for task in tasks}
        self.edits: list[RewriteEdit] = []

    def concerns(self, statement: Statement) -> bool:
        """Say whether a statement holds a use that is to be written anew."""
        start, end = self.program.span(statement)
        if isinstance(statement, cst.FunctionDef | cst.ClassDef) and statement.decorators:
            # libcst begins them behind their decorators.
            start = self.program.span(statement.decorators[0])[0]
        return any(start <= span[0] and span[1] <= end for span in self.tasks)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:  # noqa: N802 - libcst calls it so
        """Write a plain name anew."""
        return self._use(original_node, updated_node)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:  # noqa: N802 - libcst calls it so
        """Write a chain anew, or the last name of one that starts at an object."""
        span = self.program.span(original_node)
        name = self.mover.attributes.get(span)
        if name is None:
            return self._use(original_node, updated_node)
        self._note(original_node, original_node.attr.value, name)
        return updated_node.with_changes(attr=updated_node.attr.with_changes(value=name))

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802 - libcst calls it so
        """Write the arguments of a call anew."""
        span = self.program.span(original_node.func)
        task = self.tasks.get(span)
        if task is None or task.recall is None:
            return updated_node
        if span in self.mover.functions:
            return self._as_function(original_node, updated_node, task, *self.mover.functions[span])
        recall, arguments = task.recall, written_arguments(original_node)
        try:
            bound = bind(arguments, recall.before)
            passed = adapt(arguments, recall.before, recall.after, recall.renamed, recall.replaced)
        except Unfit:
            if recall.may_keep and not any(argument.keyword or argument.star for argument in arguments):
                return updated_node
            raise
        if is_unchanged(arguments, passed):
            return updated_node
        self._note_arguments(original_node, task, edits_of(original_node, bound, passed))
        return written(updated_node, passed)

    def _as_function(
        self, original: cst.Call, updated: cst.Call, task: Task, function: str, receiver: Receiver
    ) -> cst.Call:
        """Write the call of a method as one of a function that replaces it. Errors: Unfit."""
        assert isinstance(updated.func, cst.Attribute)
        assert task.recall is not None
        by_name = [argument for argument in updated.args if argument.keyword]
        by_position = [argument for argument in updated.args if not argument.keyword]
        names = {parameter.name for parameter in task.recall.after}
        if any(argument.star for argument in updated.args):
            raise Unfit("arguments that are unpacked cannot be given to a function in place of a method")
        if unknown := [word.value for word in (each.keyword for each in by_name) if word and word.value not in names]:
            raise Unfit(f"{function} takes no {', '.join(unknown)}")
        values = [updated.func.value, *(argument.value for argument in by_position)]
        if receiver is Receiver.IN_LIST:
            # A method that takes several things too is given a list of them.
            lists = [value.elements if isinstance(value, cst.List) else [cst.Element(value)] for value in values]
            values = [cst.List([element.with_changes(comma=_DEFAULT) for inner in lists for element in inner])]
        args = [cst.Arg(value) for value in values] + by_name
        line, path = self.program.line(original), task.usage["path"]
        self.edits.append(_edit(Codemod.NAME, line, path, None, code_of(original.func), function))
        return updated.with_changes(func=cst.parse_expression(function), args=args)

    def _use(self, original: cst.Name | cst.Attribute, updated: cst.Name | cst.Attribute) -> cst.BaseExpression:
        text = self.mover.texts.get(self.program.span(original))
        if text is None:
            return updated
        self._note(original, self.program.module.code_for_node(original), text)
        return cst.parse_expression(text).with_changes(lpar=updated.lpar, rpar=updated.rpar)

    def _note(self, node: cst.CSTNode, old: str, new: str) -> None:
        start, end = self.program.span(node)
        # the use that the node is the whole or the beginning of
        whole = (task for span, task in sorted(self.tasks.items()) if span[0] == start and span[1] >= end and task.move)
        path = next((task.usage["path"] for task in whole), "")
        self.edits.append(_edit(Codemod.NAME, self.program.line(node), path, None, old, new))

    def _note_arguments(self, node: cst.Call, task: Task, edits: Iterable[ArgumentEdit]) -> None:
        line, path = self.program.line(node), task.usage["path"]
        self.edits += [_edit(each.codemod, line, path, each.parameter, each.old, each.new) for each in edits]
