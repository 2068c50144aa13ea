from __future__ import annotations

import pytest

from pipeline.orchestration.local_airflow.server import starts_at_once


def test_what_a_scheduled_airflow_begins_with_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRIFTLINE_SCHEDULE", raising=False)
    monkeypatch.setenv("DRIFTLINE_PROFILE", "mine")
    assert "refresh of the profile mine over the last whole week starts at once" in (starts_at_once() or "")
    monkeypatch.setenv("DRIFTLINE_SCHEDULE", "off")
    assert starts_at_once() is None
