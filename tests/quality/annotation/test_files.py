"""Files of reviews: whole ways out and in, and what cannot be read is told with its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.core.vocabularies.annotation import ReviewFormat
from pipeline.core.vocabularies.review import FlagKind
from pipeline.quality.annotation.exchange import Line, export_lines, write_line
from pipeline.quality.annotation.files import BadFile, read_file, write_file
from pipeline.quality.annotation.queue import Filter
from tests.errors import raises
from tests.quality.annotation.rows import filled, sample, store_in


@pytest.mark.parametrize("form", ReviewFormat)
def test_a_file_holds_what_was_exported(tmp_path: Path, form: ReviewFormat) -> None:
    store, _ = store_in(tmp_path)
    filled(store, (sample(n, FlagKind.AUDIT, *([FlagKind.FLAKY] if n == 2 else [])) for n in range(3)))
    lines = list(export_lines(store, Filter()))
    file = tmp_path / "reviews"
    assert write_file(file, lines, form) == 3
    bad: list[str] = []
    assert list(read_file(file, form, bad)) == lines
    assert bad == []
    assert (tmp_path / "reviews.xml").is_file() == (form == ReviewFormat.LABEL_STUDIO)
    assert [line.id for line in export_lines(store, Filter(flag=FlagKind.FLAKY))] == ["id2"]
    with pytest.raises(FileExistsError):
        write_file(file, lines, form)


@pytest.mark.parametrize("form", ReviewFormat)
def test_an_export_that_breaks_off_leaves_no_file(tmp_path: Path, form: ReviewFormat) -> None:
    store, _ = store_in(tmp_path)
    filled(store, [sample(0)])

    def broken() -> Iterator[Line]:
        yield from export_lines(store, Filter())
        raise OSError("no space left on device")

    with raises(OSError, "no space"):
        write_file(tmp_path / "reviews.out", broken(), form)
    assert not list(tmp_path.glob("*reviews.out*"))


def test_no_file_of_anybody_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "reviews.xml").write_text("mine")
    with raises(FileExistsError, "reviews.xml"):
        write_file(tmp_path / "reviews", [], ReviewFormat.LABEL_STUDIO)
    assert not (tmp_path / "reviews").exists()


def test_malformed_lines_are_errors_and_the_others_are_read(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    filled(store, [sample(0)])
    (line,) = export_lines(store, Filter())
    file = tmp_path / "reviews.jsonl"
    file.write_bytes(b"\n".join([b"{", write_line(line), b"", b'{"id": 3}']))
    bad: list[str] = []
    assert list(read_file(file, ReviewFormat.JSONL, bad)) == [line]
    assert [problem.partition(":")[0] for problem in bad] == ["line 1", "line 4"]
    file.write_text(json.dumps([{"data": {}}]))
    bad.clear()
    assert list(read_file(file, ReviewFormat.LABEL_STUDIO, bad)) == []
    assert bad[0].startswith("task 1: not a task that")


@pytest.mark.parametrize("text", ["{", "{}", "[" * 100_000, "\ufeff", "[NaN]", r'["\ud800"]'])
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tasks.json"
    file.write_text(text)
    with raises(BadFile, "JSON"):
        list(read_file(file, ReviewFormat.LABEL_STUDIO, []))
