"""Programs that end where an API warns of its deprecation: they make each warning an exception, as `python -W error`.

See the [warnings filter](https://docs.python.org/3/library/warnings.html#the-warnings-filter).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from more_itertools import first

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.corpus.usages.api import Api
from pipeline.corpus.witnesses.changed_uses import ChangeSide, UsingProgram, imported, uses_by_line
from pipeline.corpus.witnesses.scripts import line_of

_IMPORT = line_of(parse_python("import warnings").body[0])
FILTER = line_of(parse_python("warnings.simplefilter('error')").body[0])
"""The line that makes warnings exceptions."""


def ending_at_warning(side: ChangeSide, program: UsingProgram, apis: Mapping[str, Api]) -> UsingProgram | None:
    """Return a program with the filter behind its imports, of which some may warn of other things.

    A name that the `__getattr__` of its module answers to warns as it is imported, so the filter stands before that.
    None where the program does not use the API.
    """
    api, other = apis[side.home], apis[side.other].symbols.get(side.path)
    names = side.names(api)
    lines = [line for line in program.lines if line.text != _IMPORT.text]
    is_lazy = other is not None and other["kind"] == SymbolKind.LAZY
    behind = (
        place
        for place, line in enumerate(lines)
        if not isinstance(line.node, ast.Import | ast.ImportFrom)
        or (is_lazy and any(side.concerns(path, names) for path in imported(line.node)))
    )
    place = first(behind, len(lines))
    with_filter = (_IMPORT, *lines[:place], FILTER, *lines[place:])
    uses = tuple(uses_by_line(with_filter, api))
    core = first((use for of_line in uses for use in of_line if side.is_use(use, names)), None)
    return UsingProgram(program.test, with_filter, uses, core) if core else None


def without_filter(code: str) -> str:
    """Return a program without the lines that make warnings exceptions."""
    texts = {_IMPORT.text, FILTER.text} if FILTER.text in code else set()
    return "".join(line for line in code.splitlines(keepends=True) if line.rstrip("\n") not in texts)
