"""Running the sides of migrations that a model writes: what ran before is looked up, the rest runs now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from packaging.version import Version

from pipeline.core.vocabularies.running import EnvironmentOutcome, VerdictRole
from pipeline.execution.validation.runs import Run
from pipeline.execution.validation.stage import Runner, verdict_row
from pipeline.lake.rows import EnvironmentRow, ReleaseRow, RewriteRow, SnippetRow, VerdictRow
from pipeline.llm.idle import doing_nothing


class EnvironmentVerdicts:
    """The environments of a library that are built, and the verdicts on what ran in them; `fresh` are those of now."""

    def __init__(
        self,
        releases: Iterable[ReleaseRow],
        environments: Iterable[EnvironmentRow],
        verdicts: Iterable[VerdictRow],
        runner: Runner,
    ) -> None:
        self._releases = {row["version"]: row for row in releases}
        self._built = {row["version"]: row for row in environments if row["outcome"] == EnvironmentOutcome.BUILT}
        self._runner = runner
        self._verdicts = {(row["subject_id"], row["version"]): row for row in verdicts}
        self.fresh: dict[tuple[str, str], VerdictRow] = {}

    def has(self, version: str) -> bool:
        """Say whether code can be run in a version."""
        return version in self._built and version in self._releases

    def run(self, requests: Sequence[tuple[SnippetRow | RewriteRow, str]]) -> list[VerdictRow]:
        """Return the verdict on each row of `snippets` or `rewrites` in a version, in their order.

        Each runs once, through each environment together.
        """
        missing = {(row["id"], version): row for row, version in requests if (row["id"], version) not in self._verdicts}
        by_version: Mapping[str, list[SnippetRow | RewriteRow]] = defaultdict(list)
        for (_, version), row in missing.items():
            by_version[version].append(row)
        for version in sorted(by_version, key=Version):
            self._run(version, by_version[version])
        return [self._verdicts[row["id"], version] for row, version in requests]

    def _run(self, version: str, rows: Sequence[SnippetRow | RewriteRow]) -> None:
        environment = self._built[version]
        runs = [Run(row["id"], version, _role(row, version)) for row in rows]
        results = self._runner.run(environment, runs, self._releases[version], {row["id"]: row for row in rows})
        for run, result in zip(runs, results, strict=True):
            verdict = verdict_row(run, result, environment)
            self._verdicts[run.subject_id, version] = verdict
            self.fresh[run.subject_id, version] = verdict


def without(row: RewriteRow, path: str) -> RewriteRow:
    """Return a program in which an API does nothing; it has an id of its own, and no place in a table."""
    return {**row, "id": f"{row['id']} without {path}", "preamble": doing_nothing(path) + row["preamble"]}


def _role(row: SnippetRow | RewriteRow, version: str) -> VerdictRole:
    # what a model wrote is right for one release alone
    last = str(row.get("last_version") or row["version"])
    holds = Version(row["version"]) <= Version(version) <= Version(last)
    return VerdictRole.REFERENCE if holds else VerdictRole.OTHER_VERSION
