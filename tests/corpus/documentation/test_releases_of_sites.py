"""Of which release a site is, by what it is called and what its inventory says."""

from __future__ import annotations

import pytest

from pipeline.corpus.documentation.releases import contradicts, read_name, release_of

RELEASES = ["1.5.2", "1.5.3", "2.0.0", "2.0.1", "2.1.0"]

NAMES = [
    (["v1.5.3"], "1.5.3"),
    (["1.5.3"], "1.5.3"),
    (["release-1.5.3"], "1.5.3"),
    (["bag-v1.5.3"], "1.5.3"),
    (["1_5_3"], "1.5.3"),
    (["2.0"], "2.0.0"),
    (["2.0.x"], "2.0.1"),
    (["1.x"], "1.5.3"),
    (["stable-1.5.x"], "1.5.3"),
    (["2.1.x"], None),
    (["2.x"], None),
    (["latest"], None),
    (["v1.5.4"], None),
    (["main", "v2.0.1"], "2.0.1"),
    ([], None),
]


@pytest.mark.parametrize(("names", "release"), NAMES)
def test_which_release_a_name_means(names: list[str], release: str | None) -> None:
    assert release_of(names, RELEASES) == release


def test_no_release_at_all() -> None:
    assert release_of(["1.5.x", "1.5"], []) is None


@pytest.mark.parametrize("name", ["latest", "stable", "main", "", "feature/x", "...", "٣"])
def test_names_of_no_version(name: str) -> None:
    assert read_name(name) is None


INVENTORY_VERSIONS = [
    ("1.5.3", "1.5.3", False),
    ("1.5", "1.5.3", False),
    ("1.5.x", "1.5.3", False),
    ("1.5.2", "1.5.3", True),
    ("1.4", "1.5.3", True),
    ("2", "1.5.3", True),
    ("1.5.4.dev0+g1a2b3c", "1.5.3", False),
    ("0.0.0", "1.5.3", False),
    ("", "1.5.3", False),
    ("unknown", "1.5.3", False),
    ("2.0.0", "2.0", False),
]


@pytest.mark.parametrize(("inventory_version", "release", "expected"), INVENTORY_VERSIONS)
def test_an_inventory_of_another_version(inventory_version: str, release: str, expected: bool) -> None:
    assert contradicts(inventory_version, release) is expected
