"""Versions of stages and caches: each was decided for the sources that stand here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pipeline.core.versions import cache_version, read_versions, stage_version
from tests import source_hash, versions
from tests.source_hash import hash_of


def test_somebody_decided_about_each_change_of_sources() -> None:
    waiting = sorted(name for _, name in versions.undecided(versions.current_sources()))
    assert waiting == [], "make versions"


SOURCES = '''"""Module."""
from pipeline.sample.other import helper
from pipeline.core.vocabularies.running import Outcome
LIMIT = 3

def stage(rows):
    """Doc."""
    return helper(rows, LIMIT) if rows else Outcome.PASSED

def beside():
    return 1
'''
OTHER = """class Helper:
    def run(self, rows, limit):
        return rows[:limit]

def helper(rows, limit):
    # why
    return Helper().run(rows, limit)
"""


@pytest.fixture
def hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Hash the stage of a sample package, after its two files were written."""

    def write_and_hash(sources: str = SOURCES, other: str = OTHER) -> str:
        folder = tmp_path / "sample"
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").write_text("")
        (folder / "main.py").write_text(sources)
        (folder / "other.py").write_text(other)
        for cached in (source_hash._module, source_hash._next, source_hash._statements, source_hash._texts):
            cached.cache_clear()
        return hash_of([("pipeline.sample.main", "stage")])

    import pipeline

    monkeypatch.setattr(pipeline, "__path__", [*pipeline.__path__, str(tmp_path)])
    yield write_and_hash
    for name in [name for name in sys.modules if name.startswith("pipeline.sample")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ("if rows", "if not rows"),
        ("rows[:limit]", "rows[limit:]"),
        ("Helper().run(rows, limit)", "Helper().run(rows, limit + 1)"),
        ("Outcome.PASSED", "Outcome.TIMED_OUT"),
    ],
)
def test_what_decides_the_result_changes_the_hash(hashed, old: str, new: str) -> None:
    before = hashed()
    assert hashed(SOURCES.replace(old, new), OTHER.replace(old, new)) != before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Doc."""', '"""Another docstring."""'),
        ("# why", "# because"),
        ("return 1", "return 2"),
        ("\n\ndef", "\n\n\n\ndef"),
    ],
)
def test_what_does_not_decide_the_result_leaves_it(hashed, old: str, new: str) -> None:
    before = hashed()
    assert hashed(SOURCES.replace(old, new), OTHER.replace(old, new)) == before


def test_a_number_is_raised_and_the_others_keep_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    current = {("stages", "surface"): "new", ("stages", "usage"): "new", ("caches", "runs"): "new"}
    file = tmp_path / "versions.yaml"
    file.write_text(
        "stages:\n  surface: {version: 7, sources: old}\n  usage: {version: 3, sources: old}\n"
        "caches:\n  runs: {version: 2, sources: old}\n"
    )
    monkeypatch.setattr("pipeline.core.versions.FILE", file)
    monkeypatch.setattr(versions, "FILE", file)
    monkeypatch.setattr(versions, "current_sources", lambda: current)
    read_versions.cache_clear()
    try:
        assert versions.main("", "") == 1
        assert versions.main("surface", "usage") == 1
        assert (stage_version("surface"), stage_version("usage"), cache_version("runs")) == (8, 3, 2)
        assert [*versions.undecided(current)] == [("caches", "runs")]
        assert versions.main("", "all") == 0
        assert cache_version("runs") == 2
        with pytest.raises(SystemExit):
            versions.main("nothing", "")
    finally:
        read_versions.cache_clear()
