"""The settings of a process, read from its environment."""

from __future__ import annotations

import pytest

from pipeline.core.settings import PROJECT, Settings, SettingsError, pip_index_url, settings
from tests.errors import raises


def test_an_empty_variable_is_none_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """`DRIFTLINE_DATA= make refresh` filled the folder it was called in, the checkout itself."""
    for name in Settings.model_fields:
        monkeypatch.setenv(f"DRIFTLINE_{name.upper()}", "")
    monkeypatch.setenv("DRIFTLINE_SECRETS", "")
    assert settings().data == PROJECT / "data"
    assert settings() == Settings.model_construct()


def test_a_pip_that_does_not_answer_in_time_is_an_error_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pipeline.core.settings.PIP_S", 0.001)
    pip_index_url.cache_clear()
    with raises(SettingsError, "DRIFTLINE_INDEX_URL", "0.001", code="pip_index_unknown"):
        pip_index_url()


@pytest.mark.parametrize(
    ("variable", "meant"), [("DRIFTLINE_WORKRES", "WORKERS"), ("DRIFTLINE_INDEX_ULR", "INDEX_URL")]
)
def test_a_misspelt_setting_is_named_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, variable: str, meant: str
) -> None:
    monkeypatch.setenv(variable, "1")
    with raises(SettingsError, variable, f"DRIFTLINE_{meant}", code="setting_misspelt"):
        settings()


def test_variables_of_others_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    # The last ones are what Kubernetes sets for a service that is called driftline, and what shells like to have.
    for name in (
        "SECRETS",
        "AIRFLOW_HOME",
        "SCHEDULE",
        "PROFILE",
        "DEPLOYED_BY",
        "PORT",
        "SERVICE_HOST",
        "HOME",
        "USER",
    ):
        monkeypatch.setenv(f"DRIFTLINE_{name}", "")
    assert settings()
