"""Hidden lines whose call the visible code has, but for an argument."""

from __future__ import annotations

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity
from pipeline.lake.rows import PublishedCompletionRow
from pipeline.quality.acceptance.visible_calls import has_visible_call, without_visible_calls
from tests.evaluation.export.rows import completion

# what stands beside the line, the line, and whether its call is visible there
CASES = {
    "without one argument": ("list([token-mask](a, size=2))\n", "list(fetch(a))", True),
    "another value": ("[token-mask](a, size=2)\n", "fetch(a, size=3)", True),
    "another value by place": ("[token-mask](1)\n", "fetch(2)", True),
    "into another variable": ("x = [token-mask](a)\n", "y = fetch(b)", True),
    "in a function": ("def f():\n    return [token-mask](a)\n", "x = fetch(a)", True),
    "another keyword": ("[token-mask](a)\n", "fetch(a, size=3)", False),
    "one more by place": ("[token-mask](a)\n", "fetch(a, b)", False),
    "two other values": ("[token-mask](a, b)\n", "fetch(c, d)", False),
    "in another order": ("[token-mask](a, b)\n", "fetch(b, a)", False),
    "without two arguments": ("[token-mask](a, b, c)\n", "fetch(a)", False),
    "a value that visible code works out": ("[token-mask](g(1))\n", "fetch(g(2))", True),
    "a value that another function works out": ("[token-mask](a)\n", "fetch(secret(a))", False),
    "two statements": ("[token-mask](a)\n", "x = fetch(b); y = 1", False),
    "added to a variable": ("[token-mask](a)\n", "y += fetch(b)", False),
    "to a place that is worked out": ("[token-mask](a)\n", "x[secret(1)] = fetch(b)", False),
    "in another call": ("[token-mask](a)\n", "secret(fetch(a))", False),
    "of another object": ("lib.Spec(a).[token-mask](b)\n", "lib.Spec(a, pre=True).fetch(b)", False),
    "of another module": ("re.[token-mask](a)\n", "lib.fetch(a)", False),
    "more keywords at once": ("[token-mask](**a)\n", "fetch(**b, **a)", False),
    "no call": ("x = [token-mask]\n", "y = fetch", False),
    "nothing beside it": ("", "fetch(a)", False),
    "what does not parse": ("[token-mask](a) +\n", "fetch(b)", False),
}


def line(beside: str, answer: str) -> PublishedCompletionRow:
    masked_code = f"{beside}[line-mask]\n"
    row: PublishedCompletionRow = completion(
        Granularity.LINE, masked_code=masked_code, answer=answer, discriminating=True
    )
    return row


@pytest.mark.parametrize("case", CASES)
def test_what_is_visible(case: str) -> None:
    beside, answer, expected = CASES[case]
    assert has_visible_call(line(beside, answer)) == expected


@pytest.mark.parametrize(
    ("of_name", "is_refused"),
    [
        ({}, True),
        ({"discriminating": False}, False),
        ({"version": "9", "snippet_id": "another"}, True),
        ({"path": "lib.other"}, False),
        ({"core_token": "size"}, False),
    ],
)
def test_a_line_is_refused_where_a_row_asks_for_its_name(of_name: dict[str, object], is_refused: bool) -> None:
    row = line("[token-mask](1)\n", "fetch(2)")
    name = completion(Granularity.TOKEN, **{"discriminating": True, **of_name})
    left, rejects = without_visible_calls([name, row])
    assert left == ([name] if is_refused else [name, row])
    assert [(reject.key, reject.reason) for reject in rejects] == [
        (row["id"], RejectReason.NEAR_DUPLICATE)
    ] * is_refused
