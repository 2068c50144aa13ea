"""The stage `model_migrations`: a model writes the side of a migration that no codemod could, and it is run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from pipeline.api.history.rules import LifecycleRules
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Direction, MigrationBasis, SnippetSource
from pipeline.corpus.usages.rules import UsageRules
from pipeline.execution.validation.stage import Runner
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.completions_and_migrations.migrations import both_directions
from pipeline.families.completions_and_migrations.pairs import Pair, Side, similarity
from pipeline.families.model_migrations.candidates import Candidate, candidates, within_quota
from pipeline.families.model_migrations.environment_verdicts import EnvironmentVerdicts, without
from pipeline.families.model_migrations.llm_code import Attempt, ModelMigrations
from pipeline.families.model_migrations.prompt_context import Teller
from pipeline.families.model_migrations.rows import description_row, drafted_rewrite_row, rewrite_row
from pipeline.families.problems.library import Library
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.rows import (
    DraftedDescriptionRow,
    DraftedRewriteRow,
    ModelMigrationRow,
    R,
    RewriteRow,
    Tables,
    VerdictRow,
)
from pipeline.lake.stage import Output, Reject
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.rules import DraftingRules
from pipeline.llm.tasks.forms import MigratedCode
from pipeline.llm.tasks.rounds import Drafted
from pipeline.llm.tasks.rules import MigratedCodeRules


@dataclass(frozen=True)
class Migrating:
    """What the stage needs beside tables: rules, what runs code, and the model that writes it.

    A snippet needs other code where it ends in one of `fails`.
    """

    rules: MigratedCodeRules
    drafting: DraftingRules
    tagging: LifecycleRules
    usage: UsageRules
    executable_sources: Collection[SnippetSource]
    fails: Collection[Outcome]
    runner: Runner
    drafter: ModelDrafter


def model_migrations_stage(
    tables: Tables,
    migrating: Migrating,
) -> Output:
    """Make the tables `model_migrations` and `drafted_*` of a library; the unit is a snippet in a pair of releases.

    Rejects: OVER_QUOTA; NO_ENVIRONMENT; NOT_PROVEN, where the snippet does not pass in its own release; UNCHANGED,
    where it does not fail in the other; DRAFT_WAITING and DRAFT_REFUSED. An instance that can have no tags, or is there
    already, is a note.

    Errors: those of `EnvironmentStore.open`.
    """
    rules = migrating.rules
    library = Library(
        tables["releases"],
        tables["symbols"],
        tables["changes"],
        tables["lifecycles"],
        tables["documents"],
        (),
        tables["verdicts"],
        migrating.tagging,
        migrating.usage,
    )
    history = library.history
    alone = [row for row in tables["snippets"] if row["source"] in migrating.executable_sources]
    possible = candidates(alone, tables["usages"], tables["changes"], tables["migrations"], history, rules)
    chosen, surplus = within_quota(possible, rules)
    environment_verdicts = EnvironmentVerdicts(
        tables["releases"], tables["environments"], tables["verdicts"], migrating.runner
    )
    failing, refused = _failing(chosen, environment_verdicts, migrating.fails)
    requests, more = failing[: rules.max_requests], failing[rules.max_requests :]
    rejects = [*surplus, *refused, *(_surplus(candidate, rules) for candidate in more)]
    results = _Results({row["id"] for row in tables["migrations"]}, rejects)
    teller = Teller(tables["documents"], tables["usages"], history, rules)
    prompted, failed = parted(
        guarded(
            requests,
            lambda request: request.key,
            lambda request: [
                (request, teller.of(request, environment_verdicts.run([(request.snippet, request.target)])[0]))
            ],
        )
    )
    rejects += failed
    requests, drafts = [request for request, _ in prompted], [unwritten for _, unwritten in prompted]
    by_key = {request.key: request for request in requests}
    writer = ModelMigrations(migrating.drafter, rules, migrating.drafting, library.uses)
    written = writer.write(drafts, lambda attempts: _judge(attempts, by_key, environment_verdicts))
    for candidate, (result, drafted) in zip(requests, written, strict=True):
        if broken := attempt(candidate.key, results.add, candidate, result, drafted, history):
            rejects.append(broken)
    subjects = {request.snippet["id"] for request in requests} | results.rewrites.keys()
    return results.output(
        len(possible), [row for row in environment_verdicts.fresh.values() if row["subject_id"] in subjects]
    )


@dataclass
class _Results:
    """Rows that came of candidates, those that were refused, and notes; `existing` are ids of other instances."""

    existing: Set[str]
    rejects: list[Reject]
    notes: list[Reject] = field(default_factory=list)
    rewrites: dict[str, DraftedRewriteRow] = field(default_factory=dict)
    instances: dict[str, ModelMigrationRow] = field(default_factory=dict)
    descriptions: dict[str, DraftedDescriptionRow] = field(default_factory=dict)

    def add(
        self, candidate: Candidate, attempt: Attempt | None, drafted: Drafted[MigratedCode], history: History
    ) -> None:
        """Take what came of a candidate."""
        if attempt is None:
            refusal = drafted.refusal
            assert refusal is not None
            reason = RejectReason.DRAFT_WAITING if refusal.waiting else RejectReason.DRAFT_REFUSED
            self.rejects.append(Reject(candidate.key, reason, refusal.problem))
            return
        rewrite = drafted_rewrite_row(attempt, candidate, drafted)
        self.rewrites.setdefault(rewrite["id"], rewrite)
        for result in both_directions(_pair(candidate, attempt, rewrite), history):
            if isinstance(result, Reject):
                self.notes.append(result)
            elif result["id"] in self.existing or result["id"] in self.instances:
                self.notes.append(
                    Reject(candidate.key, RejectReason.DUPLICATE, "the same code in the same versions is there")
                )
            else:
                self.instances[result["id"]] = result
                self.descriptions[result["id"]] = description_row(result, attempt, drafted)

    def output(self, unit_count: int, verdicts: Iterable[VerdictRow]) -> Output:
        """Return it as the output of the stage."""
        return Output(
            {
                "model_migrations": _by_id(self.instances.values()),
                "drafted_rewrites": _by_id(self.rewrites.values()),
                "drafted_verdicts": _by_id(verdicts),
                "drafted_descriptions": _by_id(self.descriptions.values()),
            },
            units_in=unit_count,
            units_out=unit_count - len(self.rejects),
            rejects=sorted(self.rejects, key=lambda reject: (reject.key, reject.reason)),
            notes=self.notes,
        )


def _failing(
    chosen: Sequence[Candidate], environment_verdicts: EnvironmentVerdicts, fails: Collection[Outcome]
) -> tuple[list[Candidate], list[Reject]]:
    """Run the snippets in both releases; return those that pass in their own and fail in the other."""
    ready = [
        candidate
        for candidate in chosen
        if environment_verdicts.has(candidate.source) and environment_verdicts.has(candidate.target)
    ]
    rejects = [
        Reject(candidate.key, RejectReason.NO_ENVIRONMENT, f"{candidate.source} or {candidate.target}: not built")
        for candidate in chosen
        if candidate not in ready
    ]
    here = environment_verdicts.run([(candidate.snippet, candidate.source) for candidate in ready])
    there = environment_verdicts.run([(candidate.snippet, candidate.target) for candidate in ready])
    failing = []
    for candidate, own, other in zip(ready, here, there, strict=True):
        if own["outcome"] != Outcome.PASSED:
            rejects.append(Reject(candidate.key, RejectReason.NOT_PROVEN, f"{candidate.source}: {own['outcome']}"))
        elif other["outcome"] not in fails:
            detail = (
                f"{candidate.path}: the code for {candidate.source} ends in {candidate.target} as {other['outcome']}"
            )
            rejects.append(Reject(candidate.key, RejectReason.UNCHANGED, detail))
        else:
            failing.append(candidate)
    return failing, rejects


def _judge(
    attempts: Sequence[Attempt], by_key: Mapping[str, Candidate], environment_verdicts: EnvironmentVerdicts
) -> list[str | None]:
    """Run what was written; what passes is run in the example's own release too, and without the API that it uses."""
    candidates = [by_key[attempt.of.id] for attempt in attempts]
    rows = [rewrite_row(attempt, candidate) for attempt, candidate in zip(attempts, candidates, strict=True)]
    verdicts = environment_verdicts.run(
        [(row, candidate.target) for row, candidate in zip(rows, candidates, strict=True)]
    )
    good = [place for place, verdict in enumerate(verdicts) if verdict["outcome"] == Outcome.PASSED]
    environment_verdicts.run([(rows[place], candidates[place].source) for place in good])
    controls = environment_verdicts.run(
        [(without(rows[place], attempts[place].path), candidates[place].target) for place in good]
    )
    problems: list[str | None] = [
        f"in {candidate.target} it ends as {verdict['outcome']}:\n{verdict['detail'] or ''}".strip()
        for candidate, verdict in zip(candidates, verdicts, strict=True)
    ]
    for place, control in zip(good, controls, strict=True):
        problems[place] = _needless(attempts[place]) if control["outcome"] == Outcome.PASSED else None
    return problems


def _needless(attempt: Attempt) -> str:
    return f"it gives the same outputs where {attempt.path} does nothing: what it gives must come of that API"


def _pair(candidate: Candidate, attempt: Attempt, rewrite: RewriteRow) -> Pair:
    here = Side(candidate.snippet, candidate.source, candidate.path)
    there = Side(candidate.snippet, candidate.target, attempt.path, rewrite)
    old, new = (here, there) if candidate.direction == Direction.OLD_TO_NEW else (there, here)
    return Pair(old, new, MigrationBasis.MODEL, similarity(old.code, new.code))


def _surplus(candidate: Candidate, rules: MigratedCodeRules) -> Reject:
    return Reject(candidate.key, RejectReason.OVER_QUOTA, f"a model is asked about {rules.max_requests} of a library")


def _by_id(rows: Iterable[R]) -> list[R]:
    return sorted(rows, key=lambda row: str(row["id"]))
