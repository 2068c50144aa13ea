"""The table of tags: complete, and true to FORMATS' three vocabularies."""

import pytest

from pipeline.api.history.rules import LifecycleRules
from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.core.vocabularies.changes import ChangeKind
from tests.api.history.releases import TAGGING
from tests.errors import raises


def test_every_kind_of_change_has_its_tags():
    assert set(TAGGING.changes) == set(ChangeKind)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("introduced", ("addition", "introduced", "new_feature")),
        ("removed", ("deprecation", "deprecated", None)),
        ("renamed", ("deprecation", "deprecated", "name")),
        ("parameter_added_required", ("general", "modified", "argument_or_attribute")),
        ("returns", ("general", "unchanged", None)),
        ("deprecated", ("general", "unchanged", None)),
    ],
)
def test_tags(kind, expected):
    tags = TAGGING.changes[ChangeKind[kind.upper()]]
    assert (tags.versicode, tags.libevolutioneval, tags.gitchameleon) == expected


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("  moved:", "  # moved:", "rule_entry_missing"),
        ("precedence: [introduced, ", "precedence: [", "rule_entry_missing"),
        ("griffe: Parameter was removed}", "griffe: Parameter went}", "rule_invalid"),
        ("  returns: {breaking: false", "  returns: {breaking: true", "rule_contradiction"),
        ("sure_enough: 0.6", "sure_enough: 1.5", "rule_invalid"),
        ("sure_enough:", "sure_enogh:", "rule_unknown_key"),
    ],
)
def test_a_file_with_a_mistake_is_refused(tmp_path, old, new, code):
    text = (RULES / "tags.yaml").read_text()
    assert old in text
    (tmp_path / "tags.yaml").write_text(text.replace(old, new))
    with raises(RuleError, "tags.yaml", code=code):
        load(tmp_path / "tags.yaml", LifecycleRules)
