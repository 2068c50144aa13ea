"""The acceptance of controlled completions: each is published where a probe finds its API."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from operator import itemgetter

from pipeline.core.errors import present
from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.families.behaviours import by_place, retagged
from pipeline.families.proof import Runs, Tagged, followers, prove
from pipeline.lake.rows import (
    BehaviourRow,
    ChangeRow,
    ControlledCompletionRow,
    PublishedControlledCompletionRow,
    Tables,
)
from pipeline.lake.stage import Output, Reject
from pipeline.llm.names import spelling_words
from pipeline.llm.rules import SpelledNameRules
from pipeline.quality.acceptance.calls import takes_call
from pipeline.quality.acceptance.public_names import PublicNames
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.reviewed import LibraryReviews, accepted, refusing
from pipeline.quality.acceptance.same_prompts import one_answer, one_row, passing_versions


def controlled_acceptance_stage(tables: Tables, rules: QualityRules, spelled_name: SpelledNameRules) -> Output:
    """Make the table `published_controlled_completions`; the unit is a controlled completion.

    Refused are, in this order: LICENCE (of the release), NOT_PROVEN (no probe finds the API in the version),
    LABEL_REFUTED (probes contradict the tag), REVIEWED_OUT and FLAGGED, DUPLICATE (the same task in another release)
    and SEVERAL_ANSWERS. The evidence is `executed` as `pipeline.families.proof.prove` says. A row is `discriminating`
    if the release next to it lacks the API, and does not have its name in another place (`PublicNames`). A new API
    is not whose name the description spells, nor a new function with a name that anybody would write.
    """
    facts = _AcceptanceInputs(
        followers(tables["releases"]),
        {row["id"]: row for row in (*tables["changes"], *tables["behaviours"])},
        by_place(tables["behaviours"]),
        frozenset(row["id"] for row in tables["published_changes"]),
        Runs(tables["verdicts"]),
        PublicNames(tables["symbols"], tables["releases"]),
        LibraryReviews.of(tables, rules),
        spelled_name,
    )
    table = "published_controlled_completions"
    output = accepted(table, tables["controlled_completions"], lambda row: [_published(row, facts)])
    rows, repeated = one_row(
        output.tables["published_controlled_completions"], ("path", "left_context", "hint", "reference_call")
    )
    rows, ambiguous = one_answer(rows, ("version", "left_context", "hint"), itemgetter("reference_call"))
    return refusing(output, table, rows, repeated + ambiguous)


@dataclass(frozen=True, slots=True)
class _AcceptanceInputs:
    following: dict[str, str]
    changes: dict[str, ChangeRow]
    behaviours: dict[tuple[str, str], BehaviourRow]
    published_changes: frozenset[str]
    runs: Runs
    names: PublicNames
    reviews: LibraryReviews
    spelled_name: SpelledNameRules


def _published(
    original: ControlledCompletionRow, facts: _AcceptanceInputs
) -> PublishedControlledCompletionRow | Reject:
    reviewed = facts.reviews.reviewed(Family.CONTROLLED, original, original["description"])
    row = retagged(reviewed.row, facts.behaviours)
    key, version, path = row["id"], row["version"], row["path"]
    release = facts.reviews.releases[version]
    if unlicensed := facts.reviews.unlicensed(key, release["licence"]):
        return unlicensed
    probe = facts.runs.of(path, version)
    if probe is None or probe["outcome"] != Outcome.PASSED:
        detail = f"a probe of {path} came out as {probe['outcome']}" if probe else f"{path} was not probed"
        return Reject(key, RejectReason.NOT_PROVEN, f"{version}: {detail}")
    change = facts.changes.get(row["change_id"] or "")
    following = facts.following.get(version)
    tagged: Tagged = {
        "version": version,
        "previous_version": row["previous_version"],
        "path": path,
        "libevolutioneval_tag": row["libevolutioneval_tag"],
        "snippet_id": "",
    }
    proof = prove(tagged, change, following, facts.runs, facts.reviews.rules.modified_proven_by)
    if proof.contradiction:
        return Reject(key, RejectReason.LABEL_REFUTED, proof.contradiction)
    if refusal := reviewed.refusal():
        return refusal
    differs = proof.neighbour_outcome in facts.reviews.rules.same_code_fails
    neighbour = proof.neighbour_version
    # What was renamed has another name in the release before.
    is_new = change is not None and change["kind"] == ChangeKind.INTRODUCED
    is_spelled = spelling_words(row["core_token"], reviewed.description or "", facts.spelled_name)
    is_code = facts.names.kind_of(path, version) in (SymbolKind.FUNCTION, SymbolKind.METHOD)
    has_old_name = is_code and neighbour is not None and facts.names.has_last_name(path, neighbour)
    is_guessable = is_spelled or has_old_name or facts.names.some_is_common([path], version, facts.reviews.rules)
    return {
        **row,
        "description": reviewed.description or "",
        "change_id": row["change_id"] if row["change_id"] in facts.published_changes else None,
        "evidence": proof.evidence,
        "python": probe["python"],
        "lock_id": probe["lock_id"],
        "neighbour_version": proof.neighbour_version,
        "neighbour_outcome": proof.neighbour_outcome,
        "versions": _right_versions(row, facts),
        "discriminating": differs
        and not (neighbour and facts.names.only_place_differs(path, neighbour))
        and not (is_new and is_guessable),
        "purl": release["purl"],
        "licence": present(release["licence"], f"the licence of {row['library']} {version}"),
        "attribution": release["attribution"],
        **reviewed.columns(),
    }


def _right_versions(row: ControlledCompletionRow, facts: _AcceptanceInputs) -> list[str]:
    """Return the versions in which a probe finds the API, and the call of the answer binds as it does in its own.

    Where the signature of one of them is not known, or the call does not bind in its own, finding the API is enough.
    """
    path, versions = row["path"], passing_versions(facts.runs, row["path"], facts.reviews.releases)
    calls = [node for node in ast.walk(parse_python(row["reference_call"])) if isinstance(node, ast.Call)]

    def takes(version: str) -> bool | None:
        result = facts.runs.probe_result(path, version)
        signature = result.callable_as() if result is not None else None
        # The outermost call comes first.
        return takes_call(signature, calls[0]) if signature is not None and calls else None

    return [each for each in versions if takes(each) is not False] if takes(row["version"]) else versions
