from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.lake.intervals import chains, encode, holding_at
from pipeline.lake.rows import ReleaseRow


def releases(*pairs: tuple[str, str | None]) -> list[ReleaseRow]:
    return [{"version": version, "predecessor": predecessor} for version, predecessor in pairs]


def test_a_gap_in_the_releases_ends_a_chain() -> None:
    rows = releases(("1.10", "1.9"), ("1.0", None), ("1.1", "1.0"), ("1.9", "1.8"))
    assert chains(rows) == [["1.0", "1.1"], ["1.9", "1.10"]]


def test_a_state_that_holds_is_one_row_and_one_that_comes_back_is_another() -> None:
    states = {
        "1.0": {"a": {"path": "a", "value": 1}},
        "1.1": {"a": {"path": "a", "value": 1}},
        "1.2": {},
        "1.3": {"a": {"path": "a", "value": 1}},
    }
    coded = encode([["1.0", "1.1", "1.2", "1.3"]], states, lambda row: row["value"])
    assert [(row["first_version"], row["last_version"]) for row in coded] == [("1.0", "1.1"), ("1.3", "1.3")]


def test_a_state_does_not_hold_across_a_gap() -> None:
    states = {version: {"a": {"path": "a", "value": 1}} for version in ("1.0", "1.2")}
    coded = encode([["1.0"], ["1.2"]], states, lambda row: row["value"])
    assert [(row["first_version"], row["last_version"]) for row in coded] == [("1.0", "1.0"), ("1.2", "1.2")]


surfaces = st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(0, 2)), min_size=1, max_size=12)


@given(surfaces)
def test_every_version_reads_back_as_it_was(history: list[dict[str, int]]) -> None:
    versions = [f"1.{number}" for number in range(len(history))]
    states = {
        version: {path: {"path": path, "value": value} for path, value in surface.items()}
        for version, surface in zip(versions, history, strict=True)
    }
    coded = encode([versions], states, lambda row: row["value"])
    for version, surface in zip(versions, history, strict=True):
        assert {row["path"]: row["value"] for row in holding_at(coded, version)} == surface
