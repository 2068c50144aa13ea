"""Rows of the dump: what is written is read again, whatever it is."""

from __future__ import annotations

import html
import io
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from pipeline.corpus.stack_overflow.dump import Numbers, dump_fingerprint
from pipeline.corpus.stack_overflow.posts import Post
from pipeline.corpus.stack_overflow.rows import BadRow, attribute, lines_of, read_post, tags_of, without, written_text
from tests.corpus.stack_overflow.builders import POSTS, day
from tests.corpus.stack_overflow.site import Written, write_dump
from tests.errors import raises

TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="￾￿")
    | st.sampled_from("\n\t\"'<>&|")
)
TIMES = st.datetimes(datetime(2008, 7, 31), datetime(2030, 1, 1), timezones=st.just(UTC)).map(
    lambda t: t.replace(microsecond=0)
)


@given(
    st.builds(
        Written,
        id=st.integers(1, 1 << 40),
        markdown=st.just(""),
        html=TEXT,
        created=TIMES,
        parent=st.none() | st.integers(1, 1 << 40),
        title=TEXT,
        tags=st.lists(st.from_regex(r"[a-z0-9.#+-]+", fullmatch=True), min_size=1, max_size=5).map(tuple),
        score=st.integers(-99, 99_999),
        author_id=st.none() | st.integers(1, 1 << 40),
        author=TEXT.filter(str.strip),
        edited=st.none() | TIMES,
        licence=st.none() | st.sampled_from(["CC BY-SA 2.5", "CC BY-SA 4.0"]),
        accepted=st.none() | st.integers(1, 1 << 40),
    ),
    st.booleans(),
)
def test_written_posts_are_read(tmp_path_factory: pytest.TempPathFactory, post: Written, old_tags: bool) -> None:
    asks = post.parent is None
    dump = write_dump(tmp_path_factory.mktemp("dump"), [post], users=False, old_tags=old_tags)
    ((_, line),) = lines_of(io.BytesIO(dump.read_bytes()), 1 << 20)
    assert isinstance(line, bytes)
    if asks:
        assert [tag.decode() for tag in tags_of(line)] == list(post.tags)
        assert html.unescape(written_text(line, b"Title")) == post.title
    assert read_post(line) == Post(
        id=post.id,
        question=post.id if post.parent is None else post.parent,
        body=post.html,
        score=post.score,
        created=post.created,
        edited=post.edited,
        author=None if post.author_id else post.author,
        author_id=post.author_id,
        licence=post.licence,
        title=post.title if asks else "",
        tags=post.tags if asks else (),
        accepted_answer=post.accepted if asks else None,
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"<row />", "dump_attribute_missing"),
        (b'<row Id="x" />', "dump_value_invalid"),
        (b'<row Id="1" PostTypeId="2" Body="" />', "dump_attribute_missing"),
        (b'<row Id="1" PostTypeId="1" Body="" CreationDate="yesterday" />', "dump_value_invalid"),
        (b'<row Id="1" PostTypeId="1"', "dump_not_xml"),
        (b'<row Id="1" Id="2" />', "dump_not_xml"),
        (b'<row Id="1" Body="&nbsp;" />', "dump_not_xml"),
    ],
)
def test_an_unreadable_row_is_an_error_with_its_reason(line: bytes, code: str) -> None:
    with raises(BadRow, code=code):
        read_post(line)


def test_attributes_are_not_looked_for_inside_texts() -> None:
    line = b'<row Id="1" PostTypeId="2" Body="a Tags=&quot;x&quot; PostTypeId=&quot;1&quot;" Tags="|b|" />'
    assert attribute(line, b"Tags") == b"|b|"
    assert attribute(line, b"PostTypeId", in_head=True) == b"2"
    assert attribute(line, b"Title") is None


@pytest.mark.parametrize("body", [b"&lt;p&gt;", b"1", b"|b|"])
def test_a_row_without_its_text_is_the_same_otherwise(body: bytes) -> None:
    head = b'<row Id="1" PostTypeId="1" CreationDate="2021-01-01T00:00:00.000"'
    line = head + b' Body="' + body + b'" Title="=&quot;" Tags="|b|" />'
    assert read_post(without(line, b"Body")) == structs.replace(read_post(line), body="")
    assert without(line, b"Missing") == line


def test_long_lines_are_skipped_and_the_next_is_read() -> None:
    content = b'<posts>\n<row Id="1" />\n' + b"x" * 500 + b'\n<row Id="2" />\n</posts>'
    lines = list(lines_of(io.BytesIO(content), 100))
    assert [(number, line if isinstance(line, bytes) else type(line).__name__) for number, line in lines] == [
        (2, b'<row Id="1" />\n'),
        (3, "RowTooLong"),
        (4, b'<row Id="2" />\n'),
    ]


@given(st.sets(st.integers(0, 1 << 22)), st.sets(st.integers(0, 1 << 22)))
def test_numbers_are_a_set(some: set[int], others: set[int]) -> None:
    numbers = Numbers(some)
    assert [number in numbers for number in sorted(some | others)] == [n in some for n in sorted(some | others)]


def test_another_dump_has_another_fingerprint(tmp_path: Path) -> None:
    path = write_dump(tmp_path, POSTS)
    first = dump_fingerprint(path)
    assert dump_fingerprint(path) == first
    write_dump(tmp_path, [replace(POSTS[0], score=4), *POSTS[1:]])
    assert dump_fingerprint(path) != first


@pytest.mark.parametrize(
    ("created", "licence", "version"),
    [
        (datetime(2011, 4, 7, 23, 59, 59, tzinfo=UTC), None, "2.5"),
        (datetime(2011, 4, 8, tzinfo=UTC), None, "3.0"),
        (datetime(2018, 5, 1, 23, 59, 59, tzinfo=UTC), None, "3.0"),
        (datetime(2018, 5, 2, tzinfo=UTC), None, "4.0"),
        (day(2010), "CC BY-SA 4.0", "4.0"),
        (day(2010), "something else", "2.5"),
    ],
)
def test_the_licence_is_the_declared_one_or_by_date(created: datetime, licence: str | None, version: str) -> None:
    post = Post(id=2, question=1, body="", score=0, created=created, licence=licence, author="Ada", author_id=8)
    assert post.spdx == f"CC-BY-SA-{version}"
    assert f"CC BY-SA {version} (https://creativecommons.org/licenses/by-sa/{version}/)" in post.attribution("T")
