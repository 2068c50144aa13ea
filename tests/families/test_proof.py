"""What running in the neighbouring release says about a tag."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.running import Outcome, VerdictRole
from pipeline.core.vocabularies.samples import Evidence
from pipeline.families.proof import Proof, Runs, followers, prove, prove_witness
from tests.families.completions_and_migrations.rows import change, probe, releases, verdict

PASSED, MISSING, MISMATCH = Outcome.PASSED, Outcome.API_MISSING, Outcome.SIGNATURE_MISMATCH
EXECUTED, STATIC = Evidence.EXECUTED, Evidence.STATIC


def instance(tag: str, path: str = "lib.fetch") -> Any:
    """What the proof needs of an instance in 1.1, between 1.0 and 1.2."""
    return {"libevolutioneval_tag": tag, "previous_version": "1.0", "version": "1.1", "path": path, "snippet_id": "s"}


def ran(version: str, outcome: Outcome) -> Any:
    return verdict("s", version, outcome, VerdictRole.OTHER_VERSION)


def seen(version: str, fact: str) -> Any:
    """A probe of lib.fetch that saw a function, and a fact of it in JSON."""
    return probe("lib.fetch", version, PASSED) | {"observation": f'{{"kind": "function", "{fact}}}'}


TABLE = {
    "introduced, and missing before": (
        "introduced",
        [probe("lib.fetch", "1.1", PASSED), probe("lib.fetch", "1.0", MISSING)],
        Proof(EXECUTED, "1.0", MISSING),
    ),
    "introduced, yet there before": (
        "introduced",
        [probe("lib.fetch", "1.1", PASSED), probe("lib.fetch", "1.0", PASSED)],
        Proof(STATIC, "1.0", PASSED, "lib.fetch is there already in 1.0"),
    ),
    "introduced, and the module breaks before": (
        "introduced",
        [probe("lib.fetch", "1.1", PASSED), probe("lib.fetch", "1.0", Outcome.IMPORT_ERROR)],
        Proof(STATIC, "1.0", Outcome.IMPORT_ERROR),
    ),
    "a probe that never finds it": (
        "introduced",
        [probe("lib.fetch", "1.1", MISSING), probe("lib.fetch", "1.0", MISSING)],
        Proof(STATIC),
    ),
    "introduced, not probed before": ("introduced", [probe("lib.fetch", "1.1", PASSED)], Proof(STATIC)),
    "last, and missing after": (
        "deprecated",
        [probe("lib.fetch", "1.1", PASSED), probe("lib.fetch", "1.2", MISSING)],
        Proof(EXECUTED, "1.2", MISSING),
    ),
    "last, yet there after": (
        "deprecated",
        [probe("lib.fetch", "1.1", PASSED), probe("lib.fetch", "1.2", PASSED)],
        Proof(STATIC, "1.2", PASSED, "lib.fetch is still there in 1.2"),
    ),
    "modified, and fails before": (
        "modified",
        [ran("1.1", PASSED), ran("1.0", MISMATCH)],
        Proof(EXECUTED, "1.0", MISMATCH),
    ),
    "modified, and passes before": ("modified", [ran("1.1", PASSED), ran("1.0", PASSED)], Proof(STATIC, "1.0", PASSED)),
    "modified, not run before": ("modified", [], Proof(STATIC)),
    "unchanged, and passes before": (
        "unchanged",
        [ran("1.1", PASSED), ran("1.0", PASSED)],
        Proof(EXECUTED, "1.0", PASSED),
    ),
    "unchanged, and fails before": (
        "unchanged",
        [ran("1.1", PASSED), ran("1.0", MISSING)],
        Proof(STATIC, "1.0", MISSING),
    ),
    "unchanged, and other results before": (
        "unchanged",
        [ran("1.1", PASSED), ran("1.0", Outcome.FAILED_ASSERTION)],
        Proof(STATIC, "1.0", Outcome.FAILED_ASSERTION, "its code comes out as failed_assertion in 1.0"),
    ),
    "unchanged, not run before": ("unchanged", [ran("1.1", PASSED)], Proof(STATIC)),
    "unchanged, and a probe sees it alike": (
        "unchanged",
        [
            seen("1.1", 'signature": [["a","keyword_only",false,null]]'),
            seen("1.0", 'signature": [["a","keyword_only",false,null]]'),
        ],
        Proof(EXECUTED, "1.0", PASSED),
    ),
    "unchanged, and a probe sees another call": (
        "unchanged",
        [seen("1.1", 'signature": [["a","keyword_only",false,null]]'), seen("1.0", 'signature": []')],
        Proof(STATIC, "1.0", PASSED),
    ),
    "modified, and a probe sees another call": (
        "modified",
        [seen("1.1", 'signature": [["a","keyword_only",false,null]]'), seen("1.0", 'signature": []')],
        Proof(EXECUTED, "1.0", PASSED),
    ),
    "modified, and a probe sees it alike": (
        "modified",
        [seen("1.1", 'signature": []'), seen("1.0", 'signature": []')],
        Proof(STATIC, "1.0", PASSED),
    ),
    "unchanged, and no probe can tell how it is called": (
        "unchanged",
        [seen("1.1", 'async": false'), seen("1.0", 'async": false')],
        Proof(STATIC, "1.0", PASSED),
    ),
    "unchanged, and a probe does not find it before": (
        "unchanged",
        [seen("1.1", 'signature": []'), probe("lib.fetch", "1.0", MISSING)],
        Proof(STATIC, "1.0", MISSING),
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_prove(case: str) -> None:
    tag, verdicts, expected = TABLE[case]
    assert prove(instance(tag), None, "1.2", Runs(verdicts), {MISMATCH}) == expected


@pytest.mark.parametrize(
    ("outcome", "evidence"), [(Outcome.WRONG_EXCEPTION, EXECUTED), (MISMATCH, STATIC), (PASSED, STATIC)]
)
def test_another_behaviour_is_proven_by_other_results(outcome: Outcome, evidence: Evidence) -> None:
    changed = change(ChangeKind.BEHAVIOUR, "lib.fetch", "1.0", "1.1")
    runs = Runs([ran("1.1", PASSED), ran("1.0", outcome)])
    assert prove(instance("modified"), changed, "1.2", runs, {MISMATCH}) == Proof(evidence, "1.0", outcome)


SHOWN = {
    "it fails in the release after": ("1.1", "1.2", [ran("1.2", MISMATCH)], Proof(EXECUTED, "1.2", MISMATCH)),
    "it passes in the release after": ("1.1", "1.2", [ran("1.2", PASSED)], Proof(STATIC, "1.2", PASSED)),
    "it fails in the release before": ("1.0", "1.1", [ran("1.0", MISMATCH)], Proof(EXECUTED, "1.0", MISMATCH)),
    "it was not run on the other side": ("1.1", "1.2", [ran("1.0", MISMATCH)], Proof(STATIC)),
}


@pytest.mark.parametrize("case", SHOWN)
def test_completions_of_code_that_shows_a_change_are_proven_on_its_other_side(case: str) -> None:
    old, new, verdicts, expected = SHOWN[case]
    changed = change(ChangeKind.PARAMETER_REMOVED, "lib.fetch", old, new, parameter="size")
    assert prove_witness(instance("unchanged"), changed, Runs(verdicts), {MISMATCH}) == expected


ARRIVED = [probe("lib.Client", "1.1", PASSED), probe("lib.Client", "1.0", MISSING)]
GONE = [probe("lib.Client", "1.1", PASSED), probe("lib.Client", "1.2", MISSING)]
WHOLES = {
    "its class came": ("introduced", change(ChangeKind.INTRODUCED, "lib.Client", "1.0", "1.1"), ARRIVED, "1.0"),
    "its class got the name": (
        "introduced",
        change(ChangeKind.RENAMED, "lib.Old", "1.0", "1.1", new="lib.Client"),
        ARRIVED,
        "1.0",
    ),
    "its class went": ("deprecated", change(ChangeKind.REMOVED, "lib.Client", "1.1", "1.2"), GONE, "1.2"),
    "its class lost the name": (
        "deprecated",
        change(ChangeKind.RENAMED, "lib.Client", "1.1", "1.2", new="lib.New"),
        GONE,
        "1.2",
    ),
}


@pytest.mark.parametrize("case", WHOLES)
def test_a_member_is_proven_by_its_class(case: str) -> None:
    tag, whole, verdicts, neighbour = WHOLES[case]
    assert prove(instance(tag, "lib.Client.fetch"), whole, "1.2", Runs(verdicts), ()) == Proof(
        EXECUTED, neighbour, MISSING
    )


def test_a_definition_elsewhere_proves_nothing_of_a_public_path() -> None:
    elsewhere = change(ChangeKind.INTRODUCED, "lib.core.fetch", "1.0", "1.1")
    verdicts = [probe("lib.core.fetch", "1.1", PASSED), probe("lib.core.fetch", "1.0", MISSING)]
    assert prove(instance("introduced"), elsewhere, "1.2", Runs(verdicts), ()) == Proof(STATIC)


def test_the_first_release_has_no_neighbour() -> None:
    first = instance("unchanged") | {"previous_version": None}
    assert prove(first, None, None, Runs([ran("1.1", PASSED)]), ()) == Proof(STATIC)


def test_followers() -> None:
    assert followers(releases("1.0", "1.1", "1.2", before="0.9")) == {"0.9": "1.0", "1.0": "1.1", "1.1": "1.2"}
