from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from pipeline.orchestration.local_airflow.server import down, starts_at_once


def test_what_a_scheduled_airflow_begins_with_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRIFTLINE_SCHEDULE", raising=False)
    monkeypatch.setenv("DRIFTLINE_PROFILE", "mine")
    assert "refresh of the profile mine over the last whole week starts at once" in (starts_at_once() or "")
    monkeypatch.setenv("DRIFTLINE_SCHEDULE", "off")
    assert starts_at_once() is None


def test_two_may_end_an_airflow_at_once(tmp_path: Path) -> None:
    for _ in range(20):
        processes = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
        entries = [{"pid": each.pid, "created": psutil.Process(each.pid).create_time()} for each in processes]
        (tmp_path / "server.json").write_text(json.dumps({"processes": entries, "port": 0}))
        with ThreadPoolExecutor() as pool:
            ended = list(pool.map(down, [tmp_path] * 3))
        assert any(ended)
        assert not (tmp_path / "server.json").exists()
        assert not any(psutil.pid_exists(each.pid) for each in processes)
