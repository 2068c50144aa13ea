"""Hidden tests that say nothing of a task, since a body passes them that does nothing of it."""

from __future__ import annotations

import pytest

from pipeline.families.problems.selecting import passed_by

HEAD = "from sample import solve\n\n\n"


@pytest.mark.parametrize(
    ("asserts", "body"),
    [
        (["solve(1, 2) is True", "solve(3, 4) is True"], "return True"),
        (["solve(1) == 3", "solve(2) == 4"], None),
        (["solve('a', 1) == 'a'", "solve('b', 2) == 'b'"], "return parameter 1"),
        (["solve(1, 'a') == 'a'", "solve(2, 'b') == 'b'"], "return parameter 2"),
        (["solve('a') == 'a'", "solve('b', 2) == 'c'"], None),
        (
            ["repr(solve(1)).split() == 'inf'.split()", "repr(solve(2)).split() == 'inf'.split()"],
            "return 'inf'.split()",
        ),
        (["solve(1) == 3", "solve(2) > 3"], None),
        (["isinstance(solve(1), int)"], None),
        ([], None),
    ],
)
def test_what_passes_without_work(asserts: list[str], body: str | None) -> None:
    tests = "".join(f"def test_{n}():\n    assert {text}\n\n\n" for n, text in enumerate(asserts))
    assert passed_by(HEAD + tests) == body


def test_an_exception_that_must_be_raised_is_work() -> None:
    raising = "def test_no():\n    with pytest.raises(ValueError):\n        solve(-1)\n"
    assert passed_by(f"import pytest\n{HEAD}def test_yes():\n    assert solve(1) == 1\n\n\n{raising}") is None
