"""A question to a person waits on as long as nobody can say that its answer is not wanted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from airflow.sdk.exceptions import TaskAwaitingInput

from pipeline.core import places
from pipeline.orchestration.publishing.approval import Approval, looks_every
from tests.object_store import environ


def test_a_store_that_is_away_for_an_hour_ends_no_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("DRIFTLINE_LAKE", "s3://away/lake")
    for name, value in environ("http://127.0.0.1:1").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(places, "_S3_RETRIES", {"mode": "standard", "max_attempts": 1})
    asked = {"profile": "starter", "run": "one", "candidate": "0" * 64, "at": datetime.now(UTC).isoformat()}
    with pytest.raises(TaskAwaitingInput) as waits:
        Approval(subject="Publish?")._without_answer({}, asked, {"error_type": "timeout"})
    assert waits.value.timeout == looks_every()
