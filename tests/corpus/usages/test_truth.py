"""Uses in real projects, held against what running their own tests told; `benchmarks/uses_truth.py` says how.

The projects are parted in two by a hash of their name: at one half we look while we work, the other is held out.
"""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.uses_facts import Facts, all_facts, held_out, judged, share
from pipeline.core.rules.load import RULES, load
from pipeline.corpus.usages.rules import UsageRules

pytestmark = pytest.mark.slow
USAGE_RULES = load(RULES / "usage.yaml", UsageRules)


@pytest.fixture(scope="module")
def facts() -> list[Facts]:
    return list(all_facts())


# Just below what is reached. What is missed are objects that come from other files: fixtures of a conftest.py, the
# project's own subclasses and functions. Nearly all that a file itself says is found.
@pytest.mark.parametrize(
    ("of_held_out", "precision", "recall", "recall_of_names"),
    [(False, 0.99, 0.76, 0.995), (True, 0.98, 0.88, 0.995)],
    ids=["looked at", "held out"],
)
def test_scanned_uses_are_the_executed_uses(
    facts: list[Facts], of_held_out: bool, precision: float, recall: float, recall_of_names: float
) -> None:
    counts: Counter[str] = Counter()
    for fact in facts:
        if held_out(fact.project) == of_held_out:
            counts += judged(fact, USAGE_RULES)
    print(dict(counts))
    assert counts["certain"] >= 300
    assert share(counts, "right", "claimed") >= precision
    assert share(counts, "found", "certain") >= recall
    missed_names = counts["certain"] - counts["found"] - counts["missed_of_object"]
    assert missed_names <= (1 - recall_of_names) * counts["certain"]
