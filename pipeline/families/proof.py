"""What running says about an instance's tag: proven, contradicted, or not known."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import TypedDict

from pipeline.core.vocabularies.changes import RELOCATED, ChangeKind, LibEvolutionEvalTag
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Evidence
from pipeline.execution.probe_result import ProbeResult
from pipeline.lake.rows import ChangeRow, ReleaseRow, ReviewEditRun, VerdictRow

OTHER_RESULTS = frozenset({Outcome.FAILED_ASSERTION, Outcome.WRONG_EXCEPTION})
"""Outcomes of a program that calls what is there as it may be called, and gets something else."""


class Runs:
    """The verdicts of a library, looked up by what ran (a snippet's id or, for a probe, an API path) and version."""

    def __init__(self, verdicts: Iterable[VerdictRow]) -> None:
        self._rows: MutableMapping[tuple[str, str], VerdictRow | ReviewEditRun] = {
            (row["subject_id"], row["version"]): row for row in sorted(verdicts, key=lambda row: row["id"])
        }

    def over(self, rows: Iterable[ReviewEditRun]) -> Runs:
        """Return these runs with those of edited code in the place of those of the same subject and version."""
        runs = Runs(())
        runs._rows = ChainMap({(row["subject"], row["version"]): row for row in rows}, self._rows)
        return runs

    def of(self, subject_id: str, version: str | None) -> VerdictRow | ReviewEditRun | None:
        """Return the verdict, or None where it was not run."""
        return self._rows.get((subject_id, version)) if version else None

    def outcome(self, subject_id: str, version: str | None) -> str | None:
        """Return how it ended, a value of Outcome, or None where it was not run."""
        row = self.of(subject_id, version)
        return row["outcome"] if row else None

    def probe_result(self, path: str, version: str | None) -> ProbeResult | None:
        """Return what a probe saw at a path, or None where it was not run or did not find it."""
        row = self.of(path, version)
        content = row.get("observation") if row else None
        return ProbeResult.read(str(content)) if content else None


class Tagged(TypedDict):
    """What of an instance its proof rests on."""

    version: str
    previous_version: str | None
    path: str
    libevolutioneval_tag: str
    snippet_id: str


@dataclass(frozen=True, slots=True)
class Proof:
    """How a tag is known: the release next to it whose run matters, how that ended, and what contradicts the tag."""

    evidence: Evidence
    neighbour_version: str | None = None
    neighbour_outcome: str | None = None
    contradiction: str | None = None


def followers(releases: Iterable[ReleaseRow]) -> dict[str, str]:
    """Return the release after each, by version."""
    return {row["predecessor"]: row["version"] for row in releases if row["predecessor"]}


def prove(
    instance: Tagged,
    change: ChangeRow | None,
    following: str | None,
    runs: Runs,
    modified_proven_by: Collection[Outcome],
) -> Proof:
    """Say what running shows of an instance's tag; that its reference passes is for the caller to ask.

    Executed means, by LibEvolutionEval's tag:
    introduced: a probe finds the API in its version, and finds it missing in the release before;
    deprecated: a probe finds it in its version, and finds it missing in the release after (`following`);
    modified: the reference ends in the release before in a way that `modified_proven_by` lists, or has other results
    there, if the change is one of behaviour;
    unchanged: the reference passes in the release before as well.
    Of a reference that is not run, being a part of something larger, probes tell: modified if they see the API in both
    releases and not alike, unchanged if alike.
    A probe that finds an API where the tag says it is missing contradicts the tag, and so do other results in the
    release before where it says unchanged. Whatever else: static.
    """
    tag = instance["libevolutioneval_tag"]
    previous = instance["previous_version"]
    if tag == LibEvolutionEvalTag.INTRODUCED:
        return _prove_absence(instance, change, previous, runs, "is there already in")
    if tag == LibEvolutionEvalTag.DEPRECATED:
        return _prove_absence(instance, change, following, runs, "is still there in")
    if runs.of(instance["snippet_id"], instance["version"]) is None:
        return _prove_by_probes(instance, runs)
    outcome = runs.outcome(instance["snippet_id"], previous)
    if tag != LibEvolutionEvalTag.MODIFIED:
        proving: Collection[Outcome] = (Outcome.PASSED,)
    elif change is not None and change["kind"] == ChangeKind.BEHAVIOUR:
        proving = OTHER_RESULTS
    else:
        proving = modified_proven_by
    evidence = Evidence.EXECUTED if outcome in proving else Evidence.STATIC
    differs = tag == LibEvolutionEvalTag.UNCHANGED and outcome in OTHER_RESULTS
    contradiction = f"its code comes out as {outcome} in {previous}" if differs else None
    return Proof(evidence, previous if outcome else None, outcome, contradiction)


def prove_witness(instance: Tagged, change: ChangeRow, runs: Runs, proven_by: Collection[Outcome]) -> Proof:
    """Say what running shows of an instance whose code was found to show a change: it fails on the other side."""
    other = change["old_version"] if instance["version"] == change["new_version"] else change["new_version"]
    outcome = runs.outcome(instance["snippet_id"], other)
    return Proof(Evidence.EXECUTED if outcome in proven_by else Evidence.STATIC, other if outcome else None, outcome)


def _prove_by_probes(instance: Tagged, runs: Runs) -> Proof:
    path, previous = instance["path"], instance["previous_version"]
    here, there = runs.probe_result(path, instance["version"]), runs.probe_result(path, previous)
    alike = instance["libevolutioneval_tag"] == LibEvolutionEvalTag.UNCHANGED
    outcome = runs.outcome(path, previous)
    has_signatures = here is not None and there is not None and here.has_signature() and there.has_signature()
    agrees = has_signatures and (here == there) is alike
    return Proof(Evidence.EXECUTED if agrees else Evidence.STATIC, previous if outcome else None, outcome)


def _prove_absence(instance: Tagged, change: ChangeRow | None, neighbour: str | None, runs: Runs, words: str) -> Proof:
    for path in _probed_paths(instance, change):
        here, there = runs.outcome(path, instance["version"]), runs.outcome(path, neighbour)
        # A path that a probe does not even find where the reference uses it (set on instances, say) proves nothing.
        if here != Outcome.PASSED or there is None:
            continue
        contradiction = f"{path} {words} {neighbour}" if there == Outcome.PASSED else None
        evidence = Evidence.EXECUTED if there == Outcome.API_MISSING else Evidence.STATIC
        return Proof(evidence, neighbour, there, contradiction)
    return Proof(Evidence.STATIC)


def _probed_paths(instance: Tagged, change: ChangeRow | None) -> Iterator[str]:
    """Yield the API's path and, where it came or went with its class or module, that one's."""
    yield instance["path"]
    if change is not None:
        arrived = instance["libevolutioneval_tag"] == LibEvolutionEvalTag.INTRODUCED and change["kind"] in RELOCATED
        whole = change["new"] if arrived else change["path"]
        if whole is not None and instance["path"].startswith(f"{whole}."):
            yield whole
