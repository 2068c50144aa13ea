"""Every kind of change has everything that its consumers ask."""

import pytest

from pipeline.core.vocabularies.changes import (
    CALLED_OTHERWISE,
    GONE,
    LAST_TO_WORK,
    MARKED,
    OF_PARAMETERS,
    OF_TYPES,
    PROBED,
    RELOCATED,
    REPLACEABLE_APIS,
    WHOLE,
    ChangeKind,
    DirectiveKind,
    Probe,
    Work,
    group_of,
    kinds_of_directive,
)
from pipeline.quality.acceptance.predicates import PREDICATES
from tests.families.completions_and_migrations.rows import TAGGING, change


@pytest.mark.parametrize("kind", ChangeKind)
def test_a_kind_has_words_for_each_of_its_changes(kind: ChangeKind) -> None:
    named = {"parameter": "size"} if kind.behaviour.of_parameter else {}
    row = change(kind, "lib.f", "1.0", "2.0", breaking=False, **{"old": "before", "new": "after", **named})
    assert kind.meaning
    words = kind.behaviour.words(row)
    assert words
    assert not named or "size" in kind.behaviour.member(row) + words


def test_what_a_probe_may_show_of_a_path_that_stays_is_judged_by_a_predicate() -> None:
    assert PREDICATES.keys() == PROBED


def test_only_changes_of_a_signature_are_looked_for_in_one() -> None:
    assert {kind for kind in ChangeKind if kind.behaviour.probe is Probe.SIGNATURE} == OF_PARAMETERS


def test_every_kind_is_tagged_and_nothing_else() -> None:
    assert TAGGING.changes.keys() == set(ChangeKind)


def test_what_follows_from_the_descriptions() -> None:
    assert {ChangeKind.RENAMED, ChangeKind.MOVED} == RELOCATED
    assert {ChangeKind.REMOVED} | RELOCATED == GONE
    assert {ChangeKind.INTRODUCED} | GONE == WHOLE
    assert {ChangeKind.DEPRECATED, ChangeKind.USE_DEPRECATED, ChangeKind.PARAMETER_DEPRECATED} == MARKED
    assert {ChangeKind.REMOVED, ChangeKind.DEPRECATED} == REPLACEABLE_APIS
    assert {ChangeKind.PARAMETER_DEPRECATED} == CALLED_OTHERWISE - OF_PARAMETERS
    assert LAST_TO_WORK.isdisjoint(RELOCATED | OF_TYPES)


@pytest.mark.parametrize(
    ("directive", "of_parameter", "kinds"),
    [
        ("versionadded", False, {"introduced"}),
        ("versionadded", True, {"parameter_added_required", "parameter_added_optional", "parameter_renamed"}),
        ("versionchanged", False, set()),
        ("deprecated", False, {"deprecated"}),
        ("deprecated", True, {"parameter_deprecated"}),
        ("versionremoved", False, {"removed"}),
        ("versionremoved", True, {"parameter_removed"}),
    ],
)
def test_a_directive_states_changes(directive: str, of_parameter: bool, kinds: set[str]) -> None:
    assert kinds_of_directive(DirectiveKind(directive), of_parameter=of_parameter) == kinds


@pytest.mark.parametrize("kind", ChangeKind)
def test_what_breaks_is_never_less_urgent_than_checking_calls(kind: ChangeKind) -> None:
    order = list(Work)
    row = change(kind, "lib.f", "1.0", "2.0", breaking=True)
    assert order.index(group_of(row)) <= order.index(Work.CHECK)
    assert group_of(row | {"breaking": False}) is kind.behaviour.work
