"""Names that a form asks for: those that nobody knows are told before anything is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.form import BadForm
from pipeline.names import check_names
from pipeline.refresh import Refresh
from tests.demo_library import publish_demo
from tests.index_server import Index


@pytest.fixture
def at_index(index: Index, data: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    publish_demo(index)
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    return index


def test_all_names_that_nobody_knows_are_told(at_index: Index) -> None:
    with pytest.raises(BadForm) as caught:
        check_names(Refresh("one", libraries=("demo", "flasq", "guava", "clikc")))
    assert "neither profile starter nor the index" in str(caught.value)
    assert at_index.simple not in str(caught.value), "an address may have a password in it"
    assert str(caught.value).endswith("knows flasq, clikc; write the names as the index spells them")


@pytest.mark.parametrize("libraries", [(), ("Demo",), ("MarkupSafe",)], ids=["all", "known", "listed"])
def test_names_that_somebody_knows(at_index: Index, libraries: tuple[str, ...]) -> None:
    check_names(Refresh("one", libraries=libraries))


def test_an_index_out_of_order_refuses_no_name(at_index: Index) -> None:
    at_index.faults |= {"/pypi/flasq/json": [403], "/simple/flasq/": [403]}
    check_names(Refresh("one", libraries=("flasq",)))
    with pytest.raises(BadForm):
        check_names(Refresh("one", libraries=("flasq",)))
