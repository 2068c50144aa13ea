"""A question to a person waits on as long as nobody can say that its answer is not wanted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from airflow.sdk.exceptions import TaskAwaitingInput

from pipeline.orchestration.publishing.approval import SignOff, looks_every


@pytest.mark.slow
def test_a_store_that_is_away_for_an_hour_ends_no_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "store").write_text("a file where the store's folder should be")
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("DRIFTLINE_STORE", f"file://{tmp_path}/store")
    asked = {"profile": "starter", "run": "one", "draft": "0" * 64, "at": datetime.now(UTC).isoformat()}
    with pytest.raises(TaskAwaitingInput) as waits:
        SignOff(subject="Publish?")._without_answer({}, asked, {"error_type": "timeout"})
    assert waits.value.timeout == looks_every()
