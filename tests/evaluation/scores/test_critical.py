"""Exact match and the five rules of the critical diff check, each held and broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.samples import Granularity
from pipeline.evaluation.scores.critical import CriticalDiff, critical_diff, exact_match

REFERENCE = "with open_url(url, timeout=3) as page:\n    text = page.read()"


@pytest.mark.parametrize(
    ("prediction", "granularity", "expected"),
    [
        ("concat", Granularity.TOKEN, True),
        (" concat\n", Granularity.TOKEN, True),
        ("pd.concat", Granularity.TOKEN, False),
        ("x = pd.concat(y)", Granularity.LINE, True),
        ("x = pd.concat_all(y)", Granularity.LINE, False),
        ("x = y\nz = concat", Granularity.BLOCK, True),
        ("", Granularity.LINE, False),
    ],
)
def test_exact_match(prediction: str, granularity: Granularity, expected: bool) -> None:
    assert exact_match(prediction, "concat", granularity) is expected


@pytest.mark.parametrize(
    ("prediction", "broken"),
    [
        (REFERENCE, ""),
        ("with open_url(address, timeout=9) as p:\n    pass", ""),
        ("with open_link(url, timeout=3) as page:\n    pass", "core_token arguments keywords"),
        ("with open_url(url, timeout=3 as page:\n    pass", "valid arguments with_statement keywords"),
        ("with open_url(url, 3, timeout=3) as page:\n    pass", "arguments"),
        ("page = open_url(url, timeout=3)", "with_statement"),
        ("with open_url(url, 3) as page:\n    pass", "keywords"),
        ("with open_url(url, limit=3) as page:\n    pass", "keywords"),
        ("", "core_token valid arguments with_statement keywords"),
        ("open_url()\nwith open_url(url, timeout=3): pass", ""),
        ("# open_url\nwith x: pass", "arguments keywords"),
        # two calls do not keep one rule each: the first of them has two arguments, the second the keyword
        ("with open_url(a, b) as page, open_url(timeout=3): pass", "keywords"),
    ],
)
def test_rules(prediction: str, broken: str) -> None:
    found = critical_diff(prediction, REFERENCE, "open_url")
    assert {rule for rule in CriticalDiff.__slots__ if not getattr(found, rule)} == set(broken.split())
    assert found.passed == (broken == "")


@pytest.mark.parametrize(
    "line",
    [
        "    return fetch(x)",
        "with fetch(x) as y:",
        "elif fetch(x):",
        "else:",
        "except fetch(x):",
        "finally:",
        "case fetch(x=1):",
        "@fetch(x)",
        "@fetch(\n    x,\n)",
        "x = 1\n@fetch(x)",
        "with fetch(x) as y:\n        y.z()\n        y.w()",
        "try:\n        fetch(x)\n    except E:\n        pass",
        "await fetch(x)",
        "    a = 1\n    fetch(x)",
        "async with fetch(x):",
        "\tfetch(x)",
    ],
)
def test_any_line_of_a_program_is_valid(line: str) -> None:
    assert critical_diff(line, line, "fetch").valid


def test_a_reference_that_does_not_call_asks_for_no_call() -> None:
    assert critical_diff("size = frame.shape", "n, m = frame.shape", "shape").passed


@given(st.text(max_size=300))
def test_whatever_the_text_there_is_an_answer(text: str) -> None:
    assert not critical_diff(text, REFERENCE, "open_url").passed


@pytest.mark.parametrize("text", ["(" * 9999, "-" * 99999 + "1", "a" + ".b" * 99999, "x\0", "\ud800", "lambda:" * 9999])
def test_what_a_parser_gives_up_on_is_not_valid(text: str) -> None:
    assert not critical_diff(text, "fetch()", "fetch").valid


@pytest.mark.parametrize(
    ("prediction", "rules"),
    [
        ("from markupsafe import escape\nescape('<', True)", (True, True)),
        ("from flask import escape\nescape('<', True)", (False, True)),
        ("from markupsafe import escape\nescape('<')", (True, False)),
    ],
)
def test_a_moved_api_needs_the_new_part_of_its_path(prediction: str, rules: tuple[bool, bool]) -> None:
    reference = "from markupsafe import escape\nescape('<', True)"
    diff = critical_diff(prediction, reference, "escape", "markupsafe")
    assert (diff.core_token, diff.arguments) == rules
