"""The store of source files: each file's bytes once, whatever release has it, and what each artifact holds.

One SQLite database that many processes read and write at once. A connection is opened for each call: it costs a
fraction of a millisecond, and one that is open across a fork would break the locks of both processes
(https://www.sqlite.org/howtocorrupt.html, 2.6).
"""

from __future__ import annotations

import errno
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import pyarrow as pa
from filelock import FileLock

from pipeline.core.errors import CodedError
from pipeline.index.manifest import Manifest, sha256_of
from pipeline.lake.damage import heal_database

WAIT_S = 120
"""How long a writer waits for others; each holds the database for the milliseconds of one artifact."""

_SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE contents (sha256 TEXT PRIMARY KEY, size INTEGER NOT NULL, zstd BLOB NOT NULL) STRICT;
CREATE TABLE trees (artifact TEXT PRIMARY KEY, manifest BLOB NOT NULL, sha256 TEXT NOT NULL) STRICT;
"""
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)


class SourcesError(CodedError, OSError):
    """The store of sources lacks what it should hold, or its database cannot be used; it may always be removed."""


class SourceStore:
    """The database under one path, made when it is first used.

    Errors of every call: SourcesError where the database is damaged, OSError where the disk is full.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        heal_database(path)

    def add(self, manifest: Manifest, contents: Mapping[str, bytes]) -> None:
        """Keep what an artifact holds, and bytes by their sha256, all or nothing."""
        packed = [(sha256, len(content), _pack(content)) for sha256, content in contents.items()]
        encoded = msgspec.json.encode(manifest)
        with self._connected() as database:
            database.execute("BEGIN IMMEDIATE")
            database.executemany("INSERT OR IGNORE INTO contents VALUES (?, ?, ?)", packed)
            row = (manifest.artifact.sha256, encoded, sha256_of(encoded))
            database.execute("INSERT OR REPLACE INTO trees VALUES (?, ?, ?)", row)
            database.execute("COMMIT")

    def manifest(self, artifact: str) -> Manifest | None:
        """Return what an artifact (by its sha256) holds; None where that is not known, or damaged."""
        with self._connected() as database:
            row = database.execute("SELECT manifest, sha256 FROM trees WHERE artifact = ?", [artifact]).fetchone()
        return _manifest(*row) if row else None

    def manifests(self) -> Iterator[Manifest]:
        """Yield what every artifact holds."""
        with self._connected() as database:
            artifacts = [artifact for (artifact,) in database.execute("SELECT artifact FROM trees ORDER BY artifact")]
        yield from filter(None, map(self.manifest, artifacts))

    def missing(self, sha256s: Iterable[str]) -> set[str]:
        """Return those contents that are not here."""
        requested = set(sha256s)
        query = "SELECT sha256 FROM contents WHERE sha256 IN (SELECT value FROM json_each(?))"
        with self._connected() as database:
            return requested - {sha256 for (sha256,) in database.execute(query, [_json(requested)])}

    def contents(self, sha256s: Iterable[str]) -> dict[str, bytes]:
        """Return bytes by their sha256, as far as they are here; damaged ones are forgotten rather than returned."""
        query = "SELECT sha256, size, zstd FROM contents WHERE sha256 IN (SELECT value FROM json_each(?))"
        with self._connected() as database:
            rows = database.execute(query, [_json(set(sha256s))]).fetchall()
            unpacked = {sha256: _unpack(sha256, size, packed) for sha256, size, packed in rows}
            intact = {sha256: content for sha256, content in unpacked.items() if content is not None}
            if damaged := unpacked.keys() - intact.keys():
                forget = "DELETE FROM contents WHERE sha256 IN (SELECT value FROM json_each(?))"
                database.execute(forget, [_json(damaged)])
        return intact

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            self._make()
            # Without isolation level: transactions begin where the code says so.
            with closing(sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)) as database:
                # A cache that loses its last seconds with the power is as good as before.
                database.execute("PRAGMA synchronous = NORMAL")
                yield database
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) in _FULL:
                raise OSError(errno.ENOSPC, f"no space to keep sources: {error}", str(self.path)) from None
            raise SourcesError(
                f"{self.path}: the store of sources cannot be used: {error}."
                " It is a cache: remove it, and what is needed is fetched again.",
                code="sources_unusable",
            ) from None

    def _make(self) -> None:
        """Make the database under another name, so that nobody ever sees it without its tables."""
        if self.path.exists():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path.with_suffix(".lock")):
            if not self.path.exists():
                new = self.path.with_suffix(".new")
                # A log that was left by a database of that name would be played into the new one.
                for left in (new, *(Path(f"{path}{log}") for path in (new, self.path) for log in ("-wal", "-shm"))):
                    left.unlink(missing_ok=True)
                with closing(sqlite3.connect(new)) as database:
                    database.executescript(_SCHEMA)
                new.rename(self.path)


def _json(sha256s: Set[str]) -> str:
    return json.dumps(sorted(sha256s))


_DECODER = msgspec.json.Decoder(Manifest)
"""Made once: two threads that meet a type for the first time end the process (msgspec 0.22)."""


def _manifest(encoded: bytes, sha256: str) -> Manifest | None:
    try:
        return _DECODER.decode(encoded) if sha256_of(encoded) == sha256 else None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        # Written by a version of this program with another idea of a manifest.
        return None


def _pack(content: bytes) -> bytes:
    packed: bytes = pa.compress(content, codec="zstd", asbytes=True)
    return packed


def _unpack(sha256: str, size: int, packed: bytes) -> bytes | None:
    """Return the bytes of a row, None where they are not those of its hash."""
    try:
        content: bytes = pa.decompress(packed, decompressed_size=max(size, 0), codec="zstd", asbytes=True)
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        return None
    return content if sha256_of(content) == sha256 else None
