"""Pieces of files that may become snippets: the parts that may use a library, with what they need of the file."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.samples import SnippetStyle
from pipeline.corpus.snippets.code_sample_rules import CodeSampleRules
from pipeline.corpus.snippets.cut import Part, parts_of
from pipeline.corpus.snippets.needs import Module, stars_text, statements_text
from pipeline.lake.rows import SnippetCheck

_ATTRIBUTE = re.compile(r"\bself\.(\w+)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of found code: `line` is its first line, from 0 at the first of the text that it was cut out of."""

    style: SnippetStyle
    preamble: str
    code: str
    line: int
    checks: tuple[SnippetCheck, ...] = ()


def parse_file(text: str) -> ast.Module:
    """Parse a file as Python 3.11.

    Errors: SyntaxError, also for what the parser gives up on.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parse_python(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(f"{type(error).__name__}: {error}") from None


def pieces_of_file(text: str, tree: ast.Module, roots: Collection[str], rules: CodeSampleRules) -> Iterator[Piece]:
    """Yield the parts of a file that may use the library that is imported by one of `roots`, each with what it needs.

    Whether a part does use it is for the finder of uses to say; here only those are left out that name nothing which
    could lead to it.
    """
    module = Module(text, tree, roots, rules.max_constant_lines)
    for part in parts_of(tree.body, rules.max_run_lines):
        code = module.text_of(part.lines)
        initialiser = _initialiser_for(code, part, module)
        if module.mentions(code) or (initialiser and module.mentions(initialiser)):
            yield Piece(part.style, _preamble(code, part, initialiser, module, rules), code, part.lines[0] - 1)


def _initialiser_for(code: str, part: Part, module: Module) -> str:
    """Return the `__init__` of a method's class if the method reads an attribute that it names, else nothing."""
    if part.initialiser is None or part.style is not SnippetStyle.METHOD:
        return ""
    text = module.text_of(part.initialiser)
    return text if set(_ATTRIBUTE.findall(code)) & set(_ATTRIBUTE.findall(text)) and module.mentions(text) else ""


def _preamble(code: str, part: Part, initialiser: str, module: Module, rules: CodeSampleRules) -> str:
    """Return what a part needs of its file: where that is too long, without the constants, the `__init__`, or both."""
    heads = "".join(module.text_of(head) for head in part.heads)
    for around in dict.fromkeys((heads + initialiser, heads)):
        binders = module.behind(around + code, part.lines[0])
        imports = [binder for binder in binders if binder.alias is not None]
        for included in (binders, imports):
            preamble = stars_text(module) + statements_text(module, included) + around
            if preamble.count("\n") <= rules.max_preamble_lines:
                return preamble
    return stars_text(module) + statements_text(module, imports) + heads
