"""The stage `flags`: flags on instances of every family that a person should look at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pipeline.api.history.documented import contradiction_of
from pipeline.core.vocabularies.changes import RELOCATED, Agreement, Same
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Direction, Granularity, MigrationBasis, SnippetSource
from pipeline.corpus.witnesses.scripts import OUTPUT
from pipeline.families.all_families import BY_NAME
from pipeline.families.behaviours import by_place, retagged
from pipeline.families.completions_and_migrations.masks import MASKS
from pipeline.families.family import DescribedBy
from pipeline.families.proof import Runs, Tagged, followers, prove
from pipeline.lake.guard import guarded, parted
from pipeline.lake.ids import content_id, sha256_text
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import (
    AnyRow,
    BehaviourRow,
    ChangeRow,
    DirectiveRow,
    DraftRow,
    FlagRow,
    JudgementRow,
    OtherAnswerRow,
    RefusedDraftRow,
    RefusedFunctionRow,
    Tables,
)
from pipeline.lake.stage import Output
from pipeline.llm.names import find_names
from pipeline.llm.rules import DraftingRules
from pipeline.quality.flags.near_duplicates import alike_elsewhere
from pipeline.quality.flags.rules import FlagRules, Switch
from pipeline.quality.flags.subjects import Subject, Subjects

_WORD = re.compile(r"\w+")


def flags_stage(tables: Tables, rules: FlagRules, fails: frozenset[Outcome], drafting: DraftingRules) -> Output:
    """Make the table `flags` of a library from the tables READS; the unit is an instance.

    `fails` are the outcomes that prove that code is not right for a version; `drafting` knows how names are spelled.
    """
    subjects, unread = parted(Subjects(tables, fails))
    alike, uncompared = alike_elsewhere(subjects, rules.near_duplicate) if rules.near_duplicate.enabled else ({}, [])
    facts = _FlagInputs(
        drafts={row["subject_id"]: row for row in tables["drafts"]},
        refused={row["subject_id"]: row for row in tables["refused_drafts"]}
        | {row["function_id"]: row for row in tables["refused_functions"] if row["function_id"]},
        changes={row["id"]: row for row in (*tables["changes"], *tables["behaviours"])},
        behaviours=by_place(tables["behaviours"]),
        following=followers(tables["releases"]),
        runs=Runs(tables["verdicts"]),
        contradicted=_contradicted(tables["directives"]),
        alike=alike,
        drafting=drafting,
        guesses={(row["path"], row["new"]): row for row in tables["changes"] if _is_guess(row, rules)},
        judgements={row["change_id"]: row for row in tables["judgements"] if row["change_id"]},
        other_answers={row["completion_id"]: row for row in tables["other_answers"]},
    )

    def flags_of(subject: Subject) -> Iterator[FlagRow]:
        return (_flag(subject.row, kind, evidence) for kind, evidence in _findings(subject, facts, rules))

    flags, failed = parted(guarded(subjects, lambda subject: str(subject.row["id"]), flags_of))
    rejects, units = [*unread, *failed], len(subjects) + len(unread)
    return Output({"flags": sorted(flags, key=lambda row: row["id"])}, units, units - len(rejects), rejects, uncompared)


@dataclass(frozen=True, slots=True)
class _FlagInputs:
    """The tables and rules that decide on flags, by the id of the instance.

    `following` is the release after each; `contradicted` are the directives that contradict a lifecycle, by path.
    `alike` names the origins with almost the same code; `guesses` are uncertain renames and moves, by both paths;
    `judgements` are the answers of a model, by change; `other_answers` are runs of other names, by completion.
    """

    drafts: Mapping[str, DraftRow]
    refused: Mapping[str, RefusedDraftRow | RefusedFunctionRow]
    changes: Mapping[str, ChangeRow]
    behaviours: Mapping[tuple[str, str], BehaviourRow]
    following: Mapping[str, str]
    runs: Runs
    contradicted: Mapping[str, Sequence[DirectiveRow]]
    alike: Mapping[str, str]
    drafting: DraftingRules
    guesses: Mapping[tuple[str, str | None], ChangeRow]
    judgements: Mapping[str, JudgementRow]
    other_answers: Mapping[str, OtherAnswerRow]

    def change_of(self, instance: AnyRow) -> ChangeRow | None:
        return self.changes.get(instance.get("change_id") or "")

    def judgement_of(self, change: ChangeRow) -> str | None:
        """Return the answer of a model on a guess, a value of Same; None without a judgement."""
        judgement = self.judgements.get(change["id"])
        return judgement["same"] if judgement else None


def _contradicted(directives: Iterable[DirectiveRow]) -> dict[str, list[DirectiveRow]]:
    by_path: dict[str, list[DirectiveRow]] = {}
    for row in directives:
        if row["agreement"] == Agreement.CONTRADICTS:
            by_path.setdefault(row["path"], []).append(row)
    return by_path


def _findings(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> Iterator[tuple[FlagKind, str]]:
    """Yield the doubts about an instance, with the evidence; the audit draws from the instances without any."""
    flagged = False
    for kind, find in _FINDERS.items():
        switch: Switch = getattr(rules, kind.value)
        if switch.enabled and (evidence := find(subject, facts, rules)):
            flagged = True
            yield kind, evidence
    if rules.audit.enabled and not flagged and (drawn := _audit(subject, rules)):
        yield FlagKind.AUDIT, drawn


def _licence_unclear(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    return next((f"no SPDX expression for {place}" for licence, place in subject.licences if licence is None), None)


def _description_redacted(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    if BY_NAME[subject.family].described_by is DescribedBy.ROW:
        return subject.row["description"] if subject.row["redacted"] else None
    draft = facts.drafts.get(subject.row["id"])
    return draft["text"] if draft and draft["redacted"] else None


def _no_description(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    draft = facts.drafts.get(subject.row["id"])
    # The code of a change is hardly more than the name: a sentence that needs that too says nothing without it.
    is_written = any(snippet["source"] == SnippetSource.CHANGE for snippet in subject.snippets)
    missing = subject.drafted and (draft is None or (is_written and bool(draft["redacted"])))
    if not missing or _is_determined(subject, facts, rules):
        return None
    return f"no sentence in the docstring of {subject.row['path']}"


def _is_determined(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> bool:
    """Say whether runs exclude every other name in the place of the hidden one, and the code shows by what.

    Comments show the outputs of code that was made from a change or test; those of other examples are in no column.
    """
    run = facts.other_answers.get(subject.row["id"])
    lines = [line.partition(OUTPUT) for line in subject.row["masked_code"].splitlines()]
    outputs = [output for _, mark, output in lines if mark]
    if run is None or run["passing"] or not outputs:
        return False
    if subject.row["core_token"] != subject.row["path"].rpartition(".")[2]:
        return True  # of an argument
    if f"{MASKS[Granularity.TOKEN]}(" not in subject.row["masked_code"]:
        return False  # of what is not called, the value says nothing of the name
    # `None`, or an object of what the code has too, may come of anything.
    in_code = {word.casefold() for code, _, _ in lines for word in _WORD.findall(code)}
    common = in_code | rules.no_description.common_outputs
    words = [word for output in outputs for word in _WORD.findall(output) if word.casefold() not in common]
    excluded = run["tried"] >= rules.no_description.others_tried
    return excluded and len("".join(words)) >= rules.no_description.output_letters


def _label_contradicted(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    if not BY_NAME[subject.family].tags_proved:
        return None
    row = retagged(cast("Tagged", subject.row), facts.behaviours)
    following = facts.following.get(row["version"])
    return prove(row, facts.change_of(row), following, facts.runs, ()).contradiction


def _rename_unsure(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    if subject.family is Family.COMPATIBILITY:  # runs tell where a program is right, be it a rename or not
        return None
    change = facts.change_of(subject.row)
    if change is None or not _is_guess(change, rules):
        change = _guess_below(subject.row, facts)
        if change is None or facts.judgement_of(change) != Same.NO:
            return None
    if facts.judgement_of(change) == Same.YES and rules.rename_unsure.settled_by_model:
        return None
    evidence = f"{change['path']} to {change['new']} with confidence {change['confidence']:.2f}"
    answer = facts.judgements.get(change["id"])
    return f"{evidence}; one API, says {answer['model']}: {answer['same']}. {answer['reason']}" if answer else evidence


def _is_guess(change: ChangeRow, rules: FlagRules) -> bool:
    return change["kind"] in RELOCATED and change["confidence"] < rules.rename_unsure.below_confidence


def _guess_below(instance: AnyRow, facts: _FlagInputs) -> ChangeRow | None:
    """Return the guess on which a migration rests that follows a rename: that of its API, or of the parent of both."""
    if instance.get("basis") != MigrationBasis.RENAMED:
        return None
    sides = instance["path"], instance["target_path"]
    old, new = sides if instance["direction"] == Direction.OLD_TO_NEW else sides[::-1]
    while (old, new) not in facts.guesses:
        old, _, old_name = old.rpartition(".")
        new, _, new_name = new.rpartition(".")
        if old_name != new_name or not old or not new:
            return None
    return facts.guesses[old, new]


def _not_discriminating(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    return subject.undecided


def _too_long(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    lines = max((len(code.splitlines()) for code in subject.codes), default=0)
    return f"{lines} lines" if lines > rules.too_long.max_lines else None


def _draft_rejected(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    refused = facts.refused.get(subject.row["id"])
    return f"{refused['model']}, {refused['tries']} tries: {refused['problem']}" if refused else None


def _documentation_disagrees(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    directives = facts.contradicted.get(subject.row["path"], ()) if "versicode_tag" in subject.row else ()
    holding = holding_at(directives, subject.row["version"])
    return "; ".join(sorted(contradiction_of(row) for row in holding)) or None


def _version_weak(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    weak = (row for row in subject.snippets if row["version_evidence"] in rules.version_weak.evidence)
    return next((f"{row['version_evidence']}: {row['version_statement'] or row['place']}" for row in weak), None)


def _answer_leaks(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    for name in subject.names:
        letters = _letters(name)
        if len(letters) < rules.answer_leaks.min_letters:
            continue
        for text in subject.visible:
            # Looked at closely only where the letters are there at all, which is rare.
            if letters in _letters(text) and (spans := find_names(text, (name,), facts.drafting)):
                return f"{text[slice(*spans[0])]!r} is left to read of {name}"
    return None


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _near_duplicate(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    return facts.alike.get(subject.row["id"])


def _flaky(subject: Subject, facts: _FlagInputs, rules: FlagRules) -> str | None:
    flaky = sorted(
        f"{run['role']} in {run['version']}: {(run['detail'] or '').partition(chr(10))[0]}"
        for run in subject.runs
        if run["outcome"] == Outcome.FLAKY
    )
    return flaky[0] if flaky else None


def _audit(subject: Subject, rules: FlagRules) -> str | None:
    drawn = int(sha256_text(f"{rules.audit.seed} {subject.row['id']}")[:8], 16) / 16**8
    return f"drawn with share {rules.audit.share}" if drawn < rules.audit.share else None


_FINDERS: Mapping[FlagKind, Callable[[Subject, _FlagInputs, FlagRules], str | None]] = {
    FlagKind.LICENCE_UNCLEAR: _licence_unclear,
    FlagKind.DESCRIPTION_REDACTED: _description_redacted,
    FlagKind.NO_DESCRIPTION: _no_description,
    FlagKind.LABEL_CONTRADICTED: _label_contradicted,
    FlagKind.RENAME_UNSURE: _rename_unsure,
    FlagKind.NOT_DISCRIMINATING: _not_discriminating,
    FlagKind.TOO_LONG: _too_long,
    FlagKind.DRAFT_REJECTED: _draft_rejected,
    FlagKind.DOCUMENTATION_DISAGREES: _documentation_disagrees,
    FlagKind.VERSION_WEAK: _version_weak,
    FlagKind.ANSWER_LEAKS: _answer_leaks,
    FlagKind.NEAR_DUPLICATE: _near_duplicate,
    FlagKind.FLAKY: _flaky,
}


def _flag(instance: AnyRow, kind: FlagKind, evidence: str) -> FlagRow:
    return {
        "id": content_id(instance["id"], kind, evidence),
        "library": instance["library"],
        "instance_id": instance["id"],
        "kind": kind,
        "evidence": evidence,
    }


def kinds_by_instance(flags: Iterable[FlagRow]) -> dict[str, list[FlagKind]]:
    """Return the kinds of flags of each instance, in the order of the vocabulary."""
    raised: dict[str, set[str]] = {}
    for flag in flags:
        raised.setdefault(flag["instance_id"], set()).add(flag["kind"])
    return {instance: [kind for kind in FlagKind if kind in kinds] for instance, kinds in raised.items()}
