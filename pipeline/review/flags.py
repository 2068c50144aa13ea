"""The review stage: flags on instances that a person should look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.lake import Output, Row, content_id, holding_at, sha256_text
from pipeline.lifecycle.documented import contradiction_of
from pipeline.review.proof import Runs, followers, prove
from pipeline.review.rules import FlagRules, Switch
from pipeline.terms import Agreement, ChangeKind, Direction, FlagKind, MigrationBasis, Outcome, Same
from pipeline.validation.runs import subjects_of

_GUESSED = {ChangeKind.RENAMED, ChangeKind.MOVED}


def flags_stage(
    completions: Sequence[Row],
    migrations: Sequence[Row],
    drafts: Sequence[Row],
    refused_drafts: Sequence[Row],
    releases: Sequence[Row],
    changes: Sequence[Row],
    verdicts: Sequence[Row],
    snippets: Sequence[Row],
    directives: Sequence[Row],
    rules: FlagRules,
    judgements: Sequence[Row] = (),
) -> Output:
    """Make the table `flags` of a library; the unit is an instance, and every one comes through."""
    facts = _Facts(
        drafts={row["subject_id"]: row for row in drafts},
        refused={row["subject_id"]: row for row in refused_drafts},
        changes={row["id"]: row for row in changes},
        snippets={row["id"]: row for row in snippets},
        following=followers(releases),
        runs=Runs(verdicts),
        contradicted=_contradicted(directives),
        guesses={(row["path"], row["new"]): row for row in changes if _is_guess(row, rules)},
        judgements={row["change_id"]: row for row in judgements if row["change_id"]},
    )
    instances = [*completions, *migrations]
    flags = [_flag(row, kind, seen) for row in instances for kind, seen in _findings(row, facts, rules)]
    return Output({"flags": sorted(flags, key=lambda row: row["id"])}, seen=len(instances), made=len(instances))


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known about a library's instances, by id.

    `following` is the release after each, `contradicted` the directives that contradict what was found, by path;
    `guesses` are renames and moves that nobody is sure of, by both paths, `judgements` what a model says, by change.
    """

    drafts: Mapping[str, Row]
    refused: Mapping[str, Row]
    changes: Mapping[str, Row]
    snippets: Mapping[str, Row]
    following: Mapping[str, str]
    runs: Runs
    contradicted: Mapping[str, Sequence[Row]]
    guesses: Mapping[tuple[str, str], Row]
    judgements: Mapping[str, Row]

    def change_of(self, instance: Row) -> Row | None:
        return self.changes.get(instance["change_id"] or "")

    def said_of(self, change: Row) -> str | None:
        """Return what a model says of a guess, a value of Same; None where it was not asked."""
        said = self.judgements.get(change["id"])
        return said["same"] if said else None


def _contradicted(directives: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in directives:
        if row["agreement"] == Agreement.CONTRADICTS:
            found.setdefault(row["path"], []).append(row)
    return found


def _findings(instance: Row, facts: _Facts, rules: FlagRules) -> Iterator[tuple[FlagKind, str]]:
    """Yield what is in doubt about an instance, and the evidence."""
    for kind, find in _FINDERS.items():
        switch: Switch = getattr(rules, kind.value)
        if switch.enabled and (seen := find(instance, facts, rules)):
            yield kind, seen


def _licence_unclear(instance: Row, facts: _Facts, rules: FlagRules) -> str | None:
    sides = [instance["snippet_id"], instance.get("target_snippet_id")]
    unclear = (facts.snippets[side] for side in sides if side and facts.snippets[side]["licence"] is None)
    return next((f"no SPDX expression for {row['place']}" for row in unclear), None)


def _description_redacted(instance: Row, facts: _Facts, rules: FlagRules) -> str | None:
    draft = facts.drafts.get(instance["id"])
    return draft["text"] if draft and draft["redacted"] else None


def _no_description(instance: Row, facts: _Facts, rules: FlagRules) -> str | None:
    return None if instance["id"] in facts.drafts else f"no sentence in the docstring of {instance['path']}"


def _label_contradicted(instance: Row, facts: _Facts, rules: FlagRules) -> str | None:
    following = facts.following.get(instance["version"])
    return prove(instance, facts.change_of(instance), following, facts.runs, ()).contradiction


def _rename_unsure(instance: Row, facts: _Facts, rules: FlagRules) -> str | None:
    change = facts.change_of(instance)
    if change is None or not _is_guess(change, rules):
        change = _guess_below(instance, facts)
        if change is None or facts.said_of(change) != Same.NO:
            return None
    if facts.said_of(change) == Same.YES and rules.rename_unsure.settled_by_model:
        return None
    evidence = f"{change['path']} to {change['new']} with confidence {change['confidence']:.2f}"
    said = facts.judgements.get(change["id"])
    return f"{evidence}; one API, says {said['model']}: {said['same']}. {said['reason']}" if said else evidence


def _is_guess(change: Row, rules: FlagRules) -> bool:
    return change["kind"] in _GUESSED and change["confidence"] < rules.rename_unsure.below_confidence


def _guess_below(instance: Row, facts: _Facts) -> Row | None:
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


def _not_discriminating(instance: Row, facts: _Facts, rules: FlagRules) -> str | None:
    target = instance.get("target_version")
    subject = subjects_of(instance)[0] if target else instance["snippet_id"]
    if facts.runs.outcome(subject, target) != Outcome.PASSED:
        return None
    return f"the code for {instance['version']} passes in {target}"


def _too_long(instance: Row, facts: _Facts, rules: FlagRules) -> str | None:
    codes = [instance[column] for column in ("code", "source_code", "target_code") if column in instance]
    lines = max(len(code.splitlines()) for code in codes)
    return f"{lines} lines" if lines > rules.too_long.max_lines else None


def _draft_rejected(instance: Row, facts: _Facts, rules: FlagRules) -> str | None:
    refused = facts.refused.get(instance["id"])
    return f"{refused['model']}, {refused['tries']} tries: {refused['problem']}" if refused else None


def _documentation_disagrees(instance: Row, facts: _Facts, rules: FlagRules) -> str | None:
    stated = holding_at(facts.contradicted.get(instance["path"], ()), instance["version"])
    return "; ".join(sorted(contradiction_of(row) for row in stated)) or None


def _audit(instance: Row, facts: _Facts, rules: FlagRules) -> str | None:
    drawn = int(sha256_text(f"{rules.audit.seed} {instance['id']}")[:8], 16) / 16**8
    return f"drawn with share {rules.audit.share}" if drawn < rules.audit.share else None


_FINDERS: Mapping[FlagKind, Callable[[Row, _Facts, FlagRules], str | None]] = {
    FlagKind.LICENCE_UNCLEAR: _licence_unclear,
    FlagKind.DESCRIPTION_REDACTED: _description_redacted,
    FlagKind.NO_DESCRIPTION: _no_description,
    FlagKind.LABEL_CONTRADICTED: _label_contradicted,
    FlagKind.RENAME_UNSURE: _rename_unsure,
    FlagKind.NOT_DISCRIMINATING: _not_discriminating,
    FlagKind.TOO_LONG: _too_long,
    FlagKind.DRAFT_REJECTED: _draft_rejected,
    FlagKind.DOCUMENTATION_DISAGREES: _documentation_disagrees,
    FlagKind.AUDIT: _audit,
}


def _flag(instance: Row, kind: FlagKind, evidence: str) -> Row:
    return {
        "id": content_id(instance["id"], kind, evidence),
        "library": instance["library"],
        "instance_id": instance["id"],
        "kind": kind,
        "evidence": evidence,
    }


def kinds_by_instance(flags: Iterable[Row]) -> dict[str, list[FlagKind]]:
    """Return the kinds of flags of each instance, in the order of the vocabulary."""
    raised: dict[str, set[str]] = {}
    for flag in flags:
        raised.setdefault(flag["instance_id"], set()).add(flag["kind"])
    return {instance: [kind for kind in FlagKind if kind in kinds] for instance, kinds in raised.items()}
