"""What the summary of a refresh says of the lake."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.tables import Lake
from pipeline.orchestration.refresh import Refresh, gaps_of


@pytest.mark.parametrize(
    ("refused", "gaps"),
    [
        pytest.param(["1.0"], {}, id="the oldest alone"),
        pytest.param(["2.0", "10.0", "1.0"], {"demo": ["2.0", "10.0"]}, id="two after gaps, in order of versions"),
        pytest.param([], {}, id="none"),
    ],
)
def test_releases_after_a_gap_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: list[str], gaps: dict[str, list[str]]
) -> None:
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path))
    reasons = [*((version, RejectReason.NO_PREDECESSOR) for version in refused), ("0.1", RejectReason.NOTHING_READ)]
    rows = [
        {"stage": "lifecycle", "library": "demo", "key": key, "reason": reason, "detail": ""} for key, reason in reasons
    ]
    Lake(tmp_path / "lake").write("rejects", "demo", rows, "lifecycle")
    assert gaps_of(Refresh("run", libraries=("demo",))) == gaps
