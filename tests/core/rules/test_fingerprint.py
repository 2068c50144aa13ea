"""What a result depends on: each difference of the rules shows in their fingerprint."""

import re

import pytest

from pipeline.core.rules.fingerprint import plain
from pipeline.core.rules.load import Rule


class Found(Rule):
    pattern: re.Pattern[str]
    names: frozenset[str] = frozenset()


def test_long_expressions_that_differ_at_their_end_do_not_look_alike() -> None:
    long = "a" * 300
    assert plain(Found(pattern=re.compile(long + "b"))) != plain(Found(pattern=re.compile(long + "c")))


@pytest.mark.parametrize("names", [{"b", "a", "c"}, {"c", "b", "a"}])
def test_a_set_has_one_order(names: set[str]) -> None:
    assert plain(Found(pattern=re.compile("x"), names=frozenset(names))) == {"pattern": "x", "names": ["a", "b", "c"]}
