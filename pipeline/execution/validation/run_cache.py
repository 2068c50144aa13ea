"""The memory of runs: what ran once in an environment is not run again in it, so that only what is new costs anything.

It is a cache. Without it everything runs again, and comes out the same but for what flickers.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypedDict, TypeVar

import msgspec

from pipeline.core.rules.fingerprint import plain
from pipeline.core.versions import cache_version
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.environments.inspect import PROGRAM_SHA256
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.rules import ValidationRules
from pipeline.lake.damage import heal_database
from pipeline.lake.ids import sha256_json

_INSIDE = Path(__file__).parent / "inside"
_BATCH = 500
_PASSING = frozenset({Outcome.HARNESS_ERROR, Outcome.TIMED_OUT})
"""What may come out otherwise on another day, on a machine with less to do."""
_WAIT_S = 60.0
_FIRST = Lock()
"""Two threads that meet a type for the first time end the process (msgspec 0.22)."""

Stored = TypeVar("Stored")


class RunCache:
    """Results of runs in a database, each under a key of all that decides it; many processes may use it."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        heal_database(path)
        with closing(self._open()) as database, database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, result BLOB NOT NULL)")

    def recall(self, keys: Sequence[str], kind: type[Stored]) -> dict[str, Stored]:
        """Return what is remembered under some of the keys."""
        results: dict[str, Stored] = {}
        with _FIRST:
            decoder = msgspec.json.Decoder(kind)
        with closing(self._open()) as database:
            for start in range(0, len(keys), _BATCH):
                some = keys[start : start + _BATCH]
                marks = ",".join("?" * len(some))
                rows = database.execute(f"SELECT key, result FROM runs WHERE key IN ({marks})", some)  # noqa: S608
                results |= {key: decoder.decode(zlib.decompress(blob)) for key, blob in rows}
        return results

    def keep(self, results: Mapping[str, object]) -> None:
        """Remember results; those that are there already stay."""
        rows = [(key, zlib.compress(msgspec.json.encode(result))) for key, result in results.items()]
        with closing(self._open()) as database, database:
            database.executemany("INSERT OR IGNORE INTO runs VALUES (?, ?)", rows)

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_WAIT_S)


def remembered(
    memory: RunCache | None, keys: Sequence[str], kind: type[Stored], run: Callable[[list[int]], Sequence[Stored]]
) -> list[Stored]:
    """Return the results of keys in order: those that are remembered, and of the others what `run` makes of them.

    `run` gets their places. What could not be judged, or was too slow, is not remembered.
    """
    cached = memory.recall(keys, kind) if memory is not None else {}
    places = [place for place, key in enumerate(keys) if key not in cached]
    ran = dict(zip(places, run(places), strict=True)) if places else {}
    if memory is not None:
        memory.keep({keys[place]: result for place, result in ran.items() if _is_judged(result)})
    return [ran[place] if place in ran else cached[key] for place, key in enumerate(keys)]


def _is_judged(result: object) -> bool:
    return getattr(result, "outcome", None) not in _PASSING


class Where(TypedDict):
    """What decides of an environment how something runs in it, as rows of `environments` have it."""

    python: str | None
    lock_id: str | None


def case_key(case: Case, environment: Where, sandbox: Sandbox, rules: ValidationRules) -> str:
    """Return the key of a case in an environment, which is a row with `lock_id` and `python`."""
    case_fields = plain(asdict(replace(case, id="")))
    return sha256_json([*_common(environment, sandbox), "case", case_fields, plain(rules)])


def probe_key(path: str, environment: Where, sandbox: Sandbox, rules: ValidationRules) -> str:
    """Return the key of a probe."""
    limits = rules.probe_time_s, rules.memory_mib
    return sha256_json([*_common(environment, sandbox), "probe", PROGRAM_SHA256, path, *limits])


def run_key(environment: Environment) -> Where:
    """Return what decides of an environment how something runs in it."""
    return {"lock_id": environment.lock_id, "python": environment.python_version}


def sources_sha256(folder: Path) -> str:
    """Return the hash of the programs in a folder, which run inside the sandbox."""
    return sha256_json({path.name: path.read_text() for path in sorted(folder.glob("*.py"))})


@cache
def of_judging() -> tuple[int, str]:
    """Return what decides how runs are judged, whatever is run: another version of it may judge otherwise."""
    return cache_version("runs"), sources_sha256(_INSIDE)


def _common(environment: Where, sandbox: Sandbox) -> list[Any]:
    return [*of_judging(), environment["lock_id"], environment["python"], sandbox.kind]
