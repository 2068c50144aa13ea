"""A file on a server reads like a file in memory, and asks for no more than it has to."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.index.http import Fetcher, NoRanges
from pipeline.index.ranges import RemoteFile
from pipeline.index.rules import RangeRules
from tests.errors import raises
from tests.index_server import File, Index, Reply, serve

CONTENT = bytes(range(256)) * 4
PATH = "/files/demo.bin"
RULES = RangeRules(over_bytes=0, tail_bytes=24, gap_bytes=10, at_once=3)


@pytest.fixture(scope="module")
def served() -> Iterator[Index]:
    with serve(Index()) as index:
        index.add("demo", "1.0", ("demo.bin", CONTENT), "2021-01-01T00:00:00Z")
        yield index


def remote(index: Index, max_bytes: int = 1 << 20) -> RemoteFile:
    index.asked.clear()
    return RemoteFile(Fetcher(timeout_s=5, retries=0), index.url + PATH, RULES, max_bytes)


@pytest.mark.parametrize(
    ("places", "asked"),
    [
        ([], []),
        ([(5, 5)], []),
        ([(0, 10)], ["0-9"]),
        ([(0, 10), (20, 30)], ["0-29"]),
        ([(20, 30), (0, 10)], ["0-29"]),
        ([(0, 10), (21, 30)], ["0-9", "21-29"]),
        ([(0, 30), (5, 10)], ["0-29"]),
        ([(1000, 1024)], []),
        ([(990, 1024)], ["990-999"]),
        ([(900, 5000)], ["900-999"]),
        ([(300, 310), (0, 10), (600, 610), (308, 330)], ["0-9", "300-329", "600-609"]),
    ],
)
def test_neighbours_are_one_request_and_what_is_here_is_none(
    served: Index, places: list[tuple[int, int]], asked: list[str]
) -> None:
    file = remote(served)
    file.fetch(places)
    assert sorted(wanted for _, wanted in served.asked[1:]) == sorted(f"bytes={span}" for span in asked)
    before = len(served.asked)
    for start, stop in places:
        file.seek(start)
        assert file.read(stop - start) == CONTENT[start:stop]
    assert len(served.asked) == before


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.integers(-1, 300), st.just(0)),
        st.tuples(st.just("seek"), st.integers(0, 1200), st.just(os.SEEK_SET)),
        st.tuples(st.just("seek"), st.integers(-1024, 10), st.just(os.SEEK_END)),
        st.tuples(st.just("seek"), st.integers(0, 50), st.just(os.SEEK_CUR)),
        st.tuples(st.just("fetch"), st.integers(0, 1100), st.integers(0, 1100)),
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=60)
@given(STEPS)
def test_it_reads_like_a_file_in_memory(served: Index, steps: list[tuple[str, int, int]]) -> None:
    file, memory = remote(served), io.BytesIO(CONTENT)
    for what, first, second in steps:
        if what == "read":
            assert file.read(first) == memory.read(first)
        elif what == "seek":
            assert file.seek(first, second) == memory.seek(first, second)
        else:
            file.fetch([(first, second)])
        assert file.tell() == memory.tell()


def test_a_place_before_the_file_is_refused(served: Index) -> None:
    with raises(ValueError, "before the file"):
        remote(served).seek(-1025, os.SEEK_END)


def test_more_than_the_limit_is_not_fetched(served: Index) -> None:
    file = remote(served, max_bytes=100)
    file.fetch([(0, 70)])
    with raises(NoRanges, "limit", code="no_ranges"):
        file.fetch([(100, 107)])
    assert len(served.asked) == 2


@pytest.mark.parametrize("etags", [True, False])
@pytest.mark.parametrize("content", [CONTENT + b"!", CONTENT[:-1]])
def test_a_file_that_changes_between_two_requests_is_seen(index: Index, etags: bool, content: bytes) -> None:
    index.add("demo", "1.0", ("demo.bin", CONTENT), "2021-01-01T00:00:00Z")
    index.etags = etags
    file = remote(index)
    index.projects["demo"]["1.0"] = [File("demo.bin", content, "")]
    with pytest.raises(NoRanges):
        file.fetch([(0, 10)])


def test_a_tag_that_changes_although_ranges_are_served_is_seen(index: Index) -> None:
    index.add("demo", "1.0", ("demo.bin", CONTENT), "2021-01-01T00:00:00Z")
    file = remote(index)
    index.twists = {PATH: [lambda reply: Reply(reply.status, reply.headers | {"ETag": '"new"'}, reply.body)]}
    with raises(NoRanges, "another file", code="no_ranges"):
        file.fetch([(0, 10)])
