"""Which releases there are, and which samples share an environment."""

from __future__ import annotations

from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from pipeline.execution.validation.samples.planning import Catalogue, by_environment, job_of, need_of
from pipeline.execution.validation.samples.samples import Sample, SampleError
from pipeline.index.http import Fetcher, Unreachable
from pipeline.index.index import project
from tests.execution.validation.demo import publish, sample
from tests.index_server import Index


@pytest.fixture
def catalogue(index: Index) -> Catalogue:
    publish(index)
    fetcher = Fetcher(timeout_s=5, retries=0)
    return Catalogue(lambda library: project(fetcher, index.simple, library))


@pytest.mark.parametrize("version", ["1.1", "1.1.0", "1.1.0.0"])
def test_a_release_by_any_spelling(catalogue: Catalogue, version: str) -> None:
    assert catalogue.find("shape", version).version == "1.1"


@pytest.mark.parametrize(
    ("library", "version", "complaint"),
    [
        ("shape", "1.9", "version: shape has no release 1.9; the nearest: 1.5, 2.0"),
        ("shape", "0.1", "version: shape has no release 0.1; the nearest: 1.0"),
        ("shape", "9", "version: shape has no release 9; the nearest: 3.0"),
        ("shap", "1.0", "library: the index has no shap; give a distribution that it has"),
    ],
)
def test_what_does_not_exist(catalogue: Catalogue, library: str, version: str, complaint: str) -> None:
    with pytest.raises(SampleError) as caught:
        catalogue.find(library, version)
    assert str(caught.value) == complaint


@pytest.mark.parametrize(
    ("versions", "prereleases", "found"),
    [
        ("", False, ("1.0", "1.1", "1.2", "2.0", "2.1", "3.0")),
        (">=1.2,<3", False, ("1.2", "2.0", "2.1")),
        (">=2.1", True, ("2.1", "3.0rc1", "3.0")),
        (">9", True, ()),
    ],
)
def test_ranges_leave_out_what_was_withdrawn(
    catalogue: Catalogue, versions: str, prereleases: bool, found: tuple[str, ...]
) -> None:
    assert catalogue.within("shape", SpecifierSet(versions), prereleases) == found


def test_two_spellings_of_one_version_are_one_release(index: Index, catalogue: Catalogue) -> None:
    index.add_wheel("twice", "1.0", {"twice.py": ""}, "2021-01-01T00:00:00Z")
    index.add_wheel("twice", "1.0.0", {"twice.py": ""}, "2021-01-02T00:00:00Z")
    index.add_wheel("twice", "not a version", {"twice.py": ""}, "2021-01-02T00:00:00Z")
    assert len(catalogue.releases("twice")) == 1


def test_a_library_is_asked_for_once(index: Index, catalogue: Catalogue) -> None:
    for version in ("1.0", "2.0"):
        catalogue.find("shape", version)
    assert sum(count for path, count in index.requests.items() if "shape" in path) == 1


def test_a_silent_index_is_not_taken_for_an_answer(index: Index, catalogue: Catalogue) -> None:
    index.faults["/pypi/shape/json"] = [503]
    with pytest.raises(Unreachable):
        catalogue.find("shape", "1.0")
    assert catalogue.find("shape", "1.0").version == "1.0"


def jobs_of(catalogue: Catalogue, *changes: dict[str, Any], settings: tuple[Any, ...] = ()) -> Any:
    samples = [Sample.model_validate(sample(f"s{number}") | change) for number, change in enumerate(changes)]
    needs = [need_of(number, one) for number, one in enumerate(samples)]
    return [job_of(need, catalogue.find(need.library, need.version), settings) for need in needs]


def test_samples_share_environments(catalogue: Catalogue) -> None:
    test_file = {"test_file": "def test(): pass", "module": "solution"}
    jobs = jobs_of(
        catalogue,
        {},
        {"version": "1.0.0", "code": "another"},
        {"python": "3.9"},
        {"extra_dependencies": ["beside==1.0", "six"]},
        {"extra_dependencies": "six beside==1.0"},
        test_file,
        {"version": "2.0"},
        {"test": None},
    )
    groups = by_environment(jobs)
    assert [[job.id for job in group] for group in groups.values()] == [
        ["s0", "s1", "s5"],
        ["s2"],
        ["s3", "s4"],
        ["s6"],
        ["s7"],
    ]
    assert [wanted.tools for wanted in groups] == [("pytest",)] * 4 + [()]


def test_a_key_is_of_all_that_decides_and_of_nothing_else(catalogue: Catalogue) -> None:
    (same,) = jobs_of(catalogue, {})
    (again,) = jobs_of(catalogue, {"version": "1.0.0", "timeout_s": None, "solution": "left aside"})
    assert again.key == same.key
    others: list[dict[str, Any]] = [
        {"id": "other"},
        {"code": "x"},
        {"test": None},
        {"version": "1.1"},
        {"python": "3.9"},
        {"timeout_s": 1.0},
        {"extra_dependencies": ["six"]},
    ]
    keys = {jobs_of(catalogue, other)[0].key for other in others}
    assert len(keys | {same.key, jobs_of(catalogue, {}, settings=("other rules",))[0].key}) == len(others) + 2
