from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.environments.resolver import telling


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (
            "warning: noise\nerror: No solution found\n  cause: because lib==1 has no usable wheels\n\nhint: try",
            "error: No solution found\ncause: because lib==1 has no usable wheels",
        ),
        ("Failed to fetch: http://127.0.0.1:4321/simple/lib/", "Failed to fetch: …"),
        ("Request failed after 3 retries in 7.4s", "Request failed after 3 retries"),
        ('File "/srv/data/env/lib/lib.py", line 2', 'File "lib.py", line 2'),
        ("at `/cache/uv/x.whl`", "at `x.whl`"),
        ("a/b and 1/2 stay", "a/b and 1/2 stay"),
        ("from SECRET-INDEX", "from …"),
    ],
)
def test_telling(log: str, expected: str) -> None:
    assert telling(log, ["SECRET-INDEX"]) == expected


@given(st.text(max_size=2000))
def test_telling_is_short_and_has_no_address(log: str) -> None:
    said = telling(log + "\nhttps://user:password@example.org/simple")
    assert len(said) <= 800
    assert "password" not in said
