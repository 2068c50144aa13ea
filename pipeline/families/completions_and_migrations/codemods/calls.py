"""Calls as libcst has them: their arguments read, and written for another signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from pipeline.core.vocabularies.samples import Codemod
from pipeline.families.completions_and_migrations.codemods.signatures import Passed, WrittenArgument

_NO_SPACE = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
_PLAIN = cst.Module([])


@dataclass(frozen=True, slots=True)
class ArgumentEdit:
    """What was done to one argument; `old` and `new` as written, None where it was not there."""

    codemod: Codemod
    parameter: str
    old: str | None
    new: str | None


def code_of(node: cst.CSTNode) -> str:
    """Return the source text of a node."""
    return _PLAIN.code_for_node(node)


def written_arguments(call: cst.Call) -> list[WrittenArgument]:
    """Return the arguments of a call as written."""
    return [
        WrittenArgument(code_of(argument.value), argument.keyword.value if argument.keyword else None, argument.star)
        for argument in call.args
    ]


def written(call: cst.Call, passed: Sequence[Passed]) -> cst.Call:
    """Return the call with other arguments; commas and line breaks stay with their places."""
    arguments = [_argument(call, each, alone=len(passed) == 1) for each in passed]
    last = len(arguments) - 1
    commas = [argument.comma for argument in call.args]
    trailing = commas[-1] if commas else cst.MaybeSentinel.DEFAULT
    between = [comma for comma in commas[:-1] if isinstance(comma, cst.Comma)]
    placed = [
        argument.with_changes(
            comma=trailing if at == last else between[at] if at < len(between) else _COMMA,
            whitespace_after_arg=call.args[at].whitespace_after_arg
            if at < len(call.args)
            else cst.SimpleWhitespace(""),
        )
        for at, argument in enumerate(arguments)
    ]
    return call.with_changes(args=placed)


def _argument(call: cst.Call, passed: Passed, *, alone: bool) -> cst.Arg:
    keyword = cst.Name(passed.keyword) if passed.keyword else None
    if passed.source is None:
        value = cst.parse_expression(passed.value)
        return cst.Arg(value, keyword, _NO_SPACE if keyword else cst.MaybeSentinel.DEFAULT)
    argument = call.args[passed.source]
    if (argument.keyword.value if argument.keyword else None) == passed.keyword and alone == (len(call.args) == 1):
        return argument
    value = argument.value
    if isinstance(value, cst.GeneratorExp) and not value.lpar:
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    equal = argument.equal if argument.keyword and keyword else _NO_SPACE if keyword else cst.MaybeSentinel.DEFAULT
    return argument.with_changes(keyword=keyword, equal=equal, value=value)


def edits_of(call: cst.Call, bound: Sequence[str], passed: Sequence[Passed]) -> list[ArgumentEdit]:
    """Return what distinguishes two ways of giving the arguments of a call; `bound` are their parameters before."""
    edits = []
    texts = [code_of(argument.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for argument in call.args]
    sources = {each.source: each for each in passed if each.source is not None}
    for at, argument in enumerate(call.args):
        now = sources.get(at)
        keyword = argument.keyword.value if argument.keyword else None
        if now is None:
            edits.append(ArgumentEdit(Codemod.LEFT_OUT, bound[at], texts[at], None))
        elif now.keyword != keyword:
            new = f"{now.keyword}={code_of(argument.value)}" if now.keyword else code_of(argument.value)
            edits.append(ArgumentEdit(_codemod(keyword, now.keyword), bound[at], texts[at], new))
    added = (each for each in passed if each.source is None)
    edits += [ArgumentEdit(Codemod.ADDED, each.parameter, None, _argument_text(each)) for each in added]
    return edits


def _codemod(before: str | None, after: str | None) -> Codemod:
    if before is None:
        return Codemod.BY_NAME
    return Codemod.BY_POSITION if after is None else Codemod.KEYWORD


def _argument_text(passed: Passed) -> str:
    return f"{passed.keyword}={passed.value}" if passed.keyword else passed.value
