"""A snapshot in which a hidden name can be read, or a mask cannot be undone, does not verify."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.samples import Granularity
from pipeline.snapshots.verify import verify
from tests.evaluation.export.rows import completion, context, controlled, foreign, lake_tables, snapshot_of

TOKEN = completion(Granularity.TOKEN)
WHOLE: dict[str, list[Any]] = {
    "published_completions": [TOKEN],
    "published_block_completions": [foreign() | {"code": "import org.lib.Page;\nPage page = new Page(1);\n"}],
    "published_contexts": [context(TOKEN)],
    "published_controlled_completions": [controlled()],
}
LEAKING = {
    "code": ("published_completions", {"masked_code": TOKEN["masked_code"] + "# fetch\n", "code": TOKEN["code"] + "# fetch\n"}),
    "a word after an escape": (
        "published_completions",
        {"masked_code": TOKEN["masked_code"] + "'\\x20fetch'\n", "code": TOKEN["code"] + "'\\x20fetch'\n"},
    ),
    "description": ("published_completions", {"description": "Get what fetch gets."}),
    "imports": ("published_contexts", {"imports": "from lib import fetch\n"}),
    "left context": ("published_contexts", {"left_context": "fetch(0)\nx = "}),
    "hint": ("published_contexts", {"hint": "lib.fetch."}),
    "right context": ("published_contexts", {"right_context": "\nlib.fetch()\n"}),
    "query": ("published_contexts", {"query": "Call fetch."}),
    "controlled": ("published_controlled_completions", {"left_context": "# fetch it\n"}),
    "the title of a post": ("published_block_completions", {"description": "Why is my Page empty?"}),
    "another language": (
        "published_block_completions",
        {"masked_code": "import org.lib.[token-mask]; // Page\n[block-mask]\n", "code": "import org.lib.Page; // Page\nPage page = new Page(1);\n"},
    ),
}  # fmt: skip
LOST = {
    "another answer": ("published_completions", {"answer": "x", "core_token": "catch"}),
    "other code": ("published_completions", {"code": "print(1)\n"}),
    "a block": ("published_block_completions", {"answer": "Page page;"}),
}


def problems(tmp_path: Path, changed: dict[str, list[Any]]) -> list[str]:
    """What verify finds about hidden names; the rows of the test refer to tables that it leaves out."""
    found = verify(snapshot_of(lake_tables() | {"published_retrievals": []} | changed, tmp_path))
    return [line for line in found if "hide" in line or "undone" in line]


def test_a_snapshot_that_hides_its_names(tmp_path: Path) -> None:
    assert problems(tmp_path, WHOLE) == []


@pytest.mark.parametrize("case", LEAKING)
def test_a_name_that_can_be_read(tmp_path: Path, case: str) -> None:
    table, changed = LEAKING[case]
    (row,) = WHOLE[table]
    key = row.get("completion_id") or row["id"]
    assert problems(tmp_path, WHOLE | {table: [row | changed]}) == [
        f"{table}: 1 rows show the name that they hide, first {key}: {_column(changed)}"
    ]


def _column(changed: dict[str, str]) -> str:
    return next(iter(changed))


@pytest.mark.parametrize("case", LOST)
def test_a_mask_that_cannot_be_undone(tmp_path: Path, case: str) -> None:
    table, changed = LOST[case]
    (row,) = WHOLE[table]
    found = problems(tmp_path, WHOLE | {table: [row | changed]})
    assert found == [f"{table}: masking cannot be undone in 1 rows, first {row['id']}"]


def test_another_case_is_for_the_rules_to_decide(tmp_path: Path) -> None:
    row = TOKEN | {"masked_code": TOKEN["masked_code"] + "# Fetch\n", "code": TOKEN["code"] + "# Fetch\n"}
    assert problems(tmp_path, WHOLE | {"published_completions": [row]}) == []
