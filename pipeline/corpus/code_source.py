"""What a source of real code hands over: a piece of code of others, and how the library's version is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pipeline.core.vocabularies.samples import Language, SnippetSource, VersionEvidence
from pipeline.index.release_selection import Period
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject


@dataclass(frozen=True, slots=True)
class CodeSample:
    """A file, or a block of a post or page, that may use a library; a row of `code_samples`, whose schema says more.

    `version` is spelled as the index does. `origin` is whose work it is, for rules such as one example of an API from
    each: `pypi:NAME`, `github:OWNER/NAME`, `stack_overflow:QUESTION`, `documentation:PROJECT`. `place` is exact: a
    package URL, a commit, an answer, a page.
    """

    source: SnippetSource
    library: str
    version: str
    version_evidence: VersionEvidence
    version_statement: str
    origin: str
    place: str
    url: str
    file: str
    line: int
    text: str
    language: Language
    created_time: datetime
    licence: str | None
    attribution: str | None
    title: str | None
    score: int | None = None
    accepted: bool | None = None


class CodeSource(Protocol):
    """A source of real code: a plug of the `gather` stage."""

    @property
    def name(self) -> SnippetSource:
        """The source that its code is said to be of."""
        ...

    def unavailable(self) -> str | None:
        """Return why this source cannot be asked (no token, no address, no answer) and what to do; None if it can."""
        ...

    def find(self, library: str, releases: Sequence[ReleaseRow], period: Period) -> Iterator[CodeSample | Reject]:
        """Yield what uses a library, a piece at a time, or what of it was refused.

        `releases` are those of the lake, in their order: a version that is not among them is a reject. What was
        fetched is cached, so that asking again goes on where it stopped. What is wrong with one thing is a reject.

        Errors: Unreachable where the source stops answering; what was yielded until then counts.
        """
        ...
