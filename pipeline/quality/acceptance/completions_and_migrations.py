"""The acceptance of completions and migrations: rows with their description, proof, licence and source."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, TypedDict, cast

from packaging.version import Version

from pipeline.core.errors import present
from pipeline.core.vocabularies.changes import WHOLE, ChangeKind
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.core.vocabularies.samples import Drafter, Evidence, Granularity, MigrationBasis, SnippetSource
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.corpus.usages.text import parse_program
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import too_weak
from pipeline.execution.validation.runs import subjects_of
from pipeline.families.behaviours import by_place, retagged
from pipeline.families.completions_and_migrations.codemods.reached import unreached_lines
from pipeline.families.completions_and_migrations.completions import keywords_of
from pipeline.families.completions_and_migrations.masks import MASKS
from pipeline.families.completions_and_migrations.other_answers import calls_of
from pipeline.families.completions_and_migrations.pairs import similarity
from pipeline.families.completions_and_migrations.required_names import required_names
from pipeline.families.proof import Proof, Runs, followers, prove, prove_witness
from pipeline.lake.guard import guarded, parted
from pipeline.lake.rows import (
    AnyRow,
    BehaviourRow,
    BlockCompletionRow,
    ChangeRow,
    CompletionRow,
    DraftRow,
    EnvironmentRow,
    InstanceHead,
    MigrationRow,
    MutationScoreRow,
    OtherAnswerRow,
    PublishedBlockCompletionRow,
    PublishedChangeRow,
    PublishedCompletionRow,
    PublishedMigrationRow,
    R,
    SnippetRow,
    Tables,
)
from pipeline.lake.stage import Output, Reject
from pipeline.llm.names import spelling_words
from pipeline.llm.rules import DraftingRules
from pipeline.quality.acceptance.changes import prove_changes
from pipeline.quality.acceptance.public_names import PublicNames
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.reviewed import LibraryReviews, ReviewColumns, Reviewed
from pipeline.quality.acceptance.same_prompts import (
    few_of_each_move,
    migration_task,
    one_answer,
    one_of_alike,
    one_of_each,
    one_row,
    passing_versions,
    replaced_names,
    surest_first,
)
from pipeline.quality.acceptance.sourced import source_columns
from pipeline.quality.acceptance.visible_calls import without_visible_calls
from pipeline.quality.flags.reviews import block_description


def acceptance_stage(
    tables: Tables,
    rules: QualityRules,
    executable_sources: Collection[SnippetSource],
    drafting: DraftingRules,
    mutation: MutationRules,
) -> Output:
    """Make the tables `published_*` of a library; the unit is an instance or a change.

    Of the instances are refused, in this order: LICENCE (one side's is not on the list), NO_ENVIRONMENT (a reference
    was not run), NOT_PROVEN (a reference does not pass in its own release, or, where its source is none of
    `executable_sources`, no probe finds the API there), LABEL_REFUTED (a probe contradicts the tag), REVIEWED_OUT (a
    person rejected it), FLAGGED (a flag holds it back, and nobody has decided), WEAK_TESTS (the stated outputs of a
    migration notice fewer mutants than `mutation` wants, or not that a changed argument is left out), of completions
    UNKNOWABLE (without a text, the program displays nothing but the call, or lines of a witness are hidden), DUPLICATE
    (the same task in another release) and SEVERAL_ANSWERS (also by a run), and NEAR_DUPLICATE (only the code around
    differs, of migrations the answer, of lines an argument of a visible call, where a row asks for the name, or the
    line of one API that changed; or more than `per_move` migrations ask for one move). Changes that probes refute are
    refused. An edited instance is published by the runs of its edit. The evidence of a completion is `executed` by
    `families.proof.prove`, but for one whose mask stands where nothing runs. That of a migration is, if both sides pass
    in their own release and the source fails in the target's by the rules.
    """
    runs = Runs(tables["verdicts"])
    behaviours = tables["behaviours"]
    changes, refused_changes = _accept_changes(tables["changes"], behaviours, runs)
    facts = _AcceptanceInputs(
        drafts={row["subject_id"]: row for row in tables["drafts"]},
        reviews=LibraryReviews.of(tables, rules),
        snippets={row["id"]: row for row in tables["snippets"]},
        following=followers(tables["releases"]),
        changes={row["id"]: row for row in (*tables["changes"], *behaviours)},
        behaviours=by_place(behaviours),
        environments={row["version"]: row for row in tables["environments"]},
        versions=[row["version"] for row in tables["releases"]],
        names=PublicNames(tables["symbols"], tables["releases"]),
        runs=runs,
        executable_sources=executable_sources,
        drafting=drafting,
        published_changes=frozenset(row["id"] for row in changes),
        mutation=mutation,
        scores={(row["subject_id"], row["version"]): row for row in tables["mutation_scores"]},
        other_answers={row["completion_id"]: row for row in tables["other_answers"]},
    )
    completions, refused_completions = _accept_completions(tables["completions"], facts)
    migrations, refused_migrations = _accept_migrations(tables["migrations"], facts)
    blocks, refused_blocks = _accept_block_completions(tables["block_completions"], facts)
    rejects = [*refused_changes, *refused_completions, *refused_migrations, *refused_blocks]
    count = len(changes) + len(completions) + len(migrations) + len(blocks)
    return Output(
        {
            "published_changes": sorted(changes, key=_id),
            "published_completions": sorted(completions, key=_id),
            "published_migrations": sorted(migrations, key=_id),
            "published_block_completions": sorted(blocks, key=_id),
        },
        units_in=count + len(rejects),
        units_out=count,
        rejects=sorted(rejects, key=lambda reject: reject.key),
    )


_WITNESSES = frozenset({SnippetSource.OWN_TEST, SnippetSource.CHANGE})
"""Sources of programs that were found to show a change."""
_COMMENT = re.compile(r"#\s(.+)$", re.MULTILINE)
_IMPORT = re.compile(r"\s*(from|import)\b")
_SAME_COMPLETION = ("path", "granularity", "answer", "description", "discriminating")


def _accept_changes(
    changes: Iterable[ChangeRow], behaviours: Iterable[BehaviourRow], runs: Runs
) -> tuple[list[PublishedChangeRow], list[Reject]]:
    rows, refused = parted(prove_changes(changes, runs))
    return [*rows, *map(_published_change, behaviours)], refused


def _accept_completions(
    completions: Iterable[CompletionRow], facts: _AcceptanceInputs
) -> tuple[list[PublishedCompletionRow], list[Reject]]:
    rows, refused = parted(guarded(completions, _id, lambda row: [_completion(row, facts)]))
    # Where an alias is right too, another release may have but one of them.
    rows, ambiguous = one_answer(rows, ("version", "granularity", "masked_code", "description"), itemgetter("answer"))
    rows, repeated = one_row(rows, ("path", "granularity", "masked_code", "answer"))
    # A hidden line or block may use several APIs, and asks for the same whichever of them it is counted with.
    rows, again = one_of_alike(rows, _hidden_code, surest_first)
    rows, alike = one_of_alike(rows, itemgetter(*_SAME_COMPLETION), surest_first)
    rows, of_calls = one_of_alike(rows, _changed_call, _most_output_first)
    rows, visible = without_visible_calls(rows)
    return rows, [*refused, *repeated, *ambiguous, *again, *alike, *of_calls, *visible]


def _changed_call(row: PublishedCompletionRow) -> tuple[str, ...]:
    """Return which call a line asks for that no other release has; the row itself where it asks for something else."""
    is_changed = row["granularity"] == Granularity.LINE and row["discriminating"]
    return (row["path"], row["version"]) if is_changed else (row["id"],)


def _most_output_first(row: PublishedCompletionRow) -> tuple[Any, ...]:
    """Order lines of one API: those that show most of what is displayed first, then those that give most."""
    output = "".join(_COMMENT.findall(row["code"])) if row["source"] in _WITNESSES else ""
    return -len(output), -len(row["answer"]), *surest_first(row)


def _hidden_code(row: PublishedCompletionRow) -> tuple[str, ...]:
    is_name = row["granularity"] == Granularity.TOKEN
    return (row["id"],) if is_name else (row["version"], row["granularity"], row["masked_code"], row["answer"])


def _accept_migrations(
    migrations: Iterable[MigrationRow], facts: _AcceptanceInputs
) -> tuple[list[PublishedMigrationRow], list[Reject]]:
    rows, refused = parted(guarded(migrations, _id, lambda row: [_migration(row, facts)]))
    order = {version: place for place, version in enumerate(sorted(facts.versions, key=Version))}
    rows, alike = one_of_each(
        rows,
        # One program for one release has one answer, from whichever release it comes.
        (migration_task, replaced_names, itemgetter("source_code", "target_version")),
        # the one whose checks notice most, then that of the nearest release, then the smallest edit
        lambda row: (
            -(row["mutation_score"] or 0),
            -row["target_outputs"],
            abs(order[row["version"]] - order[row["target_version"]]),
            -similarity(row["source_code"], row["target_code"]),
            len(row["source_code"]),
        ),
    )
    rows, moved = few_of_each_move(rows, facts.reviews.rules.per_move)
    return rows, [*refused, *alike, *moved]


def _accept_block_completions(
    blocks: Iterable[BlockCompletionRow], facts: _AcceptanceInputs
) -> tuple[list[PublishedBlockCompletionRow], list[Reject]]:
    return parted(guarded(blocks, _id, lambda row: [_block_completion(row, facts)]))


def _published_change(behaviour: BehaviourRow) -> PublishedChangeRow:
    return cast(PublishedChangeRow, {name: value for name, value in behaviour.items() if name != "snippet_id"})


def _id(row: AnyRow) -> str:
    return str(row["id"])


@dataclass(frozen=True, slots=True)
class _AcceptanceInputs:
    """The tables and rules that decide on a library's instances, by id; environments are by version.

    A change that a run refutes is not published, so no instance may refer to it.
    """

    drafts: Mapping[str, DraftRow]
    reviews: LibraryReviews
    snippets: Mapping[str, SnippetRow]
    following: Mapping[str, str]
    changes: Mapping[str, ChangeRow]
    behaviours: Mapping[tuple[str, str], BehaviourRow]
    environments: Mapping[str, EnvironmentRow]
    versions: Sequence[str]
    names: PublicNames
    runs: Runs
    executable_sources: Collection[SnippetSource]
    drafting: DraftingRules
    published_changes: frozenset[str]
    mutation: MutationRules
    scores: Mapping[tuple[str, str], MutationScoreRow]
    other_answers: Mapping[str, OtherAnswerRow]

    def proof_of(self, instance: InstanceHead) -> Proof:
        """Return the proof of an instance's tag by the runs."""
        change = self.changes.get(instance["change_id"] or "")
        following = self.following.get(instance["version"])
        rules = self.reviews.rules
        if change is not None and self.is_of_witness(instance):
            return prove_witness(instance, change, self.runs, rules.fails_in_target)
        return prove(instance, change, following, self.runs, rules.modified_proven_by)

    def is_of_witness(self, instance: InstanceHead) -> bool:
        """Say whether an instance is of a program that was found to show a change."""
        return self.snippets[instance["snippet_id"]]["source"] in _WITNESSES

    def reviewed(self, family: Family, instance: R) -> tuple[Reviewed[R], _AcceptanceInputs]:
        """Return an instance with the decision on it, and the facts with the runs of its edit."""
        draft = self.drafts.get(instance["id"])
        reviewed = self.reviews.reviewed(family, instance, draft["text"] if draft else None)
        return reviewed, replace(self, runs=self.runs.over(reviewed.runs)) if reviewed.runs else self


def _completion(original: CompletionRow, facts: _AcceptanceInputs) -> PublishedCompletionRow | Reject:
    reviewed, facts = facts.reviewed(Family.COMPLETION, original)
    instance = retagged(reviewed.row, facts.behaviours)
    proof = facts.proof_of(instance)
    snippets = (instance["snippet_id"],)
    runs = [(instance["snippet_id"], instance["version"])]
    if refusal := _refuse(reviewed, snippets, runs, proof, facts, probed=instance["path"]):
        return refusal
    if reviewed.description is None and _displays_itself(instance["code"], instance["core_token"]):
        return Reject(instance["id"], RejectReason.UNKNOWABLE, "no text describes it, and it displays its own call")
    if reviewed.description is None and instance["granularity"] != Granularity.TOKEN and facts.is_of_witness(instance):
        return Reject(instance["id"], RejectReason.UNKNOWABLE, "no text says what the hidden lines of a test do")
    if passing := _passing_names(original, reviewed, facts):
        detail = f"its program passes with {', '.join(passing)} too"
        return Reject(instance["id"], RejectReason.SEVERAL_ANSWERS, detail[:300])
    tried = _tried_names(original, instance, facts)
    # A part of something larger is not run; there a probe of the API tells.
    subject = instance["snippet_id"] if facts.runs.of(*runs[0]) else instance["path"]
    return {
        **instance,
        **_described(reviewed, instance, facts),
        **source_columns(facts.snippets[instance["snippet_id"]]),
        **_reference(instance, instance["snippet_id"], facts),
        "evidence": proof.evidence if _is_reached(instance) else Evidence.STATIC,
        "neighbour_version": proof.neighbour_version,
        "neighbour_outcome": proof.neighbour_outcome,
        "versions": passing_versions(_runs_of_code(reviewed, facts), subject, facts.versions),
        # Where what is asked for did not change, the program fails elsewhere because of something that it shows.
        "discriminating": proof.neighbour_outcome in facts.reviews.rules.same_code_fails
        and _hides_change(instance, facts)
        and not _has_same_answer(instance, proof.neighbour_version, facts.names)
        and not _is_guessable_name(instance, reviewed.description or "", proof.neighbour_version, facts),
        "neighbour_answers": tried["neighbour_answers"]
        if tried and tried["neighbour_version"] == proof.neighbour_version
        else None,
    }


def _runs_of_code(reviewed: Reviewed[Any], facts: _AcceptanceInputs) -> Runs:
    """Return the runs of the code that is published; what a person edited was run in few releases."""
    return Runs(()).over(reviewed.runs) if reviewed.runs else facts.runs


def _displays_itself(code: str, name: str) -> bool:
    """Return whether a comment of a program has the same call of a name as the program, but for constants it computes.

    Comments say what is displayed. `Stats(mean=4.4)` for `Stats(mean=22 / 5)` shows nothing of what the class does.
    """
    displayed = (parse_program(comment.strip()) for comment in _COMMENT.findall(code))
    forms = {form for tree in displayed if tree is not None for form in _call_forms(tree, name)}
    program = parse_program(code)
    return bool(forms) and program is not None and not forms.isdisjoint(_call_forms(program, name))


def _call_forms(tree: ast.Module, name: str) -> Iterator[tuple[object, ...]]:
    """Yield the calls of a name as Python compiles them: constants are computed."""
    for node in calls_of(tree, name):
        call = ast.Call(ast.Name(name, ast.Load()), node.args, node.keywords)
        try:
            compiled = compile(ast.fix_missing_locations(ast.Expression(call)), "<call>", "eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        # of equal constants, such as 1 and True, the types tell
        yield compiled.co_code, repr(compiled.co_consts), compiled.co_names


def _is_reached(instance: CompletionRow) -> bool:
    """Return whether a mask stands where code runs: what a function holds that nothing calls was only compiled."""
    masked_code, mask = instance["masked_code"], MASKS[Granularity(instance["granularity"])]
    # Before the first mask of several lines, and on lines with masks of names, both programs have the same lines.
    lines = {masked_code.count("\n", 0, match.start()) + 1 for match in re.finditer(re.escape(mask), masked_code)}
    tree = parse_program(instance["code"])
    return tree is None or not lines <= unreached_lines(tree)


def _hides_change(instance: CompletionRow, facts: _AcceptanceInputs) -> bool:
    """Return whether what a row is about is in its answer: an example may use an API several times, old and new."""
    change = facts.changes.get(instance["change_id"] or "")
    if change is None or instance["granularity"] == Granularity.TOKEN:
        return change is not None
    if change["kind"] in WHOLE or facts.is_of_witness(instance):
        return True
    if any(re.search(rf"\b{re.escape(keyword)}\s*=(?!=)", instance["answer"]) for keyword in keywords_of(change)):
        return True
    # Which of several uses comes out otherwise is not known.
    statements = [line for line in instance["masked_code"].splitlines() if not _IMPORT.match(line)]
    return MASKS[Granularity.TOKEN] not in "\n".join(statements)


def _hides_name(instance: CompletionRow) -> bool:
    """Return whether nothing but the API's own name is hidden."""
    own_name = instance["path"].rpartition(".")[2]
    return instance["granularity"] == Granularity.TOKEN and instance["core_token"] == own_name


def _has_same_answer(instance: CompletionRow, neighbour: str | None, names: PublicNames) -> bool:
    """Return whether the answer is the API's own name, and the neighbour has it: what is shown fails there."""
    return neighbour is not None and _hides_name(instance) and names.has_name(instance["path"], neighbour)


def _is_guessable_name(
    instance: CompletionRow, description: str, neighbour: str | None, facts: _AcceptanceInputs
) -> bool:
    """Return whether the name of an added API is no news to who reads the description, knows Python, or the neighbour.

    A renamed API has another name there, and what a class is called is rarely said by what it does.
    """
    change = facts.changes.get(instance["change_id"] or "")
    # A line of a witness asks for the name too.
    hides_name = _hides_name(instance) or facts.is_of_witness(instance)
    if not hides_name or change is None or change["kind"] != ChangeKind.INTRODUCED:
        return False
    if spelling_words(instance["core_token"], description, facts.drafting.spelled_name):
        return True
    if facts.names.some_is_common([instance["path"]], instance["version"], facts.reviews.rules):
        return True
    kind = facts.names.kind_of(instance["path"], instance["version"])
    is_code = kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)
    return is_code and neighbour is not None and facts.names.has_last_name(instance["path"], neighbour)


def _passing_names(
    original: CompletionRow, reviewed: Reviewed[CompletionRow], facts: _AcceptanceInputs
) -> Sequence[str]:
    """Return the other names that pass; none if a person edited the code, which was not run, or wrote a description."""
    draft = facts.drafts.get(original["id"])
    by_person = reviewed.description != (draft["text"] if draft else None)
    tried = None if by_person else _tried_names(original, reviewed.row, facts)
    return tried["passing"] if tried else ()


def _tried_names(original: CompletionRow, edited: CompletionRow, facts: _AcceptanceInputs) -> OtherAnswerRow | None:
    """Return what came of other names in a program; what a person edited was not run with them."""
    run = itemgetter("masked_code", "answer", "version")
    return facts.other_answers.get(original["id"]) if run(edited) == run(original) else None


def _migration(original: MigrationRow, facts: _AcceptanceInputs) -> PublishedMigrationRow | Reject:
    reviewed, facts = facts.reviewed(Family.MIGRATION, original)
    instance = retagged(reviewed.row, facts.behaviours)
    source, target = subjects_of(instance)
    version, target_version = instance["version"], instance["target_version"]
    snippets = instance["snippet_id"], instance["target_snippet_id"]
    proof = facts.proof_of(instance)
    if refusal := _refuse(reviewed, snippets, [(source, version), (target, target_version)], proof, facts):
        return refusal
    source_in_target = facts.runs.outcome(source, target_version)
    of_dependent = instance["basis"] == MigrationBasis.DEPENDENT_CHANGED
    # What else goes wrong there may be of the mocks.
    rules = facts.reviews.rules
    if source_in_target not in (rules.same_code_fails if of_dependent else rules.fails_in_target):
        detail = f"{instance['basis']}: what it replaces came out as {source_in_target} in {target_version}"
        return Reject(instance["id"], RejectReason.NOT_PROVEN, detail)
    required = required_names(instance["source_code"], instance["target_code"], instance["target_path"])
    if not required.apis:
        detail = f"no name of {instance['target_path']} has to stand in an answer"
        return Reject(instance["id"], RejectReason.NO_CHECK, detail)
    # what a person edited was not run with changes
    is_scored = instance["target_code"] == original["target_code"]
    score = facts.scores.get((target, target_version)) if is_scored else None
    without_arguments = facts.scores.get((original["id"], target_version)) if is_scored else None
    scored: MutationScoreRow | None = score and {**score, "id": instance["id"]}
    if scored and scored["mutants"] and (weak := too_weak(scored, Family.MIGRATION, facts.mutation)):
        return weak
    if without_arguments and without_arguments["mutants_killed"] < without_arguments["mutants"]:
        detail = f"without an argument that it gives {instance['target_path']} otherwise it displays the same"
        return Reject(instance["id"], RejectReason.WEAK_TESTS, detail)
    own_run = present(facts.runs.of(target, target_version), f"the verdict on {target} in {target_version}")
    return {
        **instance,
        **_described(reviewed, instance, facts),
        **source_columns(facts.snippets[instance["snippet_id"]]),
        **_reference(instance, source, facts),
        "reference_outcome": present(facts.runs.outcome(source, version), f"the outcome of {source} in {version}"),
        "evidence": Evidence.EXECUTED,
        "source_in_target": source_in_target,
        "target_in_target": own_run["outcome"],
        "target_in_source": facts.runs.outcome(target, version),
        "versions": passing_versions(_runs_of_code(reviewed, facts), target, facts.versions),
        "target_lock_id": own_run["lock_id"],
        "discriminating": True,
        "mutants": score["mutants"] if score else None,
        "mutants_killed": score["mutants_killed"] if score else None,
        "mutants_equivalent": score["mutants_equivalent"] if score else None,
        "mutation_score": score["mutation_score"] if score else None,
    }


def _block_completion(original: BlockCompletionRow, facts: _AcceptanceInputs) -> PublishedBlockCompletionRow | Reject:
    """Publish a block of another language: it is not run, and its post's title, without the name, describes it."""
    reviewed = facts.reviews.reviewed(
        Family.BLOCK_COMPLETION, original, block_description(original, facts.snippets, facts.drafting)
    )
    instance = reviewed.row
    licence = facts.snippets[instance["snippet_id"]]["licence"]
    if refusal := facts.reviews.unlicensed(instance["id"], licence) or reviewed.refusal():
        return refusal
    return {
        **instance,
        **reviewed.columns(),
        **source_columns(facts.snippets[instance["snippet_id"]]),
        "description": reviewed.description,
        "drafter": None,
        "model": None,
        "prompt_sha256": None,
    }


def _refuse(
    reviewed: Reviewed[Any],
    snippets: Sequence[str],
    runs: Sequence[tuple[str, str]],
    proof: Proof,
    facts: _AcceptanceInputs,
    probed: str | None = None,
) -> Reject | None:
    """Return the first reason, if any, why an instance is not published; `runs` must pass, each (subject, version).

    Of a part of something larger, which is not run, it is enough that a probe finds the path `probed`, if given.
    """
    key = reviewed.row["id"]
    for snippet_id in snippets:
        if refusal := facts.reviews.unlicensed(key, facts.snippets[snippet_id]["licence"]):
            return refusal
    for subject, version in runs:
        if refusal := _unproven(key, subject, version, facts, probed):
            return refusal
    if proof.contradiction:
        return Reject(key, RejectReason.LABEL_REFUTED, proof.contradiction)
    return reviewed.refusal()


def _unproven(key: str, subject: str, version: str, facts: _AcceptanceInputs, probed: str | None) -> Reject | None:
    run = facts.runs.of(subject, version)
    if probed and run is None and facts.snippets[subject]["source"] not in facts.executable_sources:
        outcome = facts.runs.outcome(probed, version)
        detail = f"{version}: a probe of {probed} came out as {outcome}" if outcome else f"{probed} cannot be probed"
        return None if outcome == Outcome.PASSED else Reject(key, RejectReason.NOT_PROVEN, detail)
    if run is None:
        environment = facts.environments.get(version)
        if environment is None or environment["outcome"] == EnvironmentOutcome.BUILT:
            return Reject(key, RejectReason.NO_ENVIRONMENT, f"snippet {subject} was not run in {version}")
        detail = f"{version}: {environment['outcome']}: {environment['detail'] or ''}"
        return Reject(key, RejectReason.NO_ENVIRONMENT, detail)
    if run["outcome"] != Outcome.PASSED:
        return Reject(key, RejectReason.NOT_PROVEN, f"{version}: {run['outcome']}: {run['detail'] or ''}")
    return None


class _Described(ReviewColumns):
    """The columns of a description and of the review."""

    change_id: str | None
    description: str | None
    drafter: str | None
    model: str | None
    prompt_sha256: str | None


def _described(reviewed: Reviewed[Any], instance: InstanceHead, facts: _AcceptanceInputs) -> _Described:
    draft = facts.drafts.get(instance["id"])
    by_person = reviewed.description != (draft["text"] if draft else None)
    return {
        "change_id": instance["change_id"] if instance["change_id"] in facts.published_changes else None,
        "description": reviewed.description,
        "drafter": Drafter.ANNOTATOR if by_person else draft["drafter"] if draft else None,
        "model": None if by_person or draft is None else draft["model"],
        "prompt_sha256": None if by_person or draft is None else draft["prompt_sha256"],
        **reviewed.columns(),
    }


class _Reference(TypedDict):
    """The outcome and the environment of a reference."""

    reference_outcome: str | None
    python: str
    lock_id: str


def _reference(instance: InstanceHead, subject: str, facts: _AcceptanceInputs) -> _Reference:
    path, version = instance["path"], instance["version"]
    reference = facts.runs.of(subject, version)
    run = present(reference or facts.runs.of(path, version), f"the verdict on {subject} or {path} in {version}")
    outcome = reference["outcome"] if reference else None
    return {"reference_outcome": outcome, "python": run["python"], "lock_id": run["lock_id"]}
