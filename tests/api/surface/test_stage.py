"""The tables over all releases: what holds at a version is what was read from it."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.api.surface.stage import surface_stage
from pipeline.api.surface.visit import visit_file
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.tables import Lake
from tests.api.surface.trees import reader_of, surface, tree

SOURCES = (
    "def f(a): ...\n",
    "def f(a, b=1):\n    'Doc.'\n",
    "class f:\n    def m(self): ...\n",
    "from .part import g\n",
    "x = 1\n",
    "",
)
PARTS = ("def g(): ...\n", "def g():\n    'Other.'\n", "def g(:\n")


def release(version: str, predecessor: str | None) -> ReleaseRow:
    return {"library": "pkg", "version": version, "predecessor": predecessor, "sha256": f"sha of {version}"}


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


PLACE = ("library", "first_version", "last_version", "file", "line", "body_sketch", "docstring_sketch")


def bare(rows: Iterable[Any]) -> list[Any]:
    return [{k: v for k, v in row.items() if k not in PLACE} for row in sorted(rows, key=lambda row: row["path"])]


@settings(max_examples=40, deadline=None)
@given(histories())
def test_what_holds_at_a_version_is_what_was_read_from_it(history):
    releases, surfaces = history
    output = surface_stage({"releases": releases}, lambda row: surfaces[row["version"]])
    for version, read in surfaces.items():
        for name in ("symbols", "importable_names", "documents"):
            held = holding_at(output.tables[name], version)
            assert bare(held) == bare(getattr(read, name).values())


@settings(max_examples=30, deadline=None)
@given(histories(), st.data())
def test_a_reader_that_goes_from_release_to_release_reads_what_a_fresh_one_reads(history, data):
    releases, _ = history
    sources = [data.draw(st.fixed_dictionaries({f: st.sampled_from(FILES[f]) for f in FILES})) for _ in releases]
    contents: dict[str, bytes] = {}
    trees = []
    for files in sources:
        read, held = tree(files)
        contents |= held
        trees.append(read)
    reader = reader_of(contents)
    for read in trees:
        assert reader.read(read) == reader_of(contents).read(read)


FILES = {
    "pkg/__init__.py": [
        "from .part import *\n",
        "from .part import g as h, K\n",
        "from . import part\nK = part.K\n",
        "from ._hidden import _C\nf = _C._m\nclass D(_C): ...\n",
        "",
    ],
    "pkg/part.py": [
        "from .base import B\ndef g(): ...\nclass K(B):\n    x = 1\n",
        "from .base import *\n__all__ = ['g', 'K']\ndef g(a): ...\nclass K(B): ...\n",
        "def __getattr__(name):\n    if name == 'g':\n        return 1\n",
        "def __getattr__(name):\n    if name == 'g':\n        warn('g is old', DeprecationWarning)\n        return 1\n",
        "def g(:\n",
    ],
    "pkg/base.py": [
        "class A:\n    def m(self): ...\nclass B(A): ...\n",
        "class A:\n    def m(self, a): ...\nclass B(A):\n    def n(self): ...\n",
        "from .gone import B\n",
        "from collections import ChainMap\nclass B(ChainMap): ...\n",
        "from typing import ChainMap\nclass B(ChainMap): ...\n",
        "class B:\n    def __init__(self, x): self.x = x\n    class In:\n        y = 2\n",
    ],
    "pkg/_hidden.py": [
        "",
        "B = 1\n",
        "class _C:\n    def _m(self): ...\n    def n(self): ...\n    o = n\n",
        "class _C:\n    def _m(self, a): ...\n    def o(self, b): ...\n    def n(self): ...\n",
        "class _C:\n    def n(self): ...\n    def _m(self, a): ...\n    o = n\n",
    ],
}


@settings(max_examples=40, deadline=None)
@given(histories(), st.data())
def test_going_on_from_an_earlier_run_gives_what_a_run_from_the_beginning_gives(tmp_path_factory, history, data):
    releases, surfaces = history
    done = data.draw(st.integers(1, len(releases)))
    lake = Lake(tmp_path_factory.mktemp("lake"))
    whole = surface_stage({"releases": releases}, lambda row: surfaces[row["version"]])
    first = surface_stage({"releases": releases[:done]}, lambda row: surfaces[row["version"]])
    for name, rows in first.by_table.items():
        lake.write(name, "pkg", rows)

    def since(name):
        return {row["path"]: row["first_version"] for row in lake.read(name, "pkg") if row["last_version"] is None}

    then = surface_stage({"releases": releases}, lambda row: surfaces[row["version"]], first.progress, since)
    for name, update in then.updates.items():
        lake.update(name, "pkg", update)
    fresh = Lake(tmp_path_factory.mktemp("fresh"))
    for name, rows in whole.by_table.items():
        fresh.write(name, "pkg", rows)
        assert lake.hashes(name, "pkg") == fresh.hashes(name, "pkg")
    assert (then.progress, then.units_in, then.rejects) == (whole.progress, whole.units_in, whole.rejects)


def test_counts_and_rejects():
    surfaces = {"1.0": surface({"pkg/__init__.py": "", "pkg/a.py": "(", "pkg/b.py": ""}), "1.1": surface("")}
    output = surface_stage(
        {"releases": [release("1.0", None), release("1.1", "1.0")]}, lambda row: surfaces[row["version"]]
    )
    assert (output.units_in, output.units_out) == (4, 3)
    assert [(r.key, str(r.reason)) for r in output.rejects] == [("1.0 pkg/a.py", "unparsed_source")]


def test_a_state_that_holds_is_one_row_though_the_folder_of_the_sdist_changes_its_name():
    surfaces = {v: surface("def f():\n    'Doc.'\n", root=f"pkg-{v}/") for v in ("1.0", "1.1")}
    output = surface_stage(
        {"releases": [release("1.0", None), release("1.1", "1.0")]}, lambda row: surfaces[row["version"]]
    )
    spans = [(r["path"], r["first_version"], r["last_version"], r["file"]) for r in output.tables["symbols"]]
    assert ("pkg.f", "1.0", None, "pkg-1.0/pkg/__init__.py") in spans
    assert len(output.tables["documents"]) == 1


@pytest.mark.parametrize("later", ["from ._impl import f\nf()\n", "import sys\nfrom ._impl import f\n__all__ = []\n"])
def test_what_a_release_imports_without_making_it_public_can_be_imported(later):
    read = surface({"pkg/__init__.py": "", "pkg/m.py": later, "pkg/_impl.py": "def f(): ...\n"})
    assert "pkg.m.f" not in read.symbols
    assert str(read.importable_names["pkg.m.f"]["public_because"]) == "imported"


def test_another_release_rewrites_only_the_parts_that_it_changes(tmp_path):
    sources = {"1.0": "def f(): ...\ndef g(): ...\n", "1.1": "def f(): ...\ndef g(a): ...\n", "2.0": "def f(): ...\n"}
    releases = [release("1.0", None), release("1.1", "1.0"), release("2.0", "1.1")]
    read = {version: surface(source) for version, source in sources.items()}
    lake = Lake(tmp_path)
    first = surface_stage({"releases": releases[:2]}, lambda row: read[row["version"]])
    for name, rows in first.by_table.items():
        lake.write(name, "pkg", rows)
    before = {part: file.path for part, file in lake.files("symbols", "pkg").items()}
    since = {row["path"]: row["first_version"] for row in lake.read("symbols", "pkg") if row["last_version"] is None}
    then = surface_stage(
        {"releases": releases},
        lambda row: read[row["version"]],
        first.progress,
        lambda name: since if name == "symbols" else {},
    )
    lake.update("symbols", "pkg", then.updates["symbols"])
    after = {part: file.path for part, file in lake.files("symbols", "pkg").items()}
    assert {part for part in after if after[part] != before.get(part)} == {"1.1"}


def test_what_a_row_says_of_its_file_is_that_of_its_release():
    """pandas 0.9.0 turned to Python 2 in `pandas/__init__.py`; what an older row said of it was kept."""
    part = "def f(): ...\n"
    releases = [
        {"pkg/__init__.py": "from ._part import f, g\n", "pkg/_part.py": part, "pkg/b.py": "def h(): ...\n"},
        {"pkg/__init__.py": "from ._part import f, g\nprint 'x'\n", "pkg/_part.py": part},
        {"pkg/__init__.py": "from ._part import f, g\n", "pkg/_part.py": part, "pkg/b.py": "\ndef h(): ...\n"},
    ]
    contents: dict[str, bytes] = {}
    reader = reader_of(contents)
    for number, files in enumerate(releases):
        sources, added = tree(files, f"pkg-{number}/")
        contents |= added
        read, fresh = reader.read(sources), reader_of(contents).read(sources)
        assert [row["source"] for row in read.symbols.values()] == [row["source"] for row in fresh.symbols.values()]
        if "pkg.b.h" in read.symbols:
            assert read.symbols["pkg.b.h"]["file"] == f"pkg-{number}/pkg/b.py"


def test_what_a_private_method_says_counts_where_it_has_a_public_name():
    """It is nothing that its class says; the row of the other name was that of the first release all the same."""
    contents: dict[str, bytes] = {}
    reader = reader_of(contents)
    for names in (["a"], ["a", "b"]):
        hidden = f"class _C:\n    def _m({', '.join(names)}): ...\n"
        sources, added = tree({"pkg/__init__.py": "from ._hidden import _C\nf = _C._m\n", "pkg/_hidden.py": hidden})
        contents |= added
        assert [parameter["name"] for parameter in reader.read(sources).symbols["pkg.f"]["parameters"]] == names


METHOD = "    def m(self):\n        'Doc.'\n"
CLASS = "class C:\n    x = 1\n"


@pytest.mark.parametrize(
    ("files", "gap"),
    [([CLASS + METHOD, CLASS, f"\n\n{CLASS}{METHOD}"], False), ([CLASS + METHOD, f"\n\n{CLASS}{METHOD}"], True)],
)
def test_a_row_says_where_its_api_stands_in_its_first_version(files, gap):
    """A member that came back, and all that stands in the first release after a gap."""
    contents: dict[str, bytes] = {}
    trees = {}
    for number, text in enumerate(files):
        trees[f"1.{number}"], added = tree({"pkg/__init__.py": text}, f"pkg-1.{number}/")
        contents |= added
    releases = [release(v, before) for v, before in zip(trees, [None, *trees], strict=False)]
    releases[-1]["predecessor"] = "lost" if gap else releases[-1]["predecessor"]
    reader = reader_of(contents)
    read = surface_stage({"releases": releases}, lambda row: reader.read(trees[row["version"]]), at_gap=reader.forget)
    fresh = surface_stage({"releases": releases}, lambda row: reader_of(contents).read(trees[row["version"]]))
    assert read.tables == fresh.tables


def test_a_release_that_raises_is_a_reject_and_the_next_one_begins_anew():
    releases = [release("1.0", None), release("1.1", "1.0"), release("1.2", "1.1"), release("1.3", "1.2")]
    read = surface({"pkg/__init__.py": "def f(a): ...\n"}, root="pkg/")
    gaps = []

    def surface_of(row):
        if row["version"] == "1.1":
            raise ZeroDivisionError("planted")
        return read

    output = surface_stage({"releases": releases}, surface_of, at_gap=lambda: gaps.append(True))
    spans = [(r["first_version"], r["last_version"]) for r in output.tables["symbols"] if r["path"] == "pkg.f"]
    assert spans == [("1.0", "1.0"), ("1.2", None)]
    assert [(reject.key, reject.reason) for reject in output.rejects] == [("1.1", "internal_error")]
    assert (output.units_in, output.units_out, bool(gaps)) == (4, 3, True)
    # what could be read by then is not gone on from: the next run reads all of it again
    assert output.progress is None


def test_a_file_that_raises_costs_its_module_alone(monkeypatch):

    def planted(module, *args, **named):
        if module == "pkg.part":
            raise ZeroDivisionError("planted")
        return visit_file(module, *args, **named)

    monkeypatch.setattr("pipeline.api.surface.parse_cache.visit_file", planted)
    read = surface({"pkg/__init__.py": "def f(a): ...\n", "pkg/part.py": "def g(): ...\n"}, root="pkg/")
    assert "pkg.f" in read.symbols
    assert [(problem.key, problem.reason) for problem in read.problems] == [("pkg/part.py", "internal_error")]


def test_half_of_a_surrogate_pair_in_a_text_is_written_as_its_escape(tmp_path):
    read = surface({"pkg/__init__.py": 'def f(a="\\ud83d"):\n    """Bad \\ud800 and \U0001f600."""\n'}, root="pkg/")
    assert not read.problems
    output = surface_stage({"releases": [release("1.0", None)]}, lambda _: read)
    lake = Lake(tmp_path)
    for name, rows in output.by_table.items():
        lake.write(name, "pkg", rows)
    (document,) = lake.read("documents", "pkg")
    assert document["docstring"] == "Bad \\ud800 and \U0001f600."
