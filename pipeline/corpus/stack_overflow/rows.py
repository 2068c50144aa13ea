"""The rows of the official data dump: one a line, told apart by bytes before they are parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import BinaryIO
from xml.etree import ElementTree

from pipeline.core.errors import CodedError
from pipeline.corpus.stack_overflow.posts import Post

QUESTION, ANSWER = b"1", b"2"
"""Kinds of posts that are read; others are wiki pages and elections."""

_HEAD_BYTES = 120
_TAG_ENDS = re.compile(rb"&[lg]t;|\|")
_TAG = re.compile(r"[^<>|]+")
_NO_CHARACTER = re.compile(
    rb"&#(?:x0*(?:[0-8BCEFbcef]|1[0-9A-Fa-f]|[dD][89A-Fa-f]..|[fF]{3}[EFef])|0*(?:[0-8]|1[124-9]|2\d|3[01]));"
)


class BadRow(CodedError, ValueError):
    """A row of the dump that cannot be read."""


class Truncated(BadRow):
    """The file ends before its list of rows does."""

    code = "dump_cut_off"


class RowTooLong(BadRow):
    """A line that is longer than a post can be."""

    code = "dump_row_too_long"


def lines_of(file: BinaryIO, max_bytes: int) -> Iterator[tuple[int, bytes | BadRow]]:
    """Yield the number and the bytes of each row; a line without end, and a file that breaks off, are errors."""
    last = b""
    number = 0
    while line := file.readline(max_bytes):
        number += 1
        if len(line) == max_bytes and not line.endswith(b"\n"):
            yield number, RowTooLong(f"more than {max_bytes} bytes in a line, where the dump has one post each")
            while (rest := file.readline(max_bytes)) and not rest.endswith(b"\n"):
                pass
        elif line.lstrip().startswith(b"<row "):
            yield number, line
        last = line
    if not last.rstrip().startswith(b"</"):
        yield number, Truncated("the file ends in the middle: it was not unpacked or fetched whole")


def attribute(line: bytes, name: bytes, *, in_head: bool = False) -> bytes | None:
    """Return an attribute of a row as it is written; those of the head come before any text.

    Quotes in texts are escaped, so that nothing inside them looks like an attribute.
    """
    mark = b" " + name + b'="'
    start = line.find(mark, 0, _HEAD_BYTES) if in_head else line.rfind(mark)
    if start < 0 and in_head:
        start = line.find(mark)
    if start < 0:
        return None
    start += len(mark)
    return line[start : line.find(b'"', start)]


def number_of(line: bytes, name: bytes) -> int:
    """Return a number that stands in the head of a row, 0 where there is none."""
    value = attribute(line, name, in_head=True)
    return int(value) if value and value.isdigit() else 0


def tags_of(line: bytes) -> list[bytes]:
    """Return the tags of a question; dumps wrote them as <a><b>, and write them as |a|b| since 2024."""
    return [tag for tag in _TAG_ENDS.split(attribute(line, b"Tags") or b"") if tag]


def written_text(line: bytes, name: bytes) -> str:
    """Return a text of a row, escaped as it is written; nothing where there is none."""
    return (attribute(line, name) or b"").decode("utf-8", "replace")


def without(line: bytes, name: bytes) -> bytes:
    """Return a row with an attribute emptied."""
    mark = b" " + name + b'="'
    value = attribute(line, name)
    return line.replace(mark + value + b'"', mark + b'"', 1) if value else line


def read_post(line: bytes) -> Post:
    """Return the question or answer of a row.

    Errors: BadRow with what is wrong.
    """
    row = _parsed(line)
    try:
        number = int(row["Id"])
        return Post(
            id=number,
            question=int(row["ParentId"]) if row["PostTypeId"] == ANSWER.decode() else number,
            body=row.get("Body", ""),
            score=int(row.get("Score", 0)),
            created=_time(row["CreationDate"]),
            edited=_time(row["LastEditDate"]) if "LastEditDate" in row else None,
            author=row.get("OwnerDisplayName") or None,
            author_id=_positive(row.get("OwnerUserId")),
            licence=row.get("ContentLicense"),
            title=row.get("Title", ""),
            tags=tuple(_TAG.findall(row.get("Tags", ""))),
            accepted_answer=_positive(row.get("AcceptedAnswerId")),
        )
    except KeyError as error:
        raise BadRow(f"has no attribute {error.args[0]}", code="dump_attribute_missing") from None
    except ValueError as error:
        raise BadRow(str(error), code="dump_value_invalid") from None


def read_author(line: bytes) -> str:
    """Return the name of a row of Users.xml.

    Errors: BadRow.
    """
    name = _parsed(line).get("DisplayName")
    if not name:
        raise BadRow("has no attribute DisplayName", code="dump_attribute_missing")
    return name


def _parsed(line: bytes) -> dict[str, str]:
    try:
        return _attributes(line)
    except ElementTree.ParseError:
        # The dump escapes characters that XML does not have (U+0008); they are dropped.
        try:
            return _attributes(_NO_CHARACTER.sub(b"", line))
        except ElementTree.ParseError as error:
            raise BadRow(f"no well-formed XML: {error}", code="dump_not_xml") from None


def _attributes(line: bytes) -> dict[str, str]:
    return ElementTree.fromstring(line).attrib  # noqa: S314 - a line that begins with <row has no document type


def _time(text: str) -> datetime:
    """Return a time of the dump, which is UTC, to the second, as the API gives it."""
    return datetime.fromisoformat(text).replace(microsecond=0, tzinfo=UTC)


def _positive(text: str | None) -> int | None:
    """Return the number of a post or user; users below 1 are the site itself."""
    number = int(text or 0)
    return number if number > 0 else None
