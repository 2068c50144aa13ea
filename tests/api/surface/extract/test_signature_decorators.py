"""Decorators that change what a caller can give, and what of it will end."""

import ast
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import _api

from pipeline.api.surface.extract.signature_decorators import (
    HelperRules,
    apply_helpers,
    read_parameters,
    show_parameter,
)
from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.core.vocabularies.surface import HelperEffect, ParameterKind
from tests.errors import raises

HELPERS = load(RULES / "helpers.yaml", HelperRules)


def told(source: str) -> list[str]:
    function = ast.parse(source).body[-1]
    assert isinstance(function, ast.FunctionDef)
    found = apply_helpers(function.decorator_list, read_parameters(function.args), HELPERS)
    return [show_parameter(parameter) for parameter in found]


def test_every_effect_has_an_example_that_held_when_the_rules_were_loaded():
    shown = {helper.effect for helper in HELPERS.helpers for example in helper.examples if example.gives}
    assert shown == set(HelperEffect)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # scipy 1.16: the old name was never given by position, whatever stands outside
        (
            "@_deprecate_positional_args(version='1.14')\n@_rename_parameter('b', 'x')\ndef f(a, *, x=1): ...",
            ["a", "x: positional_or_keyword, by_position, removed in 1.14", "b: keyword_only, name, use x"],
        ),
        # matplotlib 3.4: what goes is not only deprecated by position
        (
            "@_api.make_keyword_only('3.3', 'b')\n@_api.delete_parameter('3.3', 'c')\ndef f(a, b=1, c=2): ...",
            ["a", "b: positional_or_keyword, by_position, since 3.3", "c: positional_or_keyword, entirely, since 3.3"],
        ),
        (
            "@deprecate_kwarg('x', 'a')\n@deprecate_kwarg('y', 'a')\ndef f(a, **kw): ...",
            ["a", "y: keyword_only, name, use a", "x: keyword_only, name, use a", "kw"],
        ),
    ],
)
def test_helpers_are_applied_from_the_inside(source, expected):
    assert told(source) == expected


@pytest.mark.parametrize(
    "decorator",
    [
        "deprecate_kwarg(OLD, NEW)",
        "deprecate_kwarg(*names)",
        "deprecate_kwarg()",
        "deprecate_kwarg",
        "deprecate_kwarg('a', 'b', unheard_of=1)",
        "_api.rename_parameter('3.3', f'base{axis}', 'a')",
        "deprecate_nonkeyword_arguments(version='3.0', allowed_args=['self'] + NAMES)",
        "property",
        "helpers[0]('a')",
    ],
)
def test_what_cannot_be_read_changes_nothing(decorator):
    assert told(f"@{decorator}\ndef f(a, b=1): ...") == ["a", "b"]


def test_matplotlib_itself_accepts_what_is_told_and_warns_where_a_mark_is():
    source = "@_api.rename_parameter('3.8', 'old', 'new')\n@_api.make_keyword_only('3.8', 'new')\ndef f(a, new=1): ..."
    assert told(source) == [
        "a",
        "new: positional_or_keyword, by_position, since 3.8",
        "old: keyword_only, name, since 3.8, use new",
    ]
    scope: dict[str, Any] = {"_api": _api}
    exec(source, scope)
    for arguments, named in [((1, 2), {}), ((1,), {"old": 2})]:
        with pytest.warns(_api.MatplotlibDeprecationWarning):
            scope["f"](*arguments, **named)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scope["f"](1, new=2)


def test_an_example_that_does_not_hold_is_an_error_of_the_rule_file(tmp_path):
    path = tmp_path / "helpers.yaml"
    path.write_text(
        "helpers:\n- {names: [gone], effect: deprecated, arguments: {name: names},"
        " examples: [{decorator: gone('a'), signature: a, gives: [a]}]}\n"
    )
    with raises(RuleError, "positional_or_keyword", code="rule_example_wrong"):
        load(path, HelperRules)
    path.write_text(path.read_text().replace("gone('a')", "gone("))
    with raises(RuleError, code="rule_example_wrong"):
        load(path, HelperRules)


names = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)
decorators = st.sampled_from(
    [e.decorator for h in HELPERS.helpers if h.effect is not HelperEffect.REPLACED for e in h.examples]
)


@given(names, st.integers(0, 6), st.booleans(), st.lists(decorators, max_size=3))
def test_no_parameter_is_lost_and_kinds_stay_in_order(given_names, star, variadic, applied):
    free, named = given_names[:star], given_names[star:]
    signature = ", ".join([*free, *(["*", *named] if named else []), *(["**kw"] if variadic else [])])
    source = "".join(f"@{d}\n" for d in applied) + f"def f({signature}): ..."
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    before = read_parameters(function.args)
    after = apply_helpers(function.decorator_list, before, HELPERS)
    assert {p["name"] for p in before} <= {p["name"] for p in after}
    assert len({p["name"] for p in after}) == len(after)
    order = list(ParameterKind)
    assert sorted(order.index(ParameterKind(p["kind"])) for p in after) == [
        order.index(ParameterKind(p["kind"])) for p in after
    ]
