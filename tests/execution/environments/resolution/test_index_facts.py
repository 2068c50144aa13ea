from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from tests.errors import raises
from tests.index_server import Index

DAY, LATER = datetime(2021, 5, 1, tzinfo=UTC), datetime(2022, 7, 1, 12, 30, tzinfo=UTC)


@pytest.fixture
def facts(index: Index) -> IndexFacts:
    index.add_wheel("lib", "1.0", {"lib.py": ""}, "2021-05-01T00:00:00Z", requires_python=">=3.6")
    index.add_wheel("lib", "1.0", {"lib.py": "", "more.py": ""}, "2021-06-01T00:00:00Z")
    index.add_wheel("dep", "2.0.0", {"dep.py": ""}, "2022-07-01T12:30:00Z")
    index.add("lib", "0.9", None, "")
    return IndexFacts(index.simple)


@pytest.mark.parametrize(
    ("wanted", "newest"),
    [
        (EnvironmentRequest("lib", "1.0"), DAY),
        (EnvironmentRequest("lib", "1"), DAY),  # the same version, spelled otherwise
        (EnvironmentRequest("lib", "1.0", pins=("Dep==2.0",)), LATER),
        (EnvironmentRequest("lib", "1.0", pins=("dep===2.0.0",)), LATER),
        (EnvironmentRequest("lib", "1.0", pins=("dep>=2", "nowhere==1", "dep==3", "lib==0.9", "no requirement!")), DAY),
    ],
)
def test_days_of_a_release_and_of_what_is_pinned(
    facts: IndexFacts, wanted: EnvironmentRequest, newest: datetime
) -> None:
    found = facts.release(wanted)
    assert (found.release_time, found.newest_upload, found.requires_python) == (DAY, newest, ">=3.6")
    assert len(found.files) == 2


def test_what_is_stated_goes_before_what_the_index_says(facts: IndexFacts) -> None:
    found = facts.release(EnvironmentRequest("lib", "1.0", release_time=LATER, requires_python=">=3.7"))
    assert (found.release_time, found.newest_upload, found.requires_python) == (LATER, LATER, ">=3.7")


@pytest.mark.parametrize(
    ("library", "version", "said"),
    [
        ("lib", "1.5", "lib 1.5: the index has no such release; the nearest are 0.9, 1.0"),
        ("lib", "one", "lib one: the index has no such release; the nearest are 0.9, 1.0"),
        ("lib", "0.9", "lib 0.9 has no file that can be installed"),
        ("nowhere", "1.0", "the index does not know nowhere"),
    ],
)
def test_what_is_not_there(facts: IndexFacts, library: str, version: str, said: str) -> None:
    with pytest.raises(StepFailed) as failed:
        facts.release(EnvironmentRequest(library, version))
    assert (failed.value.outcome, failed.value.detail) == (EnvironmentOutcome.NO_FILES, said)


def test_a_release_that_cannot_be_placed_in_time(index: Index, facts: IndexFacts) -> None:
    index.documents = index.upload_times = False
    with raises(StepFailed, "1.0"):
        facts.release(EnvironmentRequest("lib", "1.0"))
    assert facts.release(EnvironmentRequest("lib", "1.0", release_time=DAY)).release_time == DAY


def test_a_project_is_asked_for_once(index: Index, facts: IndexFacts) -> None:
    for version in ("1.0", "1.0", "1.5"):
        try:
            facts.release(EnvironmentRequest("lib", version))
        except StepFailed:
            continue
    assert index.requests["/pypi/lib/json"] == 1


def test_many_threads_ask_for_a_project_once(index: Index, facts: IndexFacts) -> None:
    index.delays["/pypi/lib/json"] = 0.1
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(facts.has, ["lib"] * 4))
    assert index.requests == {"/pypi/lib/json": 1}


def test_a_project_that_is_not_there_is_asked_for_once(index: Index, facts: IndexFacts) -> None:
    assert [facts.has("nowhere"), facts.has("nowhere"), facts.has("lib")] == [False, False, True]
    assert index.requests == {"/pypi/nowhere/json": 1, "/simple/nowhere/": 1, "/pypi/lib/json": 1}


def test_an_index_that_is_down_says_nothing_about_the_release(data: object) -> None:
    with pytest.raises(IndexUnreachable):
        IndexFacts("http://127.0.0.1:1/simple").release(EnvironmentRequest("lib", "1.0"))
