"""Answers to tasks in projects: only the body of a function is one, and one that passes has a control that must fail.

An answer shares its process with the tests, so that what it does there cannot be kept from it. Its control is the same
answer whose function does all that it does and then fails: whoever passes by something else than the result passes
there too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.repository_tasks.project import Variant
from pipeline.families.repository_tasks.variant_runs import TestRun

_Function = ast.FunctionDef | ast.AsyncFunctionDef
RunVariants = Callable[[Sequence[Variant]], list[TestRun]]
Place = tuple[tuple[str, int], ...]
"""The way from a module to a statement: field and index at each level."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CONTROL_TESTS = 3
"""Tests that a control runs at most: each fails at the first call."""
_NO_PYTHON = "the file with the answer does not parse"
_PASSES_ANYHOW = "it also passes when its function raises: the tests do not depend on its result"
_TO_TESTS = frozenset(
    {
        *("pytest", "_pytest", "pluggy", "unittest", "SkipTest", "conftest"),
        *("gc", "get_objects", "get_referrers", "get_referents", "ctypes", "linecache", "__subclasses__"),
        *(
            "_getframe",
            "_current_frames",
            "currentframe",
            "getouterframes",
            "f_back",
            "f_locals",
            "f_globals",
            "f_code",
        ),
        *("tb_frame", "gi_frame", "cr_frame", "co_consts", "co_code", "__code__", "settrace", "setprofile"),
        *("addaudithook", "_exit", "_tracing", "driftline"),
    }
)
_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")  # PEP 263
# What a header evaluates when it is defined may name things, and compute nothing.
_NAMING = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.USub),
    *(ast.BinOp, ast.BitOr, ast.Load, ast.arguments, ast.arg),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A file of a project with an answer in it, and the tests that judge it."""

    id: str
    path: str
    text: str
    tests: Sequence[str]


def judge_by(run: RunVariants, texts: Mapping[str, str], answers: Sequence[Answer]) -> list[TestRun]:
    """Judge answers by runs of their tests; `texts` are the project's own files. Results in the order of the answers.

    One that is not the body of one function alone is a BAD_SAMPLE or a SYNTAX_ERROR, and is not run. One that passes,
    and whose control passes too, has failed each test, unless the control of the project's own code passes as well.
    """
    strays = {answer.id: why for answer in answers if (why := stray(texts[answer.path], answer.text))}
    able = [answer for answer in answers if answer.id not in strays]
    runs = {done.id: done for done in run([_variant(answer, answer.text) for answer in able])}
    passed = [
        answer for answer in able if runs[answer.id].worst is TestOutcome.PASSED and answer.text != texts[answer.path]
    ]
    for one in _passing_anyhow(run, passed, texts):
        failed = dict.fromkeys(one.tests, TestOutcome.FAILED)
        runs[one.id] = replace(runs[one.id], outcomes=failed, detail=_PASSES_ANYHOW)
    return [runs[one.id] if one.id in runs else _refused(one, strays[one.id]) for one in answers]


def _variant(answer: Answer, text: str) -> Variant:
    return Variant(answer.id, answer.tests, {answer.path: text})


def _refused(answer: Answer, why: str) -> TestRun:
    outcomes = dict.fromkeys(answer.tests, TestOutcome.NOT_RUN)
    outcome = Outcome.SYNTAX_ERROR if why.startswith(_NO_PYTHON) else Outcome.BAD_SAMPLE
    return TestRun(answer.id, outcome, why, outcomes, 0, None, 0.0)


def _passing_anyhow(run: RunVariants, answers: Sequence[Answer], texts: Mapping[str, str]) -> Iterator[Answer]:
    """Yield the answers whose control passes where that of the project's own code fails."""
    controls = {answer.id: text for answer in answers if (text := failing(texts[answer.path], answer.text))}
    passing = _passing(run, [answer for answer in answers if answer.id in controls], controls)
    own = {answer.id: text for answer in passing if (text := failing(texts[answer.path], answer.text, own=True))}
    useless = {answer.id for answer in _passing(run, [answer for answer in passing if answer.id in own], own)}
    yield from (answer for answer in passing if answer.id not in useless)


def _passing(run: RunVariants, answers: Sequence[Answer], texts: Mapping[str, str]) -> list[Answer]:
    variants = [
        Variant(answer.id, answer.tests[:_CONTROL_TESTS], {answer.path: texts[answer.id]}) for answer in answers
    ]
    done = run(variants) if variants else []
    return [answer for answer, ran in zip(answers, done, strict=True) if ran.worst is TestOutcome.PASSED]


def stray(reference: str, text: str) -> str | None:
    """Return what of a changed file is not the body of one function of the file, None where all of it is.

    Only what runs when the function is called may differ: a header may have other names, and no other decorators,
    nor anything in it that computes.
    """
    if text == reference:
        return None
    try:
        changed = _changed(reference, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{_NO_PYTHON}: {type(error).__name__}: {error}"
    return changed if isinstance(changed, str) else None


def _changed(reference: str, text: str) -> Place | str:
    """Return where the one function stands whose body differs, or what differs beside it.

    Errors: those of `ast.parse`.
    """
    was, now = parse_python(reference), parse_python(text)
    line, lines = _first_difference(reference, text), reference.split("\n")
    # an answer may begin as the reference does and go on after its last line
    before = next((number for number in range(line - 1, 0, -1) if lines[number - 1].strip()), line)
    places = [place for each in (line, before) if (place := _place(was, each)) is not None]
    why = "it changes code outside of every function"
    for place in dict.fromkeys(places):
        names = _beside(parse_python(reference), parse_python(text), place)
        if names is None:
            return place
        why = names
    return places[0] if places and ast.dump(was) == ast.dump(now) else why


def _beside(was: ast.Module, now: ast.Module, place: Place) -> str | None:
    """Return what differs between two modules beside the body of a function."""
    old, new = _at(was, place), _at(now, place)
    if not isinstance(old, _FUNCTIONS) or type(old) is not type(new) or old.name != getattr(new, "name", None):
        return "it ends the function, or is code beside it: an answer is the body of its function"
    if why := _header(old, new) or _reaching(old, new):
        return why
    _blank(old)
    _blank(new)
    if ast.dump(was) != ast.dump(now):
        return "it has code beside the function, which would run when the module is imported"
    return None


def failing(reference: str, text: str, *, own: bool = False) -> str | None:
    """Return a file whose changed function does what it did and then raises NotImplementedError, whatever came of it.

    With `own` it is the function of the reference. None where no such file can be made.
    """
    tree, place = parse_python(reference if own else text), _changed(reference, text)
    function = None if isinstance(place, str) else _at(tree, place)
    if not isinstance(function, _FUNCTIONS):
        return None
    raising = parse_python("raise NotImplementedError").body
    function.body = [ast.Try(function.body, [], [], raising)]
    cookie = next(filter(_COOKIE.match, text.split("\n")[:2]), None)
    return "\n".join([*([cookie] if cookie else []), ast.unparse(ast.fix_missing_locations(tree)), ""])


def _first_difference(reference: str, text: str) -> int:
    """Return the first line, from 1, in which two texts differ."""
    old, new = reference.split("\n"), text.split("\n")
    same = next((n for n, (answer, other) in enumerate(zip(old, new, strict=False)) if answer != other), None)
    return (min(len(old), len(new)) if same is None else same) + 1


def _place(tree: ast.Module, line: int) -> Place | None:
    """Return where the outermost function around a line stands, None where no function is."""
    node: ast.AST = tree
    place: list[tuple[str, int]] = []
    while not isinstance(node, _FUNCTIONS):
        inner = next(
            (
                (name, index, child)
                for name, value in ast.iter_fields(node)
                if isinstance(value, list)
                for index, child in enumerate(value)
                if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case) and _spans(child, line)
            ),
            None,
        )
        if inner is None:
            return None
        place.append(inner[:2])
        node = inner[2]
    return tuple(place)


def _spans(node: ast.AST, line: int) -> bool:
    lines = [at for each in ast.walk(node) for at in (getattr(each, "lineno", None),) if at]
    last = [at for each in ast.walk(node) for at in (getattr(each, "end_lineno", None),) if at]
    return bool(lines) and min(lines) <= line <= max(last)


def _at(tree: ast.Module, place: Place) -> ast.AST | None:
    node: ast.AST | None = tree
    for name, index in place:
        children = getattr(node, name, None)
        node = children[index] if isinstance(children, list) and index < len(children) else None
    return node


def _header(old: _Function, new: ast.AST | None) -> str | None:
    """Return what of a changed header would run when the function is defined."""
    assert isinstance(new, _FUNCTIONS)
    if [ast.dump(each) for each in old.decorator_list] != [ast.dump(each) for each in new.decorator_list]:
        return "it changes the decorators of its function"
    parts = [new.args, *([new.returns] if new.returns else [])]
    was = {ast.dump(each) for part in (old.args, old.returns) if part for each in ast.walk(part)}
    strange = [each for part in parts for each in ast.walk(part) if not isinstance(each, _NAMING)]
    if any(ast.dump(each) not in was for each in strange):
        return "it computes something in the header of its function"
    return None


def _reaching(old: _Function, new: ast.AST | None) -> str | None:
    """Return what an answer uses of the interpreter that leads to the tests, if its reference does not use it too.

    No proof that an answer is honest: names can be put together when it runs.
    """
    assert new is not None
    strange = sorted((_names(new) - _names(old)) & _TO_TESTS)
    return f"it reaches for the tests that judge it, by {', '.join(strange)}" if strange else None


def _names(node: ast.AST) -> set[str]:
    """Return the names, attributes and imported modules of a piece of code."""
    names: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            names.add(each.id)
        elif isinstance(each, ast.Attribute):
            names.add(each.attr)
        elif isinstance(each, ast.Import):
            names.update(part for alias in each.names for part in alias.name.split("."))
        elif isinstance(each, ast.ImportFrom):
            names.update([*(each.module or "").split("."), *(alias.name for alias in each.names)])
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            names.update(each.value.split("."))
    return names


def _blank(node: ast.AST | None) -> None:
    """Leave of a function its name alone."""
    assert isinstance(node, _FUNCTIONS)
    node.body, node.returns, node.type_comment = [], None, None
    node.args = ast.arguments([], [], None, [], [], None, [])
