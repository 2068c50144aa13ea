"""What is known of a sample's label: the change behind it, the documentation of both versions, and the runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import cast

from msgspec import convert
from packaging.version import Version

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.functions import FunctionRun
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.validation.runs import subjects_of
from pipeline.families.family import InstanceFamily
from pipeline.families.model_migrations.tables import read_with_drafted
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import (
    AnyRow,
    ApiDocumentRow,
    DocumentRow,
    FunctionRunRow,
    MigrationRow,
    ProblemRunRow,
    VerdictRow,
)
from pipeline.lake.tables import Lake, one_of
from pipeline.quality.annotation.view import Change, Document, RunLog

_LONGEST = 20_000  # characters of a document or a log that are shown


_Run = VerdictRow | ProblemRunRow | FunctionRunRow
_OF_RUN = "role", "version", "outcome", "python", "detail"

Values = Callable[..., list[str]]
"""Returns what the instances hold in some columns."""


class Proofs:
    """What the tables of one library hold about the labels of some of its instances."""

    def __init__(self, lake: Lake, library: str, values: Values) -> None:
        of_rows = one_of("id", values("change_id"))
        self._changes = {row["id"]: row for row in lake.read("changes", library, of_rows)}
        before = [row["path"] for row in self._changes.values()]
        of_paths = one_of("path", [*values("path", "target_path"), *before])
        self._documents: dict[str, list[DocumentRow]] = defaultdict(list)
        for row in lake.read("documents", library, of_paths):
            self._documents[row["path"]].append(row)
        self._urls: dict[str, list[ApiDocumentRow]] = defaultdict(list)
        for page in lake.read("api_documents", library, of_paths):
            if page["url"]:
                self._urls[page["path"]].append(page)
        self._verdicts: dict[str, list[tuple[str, _Run]]] = defaultdict(list)
        for verdict in read_with_drafted(lake, "verdicts", library):
            self._verdicts[verdict["subject_id"]].append((verdict["subject_id"], verdict))
        for run in lake.read("problem_runs", library, one_of("problem_id", values("id")), ("problem_id", *_OF_RUN)):
            if run["role"] != ProblemRun.OTHER_RELEASE:
                self._verdicts[run["problem_id"]].append((run["role"], run))
        for of_function in lake.read(
            "function_runs", library, one_of("function_id", values("id")), ("function_id", *_OF_RUN)
        ):
            if of_function["role"] != FunctionRun.OTHER_RELEASE:
                self._verdicts[of_function["function_id"]].append((of_function["role"], of_function))
        is_built = one_of("outcome", (EnvironmentOutcome.BUILT,))
        built = {row["version"] for row in lake.read("environments", library, is_built, ("version",))}
        self.built = sorted(built, key=Version)

    def change(self, row: AnyRow) -> Change | None:
        """Return the change behind an instance."""
        change = self._changes.get(row.get("change_id") or "")
        return convert(change, Change) if change else None

    def documents(self, row: AnyRow) -> tuple[Document, ...]:
        """Return what the documentation of the versions on both sides says of the API, older first."""
        if "path" not in row or "versicode_tag" not in row:
            return ()
        places = [(row["previous_version"], row["path"]), (row["version"], row["path"])]
        if "target_version" in row:
            places = [(row["version"], row["path"]), (row["target_version"], row["target_path"])]
        elif (change := self._changes.get(row["change_id"] or "")) is not None:
            other = change["path"] if row["version"] == change["new_version"] else row["path"]
            places = [(change["old_version"], other), (row["version"], row["path"])]
        documents = [self._document(version, path) for version, path in dict.fromkeys(places) if version]
        return tuple(document for document in documents if document is not None)

    def _document(self, version: str, path: str) -> Document | None:
        rows = holding_at(self._documents.get(path, ()), version)
        if not rows:
            return None
        urls = [page["url"] for page in holding_at(self._urls.get(path, ()), version)]
        url = next((url for url in urls if url and url.startswith(("https://", "http://"))), None)
        return Document(version, path, str(rows[0]["docstring"])[:_LONGEST], url)

    def runs(self, family: InstanceFamily, row: AnyRow) -> tuple[RunLog, ...]:
        """Return the runs of an instance's code, and the probes of its API, in the releases that it is about."""
        if "outcomes" in row:
            ended = zip(row["releases"], row["outcomes"], strict=True)
            return tuple(RunLog("program", version, str(outcome), None, None) for version, outcome in ended)
        subjects = [row["path"]] if "versicode_tag" in row else []
        if family.name == Family.MIGRATION:
            subjects = [*subjects_of(cast("MigrationRow", row)), row["path"], row["target_path"]]
        elif family.own_runs:
            subjects = [row["id"]]
        elif row.get("snippet_id"):
            subjects = [row["snippet_id"], *subjects]
        versions = {row["version"], row.get("previous_version"), row.get("target_version"), row.get("other_version")}
        runs = [run for subject in dict.fromkeys(subjects) for run in self._verdicts[subject]]
        relevant = [(subject, run) for subject, run in runs if run["version"] in versions or family.own_runs]
        relevant.sort(key=lambda ran: (Version(ran[1]["version"]), ran[0]))
        return tuple(_log(run) for _, run in relevant)


def _log(run: _Run) -> RunLog:
    detail = run["detail"][-_LONGEST:] if run["detail"] else None
    return RunLog(str(run["role"]), run["version"], str(run["outcome"]), run["python"], detail)
