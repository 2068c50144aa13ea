"""The lines that the card and the README show are run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest

from pipeline.core.settings import PROJECT
from pipeline.snapshots.format.rows import TABLES
from tests.snapshots.lakes import demo_snapshot, tables

README = PROJECT / "README.md"
READERS = ("datasets", "pandas", "polars", "duckdb", "mlcroissant")


def lines(markdown: str) -> dict[str, str]:
    """The lines of Python that import a reader and read with it, by the reader."""
    blocks = re.findall(r"^```python\n(.*?)^```", markdown, flags=re.MULTILINE | re.DOTALL)
    found = [line for block in blocks for line in block.splitlines() if re.match(r"import [\w, ]+; rows = ", line)]
    return {re.split("[,;]", line)[0].removeprefix("import "): line for line in found}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loading")
    published = demo_snapshot(folder)
    place = folder / "data" / "snapshots" / "starter" / "starter-2026-04-02"
    place.parent.mkdir(parents=True)
    return published.rename(place)


def run(line: str) -> int:
    names: dict[str, Any] = {}
    exec(line, names)
    rows = names["rows"]
    return int(rows.shape[0]) if hasattr(rows, "shape") else sum(1 for _ in rows)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.mark.parametrize("reader", READERS)
def test_each_line_of_the_card_reads_the_rows(snapshot: Path, monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    monkeypatch.chdir(snapshot)
    shown = lines((snapshot / "README.md").read_text())
    assert tuple(shown) == READERS
    assert run(shown[reader]) == len(tables()["published_completions"])


@pytest.mark.parametrize("reader", READERS[:-1])
def test_each_line_of_the_readme_reads_the_rows(snapshot: Path, monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    monkeypatch.chdir(snapshot)
    assert run(lines(README.read_text())[reader]) == len(tables()["published_completions"])


def test_datasets_knows_columns_and_counts_before_it_reads_the_rows(snapshot: Path) -> None:
    """It passes over metadata that it does not understand, with no more than a line in its log."""
    info = datasets.load_dataset_builder(str(snapshot), "completions").info
    assert info.splits["test"].num_examples == len(tables()["published_completions"])
    assert list(info.features) == pq.read_schema(snapshot / "data" / "completions.parquet").names


def test_every_table_with_rows_is_a_configuration(snapshot: Path) -> None:
    """`datasets` fails on one without rows, which is for the other readers."""
    rows = {path.stem: pq.read_metadata(path).num_rows for path in (snapshot / "data").glob("*.parquet")}
    assert rows.keys() == TABLES.keys()
    assert rows["errata"] == 0
    offered = datasets.get_dataset_config_names(str(snapshot))
    assert sorted(offered) == sorted(config for config, number in rows.items() if number)


@pytest.mark.slow
@pytest.mark.parametrize("config", [config for config, name in TABLES.items() if tables().get(name)])
def test_every_configuration_is_read_by_datasets(snapshot: Path, config: str) -> None:
    """Features and counts that the card states are held against the file by the reader itself."""
    rows = datasets.load_dataset(str(snapshot), config, split="test")
    assert rows.num_rows == len(tables()[TABLES[config]])
