"""Calls written for another signature: held against Python's own binding, and against the way back."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.core.vocabularies.surface import ParameterDeprecation, ParameterKind
from pipeline.families.completions_and_migrations.codemods.signatures import (
    Parameter,
    Passed,
    Unfit,
    WrittenArgument,
    adapt,
    bind,
    signature_of,
)
from tests.errors import raises

ONLY, BOTH, NAMED = ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY
REST, MORE = ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD
PYTHON = {kind.name.lower(): kind for kind in inspect._ParameterKind}


def signature(text: str) -> tuple[Parameter, ...]:
    """The signature of `def f(text)`."""
    namespace: dict[str, Any] = {}
    exec(f"def f({text}): ...", namespace)
    empty = inspect.Parameter.empty
    return tuple(
        Parameter(p.name, p.kind.name.lower(), None if p.default is empty else repr(p.default))
        for p in inspect.signature(namespace["f"]).parameters.values()
    )


def call(text: str) -> list[WrittenArgument]:
    """The arguments of the call `f(text)`."""
    node = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(node, ast.Call)
    return [WrittenArgument(ast.unparse(a)) for a in node.args] + [
        WrittenArgument(ast.unparse(k.value), k.arg) for k in node.keywords
    ]


def text_of(arguments: Sequence[WrittenArgument], passed: Sequence[Passed]) -> str:
    """The call as source."""
    values = [each.value if each.source is None else arguments[each.source].value for each in passed]
    return ", ".join(f"{p.keyword}={v}" if p.keyword else v for p, v in zip(passed, values, strict=True))


CASES: dict[str, tuple[str, str, Mapping[str, str], str, str]] = {
    "nothing to do": ("a, b=1", "a, b=1", {}, "0, 2", "0, 2"),
    "renamed, by name": ("a, b", "a, c", {"b": "c"}, "0, b=2", "0, c=2"),
    "renamed, by position": ("a, b", "a, c", {"b": "c"}, "0, 2", "0, 2"),
    "gone, its default": ("a, b=1, c=2", "a, c=2", {}, "0, 1, 3", "0, 3"),
    "gone, its default as another literal": ("a, b='x'", "a", {}, 'a=0, b="x"', "a=0"),
    "gone into keywords": ("a, b=1", "a, **more", {}, "0, b=5", "0, b=5"),
    "came in between": ("a, c=2", "a, b=1, c=2", {}, "0, 3", "0, c=3"),
    "came in between, what follows follows": ("a, c=2, d=3", "a, b=1, c=2, d=3", {}, "0, 3, 4", "0, c=3, d=4"),
    "changed places": ("a, b", "b, a", {}, "0, 1", "1, 0"),
    "by name only": ("a, b, c", "a, *, b, c", {}, "0, 1, 2", "0, b=1, c=2"),
    "by position only": ("a, b", "a, b, /", {}, "b=1, a=0", "0, 1"),
    "required now": ("a, b=None", "a, b", {}, "0", "0, b=None"),
    "required now, by position only": ("a, b=1", "a, b, /", {}, "0", "0, 1"),
    "another default": ("a, b=1", "a, b=2", {}, "0", "0, b=1"),
    "another default, given": ("a, b=1", "a, b=2", {}, "0, 2", "0, 2"),
    "None stands for what is not given": ("a, b=None", "a, b=2", {}, "0", "0"),
    "collected": ("a, *rest", "a, *rest", {}, "0, 1, 2", "0, 1, 2"),
    "collected, by any name": ("a, **more", "a, **more", {}, "0, z=1", "0, z=1"),
    "gone, and collected by position": ("a", "*names", {}, "0", "0"),
    "gone, its default, and not collected": ("a, b=None", "a, *rest", {}, "0, None", "0"),
    "gone for another one, its default": ("a, b=None, c=3", "a, c=3", {"b": "c"}, "0, b=None, c=2", "0, c=2"),
    "a name of its own at last": ("a, **more", "a, z=0", {}, "0, z=1", "0, z=1"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_call_for_another_signature(name: str) -> None:
    before, after, renamed, old, new = CASES[name]
    given_ = call(old)
    assert text_of(given_, adapt(given_, signature(before), signature(after), renamed)) == new


REFUSED = {
    "gone, another value": ("a, b=1", "a", {}, "0, 2"),
    "gone, a value nobody can tell": ("a, b=1", "a", {}, "0, one"),
    "required, and new": ("a", "a, b", {}, "0"),
    "required, and the default no literal": ("a", "a, b", {}, "0"),
    "collected, and nowhere to go": ("a, *rest", "a", {}, "0, 1"),
    "collected, behind what came": ("a, *rest", "a, b=1, *rest", {}, "0, 1"),
    "by position only, behind a gap": ("a=0, b=1", "a=0, b=1, /", {}, "b=2"),
    "gone, and collected behind others": ("a, b, *rest", "a, *rest", {}, "0, 1, 2"),
    "gone, and collected behind what is given by name now": ("a, b, c", "a, *rest, b", {}, "0, 1, 2"),
    "gone, and collected before it": ("a, b", "b, *rest", {}, "0, 2"),
    "gone, given by name, and collected by position": ("a", "*names", {}, "a=0"),
    "two become one": ("a, b=1", "a, **more", {"b": "a"}, "0, b=2"),
    "no such parameter": ("a", "a, b=1", {}, "0, b=2"),
    "too many": ("a", "a, b=1", {}, "0, 2"),
    "given twice": ("a, b=1", "a, c=1", {}, "0, a=2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_that_no_rule_writes(name: str) -> None:
    before, after, renamed, old = REFUSED[name]
    with pytest.raises(Unfit):
        adapt(call(old), signature(before), signature(after), renamed)


@pytest.mark.parametrize("star", ["*", "**"])
def test_what_is_unpacked_is_not_known(star: str) -> None:
    with raises(Unfit, "running"):
        bind([WrittenArgument("x", None, star)], signature("*rest, **more"))


def test_unknown_defaults_are_not_given() -> None:
    before, after = (Parameter("a", BOTH, "..."),), (Parameter("a", BOTH, "1"),)
    assert adapt([], before, after, {}) == []


def row(name: str, what: ParameterDeprecation | None = None, replacement: str | None = None) -> Any:
    mark = {"what": what, "since": None, "removal": None, "replacement": replacement} if what else None
    return {"name": name, "kind": BOTH, "default": None, "deprecation": mark}


def test_a_release_is_called_as_it_wants_to_be() -> None:
    rows = [row("a"), row("old", ParameterDeprecation.NAME, "b"), row("b", ParameterDeprecation.BY_POSITION)]
    assert [(p.name, p.kind) for p in signature_of(rows, current=True)] == [("a", BOTH), ("b", NAMED)]
    assert [(p.name, p.kind) for p in signature_of(rows, current=False)] == [("a", BOTH), ("old", BOTH), ("b", BOTH)]


KINDS = st.sampled_from([ONLY, BOTH, NAMED])
DEFAULTS = st.sampled_from([None, "1", "2", "'x'"])
NAMES = ("a", "b", "c", "d")


@st.composite
def signatures(draw: st.DrawFn, names: Sequence[str] = NAMES) -> tuple[Parameter, ...]:
    """A signature that Python takes."""
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=4))
    made = [Parameter(name, draw(KINDS), draw(DEFAULTS)) for name in chosen]
    order: dict[str, int] = {ONLY: 0, BOTH: 1, NAMED: 2}
    made.sort(key=lambda p: (order[p.kind], p.kind != NAMED and p.default is not None))
    try:
        as_python(made)
    except ValueError:
        assume(condition=False)
    return tuple(made)


def as_python(made: Sequence[Parameter]) -> inspect.Signature:
    empty = inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(p.name, PYTHON[str(p.kind)], default=empty if p.default is None else p.default)
            for p in made
        ]
    )


@st.composite
def calls(draw: st.DrawFn, made: Sequence[Parameter]) -> list[WrittenArgument]:
    """A call that fits a signature."""
    arguments, by_position = [], True
    named = []
    for p in made:
        wanted = p.default is None or draw(st.booleans())
        by_position = by_position and wanted and p.kind != NAMED and (p.kind == ONLY or draw(st.booleans()))
        if not wanted:
            continue
        assume(by_position or p.kind != ONLY)
        value = draw(st.sampled_from(["1", "2", "'x'", "y"]))
        if by_position:
            arguments.append(WrittenArgument(value))
        else:
            named.append(WrittenArgument(value, p.name))
    return arguments + draw(st.permutations(named))


def bound(arguments: Sequence[WrittenArgument], made: Sequence[Parameter]) -> dict[str, str]:
    """What Python itself makes of a call, defaults included."""
    positional = [argument.value for argument in arguments if argument.keyword is None]
    named = {argument.keyword: argument.value for argument in arguments if argument.keyword}
    found = as_python(made).bind(*positional, **named)
    found.apply_defaults()
    return dict(found.arguments)


def as_written_arguments(arguments: Sequence[WrittenArgument], passed: Sequence[Passed]) -> list[WrittenArgument]:
    return [WrittenArgument(p.value if p.source is None else arguments[p.source].value, p.keyword) for p in passed]


@given(st.data())
def test_python_binds_both_calls_alike(data: st.DataObject) -> None:
    """Every parameter that both signatures have gets what it got; what is gone had its default."""
    before, after = data.draw(signatures()), data.draw(signatures())
    arguments = data.draw(calls(before))
    was = bound(arguments, before)
    try:
        written = as_written_arguments(arguments, adapt(arguments, before, after, {}))
    except Unfit:
        return
    is_ = bound(written, after)
    defaults = {p.name: p.default for p in before}
    for name, value in was.items():
        assert is_.get(name, defaults[name]) == value


@given(st.data())
def test_renaming_every_parameter_has_an_inverse(data: st.DataObject) -> None:
    before = data.draw(signatures())
    names = {p.name: f"new_{p.name}" for p in before}
    after = tuple(Parameter(names[p.name], p.kind, p.default) for p in before)
    arguments = data.draw(calls(before))
    there = as_written_arguments(arguments, adapt(arguments, before, after, names))
    back = as_written_arguments(there, adapt(there, after, before, {new: old for old, new in names.items()}))
    assert back == arguments


@given(st.data())
def test_there_and_back_means_the_same(data: st.DataObject) -> None:
    before, after = data.draw(signatures()), data.draw(signatures())
    arguments = data.draw(calls(before))
    try:
        there = as_written_arguments(arguments, adapt(arguments, before, after, {}))
        back = as_written_arguments(there, adapt(there, after, before, {}))
    except Unfit:
        return
    assert bound(back, before) == bound(arguments, before)


@given(st.data())
def test_a_call_of_the_same_signature_stays_as_it_is(data: st.DataObject) -> None:
    made = data.draw(signatures())
    arguments = data.draw(calls(made))
    assert as_written_arguments(arguments, adapt(arguments, made, made, {})) == arguments
