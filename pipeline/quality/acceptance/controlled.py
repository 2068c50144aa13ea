"""The gate of controlled completions: what is made from documentation is published where a probe finds the API."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.proof import Runs, Tagged, followers, prove
from pipeline.index.licences import is_allowed
from pipeline.lake.guard import guarded, parted
from pipeline.lake.rows import (
    ChangeRow,
    ControlledCompletionRow,
    PublishedControlledCompletionRow,
    ReleaseRow,
    Tables,
)
from pipeline.lake.stage import Output, Reject
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.reviewed import Desk
from pipeline.quality.flags.flags import kinds_by_instance
from pipeline.quality.flags.reviews import Reviews


def controlled_gate_stage(
    tables: Tables,
    rules: QualityRules,
) -> Output:
    """Make the table `published_controlled_completions`; the unit is a controlled completion.

    Refused are, in this order: LICENCE (of the release), NOT_PROVEN (no probe finds the API in the version),
    LABEL_REFUTED (probes contradict the tag), REVIEWED_OUT and FLAGGED. The evidence is `executed` as
    `pipeline.families.proof.prove` says.
    """
    by_version = {row["version"]: row for row in tables["releases"]}
    facts = _Facts(
        by_version,
        followers(tables["releases"]),
        {row["id"]: row for row in tables["changes"]},
        frozenset(row["id"] for row in tables["published_changes"]),
        Runs(tables["verdicts"]),
        Desk(Reviews(tables["reviews"]), kinds_by_instance(tables["flags"]), by_version, rules),
        rules,
    )
    rows, rejects = parted(
        guarded(tables["controlled_completions"], lambda row: str(row["id"]), lambda row: [_published(row, facts)])
    )
    ordered = sorted(rejects, key=lambda reject: reject.key)
    return Output({"published_controlled_completions": rows}, len(rows) + len(rejects), len(rows), ordered)


@dataclass(frozen=True, slots=True)
class _Facts:
    releases: dict[str, ReleaseRow]
    following: dict[str, str]
    changes: dict[str, ChangeRow]
    published_changes: frozenset[str]
    runs: Runs
    desk: Desk
    rules: QualityRules


def _published(original: ControlledCompletionRow, facts: _Facts) -> PublishedControlledCompletionRow | Reject:
    reviewed = facts.desk.of(Family.CONTROLLED, original, original["description"])
    row = reviewed.row
    key, version, path = row["id"], row["version"], row["path"]
    release = facts.releases[version]
    licence = release["licence"]
    if licence is None or not is_allowed(licence, facts.rules.licences):
        return Reject(key, RejectReason.LICENCE, licence or "no licence that can be read")
    probe = facts.runs.of(path, version)
    if probe is None or probe["outcome"] != Outcome.PASSED:
        said = f"a probe of {path} came out as {probe['outcome']}" if probe else f"{path} was not probed"
        return Reject(key, RejectReason.NOT_PROVEN, f"{version}: {said}")
    change = facts.changes.get(row["change_id"] or "")
    following = facts.following.get(version)
    tagged: Tagged = {
        "version": version,
        "previous_version": row["previous_version"],
        "path": path,
        "libevolutioneval_tag": row["libevolutioneval_tag"],
        "snippet_id": "",
    }
    proof = prove(tagged, change, following, facts.runs, facts.rules.modified_proven_by)
    if proof.contradiction:
        return Reject(key, RejectReason.LABEL_REFUTED, proof.contradiction)
    if refusal := reviewed.refusal():
        return refusal
    return {
        **row,
        "description": reviewed.description or "",
        "change_id": row["change_id"] if row["change_id"] in facts.published_changes else None,
        "evidence": proof.evidence,
        "python": probe["python"],
        "lock_id": probe["lock_id"],
        "neighbour_version": proof.neighbour_version,
        "neighbour_outcome": proof.neighbour_outcome,
        "purl": release["purl"],
        "licence": licence,
        "attribution": release["attribution"],
        **reviewed.columns(),
    }
