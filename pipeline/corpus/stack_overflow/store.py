"""Posts on disk, and which questions are about which library: one SQLite database for each way of reading them."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pyarrow as pa

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.stack_overflow.posts import Post
from pipeline.lake.damage import heal_database
from pipeline.lake.stage import Reject

WAIT_S = 120
"""How long a writer waits for others."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS posts (
    id INTEGER PRIMARY KEY, question INTEGER NOT NULL, is_head INTEGER NOT NULL, author INTEGER,
    size INTEGER NOT NULL, zstd BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS of_question ON posts (question);
CREATE TABLE IF NOT EXISTS threads (library TEXT, question INTEGER, PRIMARY KEY (question, library))
    STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS of_library ON threads (library, question);
CREATE TABLE IF NOT EXISTS refused (library TEXT, key TEXT, reason TEXT, detail TEXT, PRIMARY KEY (library, key))
    STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS listings (
    query TEXT PRIMARY KEY, activity INTEGER NOT NULL, page INTEGER NOT NULL, ended INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)
_REASONS = {reason.value: reason for reason in RejectReason}
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Post)


class StoreError(CodedError, OSError):
    """The store of posts is damaged; it is a cache and may always be removed."""

    code = "posts_unusable"


@dataclass(frozen=True, slots=True)
class ListingPosition:
    """Where the reading of a listing goes on: the page of questions active since then (seconds), unless it ended."""

    activity: int
    page: int
    ended: bool = False


class PostStore:
    """An open store. What is written counts when the block of `transaction` ends well."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of a block, or nothing of it."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def add(self, post: Post) -> None:
        """Keep a post, in the place of an older state of it."""
        encoded = _ENCODER.encode(post)
        packed = pa.compress(encoded, codec="zstd", asbytes=True)
        author = None if post.author else post.author_id
        row = (post.id, post.question, not post.body, author, len(encoded), packed)
        self._database.execute("INSERT OR REPLACE INTO posts VALUES (?, ?, ?, ?, ?, ?)", row)

    def forget_heads(self) -> None:
        """Forget the questions of which only the head is here, unless an answer to them is."""
        answered = "DELETE FROM posts WHERE is_head AND id NOT IN (SELECT question FROM posts WHERE id != question)"
        self._database.execute(answered)
        self._database.execute("DELETE FROM threads WHERE question NOT IN (SELECT id FROM posts)")

    def assign(self, library: str, question: int) -> None:
        """Note that a question is about a library."""
        self._database.execute("INSERT OR IGNORE INTO threads VALUES (?, ?)", (library, question))

    def refuse(self, library: str, reject: Reject) -> None:
        """Note what of a library's posts could not be read."""
        row = (library, reject.key, reject.reason.value, reject.detail)
        self._database.execute("INSERT OR REPLACE INTO refused VALUES (?, ?, ?, ?)", row)

    def name_author(self, author: int, name: str) -> None:
        """Keep the name of an author."""
        self._database.execute("INSERT OR REPLACE INTO authors VALUES (?, ?)", (author, name))

    def libraries_of(self, question: int) -> list[str]:
        """Return the libraries that a question is about."""
        query = "SELECT library FROM threads WHERE question = ? ORDER BY library"
        return [library for (library,) in self._database.execute(query, (question,))]

    def questions(self, library: str) -> list[int]:
        """Return the questions about a library, in the order of their numbers."""
        query = "SELECT question FROM threads WHERE library = ? ORDER BY question"
        return [question for (question,) in self._database.execute(query, (library,))]

    def post(self, number: int) -> Post | None:
        """Return a post."""
        posts = list(self._posts("WHERE posts.id = ?", number))
        return posts[0] if posts else None

    def answers(self, question: int) -> Iterator[Post]:
        """Yield the answers to a question, in the order of their numbers."""
        yield from self._posts("WHERE question = ?1 AND posts.id != ?1 ORDER BY posts.id", question)

    def unnamed_authors(self) -> Iterator[int]:
        """Yield the numbers of the authors of posts whose names are not known."""
        for (author,) in self._database.execute("SELECT DISTINCT author FROM posts WHERE author IS NOT NULL"):
            yield author

    def refused(self, library: str) -> Iterator[Reject]:
        """Yield what of a library's posts could not be read."""
        query = "SELECT key, reason, detail FROM refused WHERE library = ? ORDER BY key"
        for key, reason, detail in self._database.execute(query, (library,)):
            yield Reject(key, _REASONS[reason], detail)

    def listing(self, query: str) -> ListingPosition | None:
        """Return where the reading of a listing goes on; None where it has not begun."""
        row = self._database.execute("SELECT activity, page, ended FROM listings WHERE query = ?", (query,)).fetchone()
        return ListingPosition(row[0], row[1], ended=bool(row[2])) if row else None

    def note_listing(self, query: str, place: ListingPosition) -> None:
        """Note where the reading of a listing goes on."""
        row = (query, place.activity, place.page, place.ended)
        self._database.execute("INSERT OR REPLACE INTO listings VALUES (?, ?, ?, ?)", row)

    def _posts(self, condition: str, value: int) -> Iterator[Post]:
        query = f"SELECT size, zstd, name FROM posts LEFT JOIN authors ON authors.id = posts.author {condition}"  # noqa: S608
        for size, packed, name in self._database.execute(query, (value,)):
            post = _DECODER.decode(pa.decompress(packed, decompressed_size=size, codec="zstd", asbytes=True))
            yield msgspec.structs.replace(post, author=name) if name else post


@contextmanager
def open_store(path: Path) -> Iterator[PostStore]:
    """Open a store, which is made if it is not there.

    Errors, here and of every call: StoreError where the database is damaged, OSError where the disk is full.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    heal_database(path)
    try:
        with closing(sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)) as database:
            database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;" + _SCHEMA)
            yield PostStore(database)
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) in _FULL:
            raise OSError(errno.ENOSPC, f"no space to keep posts: {error}", str(path)) from None
        raise StoreError(f"{path}: the store of posts cannot be used: {error}. It is a cache: remove it.") from None
