"""Which projects are asked: those that the rules name, then those that were met."""

from __future__ import annotations

import re

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.corpus.dependents.dependents import dependents_of, requirers
from pipeline.corpus.dependents.rules import DependentRules
from pipeline.index.manifest import Artifact, Manifest

RULE = load(RULES / "dependents.yaml", DependentRules).model_copy(
    update={"dependents_per_library": 3, "seeds": {"more-itertools": ("seed-b", "seed-a")}}
)


def manifest(name: str, *requires: str) -> Manifest:
    lines = [f"Requires-Dist: {require}" for require in requires]
    text = "\n".join(["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", *lines, "", "Requires-Dist: in prose"])
    return Manifest(Artifact("", "", 0, ArtifactKind.WHEEL), {}, (), text, "")


@pytest.mark.parametrize(
    ("requirement", "met"),
    [
        ("more-itertools", True),
        ("more_itertools>=8", True),
        ("More.Itertools (>=8,<9) ; extra == 'all'", True),
        ("more-itertools[fast]~=8.0", True),
        ("more-itertools-stubs", False),
        ("more-itertools.stubs>=1", False),
        ("evenmore-itertools", False),
        ("more-itertools >=bad", False),
        ("itertools", False),
    ],
)
def test_requirements_of_a_release(requirement: str, met: bool) -> None:
    assert requirers("more-itertools", [manifest("Some.User", "other", requirement)]) == (
        {"some-user"} if met else set()
    )


def test_metadata_without_a_name_is_nobodys() -> None:
    nameless = manifest("x", "more-itertools")
    text = re.sub("^Name: x\n", "", nameless.metadata, flags=re.M)
    assert requirers("more-itertools", [Manifest(nameless.artifact, {}, (), text, "")]) == set()


def test_seeds_come_first_and_crawled_dependents_fill_the_rest() -> None:
    crawled = [manifest(name, "more-itertools") for name in ("z", "Seed_A", "y", "more-itertools")]
    assert dependents_of("more-itertools", RULE, crawled) == ["seed-b", "seed-a", "y"]
    assert dependents_of("more-itertools", RULE.model_copy(update={"dependents_per_library": 9}), crawled)[2:] == [
        "y",
        "z",
    ]
    assert dependents_of("demo", RULE, crawled) == []


def test_crawled_releases_are_not_searched_where_the_seeds_suffice() -> None:
    def unread() -> object:
        raise AssertionError("the cache was read")
        yield

    rules = RULE.model_copy(update={"dependents_per_library": 2})
    assert dependents_of("more-itertools", rules, unread()) == ["seed-b", "seed-a"]  # type: ignore[arg-type]
