"""`driftline upload`: addresses that are none, and the one way to the Hub."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.settings import settings
from tests.cli.command import Driftline
from tests.snapshots.lakes import fill, publish_lake, tables


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("bucket/prefix", "no address"),
        ("hf://lab/driftline", "hf://datasets/OWNER/NAME"),
        ("hf://datasets", "hf://datasets/OWNER/NAME"),
        ("hf://models/lab/driftline", "hf://datasets/OWNER/NAME"),
    ],
)
def test_an_address_that_is_none_is_bad_usage(driftline: Driftline, data: Path, to: str, said: str) -> None:
    """Below hf:// there are models too, where fsspec would make a commit of each file."""
    result = driftline("upload", "starter", to)
    assert result.status == 2
    assert said in " ".join(result.err.split())


def test_a_snapshot_goes_to_a_folder_and_a_broken_one_does_not(
    driftline: Driftline, data: Path, tmp_path: Path
) -> None:
    published = publish_lake(fill(tmp_path / "lake", tables()), settings().snapshots)
    done = driftline("upload", "mine", f"file://{tmp_path}/share", "--json")
    assert (done.status, done.json["existing"], done.json["latest"]) == (0, [], published.path.name), done.err
    (published.path / "README.md").write_text("other\n")
    broken = driftline("upload", "mine", f"file://{tmp_path}/share")
    assert broken.status == 1
    assert "1 checks of the snapshot fail" in " ".join(broken.err.split())
