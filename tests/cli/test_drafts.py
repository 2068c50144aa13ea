"""`driftline drafts`: rows that a model would improve, as a table and as lines for a program."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline.lake.tables import Lake
from tests.cli.command import Driftline


def test_what_a_model_would_improve(driftline: Driftline, data: Path) -> None:
    assert "`driftline refresh` comes first" in driftline("drafts", "--libraries", "a").err
    for library in "ab":
        why = {"stage": "drafting", "library": library, "reason": "no_text", "detail": "[/b] no docstring"}
        Lake(data / "lake").write("rejects", library, [why | {"key": f"{library}1"}], part="drafting")
    table = driftline("drafts", "--libraries", "a,b").out.splitlines()
    assert [line.split() for line in table[1:5]] == [
        ["kind", "library", "written", "waiting", "refused", "redacted", "missing"],
        ["description", "a", "0", "0", "0", "0", "1"],
        ["description", "b", "0", "0", "0", "0", "1"],
        ["description", "all", "0", "0", "0", "0", "2"],
    ]
    told = [json.loads(line) for line in driftline("drafts", "--libraries", "b", "--json").out.splitlines()]
    assert told == [
        {
            "kind": "description",
            "library": "b",
            "subject_id": "b1",
            "status": "missing",
            "detail": "[/b] no docstring",
        }
    ]
    assert not (data / "runs").exists()
