"""The requirements of a project resolved together by the real uv, from the real index, as of a day."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.settings import index_url
from pipeline.core.vocabularies.samples import VersionEvidence
from pipeline.corpus.pins.matrix import published_of
from pipeline.corpus.pins.narrowing import narrowed_by
from pipeline.corpus.pins.read import read_pins
from pipeline.corpus.pins.version import ResolvedVersion, version_of
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.execution.environments.resolution.interpreters import discover
from pipeline.execution.environments.resolution.resolver import Resolver
from pipeline.index.http import Fetcher
from pipeline.index.index import project

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
    rows: list[Any] = [
        {"version": item.version, "release_time": item.uploaded, "requires_python": item.requires_python}
        for item in published
    ]
    narrow = narrowed_by(Resolver(IndexFacts(index_url()), tmp_path, 120), discover())
    statements = read_pins({"requirements.txt": requirements}).statements
    result = version_of("numpy", statements, rows, DAY, published=published, narrow=narrow)
    assert isinstance(result, ResolvedVersion)
    assert (result.version, result.evidence) == (version, VersionEvidence.DEPENDENCY_MATRIX)
