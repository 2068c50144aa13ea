"""VersiCode's files (2406.07411): completions, executable ones too, and migrations, each `{"data": [ … ]}`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pipeline.core.vocabularies.exports import Unsupported
from pipeline.core.vocabularies.functions import TestKind
from pipeline.core.vocabularies.samples import Direction, Granularity, SnippetSource
from pipeline.evaluation.export.format import Format, Layout, Placed, Record, Refused, Result
from pipeline.evaluation.export.masks import MASK, as_released, from_released
from pipeline.lake.rows import (
    AnyRow,
    PublishedBlockCompletionRow,
    PublishedCompletionRow,
    PublishedFunctionRow,
    PublishedMigrationRow,
)
from pipeline.lake.schema import Row
from pipeline.snapshots.format.reader import Snapshot

_LAYOUT = Layout(
    families=("completions", "migrations", "block_completions", "functions"),
    configs=("completions", "migrations", "block_completions", "functions"),
    added={
        "id": "the row's id, by which predictions refer to it",
        "core_token": "line and block: the API's name, which EM@k looks for; it is in `answer` too",
        "source": "the data source of the paper's tables",
        "language": "block completions of other languages",
        "function": "executable subset: name of the task function",
        "module": "executable subset: name under which the tests import the completed program",
        "tests": "executable subset: a pytest module; the names of its tests have their kinds",
        "test_cases": "executable subset: number of tests of each kind",
        "direction": "migrations: which side is given, old_to_new or new_to_old",
    },
    notes=(
        "[token-mask], [line-mask] and [block-mask] are all <mask>, as in the released files; `code` and `core_token`"
        " distinguish them",
        "documentation sites count as Library Source Code, GitHub as Downstream Application",
        "old_ is the side of the older version in both directions, as the published scorer has it: the reference of"
        " new_to_old is old_code",
        "the executable subset is executable_<granularity>_completion.json: task functions with tests, whose file"
        " format the paper does not describe",
        "`type` is the tag of the lifecycle (addition, deprecation, general)",
    ),
)

_SOURCE_OF = {source.source.versicode: source for source in reversed(SnippetSource)}


def versicode(snapshot: Snapshot) -> Iterator[Result]:
    """Yield the completions, task functions and migrations of a snapshot as records of VersiCode's files."""
    for row in snapshot.rows("completions"):
        record = completion_record(row)
        placed = Placed(f"{row['granularity']}_completion.json", record, "completions", row, completion_row(record))
        yield _held(placed)
    for row in snapshot.rows("functions"):
        record = function_record(row)
        file = f"executable_{row['granularity']}_completion.json"
        yield _held(Placed(file, record, "functions", row, function_row(record)))
    for row in snapshot.rows("migrations"):
        record = migration_record(row)
        yield Placed(f"migration_{row['direction']}.json", record, "migrations", row, migration_row(record))
    for row in snapshot.rows("block_completions"):
        record = foreign_record(row)
        file = f"block_completion_{row['language']}.json"
        yield _held(Placed(file, record, "block_completions", row, foreign_row(record)))


def _held(placed: Placed) -> Result:
    """Return the record of a completion, unless its code contains the mask of the format."""
    if MASK not in placed.row["code"]:
        return placed
    return Refused(placed.config, placed.row["id"], Unsupported.MASK_IN_CODE, f"the code holds {MASK}")


def completion_record(row: PublishedCompletionRow | PublishedFunctionRow) -> Record:
    """Return a completion as VersiCode has it; of a block `answer` is the API's name, and `code` the reference."""
    record = {
        "id": row["id"],
        "dependency": row["library"],
        "version": f"=={row['version']}",
        "time": row["release_time"].isoformat(),
        "description": row["description"] or "",
        "code": row["code"],
        "masked_code": as_released(row["masked_code"]),
        "answer": row["core_token"],
        "type": str(row["versicode_tag"]),
        "granularity": str(row["granularity"]),
        "source": SnippetSource(row["source"]).source.versicode,
    }
    if row["granularity"] == Granularity.LINE:
        record["masked_line"] = row["answer"]
    if row["granularity"] != Granularity.TOKEN:
        record["core_token"] = row["core_token"]
    return record


def completion_row(record: Record) -> Row:
    """Return the columns of `published_completions` that can be read from a record."""
    granularity = record["granularity"]
    core_token = record.get("core_token") or record["answer"]
    restored = from_released(record["masked_code"], record["code"], core_token, granularity)
    masked_code, answer = restored or (record["masked_code"], record.get("masked_line"))
    return {
        "id": record.get("id"),
        "library": record["dependency"],
        "version": bare_version(record["version"]),
        "release_time": _time(record.get("time")),
        "description": record.get("description") or None,
        "code": record["code"],
        "masked_code": masked_code,
        "answer": answer,
        "core_token": core_token,
        "versicode_tag": record.get("type"),
        "granularity": granularity,
        "source": _SOURCE_OF.get(record.get("source", "")),
    }


def function_record(row: PublishedFunctionRow) -> Record:
    """Return a masked task function as a completion with tests."""
    columns: AnyRow = row
    tested = {
        "function": row["function"],
        "module": row["module"],
        "tests": row["tests"],
        "test_cases": {str(kind): columns[kind] for kind in TestKind},
    }
    return completion_record(row) | {"core_token": row["core_token"]} | tested


def function_row(record: Record) -> Row:
    """Return the columns of `published_functions` that can be read from a record."""
    tested = {name: record[name] for name in ("function", "module", "tests")}
    return {**completion_row(record), **tested, **record["test_cases"]}


def migration_record(row: PublishedMigrationRow) -> Record:
    """Return a migration as VersiCode has it: the older version is the old one, whichever side is given."""
    source = (row["version"], row["source_code"], row["source_name"])
    target = (row["target_version"], row["target_code"], row["target_name"])
    old, new = (source, target) if row["direction"] == Direction.OLD_TO_NEW else (target, source)
    return {
        "id": row["id"],
        "dependency": row["library"],
        "old_version": f"=={old[0]}",
        "new_version": f"=={new[0]}",
        "description": row["description"] or "",
        "old_code": old[1],
        "new_code": new[1],
        "old_name": old[2],
        "new_name": new[2],
        "direction": str(row["direction"]),
    }


def migration_row(record: Record) -> Row:
    """Return the columns of `published_migrations` that can be read from a record."""
    source, target = ("old", "new") if record["direction"] == Direction.OLD_TO_NEW else ("new", "old")
    return {
        "id": record.get("id"),
        "library": record["dependency"],
        "version": bare_version(record[f"{source}_version"]),
        "target_version": bare_version(record[f"{target}_version"]),
        "direction": record["direction"],
        "description": record.get("description") or None,
        "source_code": record[f"{source}_code"],
        "target_code": record[f"{target}_code"],
        "source_name": record[f"{source}_name"],
        "target_name": record[f"{target}_name"],
    }


def foreign_record(row: PublishedBlockCompletionRow) -> Record:
    """Return a block completion of another language as VersiCode has it."""
    return {
        "id": row["id"],
        "dependency": row["library"],
        "version": f"=={row['version']}",
        "description": row["description"] or "",
        "code": row["code"],
        "masked_code": as_released(row["masked_code"]),
        "answer": row["core_token"],
        "granularity": str(Granularity.BLOCK),
        "source": SnippetSource(row["source"]).source.versicode,
        "core_token": row["core_token"],
        "language": str(row["language"]),
    }


def foreign_row(record: Record) -> Row:
    """Return the columns of `published_block_completions` that can be read from a record."""
    columns = completion_row(record)
    own = ("id", "library", "version", "description", "code", "masked_code", "answer", "core_token", "source")
    return {name: columns[name] for name in own} | {"language": record["language"]}


def bare_version(version: str) -> str:
    """Return a version without the operator that VersiCode writes before it."""
    return version.strip().removeprefix("==").strip()


def _time(text: str | None) -> datetime | None:
    """Return the time of an exported record; files of others have various formats."""
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


FORMAT = Format(layout=_LAYOUT, results=lambda snapshot, unpack, unnoticed: versicode(snapshot))
