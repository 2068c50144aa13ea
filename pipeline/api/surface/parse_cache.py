"""From the files of a release to the records of its modules: equal files are parsed once in the life of the cache."""

from __future__ import annotations

import gc
import importlib.util
import re
import sqlite3
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import chain, groupby
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import msgspec

from pipeline.api.surface.extract.signature_decorators import HelperRules
from pipeline.api.surface.parse.codec import Unpacker, pack
from pipeline.api.surface.parse.deep import TOO_DEEP
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.api.surface.parse.keyword_scan import PYTHON_2, keywords_in
from pipeline.api.surface.parse.modern import as_older
from pipeline.api.surface.parse.module_model import ModuleRecord
from pipeline.api.surface.parse.pieces import FunctionParser, parse_alone, remembered
from pipeline.api.surface.parse.python2 import modernise
from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.api.surface.parse.skeleton import skeleton
from pipeline.api.surface.parse.sources import SourceFile
from pipeline.api.surface.visit import UnparsedError, visit_file
from pipeline.core.vocabularies.surface import SourceKind
from pipeline.lake.collector import without_collector
from pipeline.lake.damage import heal_database
from pipeline.lake.guard import attempt
from pipeline.lake.stage import Reject
from pipeline.lake.tables import encodable

Value = TypeVar("Value")
Contents = Callable[[Iterable[str]], Mapping[str, bytes]]
"""Gives the bytes of files by their sha256."""

BATCH = 32
"""Files that a worker reads in one go, or all versions of one."""

WRITE_BATCH = 512
"""Records that are written in one go: whatever is killed loses no more, and each go waits for the disk."""

REMEMBERED = 4096
"""Functions that are remembered: those of the versions of a few files, which are read one after another."""

SHIFT = 1500
"""Files that a worker reads before another takes its place.

To free what it remembers would take a tenth of its time; so it remembers more, and ends with all of it.
"""

_SCHEMA = "CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, record BLOB NOT NULL)"
"""With a rowid: it is the order in which records came, and the oldest go first (`execution/caches/rows.py`)."""

_ENCODING = re.compile(r"\A((?:[ \t\f]*(?:#[^\n]*)?\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*)[-\w.]+")
"""Where a file declares its encoding: in its first line, or in the second after a comment (PEP 263)."""


_SURROGATE = re.compile(rb"\\(?:u|U0000)[dD][89a-fA-F][0-9a-fA-F]{2}")
"""The escape of a surrogate, which may stand in a text without the other half of its pair."""


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """What decides how a file is read."""

    surface: SurfaceRules
    helpers: HelperRules
    directives: DirectiveRules


class Records:
    """The records of source files, kept in a database under `path`, or in memory only without one.

    `contents` gives the bytes of files that are not there yet; they are read by as many processes as `workers` says.
    """

    def __init__(self, path: Path | None, rules: ReadingRules, contents: Contents, workers: int = 1) -> None:
        self.path = path
        if path is not None:
            heal_database(path)
        self.rules = rules
        self.contents = contents
        self.workers = workers
        self._memory: dict[str, bytes] = {}
        self._functions = remembered(REMEMBERED)
        self._unpacker = Unpacker()

    def prepare(self, files: Iterable[SourceFile], report: Callable[[int, int], None]) -> None:
        """Read the files that were never read, on all cores; `report` gets (done, total) files."""
        by_key = {file.key: file for file in files}
        cached = self._cached_keys(by_key)
        # the versions of a file one after another, in the order of the releases: they share most functions
        missing = sorted((file for key, file in by_key.items() if key not in cached), key=lambda file: file.path)
        done = 0
        waiting: dict[str, bytes] = {}
        for packed in self._read(missing):
            done += len(packed)
            waiting |= packed
            if len(waiting) >= WRITE_BATCH or done == len(missing):
                self._keep(waiting)
                waiting = {}
            report(done, len(missing))

    def load(self, files: Sequence[SourceFile]) -> dict[str, ModuleRecord]:
        """Return the records of files by their keys, reading those that were never read."""
        records = self._select([file.key for file in files])
        missing = [file for file in files if file.key not in records]
        for packed in self._read(missing):
            self._keep(packed)
            records |= packed
        return {key: self._unpacker.unpack(packed) for key, packed in records.items()}

    def _read(self, files: Sequence[SourceFile]) -> Iterator[dict[str, bytes]]:
        batches = list(_together(files))
        if self.workers == 1 or len(batches) < 2:
            for batch in batches:
                yield _read_batch(batch, self.contents, self.rules, self._functions)
            return
        context = get_context("fork")
        for shift in _of_size(batches, self.workers * SHIFT):
            with ProcessPoolExecutor(self.workers, context, _start, (self.contents, self.rules)) as pool:
                yield from pool.map(_read_here, shift)

    def _keep(self, packed: Mapping[str, bytes]) -> None:
        if self.path is None:
            self._memory |= packed
            return
        with closing(self._connect()) as database, database:
            database.executemany("INSERT OR IGNORE INTO records VALUES (?, ?)", packed.items())

    def _cached_keys(self, keys: Iterable[str]) -> set[str]:
        if self.path is None:
            return set(keys) & self._memory.keys()
        with closing(self._connect()) as database:
            cached: set[str] = set()
            for some in _batches(list(keys), 500):
                marks = ",".join("?" * len(some))
                cached |= {key for (key,) in database.execute(f"SELECT key FROM records WHERE key IN ({marks})", some)}  # noqa: S608
            return cached

    def _select(self, keys: Sequence[str]) -> dict[str, bytes]:
        if self.path is None:
            return {key: self._memory[key] for key in keys if key in self._memory}
        with closing(self._connect()) as database:
            records: dict[str, bytes] = {}
            for some in _batches(list(keys), 500):
                marks = ",".join("?" * len(some))
                records |= dict(database.execute(f"SELECT key, record FROM records WHERE key IN ({marks})", some))  # noqa: S608
            return records

    def _connect(self) -> sqlite3.Connection:
        assert self.path is not None
        self.path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self.path, timeout=120)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(_SCHEMA)
        return database


def _batches(values: Sequence[Value], size: int) -> list[Sequence[Value]]:
    return [values[start : start + size] for start in range(0, len(values), size)]


def _together(files: Iterable[SourceFile]) -> Iterator[list[SourceFile]]:
    """Yield batches of files; those of one path that follow each other stay together."""
    paths = (list(versions) for _, versions in groupby(files, key=lambda file: file.path))
    return (list(chain.from_iterable(batch)) for batch in _of_size(paths, BATCH))


def _of_size(groups: Iterable[list[SourceFile]], size: int) -> Iterator[list[list[SourceFile]]]:
    """Yield groups of files together, each time those in which there are so many files."""
    together: list[list[SourceFile]] = []
    for group in groups:
        together.append(group)
        if sum(map(len, together)) >= size:
            yield together
            together = []
    if together:
        yield together


_worker: tuple[Contents, ReadingRules, FunctionParser] | None = None


def _start(contents: Contents, rules: ReadingRules) -> None:
    """Make a worker ready, without a collector: a file leaves two objects behind, and the remembered ones are many."""
    global _worker
    _worker = contents, rules, remembered(4 * REMEMBERED)
    gc.disable()


def _read_here(batch: Sequence[SourceFile]) -> dict[str, bytes]:
    assert _worker is not None
    return _read_batch(batch, *_worker)


def _read_batch(
    batch: Sequence[SourceFile], contents: Contents, rules: ReadingRules, parse_function: FunctionParser
) -> dict[str, bytes]:
    texts = contents([file.sha256 for file in batch])
    with without_collector():
        return {file.key: pack(read_file(file, texts[file.sha256], rules, parse_function)) for file in batch}


def read_file(
    file: SourceFile, content: bytes, rules: ReadingRules, parse_function: FunctionParser = parse_alone
) -> ModuleRecord:
    """Read one file; one that does not parse, or at which an exception is raised, gives a record that says why.

    `parse_function` may remember functions of other files that were read by the same rules.
    """

    def read() -> ModuleRecord:
        record = _read_file(file, content, rules, parse_function)
        record.skeleton = skeleton(record)
        return _encodable(record) if _SURROGATE.search(content) else record

    result = attempt(file.path, read)
    return _opaque(file, result.detail, failed=True) if isinstance(result, Reject) else result


def _read_file(file: SourceFile, content: bytes, rules: ReadingRules, parse_function: FunctionParser) -> ModuleRecord:
    try:
        rule_sets = rules.surface, rules.helpers, rules.directives
        return visit_file(file.module, file.path, content, *rule_sets, parse_function, whole=file.whole)
    except UnparsedError as error:
        problem = error
    try:
        text = importlib.util.decode_source(content)
        keywords = keywords_in(text)
    except (SyntaxError, ValueError):
        return _opaque(file, str(problem))
    rewritings: list[tuple[Callable[[str], str | None], SourceKind | None]]
    rewritings = [(as_older, None), (lambda old: modernise(old, parse_function), SourceKind.PY2)]
    if PYTHON_2 in keywords:
        # quotes after `f` or `t` are enough to look for later strings, which takes as long as all the rest
        rewritings.reverse()
    for rewrite, source in rewritings:
        with suppress(UnparsedError, ValueError, SyntaxError, *TOO_DEEP), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if (rewritten := rewrite(text)) is not None:
                record = _read_rewritten(file, rewritten, rules, parse_function)
                record.source = source or record.source
                return record
    return _opaque(file, str(problem))


def _read_rewritten(file: SourceFile, text: str, rules: ReadingRules, parse_function: FunctionParser) -> ModuleRecord:
    rule_sets = rules.surface, rules.helpers, rules.directives
    # it is text already: what the file says of its bytes holds no more
    content = _ENCODING.sub(r"\1utf-8", text, count=1).encode()
    return visit_file(file.module, file.path, content, *rule_sets, parse_function, unsure=True, whole=file.whole)


def _encodable(record: ModuleRecord) -> ModuleRecord:
    return msgspec.convert(encodable(msgspec.to_builtins(record)), ModuleRecord)


def _opaque(file: SourceFile, problem: str, *, failed: bool = False) -> ModuleRecord:
    package = file.path.endswith("/__init__.py")
    return ModuleRecord(
        file.module, file.path, package, SourceKind.PY, problem=problem, failed=failed, skeleton=file.sha256
    )
