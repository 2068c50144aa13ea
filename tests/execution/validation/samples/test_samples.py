"""What a line of samples may say, and what is said of a line that is none."""

from __future__ import annotations

import gc
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.execution.validation.samples.samples import FIELDS, SampleError, id_in, read_sample

GOOD = {"id": "a", "library": "numpy", "version": "1.21.6", "code": "import numpy"}


def line(**changed: Any) -> bytes:
    return json.dumps({name: value for name, value in (GOOD | changed).items() if value is not ...}).encode()


@pytest.mark.parametrize(
    ("changed", "field", "value"),
    [
        ({"id": 7}, "id", 7),
        ({"library": " Scikit_Learn "}, "library", "scikit-learn"),
        ({"version": "v1.2"}, "version", "1.2"),
        ({"version": "1.2.0"}, "version", "1.2.0"),
        ({"version": "1.0.0-RC1"}, "version", "1.0.0rc1"),
        ({"python": "3.7.4"}, "python", "3.7"),
        ({"python": 3.7}, "python", "3.7"),
        ({"python": 3.11}, "python", "3.11"),
        ({"python": "3.10"}, "python", "3.10"),
        ({"python": None}, "python", None),
        ({"python": " "}, "python", None),
        ({"extra_dependencies": None}, "extra_dependencies", ()),
        ({"extra_dependencies": "SciPy == 1.7.3"}, "extra_dependencies", ("scipy==1.7.3",)),
        ({"extra_dependencies": ["b", "a==1", "b"]}, "extra_dependencies", ("a==1", "b")),
        ({"test": " \n"}, "test", None),
        ({"test_file": "def test(): pass", "module": "pkg.solution"}, "module", "pkg.solution"),
        ({"timeout_s": 5}, "timeout_s", 5.0),
        ({"code": "π = '🐍'"}, "code", "π = '🐍'"),
    ],
)
def test_what_a_sample_says(changed: dict[str, Any], field: str, value: Any) -> None:
    sample, unknown = read_sample(line(**changed))
    assert getattr(sample, field) == value
    assert unknown == ()


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"id": ...}, "id: missing; give a text of its own"),
        ({"id": ""}, "id: is empty"),
        ({"id": True}, "id: is empty or no text"),
        ({"library": ...}, "library: missing; give the name of a distribution"),
        ({"library": "a b"}, "library: 'a b' is not a name that a package index can have"),
        ({"version": ...}, 'version: missing; give the release to run in, in quotes, such as "1.21.6"'),
        ({"version": None}, "version: null does not fit"),
        ({"version": 1.2}, "version: 1.2 is a number, which may have been 1.2 or 1.20"),
        ({"version": "latest"}, "version: 'latest' is not a version by PEP 440"),
        ({"version": "==1.2"}, "version: '==1.2' is not a version"),
        ({"python": 3.1}, "python: 3.1 is what remains of 3.10 when it is read as a number"),
        ({"python": 3}, "python: 3 does not fit"),
        ({"python": "2.7"}, "python: '2.7' is not a Python X.Y from 3.0 on"),
        ({"python": ">=3.7"}, "python: '>=3.7' is not"),
        ({"extra_dependencies": ["-r requirements.txt"]}, "'-r' is no requirement"),
        ({"extra_dependencies": [1]}, "extra_dependencies: is neither a list of texts nor a text"),
        ({"extra_dependencies": {"a": "1"}}, "extra_dependencies: is neither"),
        ({"extra_dependencies": "a @ file:///tmp/a"}, "only what the package index has can be pinned"),
        ({"extra_dependencies": ["a==1", "a==2"]}, "extra_dependencies: a==1 and a==2 contradict each other"),
        ({"extra_dependencies": ["numpy==1.22"]}, "numpy==1.21.6 and numpy==1.22 contradict each other"),
        ({"code": ...}, "code: missing; give the program to run"),
        ({"code": ""}, "code: empty"),
        ({"code": ["x"]}, "code: ['x'] does not fit"),
        ({"code": "a\0b"}, "code: a null byte, character 2, which no Python source can hold"),
        ({"code": "\ud800"}, "code: half of a surrogate pair"),
        ({"test": "\0"}, "test: a null byte"),
        ({"test_file": "def test(): pass"}, "module: missing, and test_file has to import the code"),
        ({"test_file": "x", "module": "a-b"}, "module: 'a-b' is not a name that can be imported"),
        ({"test_file": "x", "module": "class"}, "module: 'class' is not a name"),
        ({"timeout_s": 0}, "timeout_s: 0.0 does not fit; give seconds, more than 0 and at most an hour"),
        ({"timeout_s": 1e9}, "timeout_s: 1000000000.0 does not fit"),
        ({"timeout_s": "5"}, "timeout_s: '5' does not fit"),
    ],
)
def test_what_is_wrong_with_a_field(changed: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SampleError) as caught:
        read_sample(line(**changed))
    assert complaint in str(caught.value)
    assert caught.value.of == ("a" if "id" not in changed else changed["id"] if changed["id"] == "" else None)


def test_every_problem_of_a_line_is_told() -> None:
    with pytest.raises(SampleError) as caught:
        read_sample(b'{"id": "a", "python": "x"}')
    assert [part.split(":")[0] for part in str(caught.value).split("; ") if ":" in part] == [
        "library",
        "version",
        "python",
        "code",
    ]


@pytest.mark.parametrize(
    ("raw", "complaint", "of"),
    [
        (b"[1]", "a JSON list, not an object", None),
        (b"{'id': 1}", "not JSON", None),
        (b'{"id": "a", "code": "x', "not JSON (Unterminated string", "a"),
        (b'{"id": "a", "code": "\xff"}', "not UTF-8 (byte 0xff at column 22); save the file as UTF-8", "a"),
        ('{"id": "a"}'.encode("utf-16"), "not UTF-8", None),
        (b'{"id": "a", "code": "x\0y"}', "a null byte at column 23", "a"),
        (b'{"id": "a", "id": "b"}', "id: given twice; keep one of them", "a"),
        (b'{"id": "a", "code": ' + b"[" * 200_000, "nested too deeply", "a"),
        (b'{"id": "a", "timeout_s": ' + b"9" * 5000 + b"}", "not JSON", "a"),
    ],
)
def test_what_is_no_sample_at_all(raw: bytes, complaint: str, of: str | None) -> None:
    # Where the stack is full, a finalizer of an earlier test's object would fail, and pytest would blame this test.
    gc.disable()
    try:
        with pytest.raises(SampleError) as caught:
            read_sample(raw)
    finally:
        gc.enable()
    assert complaint in str(caught.value)
    assert caught.value.of == of


def test_fields_of_others_are_told_and_left_aside() -> None:
    sample, unknown = read_sample(line(solution="x", notes=[1]))
    assert unknown == ("notes", "solution")
    assert set(sample.model_dump()) == set(FIELDS)


def test_a_byte_order_mark_and_an_end_of_line_of_windows() -> None:
    assert read_sample(b"\xef\xbb\xbf" + line() + b"\r\n")[0].id == "a"


@given(st.binary(max_size=200) | st.binary(max_size=80).map(lambda rest: b'{"id": "a", ' + rest))
def test_any_bytes_are_a_sample_or_an_error(raw: bytes) -> None:
    with suppress(SampleError):
        read_sample(raw)
    assert id_in(raw) is None or isinstance(id_in(raw), str)


_JSON = st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists, max_leaves=3)


@given(st.dictionaries(st.sampled_from(FIELDS), _JSON))
def test_any_values_are_a_sample_or_an_error(fields: dict[str, Any]) -> None:
    raw = json.dumps(GOOD | fields).encode()
    with suppress(SampleError):
        sample, _ = read_sample(raw)
        assert read_sample(sample.model_dump_json().encode())[0] == sample
