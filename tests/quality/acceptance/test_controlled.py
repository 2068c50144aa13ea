"""Acceptance of controlled completions: licence, probes, and what they prove of the tag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind, LibEvolutionEvalTag
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Access, Evidence
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.lake.rows import CompletionRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.quality.acceptance.controlled import controlled_acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from tests.families.completions_and_migrations.rows import LIBRARY, change, probe, releases, symbol
from tests.families.problems.examples import SPELLED_NAME

RULES_OF_QUALITY = load(RULES / "quality.yaml", QualityRules)
RELEASES = releases("1.0", "1.1", "2.0")
INTRODUCED = change(ChangeKind.INTRODUCED, "lib.take", "1.0", "1.1")
PASSED, MISSING = Outcome.PASSED, Outcome.API_MISSING
SEEN = '{"kind": "function", "signature": [["%s", "positional_or_keyword", false, null]]}'


def completion(tag: LibEvolutionEvalTag, change_id: str | None = None) -> CompletionRow:
    """A controlled completion of lib.take in 1.1."""
    return {
        "id": "c", "library": LIBRARY, "version": "1.1", "release_time": RELEASES[1]["release_time"],
        "previous_version": "1.0", "path": "lib.take", "kind": SymbolKind.FUNCTION, "document_id": "d",
        "change_id": change_id, "versicode_tag": "general", "libevolutioneval_tag": tag, "access": Access.DIRECT,
        "service": "lib", "description": "Return it.", "redacted": False, "mandatory_arguments": [], "left_context": "",
        "hint": "lib.", "reference_call": "lib.take()", "core_token": "take",
    }  # fmt: skip


def run(
    row: Any,
    verdicts: Sequence[Any],
    released: Sequence[Any] = RELEASES,
    published: Sequence[Any] = (),
    symbols: Sequence[Any] = (),
    changes: Sequence[Any] = (INTRODUCED,),
) -> Output:
    output = controlled_acceptance_stage(
        {
            "controlled_completions": [row],
            "releases": released,
            "symbols": symbols,
            "changes": changes,
            "behaviours": [],
            "published_changes": published,
            "verdicts": verdicts,
            "flags": [],
            "reviews": [],
        },
        RULES_OF_QUALITY,
        SPELLED_NAME,
    )
    for item in output.tables["published_controlled_completions"]:
        table("published_controlled_completions").check(item)
    return output


PROVEN = {
    "introduced": (LibEvolutionEvalTag.INTRODUCED, {"1.1": PASSED, "1.0": MISSING}, Evidence.EXECUTED, "1.0"),
    "introduced, as far as is known": (LibEvolutionEvalTag.INTRODUCED, {"1.1": PASSED}, Evidence.STATIC, None),
    "the last version": (LibEvolutionEvalTag.DEPRECATED, {"1.1": PASSED, "2.0": MISSING}, Evidence.EXECUTED, "2.0"),
    "unchanged, and probes say no more": (LibEvolutionEvalTag.UNCHANGED, {"1.1": PASSED, "1.0": PASSED}, Evidence.STATIC, "1.0"),
}  # fmt: skip


@pytest.mark.parametrize("case", PROVEN)
def test_a_probed_completion_is_published_with_its_proof(case: str) -> None:
    tag, outcomes, evidence, neighbour = PROVEN[case]
    output = run(completion(tag), [probe("lib.take", version, outcome) for version, outcome in outcomes.items()])
    (row,) = output.tables["published_controlled_completions"]
    assert (row["evidence"], row["neighbour_version"]) == (evidence, neighbour)
    assert (row["lock_id"], row["python"], row["licence"], row["attribution"]) == ("lock-1.1", "3.9", "MIT", "Ada")
    assert row["canary"] == RULES_OF_QUALITY.canary


@pytest.mark.parametrize(("before", "evidence"), [("a", Evidence.EXECUTED), ("b", Evidence.STATIC)])
def test_equal_observations_in_both_releases_prove_unchanged(before: str, evidence: Evidence) -> None:
    verdicts = [
        probe("lib.take", version, PASSED) | {"observation": SEEN % name}
        for version, name in (("1.0", before), ("1.1", "a"))
    ]
    (row,) = run(completion(LibEvolutionEvalTag.UNCHANGED), verdicts).tables["published_controlled_completions"]
    assert row["evidence"] == evidence


ONE, NONE = SEEN % "a", '{"kind": "function", "signature": []}'
ANY = '{"kind": "function", "signature": [["a", "var_positional", false, null], ["b", "var_keyword", false, null]]}'


@pytest.mark.parametrize(
    ("observations", "versions"),
    [
        ((None, NONE, NONE), ["1.1", "2.0"]),
        ((NONE, NONE, ONE), ["1.0", "1.1"]),
        ((ANY, NONE, NONE), ["1.0", "1.1", "2.0"]),
        ((NONE, ANY, ONE), ["1.0", "1.1", "2.0"]),
        ((NONE, ONE, ONE), ["1.0", "1.1", "2.0"]),
    ],
)
def test_its_versions_are_those_that_have_the_api_and_accept_the_call(
    observations: Sequence[str | None], versions: list[str]
) -> None:
    """The call gives no argument; a signature that takes anything, or not the call in its own release, tells nothing."""
    verdicts = [
        probe("lib.take", release["version"], PASSED if text else MISSING) | {"observation": text}
        for release, text in zip(RELEASES, observations, strict=True)
    ]
    (row,) = run(completion(LibEvolutionEvalTag.UNCHANGED), verdicts).tables["published_controlled_completions"]
    assert row["versions"] == versions


NO_LICENCE = [row | {"licence": None} for row in RELEASES]
REFUSED = {
    "not probed": ({}, RELEASES, RejectReason.NOT_PROVEN),
    "not there": ({"1.1": MISSING}, RELEASES, RejectReason.NOT_PROVEN),
    "there before": ({"1.1": PASSED, "1.0": PASSED}, RELEASES, RejectReason.LABEL_REFUTED),
    "nobody may pass it on": ({"1.1": PASSED, "1.0": MISSING}, NO_LICENCE, RejectReason.LICENCE),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_unproven_instance_is_refused(case: str) -> None:
    outcomes, released, reason = REFUSED[case]
    verdicts = [probe("lib.take", version, outcome) for version, outcome in outcomes.items()]
    output = run(completion(LibEvolutionEvalTag.INTRODUCED), verdicts, released)
    assert [reject.reason for reject in output.rejects] == [reason]
    assert (output.units_in, output.units_out) == (1, 0)


@pytest.mark.parametrize("published", [[INTRODUCED], []])
def test_a_row_refers_to_its_change_only_where_that_is_published(published: list[Any]) -> None:
    verdicts = [probe("lib.take", "1.1", PASSED), probe("lib.take", "1.0", MISSING)]
    asked = completion(LibEvolutionEvalTag.INTRODUCED, INTRODUCED["id"])
    (row,) = run(asked, verdicts, published=published).tables["published_controlled_completions"]
    assert row["change_id"] == (INTRODUCED["id"] if published else None)


# What of the library is public in 2.0, where lib.old.take is missing, and whether the version decides its name then.
BESIDE: dict[str, tuple[list[str], bool]] = {
    "the module moved, with the name": (["lib", "lib.new", "lib.new.take"], False),
    "the module went, with the name": (["lib", "lib.new", "lib.new.give"], True),
    "the name left the module for another": (["lib", "lib.old", "lib.old.give", "lib.new.take"], False),
    "the name left the module for a class": (["lib", "lib.old", "lib.old.give", "lib.New.take"], True),
    "the module is known by a member": (["lib.old.give", "lib.new.take"], False),
    "a module whose name begins alike": (["lib.older.take"], False),
}


@pytest.mark.parametrize("last", [None, "2.0"])
@pytest.mark.parametrize("case", BESIDE)
def test_a_name_that_only_stands_elsewhere_does_not_discriminate(case: str, last: str | None) -> None:
    paths, discriminating = BESIDE[case]
    symbols = [symbol(path, "2.0") | {"last_version": last} for path in paths]
    gone = [symbol(path, "1.0", "1.1", kind=SymbolKind.MODULE) for path in ("lib.old", "lib.new")]
    row = completion(LibEvolutionEvalTag.DEPRECATED) | {"path": "lib.old.take", "service": "lib.old"}
    verdicts = [probe("lib.old.take", "1.1", PASSED), probe("lib.old.take", "2.0", MISSING)]
    (published,) = run(row, verdicts, symbols=symbols + gone).tables["published_controlled_completions"]
    assert (published["discriminating"], published["evidence"]) == (discriminating, Evidence.EXECUTED)


@pytest.mark.parametrize(
    ("kind", "what", "name", "discriminates"),
    [
        (ChangeKind.INTRODUCED, SymbolKind.FUNCTION, "transpose", False),
        (ChangeKind.INTRODUCED, SymbolKind.FUNCTION, "update_wrapper", False),
        (ChangeKind.INTRODUCED, SymbolKind.FUNCTION, "running_mean", True),
        (ChangeKind.INTRODUCED, SymbolKind.METHOD, "transpose", True),
        (ChangeKind.INTRODUCED, SymbolKind.CLASS, "transpose", True),
        (ChangeKind.RENAMED, SymbolKind.FUNCTION, "transpose", True),
    ],
)
def test_a_new_function_that_anybody_would_call_so_does_not_discriminate(
    kind: ChangeKind, what: SymbolKind, name: str, discriminates: bool
) -> None:
    path = f"lib.{name}"
    renamed = {"path": "lib.turn", "new": path} if kind == ChangeKind.RENAMED else {"path": path}
    came = change(kind, old_version="1.0", new_version="1.1", **renamed)
    row = completion(LibEvolutionEvalTag.INTRODUCED, came["id"]) | {"path": path, "core_token": name, "kind": what}
    verdicts = [probe(path, "1.1", PASSED), probe(path, "1.0", MISSING)]
    symbols = [symbol(path, "1.1", kind=what)]
    (published,) = run(row, verdicts, symbols=symbols, changes=[came]).tables["published_controlled_completions"]
    assert published["discriminating"] is discriminates


@pytest.mark.parametrize(
    ("kind", "description", "discriminates"),
    [
        (ChangeKind.INTRODUCED, "Take the first items.", False),
        (ChangeKind.INTRODUCED, "Cut the tail off.", True),
        (ChangeKind.RENAMED, "Take the first items.", True),
    ],
)
def test_a_new_name_that_the_description_spells_does_not_discriminate(
    kind: ChangeKind, description: str, discriminates: bool
) -> None:
    path = "lib.take_first"
    came = change(
        kind, old_version="1.0", new_version="1.1", path="lib.top" if kind == ChangeKind.RENAMED else path, new=path
    )
    row = completion(LibEvolutionEvalTag.INTRODUCED, came["id"])
    row |= {"path": path, "core_token": "take_first", "description": description}
    verdicts = [probe(path, "1.1", PASSED), probe(path, "1.0", MISSING)]
    output = run(row, verdicts, symbols=[symbol(path, "1.1")], changes=[came])
    (published,) = output.tables["published_controlled_completions"]
    assert published["discriminating"] is discriminates


@pytest.mark.parametrize(
    ("what", "elsewhere", "discriminates"),
    [
        (SymbolKind.METHOD, "lib.take", False),
        (SymbolKind.METHOD, "lib.give", True),
        (SymbolKind.CLASS, "lib.take", True),
    ],
)
def test_a_new_method_whose_name_the_release_before_has_elsewhere_does_not_discriminate(
    what: SymbolKind, elsewhere: str, discriminates: bool
) -> None:
    path = "lib.Box.take"
    came = change(ChangeKind.INTRODUCED, old_version="1.0", new_version="1.1", path=path)
    row = completion(LibEvolutionEvalTag.INTRODUCED, came["id"]) | {"path": path, "core_token": "take", "kind": what}
    row |= {"description": "Cut the tail off."}
    symbols = [symbol(path, "1.1", kind=what), symbol(elsewhere, "1.0", "1.1"), symbol("lib.Box", "1.0", "1.1")]
    verdicts = [probe(path, "1.1", PASSED), probe(path, "1.0", MISSING)]
    (published,) = run(row, verdicts, symbols=symbols, changes=[came]).tables["published_controlled_completions"]
    assert published["discriminating"] is discriminates
