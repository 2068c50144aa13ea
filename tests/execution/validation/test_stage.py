from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome, VerdictRole
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.stage import environments_stage
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.runs import planned_versions
from pipeline.execution.validation.stage import Runner, validation_stage
from pipeline.lake.rows import ChangeRow, MigrationRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Reject
from tests.execution.validation.conftest import check
from tests.index_server import Index

SOURCES = {
    "1.0": "import time\nSTARTED, LIMIT = time.time(), 1\ndef old(): return 1\n",
    "2.0": "LIMIT = 2\ndef new(): return 1\n",
    "3.0": "1 / 0\n",
}


def release(version: str) -> Any:
    day = datetime(2021, 5, 1, tzinfo=UTC)
    row = {"library": "lib", "version": version, "release_time": day, "requires_python": None}
    return row | {"import_names": ["lib"]}


def snippet(name: str, version: str, function: str) -> Any:
    checks = [check("import lib"), check(f"lib.{function}()", "1\n")]
    row = {
        "id": name,
        "version": version,
        "last_version": version,
        "preamble": "",
        "checks": checks,
        "source": "docstring",
        "language": "python",
    }
    return row | {"code": f"import lib\nlib.{function}()"}


def tables() -> dict[str, list[Any]]:
    migration: MigrationRow = {"snippet_id": "a", "version": "1.0", "target_snippet_id": "b", "target_version": "2.0"}
    migration |= {"source_rewrite_id": None, "target_rewrite_id": None}
    return {
        "releases": [release(version) for version in SOURCES],
        "snippets": [snippet("a", "1.0", "old"), snippet("b", "2.0", "new"), snippet("c", "3.0", "new")],
        "completions": [],
        "migrations": [migration],
        "changes": [
            change("removed", "lib.old"),
            change("removed", "lib.STARTED"),
            change("attribute_value", "lib.LIMIT"),
        ],
        "symbols": [
            symbol("lib.old", "function"),
            symbol("lib.STARTED", "attribute"),
            symbol("lib.LIMIT", "attribute", last="2.0"),
        ],
    }


def change(kind: str, path: str) -> ChangeRow:
    versions = {"old_version": "1.0", "new_version": "2.0"}
    return {"id": path, "kind": kind, "path": path, "new": None, "parameter": None, **versions}


def symbol(path: str, kind: str, last: str = "1.0") -> Any:
    row: Any = {"path": path, "kind": kind, "first_version": "1.0", "last_version": last}
    return row | {"labels": [], "value": None, "canonical_path": path, "parameters": []}


def prove(index: Index, root: Path, sandbox: Sandbox, rules: ValidationRules) -> Any:
    """Build what is wanted and run all of it."""
    if not index.projects:
        for version, source in SOURCES.items():
            index.add_wheel("lib", version, {"lib.py": source}, "2021-05-01T00:00:00Z")
    shipped = environment_rules().model_copy(update={"gaps": (), "interpreters_tried": 1})
    store = EnvironmentStore(root, index_url=index.simple, rules=shipped, workers=2, sandbox=sandbox)
    rows = tables()
    built = environments_stage(
        {"releases": rows["releases"], "environments": []},
        planned_versions(**rows, executable_sources=rules.executable_sources),
        store,
    )
    return validation_stage(
        {**rows, "environments": list(built.tables["environments"]), "controlled_completions": [], "rewrites": []},
        runner=Runner(store, sandbox, rules, 2),
    )


def test_everything_planned_is_run_or_rejected(
    index: Index, tmp_path: Path, sandbox: Sandbox, rules: ValidationRules
) -> None:
    output = prove(index, tmp_path, sandbox, rules)
    for row in output.tables["verdicts"]:
        table("verdicts").check(row)
    seen = {(row["subject_id"], row["version"], row["role"], row["outcome"]) for row in output.tables["verdicts"]}
    assert seen == {
        ("a", "1.0", VerdictRole.REFERENCE, Outcome.PASSED),
        ("b", "1.0", VerdictRole.OTHER_VERSION, Outcome.API_MISSING),
        ("a", "2.0", VerdictRole.OTHER_VERSION, Outcome.API_MISSING),
        ("b", "2.0", VerdictRole.REFERENCE, Outcome.PASSED),
        ("c", "1.0", VerdictRole.OTHER_VERSION, Outcome.API_MISSING),
        ("c", "2.0", VerdictRole.OTHER_VERSION, Outcome.PASSED),
        ("lib.old", "1.0", VerdictRole.PROBE, Outcome.PASSED),
        ("lib.old", "2.0", VerdictRole.PROBE, Outcome.API_MISSING),
        ("lib.STARTED", "1.0", VerdictRole.PROBE, Outcome.PASSED),
        ("lib.STARTED", "2.0", VerdictRole.PROBE, Outcome.API_MISSING),
        ("lib.LIMIT", "1.0", VerdictRole.PROBE, Outcome.PASSED),
        ("lib.LIMIT", "2.0", VerdictRole.PROBE, Outcome.PASSED),
    }
    described = {row["observation"] for row in output.tables["verdicts"] if row["role"] == VerdictRole.PROBE}
    assert described == {
        '{"kind": "function", "signature": []}',
        '{"kind": "attribute", "type": "builtins.float"}',
        '{"kind": "attribute", "type": "builtins.int", "value": "1"}',
        '{"kind": "attribute", "type": "builtins.int", "value": "2"}',
        None,
    }
    assert output.rejects == [Reject("c 3.0", RejectReason.NO_ENVIRONMENT, "as reference: not built")]
    assert (output.units_in, output.units_out) == (13, 12)


def test_the_same_input_gives_the_same_rows(
    index: Index, tmp_path: Path, sandbox: Sandbox, rules: ValidationRules
) -> None:
    volatile = {"duration_s": None, "peak_memory_bytes": None}
    first, second = (prove(index, tmp_path / name, sandbox, rules).tables["verdicts"] for name in ("a", "b"))
    assert [row | volatile for row in first] == [row | volatile for row in second]
    assert len({row["id"] for row in first}) == len(first)
