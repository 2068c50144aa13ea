"""`driftline doctor` says what works, and what to do about what does not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES
from pipeline.execution.environments import diagnosis
from pipeline.execution.sandbox.probe import ADVICE, Trial
from tests.cli.command import Driftline, Result
from tests.index_server import Index

WHAT = {"interpreters", "uv", "sandbox", "system libraries", "disk", "package index", "curation rules"}


def finding(result: Result, name: str) -> dict[str, Any]:
    """One finding; the doctor names all of them, whatever is broken."""
    found = {finding["name"]: finding for finding in result.json}
    assert set(found) == WHAT
    return dict(found[name])


@pytest.fixture
def index_with_pip(index: Index, data: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    index.add_wheel("pip", "1.0", {"pip/__init__.py": ""}, "2021-01-01T00:00:00Z")
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    return index


def test_where_all_is_well(driftline: Driftline, index_with_pip: Index) -> None:
    result = driftline("doctor", "--json")
    assert [finding for finding in result.json if not finding["works"]] == []
    assert result.status == 0
    assert finding(result, "package index")["observed"] == f"{index_with_pip.simple}, with upload times"
    assert set(result.json[0]) == {"name", "works", "observed", "advice"}


def test_people_get_a_table(driftline: Driftline, index_with_pip: Index) -> None:
    result = driftline("doctor")
    assert result.status == 0
    assert all(name in result.out for name in WHAT)


def test_what_the_system_lacks_comes_with_its_package(
    driftline: Driftline, index_with_pip: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = finding(driftline("doctor", "--json"), "system libraries")
    assert found["works"]
    assert "ffmpeg" in found["observed"]
    assert "apt-get install " in found["advice"]
    assert "graphviz" in found["advice"]


def test_without_a_sandbox(driftline: Driftline, index_with_pip: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "trials", lambda: [Trial("bubblewrap", None, "namespaces are closed")])
    result = driftline("doctor", "--json")
    assert result.status == 1
    found = finding(result, "sandbox")
    assert (found["works"], found["observed"]) == (False, "none")
    assert found["advice"] == f"bubblewrap: namespaces are closed. {ADVICE}"


def test_an_index_that_is_down(driftline: Driftline, at_nothing: None) -> None:
    result = driftline("doctor", "--json")
    found = finding(result, "package index")
    assert (result.status, found["works"]) == (1, False)
    assert "Connection refused" in found["observed"]
    assert "DRIFTLINE_INDEX_URL" in found["advice"]


def test_an_index_without_upload_times(driftline: Driftline, index_with_pip: Index) -> None:
    index_with_pip.documents = index_with_pip.simple_json = index_with_pip.upload_times = False
    result = driftline("doctor", "--json")
    found = finding(result, "package index")
    assert (result.status, found["works"]) == (1, False)
    assert "releases cannot be placed in time" in found["advice"]


@pytest.mark.parametrize(
    ("file", "also"),
    [("quality.yaml", set()), ("environments.yaml", {"interpreters"}), ("missing.yaml", {"system libraries"})],
)
def test_a_typo_in_a_rule_file(
    driftline: Driftline,
    index_with_pip: Index,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    also: set[str],
) -> None:
    folder = Path(shutil.copytree(RULES, tmp_path / "rules"))
    (folder / file).write_text("canray: x\n")
    monkeypatch.setenv("DRIFTLINE_RULES", str(folder))
    result = driftline("doctor", "--json")
    assert result.status == 1
    assert f"{file}:1: canray: unknown key" in finding(result, "curation rules")["observed"]
    assert {finding["name"] for finding in result.json if not finding["works"]} == {"curation rules"} | also


def test_an_example_of_a_rule_that_does_not_hold(
    driftline: Driftline, index_with_pip: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(RULES, tmp_path / "rules"))
    text = (folder / "stack_overflow.yaml").read_text(encoding="utf-8")
    changed = text.replace('"I am using pandas 1.3", gives: "1.3"', '"I am using pandas 1.3", gives: "1.4"')
    (folder / "stack_overflow.yaml").write_text(changed, encoding="utf-8")
    monkeypatch.setenv("DRIFTLINE_RULES", str(folder))
    result = driftline("doctor", "--json")
    assert result.status == 1
    assert "gives '1.3', not '1.4'" in finding(result, "curation rules")["observed"]
