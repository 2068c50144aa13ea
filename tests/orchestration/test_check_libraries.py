"""Names of a form or a profile: those that nobody knows are reported before anything is run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES
from pipeline.core.settings import settings
from pipeline.lake.tables import Lake
from pipeline.orchestration.check_libraries import check_names
from pipeline.orchestration.refresh import Refresh
from pipeline.orchestration.run_parameters import BadForm
from tests.demo_library import publish_demo
from tests.errors import raises
from tests.index_server import Index


@pytest.fixture
def at_index(index: Index, data: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    publish_demo(index)
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    return index


def test_all_names_that_nobody_knows_are_told(at_index: Index) -> None:
    with pytest.raises(BadForm) as caught:
        check_names(Refresh("one", libraries=("demo", "flasq", "guava", "clikc")))
    assert at_index.simple not in str(caught.value), "an address may have a password in it"
    assert str(caught.value).endswith(
        "libraries: the index does not know flasq (did you mean flask?), clikc (did you mean click?); write the names as the index spells them"
    )


def test_a_misspelt_library_of_a_profile_is_refused_and_one_that_was_there_once_is_not(
    at_index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(RULES, tmp_path / "rules")
    (tmp_path / "rules" / "profiles" / "mine.yaml").write_text(
        "name: mine\nlibraries: [{library: demo}, {library: demmo}, {library: gone}]\n"
    )
    monkeypatch.setenv("DRIFTLINE_RULES", str(tmp_path / "rules"))
    Lake(settings().lake_root).write("releases", "gone", [])
    with raises(BadForm, "profile mine", "demmo", code="library_unknown"):
        check_names(Refresh("one", "mine"))


def test_names_are_read_as_the_index_spells_them(at_index: Index) -> None:
    check_names(Refresh("one", libraries=("Demo",)))


def test_an_index_out_of_order_refuses_no_name(at_index: Index) -> None:
    at_index.faults |= {"/pypi/flasq/json": [403], "/simple/flasq/": [403]}
    check_names(Refresh("one", libraries=("flasq",)))
    with pytest.raises(BadForm):
        check_names(Refresh("one", libraries=("flasq",)))
