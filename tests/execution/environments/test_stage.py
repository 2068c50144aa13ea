from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.execution.environments.stage import environments_stage
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject
from tests.index_server import Index


def test_only_wanted_releases_are_built_and_failures_have_row_and_reject(
    index: Index, store_at: Callable[..., EnvironmentStore], release: Callable[..., ReleaseRow], tmp_path: Path
) -> None:
    for version in ("1.0", "1.1", "1.2"):
        index.add_wheel("lib", version, {"lib.py": "1/0" if version == "1.1" else ""}, "2021-05-01T00:00:00Z")
    releases = [release(version) for version in ("1.1", "1.0", "1.2")]
    output = environments_stage({"releases": releases, "environments": []}, {"1.0", "1.1", "9.9"}, store_at(tmp_path))
    assert [(row["version"], row["outcome"]) for row in output.tables["environments"]] == [
        ("1.0", "built"),
        ("1.1", "import_failed"),
    ]
    assert (output.units_in, output.units_out) == (2, 1)
    detail = "import_failed: ZeroDivisionError: division by zero"
    assert output.rejects == [Reject("1.1", RejectReason.NO_ENVIRONMENT, detail)]


def test_an_index_that_is_down_leaves_no_row(
    index: Index,
    store_at: Callable[..., EnvironmentStore],
    release: Callable[..., ReleaseRow],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    index.faults["/simple/lib/"] = [503] * 9
    index.add_wheel("lib", "1.0", {"lib.py": ""}, "2021-05-01T00:00:00Z")
    output = environments_stage({"releases": [release()], "environments": []}, ["1.0"], store_at(tmp_path))
    assert output.tables == {"environments": []}
    assert [reject.reason for reject in output.rejects] == [RejectReason.INDEX_UNREACHABLE]
