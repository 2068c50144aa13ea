"""The card says what is in a snapshot in a form that the Hub, pandas' reader and people can use, whoever wrote the text."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import duckdb
import pyarrow.parquet as pq
import pytest
import yaml
from huggingface_hub import DatasetCardData
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.evaluation import View
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.lake.schema import enum_of, table
from pipeline.snapshots.description.card import card_text
from pipeline.snapshots.description.markdown import cell
from pipeline.snapshots.format.manifest import Entry, read_manifest
from pipeline.snapshots.format.rows import TABLES
from tests.snapshots.lakes import SAME_CODE_FAILS, Tables, configurations, demo_snapshot, survival, tables
from tests.snapshots.markup import HOSTILE, cells


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("card")
    return demo_snapshot(folder)


@pytest.fixture(scope="module")
def card(snapshot: Path) -> str:
    return (snapshot / "README.md").read_text()


def front_matter(card: str) -> dict[str, Any]:
    _, front, _ = card.split("---\n", 2)
    found: dict[str, Any] = yaml.load(front, Loader=yaml.CSafeLoader)
    return found


def files_of(snapshot: Path) -> list[Entry]:
    """The Parquet files of a snapshot."""
    return [entry for entry in read_manifest(snapshot).files if entry.table]


def by_config() -> Tables:
    rows = tables()
    return {config: list(rows.get(name, ())) for config, name in TABLES.items()}


def written(rows: Tables, files: list[Entry]) -> str:
    return card_text(
        "mine", configurations({config: rows.get(name, []) for config, name in TABLES.items()}), files, SAME_CODE_FAILS
    )


def sections(card: str, level: str) -> dict[str, str]:
    """The text below each heading of a level."""
    parts = re.split(rf"^{level} (.+)$", card, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_configuration_has_its_file_and_one_is_the_default(snapshot: Path, card: str) -> None:
    configs = front_matter(card)["configs"]
    assert [config["config_name"] for config in configs] == [config for config, rows in by_config().items() if rows]
    assert [config["config_name"] for config in configs if config.get("default")] == ["completions"]
    assert {config["data_files"][0]["split"] for config in configs} == {"test"}
    assert all((snapshot / config["data_files"][0]["path"]).is_file() for config in configs)


def test_the_front_matter_is_what_the_hub_knows(card: str) -> None:
    front = front_matter(card)
    assert (front["license"], front["license_link"], front["size_categories"]) == ("other", "ATTRIBUTION.md", ["n<1K"])
    known = DatasetCardData(**front)
    assert known.size_categories == ["n<1K"]
    assert set(front) <= set(DatasetCardData().__dict__) | {
        "license_name",
        "license_link",
        "tags",
        "configs",
        "dataset_info",
    }


@pytest.mark.parametrize("config", [config for config, rows in by_config().items() if rows])
def test_the_features_are_those_that_datasets_finds_in_the_file(snapshot: Path, card: str, config: str) -> None:
    (info,) = [info for info in front_matter(card)["dataset_info"] if info["config_name"] == config]
    path = snapshot / "data" / f"{config}.parquet"
    assert info["features"] == datasets.Features.from_arrow_schema(pq.read_schema(path))._to_yaml_list()
    size = path.stat().st_size
    assert info["splits"] == [{"name": "test", "num_bytes": size, "num_examples": pq.read_metadata(path).num_rows}]
    assert info["download_size"] == info["dataset_size"] == size


def test_rows_that_were_taken_back_are_a_split_of_their_configuration(snapshot: Path) -> None:
    """Also the card, which says how many there are."""
    entry = Entry(path="deprecated/completions.parquet", sha256="", bytes=7, table="published_completions", rows=3)
    card = written(tables(), [*files_of(snapshot), entry])
    (config,) = [config for config in front_matter(card)["configs"] if config["config_name"] == "completions"]
    assert config["data_files"] == [
        {"split": "test", "path": "data/completions.parquet"},
        {"split": "deprecated", "path": "deprecated/completions.parquet"},
    ]
    listed = card.partition("### What tells releases apart")[0]
    (line,) = [line for line in listed.splitlines() if line.startswith("| `completions` |")]
    assert [part.strip() for part in cells(line)[1:3]] == [str(len(tables()["published_completions"])), "3"]


def test_rows_that_discriminate_and_reasons_of_the_others_add_up(snapshot: Path) -> None:
    """Also of a snapshot in which no row discriminates."""
    weighed = {f"published_{family}" for family in ("completions", "controlled_completions", "problems", "functions")}
    none = {
        name: [row | {"discriminating": False} for row in rows] for name, rows in tables().items() if name in weighed
    }
    for rows in (tables(), tables() | none):
        told = sections(written(rows, files_of(snapshot)), "###")["What tells releases apart"]
        apart, others = (part.splitlines()[2:] for part in re.split(r"\n\n(?=\|)", told)[1:])
        left = Counter[str]()
        for family, _, number, share in (cells(line) for line in others if line.startswith("|")):
            left[family.strip()] += int(number)
            assert share.strip().endswith("%")
        assert apart
        for family, every, discriminating, *_ in (cells(line) for line in apart if line.startswith("|")):
            assert int(every) == int(discriminating) + left[family.strip()]


def test_the_views_are_explained_and_counted(card: str) -> None:
    told = sections(card, "###")["Views"]
    assert all(f"- `{view}`: {view.meaning}" in told for view in View)
    lines = [[*map(str.strip, cells(line))] for line in told.splitlines() if line.startswith("|")]
    counted = {line[0].strip("`"): line[1:] for line in lines}
    migrations = tables()["published_migrations"]
    times = sorted(f"{row['target_release_time']:%Y-%m-%d}" for row in migrations)
    expected = [str(len(migrations))] * 2 + ["target_release_time", times[0], times[(len(times) - 1) // 2], times[-1]]
    assert counted["migrations"] == expected


def test_licences_of_the_instances_are_counted(card: str) -> None:
    counted = [cells(line) for line in sections(card, "##")["Licences"].splitlines() if line.startswith("| ")][1:]
    assert sum(int(number) for _, number in counted) == sum(
        len(rows) for config, rows in by_config().items() if config in INSTANCE_TABLES
    )


@pytest.mark.parametrize("config", TABLES)
def test_a_line_is_enough_to_load_a_configuration(snapshot: Path, card: str, config: str) -> None:
    path = snapshot / "data" / f"{config}.parquet"
    arrow = pq.read_table(path)
    duck = duckdb.read_parquet(str(path))
    assert arrow.column_names == duck.columns
    assert arrow.num_rows == duck.shape[0]
    assert arrow.num_rows or config == "errata", "a first snapshot has nothing to correct"
    assert f"| `{config}` | {arrow.num_rows} |" in card


@pytest.mark.parametrize("config", TABLES)
def test_every_column_is_explained(card: str, config: str) -> None:
    """Also those inside the structs: `list[parameter]` alone tells nobody what a parameter has."""
    declared = table(TABLES[config])
    lines = sections(card.split("## Vocabularies")[0], "###")[f"`{config}`"].splitlines()
    explained = {cells(line)[0].strip(" `") for line in lines if line.startswith("|")}
    members = {f"{struct}.{member.name}" for struct, group in declared.types.items() for member in group}
    columns = {column.name for column in declared.columns if not column.volatile}
    assert explained & (columns | members) == columns | members


def test_every_vocabulary_in_use_is_explained_value_by_value(card: str) -> None:
    explained = sections(card.split("## Vocabularies")[1], "###")
    for name in TABLES.values():
        declared = table(name)
        for column in [*declared.columns, *(member for group in declared.types.values() for member in group)]:
            if vocabulary := enum_of(column.type.removeprefix("list[").removesuffix("]")):
                lines = explained[vocabulary.__name__].strip().splitlines()
                assert lines == [f"- `{term.value}`: {term.meaning}" for term in vocabulary]


def test_the_canary_of_the_rows_is_in_the_card(snapshot: Path, card: str) -> None:
    (canary,) = set(pq.read_table(snapshot / "data" / "completions.parquet")["canary"].to_pylist())
    assert f"`{canary}`" in card


def test_what_the_documentation_states_is_counted(card: str) -> None:
    assert "| versionadded | agrees | 1 |" in card
    assert "| deprecated | contradicts | 1 |" in card


def test_what_still_passes_of_earlier_snapshots_is_told_where_somebody_looked(snapshot: Path, card: str) -> None:
    assert "| 2020-02 | mine-2020-01-01 | 1 | 1 | 100.0% |  |" in card
    known, files = tables(), files_of(snapshot)
    lost = [survival(f"{at}", survives=False, reason=why) for at, why in enumerate(["flaky", "file_gone", "flaky"])]
    told = written(known | {"survivals": [*known["survivals"], *lost]}, files)
    assert "| 2020-02 | mine-2020-01-01 | 4 | 1 | 25.0% | file gone 1, flaky 2 |" in told
    assert "What still passes" not in written(known | {"survivals": []}, files)


def test_the_refused_are_counted(card: str) -> None:
    assert "| crawl | pre\\_release | 1 |" in card


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_licence_leaves_the_card_as_it_is(snapshot: Path, text: str) -> None:
    known = by_config()
    files = files_of(snapshot)
    plain = card_text("mine", configurations(known), files, SAME_CODE_FAILS)
    known["releases"] = [row | {"licence": text} for row in known["releases"]]
    hostile = card_text("mine", configurations(known), files, SAME_CODE_FAILS)
    assert front_matter(hostile) == front_matter(plain)
    assert sections(hostile, "##").keys() == sections(plain, "##").keys()
    assert len(hostile.splitlines()) == len(plain.splitlines())


def test_what_the_card_says_was_run_names_every_family(card: str) -> None:
    said = sections(card, "#")["Driftline: mine"].split("```python")[0].replace("_", " ")
    assert [family for family in INSTANCE_TABLES if family.replace("_", " ").removesuffix("s") not in said] == []
    assert "every instance ran" not in " ".join(said.split())


def test_directions_and_bases_of_migrations_are_counted(card: str) -> None:
    assert "| direction | old\\_to\\_new | 1 |" in card
    assert "| direction | new\\_to\\_old | 1 |" in card
    assert "| basis | renamed | 2 |" in card


ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}


def shown(markdown: str) -> str:
    """What a reader of Markdown shows of a cell: escapes and entities undone."""
    return re.sub(r"\\(.)|(&\w+;)", lambda m: m[1] or ENTITIES[m[2]], markdown)


@given(st.text(st.characters(codec=None)))
def test_a_cell_is_one_cell_and_shows_what_was_written(text: str) -> None:
    written = cell(text)
    assert len(cells(f"| {written} |")) == 1
    assert written.isprintable()
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]~]|[<>]", written)
    assert shown(written) == "".join(c for c in " ".join(text.split()) if c.isprintable())


@given(st.text("\\|`*_[]<>&~ \n-#a", max_size=12))
def test_a_cell_of_nothing_but_markup(text: str) -> None:
    assert len(cells(f"| {cell(text)} |")) == 1
    assert shown(cell(text)) == " ".join(text.split())


def test_what_a_model_wrote_is_counted_by_model(snapshot: Path) -> None:
    content = by_config()
    assert "were written by the language model" not in card_text(
        "mine", configurations(content), files_of(snapshot), SAME_CODE_FAILS
    )
    content["completions"] = [row | {"model": "claude-haiku-5-5"} for row in content["completions"]]
    said = f"{len(content['completions'])} descriptions were written by the language model claude-haiku-5-5 and checked"
    assert said in card_text("mine", configurations(content), files_of(snapshot), SAME_CODE_FAILS)


def test_families_without_rows_have_no_figures_and_no_configuration(snapshot: Path) -> None:
    name = TABLES["block_completions"]
    files = [entry.model_copy(update={"rows": 0}) if entry.table == name else entry for entry in files_of(snapshot)]
    text = written(tables() | {name: []}, files)
    assert "block_completions" not in sections(text, "###")
    assert "completions" in sections(text, "###")
    before, after = (
        {config["config_name"] for config in front_matter(each)["configs"]}
        for each in (written(tables(), files_of(snapshot)), text)
    )
    assert before - after == {"block_completions"}
