"""A file of samples is read line by line; whatever one line holds, the others are read."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from pipeline.execution.validation.samples.sample_file import LINE_BYTES, BadSample, SampleFile
from pipeline.execution.validation.samples.samples import Sample, SampleError

GOOD = {"id": "a", "library": "lib", "version": "1.0", "code": "import lib"}


def good(name: str, **changed: object) -> bytes:
    return json.dumps(GOOD | {"id": name} | changed).encode() + b"\n"


def read(path: Path, content: bytes) -> list[tuple[int, str | int | None, str]]:
    """Return line, id, and "" or what is wrong."""
    path.write_bytes(content)
    return [
        (line, found.id, found.detail if isinstance(found, BadSample) else "")
        for line, found in SampleFile(path).read()
    ]


def test_bad_lines_stop_no_others(tmp_path: Path) -> None:
    content = good("a") + b"\xff\xfe\n" + b'{"id": "b"}\n' + b"\n  \r\n" + good("c") + b'{"id": "d", "code'
    found = read(tmp_path / "samples", content)
    assert [(line, name) for line, name, _ in found] == [(1, "a"), (2, None), (3, "b"), (6, "c"), (7, "d")]
    assert [detail.split(":")[0] for _, _, detail in found] == ["", "line 2", "line 3", "", "line 7"]
    assert "write one complete object on each line" in found[-1][2]


def test_the_same_id_twice(tmp_path: Path) -> None:
    found = read(tmp_path / "samples", good("a") + good("b") + good("a", code="x") + b'{"id": "c"}\n' + good("c"))
    assert [detail for *_, detail in found if "too;" in detail] == [
        "line 3: id: 'a' stands on line 1 too; give each sample an id of its own"
    ]
    assert found[-1] == (5, "c", "")  # the line before it was none


def test_a_line_of_50_megabytes_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    with path.open("wb") as file:
        file.write(good("a") + b'{"id": "huge", "code": "')
        for _ in range(50):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n' + good("b"))
    tracemalloc.start()
    found = [(line, one.id, getattr(one, "detail", "")) for line, one in SampleFile(path).read()]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == [
        (1, "a", ""),
        (2, "huge", "line 2: 50 MiB long, more than 16 MiB; leave out what the sample does not need"),
        (3, "b", ""),
    ]
    assert peak < 4 * LINE_BYTES


def test_a_line_at_the_limit_is_read(tmp_path: Path) -> None:
    room = LINE_BYTES - len(good("a", code=""))
    path = tmp_path / "samples"
    path.write_bytes(good("a", code="x" * room) + good("b", code="x" * (room + 1)))
    assert [type(one) for _, one in SampleFile(path).read()] == [Sample, BadSample]


def test_samples_are_read_again_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    path.write_bytes(b"\n" + good("a") + b"no\n" + good("b", note=1))
    samples = SampleFile(path)
    lines = [line for line, one in samples.read() if isinstance(one, Sample)]
    assert [samples[line].id for line in lines] == ["a", "b"]
    assert samples.unknown == {"note": 1}
    (tmp_path / "other").write_bytes(good("z"))
    (tmp_path / "other").replace(path)
    assert samples[lines[1]].id == "b"


def test_somebody_writes_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    path.write_bytes(good("a"))
    with SampleFile(path) as samples:
        assert [line for line, _ in samples.read()] == [1]
        path.write_bytes(b"x" * 1000)
        with pytest.raises(SampleError):
            samples[1]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf\n"])
def test_nothing_in_it(tmp_path: Path, content: bytes) -> None:
    assert read(tmp_path / "samples", content) == []
