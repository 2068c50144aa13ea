"""Edits in the sandbox: what the pipeline would run of an instance, in the environments of the lake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow.compute as pc

from pipeline.core.settings import Settings, index_url
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import SandboxUnavailable, find_sandbox
from pipeline.execution.validation.cases import Result
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.families.all_families import BY_NAME
from pipeline.families.model_migrations.tables import read_with_drafted
from pipeline.lake.rows import AnyRow, EnvironmentRow
from pipeline.lake.tables import Lake, one_of
from pipeline.quality.all_rules import CurationRules
from pipeline.quality.annotation.entries import Validation
from pipeline.quality.annotation.leaks import leak_of
from pipeline.quality.annotation.planned_runs import Planned, planned
from pipeline.quality.annotation.queue import look
from pipeline.quality.annotation.store import Store
from pipeline.quality.flags.reviews import edited


@dataclass(frozen=True)
class LakeValidator:
    """Runs edits of the samples of a review database over the lake of these settings."""

    store: Store
    settings: Settings

    @cached_property
    def rules(self) -> CurationRules:
        """The rules that the pipeline runs by."""
        return CurationRules.read()

    @cached_property
    def lake(self) -> Lake:
        """The lake that the samples are from."""
        return Lake(self.settings.lake_root)

    @cached_property
    def runner(self) -> Runner:
        """What runs code: nothing does where no sandbox holds."""
        environments = EnvironmentStore(
            self.settings.cache / "environments",
            index_url=index_url(),
            rules=self.rules.environments,
            workers=self.settings.workers,
        )
        return Runner(environments, find_sandbox(), self.rules.validation, self.settings.workers)

    def check(self, sample_id: str, after: dict[str, str]) -> Validation:
        """Return what comes of a sample whose fields have these values.

        Names must stay hidden, masks must fit, and what was edited has to run as the pipeline would run it.
        """
        sample = look(self.store, sample_id)
        family, library = sample.entry.family, sample.entry.library
        rows = read_with_drafted(self.lake, BY_NAME[family].table, library, pc.field("id") == sample_id)
        if not rows:
            return Validation(False, "the lake no longer has this instance: run a refresh, and look at it again", ())
        changed = {name: value for name, value in after.items() if sample.view.content.get(name) != value}
        releases = {row["version"]: row for row in self.lake.read("releases", library)}
        if (version := changed.get("version", rows[0]["version"])) not in releases:
            return Validation(False, f"the lake no longer has {library} {version}: run a refresh, and look again", ())
        row = edited(family, rows[0], changed, releases)
        if problem := leak_of(family, row, changed, self.rules):
            return Validation(False, problem, ())
        try:
            runs = list(self._run(family, library, row, planned(self.lake, family, rows[0], row, self.rules)))
        except (SandboxUnavailable, StepFailed, IndexUnreachable, OSError) as error:
            return Validation(False, f"it could not be run: {error}", ())
        problem = _problem(runs, self.rules.problems.min_coverage)
        return Validation(problem is None, problem, tuple(run for _, run in runs))

    def _run(
        self, family: Family, library: str, row: AnyRow, planned_runs: Sequence[Planned]
    ) -> Iterator[tuple[Planned, dict[str, object]]]:
        """Run what is planned, environment by environment."""
        table = BY_NAME[family].environments
        versions = sorted({each.version for each in planned_runs})
        environments = self.lake.read(table, library, one_of("version", versions)) if planned_runs and table else ()
        rows = {each["version"]: each for each in environments}
        for version in versions:
            group = [each for each in planned_runs if each.version == version]
            place = rows.get(version)
            if place is None or place["outcome"] != EnvironmentOutcome.BUILT:
                yield from ((each, _unbuilt(each)) for each in group if each.must_pass)
                continue
            environment = self.runner.store.open(place)
            cases = [each.case(place["import_names"]) for each in group]
            results = run_cases(environment, cases, self.runner.sandbox, self.runner.rules, self.runner.workers)
            for each, result in zip(group, results, strict=True):
                yield each, _row(each, place, result)


def _row(each: Planned, place: EnvironmentRow, result: Result) -> dict[str, object]:
    covered = result.coverage
    return {
        "subject": each.subject,
        "version": each.version,
        "outcome": str(result.outcome),
        "python": place["python"],
        "lock_id": place["lock_id"],
        "detail": result.detail,
        "code": each.code,
        "statements": covered.statements if covered else None,
        "executed": len(covered.executed) if covered else None,
    }


def _unbuilt(each: Planned) -> dict[str, object]:
    return {"subject": each.subject, "version": each.version, "outcome": str(Outcome.NO_ENVIRONMENT)}


def _problem(runs: Sequence[tuple[Planned, Mapping[str, object]]], min_coverage: float) -> str | None:
    """Say what is wrong with the runs of an edit: what must pass does not, or tests execute too little."""
    for each, run in runs:
        if each.must_pass and run["outcome"] != Outcome.PASSED:
            detail = f"\n{run['detail']}" if run.get("detail") else ""
            return f"{each.label} ends in {each.version} as {run['outcome']}{detail}"
        statements, executed = run.get("statements"), run.get("executed")
        if isinstance(statements, int) and isinstance(executed, int) and executed < min_coverage * statements:
            share = f"{executed} of {statements} statements of the program"
            return f"{each.label} execute {share}, {min_coverage:.0%} are wanted"
    return None
