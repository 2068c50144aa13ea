"""The rules that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.core.rules.profiles import load_profile
from pipeline.corpus.dependents.rules import DependentRules
from tests.errors import raises

RULE = load(RULES / "dependents.yaml", DependentRules)


def test_the_starter_profile_names_all_its_dependents() -> None:
    """Its snapshot must come out alike on a machine that holds more, so the seeds fill every place."""
    for library in load_profile("starter").libraries:
        assert len(RULE.seeds[library.library]) >= RULE.dependents_per_library, library.library


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("  boltons: [", "  boltons: [Boltons, ", "rule_contradiction"),
        ("  boltons: [", "  boltons: [Glom, ", "rule_contradiction"),
        ("max_ratio: 100", "max_ratio: 0", "rule_invalid"),
        ("max_ratio: 100", "max_ratios: 100", "rule_unknown_key"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, before: str, after: str, code: str) -> None:
    path = tmp_path / "dependents.yaml"
    path.write_text((RULES / "dependents.yaml").read_text().replace(before, after))
    with raises(RuleError, "dependents.yaml", code=code):
        load(path, DependentRules)
