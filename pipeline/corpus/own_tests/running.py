"""The stage `own_test_runs`: programs of tests that changed, run at home and in the neighbouring releases."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256

from packaging.version import Version

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome, VerdictRole
from pipeline.corpus.own_tests.rules import OwnTestRules
from pipeline.corpus.own_tests.suite import dotted_name
from pipeline.execution.environments.missing import MissingRules
from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.environments.resolution.request import request_of
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.lake.guard import attempt
from pipeline.lake.ids import content_id
from pipeline.lake.intervals import chains
from pipeline.lake.place import at_release
from pipeline.lake.rows import ChangeRow, EnvironmentRow, OwnTestRow, OwnTestRunRow, ReleaseRow, Tables
from pipeline.lake.stage import Output, Reject

_TOOLS = ("pytest",)
_EXCEPTION = re.compile(r"(?:^|: )((?:\w+\.)*(?:[A-Z]\w+|gaierror))(?::|$)", re.MULTILINE)
"""How the first line of a detail names the type of an exception: `test_x: TypeError: …`."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A program to be run in a release."""

    own_test_id: str
    version: str
    role: VerdictRole


def plan(
    releases: Sequence[ReleaseRow], own_tests: Sequence[OwnTestRow], changes: Iterable[ChangeRow], most: int
) -> tuple[list[PlannedRun], list[Reject]]:
    """Return the runs of programs that another release has otherwise, or not at all, at most so many in a release.

    A program runs in the first and the last release whose suites have it, in the release before and in the one after:
    all of these runs, or none where a release has its quota. First come programs of which another release has another
    form, then those that use an API that changed.
    """
    neighbours: dict[str, tuple[str | None, str | None]] = {}
    for chain in chains(releases):
        for place, version in enumerate(chain):
            after = chain[place + 1] if place + 1 < len(chain) else None
            neighbours[version] = chain[place - 1] if place else None, after
    changed = {path for change in changes for path in (change["path"], change["new"]) if path}
    forms = Counter(row["test_id"] for row in own_tests)

    def order(row: OwnTestRow) -> tuple[bool, bool, str]:
        is_changed, uses_changed = forms[row["test_id"]] > 1, not changed.isdisjoint(row["apis"])
        return not is_changed, not uses_changed, sha256(row["test_id"].encode()).hexdigest()

    used: Counter[str] = Counter()
    planned: list[PlannedRun] = []
    rejects: list[Reject] = []
    for row in sorted(own_tests, key=order):
        first, last = row["version"], row["last_version"]
        if first not in neighbours or last not in neighbours:
            continue
        beside = [version for version in (neighbours[first][0], neighbours[last][1]) if version]
        home = sorted({first, last}) if beside else []
        if any(used[version] >= most for version in (*home, *beside)):
            detail = f"{most} programs run in a release; this one is not among the first"
            rejects.append(Reject(_key(row), RejectReason.OVER_QUOTA, detail))
            continue
        used.update((*home, *beside))
        planned += [PlannedRun(row["id"], version, VerdictRole.REFERENCE) for version in home]
        planned += [PlannedRun(row["id"], version, VerdictRole.OTHER_VERSION) for version in beside]
    return sorted(planned, key=lambda run: (Version(run.version), run.own_test_id)), rejects


def own_test_runs_stage(tables: Tables, runner: Runner, rules: OwnTestRules, missing: MissingRules) -> Output:
    """Run programs of tests at home and in the neighbouring releases; the unit is a program that is to be run.

    A program that does not pass at home is a reject, by its exception, or NOT_PROVEN; its runs are rows all the same.
    A release whose environment cannot be built is a note. Unless the rules ask for all runs nothing is run.

    Errors: those of `EnvironmentStore.open`.
    """
    if not rules.run_all:
        return Output({"own_test_runs": [], "own_test_environments": []}, 0, 0)
    releases = tables["releases"]
    programs = {row["id"]: row for row in tables["own_tests"]}
    by_version: dict[str, list[PlannedRun]] = defaultdict(list)
    planned, over = plan(releases, tables["own_tests"], tables["changes"], rules.runs_per_release)
    for run in planned:
        by_version[run.version].append(run)
    release_of = {release["version"]: release for release in releases}
    modules = {run.own_test_id: _modules(programs[run.own_test_id]) for runs in by_version.values() for run in runs}

    def build(version: str) -> EnvironmentRow | Reject:
        program_ids = {name for run in by_version[version] for name in modules[run.own_test_id]}
        return attempt(version, _build, release_of[version], program_ids, runner, missing)

    with ThreadPoolExecutor(runner.store.workers) as pool:
        built = dict(zip(by_version, pool.map(build, by_version), strict=True))
    rows: list[OwnTestRunRow] = []
    notes = [each for each in built.values() if isinstance(each, Reject)]
    environments = [each for each in built.values() if not isinstance(each, Reject)]
    for environment in environments:
        version = environment["version"]
        if environment["outcome"] != EnvironmentOutcome.BUILT:
            notes.append(Reject(version, RejectReason.NO_ENVIRONMENT, str(environment["outcome"])))
            continue
        with at_release(version):
            results = attempt(version, _run, by_version[version], environment, release_of[version], programs, runner)
        if isinstance(results, Reject):
            notes.append(results)
        else:
            rows += results
    rejects = list(not_proven({run.own_test_id for runs in by_version.values() for run in runs}, programs, rows, rules))
    passed = len(modules) - len(rejects)
    rejects += over
    return Output(
        {"own_test_runs": rows, "own_test_environments": environments}, passed + len(rejects), passed, rejects, notes
    )


def _build(
    release: ReleaseRow, modules: Collection[str], runner: Runner, missing: MissingRules
) -> EnvironmentRow | Reject:
    """Build the environment of a release with pytest and what the tests import, or with pytest alone."""
    own = {name.partition(".")[0] for name in release["import_names"]}
    distributions = {missing.modules[name] for name in modules if name in missing.modules and name not in own}
    undeclared = tuple(sorted(distributions - {release["library"]}))
    try:
        with at_release(release["version"]):
            row = runner.store.build(replace(request_of(release), tools=_TOOLS, undeclared=undeclared))
            if undeclared and row["outcome"] != EnvironmentOutcome.BUILT:
                row = runner.store.build(replace(request_of(release), tools=_TOOLS))
    except IndexUnreachable as error:
        return Reject(release["version"], RejectReason.INDEX_UNREACHABLE, str(error))
    return row


def _modules(program: OwnTestRow) -> frozenset[str]:
    """Return the top-level modules that a program imports, but for those of Python itself."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(program["preamble"] + program["code"])):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Call) and dotted_name(node).endswith("importorskip"):
            modules |= {str(each.value).partition(".")[0] for each in node.args[:1] if isinstance(each, ast.Constant)}
    return frozenset(modules - sys.stdlib_module_names)


def _run(
    runs: Sequence[PlannedRun],
    environment_row: EnvironmentRow,
    release: ReleaseRow,
    programs: Mapping[str, OwnTestRow],
    runner: Runner,
) -> list[OwnTestRunRow]:
    """Run the programs of one release: at home as often as the rules say, elsewhere once."""
    environment = runner.store.open(environment_row)
    rows: list[OwnTestRunRow] = []
    for role, rules in ((VerdictRole.REFERENCE, runner.rules), (VerdictRole.OTHER_VERSION, runner.rules.once)):
        group = [run for run in runs if run.role is role]
        cases = [_case(programs[run.own_test_id], release["import_names"]) for run in group]
        results = run_cases(environment, cases, runner.sandbox, rules, runner.workers, None, runner.memory)
        rows += [_row(run, result, environment_row) for run, result in zip(group, results, strict=True)]
    return rows


def _case(program: OwnTestRow, import_names: Sequence[str]) -> Case:
    return Case(
        program["id"], "", "", import_names=tuple(import_names), test_file=program["preamble"] + program["code"]
    )


def _row(run: PlannedRun, result: Result, environment: EnvironmentRow) -> OwnTestRunRow:
    library, python, lock_id = environment["library"], environment["python"], environment["lock_id"]
    # what was built has both
    assert python is not None
    assert lock_id is not None
    return {
        "id": content_id(library, run.own_test_id, run.version, lock_id),
        "own_test_id": run.own_test_id,
        "library": library,
        "version": run.version,
        "role": run.role,
        "outcome": result.outcome,
        "exception": exception_of(result.outcome, result.detail),
        "python": python,
        "lock_id": lock_id,
        "detail": result.detail,
        "duration_s": round(result.duration_s, 4),
    }


def exception_of(outcome: Outcome, detail: str | None) -> str | None:
    """Return the type of the exception that a detail names, without its module."""
    if outcome is Outcome.PASSED or not detail:
        return None
    match = _EXCEPTION.search(detail)
    if match is None:
        return "AssertionError" if outcome is Outcome.FAILED_ASSERTION else None
    return match[1].rpartition(".")[2]


def _key(program: OwnTestRow) -> str:
    return f"{program['test']}[{program['case']}] {program['version']}"


def not_proven(
    program_ids: Collection[str], programs: Mapping[str, OwnTestRow], rows: Iterable[OwnTestRunRow], rules: OwnTestRules
) -> Iterator[Reject]:
    """Yield the rejects of programs that do not pass in a release whose suite has them."""
    at_home: dict[str, list[OwnTestRunRow]] = defaultdict(list)
    for row in rows:
        if row["role"] == VerdictRole.REFERENCE:
            at_home[row["own_test_id"]].append(row)
    for program_id in sorted(program_ids):
        program, runs = programs[program_id], at_home[program_id]
        key = _key(program)
        failed = next((row for row in runs if row["outcome"] != Outcome.PASSED), None)
        if not runs:
            yield Reject(key, RejectReason.NO_ENVIRONMENT, "it did not run in a release whose suite has it")
        elif failed is not None:
            reason = rules.refused_exceptions.get(failed["exception"] or "", RejectReason.NOT_PROVEN)
            if failed["outcome"] == Outcome.TIMED_OUT:
                reason = RejectReason.TOO_SLOW
            elif failed["outcome"] == Outcome.FLAKY:
                reason = RejectReason.FLICKERS
            elif failed["outcome"] == Outcome.BAD_SAMPLE and "skipped" in (failed["detail"] or "").lower():
                reason = RejectReason.SKIPPED
            yield Reject(key, reason, f"{failed['version']}: {failed['outcome']}: {(failed['detail'] or '')[-300:]}")
