"""The card says what is in a snapshot in a form that the Hub, pandas' reader and people can use, whoever wrote the text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pipeline.lake import Row, table
from pipeline.lake.schema import enum_of
from pipeline.publish import FAMILIES, TABLES
from pipeline.publish.card import attribution_text, card_text, cell
from pipeline.terms import ProjectOutcome, SnippetSource
from tests.instances.rows import snippet
from tests.publish.lakes import fill, publish_lake, tables


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("card")
    return publish_lake(fill(folder / "lake", tables()), folder / "snapshots").path


@pytest.fixture(scope="module")
def card(snapshot: Path) -> str:
    return (snapshot / "README.md").read_text()


def front_matter(card: str) -> dict[str, Any]:
    _, front, _ = card.split("---\n", 2)
    found: dict[str, Any] = yaml.safe_load(front)
    return found


def sections(card: str, level: str) -> dict[str, str]:
    """The text below each heading of a level."""
    parts = re.split(rf"^{level} (.+)$", card, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def cells(line: str) -> list[str]:
    """The cells of a line of a table, as a reader of Markdown splits them (GitHub Flavored Markdown, 4.10)."""
    return re.split(r"(?<!\\)(?:\\\\)*\|", line.strip())[1:-1]


def test_every_configuration_has_its_file_and_one_is_the_default(snapshot: Path, card: str) -> None:
    configs = front_matter(card)["configs"]
    assert [config["config_name"] for config in configs] == list(TABLES)
    assert [config["config_name"] for config in configs if config.get("default")] == ["completions"]
    assert all((snapshot / config["data_files"]).is_file() for config in configs)


def test_the_front_matter_is_what_the_hub_knows(card: str) -> None:
    front = front_matter(card)
    assert (front["license"], front["language"], front["size_categories"]) == ("other", ["code"], ["n<1K"])


@pytest.mark.parametrize("config", TABLES)
def test_a_line_is_enough_to_load_a_configuration(snapshot: Path, card: str, config: str) -> None:
    path = snapshot / "data" / f"{config}.parquet"
    arrow = pq.read_table(path)
    duck = duckdb.read_parquet(str(path))
    assert arrow.column_names == duck.columns
    assert arrow.num_rows == duck.shape[0] > 0
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


def test_the_refused_are_counted(card: str) -> None:
    assert "| crawl | pre\\_release | 1 |" in card


def release(**columns: Any) -> Row:
    return tables()["releases"][0] | columns


HOSTILE = [
    "a | b",
    "two\nlines\r\nand\u2028three",
    "---",
    "\n---\nlicense: mit\n---\n",
    "`code` and ``more``",
    "<script>alert(1)</script>",
    "&lt;b&gt;",
    "[text](javascript:alert) ![image](x)",
    "\\| \\\\| \\",
    "**bold** __bold__ ~~gone~~",
    "# heading",
    "\x00\x1b[31mred\x07",
    "\u202eeht fo esnecil",
    "{{ 1 + 1 }} {% raw %}",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("column", ["attribution", "licence", "licence_stated", "artifact"])
def test_what_strangers_wrote_stays_in_its_cell(text: str, column: str) -> None:
    before = attribution_text([release()], [], []).splitlines()
    after = attribution_text([release(**{column: text})], [], []).splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == 1
    old, new = (cells(line) for line in changed[0])
    assert len(old) == len(new) == 6
    assert sum(a != b for a, b in zip(old, new, strict=True)) == 1
    assert "<" not in "".join(new)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_licence_leaves_the_card_as_it_is(text: str) -> None:
    known = {config: tables()[name] for config, name in TABLES.items()}
    plain = card_text("mine", known, TABLES)
    known["releases"] = [row | {"licence": text} for row in known["releases"]]
    hostile = card_text("mine", known, TABLES)
    assert front_matter(hostile) == front_matter(plain)
    assert sections(hostile, "##").keys() == sections(plain, "##").keys()
    assert len(hostile.splitlines()) == len(plain.splitlines())


def test_releases_are_named_library_by_library_in_order_of_time() -> None:
    known = tables()["releases"]
    rows = [release(library="a", purl="pkg:pypi/a@9"), *reversed(known), release(library="z", purl="pkg:pypi/z@0")]
    names = [cells(line)[0].strip() for line in attribution_text(rows, [], []).splitlines() if "pkg:" in line]
    assert names == ["pkg:pypi/a@9", *(row["purl"] for row in known), "pkg:pypi/z@0"]


@pytest.mark.parametrize("text", HOSTILE)
def test_code_of_others_is_named_once_for_each_place(text: str) -> None:
    post = snippet("x = 1\n", "", "1.0", source=SnippetSource.STACK_OVERFLOW, licence="CC-BY-SA-4.0") | {
        "place": "1/2",
        "url": "https://example.org/a/2",
        "attribution": text,
    }
    lines = attribution_text([release()], [post, post | {"id": "other"}, snippet("y", "lib.y", "1.0")], []).splitlines()
    (line,) = lines[lines.index("## Code of others") + 4 :]
    assert [part.strip() for part in cells(line)[:3]] == ["1/2", "https://example.org/a/2", "CC-BY-SA-4.0"]
    assert "<" not in line
    assert "Code of others" not in attribution_text([release()], [snippet("y", "lib.y", "1.0")], [])


def test_projects_are_named_unless_they_are_releases_of_the_library() -> None:
    """Scenes and repository tasks quote dependents too, which are in no row of `releases`."""
    (project,) = tables()["projects"]
    refused = project | {"purl": "pkg:pypi/closed@1.0", "outcome": ProjectOutcome.LICENCE}
    lines = attribution_text([release()], [], [project, project | {"purl": release()["purl"]}, refused]).splitlines()
    (line,) = lines[lines.index("## Code of others") + 4 :]
    assert [part.strip() for part in cells(line)[:3]] == ["pkg:pypi/shop@1.0", "", "MIT"]


def test_what_the_card_says_was_run_names_every_family(card: str) -> None:
    said = sections(card, "#")["Driftline: mine"].split("```python")[0].replace("_", " ")
    assert [family for family in FAMILIES if family.replace("_", " ").removesuffix("s") not in said] == []
    assert "every instance ran" not in " ".join(said.split())


def test_directions_and_bases_of_migrations_are_counted(card: str) -> None:
    assert "| direction | old\\_to\\_new | 1 |" in card
    assert "| direction | new\\_to\\_old | 1 |" in card
    assert "| basis | renamed | 2 |" in card


def test_an_unknown_licence_is_called_unknown() -> None:
    text = attribution_text([release(licence=None, licence_stated=None, attribution=None)], [], [])
    assert "| unknown |  | unknown |" in text


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


def test_what_a_model_wrote_is_counted_by_model() -> None:
    content = {config: list(tables()[name]) for config, name in TABLES.items()}
    assert "were written by the language model" not in card_text("mine", content, TABLES)
    content["completions"] = [row | {"model": "claude-haiku-5-5"} for row in content["completions"]]
    said = f"{len(content['completions'])} descriptions were written by the language model claude-haiku-5-5 and checked"
    assert said in card_text("mine", content, TABLES)
