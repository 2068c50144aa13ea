"""The scenes stage: blocks of functions that a project's tests reach become editor scenes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.core.vocabularies.projects import ProjectOutcome
from pipeline.core.vocabularies.review import RejectReason
from pipeline.execution.mutation.rules import MutationRules
from pipeline.families.scenes.candidates import candidates_of, place
from pipeline.families.scenes.choosing import choose
from pipeline.families.scenes.proving import Proven, ReadTests, RunVariants, prove
from pipeline.families.scenes.rules import SceneRules
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.rows import LineCoverageRow, ProjectFileRow, ProjectRow, R, SceneRow, Tables, TracedFunctionRow
from pipeline.lake.stage import Output, Reject


def scenes_stage(
    tables: Tables,
    rules: SceneRules,
    mutation: MutationRules,
    run: RunVariants,
    read_tests: ReadTests,
) -> Output:
    """Make the table `scenes` of a library; the unit is a planned scene, or a function of which none is planned.

    Refused are functions of files that are too long to be shown (TOO_LONG) or no Python 3 (UNPARSED_SOURCE). So are
    those without a block of the right size that tests run (NO_BLOCK), and those of which no block was drawn
    (OVER_QUOTA). A scene is NOT_PROVEN if its tests do not pass when they run again without tracing. It has WEAK_TESTS
    if they pass with a wrong answer too. It is UNKNOWABLE if they check a text that only the block has, or if the
    block needs names that are not shown. Its key is the id that the row would have.
    """
    files, functions = _by_project(tables["project_files"]), _by_project(tables["traced_functions"])
    of_function = _grouped(tables["line_coverage"], "function_id")
    rows: list[SceneRow] = []
    rejects: dict[str, Reject] = {}
    planned: set[str] = set()
    for project in sorted(tables["projects"], key=lambda row: str(row["id"])):
        if project["outcome"] != ProjectOutcome.TRACED:
            continue
        of_project = functions[project["id"]]
        by_path = {row["path"]: row for row in files[project["id"]]}
        results = attempt(
            project["purl"],
            _of_project,
            project,
            of_project,
            by_path,
            of_function,
            rules,
            mutation,
            run,
            read_tests,
        )
        if isinstance(results, Reject):
            rejects |= {row["id"]: replace(results, key=row["id"]) for row in of_project}
            continue
        scenes, refused = parted(results.scenes)
        rejects |= {reject.key: reject for reject in refused}
        planned |= results.functions
        rows += scenes
    for function in tables["traced_functions"]:
        if function["id"] not in planned and function["id"] not in rejects:
            rejects[function["id"]] = _not_drawn(function)
    refused = sorted(rejects.values(), key=lambda reject: reject.key)
    return Output({"scenes": rows}, len(rows) + len(refused), len(rows), refused)


@dataclass(frozen=True, slots=True)
class _Results:
    """The scenes of a project and its rejects, and the functions of which a scene was planned."""

    scenes: Sequence[SceneRow | Reject]
    functions: frozenset[str]


def _of_project(
    project: ProjectRow,
    functions: Sequence[TracedFunctionRow],
    files: Mapping[str, ProjectFileRow],
    line_coverage: Mapping[str, Sequence[LineCoverageRow]],
    rules: SceneRules,
    mutation: MutationRules,
    run: RunVariants,
    read_tests: ReadTests,
) -> _Results:
    """Return the scenes of a project, or why there are none; `files` are by path, `line_coverage` by function."""
    candidates, refused = candidates_of(functions, files, rules)
    chosen = choose(candidates, files, functions, rules)
    proven, unproven = parted(prove(project, chosen, line_coverage, rules, mutation, run, read_tests))
    rows = guarded(proven, lambda result: result.planned.id, lambda result: [_row(project, result)])
    return _Results([*refused, *unproven, *rows], frozenset(each.candidate.function["id"] for each in chosen))


def _by_project(rows: Iterable[R]) -> dict[str, list[R]]:
    return _grouped(rows, "project_id")


def _grouped(rows: Iterable[R], column: str) -> dict[str, list[R]]:
    grouped: dict[str, list[R]] = defaultdict(list)
    for row in rows:
        grouped[row[column]].append(row)
    return grouped


def _not_drawn(function: TracedFunctionRow) -> Reject:
    return Reject(function["id"], RejectReason.OVER_QUOTA, f"no block of {function['namespace']} was drawn")


def _row(project: ProjectRow, proven: Proven) -> SceneRow:
    planned = proven.planned
    candidate, view = planned.candidate, planned.view
    file, function, block = candidate.file, candidate.function, candidate.block
    start, end = view.middle
    return {
        "id": planned.id,
        "project_id": project["id"],
        "function_id": function["id"],
        "library": project["library"],
        "project": project["project"],
        "version": project["version"],
        "scene": planned.scene,
        "block_type": block.type,
        "block_key": candidate.key,
        "func_name": place(file["path"], function["signature_first_line"], function["body_last_line"]),
        "namespace": function["namespace"],
        "path": file["path"],
        "middle_start": start,
        "middle_end": end,
        "suffix_start": view.suffix_start,
        "middle": file["text"][start:end],
        "related": list(planned.related),
        "unit_test_ids": list(proven.tests),
        "tests_reaching": proven.reaching,
        "wrong_answer": proven.wrong_answer,
        "noticed_by": list(proven.noticed_by),
        **proven.score.columns,
    }
