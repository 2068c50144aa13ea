"""Which rows a model would improve, or has improved: a function for each kind of draft, over the lake of a library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from pipeline.core.vocabularies.drafts import DraftKind, DraftStatus
from pipeline.core.vocabularies.projects import RequirementBasis
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome, VerdictRole
from pipeline.core.vocabularies.samples import Drafter
from pipeline.families.model_migrations.candidates import open_candidates
from pipeline.families.problems.changed import undecided
from pipeline.families.rename_judgements.pairs import guesses
from pipeline.families.repository_tasks.tasks import wanting_requirements
from pipeline.lake.tables import Lake, one_of

if TYPE_CHECKING:
    from pipeline.quality.all_rules import CurationRules


@dataclass(frozen=True, slots=True)
class Draftable:
    """A row that a model would write or has written: which kind of draft, for what, how it stands, and why."""

    kind: DraftKind
    library: str
    subject_id: str
    status: DraftStatus
    detail: str


Subjects = Iterator[tuple[str, DraftStatus, str]]
"""Subjects of a kind, each with how it stands and why; of one with two the stronger status counts."""

OfKind = Callable[[Lake, str, "CurationRules"], Subjects]

_OF_MODELS: dict[str, DraftStatus] = {
    RejectReason.DRAFT_WAITING: DraftStatus.WAITING,
    RejectReason.DRAFT_REFUSED: DraftStatus.REFUSED,
}
_ORDER = {status: place for place, status in enumerate(DraftStatus)}


def refused_by(lake: Lake, library: str, stages: Sequence[str], missing: Sequence[RejectReason] = ()) -> Subjects:
    """Tell what stages refused or noted: what a model has not answered, or not well; what is `missing` without one."""
    reasons: dict[str, DraftStatus] = _OF_MODELS | dict.fromkeys(missing, DraftStatus.MISSING)
    where = one_of("stage", stages) & one_of("reason", reasons)
    for row in lake.read("rejects", library, where):
        yield row["key"], reasons[row["reason"]], row["detail"]


def redacted(lake: Lake, library: str, table: str, key: str, column: str = "redacted") -> Subjects:
    """Tell the rows of a table out of whose text a name had to be cut."""
    for row in lake.read(table, library, pc.field(column), (key,)):
        yield row[key], DraftStatus.REDACTED, DraftStatus.REDACTED.meaning


def written(
    lake: Lake, library: str, table: str, key: str, column: str = "drafter", value: str = Drafter.MODEL
) -> Subjects:
    """Tell the rows of a table that a model wrote."""
    for row in lake.read(table, library, pc.field(column) == value, (key,)):
        yield row[key], DraftStatus.WRITTEN, DraftStatus.WRITTEN.meaning


def _descriptions(lake: Lake, library: str, rules: CurationRules) -> Subjects:
    yield from refused_by(lake, library, ("drafting", "controlled"), [RejectReason.NO_TEXT])
    yield from redacted(lake, library, "drafts", "subject_id")
    yield from redacted(lake, library, "controlled_completions", "id")
    yield from written(lake, library, "drafts", "subject_id")
    yield from _descriptions_of_functions(lake, library)


def _descriptions_of_functions(lake: Lake, library: str) -> Subjects:
    # The stage tells what became of examples and tests, too: of these by the example, and by `ID tests`.
    examples = {row["id"] for row in lake.read("snippets", library, columns=("id",))}
    refused = refused_by(lake, library, ("functions",), [RejectReason.NO_TEXT])
    yield from (refusal for refusal in refused if " " not in refusal[0] and refusal[0] not in examples)
    yield from redacted(lake, library, "functions", "id")
    yield from written(lake, library, "functions", "id")


def _instructions(lake: Lake, library: str, rules: CurationRules) -> Subjects:
    yield from refused_by(lake, library, ("contexts",), [RejectReason.NO_TEXT])
    yield from redacted(lake, library, "published_contexts", "completion_id", "query_redacted")
    yield from written(lake, library, "published_contexts", "completion_id", "query_drafter")


def _requirements(lake: Lake, library: str, rules: CurationRules) -> Subjects:
    yield from refused_by(lake, library, ("repository_tasks",))
    yield from written(lake, library, "repository_tasks", "function_id", "requirement_basis", RequirementBasis.MODEL)
    # Documented functions come first; a model is asked for others where they leave places.
    stage = pc.field("stage") == "repository_tasks"
    rejects = lake.read("rejects", library, stage, ("key", "reason"))
    units = len(lake.read("repository_tasks", library, columns=("id",)))
    units += sum(row["reason"] in (RejectReason.NOT_PROVEN, RejectReason.OVER_QUOTA) for row in rejects)
    silent = [row["key"] for row in rejects if row["reason"] == RejectReason.NO_TEXT]
    if not silent or units >= rules.repository.tasks:
        return
    functions = lake.read("traced_functions", library, one_of("id", silent))
    of_projects = one_of("project_id", {row["project_id"] for row in functions})
    files = lake.read("project_files", library, of_projects, ("project_id", "path", "text"))
    for task in wanting_requirements(functions, units, files, rules.repository):
        yield (
            task.id,
            DraftStatus.MISSING,
            f"{task.function['namespace']} has no docstring that says what it does",
        )


def _migrations(lake: Lake, library: str, rules: CurationRules) -> Subjects:
    """Tell the examples for which a model has written code for another release, or may be asked to.

    Whether they fail there is known only when a model is there to be asked: they are not run before.
    """
    yield from refused_by(lake, library, ("model_migrations",))
    for row in lake.read("drafted_rewrites", library, columns=("snippet_id", "snippet_version", "version")):
        key = f"{row['snippet_id']} {row['snippet_version']} {row['version']}"
        yield key, DraftStatus.WRITTEN, DraftStatus.WRITTEN.meaning
    for candidate in open_candidates(lake, library, rules.drafts.migrated_code, rules.validation.executable_sources):
        yield (
            candidate.key,
            DraftStatus.MISSING,
            f"{candidate.path}: the example for {candidate.source} may fail in {candidate.target}",
        )


def _judgements(lake: Lake, library: str, rules: CurationRules) -> Subjects:
    yield from refused_by(lake, library, ("judgements",))
    for row in lake.read("judgements", library, columns=("path", "old_version", "new_path", "new_version")):
        key = f"{row['path']} {row['old_version']} {row['new_path']} {row['new_version']}"
        yield key, DraftStatus.WRITTEN, DraftStatus.WRITTEN.meaning
    sure = rules.drafts.rename_judgement.below_confidence
    for pair in guesses(lake.read("changes", library, pc.field("confidence") < sure), sure):
        yield pair.key, DraftStatus.MISSING, f"{pair.path} to {pair.new_path} with confidence {pair.confidence:.2f}"


def _task_functions(lake: Lake, library: str, rules: CurationRules) -> Subjects:
    of_reference = (pc.field("role") == VerdictRole.REFERENCE) & (pc.field("outcome") == Outcome.PASSED)
    passed = {row["subject_id"] for row in lake.read("verdicts", library, of_reference, ("subject_id",))}
    refused = refused_by(lake, library, ("functions",), [RejectReason.NO_CHECK, RejectReason.NO_INPUT])
    of_examples = ((key.partition(" ")[0], status, why) for key, status, why in refused)
    silent = [of_example for of_example in of_examples if of_example[0] in passed]
    yield from (draft for draft in silent if draft[1] != DraftStatus.MISSING)
    missing = [draft for draft in silent if draft[1] == DraftStatus.MISSING]
    yield from missing[: rules.drafts.task_function.max_per_library]
    yield from written(lake, library, "functions", "snippet_id", "code_drafter")


def _function_tests(lake: Lake, library: str, rules: CurationRules) -> Subjects:
    functions = lake.read("functions", library, columns=("id", "missing_test_kinds"))
    missing = {row["id"]: ", ".join(row["missing_test_kinds"]) for row in functions if row["missing_test_kinds"]}
    yield from ((key, DraftStatus.MISSING, f"no test of {kinds}") for key, kinds in missing.items())
    # Tests that tell too little, of all functions.
    yield from refused_by(lake, library, ("functions_acceptance",), [RejectReason.NO_CHECK, RejectReason.NOT_COVERED])
    of_tests = (refusal for refusal in refused_by(lake, library, ("functions",)) if refusal[0].endswith(" tests"))
    yield from ((key.removesuffix(" tests"), status, why) for key, status, why in of_tests)
    yield from written(lake, library, "functions", "id", "tests_drafter")


def _problems(lake: Lake, library: str, rules: CurationRules) -> Subjects:
    """Tell the changes about which a model has written problems, or may be asked to: so many as it is asked about."""
    yield from refused_by(lake, library, ("problems",))
    problems, kind = lake.read("problems", library), rules.drafts.problem
    for row in problems:
        # A lake of before models wrote problems has no such column.
        if row.get("drafter") == Drafter.MODEL and row["change_id"]:
            yield row["change_id"], DraftStatus.WRITTEN, DraftStatus.WRITTEN.meaning
    left = undecided(lake.read("changes", library), problems, kind.kinds)
    left.sort(key=lambda change: (not change["breaking"], kind.kinds.index(change["kind"]), change["id"]))
    for change in left[: kind.max_per_library]:
        detail = f"{change['path']} in {change['new_version']}: {change['kind']}, and no example decides it"
        yield change["id"], DraftStatus.MISSING, detail


OF_KIND: Mapping[DraftKind, OfKind] = {
    DraftKind.DESCRIPTION: _descriptions,
    DraftKind.INSTRUCTION: _instructions,
    DraftKind.REQUIREMENT: _requirements,
    DraftKind.TASK_FUNCTION: _task_functions,
    DraftKind.FUNCTION_TESTS: _function_tests,
    DraftKind.PROBLEM: _problems,
    DraftKind.MIGRATED_CODE: _migrations,
    DraftKind.RENAME_JUDGEMENT: _judgements,
}


def draftable(lake: Lake, libraries: Iterable[str], rules: CurationRules) -> list[Draftable]:
    """Return what a model would improve or has improved of libraries, by library, kind and subject."""
    return [
        Draftable(kind, library, subject, status, detail)
        for library in libraries
        for kind, of_kind in OF_KIND.items()
        for subject, (status, detail) in sorted(_strongest(of_kind(lake, library, rules)).items())
    ]


def _strongest(subjects: Subjects) -> dict[str, tuple[DraftStatus, str]]:
    strongest: dict[str, tuple[DraftStatus, str]] = {}
    for subject, status, detail in subjects:
        if subject not in strongest or _ORDER[status] < _ORDER[strongest[subject][0]]:
            strongest[subject] = status, detail
    return strongest


def counted(rows: Iterable[Draftable]) -> dict[DraftKind, dict[DraftStatus, int]]:
    """Count rows by kind and status, in the order of the vocabularies."""
    numbers: dict[DraftKind, dict[DraftStatus, int]] = {}
    for row in rows:
        of_kind = numbers.setdefault(row.kind, {})
        of_kind[row.status] = of_kind.get(row.status, 0) + 1
    return {
        kind: {status: numbers[kind][status] for status in DraftStatus if status in numbers[kind]}
        for kind in DraftKind
        if kind in numbers
    }
