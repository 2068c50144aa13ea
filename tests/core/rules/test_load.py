from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field

from pipeline.core.rules.fingerprint import plain
from pipeline.core.rules.load import Rule, RuleError, load
from pipeline.core.rules.profiles import Profile, load_profile, profile_names
from pipeline.quality.all_rules import CurationRules
from tests.errors import raises


class Part(Rule):
    limit: int
    names: frozenset[str] = frozenset()


class Whole(Rule):
    parts: tuple[Part, ...]
    share: float
    by_name: dict[str, Part | None] = Field({})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("share: 1\nparts: []\nshar: 2\n", "rules.yaml:3: shar: unknown key (did you mean share?): correct"),
        ("share: 1\nparts: []\nlimt: 2\n", "rules.yaml:3: limt: unknown key: correct"),
        (
            "share: 1\nparts:\n  - limit: 1\n  - limt: 2\n",
            "rules.yaml:4: parts.1.limt: unknown key (did you mean limit?): correct",
        ),
        ("share: 1\nby_name: {a: {name: [x]}}\n", "by_name.a.name: unknown key (did you mean names?): correct"),
        ("share: 1\nparts:\n  - limit: 1\n  - limt: 2\n", "rules.yaml:4: parts.1.limit: Field required"),
        ("parts: []\nshare: often\n", "rules.yaml:2: share: Input should be a valid number"),
        ("parts: []\nshare: 1\nshare: 2\n", "key 'share' twice"),
        ("parts: [\n", "rules.yaml:2:1: not YAML: did not find expected node content"),
        (
            "parts: [1,\nb: 2\n",
            "rules.yaml:3:1: not YAML: did not find expected ',' or ']', while parsing a flow sequence",
        ),
        ("", "parts: Field required"),
        ("- a\n", "rules.yaml:1: file:"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    with pytest.raises(RuleError) as caught:
        load(path, Whole)
    assert complaint in str(caught.value)


def test_every_problem_of_a_file_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("parts: 3\nshare: x\nother: 1\n")
    with pytest.raises(RuleError) as caught:
        load(path, Whole)
    assert len(str(caught.value).splitlines()) == 3


def test_bytes_that_are_not_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with raises(RuleError, "rules.yaml", "UTF-8", code="rule_file_not_utf8"):
        load(path, Whole)


def test_a_file_that_was_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    for limit in (1, 2):
        path.write_text(f"limit: {limit}\n")
        assert load(path, Part).limit == limit


def test_models_of_one_file_share_nothing_that_can_be_changed(tmp_path: Path) -> None:
    class Open(Rule):
        names: dict[str, list[str]]

    path = tmp_path / "rules.yaml"
    path.write_text("names:\n  a: [b]\n")
    load(path, Open).names["a"].append("c")
    assert load(path, Open).names == {"a": ["b"]}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with raises(RuleError, code="rule_file_missing"):
        load(tmp_path / "none.yaml", Whole)


def test_rules_are_frozen(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        Part(limit=1).limit = 2  # type: ignore[misc]


def test_what_a_result_depends_on_has_one_order() -> None:
    names = [f"name{number}" for number in range(50)]
    assert plain(Part(limit=1, names=frozenset(names))) == {"limit": 1, "names": sorted(names)}


@pytest.mark.parametrize("name", profile_names())
def test_the_profiles_that_ship_can_be_read(name: str) -> None:
    assert load_profile(name).name == name


def test_the_rules_that_ship_can_be_read() -> None:
    assert CurationRules.read()


def test_starter_is_what_was_promised() -> None:
    assert len(load_profile("starter").libraries) >= 8


def test_an_unknown_profile_names_those_that_exist() -> None:
    with raises(RuleError, "nonesuch", "starter", code="profile_unknown"):
        load_profile("nonesuch")


@pytest.mark.parametrize(
    ("libraries", "name"),
    [
        ([{"library": "flask", "versions": "around 2"}], "around 2"),
        (["flask", "Flask"], "flask"),
        ([], "libraries"),
    ],
)
def test_a_profile_that_makes_no_sense(libraries: list[object], name: str) -> None:
    with raises(ValueError, name):
        Profile.model_validate({"name": "mine", "libraries": libraries})


def test_a_library_that_is_not_in_the_profile_is_taken_with_its_newest_releases() -> None:
    profile = Profile.model_validate({"name": "mine", "libraries": ["More.Itertools"]})
    assert profile.rule_of("more_itertools").latest is None
    assert profile.rule_of("flask").latest == 6
