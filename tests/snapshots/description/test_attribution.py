"""Everybody whose work is quoted is named, once, with licence and address, whatever they call themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pipeline.core.vocabularies.projects import ProjectOutcome
from pipeline.core.vocabularies.samples import DocumentSource, SnippetSource
from pipeline.snapshots.description.attribution import Source, attribution_text, licences, unnamed
from pipeline.snapshots.format.rows import TABLES
from tests.families.completions_and_migrations.rows import snippet
from tests.snapshots.lakes import configurations, demo_snapshot, tables
from tests.snapshots.markup import HOSTILE, cells

POST = {"place": "1/2", "url": "https://example.org/a/2", "attribution": "Ada, https://example.org/users/1"}


def release(**columns: Any) -> Any:
    return tables()["releases"][0] | columns


def written(releases: Sequence[Any] | None = None, **more: Sequence[Any]) -> str:
    rows: Mapping[str, Sequence[Any]] = {"snippets": [], "projects": [], **more}
    return attribution_text(configurations({"releases": [release()] if releases is None else releases, **rows}))


def section(text: str, heading: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    lines = text.partition(f"## {heading}\n")[2].partition("\n## ")[0].splitlines()
    return [[part.strip() for part in cells(line)] for line in lines if line.startswith("| ")][1:]


def post(**columns: Any) -> Any:
    row = snippet("x = 1\n", "", "1.0", source=SnippetSource.STACK_OVERFLOW, licence="CC-BY-SA-4.0")
    return row | POST | columns


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("column", ["attribution", "licence", "licence_stated", "artifact"])
def test_what_strangers_wrote_stays_in_its_cell(text: str, column: str) -> None:
    before, after = (section(written([row]), "Releases") for row in (release(), release(**{column: text})))
    (old,), (new,) = before, after
    assert len(old) == len(new) == 6
    assert sum(a != b for a, b in zip(old, new, strict=True)) == 1
    assert "<" not in "".join(new)


def test_releases_are_named_library_by_library_in_order_of_time() -> None:
    known = tables()["releases"]
    rows = [release(library="a", purl="pkg:pypi/a@9"), *reversed(known), release(library="z", purl="pkg:pypi/z@0")]
    names = [line[0] for line in section(written(rows), "Releases")]
    assert names == ["pkg:pypi/a@9", *(row["purl"] for row in known), "pkg:pypi/z@0"]


@pytest.mark.parametrize("text", HOSTILE)
def test_code_of_others_is_named_once_for_each_place(text: str) -> None:
    quoted = post(attribution=text)
    file = written(snippets=[quoted, quoted | {"id": "other"}, snippet("y", "lib.y", "1.0")])
    (line,) = section(file, "Code of others")
    assert line[:3] == ["1/2", "https://example.org/a/2", "CC-BY-SA-4.0"]
    assert "<" not in "".join(line)
    assert "Code of others" not in written(snippets=[snippet("y", "lib.y", "1.0")])


def test_projects_are_named_unless_they_are_releases_of_the_library() -> None:
    """Scenes and repository tasks quote dependents too, which are in no row of `releases`."""
    (project,) = tables()["projects"]
    refused = project | {"purl": "pkg:pypi/closed@1.0", "outcome": ProjectOutcome.LICENCE}
    same = project | {column: release()[column] for column in ("purl", "licence", "attribution")}
    (line,) = section(written(projects=[project, same, refused]), "Code of others")
    assert line[:3] == ["pkg:pypi/shop@1.0", "", "MIT"]


def test_a_row_that_was_taken_back_is_still_attributed() -> None:
    """Its snippet is no longer in the lake, but the row stands in the split `deprecated`."""
    completion = tables()["published_completions"][0] | {"purl": None, "licence": "CC-BY-SA-4.0"}
    old = completion | {"url": "https://example.org/a/9", "origin": "stack_overflow:9", "attribution": "Bob"}
    (line,) = section(written(completions=[old]), "Code of others")
    assert line == ["stack\\_overflow:9", "https://example.org/a/9", "CC-BY-SA-4.0", "Bob"]
    assert section(written(snippets=[post()], completions=[old | POST]), "Code of others") == section(
        written(snippets=[post()]), "Code of others"
    )


def test_quoted_pages_of_documentation_are_named() -> None:
    (document,) = tables()["api_documents"]
    page = document | {"source": DocumentSource.SITE, "url": "https://lib.example/1.0/api.html#lib.fetch"}
    shown = section(written(api_documents=[document, page, page]), "Pages of documentation")
    assert shown == [["lib", "https://lib.example/1.0/api.html"]]


def test_an_unknown_licence_is_called_unknown() -> None:
    text = written([release(licence=None, licence_stated=None, attribution=None)])
    assert "| unknown |  | unknown |" in text


@pytest.mark.parametrize(
    ("stated", "named"),
    [
        ("MIT", ["MIT"]),
        ("MIT OR Apache-2.0", ["Apache-2.0", "MIT"]),
        ("(BSD-3-Clause AND MIT) OR GPL-2.0-only WITH Classpath-exception-2.0", ["BSD-3-Clause", "Classpath-exception-2.0", "GPL-2.0-only", "MIT"]),
        ("CC-BY-SA-4.0", ["CC-BY-SA-4.0"]),
        ("free as in beer", []),
        ("<script>", []),
        (None, []),
    ],
)  # fmt: skip
def test_licences_are_those_of_the_expression(stated: str | None, named: list[str]) -> None:
    assert [name for name, _ in licences([stated])] == named
    assert all(page == f"https://spdx.org/licenses/{name}.html" for name, page in licences([stated]))


def test_a_licence_of_nobody_else_has_no_page() -> None:
    assert licences(["LicenseRef-Public-Domain"]) == [("LicenseRef-Public-Domain", "")]


def sources(snapshot: Path) -> set[Source]:
    """What all rows of a snapshot say of their sources."""
    found: set[Source] = set()
    for path in sorted(snapshot.glob("*/*.parquet")):
        if "attribution" in (names := pq.read_schema(path).names):
            wanted = [name for name in ("purl", "url", "licence", "attribution") if name in names]
            rows = pq.read_table(path, columns=wanted).to_pylist()
            found |= {Source(**{"purl": None, "url": None} | row) for row in rows}
    return found


def test_every_source_of_a_snapshot_is_named(tmp_path: Path) -> None:
    snapshot = demo_snapshot(tmp_path)
    text = (snapshot / "ATTRIBUTION.md").read_text()
    found = sources(snapshot)
    assert len(found) > 2
    assert unnamed(text, found) == []
    assert len(TABLES) > len(found) > 0


@pytest.mark.parametrize(
    "gone", [{"licence": "MIT"}, {"attribution": "Bob"}, {"url": "https://example.org/a/3"}, {"purl": "pkg:pypi/x@1", "url": None}]
)  # fmt: skip
def test_a_source_that_is_not_named_is_told(gone: dict[str, str | None]) -> None:
    text = written(snippets=[post()])
    known = Source(purl=None, url=POST["url"], licence="CC-BY-SA-4.0", attribution=POST["attribution"])
    other = Source(
        **{"purl": None, "url": known.url, "licence": known.licence, "attribution": known.attribution} | gone
    )
    assert unnamed(text, [known, other]) == [other]


@pytest.mark.parametrize("name", HOSTILE)
def test_whoever_has_a_strange_name_is_found_too(name: str) -> None:
    known = Source(purl=None, url=POST["url"], licence="CC-BY-SA-4.0", attribution=name)
    assert unnamed(written(snippets=[post(attribution=name)]), [known]) == []
