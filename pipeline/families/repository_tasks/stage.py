"""The stage `projects`: real projects with their own tests, and what those tests execute of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256

from pipeline.core.vocabularies.projects import ProjectOutcome, TestOutcome
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.corpus.dependents.about import read_about
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.families.repository_tasks.bindings import Bindings
from pipeline.families.repository_tasks.choosing import Chosen, choose
from pipeline.families.repository_tasks.dependencies import dependencies
from pipeline.families.repository_tasks.functions import Function, Skipped
from pipeline.families.repository_tasks.project import Project, Variant
from pipeline.families.repository_tasks.project_context import ProjectContext
from pipeline.families.repository_tasks.running import run_variants
from pipeline.families.repository_tasks.sdists import TooLarge
from pipeline.families.repository_tasks.test_dependencies import requirements_of_tests
from pipeline.families.repository_tasks.trace import Executions, SourceFile, executions_of, flaky, passing, read_files
from pipeline.families.repository_tasks.tree import Tree
from pipeline.families.repository_tasks.variant_runs import TestRun
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import BadAnswer, NotFound, Unreachable, WrongHash
from pipeline.index.licences import LicenceRules, is_allowed
from pipeline.index.manifest import parse_metadata
from pipeline.lake.guard import attempt, parted
from pipeline.lake.ids import content_id
from pipeline.lake.rows import LineCoverageRow, ProjectFileRow, ProjectRow, Tables, TracedFunctionRow
from pipeline.lake.stage import Output, Reject

_TOPIC = "Topic :: "
_REFUSED: dict[type[Exception], ProjectOutcome] = {
    TooLarge: ProjectOutcome.TOO_LARGE,
    WrongHash: ProjectOutcome.BAD_ARCHIVE,
    BadArchive: ProjectOutcome.BAD_ARCHIVE,
    UnsafeArchive: ProjectOutcome.BAD_ARCHIVE,
    NotFound: ProjectOutcome.NO_SDIST,
    BadAnswer: ProjectOutcome.NO_SDIST,
}
_ANOTHER_TRY = (ProjectOutcome.NO_ENVIRONMENT, ProjectOutcome.NOT_COLLECTED)
"""What may come out otherwise with other versions of what the tests ask for: an old pytest on a newer Python."""

_FAILED = (TestOutcome.FAILED, TestOutcome.ERROR, TestOutcome.TIMED_OUT, TestOutcome.NOT_RUN)


@dataclass
class Traced:
    """A project's row, and the rows of what its tests reach, as far as it came; `notes` are parts that were refused."""

    row: ProjectRow
    files: list[ProjectFileRow] = field(default_factory=list)
    functions: list[TracedFunctionRow] = field(default_factory=list)
    line_coverage: list[LineCoverageRow] = field(default_factory=list)
    notes: list[Reject] = field(default_factory=list)
    passing: bool = False
    """Whether the reason may pass by itself: the index did not answer."""


def projects_stage(
    tables: Tables,
    project_context: ProjectContext,
    licences: LicenceRules,
    allowed: Collection[str],
) -> Output:
    """Trace the tests of a library's projects; the unit is a project.

    One that is not traced has its row, which says why, and is a reject NOT_PROVEN, NO_FILES, NO_ENVIRONMENT,
    TOO_LARGE, BAD_ARCHIVE or LICENCE (none of those `allowed`: nothing of its code could be published); one for which
    the index did not answer is INDEX_UNREACHABLE and has none, nor has an INTERNAL_ERROR. Functions that are refused
    (their body has no lines of its own, or they were not seen alike on every repeat) and files that do not parse are
    notes.
    """
    chosen = choose(tables["releases"], tables["code_samples"], project_context.rules)
    with ThreadPoolExecutor(project_context.workers) as pool:
        tried = list(
            pool.map(
                lambda project: attempt(project.purl, trace_project, project, project_context, licences, allowed),
                chosen,
            )
        )
    results, failed = parted(tried)
    rejects = failed + [
        _reject(result.row, result.passing) for result in results if result.row["outcome"] != ProjectOutcome.TRACED
    ]
    built: Tables = {
        "projects": [result.row for result in results if not result.passing],
        "project_files": [row for result in results for row in result.files],
        "traced_functions": [row for result in results for row in result.functions],
        "line_coverage": [row for result in results for row in result.line_coverage],
    }
    notes = [note for result in results for note in result.notes]
    return Output(built, units_in=len(chosen), units_out=len(chosen) - len(rejects), rejects=rejects, notes=notes)


def trace_project(
    chosen: Chosen, project_context: ProjectContext, licences: LicenceRules, allowed: Collection[str]
) -> Traced:
    """Fetch a project, install what its tests ask for, run them under the tracer as often as the rules say."""
    row = _empty_row(chosen)
    try:
        return _trace(chosen, row, project_context, licences, allowed)
    except tuple(_REFUSED) as error:
        return Traced({**row, "outcome": _REFUSED[type(error)], "detail": str(error)[:500]})
    except (Unreachable, IndexUnreachable) as error:
        return Traced({**row, "outcome": ProjectOutcome.NO_SDIST, "detail": str(error)}, passing=True)
    except StepFailed as error:
        return Traced({**row, "outcome": ProjectOutcome.NO_ENVIRONMENT, "detail": f"{error.outcome}: {error.detail}"})


def _trace(
    chosen: Chosen, row: ProjectRow, project_context: ProjectContext, licences: LicenceRules, allowed: Collection[str]
) -> Traced:
    file = project_context.sources.find(chosen.project, chosen.version)
    if file is None:
        return Traced({**row, "outcome": ProjectOutcome.NO_SDIST, "detail": "the index lists none"})
    row["sdist"], row["sha256"], row["size"], row["url"] = file.filename, file.sha256, file.size, file.url
    tree = project_context.sources.tree(chosen.project, chosen.version, file.sha256, file.size)
    row["root"], row["import_root"] = tree.root, tree.import_root
    _add_metadata(row, tree, licences)
    if row["licence"] is None or not is_allowed(row["licence"], allowed):
        detail = row["licence"] or "no licence that can be read"
        return Traced({**row, "outcome": ProjectOutcome.LICENCE, "detail": detail})
    if not tree.test_files:
        return Traced({**row, "outcome": ProjectOutcome.NO_TESTS, "detail": "no file has a name of tests"})
    requirements = requirements_of_tests(tree, chosen.project, project_context.rules)
    row["requirements_from"] = list(requirements.places)
    tried = []
    for pins in requirements.attempts():
        tried.append(_attempt(chosen, {**row, "requirements": list(pins)}, tree, project_context))
        if tried[-1].row["outcome"] not in _ANOTHER_TRY:
            return tried[-1]
    return tried[0]


def _attempt(chosen: Chosen, row: ProjectRow, tree: Tree, project_context: ProjectContext) -> Traced:
    """Install a project with what its tests ask for, and run them as often as the rules say."""
    built = project_context.store.build(chosen.request(tuple(row["requirements"])))
    row["python"], row["cutoff"], row["rung"] = built["python"], built["cutoff"], built["rung"]
    row["lock_id"], row["lock"], row["import_names"] = built["lock_id"], built["lock"], built["import_names"]
    if built["outcome"] != EnvironmentOutcome.BUILT:
        detail = f"{built['outcome']}: {built['detail'] or ''}".strip()
        return Traced({**row, "outcome": ProjectOutcome.NO_ENVIRONMENT, "detail": detail[-500:]})
    row["packages"] = tree.packages([*built["import_names"], *chosen.import_names])
    environment = project_context.store.open(built)
    project = Project(
        tree,
        tuple(row["packages"]),
        environment,
        project_context.sandbox,
        project_context.rules,
        project_context.memory,
    )
    with ThreadPoolExecutor(project_context.workers) as pool:
        runs = list(pool.map(lambda repeat: _run(project, repeat), range(project_context.rules.repeats)))
    return _judged(row, project, runs)


def _run(project: Project, repeat: int) -> TestRun:
    return run_variants(project, [Variant(str(repeat), trace=True)], repeat=repeat)[0]


def _judged(row: ProjectRow, project: Project, runs: Sequence[TestRun]) -> Traced:
    """Return what the runs of a project came to."""
    row["duration_s"] = round(sum(run.duration_s for run in runs), 3)
    broken = next((run for run in runs if run.outcome is not Outcome.PASSED), None)
    if broken is not None:
        outcome = ProjectOutcome.TIMED_OUT if broken.outcome is Outcome.TIMED_OUT else ProjectOutcome.NOT_COLLECTED
        return Traced({**row, "outcome": outcome, "detail": f"{broken.outcome}: {broken.detail or ''}"[:500]})
    first, tests, unsure = runs[0], passing(runs), set(flaky(runs))
    row["tests_collected"], row["tests_run"], row["tests_passed"] = first.collected, len(first.outcomes), len(tests)
    row["tests_skipped"] = _count(first, unsure, (TestOutcome.SKIPPED,))
    row["tests_failed"], row["tests_flaky"] = _count(first, unsure, _FAILED), len(unsure)
    if not tests:
        outcome = ProjectOutcome.NONE_PASSED if first.outcomes else ProjectOutcome.NOT_COLLECTED
        return Traced({**row, "outcome": outcome, "detail": first.detail or "pytest finds no test in them"})
    return _reached(row, project, runs, tests)


def _count(run: TestRun, unsure: set[str], outcomes: Sequence[TestOutcome]) -> int:
    return sum(outcome in outcomes and test not in unsure for test, outcome in run.outcomes.items())


def _reached(row: ProjectRow, project: Project, runs: Sequence[TestRun], tests: Sequence[str]) -> Traced:
    """Return the rows of the functions that the passing tests reach, alike on every repeat."""
    sources = project.sources
    files, unread, bindings = read_files(project.tree, sources)
    traced = Traced(row)
    purl = row["purl"]
    traced.notes += [Reject(f"{purl}#{path}", RejectReason.UNPARSED_SOURCE, why) for path, why in unread.items()]
    traces = [executions_of(run, tests, sources, files) for run in runs]
    for file in files.values():
        for function in file.functions:
            place = (file.path, function.first_line)
            executions = [result.get(place, Executions()) for result in traces]
            if not any(result.tests for result in executions):
                continue
            key = f"{purl}#{function.namespace}"
            built = attempt(key, _function, row, file, function, executions, bindings)
            if isinstance(built, Reject):
                traced.notes.append(built)
            else:
                traced.functions.append(built[0])
                traced.line_coverage += built[1]
    _keep_once(traced)
    paths = {built["path"] for built in traced.functions}
    traced.files = [_file(row, project.tree, files[path]) for path in sorted(paths)]
    row["functions"] = len(traced.functions)
    row["outcome"] = ProjectOutcome.TRACED if row["functions"] else ProjectOutcome.NOTHING_REACHED
    return traced


def _function(
    row: ProjectRow,
    file: SourceFile,
    function: Function | Skipped,
    executions: Sequence[Executions],
    bindings: Bindings,
) -> tuple[TracedFunctionRow, list[LineCoverageRow]] | Reject:
    key = f"{row['purl']}#{function.namespace}"
    if isinstance(function, Skipped):
        return Reject(key, RejectReason.NO_BLOCK, function.why)
    if any(result.tests != executions[0].tests for result in executions) or any(
        result.called.keys() != executions[0].called.keys() for result in executions
    ):
        return Reject(key, RejectReason.FLICKERS, "tests, lines or calls differ between repeats")
    lines = file.text.split("\n")
    executed = frozenset().union(*executions[0].tests.values())
    used = dependencies(function, lines, executed, executions[0].called.values(), file.module, bindings)
    code = "\n".join(lines[function.first_line - 1 : function.body[1]])
    built: TracedFunctionRow = {
        "id": content_id(row["id"], file.path, function.namespace, code),
        "project_id": row["id"],
        "library": row["library"],
        "version": row["version"],
        "path": file.path,
        "namespace": function.namespace,
        "type": function.type,
        "class_name": function.class_name,
        "name": function.name,
        "signature_first_line": function.signature[0],
        "signature_last_line": function.signature[1],
        "body_first_line": function.body[0],
        "body_last_line": function.body[1],
        "indent": function.indent,
        "docstring": function.docstring,
        "intra_class": list(used.intra_class),
        "intra_file": list(used.intra_file),
        "cross_file": list(used.cross_file),
        "tests": len(executions[0].tests),
        "executed_lines": sorted(executed),
    }
    line_coverage: list[LineCoverageRow] = [
        {"function_id": built["id"], "library": row["library"], "test": test, "lines": sorted(reached)}
        for test, reached in sorted(executions[0].tests.items())
    ]
    return built, line_coverage


def _keep_once(traced: Traced) -> None:
    """Leave out functions that stand twice in a file with one name and one text, since nobody could tell them apart."""
    ids = [built["id"] for built in traced.functions]
    twice = {result for result in ids if ids.count(result) > 1}
    if twice:
        named = sorted({f["namespace"] for f in traced.functions if f["id"] in twice})
        why = "it stands twice in its file, with the same code"
        traced.notes += [Reject(f"{traced.row['purl']}#{name}", RejectReason.DUPLICATE, why) for name in named]
        traced.functions = [f for f in traced.functions if f["id"] not in twice]
        traced.line_coverage = [reach for reach in traced.line_coverage if reach["function_id"] not in twice]


def _file(row: ProjectRow, tree: Tree, file: SourceFile) -> ProjectFileRow:
    hashed = sha256(tree.files[file.path]).hexdigest()
    return {"project_id": row["id"], "library": row["library"], "path": file.path, "sha256": hashed, "text": file.text}


def _add_metadata(row: ProjectRow, tree: Tree, licences: LicenceRules) -> None:
    """Add what the core metadata of the source distribution says of licence, author, address and topic."""
    metadata = tree.files.get("PKG-INFO", b"").decode("utf-8", "replace")
    about = read_about(metadata, licences)
    topics = [result for result in parse_metadata(metadata).classifiers if result.startswith(_TOPIC)]
    row["licence"] = row["licence"] or about.licence
    row["attribution"] = row["attribution"] or about.attribution
    row["project_url"] = about.url
    row["domain"] = topics[0].removeprefix(_TOPIC) if topics else None


def _empty_row(chosen: Chosen) -> ProjectRow:
    return {
        "id": chosen.id,
        "library": chosen.library,
        "project": chosen.project,
        "version": chosen.version,
        "release_time": chosen.release_time,
        "purl": chosen.purl,
        "licence": chosen.licence,
        "attribution": chosen.attribution,
        "outcome": "",
        "detail": None,
        "sdist": None,
        "sha256": None,
        "size": None,
        "url": None,
        "root": None,
        "import_root": None,
        "packages": [],
        "requirements": [],
        "requirements_from": [],
        "python": None,
        "cutoff": None,
        "rung": None,
        "lock_id": None,
        "lock": None,
        "import_names": [],
        "tests_collected": 0,
        "tests_run": 0,
        "tests_passed": 0,
        "tests_failed": 0,
        "tests_skipped": 0,
        "tests_flaky": 0,
        "functions": 0,
        "project_url": None,
        "domain": None,
        "duration_s": None,
    }


def _reject(row: ProjectRow, passing_by: bool) -> Reject:
    reasons: Mapping[str, RejectReason] = {
        ProjectOutcome.NO_SDIST: RejectReason.NO_FILES,
        ProjectOutcome.NO_TESTS: RejectReason.NO_FILES,
        ProjectOutcome.TOO_LARGE: RejectReason.TOO_LARGE,
        ProjectOutcome.BAD_ARCHIVE: RejectReason.BAD_ARCHIVE,
        ProjectOutcome.LICENCE: RejectReason.LICENCE,
        ProjectOutcome.NO_ENVIRONMENT: RejectReason.NO_ENVIRONMENT,
    }
    reason = RejectReason.INDEX_UNREACHABLE if passing_by else reasons.get(row["outcome"], RejectReason.NOT_PROVEN)
    return Reject(row["purl"], reason, f"{row['outcome']}: {row['detail'] or ''}")
