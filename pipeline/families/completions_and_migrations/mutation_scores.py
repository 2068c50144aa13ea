"""The stage `mutation_scores`: how many mutants of the target code of migrations their stated outputs notice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.corpus.usages.text import source_of
from pipeline.execution.mutation.operators import mutants_of
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.running import scores_of
from pipeline.execution.mutation.score import MutationScore
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.runs import subjects_of
from pipeline.execution.validation.stage import Runner
from pipeline.families.completions_and_migrations.expected_outputs import displaying
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.place import at_release
from pipeline.lake.rows import EnvironmentRow, MutationScoreRow, RewriteRow, SnippetRow, Tables
from pipeline.lake.stage import Output, Reject


@dataclass(frozen=True, slots=True)
class _Target:
    """Target code of migrations in a version, and its mutants; the id of the case is that of a snippet or rewrite."""

    version: str
    reference: Case
    mutants: Sequence[Case]


def mutation_scores_stage(tables: Tables, rules: MutationRules, runner: Runner) -> Output:
    """Make the table `mutation_scores` of a library; the unit is the target code of migrations in the target version.

    A target that states no output, or did not pass where it was built, is no unit. A mutant is judged as an answer is.

    Errors: those of `EnvironmentStore.open`.
    """
    built = {row["version"]: row for row in tables["environments"] if row["outcome"] == EnvironmentOutcome.BUILT}
    passed = {
        (row["subject_id"], row["version"])
        for row in tables["verdicts"]
        if row["outcome"] == Outcome.PASSED and row["version"] in built
    }
    stating = (row for row in tables["migrations"] if row["target_outputs"])
    targets = sorted({(subjects_of(row)[1], row["target_version"]) for row in stating} & passed)
    programs: dict[str, SnippetRow | RewriteRow] = {row["id"]: row for row in tables["snippets"]}
    programs |= {row["id"]: row for row in tables["rewrites"]}
    names = {row["version"]: row["import_names"] for row in tables["releases"]}

    def mutate(target: tuple[str, str]) -> list[_Target]:
        subject, version = target
        return [_target(programs[subject], version, names[version], rules.mutants[Family.MIGRATION])]

    mutated, rejects = parted(guarded(targets, " ".join, mutate))
    by_version: Mapping[str, list[_Target]] = defaultdict(list)
    for one in mutated:
        by_version[one.version].append(one)
    rows: list[MutationScoreRow] = []
    for version, group in by_version.items():
        with at_release(version):
            scores = attempt(version, _run, built[version], group, runner, rules)
        if isinstance(scores, Reject):
            # what they share broke: none of them has a score
            rejects += [replace(scores, key=f"{target.reference.id} {version}") for target in group]
        else:
            rows += [
                _row(target.reference.id, built[version], score) for target, score in zip(group, scores, strict=True)
            ]
    return Output({"mutation_scores": rows}, units_in=len(targets), units_out=len(rows), rejects=rejects)


def _target(program: SnippetRow | RewriteRow, version: str, import_names: Sequence[str], limit: int) -> _Target:
    """Return a program with its mutants; there are none where this Python does not parse it."""
    text = source_of(program)
    try:
        mutants = mutants_of(text, range(1, text.count("\n") + 2), limit)
    except SyntaxError:
        mutants = []
    first, *others = [
        replace(displaying(program, text, each), id=program["id"], import_names=import_names)
        for each in (text, *(mutant.text for mutant in mutants))
    ]
    return _Target(version, first, others)


def _run(
    environment: EnvironmentRow, targets: Sequence[_Target], runner: Runner, rules: MutationRules
) -> list[MutationScore]:
    references, mutants = [target.reference for target in targets], [target.mutants for target in targets]
    return scores_of(references, mutants, runner.store.open(environment), runner, rules)


def _row(subject: str, environment: EnvironmentRow, score: MutationScore) -> MutationScoreRow:
    library, version, lock_id = environment["library"], environment["version"], environment["lock_id"]
    assert lock_id is not None  # what was built has one
    return {
        "id": content_id(library, subject, version, lock_id),
        "subject_id": subject,
        "library": library,
        "version": version,
        "lock_id": lock_id,
        **score.columns,
    }
