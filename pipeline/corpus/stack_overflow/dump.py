"""One pass over the official data dump for all libraries of a run: what names a version of one of them is kept."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import SpooledTemporaryFile

from filelock import FileLock

from pipeline.core.rules.fingerprint import plain
from pipeline.core.versions import cache_version
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.stack_overflow import rows
from pipeline.corpus.stack_overflow.mentions import MentionReader
from pipeline.corpus.stack_overflow.packed import BUFFER_BYTES, is_packed, names_in, stream
from pipeline.corpus.stack_overflow.posts import Post
from pipeline.corpus.stack_overflow.rows import BadRow, RowTooLong, Truncated
from pipeline.corpus.stack_overflow.rules import StackOverflowRules
from pipeline.corpus.stack_overflow.store import PostStore, open_store
from pipeline.corpus.stack_overflow.threads import PostText, Thread, is_about
from pipeline.lake.guard import attempt
from pipeline.lake.ids import sha256_json
from pipeline.lake.stage import Reject

POSTS = "Posts.xml"
USERS = "Users.xml"
_SAMPLES = 64
_SAMPLE_BYTES = 1 << 16


class Numbers:
    """A set of positive whole numbers, one bit each: 80 million posts are 10 MB."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._bits = bytearray()
        for number in numbers:
            self.add(number)

    def add(self, number: int) -> None:
        """Take a number in."""
        place = number >> 3
        if place >= len(self._bits):
            self._bits.extend(bytes(place + (1 << 16) - len(self._bits)))
        self._bits[place] |= 1 << (number & 7)

    def __contains__(self, number: int) -> bool:
        place = number >> 3
        return place < len(self._bits) and bool(self._bits[place] >> (number & 7) & 1)


def dump_fingerprint(dump: Path) -> str:
    """Return what tells a dump from another without reading all of it: its size, and bytes of 64 places."""
    size = dump.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with dump.open("rb") as file:
        for number in range(_SAMPLES):
            file.seek(max(0, size - _SAMPLE_BYTES) * number // (_SAMPLES - 1))
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()


def read_dump(dump: Path, readers: Mapping[str, MentionReader], rules: StackOverflowRules, cache: Path) -> Path:
    """Read a Posts.xml once for these libraries, and return the store of what was found; the next time it is there.

    It may be inside a 7z archive. Names of authors come from the Users.xml (or its archive) beside it, or from the
    same archive. Errors: OSError, StoreError, ValueError where an archive is damaged.
    """
    users = _users_of(dump)
    sources = [dump_fingerprint(path) for path in (dump, users) if path]
    key = sha256_json([cache_version("stack_overflow_dump"), sources, sorted(readers), plain(rules)])[:16]
    path = cache / f"dump-{key}.sqlite"
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        if not path.exists():
            new = path.with_suffix(".new")
            for leftover in (new, *(Path(f"{new}{log}") for log in ("-wal", "-shm"))):
                leftover.unlink(missing_ok=True)
            with open_store(new) as store:
                _fill(store, dump, users, readers, rules)
            new.rename(path)
    return path


def _users_of(dump: Path) -> Path | None:
    """Return where the Users.xml of a dump is: beside it, or in the same archive."""
    beside = dump.with_name(dump.name.replace("Posts", "Users"))
    if beside != dump and beside.is_file():
        return beside
    return dump if is_packed(dump) and USERS in names_in(dump) else None


def _fill(
    store: PostStore, dump: Path, users: Path | None, readers: Mapping[str, MentionReader], rules: StackOverflowRules
) -> None:
    with store.transaction():
        reading = DumpReader(store, readers, rules)
        with stream(dump, POSTS) as posts:
            for number, line in rows.lines_of(posts.file, rules.max_post_bytes):
                if failed := attempt(f"{POSTS}:{number}", reading.read, number, line):
                    reading.fail(failed)
        if posts.problem:
            reading.read(0, Truncated(f"what came out of the archive may not be all: {posts.problem}"))
        reading.read_early()
        store.forget_heads()
        if users:
            with stream(users, USERS) as authors:
                _name_authors(store, rows.lines_of(authors.file, rules.max_post_bytes))


def _name_authors(store: PostStore, lines: Iterable[tuple[int, bytes | BadRow]]) -> None:
    """Keep the names of authors of posts in the store; one that cannot be read stays a number."""
    unnamed = Numbers(store.unnamed_authors())
    for _, line in lines:
        if not isinstance(line, BadRow) and (author := rows.number_of(line, b"Id")) in unnamed:
            with suppress(BadRow):
                store.name_author(author, rows.read_author(line))


class DumpReader:
    """Takes one row after the other, and keeps what is about a library and names a version of it.

    Of a question that names none only the head is kept: an answer may name one.
    """

    def __init__(self, store: PostStore, readers: Mapping[str, MentionReader], rules: StackOverflowRules) -> None:
        self._store = store
        self._readers = readers
        self._title_tags = rules.title_tags
        self._by_tag: dict[bytes, list[MentionReader]] = {}
        for reader in readers.values():
            for tag in reader.words.tags:
                self._by_tag.setdefault(tag.encode(), []).append(reader)
        self._tags_beside_titles = {tag.encode() for tag in rules.title_tags}
        titled = [reader.name for reader in readers.values() if reader.words.titles]
        self._named_in_title = re.compile("|".join(titled) or "(?!)", re.IGNORECASE)
        self._about = Numbers()
        self._stating = Numbers()
        self._early = SpooledTemporaryFile(BUFFER_BYTES)  # noqa: SIM115 - lives as long as we do

    def read(self, number: int, line: bytes | BadRow) -> None:
        """Take a row, or an error in its place."""
        if isinstance(line, BadRow):
            self._refuse(self._readers, number, line)
            return
        kind = rows.attribute(line, b"PostTypeId", in_head=True)
        try:
            if kind == rows.QUESTION:
                if readers := self._may_be_about(line):
                    self._question(line, readers)
            elif kind == rows.ANSWER:
                question = rows.number_of(line, b"ParentId")
                if question in self._stating or (question in self._about and self._may_state(line, question)):
                    self._answer(rows.read_post(line))
                elif question > rows.number_of(line, b"Id"):
                    self._early.write(b"%d %b" % (number, line))
        except BadRow as error:
            self._refuse(self._libraries_of(line), number, error)

    def fail(self, reject: Reject) -> None:
        """Refuse a row at which an exception was raised, for every library that it may be about."""
        for library in self._readers:
            self._store.refuse(library, reject)

    def read_early(self) -> None:
        """Take the answers that came before their question: two questions were made one."""
        self._early.seek(0)
        for numbered in self._early:
            number, _, line = numbered.partition(b" ")
            if rows.number_of(line, b"ParentId") in self._about:
                try:
                    self._answer(rows.read_post(line))
                except BadRow as error:
                    self._refuse(self._libraries_of(line), int(number), error)
        self._early.close()

    def _may_state(self, line: bytes, question: int) -> bool:
        """Tell whether an answer can name a version, before it is parsed."""
        text = rows.written_text(line, b"Body")
        return any(self._readers[library].may_find(text) for library in self._store.libraries_of(question))

    def _may_be_about(self, line: bytes) -> Iterable[MentionReader]:
        """Return the readers of the libraries that a question may be about."""
        tags = rows.tags_of(line)
        if not self._tags_beside_titles.isdisjoint(tags) and self._named_in_title.search(
            html.unescape(rows.written_text(line, b"Title"))
        ):
            return self._readers.values()
        return {reader.library: reader for tag in tags for reader in self._by_tag.get(tag, ())}.values()

    def _question(self, line: bytes, readers: Iterable[MentionReader]) -> None:
        head = rows.read_post(rows.without(line, b"Body"))
        about = [reader for reader in readers if is_about(head, reader, self._title_tags)]
        if not about:
            return
        text = rows.written_text(line, b"Body")
        post = rows.read_post(line) if any(reader.may_find(text) for reader in about) else head
        self._about.add(head.id)
        if any(Thread(post, reader).states_version for reader in about):
            self._stating.add(head.id)
            head = rows.read_post(line)
        self._store.add(head)
        for reader in about:
            self._store.assign(reader.library, head.id)

    def _answer(self, post: Post) -> None:
        if post.question in self._stating or any(
            PostText(post, self._readers[library]).all_evidence.mentions
            for library in self._store.libraries_of(post.question)
        ):
            self._store.add(post)

    def _libraries_of(self, line: bytes) -> Iterable[str]:
        """Return the libraries that a row which cannot be read may be about."""
        question = rows.number_of(line, b"ParentId")
        if question:
            return self._store.libraries_of(question)
        tags = {tag.decode("utf-8", "replace") for tag in rows.tags_of(line)}
        return [name for name, reader in self._readers.items() if not tags.isdisjoint(reader.words.tags)]

    def _refuse(self, libraries: Iterable[str], number: int, error: BadRow) -> None:
        reason = RejectReason.TOO_LARGE if isinstance(error, RowTooLong) else RejectReason.UNREADABLE
        for library in libraries:
            self._store.refuse(library, Reject(f"{POSTS}:{number}", reason, f"{POSTS}:{number}: {error}"))
