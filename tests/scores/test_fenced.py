"""The code of answers in code blocks."""

from __future__ import annotations

import pytest

from pipeline.scores.fenced import code_of

START = "import re\n\n\ndef solve(text):\n"
WHOLE = "import re\n\n\ndef solve(text):\n    return text\n"
BODY = "    return text\n"

ANSWERS = {
    "a body as it stands": (BODY, BODY),
    "a program as it stands": (WHOLE, WHOLE),
    "a block as GitChameleon asks for it": (f"```python\n{WHOLE}```", WHOLE),
    "a block with a body": (f"```\n{BODY}```\n", BODY),
    "thoughts before it": (f"Let me think: `solve` is\n```text\na sketch\n```\nSo:\n\n```python\n{WHOLE}```\n", WHOLE),
    "cut off before its end": (f"```python\n{WHOLE}", WHOLE),
    "another fence": (f"~~~~ python\n{WHOLE}~~~\n~~~~\n", f"{WHOLE}~~~\n"),
    "line ends of another system": (f"```python\r\n{WHOLE}```\r\n".replace("\n", "\r\n").replace("\r\r", "\r"), WHOLE),
    "a fence within a string": (f'    """\n    ```\n    a\n    ```\n    """\n{BODY}', None),
    "no program and no block": ("I cannot do that.", None),
    "an empty block": ("```python\n```", None),
    "nothing": ("", None),
    "code between backticks": ("```solve``` does it.", None),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_the_code_of_an_answer(case: str) -> None:
    answer, code = ANSWERS[case]
    assert code_of(START, answer) == (answer if code is None else code)
