"""What a snippet calls, read from its syntax tree alone: most uses are written for the other release already.

Parsing by libcst costs twenty times as much, and is needed only where something is written anew.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import accumulate

from pipeline.instances.codemods.rewrite import Task
from pipeline.instances.codemods.signatures import Given, Unfit, adapt, bind, is_as_given
from pipeline.lake import Row
from pipeline.snippets import source_of
from pipeline.terms import UsageForm

Span = tuple[int, int]


class Reading:
    """The calls of a snippet, by the bytes of what is called."""

    def __init__(self, snippet: Row) -> None:
        source = source_of(snippet)
        self._data = source.encode()
        self._lines = [0, *accumulate(len(line) + 1 for line in self._data.split(b"\n"))]
        nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
        self._calls = {self._span(node.func): node for node in nodes}

    def stays(self, tasks: Iterable[Task]) -> bool:
        """Say whether it is certain that no task writes anything anew; of what is moved that is never certain."""
        return all(task.move is None and self._is_fit(task) for task in tasks)

    def _is_fit(self, task: Task) -> bool:
        call, recall = self._calls.get(task.span), task.recall
        if call is None:
            return task.usage["form"] != UsageForm.CALL
        if recall is None:
            return True
        given = self._given(call)
        try:
            bind(given, recall.before)
            return is_as_given(given, adapt(given, recall.before, recall.after, recall.renamed))
        except Unfit:
            return False

    def _given(self, call: ast.Call) -> list[Given]:
        """Return the arguments of a call as written; what is unpacked comes first or last, and fits nothing anyway."""
        by_position = [
            Given(self._text(node), None, "*" if isinstance(node, ast.Starred) else "") for node in call.args
        ]
        by_name = [Given(self._text(each.value), each.arg, "" if each.arg else "**") for each in call.keywords]
        return [*by_position, *by_name]

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self._data[start:end].decode()

    def _span(self, node: ast.expr) -> Span:
        """Return the bytes of an expression; the tree counts columns in bytes too."""
        last_line, last_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._lines[node.lineno - 1] + node.col_offset, self._lines[last_line - 1] + last_column
