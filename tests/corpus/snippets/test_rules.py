from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.corpus.usages.rules import UsageRules
from tests.errors import raises


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("np: import numpy as np", "np: import numpy", "does not define 'np'"),
        ("np: import numpy as np", "np: import numpy as", "is no Python"),
        ("app = Flask(__name__)", "web = Flask(__name__)", "does not define 'app'"),
        ("max_lines:", "max_line:", "unknown key"),
        ("min_statements: 1", "min_statements: 0", "greater than or equal to 1"),
        ("bands: 32", "bands: 33", "128 permutations cannot be shared out to 33 bands"),
        ('ada/data.csv": "/home/user1/', 'ada/data.csv": "/home/ada/', "becomes '/home/user1/data.csv'"),
        ("licence_required: [downstream", "licence_required: [upstream", "Input should be 'docstring'"),
    ],
)
def test_a_mistake_in_the_rules_is_named_with_its_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = (RULES / "snippets.yaml").read_text()
    assert old in text
    path = tmp_path / "snippets.yaml"
    path.write_text(text.replace(old, new))
    with raises(RuleError, "snippets.yaml") as error:
        load(path, SnippetRules)
    assert expected in str(error.value)


def test_curated_results_are_read_by_library() -> None:
    rules = load(RULES / "usage.yaml", UsageRules)
    assert rules.returns_of("networkx")["networkx.path_graph"] == "networkx.Graph"
    assert rules.returns_of("no-such-library") == {}
