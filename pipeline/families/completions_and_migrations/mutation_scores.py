"""The stage `mutation_scores`: how many mutants of the target code of migrations their stated outputs notice."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.corpus.usages.text import parse_program, source_of
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
from pipeline.lake.rows import EnvironmentRow, MigrationRow, MutationScoreRow, RewriteRow, SnippetRow, Tables
from pipeline.lake.stage import Output, Reject


@dataclass(frozen=True, slots=True)
class _Target:
    """Target code of migrations in a version, and its mutants.

    The subject is the snippet or rewrite, or a migration of which only the changed arguments are left out.
    """

    subject: str
    version: str
    reference: Case
    mutants: Sequence[Case]


def mutation_scores_stage(tables: Tables, rules: MutationRules, runner: Runner) -> Output:
    """Make the table `mutation_scores` of a library; the unit is the target code of migrations in the target version.

    A target that states no output, or did not pass where it was built, is no unit. A mutant is judged as an answer is.
    A migration that gives an API other arguments is a unit, too: its mutants lack one of these arguments each. One that
    displays the same shows that nobody has to know the change.

    Errors: those of `EnvironmentStore.open`.
    """
    built = {row["version"]: row for row in tables["environments"] if row["outcome"] == EnvironmentOutcome.BUILT}
    passed = {
        (row["subject_id"], row["version"])
        for row in tables["verdicts"]
        if row["outcome"] == Outcome.PASSED and row["version"] in built
    }
    stating = [row for row in tables["migrations"] if row["target_outputs"]]
    migrations = [row for row in stating if (subjects_of(row)[1], row["target_version"]) in passed]
    targets = sorted({(subjects_of(row)[1], row["target_version"]) for row in migrations})
    programs: dict[str, SnippetRow | RewriteRow] = {row["id"]: row for row in tables["snippets"]}
    programs |= {row["id"]: row for row in tables["rewrites"]}
    names = {row["version"]: row["import_names"] for row in tables["releases"]}

    def mutate(target: tuple[str, str]) -> list[_Target]:
        subject, version = target
        program = programs[subject]
        mutants = _mutants(source_of(program), rules.mutants[Family.MIGRATION])
        return [_target(subject, program, version, names[version], mutants)]

    def leave_out(row: MigrationRow) -> list[_Target]:
        version, mutants = row["target_version"], list(_without_changed_arguments(row))
        return [_target(row["id"], programs[subjects_of(row)[1]], version, names[version], mutants)]

    changing = sorted((row for row in migrations if _changed_arguments(row)[1]), key=lambda row: row["id"])
    mutated, rejects = parted(
        [
            *guarded(targets, " ".join, mutate),
            *guarded(changing, lambda row: f"{row['id']} {row['target_version']}", leave_out),
        ]
    )
    by_version: Mapping[str, list[_Target]] = defaultdict(list)
    for one in mutated:
        by_version[one.version].append(one)
    rows: list[MutationScoreRow] = []
    for version, group in by_version.items():
        with at_release(version):
            scores = attempt(version, _run, built[version], group, runner, rules)
        if isinstance(scores, Reject):
            # what they share broke: none of them has a score
            rejects += [replace(scores, key=f"{target.subject} {version}") for target in group]
        else:
            rows += [_row(target.subject, built[version], score) for target, score in zip(group, scores, strict=True)]
    return Output(
        {"mutation_scores": rows}, units_in=len(targets) + len(changing), units_out=len(rows), rejects=rejects
    )


def _without_changed_arguments(row: MigrationRow) -> Iterator[str]:
    """Yield the target program without each of the changed arguments, which goes from all calls that give it."""
    program, changed = _changed_arguments(row)
    for places in changed.values():
        left_out = {id(argument) for _, argument in places}
        before = [(call, call.args, call.keywords) for call, _ in places]
        for call, _ in places:
            call.args = [each for each in call.args if id(each) not in left_out]
            call.keywords = [each for each in call.keywords if id(each) not in left_out]
        yield ast.unparse(program)
        for call, positional, named in before:
            call.args, call.keywords = positional, named


def _changed_arguments(row: MigrationRow) -> tuple[ast.Module, Mapping[str, list[tuple[ast.Call, ast.AST]]]]:
    """Return the target program, and where it gives the API arguments that the source program does not give it so.

    They are grouped by name, or value where they are given by position. Where the API has another path, that is what is
    asked for, and there are none. Nor are there where this Python does not parse both programs.
    """
    source, target = parse_program(row["source_code"]), parse_program(row["target_code"])
    changed: dict[str, list[tuple[ast.Call, ast.AST]]] = defaultdict(list)
    if row["path"] != row["target_path"] or source is None or target is None:
        return ast.Module([], []), changed
    before = {(name, value) for call in _calls(source, row["target_name"]) for name, value, _ in _arguments(call)}
    for call in _calls(target, row["target_name"]):
        for name, value, argument in _arguments(call):
            if (name, value) not in before:
                changed[name or value].append((call, argument))
    return target, changed


def _calls(program: ast.Module, name: str) -> Iterator[ast.Call]:
    """Yield the calls of what has a name, or is imported as another from it."""
    nodes = list(ast.walk(program))
    imported = (alias for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names)
    names = {name, *(alias.asname for alias in imported if alias.name == name and alias.asname)}
    for node in nodes:
        if isinstance(node, ast.Call) and names & {getattr(node.func, "attr", None), getattr(node.func, "id", None)}:
            yield node


def _arguments(call: ast.Call) -> Iterator[tuple[str, str, ast.AST]]:
    """Yield the arguments of a call with their names, "" for those by position, and their values as text."""
    yield from (("", ast.dump(argument), argument) for argument in call.args)
    yield from ((keyword.arg or "**", ast.dump(keyword.value), keyword) for keyword in call.keywords)


def _mutants(text: str, limit: int) -> list[str]:
    """Return mutants of a program; there are none where this Python does not parse it."""
    try:
        return [mutant.text for mutant in mutants_of(text, range(1, text.count("\n") + 2), limit)]
    except SyntaxError:
        return []


def _target(
    subject: str, program: SnippetRow | RewriteRow, version: str, import_names: Sequence[str], mutants: Sequence[str]
) -> _Target:
    """Return a program with its mutants."""
    text = source_of(program)
    first, *others = [
        replace(displaying(program, text, each), id=subject, import_names=import_names) for each in (text, *mutants)
    ]
    return _Target(subject, version, first, others)


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
