"""Subjects of flags: an instance of any family, with its code, its hidden names and its runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.functions import FunctionRun
from pipeline.core.vocabularies.problems import OTHER_CODE, ProblemRun
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.witnesses.scripts import OUTPUT
from pipeline.execution.validation.runs import subjects_of
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.lake.guard import attempt
from pipeline.lake.rows import (
    AnyRow,
    BlockCompletionRow,
    CompatibilityRow,
    CompletionRow,
    ControlledCompletionRow,
    FunctionRow,
    FunctionRunRow,
    MigrationRow,
    ProblemRow,
    ProblemRunRow,
    RepositoryTaskRow,
    ReviewEditRun,
    SceneRow,
    SnippetRow,
    Tables,
    VerdictRow,
)
from pipeline.lake.stage import Reject

_Run = VerdictRow | ProblemRunRow | FunctionRunRow

READS = (
    *INSTANCE_TABLES,
    "problem_runs",
    "function_runs",
    "refused_functions",
    "projects",
    "drafts",
    "refused_drafts",
    "releases",
    "changes",
    "behaviours",
    "verdicts",
    "snippets",
    "directives",
    "judgements",
    "other_answers",
)
"""The tables that flags are made from."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An instance as the rules of flags see it.

    `codes` are the references; `visible` are the texts of the prompt, in which `names` must not occur. `runs` are those
    of the references in any release; `licences` are of each side, with the place. `undecided` names the run that does
    not discriminate between the versions, or between the code and none.
    """

    row: AnyRow
    family: Family
    origin: str
    codes: tuple[str, ...]
    licences: tuple[tuple[str | None, str], ...]
    visible: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    snippets: tuple[SnippetRow, ...] = ()
    runs: tuple[_Run, ...] = ()
    drafted: bool = False
    undecided: str | None = None


def deciding_run(runs: Mapping[str, ProblemRunRow | ReviewEditRun | FunctionRunRow]) -> str | None:
    """Return the role of the run, of those by role, that shows best whether the version decides.

    Code that passes in the other version shows it best; where there is none, the reference that runs there. So it does
    where that code would pass here, too, if the tests did not want another API called.
    """
    outcomes = {role: run["outcome"] for role, run in runs.items()}
    role = next((role for role in OTHER_CODE if role in runs), None)
    is_right_there = outcomes.get(ProblemRun.OTHER_THERE) == Outcome.PASSED
    is_right_here = outcomes.get(ProblemRun.OTHER_ANY_API) == Outcome.PASSED
    if role is not None and is_right_there and (outcomes[role] == Outcome.PASSED or not is_right_here):
        return role
    return ProblemRun.REFERENCE_ELSEWHERE if ProblemRun.REFERENCE_ELSEWHERE in runs else None


class Subjects:
    """The instances of a library, of every family."""

    def __init__(self, tables: Tables, fails: frozenset[Outcome]) -> None:
        self._tables: Mapping[str, Any] = tables
        self._fails = fails
        self._snippets = {row["id"]: row for row in tables["snippets"]}
        self._projects = {row["id"]: row for row in tables["projects"]}
        self._releases = {row["version"]: row for row in tables["releases"]}
        self._around = {row["id"]: (row["old_version"], row["new_version"]) for row in tables["changes"]}
        self._texts = {row["subject_id"]: row["text"] for row in tables["drafts"]}
        self._runs: dict[str, list[VerdictRow]] = defaultdict(list)
        for row in tables["verdicts"]:
            self._runs[row["subject_id"]].append(row)
        self._function_runs: dict[str, list[FunctionRunRow]] = defaultdict(list)
        for of_function in tables["function_runs"]:
            if of_function["role"] != FunctionRun.OTHER_RELEASE:
                self._function_runs[of_function["function_id"]].append(of_function)
        self._problem_runs: dict[str, dict[str, ProblemRunRow]] = defaultdict(dict)
        for of_problem in tables["problem_runs"]:
            if of_problem["role"] != ProblemRun.OTHER_RELEASE:
                self._problem_runs[of_problem["problem_id"]][of_problem["role"]] = of_problem

    def __iter__(self) -> Iterator[Subject | Reject]:
        """Yield each instance, or the reject INTERNAL_ERROR of one at which an exception was raised."""
        for table, maker in MAKERS.items():
            for row in self._tables[table]:
                yield attempt(str(row["id"]), maker, self, row)

    def _completion(self, row: CompletionRow) -> Subject:
        return self._of_snippets(
            row,
            Family.COMPLETION,
            (row["snippet_id"],),
            codes=(row["code"],),
            visible=(row["masked_code"], self._texts.get(row["id"], "")),
            names=(row["core_token"],),
            runs=self._of_run(
                {row["version"], row["previous_version"], *self._around.get(row["change_id"] or "", ())},
                row["snippet_id"],
            ),
            drafted=not self._shows_outputs(row),
        )

    def _shows_outputs(self, row: CompletionRow) -> bool:
        """Return whether a test says in comments what comes out, in place of a description.

        Of an argument its signature leaves a choice of few names.
        """
        if self._snippets[row["snippet_id"]]["source"] != SnippetSource.OWN_TEST:
            return False
        return OUTPUT in row["masked_code"] or row["core_token"] != row["path"].rpartition(".")[2]

    def _migration(self, row: MigrationRow) -> Subject:
        subjects = subjects_of(row)
        passes = [
            run
            for run in self._runs[subjects[0]]
            if run["version"] == row["target_version"] and run["outcome"] == Outcome.PASSED
        ]
        return self._of_snippets(
            row,
            Family.MIGRATION,
            (row["snippet_id"], row["target_snippet_id"]),
            codes=(row["source_code"], row["target_code"]),
            runs=self._of_run({row["version"], row["target_version"]}, *subjects),
            undecided=f"the code for {row['version']} passes in {row['target_version']}" if passes else None,
        )

    def _block(self, row: BlockCompletionRow) -> Subject:
        return self._of_snippets(
            row,
            Family.BLOCK_COMPLETION,
            (row["snippet_id"],),
            codes=(row["code"],),
            visible=(row["masked_code"],),
            names=(row["core_token"],),
        )

    def _controlled(self, row: ControlledCompletionRow) -> Subject:
        licence = self._releases[row["version"]]["licence"]
        place = f"{row['library']} {row['version']}"
        visible = (row["left_context"], row["hint"])
        names, runs = (row["core_token"],), tuple(self._runs[row["path"]])
        return Subject(
            row, Family.CONTROLLED, f"pypi:{row['library']}", (), ((licence, place),), visible, names, (), runs
        )

    def _problem(self, row: ProblemRow) -> Subject:
        runs = self._problem_runs[row["id"]]
        role = deciding_run(runs)
        decided = runs[role] if role is not None else None
        undecided = "no code is known that is right for another version" if decided is None else None
        if decided is not None and decided["outcome"] not in self._fails:
            undecided = f"{role} in {decided['version']}: {decided['outcome']}"
        return self._of_snippets(
            row,
            Family.PROBLEM,
            (row["snippet_id"],) if row["snippet_id"] else (),
            codes=(row["starting_code"] + row["solution"],),
            visible=(row["problem"],),
            names=(row["target_entity"],),
            runs=tuple(runs.values()),
            undecided=undecided,
        )

    def _function(self, row: FunctionRow) -> Subject:
        return self._of_snippets(
            row,
            Family.FUNCTION,
            (row["snippet_id"],),
            codes=(row["code"],),
            visible=(row["description"] or "",),
            names=(row["core_token"],),
            runs=tuple(self._function_runs[row["id"]]),
        )

    def _compatibility(self, row: CompatibilityRow) -> Subject:
        return self._of_snippets(row, Family.COMPATIBILITY, (row["snippet_id"],), codes=(row["code"],))

    def _repository_task(self, row: RepositoryTaskRow) -> Subject:
        return self._of_project(row, row["project_id"], Family.REPOSITORY_TASK, row["reference"])

    def _scene(self, row: SceneRow) -> Subject:
        return self._of_project(row, row["project_id"], Family.SCENE, row["middle"])

    def _of_project(self, row: AnyRow, project_id: str, family: Family, code: str) -> Subject:
        project = self._projects[project_id]
        return Subject(
            row,
            family,
            f"pypi:{project['project']}",
            (code,),
            ((project["licence"], f"{project['project']} {project['version']}"),),
        )

    def _of_snippets(
        self,
        row: AnyRow,
        family: Family,
        snippet_ids: tuple[str, ...],
        codes: tuple[str, ...],
        visible: tuple[str, ...] = (),
        names: tuple[str, ...] = (),
        runs: tuple[_Run, ...] = (),
        drafted: bool = False,
        undecided: str | None = None,
    ) -> Subject:
        snippets = tuple(self._snippets[snippet_id] for snippet_id in dict.fromkeys(snippet_ids))
        licences = tuple((snippet["licence"], snippet["place"]) for snippet in snippets)
        # What a model wrote from a change has no snippet: its source is the release.
        origin = snippets[0]["origin"] if snippets else f"pypi:{row['library']}"
        return Subject(row, family, origin, codes, licences, visible, names, snippets, runs, drafted, undecided)

    def _of_run(self, versions: Collection[str | None], *subjects: str) -> tuple[_Run, ...]:
        """Return the runs of code in the releases that a row is about; it may have been run in others too."""
        return tuple(
            run for subject in dict.fromkeys(subjects) for run in self._runs[subject] if run["version"] in versions
        )


MAKERS: Mapping[str, Callable[[Subjects, Any], Subject]] = {
    "completions": Subjects._completion,
    "migrations": Subjects._migration,
    "block_completions": Subjects._block,
    "controlled_completions": Subjects._controlled,
    "compatibilities": Subjects._compatibility,
    "problems": Subjects._problem,
    "functions": Subjects._function,
    "repository_tasks": Subjects._repository_task,
    "scenes": Subjects._scene,
}
"""What makes a subject of a row, by the table of its family."""
