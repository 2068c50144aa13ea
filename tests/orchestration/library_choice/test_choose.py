"""Choosing libraries: down a ranking, by rule, and the list that ships is the one that the rule gives."""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

import pytest

from pipeline.core.errors import InputError
from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.core.rules.profiles import load_profile
from pipeline.core.vocabularies.libraries import Unsuited
from pipeline.index.library_facts import FOLDER, Fact, Ranked, read_facts, read_ranking
from pipeline.orchestration.library_choice.choose import Considered, choose
from pipeline.orchestration.library_choice.rules import ChoosingRules, Pattern
from pipeline.orchestration.library_choice.writing import considered_text, profile_text
from pipeline.quality.acceptance.quality import QualityRules
from tests.errors import raises

SHIPPED = load(RULES / "libraries.yaml", ChoosingRules)
LICENCES = load(RULES / "quality.yaml", QualityRules).licences


def rules(wanted: int = 9, **by_hand: dict[str, str]) -> ChoosingRules:
    """The shipped patterns, with as many libraries wanted as a test needs."""
    told = {"by_hand": {Unsuited(reason): names for reason, names in by_hand.items()}, "wanted": wanted}
    return SHIPPED.model_copy(update=told)


def ranked(*names: str, month: str = "2026-10", summary: str = "Does a thing") -> list[Ranked]:
    return [Ranked(rank, name, "1.0", month, summary) for rank, name in enumerate(names, 1)]


def fact(library: str, releases: int = 9, licence: str | None = "MIT") -> Fact:
    day = date(2026, 11, 1)
    return Fact(library, day, SHIPPED.since, releases, releases, date(2015, 1, 1), day, True, 1000, licence, "1.0")


def verdicts(considered: list[Considered]) -> dict[str, str]:
    return {one.ranked.library: str(one.reason or "chosen") for one in considered}


@pytest.mark.parametrize(
    ("pattern", "text", "hit"),
    [
        pytest.param(pattern, text, hit, id=f"{pattern.reason}: {text}: {hit}")
        for pattern in SHIPPED.patterns
        for hit, texts in [(True, pattern.matches), (False, pattern.passes)]
        for text in texts
    ],
)
def test_patterns_hit_their_examples_and_pass_the_others(pattern: Pattern, text: str, hit: bool) -> None:
    of_names = pattern.name is not None
    name, summary = (text, "") if of_names else ("anything", text)
    assert pattern.hits(name, summary) is hit


def test_as_many_as_are_wanted_are_taken_the_most_downloaded_first() -> None:
    considered = choose(ranked("a", "types-a", "b", "c"), {}, rules(wanted=2), LICENCES)
    assert verdicts(considered) == {"a": "chosen", "types-a": "stubs", "b": "chosen"}


def test_a_short_ranking_gives_what_it_has() -> None:
    assert verdicts(choose(ranked("a"), {}, rules(wanted=2), LICENCES)) == {"a": "chosen"}


@pytest.mark.parametrize(
    ("known", "verdict", "detail"),
    [
        (fact("a"), "chosen", ""),
        (fact("a", releases=6), "chosen", ""),
        (fact("a", releases=5), "few_releases", "5 since 2021-01-01, 6 are wanted"),
        (fact("a", licence="GPL-3.0-only"), "licence", "1.0: GPL-3.0-only"),
        (fact("a", licence="GPL-3.0-only OR MIT"), "chosen", ""),
        (fact("a", licence=None), "chosen", ""),
    ],
)
def test_what_the_index_said_decides(known: Fact, verdict: str, detail: str) -> None:
    (one,) = choose(ranked("a"), {"a": known}, rules(), LICENCES)
    assert (str(one.reason or "chosen"), one.detail, one.fact) == (verdict, detail, known)


def test_what_nobody_asked_about_is_judged_by_its_month_alone() -> None:
    old, unknown = ranked("old", month="2019-03"), ranked("unknown", month="")
    assert verdicts(choose(old, {}, rules(), LICENCES)) == {"old": "few_releases"}
    assert verdicts(choose(unknown, {}, rules(), LICENCES)) == {"unknown": "chosen"}


def test_a_curators_word_comes_before_a_pattern() -> None:
    (one,) = choose(ranked("types-a"), {}, rules(withdrawn={"types-a": "said so"}), LICENCES)
    assert (one.reason, one.detail) == (Unsuited.WITHDRAWN, "said so")


def test_one_library_has_one_reason(tmp_path: Path) -> None:
    text = (RULES / "libraries.yaml").read_text().replace("  stubs: {}\n", "  stubs: {black: a formatter}\n")
    (tmp_path / "libraries.yaml").write_text(text)
    with raises(RuleError, "black", code="rule_entry_twice"):
        load(tmp_path / "libraries.yaml", ChoosingRules)


def shipped() -> list[Considered]:
    return choose(read_ranking(FOLDER / "ranking.csv"), read_facts(FOLDER / "facts.jsonl"), SHIPPED, LICENCES)


def test_the_list_that_ships_follows_from_rule_and_facts() -> None:
    considered = shipped()
    assert (RULES / "profiles" / "popular.yaml").read_text() == profile_text(considered, SHIPPED)
    assert (FOLDER / "considered.csv").read_text() == considered_text(considered)


def test_the_profile_has_300_libraries_and_all_their_releases() -> None:
    libraries = load_profile(SHIPPED.profile).libraries
    assert len(libraries) == SHIPPED.wanted == 300
    assert {(rule.versions, rule.latest) for rule in libraries} == {("", None)}


def test_every_library_that_was_refused_has_its_reason_beside_it() -> None:
    with (FOLDER / "considered.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    refused = [row for row in rows if row["verdict"] != "chosen"]
    assert len(rows) - len(refused) == 300
    assert {row["verdict"] for row in refused} <= set(Unsuited)
    assert all(row["detail"] for row in refused)


def test_a_ranking_may_be_that_of_hugovk(tmp_path: Path) -> None:
    path = tmp_path / "top.csv"
    path.write_text('download_count,project\n139,"boto3"\n83,"Typing_Extensions"\n')
    assert [(one.rank, one.library) for one in read_ranking(path)] == [(1, "boto3"), (2, "typing-extensions")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rank,library,version,month,summary\n2,a,1,,\n1,b,1,,\n", "ranking.csv"),
        ("rank,library,version,month,summary\nfirst,a,1,,\n", "entry 1"),
        ("name,place\na,1\n", "columns"),
        ("rank,library,version,month,summary\n1,a,1\n", "3 columns"),
        ("rank,library,version,month,summary\n1,a,1,,,,\n", "7 columns"),
        ("download_count,project\n1\n", "1 columns"),
        (f"rank,library,version,month,summary\n1,a,1,,{'x' * 200_000}\n", "field limit"),
    ],
)
def test_a_ranking_that_cannot_be_read_says_why(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "ranking.csv").write_text(text)
    with raises(InputError, name, code="ranking_invalid"):
        read_ranking(tmp_path / "ranking.csv")


def test_a_ranking_may_write_names_as_their_authors_do(tmp_path: Path) -> None:
    (tmp_path / "ranking.csv").write_text("rank,library,version,month,summary\n1,Typing_Extensions,1,,\n")
    assert [one.library for one in read_ranking(tmp_path / "ranking.csv")] == ["typing-extensions"]


def test_a_fact_that_cannot_be_read_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").write_text('{"library": "a"}\n')
    with raises(InputError, "facts.jsonl:1", code="library_facts_invalid"):
        read_facts(tmp_path / "facts.jsonl")


@pytest.mark.parametrize(("releases", "verdict"), [(-1, "few_releases"), (0, "chosen"), (1, "chosen")])
def test_as_many_releases_as_the_rule_names_are_enough(releases: int, verdict: str) -> None:
    facts = {"a": fact("a", releases=SHIPPED.min_releases + releases)}
    assert verdicts(choose(ranked("a"), facts, rules(), LICENCES)) == {"a": verdict}


def test_the_month_of_the_rule_is_late_enough_and_the_one_before_is_not() -> None:
    since = rules().model_copy(update={"since": date(2024, 11, 15)})
    for month, verdict in {"2024-11": "chosen", "2024-10": "few_releases", "": "chosen"}.items():
        assert verdicts(choose(ranked("a", month=month), {}, since, LICENCES)) == {"a": verdict}
