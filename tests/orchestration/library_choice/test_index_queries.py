"""What an index says of a library, asked over HTTP."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.index.http import Fetcher, NotFound
from pipeline.index.library_facts import Fact, read_facts, write_facts
from pipeline.index.licences import LicenceRules
from pipeline.orchestration.library_choice.index_queries import ask
from tests.index_server import Index, sdist

SINCE, TODAY = date(2021, 1, 1), date(2026, 11, 22)
LICENCES = load(RULES / "licences.yaml", LicenceRules)


def asked(index: Index, library: str) -> Fact | None:
    return ask(Fetcher(timeout_s=10), index.simple, library, SINCE, TODAY, LICENCES)


@pytest.fixture
def lib(index: Index) -> Index:
    for version, day in [("1.0", "2019-05-01"), ("1.1", "2021-01-01"), ("2.0rc1", "2022-01-01"), ("2.0", "2022-02-01")]:
        index.add_wheel("lib", version, {"lib.py": f"# {version}"}, f"{day}T00:00:00Z")
    return index


def test_final_releases_are_counted_and_dated(lib: Index) -> None:
    lib.infos["lib"] = {"license_expression": "BSD-3-Clause"}
    found = asked(lib, "lib")
    assert found
    days = (found.observed, found.since, found.first, found.last)
    assert days == (TODAY, SINCE, date(2019, 5, 1), date(2022, 2, 1))
    assert (found.releases, found.all_releases, found.pure) == (2, 3, True)
    assert (found.licence, found.licence_of) == ("BSD-3-Clause", "2.0")
    assert found.bytes == sum(len(lib.projects["lib"][version][0].content) for version in ("1.0", "1.1", "2.0"))


def test_a_licence_is_read_from_classifiers_too(lib: Index) -> None:
    lib.infos["lib"] = {"license": "", "classifiers": ["License :: OSI Approved :: MIT License"]}
    found = asked(lib, "lib")
    assert found
    assert found.licence == "MIT"


def test_an_index_without_project_documents_leaves_the_licence_open(lib: Index) -> None:
    lib.documents = False
    found = asked(lib, "lib")
    assert found
    assert (found.releases, found.licence) == (2, None)


def test_of_a_source_distribution_it_is_not_known_whether_it_is_pure(index: Index) -> None:
    index.add("lib", "1.0", sdist("lib", "1.0", {"lib.py": ""}), "2022-01-01T00:00:00Z")
    found = asked(index, "lib")
    assert found
    assert found.pure is None


def test_a_library_without_final_releases_has_no_fact(index: Index) -> None:
    index.add_wheel("lib", "1.0a1", {"lib.py": ""}, "2022-01-01T00:00:00Z")
    assert asked(index, "lib") is None
    with pytest.raises(NotFound):
        asked(index, "nonesuch")


def test_facts_are_kept_as_they_were(lib: Index, tmp_path: Path) -> None:
    found = asked(lib, "lib")
    assert found
    write_facts(tmp_path / "facts.jsonl", [found])
    assert read_facts(tmp_path / "facts.jsonl") == {"lib": found}
