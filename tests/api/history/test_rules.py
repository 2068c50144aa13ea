"""The table of tags: complete, and true to FORMATS' three vocabularies."""

import pytest

from pipeline.api.history.rules import LifecycleRules
from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.core.vocabularies.changes import ChangeKind
from tests.api.history.releases import TAGGING


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
    ("old", "new", "words"),
    [
        ("  moved:", "  # moved:", "no line for moved"),
        ("precedence: [introduced, ", "precedence: [", "introduced is missing"),
        ("griffe: Parameter was removed}", "griffe: Parameter went}", "Parameter went"),
        ("  returns: {breaking: false", "  returns: {breaking: true", "returns: a change of annotations alone"),
        ("sure_enough: 0.6", "sure_enough: 1.5", "less than or equal to 1"),
        ("sure_enough:", "sure_enogh:", "unknown key"),
    ],
)
def test_a_file_with_a_mistake_is_refused(tmp_path, old, new, words):
    text = (RULES / "tags.yaml").read_text()
    assert old in text
    (tmp_path / "tags.yaml").write_text(text.replace(old, new))
    with pytest.raises(RuleError, match=words):
        load(tmp_path / "tags.yaml", LifecycleRules)
