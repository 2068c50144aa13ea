"""The settings of a process, read from its environment."""

from __future__ import annotations

import pytest

from pipeline.settings import PROJECT, Settings, settings


def test_an_empty_variable_is_none_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """`DRIFTLINE_DATA= make refresh` filled the folder it was called in, the checkout itself."""
    for name in Settings.model_fields:
        monkeypatch.setenv(f"DRIFTLINE_{name.upper()}", "")
    monkeypatch.setenv("DRIFTLINE_SECRETS", "")
    assert settings().data == PROJECT / "data"
    assert settings() == Settings.model_construct()
