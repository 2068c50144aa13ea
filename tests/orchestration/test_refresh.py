"""What the summary of a refresh says of the lake."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.lake.rows import ReleaseRow
from pipeline.lake.tables import Lake
from pipeline.orchestration.refresh import Refresh, gaps_of
from tests.families.completions_and_migrations.rows import LIBRARY, releases


@pytest.mark.parametrize(
    ("runs", "gaps"),
    [
        pytest.param([releases("1.0", "1.1")], [], id="from the first release of the index"),
        pytest.param([releases("1.1", "1.2", before="1.0")], [], id="the oldest is compared with nothing"),
        pytest.param(
            [releases("1.0", "1.1"), releases("2.0", "10.0", before="1.2")], ["2.0"], id="a gap after the first release"
        ),
        pytest.param(
            [releases("1.1", before="1.0"), releases("10.0", before="9.0"), releases("2.0", before="1.3")],
            ["2.0", "10.0"],
            id="separated releases, in the order of versions",
        ),
    ],
)
def test_releases_after_a_gap_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: list[list[ReleaseRow]], gaps: list[str]
) -> None:
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path))
    Lake(tmp_path / "lake").write("releases", LIBRARY, [row for run in runs for row in run])
    assert gaps_of(Refresh("run", libraries=(LIBRARY,))) == ({LIBRARY: gaps} if gaps else {})
