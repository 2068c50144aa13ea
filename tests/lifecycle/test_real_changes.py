"""Changes between real releases that were confirmed without us: see real_changes.yaml."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.ondemand import diff_releases
from tests.lifecycle.releases import told

CASES = yaml.safe_load((Path(__file__).parent / "real_changes.yaml").read_text())

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _data(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DRIFTLINE_DATA", str(tmp_path_factory.mktemp("data")))
        yield


@functools.cache
def changes(library: str, old: str, new: str) -> frozenset[str]:
    return frozenset(told(diff_releases(library, old, new).changes))


def case(row: dict[str, Any]) -> Any:
    marks = [pytest.mark.xfail(reason=row["wrong"], strict=True)] if "wrong" in row else []
    return pytest.param(row, id=f"{row['what']} ({row['library']} {row['new']})", marks=marks)


@pytest.mark.parametrize("row", [case(row) for row in CASES])
def test_what_is_confirmed_is_told(row):
    found = changes(row["library"], row["old"], row["new"])
    lacking = [line for line in row.get("told", ()) if line not in found]
    wrongly = [line for line in found if line.startswith(tuple(row.get("untold", ())))]
    assert (lacking, wrongly) == ([], [])
