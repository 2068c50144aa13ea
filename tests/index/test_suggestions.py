from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.index.library_facts import read_ranking
from pipeline.index.suggestions import did_you_mean, nearest_versions
from tests.errors import raises

FLASK = ["0.9", "0.10", "2.2.4", "2.2.5", "2.3.0", "2.3.1", "3.0.0", "3.1.3", "no version"]


@pytest.mark.parametrize(
    ("version", "nearest"),
    [
        ("2.2.9", ["2.2.4", "2.2.5", "2.3.0", "2.3.1"]),
        ("9.9", ["3.0.0", "3.1.3"]),
        ("0.1", ["0.9", "0.10"]),
        ("31.3", ["3.0.0", "3.1.3"]),
        ("2,3.0", ["2.3.0"]),
        ("soon", ["3.0.0", "3.1.3"]),
    ],
)
def test_the_releases_next_to_a_version_and_those_spelled_alike(version: str, nearest: list[str]) -> None:
    assert nearest_versions(version, FLASK) == nearest


def test_a_version_that_is_spelled_alike_and_lies_elsewhere() -> None:
    assert nearest_versions("23.1", FLASK) == ["2.3.1", "3.0.0", "3.1.3"]


@pytest.mark.parametrize(
    ("typed", "meant"), [("Flsk", "flask"), ("more_itertool", "more-itertools"), ("panda", "pandas")]
)
def test_a_library_that_is_spelled_alike(typed: str, meant: str) -> None:
    assert meant in did_you_mean(typed)


def test_a_name_that_is_like_none() -> None:
    assert did_you_mean("qqqqqqqq") == ""


def test_a_file_that_is_no_ranking_overwrites_no_profile(tmp_path: Path) -> None:
    path = tmp_path / "ranking.csv"
    path.write_text('{"id": "x"}\n')
    with raises(ValueError, "ranking.csv", code="ranking_invalid"):
        read_ranking(path)
