from __future__ import annotations

import os
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.execution.sandbox.environment import bare_environment
from pipeline.execution.validation.details import LENGTH, clean

BARE = bare_environment()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("plain", "plain"),
        ("\x1b[1;31mred\x1b[0m \x1b]8;;x\x07link", "red link"),
        ("a\x00b\rc\td\ne", "abc\td\ne"),
        ("<A object at 0x7f12ab34cd56>", "<A object at 0x…>"),
        ("0xff stays", "0xff stays"),
        ("'/tmp/tmpab12/x.txt' and /dev/shm/y", "'scratch' and scratch"),
        (f"{BARE.folders[0]}/lib/python/json.py", "python/lib/python/json.py"),
        (f"{BARE.site_packages}/lib.py", "site-packages/lib.py"),
        (f"{os.path.relpath(BARE.site_packages, '/tmp')}/lib.py:3: x", "site-packages/lib.py:3: x"),
        ("/tmp/solution.py:3: in f, /tmp/tmpx1.py", "solution.py:3: in f, scratch"),
        ("x" * 600, "…" + "x" * 499),
    ],
)
def test_clean(message: str, expected: str) -> None:
    assert clean(message, BARE) == expected


@given(st.text(st.characters(), max_size=1500))
def test_whatever_a_program_says_fits_into_a_table(message: str) -> None:
    said = clean(message, BARE)
    assert len(said) <= LENGTH
    assert not [c for c in said if unicodedata.category(c) == "Cc" and c not in "\n\t"]
    said.encode()
