"""The requirements of a project resolved together by the real uv, from the real index, as of a day."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.crawl import Fetcher, project
from pipeline.crawl.pins import KnownVersion, published_of, read_pins, version_of
from pipeline.crawl.pins.narrowing import narrowed_by
from pipeline.environments import discover
from pipeline.environments.index_facts import IndexFacts
from pipeline.environments.resolver import Resolver
from pipeline.settings import index_url
from pipeline.terms import VersionEvidence

pytestmark = pytest.mark.slow

# shap 0.42.1 as it came out: numba allowed no numpy above 1.24 on that day.
SHAP = b"numpy\nscipy\nscikit-learn\npandas\ntqdm>=4.27.0\npackaging>20.9\nslicer==0.0.7\nnumba\ncloudpickle\n"
DAY = datetime(2023, 7, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("requirements", "version"),
    [
        (SHAP, "1.24.4"),
        (SHAP.replace(b"numba\n", b""), "1.25.1"),
        (SHAP + b"no-such-distribution-at-all\n", "1.25.1"),
    ],
)
def test_another_requirement_narrows_the_library(requirements: bytes, version: str, tmp_path: Path) -> None:
    if "3.11" not in {interpreter.python for interpreter in discover()}:
        pytest.skip("uv resolves for an interpreter that is there: install CPython 3.11")
    published = published_of(project(Fetcher(timeout_s=60), index_url(), "numpy"))
    rows = [
        {"version": one.version, "release_time": one.uploaded, "requires_python": one.requires_python}
        for one in published
    ]
    narrow = narrowed_by(Resolver(IndexFacts(index_url()), tmp_path, 120), discover())
    stated = read_pins({"requirements.txt": requirements}).stated
    found = version_of("numpy", stated, rows, DAY, published=published, narrow=narrow)
    assert isinstance(found, KnownVersion)
    assert (found.version, found.evidence) == (version, VersionEvidence.DEPENDENCY_MATRIX)
