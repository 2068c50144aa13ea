"""The life of one path: its own changes, other names, places that are not public, and the timeline."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.api.history.history import History, events, fitted, history_of, moved_from, relocated_to, timeline
from tests.api.history.releases import Files
from tests.api.history.releases import history as released


def history(path: str, *sources: Files) -> History:
    read, lived = released(*sources)
    importable_names = read.tables.get("importable_names", ())
    return history_of(
        read.tables["symbols"],
        lived.tables["lifecycles"],
        lived.tables["changes"],
        path,
        importable_names,
    )


def described(path: str, *sources: Files) -> list[str]:
    return [
        f"{version}{'!' if phrase.breaking else ''} {phrase.text}"
        for version, phrase in events(history(path, *sources))
    ]


WORDS = "    '''What it is.\n\n    In more words.\n    And in yet more.\n    '''\n"
MEMBER = f"class C:\n{WORDS}    def m(self, a): ...\n    def n(self): ...\n    def o(self): ...\n"
UNSEEN = "from other import B\nclass C(B):\n    def n(self): ...\n"
DEPRECATED = "import warnings\ndef f(a):\n    warnings.warn('f is deprecated, use `g` instead', DeprecationWarning)\ndef g(): ...\n"
ALIAS = {"pkg/__init__.py": "from .core import f\n", "pkg/core.py": "def f(a): ...\n"}
ALIAS_WITH_B = ALIAS | {"pkg/core.py": "def f(a, b=1): ...\n"}

LIVES: dict[str, tuple[str, tuple[Files, ...], list[str]]] = {
    "from the first release to its end": (
        "pkg.f",
        ("def f(a): ...\n", "def f(a, b=1): ...\n", ""),
        ["1.1 `b` added, optional (1)", "1.2! removed"],
    ),
    "a docstring or a body is no event": (
        "pkg.f",
        ("def f(a): ...\n", "def f(a):\n    '''New.'''\n    return 1\n"),
        [],
    ),
    "introduced, deprecated, removed": (
        "pkg.f",
        ("", "def f(a): ...\ndef g(): ...\n", DEPRECATED, "def g(): ...\n"),
        ["1.1 introduced", "1.2 deprecated", "1.3! removed; use pkg.g"],
    ),
    "it comes back": (
        "pkg.f",
        ("def f(a): ...\n", "", "def f(a): ...\n"),
        ["1.1! removed", "1.2 introduced"],
    ),
    "what an unobservable base may have had and may go on having": (
        "pkg.C.m",
        (UNSEEN, f"{UNSEEN}    def m(self): ...\n", UNSEEN),
        ["1.1 introduced (35% sure)", "1.2! removed (95% sure)"],
    ),
    "it goes with its class": ("pkg.C.m", (MEMBER, ""), ["1.1! removed with pkg.C"]),
    "it goes with a class that lives on elsewhere": (
        "pkg.C.m",
        (MEMBER, MEMBER.replace("C", "Renamed")),
        ["1.1! removed with pkg.C; use pkg.Renamed.m"],
    ),
    "it came with a class that lived elsewhere": (
        "pkg.Renamed.m",
        (MEMBER, MEMBER.replace("C", "Renamed")),
        ["1.1 introduced: it was pkg.C.m before"],
    ),
    "an inherited member changes with its definition": (
        "pkg.D.m",
        (MEMBER + "class D(C): ...\n", MEMBER.replace("a)", "a, b=1)") + "class D(C): ...\n"),
        ["1.1 `b` added, optional (1)"],
    ),
    "what happens to another name is not its own": (
        "pkg.f",
        (ALIAS, {"pkg/__init__.py": "from ._core import f\n", "pkg/_core.py": "def f(a): ...\n"}),
        [],
    ),
    "an overriding member does not change with what it overrides": (
        "pkg.D.m",
        (
            MEMBER + "class D(C):\n    def m(self, a): ...\n",
            MEMBER.replace("a)", "a, b=1)") + "class D(C):\n    def m(self, a): ...\n",
        ),
        [],
    ),
    "several parameters at once": (
        "pkg.f",
        ("def f(a, b, c): ...\n", "def f(a, *, b, c): ...\n"),
        ["1.1! became keyword-only: b, c"],
    ),
    "taken from another distribution": (
        "pkg.f",
        ("from other import f as f\n__all__ = ['f']\n", "from third import f as f\n__all__ = ['f']\n"),
        ["1.1 taken from third.f now, was taken from other.f"],
    ),
}


@pytest.mark.parametrize("case", LIVES)
def test_what_happened(case: str) -> None:
    path, sources, expected = LIVES[case]
    assert described(path, *sources) == expected


def test_a_rename_is_told_at_both_of_its_ends() -> None:
    sources = (MEMBER, MEMBER.replace("C", "Renamed"))
    old, new = history("pkg.C", *sources), history("pkg.Renamed", *sources)
    assert relocated_to(old, old.lifetimes[0]) == "pkg.Renamed"
    assert moved_from(new, new.lifetimes[0]) == "pkg.C"
    assert [version for version, _ in events(old)] == [version for version, _ in events(new)] == ["1.1"]


def test_an_alias_leads_to_the_life_of_what_it_names() -> None:
    found = history("pkg.core.f", ALIAS, ALIAS_WITH_B)
    assert found.exists
    assert found.leads_to is not None
    assert (found.leads_to.path, [phrase.text for _, phrase in events(found.leads_to)]) == (
        "pkg.f",
        ["`b` added, optional (1)"],
    )


def test_a_member_of_an_alias_has_no_rows_and_leads_there_too() -> None:
    files = {"pkg/__init__.py": "from .core import C\n", "pkg/core.py": MEMBER}
    found = history("pkg.core.C.m", files)
    assert (found.exists, found.leads_to and found.leads_to.path) == (False, "pkg.C.m")
    assert history("pkg.core.C.nothing", files) == History("pkg.core.C.nothing")


def test_the_place_of_a_definition_is_told_its_public_path() -> None:
    found = history("pkg._core.C", {"pkg/__init__.py": "from ._core import C\n", "pkg/_core.py": MEMBER})
    assert (found.exists, found.public_as) == (False, ("pkg.C",))


def test_a_name_that_can_only_be_imported_has_no_life_there() -> None:
    text = "from ._parts import g\ndef f(): ...\n"
    private = {"pkg/_parts.py": "def g(): ...\n"}
    public = private | {"pkg/__init__.py": f"__all__ = ['f']\n{text}"}
    found = history("pkg.g", public, private | {"pkg/__init__.py": f"__all__ = ['f', 'g']\n{text}"})
    assert found.exists
    assert [row["first_version"] for row in found.states] == ["1.1"]
    assert [phrase.text for version, phrase in events(found) if version == "1.1"] == []


def test_nothing_is_known_of_what_no_release_has() -> None:
    assert history("pkg.nothing", MEMBER) == History("pkg.nothing")
    assert events(History("pkg.nothing")) == []


def test_a_timeline_has_a_character_for_each_release() -> None:
    found = history("pkg.f", "", "def f(a): ...\n", DEPRECATED, "", "def f(a): ...\n")
    assert timeline(found, ["1.0", "1.1", "1.2", "1.3", "1.4"]) == "░█▒░█"


@given(st.text(alphabet="░█▒", min_size=1), st.integers(3, 200))
def test_a_timeline_fits_and_keeps_its_ends_where_they_are_alone(bar: str, width: int) -> None:
    short = fitted(bar, width)
    assert len(short) == min(len(bar), width)
    assert set(short) <= set(bar)
    assert short == bar or len(bar) > width


def test_a_short_life_is_not_lost_in_a_narrow_timeline() -> None:
    assert fitted("█" * 50 + "▒" + "█" * 49, 10) == "█████▒████"
