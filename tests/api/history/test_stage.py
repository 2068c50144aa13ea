"""The lives of public paths over the releases of a library, and their tags."""

from collections.abc import Sequence

import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.api.history.compare import changes_of
from pipeline.api.history.stage import lifecycle_stage
from pipeline.api.history.tags import Tags
from pipeline.api.surface.reader import Surface
from pipeline.api.surface.stage import surface_stage
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.lake.tables import Lake
from tests.api.history.releases import TAGGING, Files, history
from tests.api.surface.trees import surface


def lives(output: Output, path: str) -> list[tuple[object, ...]]:
    keys = (
        "first_version",
        "last_version",
        "introduced_in",
        "removed_in",
        "deprecated_in",
        "replacement",
        "modified_in",
    )
    return [tuple(row[key] for key in keys) for row in output.by_table["lifecycles"] if row["path"] == path]


def test_a_life_from_introduction_to_removal():
    _, output = history(
        "",
        "def f(a): ...\n",
        "def f(a, b): ...\n",
        "@deprecated('use `g` instead')\ndef f(a, b): ...\ndef g(c): ...\n",
        "def g(c): ...\n",
    )
    assert lives(output, "pkg.f") == [("1.1", "1.3", "1.1", "1.4", "1.3", "pkg.g", ["1.2"])]
    tags = Tags(output.tables["lifecycles"], TAGGING)
    assert [tags.at("pkg.f", f"1.{n}") for n in range(5)] == [
        None,
        ("addition", "introduced"),
        ("general", "modified"),
        ("deprecation", "deprecated"),
        None,
    ]
    assert Tags(output.tables["lifecycles"], TAGGING).at("pkg.f", "1.2") == ("general", "modified")


def test_in_one_version_only_an_api_is_new_rather_than_leaving():
    _, output = history("", "def f(a): ...\n", "")
    assert Tags(output.tables["lifecycles"], TAGGING).at("pkg.f", "1.1") == ("addition", "introduced")


def test_what_the_first_release_has_is_just_there():
    _, output = history("def f(a): ...\n", "def f(a): ...\n")
    assert lives(output, "pkg.f") == [("1.0", None, None, None, None, None, [])]
    assert (output.units_in, output.units_out, list(output.rejects)) == (2, 2, [])


def test_a_release_whose_predecessor_is_not_in_the_lake_is_rejected():
    _, output = history("def f(a): ...\n", "", predecessor="0.9")
    assert [(r.key, str(r.reason)) for r in output.rejects] == [("1.0", "no_predecessor")]
    assert lives(output, "pkg.f") == [("1.0", "1.0", None, "1.1", None, None, [])]


def test_nothing_is_said_across_a_gap():
    _, output = history("def f(a): ...\n", "def g(): ...\n", gap_before="1.1")
    assert list(output.tables["changes"]) == []
    assert lives(output, "pkg.f") == [("1.0", "1.0", None, None, None, None, [])]
    assert lives(output, "pkg.g") == [("1.1", None, None, None, None, None, [])]


def test_a_mark_that_is_taken_back_leaves_nothing():
    marked = "@deprecated('use `g` instead')\ndef f(a): ...\n"
    _, output = history("def f(a): ...\n", marked, marked)
    assert lives(output, "pkg.f") == [("1.0", None, None, None, "1.1", "g", [])]
    _, output = history("def f(a): ...\n", marked, "def f(a): ...\n")
    assert lives(output, "pkg.f")[0][4] is None


def test_an_api_that_comes_back_has_two_lives():
    _, output = history("def f(a): ...\n", "", "def f(a): ...\n")
    assert [life[:4] for life in lives(output, "pkg.f")] == [("1.0", "1.0", None, "1.1"), ("1.2", None, "1.2", None)]


MEMBER = "class C:\n    def m(self, a): ...\n"


@pytest.mark.parametrize(
    "middle",
    [
        {"pkg/__init__.py": "from .a import C\n", "pkg/a.py": MEMBER},
        {"pkg/__init__.py": "print('two'\n", "pkg/a.py": MEMBER},
        {"pkg/__init__.py": "from other import C\n"},
    ],
    ids=["an alias of its class", "a module that does not parse", "a class of another distribution"],
)
def test_a_member_lives_on_under(middle):
    old = {"pkg/__init__.py": MEMBER}
    _, output = history(old, middle, old)
    assert [life[:4] for life in lives(output, "pkg.C.m")] == [("1.0", None, None, None)]


def test_a_member_that_lives_on_under_an_alias_ends_with_it():
    moved = {"pkg/__init__.py": "", "pkg/a/__init__.py": "from .b import C\n__all__ = ['C']\n", "pkg/a/b.py": MEMBER}
    old = {"pkg/__init__.py": "", "pkg/a/__init__.py": "", "pkg/a/b.py": MEMBER}
    _, output = history(old, moved, {"pkg/__init__.py": "", "pkg/a/__init__.py": "", "pkg/a/b.py": ""})
    assert [life[:4] for life in lives(output, "pkg.a.b.C.m")] == [("1.0", "1.1", None, "1.2")]


def test_rows_fit_the_declared_tables_and_keys_are_unique():
    _, output = history("def f(a): ...\nX = 1\n", "class f: ...\nX = 2\n", "from ._m import f\n")
    for name, rows in output.by_table.items():
        for row in rows:
            table(name).check(row)
        keys = [tuple(row[column] for column in table(name).key) for row in rows]
        assert len(keys) == len(set(keys))


SOURCES: list[Files] = [
    "def f(a): ...\nclass C:\n    def m(self, a): ...\n",
    "def f(a, b=1): ...\nclass C:\n    def m(self, b): ...\n    x = 1\n",
    "@deprecated('use `g` instead')\ndef f(a): ...\ndef g(a): ...\nclass C: ...\n",
    "def g(a): ...\n",
    "from .part import *\n",
    "from .part import f, C\n__all__ = ['C']\n",
    "def f(:\n",
    "from elsewhere import C, f\n",
    "",
    "raise",
]
PARTS = ["def f(a): ...\nclass C:\n    def m(self, a): ...\n", "def f(:\n", "class C:\n    n = 2\n"]


@st.composite
def releases_of(draw: st.DrawFn) -> list[tuple[Files, bool]]:
    """Sources of releases, and whether a release is missing before each."""
    sources = st.fixed_dictionaries(
        {"pkg/__init__.py": st.sampled_from(SOURCES), "pkg/part.py": st.sampled_from(PARTS)}
    )
    return draw(st.lists(st.tuples(sources, st.sampled_from([False, False, False, True])), min_size=2, max_size=6))


@settings(max_examples=60, deadline=None)
@given(releases_of(), st.data())
def test_going_on_from_an_earlier_run_gives_what_a_run_from_the_beginning_gives(tmp_path_factory, made, data):
    goes_on_the_same(tmp_path_factory, made, data.draw(st.integers(1, len(made) - 1)))


def test_what_went_out_of_sight_and_was_then_seen_to_be_gone_comes_back_as_another_life(tmp_path_factory):
    parts = [PARTS[0], PARTS[1], PARTS[2], PARTS[0]]
    made = [({"pkg/__init__.py": "", "pkg/part.py": part}, False) for part in parts]
    goes_on_the_same(tmp_path_factory, made, done=3)


def test_a_life_that_went_on_unmodified_is_told_of_when_it_is_modified(tmp_path_factory):
    sources = ["def f(a): ...\n", "def f(b): ...\n", "def f(c): ...\n"]
    made = [({"pkg/__init__.py": source}, False) for source in sources]
    for done in (1, 2):
        goes_on_the_same(tmp_path_factory, made, done)
    _, output = history(*sources)
    assert [life["modified_in"] for life in output.tables["lifecycles"] if life["path"] == "pkg.f"] == [["1.1", "1.2"]]


def goes_on_the_same(tmp_path_factory, made: Sequence[tuple[Files, bool]], done: int) -> None:
    versions = [f"{number // 2}.{number % 2}" for number in range(len(made))]
    releases: list[ReleaseRow] = [
        {"library": "pkg", "version": v, "predecessor": "gap" if gap else before, "sha256": v}
        for v, before, (_, gap) in zip(versions, [None, *versions], made, strict=False)
    ]
    sources = {version: files for version, (files, _) in zip(versions, made, strict=True)}

    def read(release: ReleaseRow) -> Surface:
        files = sources[release["version"]]
        if not isinstance(files, str) and files["pkg/__init__.py"] == "raise":
            raise ZeroDivisionError("planted")
        return surface(files)

    symbols = surface_stage({"releases": releases}, read).tables
    earlier = surface_stage({"releases": releases[:done]}, read).tables
    whole = lifecycle_stage(
        {"releases": releases, "symbols": symbols["symbols"], "importable_names": symbols["importable_names"]}, TAGGING
    )
    first = lifecycle_stage(
        {"releases": releases[:done], "symbols": earlier["symbols"], "importable_names": earlier["importable_names"]},
        TAGGING,
    )
    grown, fresh = Lake(tmp_path_factory.mktemp("grown")), Lake(tmp_path_factory.mktemp("fresh"))
    for name in ("changes", "lifecycles"):
        grown.write(name, "pkg", first.tables[name])
        fresh.write(name, "pkg", whole.tables[name])
    lives = grown.read("lifecycles", "pkg", pc.field("removed_in").is_null())
    then = lifecycle_stage(
        {
            "releases": releases,
            "symbols": symbols["symbols"],
            "importable_names": symbols["importable_names"],
            "lifecycles": lives,
        },
        TAGGING,
        first.progress,
    )
    for name, update in then.updates.items():
        grown.update(name, "pkg", update)
        assert grown.read(name, "pkg") == fresh.read(name, "pkg")
        assert grown.hashes(name, "pkg") == fresh.hashes(name, "pkg")
    assert (then.progress, then.units_in, then.rejects) == (whole.progress, whole.units_in, whole.rejects)


def test_what_comes_after_a_release_that_was_not_read_is_just_there(monkeypatch):
    sources = ["def f(a): ...\n", "raise", "def g(a): ...\n", "def g(a, b): ...\n"]

    def stage_of(tables, surface_of):
        def raising(row):
            if row["version"] == "1.1":
                raise ZeroDivisionError("planted")
            return surface_of(row)

        return surface_stage(tables, raising)

    monkeypatch.setattr("tests.api.history.releases.surface_stage", stage_of)
    read, output = history(*sources)
    assert [(reject.key, reject.reason) for reject in read.rejects] == [("1.1", "internal_error")]
    assert [(row["kind"], row["path"], row["new_version"]) for row in output.tables["changes"]] == [
        ("parameter_added_required", "pkg.g", "1.3")
    ]
    # nobody knows when f went, nor when g came
    assert [life[:4] for life in lives(output, "pkg.f")] == [("1.0", "1.0", None, None)]
    assert [life[:4] for life in lives(output, "pkg.g")] == [("1.2", None, None, None)]
    assert [(reject.key, reject.reason) for reject in output.rejects] == [
        ("1.1", "nothing_read"),
        ("1.2", "no_predecessor"),
    ]


def test_a_comparison_that_raises_costs_its_release_and_the_next_one_begins_anew(monkeypatch):

    def planted(comparison, library, before, version):
        if version == "1.2":
            raise ZeroDivisionError("planted")
        return changes_of(comparison, library, before, version)

    monkeypatch.setattr("pipeline.api.history.stage.changes_of", planted)
    _, output = history("def f(a): ...\n", "def f(a, b=1): ...\n", "def g(a): ...\n", "def g(a, b): ...\n")
    assert [(row["kind"], row["path"], row["new_version"]) for row in output.tables["changes"]] == [
        ("parameter_added_optional", "pkg.f", "1.1"),
        ("parameter_added_required", "pkg.g", "1.3"),
    ]
    assert [life[:4] for life in lives(output, "pkg.f")] == [("1.0", "1.1", None, None)]
    assert [life[:4] for life in lives(output, "pkg.g")] == [("1.2", None, None, None)]
    assert [(reject.key, reject.reason) for reject in output.rejects] == [("1.2", "internal_error")]
    assert (output.units_in, output.units_out) == (4, 3)
