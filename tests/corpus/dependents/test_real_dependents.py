"""Dependents on the real index: what is read of releases whose own files are known."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from pipeline.core.rules.load import RULES, load
from pipeline.core.settings import index_url
from pipeline.core.vocabularies.samples import VersionEvidence
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.dependents.rules import DependentRules
from pipeline.corpus.dependents.source import Downstream
from pipeline.corpus.python_files import PythonFileRules
from pipeline.index.artifacts import ArtifactStore
from pipeline.index.http import Fetcher
from pipeline.index.licences import LicenceRules
from pipeline.index.release_selection import Period, ReleaseRequest
from pipeline.index.releases import releases_stage
from pipeline.index.rules import CrawlRules
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject

pytestmark = pytest.mark.slow

YEAR = Period(datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC))
LICENCES = load(RULES / "licences.yaml", LicenceRules)


def releases(fetcher: Fetcher, tmp_path: Path, library: str, versions: str) -> list[ReleaseRow]:
    store = ArtifactStore(tmp_path / "artifacts", fetcher, load(RULES / "crawl.yaml", CrawlRules))
    request = ReleaseRequest(library, SpecifierSet(versions), None, Period())
    return list(releases_stage(request, {"releases": []}, index_url(), store, LICENCES, 2).tables["releases"])


def source(fetcher: Fetcher, tmp_path: Path, **seeds: tuple[str, ...]) -> Downstream:
    rules = load(RULES / "dependents.yaml", DependentRules).model_copy(update={"seeds": seeds})
    files = load(RULES / "python_files.yaml", PythonFileRules)
    return Downstream(index_url(), fetcher, tmp_path / "downstream", rules, files, LICENCES, workers=2)


def test_glom_in_2020(tmp_path: Path) -> None:
    fetcher = Fetcher(timeout_s=60)
    rows = releases(fetcher, tmp_path, "boltons", ">=19.1.0,<=20.2.1")
    results = list(source(fetcher, tmp_path, boltons=("glom",)).find("boltons", rows, YEAR))
    result = [item for item in results if isinstance(item, CodeSample)]
    places = {(item.place, item.version, item.version_evidence) for item in result}
    # requirements.txt of glom 20.5.0 pins boltons==20.0.0, a month after 20.1.0 came out.
    assert ("pkg:pypi/glom@20.5.0", "20.0.0", VersionEvidence.EXACT_PIN) in places
    assert all(item.licence == "BSD-3-Clause" and "boltons" in item.text for item in result)
    assert {item.file for item in result if item.place == "pkg:pypi/glom@20.5.0"} >= {
        "glom/core.py",
        "glom/reduction.py",
    }
    tests = [item for item in results if isinstance(item, Reject) and str(item.reason) == "out_of_scope"]
    assert tests
    assert all("/test/" in test.key for test in tests)

    received = fetcher.received_bytes
    again = source(fetcher, tmp_path, boltons=("glom",)).find("boltons", rows, YEAR)
    assert list(again) == results
    assert fetcher.received_bytes - received < 500_000, "only the documents of the two projects are asked for again"
