"""Which rows a model would improve or has improved: each subject once, by its strongest standing."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.vocabularies.drafts import DraftKind, DraftStatus
from pipeline.core.vocabularies.functions import TestKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Drafter
from pipeline.lake.rows import DraftRow
from pipeline.lake.tables import Lake
from pipeline.orchestration.draftable import OF_KIND, counted, draftable
from pipeline.quality.all_rules import CurationRules
from tests.families.completions_and_migrations.rows import LIBRARY, verdict
from tests.families.functions.rows import SNIPPET, function


@pytest.fixture(scope="module")
def rules() -> CurationRules:
    return CurationRules.read()


def refuse(lake: Lake, stage: str, *refused: tuple[str, RejectReason], library: str = "lib") -> None:
    rows = [{"stage": stage, "library": library, "key": key, "reason": why, "detail": "seen"} for key, why in refused]
    lake.write("rejects", library, rows, part=stage)


def draft(subject: str, *, redacted: bool = False, model: str | None = None) -> DraftRow:
    named = {"id": subject, "library": "lib", "subject_id": subject, "field": "description", "text": "[API] it."}
    written = {"drafter": "model" if model else "offline", "model": model, "prompt_sha256": "0" * 64}
    return {**named, "redacted": redacted, **written, "tokens": None, "nano_usd": None}


def test_an_empty_lake_has_nothing_to_improve(tmp_path: Path, rules: CurationRules) -> None:
    assert draftable(Lake(tmp_path), ["lib"], rules) == []


def test_descriptions_and_instructions_are_rows_or_rejects(tmp_path: Path, rules: CurationRules) -> None:
    lake = Lake(tmp_path)
    drafts = [draft("cut", redacted=True), draft("good"), draft("by model", model="m"), draft("waits", redacted=True)]
    lake.write("drafts", "lib", [*drafts, draft("given up", redacted=True)])
    refuse(
        lake,
        "drafting",
        ("silent", RejectReason.NO_TEXT),
        ("waits", RejectReason.DRAFT_WAITING),
        ("given up", RejectReason.DRAFT_REFUSED),
        ("other", RejectReason.NO_USE),
    )
    refuse(lake, "contexts", ("question", RejectReason.NO_TEXT), ("cut off", RejectReason.DRAFT_REFUSED))
    result = draftable(lake, ["lib", "other"], rules)
    assert [(row.kind, row.subject_id, row.status) for row in result] == [
        (DraftKind.DESCRIPTION, "by model", DraftStatus.WRITTEN),
        (DraftKind.DESCRIPTION, "cut", DraftStatus.REDACTED),
        (DraftKind.DESCRIPTION, "given up", DraftStatus.REFUSED),
        (DraftKind.DESCRIPTION, "silent", DraftStatus.MISSING),
        (DraftKind.DESCRIPTION, "waits", DraftStatus.WAITING),
        (DraftKind.INSTRUCTION, "cut off", DraftStatus.REFUSED),
        (DraftKind.INSTRUCTION, "question", DraftStatus.MISSING),
    ]
    assert counted(result)[DraftKind.INSTRUCTION] == {DraftStatus.REFUSED: 1, DraftStatus.MISSING: 1}
    assert list(counted(result)[DraftKind.DESCRIPTION]) == list(DraftStatus)


def test_functions_stand_by_their_texts_their_tests_and_the_examples_that_make_none(
    tmp_path: Path, rules: CurationRules
) -> None:
    lake = Lake(tmp_path)
    bare = function(id="bare", missing_test_kinds=[TestKind.BOUNDARY_VALUES])
    cut = function(id="cut", missing_test_kinds=[], redacted=True)
    mine = function(id="mine", missing_test_kinds=[], tests_drafter=Drafter.MODEL, drafter=Drafter.MODEL)
    lake.write("functions", LIBRARY, [bare, cut, mine, function(id="same", missing_test_kinds=[])])
    lake.write("snippets", LIBRARY, [SNIPPET])
    lake.write("verdicts", LIBRARY, [verdict(SNIPPET["id"], "1.1", Outcome.PASSED)])
    waiting, refused = RejectReason.DRAFT_WAITING, RejectReason.DRAFT_REFUSED
    untold = ("untold", RejectReason.NO_TEXT), ("cut", waiting), ("bare tests", refused), (SNIPPET["id"], waiting)
    refuse(lake, "functions", *untold, library=LIBRARY)
    refuse(lake, "functions_acceptance", ("same", RejectReason.NO_CHECK), library=LIBRARY)
    result = [(row.kind, row.subject_id, row.status) for row in draftable(lake, [LIBRARY], rules)]
    assert result == [
        (DraftKind.DESCRIPTION, "cut", DraftStatus.WAITING),
        (DraftKind.DESCRIPTION, "mine", DraftStatus.WRITTEN),
        (DraftKind.DESCRIPTION, "untold", DraftStatus.MISSING),
        (DraftKind.TASK_FUNCTION, SNIPPET["id"], DraftStatus.WAITING),
        (DraftKind.FUNCTION_TESTS, "bare", DraftStatus.REFUSED),
        (DraftKind.FUNCTION_TESTS, "mine", DraftStatus.WRITTEN),
        (DraftKind.FUNCTION_TESTS, "same", DraftStatus.MISSING),
    ]


def test_every_kind_is_requested(rules: CurationRules) -> None:
    asked = {name for name, _ in rules.drafts}
    assert asked <= {str(kind) for kind in OF_KIND}, "each kind of draft says which rows a model would improve"
