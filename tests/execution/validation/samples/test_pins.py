"""Requirements as people write them, and which of them contradict each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.execution.validation.samples.pins import PinError, contradiction, loosened, pins_of
from tests.errors import raises


@pytest.mark.parametrize(
    ("texts", "pins"),
    [
        ([], ()),
        (["", "  \n# nothing\n"], ()),
        (["a==1 b==2"], ("a==1", "b==2")),
        (["a==1,b==2, c"], ("a==1", "b==2", "c")),
        (["a==1\nb==2\r\n"], ("a==1", "b==2")),
        (["a >= 1, < 2, b == 3"], ("a<2,>=1", "b==3")),
        (["a>=1,<2 b~=3.1"], ("a<2,>=1", "b~=3.1")),
        (["A_b.C==1"], ("a-b-c==1",)),
        (["ray[tune]==1.2"], ("ray[tune]==1.2",)),
        (["a==1; python_version < '3.8'\nb"], ('a==1; python_version < "3.8"', "b")),
        (["b", "a", "b"], ("a", "b")),
        (["a == 1.*"], ("a==1.*",)),
    ],
)
def test_requirements_in_many_forms(texts: list[str], pins: tuple[str, ...]) -> None:
    assert pins_of(texts) == pins


@pytest.mark.parametrize(
    ("text", "name", "code"),
    [
        ("a==", "a==", "pin_invalid"),
        ("=1", "=1", "pin_invalid"),
        ("--index-url x", "--index-url", "pin_invalid"),
        ("a @ https://example.test/a.whl", "https://example.test/a.whl", "pin_from_address"),
        ("a==1; nonsense", "a==1", "pin_invalid"),
        ("./a.whl", "./a.whl", "pin_invalid"),
    ],
)
def test_what_is_no_requirement(text: str, name: str, code: str) -> None:
    with raises(PinError, name, code=code):
        pins_of([text])


_NAMES = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
_BOUNDS = st.sampled_from(["", "==1.2", ">=1,<2", "~=1.4", "!=3", "<5"])


@given(st.lists(st.tuples(_NAMES, _BOUNDS)), st.sampled_from([" ", ",", ", ", "\n"]))
def test_however_they_are_parted_they_are_the_same(pins: list[tuple[str, str]], between: str) -> None:
    written = [name + bound for name, bound in pins]
    found = pins_of(written)
    assert pins_of([between.join(written)]) == found
    assert pins_of(found) == found


@pytest.mark.parametrize(
    ("pins", "clash"),
    [
        (["b==1"], None),
        (["lib==1.0.0"], None),
        (["lib>=1"], None),
        (["lib<1"], "lib==1.0 and lib<1"),
        (["b==1", "b==2"], "b==1 and b==2"),
        (["b==1", "b>=2"], "b==1 and b>=2"),
        (["b==1.*", "b==1.5"], None),
        (["b>=2", "b<1"], None),
        (["b==1; python_version < '3'", "b==2"], None),
    ],
)
def test_contradictions(pins: list[str], clash: str | None) -> None:
    assert contradiction("lib", "1.0", pins) == clash


def test_exact_pins_are_loosened_and_ranges_stay() -> None:
    assert loosened(["a==1", "b>=2,<3", "c[x]==1", "d==1.*"]) == ("a", "b<3,>=2", "c[x]", "d==1.*")
