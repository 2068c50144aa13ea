from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.audit.survival.rules import survival_rules
from pipeline.audit.survival.survive import Survey
from pipeline.core.settings import settings
from tests.audit.survival.published import RULES
from tests.index_server import Index


@pytest.fixture
def resources(index: Index, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """The index as the setting, with a data folder and rules of its own; a run may take six seconds."""
    rules = tmp_path / "rules"
    shutil.copytree(RULES, rules)
    text = (rules / "validation.yaml").read_text()
    (rules / "validation.yaml").write_text(text.replace("\ntime_s: 20\n", "\ntime_s: 6\n"))
    monkeypatch.setenv("DRIFTLINE_RULES", str(rules))
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    monkeypatch.setenv("DRIFTLINE_WORKERS", "1")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    # Each retry waits twice as long as the one before.
    monkeypatch.setattr("urllib3.util.retry.time.sleep", lambda seconds: None)
    return index


@pytest.fixture
def survey(resources: Index) -> Callable[..., Survey]:
    """Makes what is to be looked at, of all environments."""

    def make(*snapshots: Path, period: str = "2026-11", **rules: object) -> Survey:
        return Survey(snapshots, period, settings(), survival_rules().model_copy(update={"share": 1.0} | rules))

    return make
