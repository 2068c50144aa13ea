"""What a model wrote in the place of an example, read and looked at before anything of it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import TypedDict

from pipeline.core.syntax_trees import parse_python
from pipeline.corpus.usages.text import source_of
from pipeline.families.llm_code_checks import BadCode, read_code
from pipeline.lake.rows import SnippetCheck, SnippetRow
from pipeline.llm.tasks.rules import MigratedCodeRules

_LITERALS = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp)
# These may well be arguments, as may a single digit and what is empty; as a whole statement they are outputs all the
# same.
_COMMON = frozenset({"None", "True", "False"})
_CATCHING = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)
_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class BadProgram(ValueError):
    """What was written is no program that could take the place of the example; says why, in words for the model."""


class Statement(TypedDict):
    """A statement of an example, with the output that is stated for it."""

    code: str
    output: str | None


@dataclass(frozen=True, slots=True)
class Steps:
    """A program in parts: the preamble, and what stands for each statement of the example, a statement each."""

    preamble: str
    statements: tuple[tuple[str, ...], ...]

    @property
    def code(self) -> str:
        """The statements together."""
        return "".join(text for became in self.statements for text in became)

    def checks(self, snippet: SnippetRow) -> list[SnippetCheck]:
        """Return the statements as checks: the output that the example states is that of the last one of each."""
        return [
            {**was, "statement": statement, "expected": was["expected"] if number == len(became) else None}
            for was, became in zip(snippet["checks"], self.statements, strict=True)
            for number, statement in enumerate(became, start=1)
        ]


def statements_of(snippet: SnippetRow) -> list[Statement]:
    """Return the statements of an example, each with the output that is stated for it, null where none is."""
    return [{"code": check["statement"], "output": check["expected"]} for check in snippet["checks"]]


def read_steps(preamble: str, written: Sequence[str], snippet: SnippetRow, rules: MigratedCodeRules) -> Steps:
    """Read the parts of an answer.

    Errors: BadProgram where it is too long, does not parse, or does not have a statement for each of the example's.
    """
    statements = statements_of(snippet)
    if len(written) != len(statements):
        raise BadProgram(f"statements must be {len(statements)}, one for each of the example's, and are {len(written)}")
    if sum(map(len, (preamble, *written))) > rules.max_written:
        raise BadProgram(f"the code is longer than {rules.max_written} characters")
    head = "".join(_parsed(preamble, "preamble", rules))
    steps = []
    for number, (was, text) in enumerate(zip(statements, written, strict=True), start=1):
        steps.append(tuple(_parsed(text, f"statement {number}", rules)))
        if was["output"] is not None and not steps[-1]:
            raise BadProgram(f"statement {number} must give an output, and is empty")
    read = Steps(head, tuple(steps))
    if (lines := (read.preamble + read.code).count("\n")) > rules.max_lines:
        raise BadProgram(f"the code has {lines} lines, at most {rules.max_lines} are taken")
    return read


def _parsed(text: str, part: str, rules: MigratedCodeRules) -> Iterator[str]:
    """Yield the statements of a text as Python writes them, so without its comments."""
    try:
        tree = read_code(text, rules.max_written)
    except BadCode as error:
        raise BadProgram(f"{part}: {error}") from None
    yield from (f"{ast.unparse(node)}\n" for node in tree.body)


def problem_of(steps: Steps, snippet: SnippetRow, rules: MigratedCodeRules) -> str | None:
    """Say why a program cannot be taken for what the example is in the other release; None where nothing does.

    It must not be the same program, catch errors, define what the example does not, use names that the rules forbid or
    that are not public, or hold an output that it is to compute.
    """
    old, new = parse_python(source_of(snippet)), parse_python(steps.preamble + steps.code)
    if ast.dump(old) == ast.dump(new):
        return "it is the same program as the example, which fails in the other release"
    if _count(new, _CATCHING) > _count(old, _CATCHING):
        return "it has a try or with statement that the example does not have: write code that is right in the release"
    if _count(new, _DEFINING) > _count(old, _DEFINING):
        return "it defines a function or class that the example does not define: use what the library has"
    foreign = sorted(name for name in _names(new) - _names(old) if name in rules.not_used or _is_private(name))
    if foreign:
        return f"it uses {', '.join(foreign)}, which the example does not use: use the library's public API"
    return _copied_output(steps, old, snippet)


def _count(tree: ast.AST, kinds: tuple[type[ast.AST], ...]) -> int:
    return sum(isinstance(node, kinds) for node in ast.walk(tree))


def _is_private(name: str) -> bool:
    return name.startswith("_") and name != "_"


def _names(tree: ast.AST) -> Set[str]:
    """Return the names that a program uses, its imports' and attributes' among them."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                names.add(name)
            case ast.alias(name=name):
                names.update(name.split("."))
            case ast.ImportFrom(module=str(name)):
                names.update(name.split("."))
    return names


def _copied_output(steps: Steps, old: ast.AST, snippet: SnippetRow) -> str | None:
    """Say which output stands in the program, where it should be computed and the example does not have it."""
    old_texts = {text for node in ast.walk(old) for text in _texts(node)}
    new = parse_python(steps.preamble + steps.code)
    everywhere = {text for node in ast.walk(new) for text in _texts(node) if _is_distinctive(text)}
    for check, became in zip(snippet["checks"], steps.statements, strict=True):
        if check["expected"] is None:
            continue
        output = _normal(check["expected"])
        last_texts = {text for node in parse_python(became[-1]).body for text in _texts(_value(node))}
        if output in (everywhere | last_texts) - old_texts:
            return f"it holds the output {output[:80]!r} instead of computing it"
    return None


def _is_distinctive(text: str) -> bool:
    return text not in _COMMON and (len(text) > 2 or (text.isdecimal() and len(text) > 1))


def _value(node: ast.stmt) -> ast.AST:
    """Return what a statement shows: an expression, or the argument of print."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[argument])):
            return argument
        case ast.Expr(value=value):
            return value
    return node


def _texts(node: ast.AST) -> Iterator[str]:
    """Yield how a literal would be shown: by its representation, and printed."""
    if isinstance(node, _LITERALS):
        yield _normal(ast.unparse(node))
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield _normal(node.value)


def _normal(text: str) -> str:
    return " ".join(text.split())
