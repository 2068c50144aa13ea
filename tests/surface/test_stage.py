"""The tables over all releases: what holds at a version is what was read from it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.lake import Row, holding_at
from pipeline.surface import surface_stage
from tests.surface.trees import surface

SOURCES = (
    "def f(a): ...\n",
    "def f(a, b=1):\n    'Doc.'\n",
    "class f:\n    def m(self): ...\n",
    "from .part import g\n",
    "x = 1\n",
    "",
)
PARTS = ("def g(): ...\n", "def g():\n    'Other.'\n", "def g(:\n")


def release(version: str, predecessor: str | None) -> Row:
    return {"library": "pkg", "version": version, "predecessor": predecessor}


@st.composite
def histories(draw):
    """Releases of a package, some of them with a gap before, and their surfaces."""
    releases, surfaces = [], {}
    for number in range(draw(st.integers(1, 6))):
        version, before = f"1.{number}", f"1.{number - 1}"
        predecessor = None if number == 0 else draw(st.sampled_from([before, before, before, f"{before}.post1"]))
        releases.append(release(version, predecessor))
        files = {"pkg/__init__.py": draw(st.sampled_from(SOURCES)), "pkg/part.py": draw(st.sampled_from(PARTS))}
        surfaces[version] = surface(files, root=f"pkg-{version}/")
    return releases, surfaces


@settings(max_examples=40, deadline=None)
@given(histories())
def test_what_holds_at_a_version_is_what_was_read_from_it(history):
    releases, surfaces = history
    output = surface_stage(releases, lambda row: surfaces[row["version"]])
    place = ("library", "first_version", "last_version", "file", "line")
    for version, read in surfaces.items():
        for name, rows in (("symbols", read.symbols), ("documents", read.documents)):
            held = holding_at(output.tables[name], version)
            bare = [
                {k: v for k, v in r.items() if k not in place} for r in held if r.get("public_because") != "imported"
            ]
            assert sorted(bare, key=lambda row: row["path"]) == [
                {k: v for k, v in row.items() if k not in place} for row in rows
            ]


def test_counts_and_rejects():
    surfaces = {"1.0": surface({"pkg/__init__.py": "", "pkg/a.py": "(", "pkg/b.py": ""}), "1.1": surface("")}
    output = surface_stage([release("1.0", None), release("1.1", "1.0")], lambda row: surfaces[row["version"]])
    assert (output.seen, output.made) == (4, 3)
    assert [(r.key, str(r.reason)) for r in output.rejects] == [("1.0 pkg/a.py", "unparsed_source")]


def test_a_state_that_holds_is_one_row_though_the_folder_of_the_sdist_changes_its_name():
    surfaces = {v: surface("def f():\n    'Doc.'\n", root=f"pkg-{v}/") for v in ("1.0", "1.1")}
    output = surface_stage([release("1.0", None), release("1.1", "1.0")], lambda row: surfaces[row["version"]])
    spans = [(r["path"], r["first_version"], r["last_version"], r["file"]) for r in output.tables["symbols"]]
    assert ("pkg.f", "1.0", "1.1", "pkg-1.0/pkg/__init__.py") in spans
    assert len(output.tables["documents"]) == 1


@pytest.mark.parametrize("later", ["from ._impl import f\n", "import sys\nfrom ._impl import f\n__all__ = []\n"])
def test_what_a_later_release_still_imports_stays_a_row(later):
    surfaces = {
        "1.0": surface({"pkg/__init__.py": "", "pkg/m.py": "def f(): ...\n"}),
        "1.1": surface({"pkg/__init__.py": "", "pkg/m.py": later, "pkg/_impl.py": "def f(): ...\n"}),
    }
    output = surface_stage([release("1.0", None), release("1.1", "1.0")], lambda row: surfaces[row["version"]])
    of_f = [(r["first_version"], str(r["public_because"])) for r in output.tables["symbols"] if r["path"] == "pkg.m.f"]
    assert of_f == [("1.0", "name"), ("1.1", "imported")]
