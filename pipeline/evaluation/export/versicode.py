"""VersiCode's files (2406.07411): completions, executable ones too, and migrations, each `{"data": [ … ]}`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypedDict

from pipeline.core.vocabularies.changes import VersiCodeTag
from pipeline.core.vocabularies.exports import Unsupported
from pipeline.core.vocabularies.functions import TestKind
from pipeline.core.vocabularies.samples import Direction, Granularity, Language, SnippetSource
from pipeline.evaluation.export.environments import environment_folder, environments
from pipeline.evaluation.export.format import Format, Layout, Placed, Record, Refused, Result
from pipeline.evaluation.export.masks import HIDDEN, MASK, as_released, from_released
from pipeline.lake.rows import (
    AnyRow,
    PublishedBlockCompletionRow,
    PublishedCompatibilityRow,
    PublishedCompletionRow,
    PublishedFunctionRow,
    PublishedMigrationRow,
)
from pipeline.snapshots.format.reader import Snapshot

_LAYOUT = Layout(
    families=("completions", "migrations", "block_completions", "functions", "compatibilities"),
    configs=("completions", "migrations", "block_completions", "functions", "compatibilities"),
    added={
        "id": "the row's id, by which predictions refer to it",
        "core_token": "line and block: the API's name, which EM@k looks for; it is in `answer` too",
        "function": "executable subset: name of the task function",
        "module": "executable subset: name under which the tests import the completed program",
        "tests": "executable subset: a pytest module; the names of its tests have their kinds",
        "test_cases": "executable subset: number of tests of each kind",
        "output": "compatibility.json: what the program prints where it is right",
        "releases": "compatibility.json: the releases that are asked for",
        "environment": "executable subset: folder that prepare.py makes, with the release and pytest",
    },
    evaluate="""\
# SCORER is the script of EM, ISM, PM or CDC; FILE a file of this folder with model_output_…_clear in its records.
exec python3 "$@"
""",
    usage="sh evaluate.sh SCORER FILE …",
    notes=(
        "[token-mask], [line-mask] and [block-mask] are all `<mask>`, as in the released files, and a line or block has"
        f" exactly one. Elsewhere `{HIDDEN}` hides the core token there",
        "the reference of a token is `answer`, of a line `masked_line`, of a block `code`, the whole program",
        "`core_line` is the first line of the masked code that calls the core token, or else has it; of a migration,"
        " of the side to be written",
        "documentation sites count as library_source_code, GitHub as downstream_application_code",
        "old_ is the side of the older version in both directions, as the published scorer has it: the reference of"
        " new_to_old is old_code",
        "the executable subset is executable_<granularity>_completion.json: task functions with tests, whose file"
        " format the paper does not describe; `python3 prepare.py` makes its environments",
        "compatibility.json is no task of VersiCode: programs with the releases in which they were run, `answer` are"
        " those in which they run. The scorers do not read it; `driftline score` does",
        "references give EM 1.0, ISM 1.0 and PM 1.0, empty answers 0.0",
        "CDC of the published scorer reads one line by a regular expression: references whose call has several lines,"
        " or stands in a nested one, may be below 1.0. `driftline score` reads the syntax tree, where they are 1.0",
    ),
)

_SOURCE_OF = {source.source.versicode: source for source in reversed(SnippetSource)}
_TYPES = {str(tag): str(tag) for tag in VersiCodeTag} | {str(VersiCodeTag.ADDITION): "add"}
_TAG_OF = {name: tag for tag, name in _TYPES.items()} | {tag: tag for tag in _TYPES}
"""The tag of a `type`; the paper writes addition, the files add."""


def versicode(snapshot: Snapshot) -> Iterator[Result]:
    """Yield the completions, task functions and migrations of a snapshot as records of VersiCode's files."""
    for row in snapshot.rows("completions"):
        record = completion_record(row)
        placed = Placed(f"{row['granularity']}_completion.json", record, "completions", row, completion_row(record))
        yield _held(placed)
    functions = snapshot.rows("functions")
    yield from environments(snapshot, functions)
    for function in functions:
        record = function_record(function)
        file = f"executable_{function['granularity']}_completion.json"
        yield _held(Placed(file, record, "functions", function, function_row(record)))
    for migration in snapshot.rows("migrations"):
        record, file = migration_record(migration), f"migration_{migration['direction']}.json"
        yield Placed(file, record, "migrations", migration, migration_row(record))
    for block in snapshot.rows("block_completions"):
        record = foreign_record(block)
        file = f"block_completion_{block['language']}.json"
        yield _held(Placed(file, record, "block_completions", block, foreign_row(record)))

    for compatibility in snapshot.rows("compatibilities"):
        record = compatibility_record(compatibility)
        yield Placed("compatibility.json", record, "compatibilities", compatibility, compatibility_row(record))


def _held(placed: Placed) -> Result:
    """Return the record of a completion, unless its code contains the mask of the format."""
    held = next((mask for mask in (MASK, HIDDEN) if mask in placed.row["code"]), None)
    if held is None:
        return placed
    return Refused(placed.config, placed.row["id"], Unsupported.MASK_IN_CODE, f"the code contains {held}")


def completion_record(row: PublishedCompletionRow | PublishedFunctionRow) -> Record:
    """Return a completion as VersiCode has it; of a block `answer` is the API's name, and `code` the reference."""
    masked = row["code"] if row["granularity"] == Granularity.TOKEN else row["answer"]
    record = {
        "id": row["id"],
        "dependency": row["library"],
        "version": f"=={row['version']}",
        "time": f"{row['release_time']:%Y-%m-%d}",
        "description": row["description"] or "",
        "code": row["code"],
        "masked_code": as_released(row["masked_code"], row["granularity"]),
        "answer": row["core_token"],
        "core_line": core_line(masked, row["core_token"]),
        "type": _TYPES[row["versicode_tag"]],
        "granularity": str(row["granularity"]),
        "source": SnippetSource(row["source"]).source.versicode,
        "language": str(Language.PYTHON),
        "task": "completion",
    }
    if row["granularity"] == Granularity.LINE:
        record["masked_line"] = row["answer"]
    if row["granularity"] != Granularity.TOKEN:
        record["core_token"] = row["core_token"]
    return record


def core_line(code: str, core_token: str) -> str:
    """Return the first line of code that calls a name, or else has it as a whole word, or is not blank."""
    name = rf"(?<!\w){re.escape(core_token)}(?!\w)"
    patterns = (rf"{name}\s*\(", name, r"\S")
    lines = code.splitlines()
    matching = (line.strip() for pattern in patterns for line in lines if re.search(pattern, line))
    return next(matching, "")


def completion_row(record: Record) -> AnyRow:
    """Return the columns of `published_completions` that can be read from a record."""
    granularity = record["granularity"]
    core_token = record.get("core_token") or record["answer"]
    restored = from_released(record["masked_code"], record["code"], core_token, granularity)
    masked_code, answer = restored or (record["masked_code"], record.get("masked_line"))
    return {
        "id": record.get("id"),
        "library": record["dependency"],
        "version": bare_version(record["version"]),
        "description": record.get("description") or None,
        "code": record["code"],
        "masked_code": masked_code,
        "answer": answer,
        "core_token": core_token,
        "versicode_tag": _TAG_OF.get(record.get("type", "")),
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
        "environment": environment_folder(row["lock_id"]),
    }
    return completion_record(row) | {"core_token": row["core_token"]} | tested


def function_row(record: Record) -> AnyRow:
    """Return the columns of `published_functions` that can be read from a record."""
    tested = {name: record[name] for name in ("function", "module", "tests")}
    return {**completion_row(record), **tested, **record["test_cases"]}


def migration_record(row: PublishedMigrationRow) -> Record:
    """Return a migration as VersiCode has it: the older version is the old one, whichever side is given."""
    source = (row["version"], row["release_time"], row["source_code"], row["source_name"])
    target = (row["target_version"], row["target_release_time"], row["target_code"], row["target_name"])
    old, new = (source, target) if row["direction"] == Direction.OLD_TO_NEW else (target, source)
    sides = {
        f"{side}_{name}": value
        for side, values in (("old", old), ("new", new))
        for name, value in zip(("version", "time", "code", "name"), values, strict=True)
    }
    return {
        "id": row["id"],
        "dependency": row["library"],
        **sides,
        "old_version": f"=={old[0]}",
        "new_version": f"=={new[0]}",
        "old_time": f"{old[1]:%Y-%m-%d}",
        "new_time": f"{new[1]:%Y-%m-%d}",
        "description": row["description"] or "",
        "core_line": core_line(row["target_code"], row["target_name"]),
        "edit_order": str(row["direction"]),
        "type": _TYPES[row["versicode_tag"]],
        "source": SnippetSource(row["source"]).source.versicode,
        "language": str(Language.PYTHON),
        "task": "migration",
    }


def migration_row(record: Record) -> AnyRow:
    """Return the columns of `published_migrations` that can be read from a record."""
    source, target = ("old", "new") if record["edit_order"] == Direction.OLD_TO_NEW else ("new", "old")
    return {
        "id": record.get("id"),
        "library": record["dependency"],
        "version": bare_version(record[f"{source}_version"]),
        "target_version": bare_version(record[f"{target}_version"]),
        "direction": record["edit_order"],
        "versicode_tag": _TAG_OF.get(record.get("type", "")),
        "source": _SOURCE_OF.get(record.get("source", "")),
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
        "masked_code": as_released(row["masked_code"], Granularity.BLOCK),
        "answer": row["core_token"],
        "core_line": core_line(row["answer"], row["core_token"]),
        "granularity": str(Granularity.BLOCK),
        "source": SnippetSource(row["source"]).source.versicode,
        "core_token": row["core_token"],
        "language": str(row["language"]),
        "task": "completion",
    }


def foreign_row(record: Record) -> AnyRow:
    """Return the columns of `published_block_completions` that can be read from a record."""
    columns = completion_row(record)
    own = ("id", "library", "version", "description", "code", "masked_code", "answer", "core_token", "source")
    return {name: columns[name] for name in own} | {"language": record["language"]}


def compatibility_record(row: PublishedCompatibilityRow) -> Record:
    """Return a program with the releases that it is compatible with; `version` is that of the change."""
    return {
        "id": row["id"],
        "dependency": row["library"],
        "version": f"=={row['version']}",
        "time": f"{row['release_time']:%Y-%m-%d}",
        "code": row["code"],
        "output": row["output"],
        "releases": [*row["releases"]],
        "answer": [*row["compatible"]],
        "source": SnippetSource(row["source"]).source.versicode,
        "language": str(Language.PYTHON),
        "task": "compatibility",
    }


class CompatibilityColumns(TypedDict):
    """The columns of `published_compatibilities` that a record holds."""

    id: str | None
    library: str
    version: str
    code: str
    output: str
    releases: list[str]
    compatible: list[str]
    source: SnippetSource | None


def compatibility_row(record: Record) -> CompatibilityColumns:
    """Return the columns of `published_compatibilities` that can be read from a record."""
    return {
        "id": record.get("id"),
        "library": record["dependency"],
        "version": bare_version(record["version"]),
        "code": record["code"],
        "output": record["output"],
        "releases": record["releases"],
        "compatible": record["answer"],
        "source": _SOURCE_OF.get(record.get("source", "")),
    }


def bare_version(version: str) -> str:
    """Return a version without the operator that VersiCode writes before it."""
    return version.strip().removeprefix("==").strip()


FORMAT = Format(layout=_LAYOUT, results=lambda snapshot, unpack: versicode(snapshot))
