"""Which files of a tree use a library: by what they import, not by what they mention."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.pins.matrix import Published
from pipeline.corpus.python_files import (
    PythonFileRules,
    Target,
    dated,
    import_line,
    imports,
    pins_of,
    using,
)
from pipeline.corpus.source_text import source_text
from pipeline.lake.stage import Reject
from tests.corpus.github.conftest import day

TARGET = Target(
    "pillow",
    ({"version": "9.0.0", "release_time": day("2022-01-02"), "requires_python": None, "import_names": ["PIL"]},),
    [Published("9.0.0", day("2022-01-02"), None)],
)


@pytest.fixture(scope="module")
def rules() -> PythonFileRules:
    return load(RULES / "python_files.yaml", PythonFileRules)


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("import PIL", True),
        ("import PIL.Image as I", True),
        ("import os, PIL", True),
        ("import os, \\\n  PIL", True),
        ("from PIL import Image", True),
        ("def f():\n    from PIL.Image import open", True),
        ("try:\n    import PIL\nexcept ImportError:\n    pass", True),
        ("print 'python 2'\nimport PIL", True),
        ("if x:\n    import PIL\n  broken(", True),
        ("import pilkit  # PIL", False),
        ("# import PIL", False),
        ('"""\nimport PIL\n"""', False),
        ("from . import PIL", False),
        ("from .PIL import x", False),
        ("from pil import PIL", False),
        ("import x.PIL", False),
        ("importPIL = PIL", False),
    ],
)
def test_imports_of_a_library(text: str, uses: bool) -> None:
    assert imports(text, {"PIL"}) is uses
    # The cheap look misses none of them.
    assert not uses or import_line(frozenset({"PIL"})).search(text.encode())


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"x = 1\r\ny = 2\rz\n", "x = 1\ny = 2\nz\n"),
        ("s = 'é'".encode(), "s = 'é'"),
        (b"\xef\xbb\xbfx = 1", "x = 1"),
        (b"# -*- coding: latin-1 -*-\ns = '\xe9'", "# -*- coding: latin-1 -*-\ns = 'é'"),
        (b"s = '\xe9'", None),
        (b"# coding: no-such\n", None),
        (b"# coding: rot13\n", None),
        (b"x\0y", None),
    ],
)
def test_text_is_read_in_the_encoding_that_it_states(content: bytes, text: str | None) -> None:
    assert source_text(content) == text


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_are_not(content: bytes) -> None:
    text = source_text(content)
    assert text is None or ("\r" not in text and "\0" not in text)


def test_a_tree(rules: PythonFileRules) -> None:
    use = b"from PIL import Image\n"
    files = {
        "src/app/main.py": use,
        "tests/test_main.py": use,
        "PIL/own.py": use,
        "src/PIL/own.py": use,
        "old/app.py": use,
        "big.py": use + b"#" * 300_000,
        "odd.py": use + b"\xff",
        "other.py": b"x = 'PIL'\n",
        "notes.txt": use,
        "requirements.txt": b"pillow==9.0.0\n",
        "old/requirements.txt": b"pillow==3.0.0\n",
        "tests/requirements.txt": b"pillow==1.0.0\n",
    }
    read = using(files, TARGET, rules)
    assert {path: one.reason for path, one in read.items() if isinstance(one, Reject)} == {
        "PIL/own.py": RejectReason.OUT_OF_SCOPE,
        "src/PIL/own.py": RejectReason.OUT_OF_SCOPE,
        "tests/test_main.py": RejectReason.OUT_OF_SCOPE,
        "big.py": RejectReason.TOO_LARGE,
        "odd.py": RejectReason.UNREADABLE,
    }
    texts = [path for path, one in read.items() if isinstance(one, str)]
    assert texts == ["old/app.py", "src/app/main.py"]
    known = dated(texts, pins_of(files, rules), TARGET, day("2022-06-01"))
    versions = {path: one.reason if isinstance(one, Reject) else one.version for path, one in known.items()}
    assert versions == {"old/app.py": RejectReason.VERSION_NOT_COVERED, "src/app/main.py": "9.0.0"}


def test_a_library_without_modules_is_used_by_nobody(rules: PythonFileRules) -> None:
    assert using({"a.py": b"import PIL\n"}, Target("pillow", (), []), rules) == {}
