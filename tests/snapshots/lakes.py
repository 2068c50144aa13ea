"""A small lake whose instances come out of the real stages, and snapshots of it."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import Agreement, DirectiveKind, DirectiveOwner, Disagreement
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.functions import FunctionRun
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import FlagKind, RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome, Rung
from pipeline.core.vocabularies.samples import Codemod, DocumentSource
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource, SymbolKind
from pipeline.execution.mutation.score import MutationScore
from pipeline.families.compatibilities.rules import CompatibilityRules
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.contexts.controlled import controlled_stage
from pipeline.families.contexts.retrieval import retrievers
from pipeline.families.contexts.stage import contexts_stage
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.problems.rules import ProblemRules
from pipeline.index.release_selection import Period
from pipeline.lake.ids import content_id
from pipeline.lake.reads import PartialRow
from pipeline.lake.rows import (
    ApiDocumentRow,
    ChangeRow,
    Configurations,
    DirectiveRow,
    EnvironmentRow,
    FlagRow,
    RejectRow,
    RewriteRow,
    SnippetRow,
    SurvivalRow,
    SymbolParameter,
)
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.lake.tables import Lake
from pipeline.llm.rules import DraftingRules
from pipeline.quality.acceptance.compatibilities import compatibilities_acceptance_stage
from pipeline.quality.acceptance.completions_and_migrations import acceptance_stage
from pipeline.quality.acceptance.controlled import controlled_acceptance_stage
from pipeline.quality.acceptance.functions import functions_acceptance_stage
from pipeline.quality.acceptance.problems import problems_acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.repository_tasks import repository_acceptance_stage
from pipeline.quality.acceptance.scenes import scenes_acceptance_stage
from pipeline.quality.acceptance.sourced import PROJECTS
from pipeline.snapshots.candidate import make_candidate
from pipeline.snapshots.format.manifest import FORMAT
from pipeline.snapshots.format.reader import DATA, DEPRECATED
from pipeline.snapshots.format.rows import TABLES
from pipeline.snapshots.snapshot import Published, place
from tests.families.compatibilities.rows import compatibility
from tests.families.completions_and_migrations.rows import LIBRARY, START, TAGGING, document, life, symbol, usages
from tests.families.contexts.rows import CONTEXTS, WRITER
from tests.families.functions import rows as functions
from tests.families.problems.examples import DRAFTING, MUTATION, SPELLED_NAME
from tests.families.problems.rows import problem, run
from tests.families.repository_tasks.rows import task
from tests.families.scenes import rows as shop
from tests.quality.flags.world import EXECUTABLE_SOURCES, NEW, OLD, World, world

Tables = dict[str, list[Any]]


class _Held(Configurations):
    """Rows by configuration that a test made; a configuration that it did not make has none."""

    def __init__(self, rows: Mapping[str, Sequence[Any]]) -> None:
        self._rows = rows

    def _rows_of(self, config: str) -> Sequence[Any]:
        return self._rows.get(config, ())

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


SAME_CODE_FAILS = load(RULES / "quality.yaml", QualityRules).same_code_fails


def configurations(rows: Mapping[str, Sequence[Any]]) -> Configurations:
    """Rows by configuration as the rows of a snapshot."""
    return _Held(rows)


def tables(known: World | None = None) -> Tables:
    """Every table that a snapshot has, of one library."""
    known = known or world()
    quality = load(RULES / "quality.yaml", QualityRules)
    environments = [_environment(row["version"]) for row in known.releases]
    flags = [_flag(row["id"]) for row in known.completions[:1]]
    accepted = acceptance_stage(
        {
            "completions": known.completions,
            "migrations": known.migrations,
            "block_completions": known.block_completions,
            "drafts": known.drafts,
            "flags": flags,
            "snippets": known.snippets,
            "releases": known.releases,
            "verdicts": known.verdicts,
            "environments": environments,
            "changes": known.changes,
            "behaviours": [],
            "reviews": [],
            "symbols": [],
            "mutation_scores": [_score(row) for row in known.migrations],
            "other_answers": [],
        },
        quality,
        EXECUTABLE_SOURCES,
        load(RULES / "drafting.yaml", DraftingRules),
        MUTATION,
    )
    documents = [_api_document("lib.fetch")]
    symbols = [symbol("lib.fetch", "1.0", "1.1", parameters=[_parameter("number")]), symbol("lib.load", "2.0")]
    lives = [life("lib.fetch", "1.0", "1.1", removed_in="2.0"), life("lib.load", "2.0", "2.0")]
    uses = [use for row in (OLD, NEW) for use in usages(row, {"fetch": "lib.fetch", "load": "lib.load"})]
    completions, changes = accepted.tables["published_completions"], accepted.tables["published_changes"]
    every = retrievers(CONTEXTS.retrieval)
    of_documents = controlled_stage(
        {
            "releases": known.releases,
            "api_documents": documents,
            "symbols": symbols,
            "changes": known.changes,
            "lifecycles": lives,
        },
        TAGGING,
        CONTEXTS.controlled,
        WRITER,
        ignore_case=True,
    ).tables["controlled_completions"]
    return {
        **_rows(accepted),
        **_rows(
            controlled_acceptance_stage(
                {
                    "controlled_completions": of_documents,
                    "releases": known.releases,
                    "symbols": symbols,
                    "changes": known.changes,
                    "behaviours": [],
                    "published_changes": changes,
                    "verdicts": known.verdicts,
                    "flags": [],
                    "reviews": [],
                },
                quality,
                SPELLED_NAME,
            )
        ),
        **_rows(
            contexts_stage(
                {
                    "releases": known.releases,
                    "usages": uses,
                    "api_documents": documents,
                    "published_completions": completions,
                },
                CONTEXTS,
                WRITER,
                every,
                load(RULES / "masking.yaml", MaskingRules),
            )
        ),
        **_rows(
            compatibilities_acceptance_stage(
                {
                    "compatibilities": [
                        compatibility(known.snippets[0]["id"], lock_id=environments[0]["lock_id"], version="1.0")
                    ],
                    "snippets": known.snippets,
                    "releases": known.releases,
                    "published_changes": changes,
                    "flags": [],
                    "reviews": [],
                },
                quality,
                load(RULES / "compatibilities.yaml", CompatibilityRules),
            )
        ),
        **_problems(known.snippets, known.releases, quality),
        **_functions(known.snippets, quality),
        **_projects(quality),
        "api_documents": documents,
        "changes": known.changes,
        "directives": [
            statement("lib.load", DirectiveKind.VERSIONADDED, "2.0", "2.0", Agreement.AGREES),
            statement("lib.fetch", DirectiveKind.DEPRECATED, "1.0", "1.1", Agreement.CONTRADICTS),
        ],
        "documents": [document("lib.fetch", "Get the page of it.", "1.0", "1.1")],
        "environments": environments,
        "flags": flags,
        "lifecycles": lives,
        "rejects": [reject("3.0rc1", RejectReason.PRE_RELEASE)],
        "releases": known.releases,
        "rewrites": [_rewrite(known.changes)],
        "snippets": known.snippets,
        "survivals": [survival(row["id"]) for row in completions[:1]],
        "symbols": symbols,
        "usages": uses,
        "verdicts": known.verdicts,
    }


def _problems(snippets: list[SnippetRow], releases: list[Any], quality: QualityRules) -> Tables:
    """A problem made of the first snippet, and where it was run."""
    rows = [problem(snippet_id=snippets[0]["id"])]
    runs = [run(role, Outcome.PASSED) for role in (ProblemRun.VISIBLE, ProblemRun.HIDDEN)]
    runs.append(run(ProblemRun.REFERENCE_ELSEWHERE, Outcome.API_MISSING))
    least = load(RULES / "problems.yaml", ProblemRules)
    accepted = problems_acceptance_stage(
        {
            "problems": rows,
            "problem_runs": runs,
            "snippets": snippets,
            "symbols": [],
            "releases": releases,
            "published_changes": [],
            "flags": [],
            "reviews": [],
        },
        quality,
        least,
        MUTATION,
        DRAFTING,
    )
    return {**_rows(accepted), "problem_environments": [_environment("1.1")]}


def _functions(snippets: list[SnippetRow], quality: QualityRules) -> Tables:
    """A task function made of the first snippet, and where it was run."""
    rows = [functions.function(snippet_id=snippets[0]["id"])]
    runs = [
        functions.run(FunctionRun.TESTS, Outcome.PASSED),
        functions.run(FunctionRun.EMPTIED, Outcome.FAILED_ASSERTION),
    ]
    least, masking = load(RULES / "functions.yaml", FunctionRules), load(RULES / "masking.yaml", MaskingRules)
    accepted = functions_acceptance_stage(
        {
            "functions": rows,
            "function_runs": runs,
            "snippets": snippets,
            "published_changes": [],
            "symbols": [],
            "releases": [],
            "flags": [],
            "reviews": [],
        },
        quality,
        least,
        masking,
        MUTATION,
        DRAFTING,
    )
    return {**_rows(accepted), "function_environments": [_environment("1.1")]}


def _projects(quality: QualityRules) -> Tables:
    """A project whose tests were traced, the scenes of it, and a function of it as a task."""
    project, function = shop.project(), next(row for row in shop.functions() if row["name"] == "with_tax")
    made = task(project, function, shop.FILES[function["path"]], ["tests/test_shop.py::test_tax"])
    # acceptance reads of a project what their stages declare
    declared: Any = PartialRow({name: project.get(name) for name in PROJECTS.names})
    traced = {
        "projects": [project],
        "traced_functions": shop.functions(),
        "line_coverage": shop.line_coverage(),
        **_rows(
            repository_acceptance_stage(
                {"repository_tasks": [made], "projects": [declared], "flags": [], "reviews": []}, quality, MUTATION
            )
        ),
        **_rows(
            scenes_acceptance_stage(
                {
                    "scenes": shop.scenes(),
                    "projects": [declared],
                    "project_files": shop.files(),
                    "flags": [],
                    "reviews": [],
                },
                quality,
                MUTATION,
            )
        ),
    }
    return {name: [row | {"library": LIBRARY} for row in rows] for name, rows in traced.items()}


def _rows(output: Output) -> Tables:
    return {name: list(rows) for name, rows in output.by_table.items()}


def statement(
    path: str, directive: DirectiveKind, stated: str, found: str | None, agreement: Agreement
) -> DirectiveRow:
    """What a docstring states, and what was found."""
    return {
        "id": content_id(path, directive, stated),
        "library": LIBRARY,
        "path": path,
        "canonical_path": path,
        "first_version": "1.0",
        "last_version": None,
        "directive": directive,
        "owner": DirectiveOwner.API,
        "parameter": None,
        "attribute": None,
        "stated_version": stated,
        "text": "",
        "found_version": found,
        "agreement": agreement,
        "disagreement": Disagreement.FOUND_LATER if agreement is Agreement.CONTRADICTS else None,
    }


def _api_document(path: str) -> ApiDocumentRow:
    parts: dict[str, list[Any]] = {"parameters": [], "returns": [], "examples": [], "directives": []}
    return {
        "id": content_id(LIBRARY, path, "1.0"),
        "library": LIBRARY,
        "path": path,
        "canonical_path": path,
        "first_version": "1.0",
        "last_version": "1.1",
        "kind": SymbolKind.FUNCTION,
        "signature": "(number)",
        "description": "Get the page of it.",
        "source": DocumentSource.DOCSTRING,
        "url": None,
        **parts,
    }


def survival(of: str, **changed: Any) -> SurvivalRow:
    """A completion of an earlier snapshot that was run again, and passed."""
    head = {"snapshot": "mine-2020-01-01", "manifest_sha256": "0" * 64, "period": "2020-02", "day": "2020-02-02"}
    what = {"family": Family.COMPLETION, "instance_id": of, "library": LIBRARY, "version": "1.0", "probed": False}
    how = {"survives": True, "reason": None, "outcome": Outcome.PASSED, "detail": None, "drawn_share": 1.0}
    return {**head, **what, **how, "lock_ids": ["1" * 32], "yanked": [], **changed}


def _score(migration: Any) -> Any:
    """What the stated outputs of its target notice of mutants."""
    subject, version = migration["target_snippet_id"], migration["target_version"]
    columns = MutationScore(8, 7).columns
    return {
        "id": migration["id"],
        "subject_id": subject,
        "library": LIBRARY,
        "version": version,
        "lock_id": "",
        **columns,
    }


def _rewrite(changes: list[ChangeRow]) -> RewriteRow:
    """The first snippet as the renaming writes it for 2.0."""
    code = OLD["code"].replace("fetch", "load")
    edit = {"path": "lib.fetch", "parameter": None, "old": "fetch", "new": "load"}
    return {
        "id": content_id("rewrite", LIBRARY, "2.0", OLD["preamble"], code),
        "library": LIBRARY,
        "version": "2.0",
        "snippet_id": OLD["id"],
        "snippet_version": "1.1",
        "changes": [change["id"] for change in changes],
        "preamble": OLD["preamble"],
        "code": code,
        "checks": [],
        "edits": [{"codemod": Codemod.NAME, "line": 1, **edit}],
    }


def _parameter(name: str) -> SymbolParameter:
    columns = {"default": None, "annotation": None, "known_from": ParameterSource.SIGNATURE}
    return {"name": name, "kind": ParameterKind.POSITIONAL_OR_KEYWORD, **columns}


def _environment(version: str) -> EnvironmentRow:
    return {
        "library": LIBRARY,
        "version": version,
        "outcome": EnvironmentOutcome.BUILT,
        "python": "3.9",
        "python_full": "3.9.18",
        "cutoff": START,
        "rung": Rung.WHEELS,
        "lock_id": f"lock-{version}",
        "lock": f"{LIBRARY}=={version}\n",
        "import_names": [LIBRARY],
        "detail": None,
        "missing": None,
        "attempts": [],
        "build_s": 1.5,
    }


def _flag(instance: str) -> FlagRow:
    return {
        "id": content_id(instance, FlagKind.AUDIT),
        "library": LIBRARY,
        "instance_id": instance,
        "kind": FlagKind.AUDIT,
        "evidence": "drawn",
    }


def reject(key: str, reason: RejectReason) -> RejectRow:
    """Something that the crawl refused."""
    return {"stage": "crawl", "library": LIBRARY, "key": key, "reason": reason, "detail": "as it is"}


def fill(root: Path, content: Tables) -> Lake:
    """Write tables into a lake."""
    lake = Lake(root)
    for name, rows in content.items():
        lake.write(name, LIBRARY, rows)
    return lake


def publish(
    lake: Lake,
    candidates: Path,
    snapshots: Path,
    profile: str,
    libraries: Sequence[str],
    period: Period,
    rules: Mapping[str, str],
) -> Published:
    """Make a candidate of a profile and place it without release checks."""
    return place(
        make_candidate(lake, candidates, snapshots, profile, libraries, period, rules, SAME_CODE_FAILS), snapshots
    )


def publish_lake(lake: Lake, snapshots: Path, period: Period | None = None, rules: str = "rules") -> Published:
    """Publish the only library of a lake."""
    return publish(lake, candidates(lake), snapshots, "mine", [LIBRARY], period or Period(), {"rules": rules})


@cache
def _demo_lake() -> tempfile.TemporaryDirectory[str]:
    """The small lake in a folder that lasts as long as the process."""
    place = tempfile.TemporaryDirectory()
    fill(Path(place.name, "lake"), tables())
    return place


@cache
def _demo_snapshot() -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """A data folder with the small lake and a snapshot of it, and where in it the snapshot is."""
    place = tempfile.TemporaryDirectory()
    root = Path(place.name)
    return place, publish_lake(demo_lake(root / "lake"), root / "snapshots").path.relative_to(root)


def demo_lake(root: Path) -> Lake:
    """Copy the small lake, which takes a tenth of the time that writing its tables does."""
    return Lake(Path(shutil.copytree(Path(_demo_lake().name, "lake"), root)))


def demo_snapshot(data: Path) -> Path:
    """Copy the small lake and what was published of it into a data folder; return the snapshot."""
    place, snapshot = _demo_snapshot()
    shutil.copytree(place.name, data, symlinks=True, dirs_exist_ok=True)
    return data / snapshot


def candidates(lake: Lake) -> Path:
    """Where a lake's candidates are made."""
    return lake.root.parent / "candidates"


def contents(folder: Path) -> dict[str, str]:
    """The hash of every file below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def edit_manifest(snapshot: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a manifest in place."""
    path = snapshot / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))


def seal(snapshot: Path) -> None:
    """Make the manifest say what the files are now, as somebody would who wants a change to pass unnoticed."""

    def measure(manifest: dict[str, Any]) -> None:
        for entry in manifest["files"]:
            content = (snapshot / entry["path"]).read_bytes()
            entry |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}

    edit_manifest(snapshot, measure)


_FORMAT_1 = {"version_statement": "stated", "missing_test_kinds": "lacking", "observation": "seen"}
"""Columns, with the names that they had in format 1; the table `line_coverage` was called `reaches`."""


def to_format_1(snapshot: Path) -> None:
    """Give tables and columns the names that they had in format 1."""
    renamed: set[str] = set()
    for path in (snapshot / "data").glob("*.parquet"):
        data = pq.read_table(path, partitioning=None)
        renamed |= _FORMAT_1.keys() & set(data.column_names)
        pq.write_table(data.rename_columns([_FORMAT_1.get(column, column) for column in data.column_names]), path)
    assert renamed == _FORMAT_1.keys()
    (snapshot / "data" / "line_coverage.parquet").rename(snapshot / "data" / "reaches.parquet")

    def older(manifest: dict[str, Any]) -> None:
        manifest["format"] = 1
        entry = next(entry for entry in manifest["files"] if entry.get("table") == "line_coverage")
        entry.update(table="reaches", path="data/reaches.parquet")

    edit_manifest(snapshot, older)
    seal(snapshot)


def stamp(snapshot: Path, **changes: Any) -> Path:
    """Write the manifest of a folder with the tables of a snapshot in it."""
    known = {f"{split}/{config}.parquet": table for split in (DATA, DEPRECATED) for config, table in TABLES.items()}
    files = [path for path in sorted(snapshot.rglob("*")) if path.is_file() and path.name != "manifest.json"]
    entries: list[dict[str, Any]] = [{"path": path.relative_to(snapshot).as_posix()} for path in files]
    for entry, path in zip(entries, files, strict=True):
        if entry["path"] in known:
            entry |= {"table": known[entry["path"]], "rows": pq.read_metadata(path).num_rows}
    period = {"since": None, "until": None}
    head = {"format": FORMAT, "driftline": "0", "profile": "mine", "period": period, "rules_sha256": ""}
    manifest = head | {"libraries": {}, "tags": {}, "files": entries} | changes
    snapshot.mkdir(parents=True, exist_ok=True)
    (snapshot / "manifest.json").write_text(json.dumps(manifest))
    seal(snapshot)
    return snapshot


def write_columns(snapshot: Path, config: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write some columns of a table, with the types that they are declared with, as an older driftline may have."""
    names = {name for row in rows for name in row}
    schema = pa.schema([field for field in table(TABLES[config]).arrow(volatile=False) if field.name in names])
    path = snapshot / "data" / f"{config}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema), path)
