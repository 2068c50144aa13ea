"""Stack Overflow as a source of code: questions and answers that name a version, from the dump or from the API."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from filelock import FileLock

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.stack_overflow.api import RateLimited, StackExchange
from pipeline.corpus.stack_overflow.dump import POSTS, read_dump
from pipeline.corpus.stack_overflow.listings import Listings, create_filter
from pipeline.corpus.stack_overflow.mentions import MentionReader
from pipeline.corpus.stack_overflow.packed import is_packed, names_in
from pipeline.corpus.stack_overflow.pieces import Pieces
from pipeline.corpus.stack_overflow.rules import StackOverflowRules
from pipeline.corpus.stack_overflow.store import PostStore, open_store
from pipeline.corpus.stack_overflow.threads import is_about
from pipeline.corpus.stack_overflow.versions import Releases
from pipeline.index.http import BadAnswer, Fetcher, Unreachable
from pipeline.index.release_selection import Period
from pipeline.lake.guard import guarded
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject

API_STORE = "api.sqlite"
_HEAD_BYTES = 1024


class StackOverflow:
    """Finds blocks of code whose post names a version of the library.

    `libraries` are all of a run: the dump is read once for them. Where `dump` (a Posts.xml, or its 7z archive) is
    given the API at `api_url` is not asked. What was read is kept in the folder `cache`.
    """

    name = SnippetSource.STACK_OVERFLOW

    def __init__(
        self,
        fetcher: Fetcher,
        rules: StackOverflowRules,
        cache: Path,
        *,
        libraries: Iterable[str],
        api_url: str,
        key: str | None = None,
        dump: Path | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._rules = rules
        self._cache = cache
        self._dump = dump
        self._api = StackExchange(fetcher, api_url, key, rules.asking, sleep)
        self._api_url = api_url
        self._readers = {name: MentionReader(rules, name) for name in sorted({*libraries, *rules.foreign})}
        self._filter: str | None = None

    def unavailable(self) -> str | None:
        """Return why neither the dump nor the API can be read, and what to do; None if one of them can."""
        if self._dump:
            return _unreadable(self._dump)
        try:
            self._filter = self._filter or create_filter(self._api)
        except (Unreachable, BadAnswer, RateLimited) as error:
            return (
                f"the Stack Exchange API cannot be asked: {error}. Allow the way to {self._api_url},"
                " or download the dump of Stack Overflow and set DRIFTLINE_STACK_OVERFLOW_DUMP to its Posts.xml."
            )
        return None

    def find(self, library: str, releases: Sequence[ReleaseRow], period: Period) -> Iterator[CodeSample | Reject]:
        """Yield the blocks of code for a version of a library, and those that were refused, in the order of posts.

        `releases` are empty for libraries of other languages, whose version is taken as it is stated.
        """
        reader = self._readers.get(library) or MentionReader(self._rules, library)
        foreign = library in self._rules.foreign and not releases
        release_table = None if foreign else Releases(releases)
        if self._dump:
            readers = self._readers | {library: reader}
            with open_store(read_dump(self._dump, readers, self._rules, self._cache)) as store:
                yield from self._samples(store, reader, release_table, period)
            return
        with open_store(self._cache / API_STORE) as store:
            stopped = None
            try:
                yield from self._listed(store, reader, period)
            except Unreachable as error:
                stopped = error
            yield from self._samples(store, reader, release_table, period)
            if stopped:
                raise stopped

    def _listed(self, store: PostStore, reader: MentionReader, period: Period) -> Iterator[Reject]:
        """Bring what the API lists into the store, and yield what went wrong."""
        try:
            self._filter = self._filter or create_filter(self._api)
        except RateLimited as error:
            yield Reject(reader.library, RejectReason.RATE_LIMITED, str(error))
        except BadAnswer as error:
            yield Reject(reader.library, RejectReason.BAD_ANSWER, str(error))
        else:
            # One at a time: the API counts requests by address, whatever process asks.
            with FileLock(self._cache / "api.lock"):
                yield from Listings(self._api, store, self._filter, self._rules).read(reader, period)

    def _samples(
        self, store: PostStore, reader: MentionReader, releases: Releases | None, period: Period
    ) -> Iterator[CodeSample | Reject]:
        yield from store.refused(reader.library)
        pieces = Pieces(self._rules, reader, releases)

        def of_question(number: int) -> Iterator[CodeSample | Reject]:
            question = store.post(number)
            # What was brought in under earlier rules may be about something else now.
            if question and is_about(question, reader, self._rules.title_tags):
                posts = [post for post in (question, *store.answers(number)) if period.covers(post.created)]
                yield from pieces.of_thread(question, posts)

        yield from guarded(store.questions(reader.library), "stackoverflow:{}".format, of_question)


def _unreadable(dump: Path) -> str | None:
    """Return why a dump cannot be read, and what to do."""
    if not dump.is_file():
        return f"{dump}: no such file; set DRIFTLINE_STACK_OVERFLOW_DUMP to the Posts.xml of a dump, or to its 7z."
    if is_packed(dump):
        try:
            names = names_in(dump)
        except ValueError as error:
            return f"{dump}: a damaged 7z archive: {error}. Fetch it again."
        return None if POSTS in names else f"{dump}: no {POSTS} in it, but {', '.join(names[:5]) or 'nothing'}."
    with dump.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if b"<posts>" not in head:
        return f"{dump}: no Posts.xml of a Stack Exchange data dump: <posts> does not stand at its beginning."
    return None
