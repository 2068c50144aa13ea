"""What documentation states of versions, judged by what the comparison of small histories found."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.api.history.documented import contradiction_of, directives_stage, document_changes
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import Agreement, Disagreement
from pipeline.core.vocabularies.samples import Evidence
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from tests.api.history.releases import Files, history

DIRECTIVES = load(RULES / "directives.yaml", DirectiveRules)

Directive = tuple[str, str, str | None, str, str | None]


def stated(*sources: Files, predecessor: str | None = None) -> tuple[list[Any], Output]:
    """Run the stage over releases 1.0, 1.1, … of `pkg`; return its rows, and the output of the comparison."""
    read, lived = history(*sources, predecessor=predecessor)
    versions = [f"1.{number}" for number in range(len(sources))]
    releases: list[ReleaseRow] = [
        {"library": "pkg", "version": version, "predecessor": before}
        for version, before in zip(versions, [predecessor, *versions], strict=False)
    ]
    output = directives_stage(
        {
            "releases": releases,
            "documents": read.tables["documents"],
            "symbols": read.tables["symbols"],
            "lifecycles": lived.tables["lifecycles"],
            "changes": lived.tables["changes"],
        },
        DIRECTIVES,
    )
    assert output.units_in == output.units_out == len(read.tables["documents"])
    for row in output.tables["directives"]:
        table("directives").check(row)
    return list(output.tables["directives"]), lived


def directives_of(rows: list[Any]) -> list[Directive]:
    """Write each row as path, directive, found version, agreement, disagreement."""
    return sorted(
        (
            ".".join(part for part in (row["path"], row["parameter"] or row["attribute"]) if part),
            f"{row['directive']} {row['stated_version']}",
            row["found_version"],
            str(row["agreement"]),
            row["disagreement"] and str(row["disagreement"]),
        )
        for row in rows
    )


def f(docstring: str, signature: str = "a", decorator: str = "", name: str = "f") -> str:
    text = docstring.replace("\n", "\n    ")
    return f'{decorator}\ndef {name}({signature}):\n    """Do it.\n\n    {text}\n    """\n'


def of(parameter: str, said: str, words: str = "") -> str:
    return f"Parameters\n----------\n{parameter} : int\n    Text.\n\n    .. {said}\n        {words}\n"


PLAIN = "def f(a): ...\n"
ADDED = ".. versionadded:: 1.1"


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        pytest.param(["", f(ADDED)], ("1.1", "agrees", None), id="came when stated"),
        pytest.param(["", f(".. versionadded:: v1.1.0")], ("1.1", "agrees", None), id="spelt otherwise"),
        pytest.param(["", f(".. versionadded:: 1.1rc1")], ("1.1", "agrees", None), id="a candidate of it"),
        pytest.param(["", f(".. versionadded:: 1.0.5")], ("1.1", "agrees", None), id="a release that never was"),
        pytest.param([f(ADDED), f(ADDED)], ("1.0", "contradicts", "announced"), id="there before, and stated"),
        pytest.param([PLAIN, f(ADDED)], ("1.0", "contradicts", "there_before"), id="there before"),
        pytest.param([PLAIN, f(".. versionadded:: 1.0")], ("1.0", "not_covered", None), id="at the first release"),
        pytest.param([PLAIN, f(".. versionadded:: 0.3")], ("1.0", "not_covered", None), id="before the first release"),
        pytest.param(["", "", f(ADDED)], ("1.2", "contradicts", "missed_release"), id="a series late"),
        pytest.param(["", "", "", f(ADDED)], ("1.3", "contradicts", "lived_elsewhere"), id="long late"),
        pytest.param(["", f(".. versionadded:: later")], (None, "unreadable", None), id="no version"),
        pytest.param(["", f(ADDED + "\n   Support for lists.")], (None, "not_comparable", None), id="about a part"),
        pytest.param([PLAIN, f(of("b", "versionadded:: 1.1"), "a, b=1")], ("1.1", "agrees", None), id="parameter"),
        pytest.param(["", f(of("a", "versionadded:: 1.1"))], ("1.1", "agrees", None), id="parameter with its API"),
        pytest.param(
            [PLAIN, f("", "a, b=1"), f(of("b", "versionadded:: 1.2"), "a, b=1")],
            ("1.1", "contradicts", "there_before"),
            id="parameter before",
        ),
        pytest.param(
            ["def f(a, **kw): ...", "def f(a, **kw): ...", f(of("b", "versionadded:: 1.1"), "a, b=1, **kw")],
            ("1.2", "not_found", "behind_kwargs"),
            id="parameter that kwargs took",
        ),
        pytest.param(
            ["def f(a, **options): ...", f(of("options", "versionadded:: 1.1"), "a, options=None")],
            ("1.1", "agrees", None),
            id="kwargs become a parameter",
        ),
        pytest.param(
            [PLAIN, f(of("**kw", "versionadded:: 1.1"), "a, **kw")], ("1.1", "agrees", None), id="kwargs themselves"
        ),
        pytest.param(
            [PLAIN, f(of("z", "versionadded:: 1.1"))], (None, "not_found", "not_in_signature"), id="no such parameter"
        ),
        pytest.param([PLAIN, f(".. deprecated:: 1.1")], ("1.1", "agrees", None), id="deprecated"),
        pytest.param(
            ["", f("", decorator="@deprecated()"), f(".. deprecated:: 1.2", decorator="@deprecated()")],
            ("1.1", "contradicts", "there_before"),
            id="marked before",
        ),
        pytest.param(
            [
                "@_deprecate_positional_args\ndef f(*, a=1): ...",
                f(of("a", "deprecated:: 1.1"), "*, a=1", decorator="@_deprecate_positional_args"),
            ],
            ("1.1", "agrees", None),
            id="a parameter, of which giving it by position was deprecated before",
        ),
        pytest.param(
            ["def f(**kwargs): ...", f(of("**kwargs", "deprecated:: 1.1"), "**kwargs")],
            ("1.1", "agrees", None),
            id="kwargs themselves are deprecated",
        ),
        pytest.param([f(".. deprecated:: 0.9")], ("1.0", "not_covered", None), id="deprecated in the first release"),
        pytest.param(
            [PLAIN, f(of("a", "versionchanged:: 1.1", "The default is now 2."), "a=2")],
            (None, "not_found", "no_such_change"),
            id="no change of that kind",
        ),
        pytest.param(
            ["def f(a=1): ...", f(of("a", "versionchanged:: 1.1", "Default changed from 1 to 2."), "a=2")],
            ("1.1", "agrees", None),
            id="default",
        ),
        pytest.param(
            [
                "def f(a=1): ...",
                "def f(a='warn'): ...",
                f(of("a", "versionchanged:: 1.2", "Now defaults to 2."), "a='warn'"),
            ],
            ("1.1", "contradicts", "placeholder"),
            id="default behind a placeholder",
        ),
        pytest.param([PLAIN, f(".. versionchanged:: 1.1\n   Faster.")], (None, "not_comparable", None), id="behaviour"),
    ],
)
def test_how_a_statement_is_judged(sources: list[str], expected: tuple[str | None, str, str | None]) -> None:
    (row,) = stated(*sources)[0]
    assert (row["found_version"], str(row["agreement"]), row["disagreement"]) == expected


def test_two_names_of_a_definition_and_its_older_path_are_one_life() -> None:
    """A definition that is public elsewhere since 1.0 came in 1.1 at the path that states it, and both are true."""
    old = {"pkg/__init__.py": "", "pkg/a.py": "def f(a):\n    '''Do it.'''\n"}
    new = {"pkg/__init__.py": "from .a import f\n__all__ = ['f']\n", "pkg/a.py": f(ADDED)}
    assert directives_of(stated(old, new)[0]) == [("pkg.f", "versionadded 1.1", "1.1", "agrees", None)]


def test_what_was_renamed_is_as_old_as_its_first_name() -> None:
    before = f("", name="first_name", signature="a, b, c")
    after = f("", name="first_names", signature="a, b, c")
    states = f(".. versionadded:: 1.1", name="first_names", signature="a, b, c")
    assert directives_of(stated("", before, after, states)[0])[0][2:] == ("1.1", "agrees", None)


def test_an_override_that_states_its_own_arrival() -> None:
    """scikit-learn's estimators inherit get_metadata_routing since 1.3, and override it later with a directive."""
    base = "class B:\n    def m(self): ...\nclass C(B):\n    x = 1\n"
    own = base + "    def m(self):\n        '''Do it.\n\n        .. versionadded:: 1.1\n        '''\n"
    assert directives_of(stated(base, own)[0]) == [
        ("pkg.C.m", "versionadded 1.1", "1.0", "contradicts", "inherited_before")
    ]


CLASS = "class C:\n    '''Do it.\n\n    Attributes\n    ----------\n    n_ : int\n\n        .. versionadded:: 1.1\n    '''\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    def __init__(self):\n        self.n_ = 1\n", ("1.1", "agrees", None)),
        ("", (None, "not_found", "no_such_member")),
    ],
)
def test_an_attribute_that_the_docstring_of_its_class_describes(
    body: str, expected: tuple[str | None, str, str | None]
) -> None:
    assert directives_of(stated("class C: ...\n", CLASS + body)[0]) == [("pkg.C.n_", "versionadded 1.1", *expected)]


def test_since_when_a_class_has_what_its_base_sets_is_not_told() -> None:
    """scikit-learn's BaseEstimator sets n_features_in_ since 0.23, for those that call its _check_n_features."""
    base = "class B:\n    def __init__(self):\n        self.n_ = 1\n"
    old, new = base + "class C(B): ...\n", base + CLASS.replace("class C", "class C(B)")
    assert directives_of(stated(old, new)[0]) == [("pkg.C.n_", "versionadded 1.1", "1.0", "not_found", "set_by_base")]


def test_an_inherited_docstring_gives_each_path_the_same_verdict() -> None:
    base = "class B:\n    def m(self):\n        '''Do it.\n\n        .. versionadded:: 1.1\n        '''\n"
    rows, _ = stated("class B: ...\n", base, base + "class C(B): ...\n")
    assert directives_of(rows) == [
        ("pkg.B.m", "versionadded 1.1", "1.1", "agrees", None),
        ("pkg.C.m", "versionadded 1.1", "1.1", "agrees", None),
    ]


def test_a_statement_that_other_words_leave_as_it_is_goes_on() -> None:
    rows, _ = stated("", f(ADDED), f(ADDED + "\n\nMore words."), f("None."), f(ADDED))
    assert [(row["first_version"], row["last_version"]) for row in rows][:1] == [("1.1", "1.2")]
    assert [row["first_version"] for row in rows] == ["1.1", "1.4"]
    assert len({row["id"] for row in rows}) == 2


def test_changes_that_the_documentation_states_too_say_so() -> None:
    numpy = of("b", "versionadded:: 1.1").rstrip() + "\n\n.. deprecated:: 1.1\n"
    rows, lived = stated(
        "def f(a): ...\n", f(numpy.replace("\n\n.. dep", "\n\nNotes\n-----\n.. dep"), "a, b=1, c=1") + "X = 1\n"
    )
    changes = document_changes(lived.tables["changes"], rows, DIRECTIVES)
    assert {(c["path"], str(c["kind"]), c["parameter"]): c["evidence"] for c in changes} == {
        ("pkg.X", "introduced", None): Evidence.STATIC,
        ("pkg.f", "deprecated", None): Evidence.DOCUMENTED,
        ("pkg.f", "parameter_added_optional", "b"): Evidence.DOCUMENTED,
        ("pkg.f", "parameter_added_optional", "c"): Evidence.STATIC,
    }


def test_what_is_stated_wrongly_documents_nothing() -> None:
    rows, lived = stated("", "", f(ADDED))
    changes = document_changes(lived.tables["changes"], rows, DIRECTIVES)
    assert [change["evidence"] for change in changes] == [Evidence.STATIC]
    assert contradiction_of(rows[0]) == ("pkg.f: the documentation states versionadded 1.1, the comparison found 1.2")


def test_only_what_was_not_found_or_is_contradicted_says_why() -> None:
    rows, _ = stated(PLAIN, f(ADDED + "\n\n" + of("z", "versionadded:: 1.1")))
    assert {(row["agreement"], row["disagreement"]) for row in rows} == {
        (Agreement.CONTRADICTS, Disagreement.THERE_BEFORE),
        (Agreement.NOT_FOUND, Disagreement.NOT_IN_SIGNATURE),
    }
