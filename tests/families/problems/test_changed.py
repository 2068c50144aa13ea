"""Changes that no example decides: which are asked about, in which version, under which hidden names."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.usages.rules import UsageRules
from pipeline.families.problems.changed import Changed, changed_apis, undecided
from pipeline.families.problems.library import Library
from pipeline.lake.rows import ChangeRow
from tests.families.completions_and_migrations.rows import TAGGING, change, document, life, releases, symbol
from tests.families.problems.changed_world import ANNOTATED, INTRODUCED, KIND, NARROWED, RENAMED
from tests.families.problems.rows import problem

USAGE = load(RULES / "usage.yaml", UsageRules)
OLD = ("1.0", "1.1")


def library_of(*paths: str, documented: tuple[str, ...] = ()) -> Library:
    return Library(
        releases=releases("1.0", "1.1"),
        symbols=[symbol(path, "1.0", "1.1") for path in paths],
        changes=[],
        lifecycles=[life(path, "1.0", "1.1", modified=["1.1"]) for path in paths],
        documents=[document(path, "Do it.", "1.0", "1.1") for path in documented],
        api_documents=[],
        verdicts=[],
        tagging=TAGGING,
        usage=USAGE,
    )


def chosen(changes: list[ChangeRow], library: Library, **rules: Any) -> tuple[list[Changed], dict[RejectReason, str]]:
    kept, rejects = changed_apis(changes, library, KIND.model_copy(update=rules))
    return kept, {reject.reason: reject.detail for reject in rejects}


def test_decided_are_changes_of_problems_their_apis_and_those_that_no_run_can_show() -> None:
    changes = [RENAMED, INTRODUCED, NARROWED, ANNOTATED, change(ChangeKind.DEPRECATED, "lib.fuse", *OLD)]
    assert undecided(changes, [], KIND.kinds) == [RENAMED, INTRODUCED, NARROWED]
    assert undecided(changes, [problem(change_id=INTRODUCED["id"])], KIND.kinds) == [RENAMED, NARROWED]
    fused = problem(path="lib.fuse", version="1.1")
    assert undecided(changes, [fused]) == [INTRODUCED, NARROWED, ANNOTATED]


@pytest.mark.parametrize(
    ("kind", "version", "hidden"),
    [
        (ChangeKind.PARAMETER_ADDED_REQUIRED, "1.1", ("paint", "colour")),
        (ChangeKind.PARAMETER_REQUIRED, "1.0", ("paint", "colour")),
        (ChangeKind.PARAMETER_KIND, "1.0", ("paint", "colour")),
        (ChangeKind.PARAMETER_RENAMED, "1.1", ("paint", "colour", "tone")),
        (ChangeKind.ASYNC, "1.1", ("paint",)),
    ],
)
def test_the_version_is_the_one_whose_code_the_change_makes_fail(
    kind: ChangeKind, version: str, hidden: tuple[str, ...]
) -> None:
    row = change(kind, "lib.paint", *OLD, parameter="colour", new="tone", gitchameleon_category="name")
    (one,), _ = chosen([row], library_of("lib.paint"))
    assert (one.version, one.hidden) == (version, hidden)
    assert {one.version, one.other_version} == set(OLD)


def test_names_that_cannot_be_hidden_and_what_is_not_there_are_refused() -> None:
    def added(path: str, parameter: str) -> Any:
        return change(ChangeKind.PARAMETER_ADDED_OPTIONAL, path, *OLD, parameter=parameter)

    kept, reasons = chosen([added("lib.paint", "n"), added("lib.gone", "colour")], library_of("lib.paint"))
    assert kept == []
    assert reasons == {
        RejectReason.UNFIT_NAME: "lib.paint in 1.1: 'n'",
        RejectReason.UNRESOLVED_NAME: "lib.gone is no API that 1.1 defines",
    }
    _, reasons = chosen([change(ChangeKind.ASYNC, "lib.Lib", *OLD)], library_of("lib.Lib"))
    assert "what the library is called" in reasons[RejectReason.UNFIT_NAME]
    _, reasons = chosen([change(ChangeKind.ASYNC, "lib.paint", "1.1", "1.2")], library_of("lib.paint"))
    assert "lacks 1.2" in reasons[RejectReason.NO_PREDECESSOR]


def test_documented_and_breaking_ones_go_first_and_quotas_hold() -> None:
    library = library_of("lib.paint", "lib.draw", "lib.wipe", documented=("lib.draw", "lib.wipe"))
    rows = [
        change(ChangeKind.ASYNC, "lib.paint", *OLD),
        change(ChangeKind.ASYNC, "lib.draw", *OLD, breaking=False),
        change(ChangeKind.ASYNC, "lib.wipe", *OLD),
        change(ChangeKind.PARAMETER_DEFAULT, "lib.wipe", *OLD, parameter="colour"),
    ]
    kept, reasons = chosen(rows, library, max_per_library=2)
    assert [one.path for one in kept] == ["lib.wipe", "lib.draw"]
    assert kept[0].change["kind"] == ChangeKind.PARAMETER_DEFAULT
    assert RejectReason.OVER_QUOTA in reasons
    kept, _ = chosen(rows, library, max_per_version=1)
    assert len(kept) == 1
