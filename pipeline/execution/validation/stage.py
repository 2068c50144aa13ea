"""The stage `validation`: every planned run, grouped by environment, as rows of `verdicts`."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, VerdictRole
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.probes import probe, without_value
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.run_cache import RunCache, case_key, probe_key, remembered
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.runs import Run, plan_runs
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.place import at_release
from pipeline.lake.rows import (
    EnvironmentRow,
    ReleaseRow,
    RewriteRow,
    SnippetRow,
    Tables,
    VerdictRow,
)
from pipeline.lake.stage import Output, Reject


@dataclass(frozen=True)
class Runner:
    """What running takes: environments, the sandbox, the rules, how many runs go on at once, and what ran before."""

    store: EnvironmentStore
    sandbox: Sandbox
    rules: ValidationRules
    workers: int = 1
    memory: RunCache | None = None

    def run(
        self,
        environment_row: EnvironmentRow,
        runs: Sequence[Run],
        release: ReleaseRow,
        snippets: Mapping[str, SnippetRow | RewriteRow],
    ) -> list[Result]:
        """Run what is planned for one environment and was not run in it before; results in the order of the runs."""
        names = release["import_names"]
        cases = {run: _case(snippets[run.subject_id], names) for run in runs if run.role is not VerdictRole.PROBE}
        of_all = environment_row, self.sandbox, self.rules
        keys = [case_key(cases[run], *of_all) if run in cases else probe_key(run.subject_id, *of_all) for run in runs]

        def run_some(places: list[int]) -> list[Result]:
            return self._run([runs[place] for place in places], cases, self.store.open(environment_row))

        return remembered(self.memory, keys, Result, run_some)

    def _run(self, runs: Sequence[Run], cases: Mapping[Run, Case], environment: Environment) -> list[Result]:
        probed = probe(environment, [run.subject_id for run in runs if run not in cases], self.sandbox, self.rules)
        planned = [cases[run] for run in runs if run in cases]
        done = deque(run_cases(environment, planned, self.sandbox, self.rules, self.workers))
        return [done.popleft() if run in cases else probed[run.subject_id] for run in runs]


def validation_stage(
    tables: Tables,
    runner: Runner,
) -> Output:
    """Run what a library's instances need and say how each run came out; the unit is a run.

    A run that is missed in a version without an environment is a reject NO_ENVIRONMENT under "subject version". The
    value of an attribute is told only where a change is about it, whose sources then show that it is always the same.

    Errors: those of `EnvironmentStore.open`.
    """
    by_id: dict[str, SnippetRow | RewriteRow] = {row["id"]: row for row in tables["snippets"]}
    by_version = {row["version"]: row for row in tables["releases"]}
    built = {row["version"]: row for row in tables["environments"] if row["outcome"] == EnvironmentOutcome.BUILT}
    alone = runner.rules.executable_sources
    versions = built.keys() & by_version.keys()
    planned = plan_runs(
        tables["releases"],
        tables["snippets"],
        tables["completions"],
        tables["migrations"],
        tables["changes"],
        tables["symbols"],
        alone,
        tables["controlled_completions"],
        tables["rewrites"],
    )
    by_id |= {row["id"]: row for row in tables["rewrites"]}
    runs = [run for run in planned if run.version in versions or run.is_missed]
    ready = [run for run in runs if run.version in versions]
    valued = {change["path"] for change in tables["changes"] if change["kind"] == ChangeKind.ATTRIBUTE_VALUE}
    verdicts: list[VerdictRow] = []
    rejects = [_reject(run) for run in runs if run not in set(ready)]
    for version, group in _by_version(ready).items():
        with at_release(version):
            results = attempt(version, runner.run, built[version], group, by_version[version], by_id)
        if isinstance(results, Reject):
            # what they share broke: none of them has a verdict
            rejects += [replace(results, key=f"{run.subject_id} {version}") for run in group]
            continue
        rows, failed = parted(
            guarded(
                zip(group, results, strict=True),
                lambda pair: f"{pair[0].subject_id} {pair[0].version}",
                lambda pair: [verdict_row(*pair, built[pair[0].version])],
            )
        )
        verdicts += rows
        rejects += failed
    for row in verdicts:
        row["observation"] = row["observation"] if row["subject_id"] in valued else without_value(row["observation"])
    return Output({"verdicts": verdicts}, units_in=len(runs), units_out=len(verdicts), rejects=rejects)


def _case(snippet: SnippetRow | RewriteRow, import_names: Sequence[str]) -> Case:
    return Case(snippet["id"], snippet["preamble"], snippet["code"], tuple(snippet["checks"]), tuple(import_names))


def _by_version(runs: Iterable[Run]) -> dict[str, list[Run]]:
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.version].append(run)
    return groups


def verdict_row(run: Run, result: Result, environment: EnvironmentRow) -> VerdictRow:
    """Return a row of `verdicts`."""
    library, python, lock_id = environment["library"], environment["python"], environment["lock_id"]
    # what was built has both
    assert python is not None
    assert lock_id is not None
    return {
        "id": content_id(library, run.subject_id, run.version, run.role, lock_id),
        "subject_id": run.subject_id,
        "library": library,
        "version": run.version,
        "role": run.role,
        "outcome": result.outcome,
        "python": python,
        "lock_id": lock_id,
        "detail": result.detail,
        "observation": result.observation,
        "duration_s": round(result.duration_s, 4),
        "peak_memory_bytes": result.peak_memory_bytes,
    }


def _reject(run: Run) -> Reject:
    return Reject(f"{run.subject_id} {run.version}", RejectReason.NO_ENVIRONMENT, f"as {run.role}: not built")
