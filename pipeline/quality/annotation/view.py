"""What an annotator sees of a sample: a snapshot of the lake, made once, that a page only has to show."""

from __future__ import annotations

import zlib

import msgspec

Span = tuple[int, int]


class Pane(msgspec.Struct, frozen=True):
    """A text that is shown: code, tests, or prose; `name` is what an edit calls it.

    `language` is coloured where `web/code.py` has a grammar of it; `hidden` are the spans of characters that whoever
    answers does not see.
    """

    name: str
    label: str
    text: str
    language: str
    version: str | None = None
    hidden: tuple[Span, ...] = ()
    editable: bool = False


class Choice(msgspec.Struct, frozen=True):
    """A field with a closed set of values (version, tag) that an edit may change."""

    name: str
    label: str
    value: str
    options: tuple[str, ...]


class Change(msgspec.Struct, frozen=True):
    """The change of the API behind a sample, and how it is known."""

    kind: str
    path: str
    parameter: str | None
    old: str | None
    new: str | None
    old_version: str
    new_version: str
    breaking: bool
    evidence: str
    confidence: float
    replacement: str | None


class Document(msgspec.Struct, frozen=True):
    """What the documentation of a version says of the API."""

    version: str
    path: str
    text: str
    url: str | None


class RunLog(msgspec.Struct, frozen=True):
    """One run: of what, where, how it ended, and the end of its output where it did not pass."""

    subject: str
    version: str
    outcome: str
    python: str | None
    detail: str | None


class Fact(msgspec.Struct, frozen=True):
    """Something else worth knowing, as a line."""

    label: str
    value: str


class Link(msgspec.Struct, frozen=True):
    """A place to look at; always http or https."""

    label: str
    url: str


class View(msgspec.Struct, frozen=True):
    """All that is shown of a sample; `compare` names two panes to be shown side by side as a diff."""

    title: str
    panes: tuple[Pane, ...]
    choices: tuple[Choice, ...] = ()
    compare: tuple[str, str] | None = None
    change: Change | None = None
    facts: tuple[Fact, ...] = ()
    documents: tuple[Document, ...] = ()
    runs: tuple[RunLog, ...] = ()
    links: tuple[Link, ...] = ()

    @property
    def content(self) -> dict[str, str]:
        """The fields that an edit may change, with their values."""
        fields = {pane.name: pane.text for pane in self.panes if pane.editable}
        return fields | {choice.name: choice.value for choice in self.choices}


_DECODER = msgspec.msgpack.Decoder(View)
"""Made once: two threads that meet a type for the first time end the process (msgspec 0.22)."""


def pack(view: View) -> bytes:
    """Return a view as bytes."""
    return zlib.compress(msgspec.msgpack.encode(view), 6)


def unpack(data: bytes) -> View:
    """Return the view that was packed."""
    return _DECODER.decode(zlib.decompress(data))
