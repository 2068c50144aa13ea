"""Names that become paths: those of a snapshot, a lake or a record are strangers', and are looked at before."""

from __future__ import annotations

import re

from pipeline.core.errors import CodedError

LONGEST_NAME = 200
"""Bytes of a name that leave room for what is put before and behind it; file systems allow 255."""

LONGEST_PATH = 1024

_LONGEST_PART = 255

_NAME = re.compile(r"[^/\\\x00-\x1f\x7f]+")


class UnsafeName(CodedError, ValueError):
    """A name would lead out of the folder that it is to be in; the message shows it, and says what it is of."""


def plain_name(text: str, kind: str) -> str:
    """Return a name that can be a part of one file name: no separator, no control character, not too long.

    Errors: UnsafeName.
    """
    if not _NAME.fullmatch(text) or text in {".", ".."} or len(text.encode(errors="replace")) > LONGEST_NAME:
        raise UnsafeName(f"{text[:LONGEST_NAME]!r} is no name of {kind}", code="unsafe_name")
    return text


def inner_path(text: str, kind: str) -> str:
    """Return a relative path with `/` between its parts, none of which leads upwards.

    Errors: UnsafeName.
    """
    parts = text.split("/")
    fits = len(text.encode(errors="replace")) <= LONGEST_PATH
    if not fits or ".." in parts or not all(_NAME.fullmatch(part) and _fits(part) for part in parts):
        raise UnsafeName(f"{text[:LONGEST_NAME]!r} is no path of {kind}", code="unsafe_path")
    return text


def _fits(part: str) -> bool:
    return len(part.encode(errors="replace")) <= _LONGEST_PART
