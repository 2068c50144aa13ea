"""What docstrings state of versions, and whose it is, in the styles in which people write them."""

from __future__ import annotations

import inspect
import string
from textwrap import dedent, indent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes

from pipeline.api.surface.extract.directives import (
    Directive,
    demote_later_additions,
    name_parameters,
    read_directives,
    read_version,
)
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.core.vocabularies.changes import ChangeKind, DirectiveKind, DirectiveOwner
from tests.errors import raises

DIRECTIVES = load(RULES / "directives.yaml", DirectiveRules)
ADDED, CHANGED = DirectiveKind.VERSIONADDED, DirectiveKind.VERSIONCHANGED
DEPRECATED, REMOVED = DirectiveKind.DEPRECATED, DirectiveKind.VERSIONREMOVED
PARAMETER, ATTRIBUTE, PART = DirectiveOwner.PARAMETER, DirectiveOwner.ATTRIBUTE, DirectiveOwner.PART


def read(docstring: str) -> list[Directive]:
    return read_directives(dedent(docstring).strip("\n"), DIRECTIVES)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (".. versionadded:: 1.2", Directive(ADDED, "1.2")),
        (".. versionadded:: v1.2.", Directive(ADDED, "v1.2")),
        (".. version-added:: 1.2", Directive(ADDED, "1.2")),
        (".. versionadded: 1.2", Directive(ADDED, "1.2")),
        ("..versionadded:: 1.2", Directive(ADDED, "1.2")),
        (".. versionchanged:: 1.2 Returns a list.", Directive(CHANGED, "1.2", "Returns a list.")),
        (".. versionchanged:: 1.2\n   Returns\n   a list.", Directive(CHANGED, "1.2", "Returns a list.")),
        (".. deprecated::\n    1.2\n    Use g.", Directive(DEPRECATED, "1.2", "Use g.")),
        (".. deprecated:: scikit-learn 1.2", Directive(DEPRECATED, "1.2")),
        (".. deprecated:: next", Directive(DEPRECATED, None, "next")),
        (".. versionremoved:: 2.0", Directive(REMOVED, "2.0")),
        ("New in version 1.2: for all.", Directive(ADDED, "1.2", "New in version 1.2: for all.")),
        ("Deprecated since 2.1", Directive(DEPRECATED, "2.1", "Deprecated since 2.1")),
    ],
)
def test_a_line_of_its_own_is_about_the_api(line: str, expected: Directive) -> None:
    assert read(f"Do it.\n\n{line}\n\nMore words.\n") == [expected]


def test_deprecated_removed_states_both() -> None:
    assert read("Do it.\n\n.. deprecated-removed:: 3.9 3.14\n   Use g.\n") == [
        Directive(DEPRECATED, "3.9", "Use g."),
        Directive(REMOVED, "3.14", "Use g."),
    ]


def test_what_states_no_version_gives_nothing() -> None:
    assert read("Deprecated code calls this.\n\nNew in town, version unknown; see :ref:`versionadded`.") == []


NUMPY = """
    Do it.

    .. versionadded:: 0.1

    Parameters
    ----------
    a : int
        First.

        .. versionadded:: 0.2
            Words.
    b, c : {'x', 'y'}, default='x'
        Which:

        - 'x' is old;
        - 'y' is new

          .. versionadded:: 0.3

        .. versionchanged:: 0.4
    **kwargs
        Others.
    .. deprecated:: 0.5

    Attributes
    ----------
    n_ : int
        .. versionadded:: 0.6

    Returns
    -------
    int
        .. versionchanged:: 0.7

    Notes
    -----
    Slow.

    .. deprecated:: 0.8
"""
GOOGLE = """
    Do it.

    Args:
        a (int): First.
            .. versionadded:: 0.2
        b: Second,
            on two lines.

            .. deprecated:: 0.4

    Attributes:
        n_: A number.

            New in version 0.6.

    Returns:
        A number.

        .. versionchanged:: 0.7

    .. versionchanged:: 0.8
"""
SPHINX = """
    Do it.

    :param int a: first
    :type b: str
    :param b: second,

        .. versionadded:: 0.2
    :ivar n_: number

        .. versionadded:: 0.6
    :returns: a number

        .. versionchanged:: 0.7

    .. versionadded:: 0.1
"""


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        (
            NUMPY,
            [
                Directive(ADDED, "0.1"),
                Directive(ADDED, "0.2", "Words.", PARAMETER, "a"),
                Directive(ADDED, "0.3", "", PART),
                Directive(CHANGED, "0.4", "", PARAMETER, "b"),
                Directive(CHANGED, "0.4", "", PARAMETER, "c"),
                Directive(DEPRECATED, "0.5", "", PARAMETER, "kwargs"),
                Directive(ADDED, "0.6", "", ATTRIBUTE, "n_"),
                Directive(CHANGED, "0.7", "", PART),
                Directive(DEPRECATED, "0.8"),
            ],
        ),
        (
            GOOGLE,
            [
                Directive(ADDED, "0.2", "", PARAMETER, "a"),
                Directive(DEPRECATED, "0.4", "", PARAMETER, "b"),
                Directive(ADDED, "0.6", "New in version 0.6.", ATTRIBUTE, "n_"),
                Directive(CHANGED, "0.7", "", PART),
                Directive(CHANGED, "0.8"),
            ],
        ),
        (
            SPHINX,
            [
                Directive(ADDED, "0.2", "", PARAMETER, "b"),
                Directive(ADDED, "0.6", "", ATTRIBUTE, "n_"),
                Directive(CHANGED, "0.7", "", PART),
                Directive(ADDED, "0.1"),
            ],
        ),
    ],
    ids=["numpy", "google", "sphinx"],
)
def test_whose_a_directive_is(docstring: str, expected: list[Directive]) -> None:
    assert read(docstring) == expected


def test_of_several_arrivals_the_oldest_is_the_arrival() -> None:
    """scipy.interpolate.RegularGridInterpolator states 0.14 for itself, and 1.9 below a paragraph on its methods."""
    found = read("Interpolate.\n\n.. versionadded:: 0.14\n\nOther methods.\n\n.. versionadded:: 1.9\n")
    assert demote_later_additions(found) == [Directive(ADDED, "0.14"), Directive(ADDED, "1.9", "", PART)]


def test_a_text_that_only_names_a_parameter_is_about_it() -> None:
    """attr.asdict lists the arrivals of its parameters below its docstring, `*name*` each."""
    found = read(
        "Do it.\n\n.. versionadded:: 16.0.0 *a*\n.. versionadded:: 16.1.0 *b*\n.. versionchanged:: 17.1 Faster *a*.\n"
    )
    assert demote_later_additions(name_parameters(found, {"a"}, DIRECTIVES)) == [
        Directive(ADDED, "16.0.0", "*a*", PARAMETER, "a"),
        Directive(ADDED, "16.1.0", "*b*"),
        Directive(CHANGED, "17.1", "Faster *a*."),
    ]


def test_real_docstrings_in_numpydoc_style() -> None:
    legend = read_directives(inspect.getdoc(Axes.legend) or "", DIRECTIVES)
    assert Directive(ADDED, "3.7", "", PARAMETER, "reverse") in legend
    ecdf = read_directives(inspect.getdoc(Axes.ecdf) or "", DIRECTIVES)
    assert Directive(ADDED, "3.8") in ecdf


@pytest.mark.parametrize(("text", "same_as"), [("v1.2", "1.2"), ("1.2.0", "1.2"), ("1.2rc1", "1.2.0rc1")])
def test_versions_are_read_by_pep_440(text: str, same_as: str) -> None:
    assert read_version(text) == read_version(same_as) is not None
    assert read_version("next") is read_version(None) is None


WORDS = st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=8), max_size=5).map(" ".join)
VERSIONS = st.lists(st.integers(0, 99), min_size=2, max_size=3).map(lambda parts: ".".join(map(str, parts)))
NAMES = st.text(string.ascii_letters + "_", min_size=1, max_size=9)
STATED = st.builds(Directive, st.sampled_from([CHANGED, DEPRECATED, REMOVED]), VERSIONS, WORDS)
ITEMS = st.dictionaries(NAMES, st.lists(STATED, max_size=2), max_size=4)


def written(directive: Directive) -> str:
    body = f"\n    {directive.text}" if directive.text else ""
    return f".. {directive.kind}:: {directive.version_text}{body}\n\n"


def numpy_section(items: dict[str, list[Directive]]) -> str:
    texts = (
        f"{name} : int\n" + indent("Text.\n\n" + "".join(map(written, said)), "    ") for name, said in items.items()
    )
    return "Parameters\n----------\n" + "".join(texts)


def google_section(items: dict[str, list[Directive]]) -> str:
    texts = (f"{name} (int): Text.\n\n" + indent("".join(map(written, said)), "    ") for name, said in items.items())
    return "Args:\n" + indent("".join(texts), "    ")


def sphinx_section(items: dict[str, list[Directive]]) -> str:
    return "".join(f":param {name}: text\n\n" + indent("".join(map(written, s)), "    ") for name, s in items.items())


@pytest.mark.parametrize("section", [numpy_section, google_section, sphinx_section])
@given(whole=st.lists(STATED, max_size=3), items=ITEMS)
def test_reading_what_is_written_gives_it_back(section, whole: list[Directive], items) -> None:
    docstring = "Do it.\n\n" + "".join(map(written, whole)) + section(items)
    of_items = [
        Directive(one.kind, one.version_text, one.text, PARAMETER, name) for name, said in items.items() for one in said
    ]
    assert read_directives(docstring, DIRECTIVES) == [*whole, *of_items]


@given(st.text(st.sampled_from(" \n\t.:-=abA*`0") | st.sampled_from(["x"]), max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    read_directives(f"{text}\n.. versionadded:: 1.2\n{text}", DIRECTIVES)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Default changed from 1 to 2.", {ChangeKind.PARAMETER_DEFAULT}),
        ("Returns NaN for empty input.", set()),
    ],
)
def test_the_text_of_a_change_names_its_kind(text: str, kinds: set[ChangeKind]) -> None:
    assert DIRECTIVES.kinds_in(text) == kinds


def test_an_example_that_its_pattern_does_not_read_is_an_error(tmp_path) -> None:
    rules = (RULES / "directives.yaml").read_text().replace('text: "Added in 0.15"', 'text: "Added at 0.15"')
    (tmp_path / "directives.yaml").write_text(rules)
    with raises(RuleError, "directives.yaml", "sentences.0", "0.15", code="rule_example_wrong"):
        load(tmp_path / "directives.yaml", DirectiveRules)
