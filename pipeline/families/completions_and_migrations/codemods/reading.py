"""What a snippet calls, read from its syntax tree alone: most uses are written for the other release already.

Parsing by libcst costs twenty times as much, and is needed only where something is written anew.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import accumulate

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.samples import Codemod, UsageForm
from pipeline.corpus.usages.text import source_of
from pipeline.families.completions_and_migrations.codemods.reached import unreached_lines
from pipeline.families.completions_and_migrations.codemods.rewrite import Task
from pipeline.families.completions_and_migrations.codemods.signatures import (
    Unfit,
    WrittenArgument,
    adapt,
    bind,
    is_unchanged,
)
from pipeline.lake.rows import RewriteEdit, SnippetRow

Span = tuple[int, int]


class Reading:
    """A snippet as its syntax tree shows it, with its calls by the bytes of what is called."""

    def __init__(self, snippet: SnippetRow) -> None:
        source = source_of(snippet)
        self._data = source.encode()
        self._lines = [0, *accumulate(len(line) + 1 for line in self._data.split(b"\n"))]
        self._tree = parse_python(source)
        calls = (node for node in ast.walk(self._tree) if isinstance(node, ast.Call))
        self._calls = {self._span(node.func): node for node in calls}

    def stays(self, tasks: Iterable[Task]) -> bool:
        """Say whether it is certain that no task writes anything anew; of what is moved that is never certain."""
        return all(task.move is None and self._is_fit(task) for task in tasks)

    def unproven(self, edits: Iterable[RewriteEdit]) -> int | None:
        """Return the line of an edit that no run of the program gets to, as far as that can be told; None if none."""
        unreached = unreached_lines(self._tree)
        lines = (line for edit in edits for line in self._lines_of(edit))
        return next((line for line in lines if line in unreached), None) if unreached else None

    def _lines_of(self, edit: RewriteEdit) -> list[int]:
        """Return where an edit was made: of an import that means wherever the same is imported."""
        if edit["codemod"] != Codemod.IMPORT:
            return [edit["line"]]
        nodes = [node for node in ast.walk(self._tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        was = ast.unparse(parse_python(edit["old"] or ""))
        return [node.lineno for node in nodes if ast.unparse(node) == was]

    def _is_fit(self, task: Task) -> bool:
        call, recall = self._calls.get(task.span), task.recall
        if call is None:
            return bool(task.usage["form"] != UsageForm.CALL)
        if recall is None:
            return True
        arguments = self._arguments(call)
        try:
            bind(arguments, recall.before)
            return is_unchanged(arguments, adapt(arguments, recall.before, recall.after, recall.renamed))
        except Unfit:
            return False

    def _arguments(self, call: ast.Call) -> list[WrittenArgument]:
        """Return the arguments of a call as written; what is unpacked comes first or last, and fits nothing anyway."""
        by_position = [
            WrittenArgument(self._text(node), None, "*" if isinstance(node, ast.Starred) else "") for node in call.args
        ]
        by_name = [
            WrittenArgument(self._text(each.value), each.arg, "" if each.arg else "**") for each in call.keywords
        ]
        return [*by_position, *by_name]

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self._data[start:end].decode()

    def _span(self, node: ast.expr) -> Span:
        """Return the bytes of an expression; the tree counts columns in bytes too."""
        last_line, last_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._lines[node.lineno - 1] + node.col_offset, self._lines[last_line - 1] + last_column
