"""Answers in Markdown code blocks: what of them is code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.families import Family
from pipeline.evaluation.scores.fragments import extracted, unfenced
from pipeline.evaluation.scores.tally import as_answer

DOCUMENTED = 'def f():\n    """Show.\n\n```\nx\n```\n"""\n'


@pytest.mark.parametrize(
    ("sample", "code"),
    [
        ("x = 1\n", "x = 1\n"),
        ("```python\nx = 1\n```", "x = 1\n"),
        ("```python\r\nx = 1\r\n```\r\n", "x = 1\n"),
        ("```\n    return x\n```\n", "    return x\n"),
        ("First we think.\n```py\ny\n```\nSo:\n\n```Python\nx = 1\n```\nThat is all.\n", "x = 1\n"),
        ("```python\nx = 1\ny = ", "x = 1\ny = "),  # cut off
        ("```python\n```", ""),
        (DOCUMENTED, DOCUMENTED),
        (f"```python\n{DOCUMENTED.replace('```', '    ```')}```\n", DOCUMENTED.replace("```", "    ```")),
        ("the name is ```load```", "the name is ```load```"),
        ("```", "```"),
    ],
)
def test_what_is_code(sample: str, code: str) -> None:
    assert unfenced(sample) == code


def test_at_a_cursor_a_fence_may_be_what_is_missing() -> None:
    sample = "```\nx = 1\n```"
    assert as_answer(Family.SCENE, None, sample) == sample != as_answer(Family.PROBLEM, None, sample)


@pytest.mark.parametrize(
    ("sample", "code"),
    [
        ("load", "load"),
        ("`load`", "load"),
        (" **load**\n", "load"),
        ("**`load`**", "load"),
        ("`**load**`", "load"),
        ("```python\nload\n```", "load"),
        ("`load` or `save`", "load` or `save"),
        ("the name is `load`", "the name is `load`"),
        ("**", "**"),
    ],
)
def test_a_token_may_stand_in_inline_code_or_bold(sample: str, code: str) -> None:
    assert extracted(sample, "token") == code
    assert extracted("`load`", "line") == "`load`"


@given(st.text(alphabet="`\n x=1py", max_size=60))
def test_code_in_a_block_is_that_code(text: str) -> None:
    plain = text.replace("`", "")
    assert unfenced(f"Here it is:\n```python\n{plain}\n```\n") == f"{plain}\n"
