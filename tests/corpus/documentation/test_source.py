"""The documentation sites of a library as a source, from a folder and from a server."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import SnippetSource, VersionEvidence
from pipeline.corpus.code_source import CodeSample, CodeSource
from pipeline.corpus.documentation.rules import SiteRule
from pipeline.corpus.documentation.sites import sites_stage
from pipeline.index.release_selection import Period
from pipeline.lake.schema import table
from tests.corpus.documentation.builders import (
    API,
    FIRST,
    GUIDE,
    RELEASES,
    find_samples,
    folder,
    listing,
    put_site,
    reasons,
    source,
    version,
)
from tests.corpus.documentation.site_server import Pages
from tests.errors import raises


def test_it_is_a_source_of_code(tmp_path: Path) -> None:
    plug: CodeSource = source(tmp_path)
    assert plug.name is SnippetSource.DOCUMENTATION
    assert "names no site" in (plug.unavailable() or "")


def test_a_folder_as_site(tmp_path: Path) -> None:
    root = folder(tmp_path / "1.0")
    address = {"address": f"file://{tmp_path}/{{version}}", "public_address": "https://bag.example/{series}"}
    plug = source(tmp_path, address)
    assert plug.unavailable() is None
    got = find_samples(plug, Period(until=RELEASES[1]["release_time"]))
    first, second, third = (item for item in got if isinstance(item, CodeSample))
    assert [(item.title, item.file, item.text) for item in (first, second, third)] == [
        ("bag.f", "api.html", ">>> f(1)\n1\n\n>>> f(2)\n"),
        ("bag.f.member", "api.html", "member()\n"),
        ("Start", "guide.html", "import bag\nbag.f(1)\n"),
    ]
    lines = [line for line, text in enumerate(API.splitlines(), 1) if "<pre" in text]
    assert (first.line, second.line, third.line) == (lines[1], lines[-1], 1)
    assert (first.version, first.version_evidence, first.licence, first.attribution, first.created_time) == (
        "1.0", VersionEvidence.RELEASE_ARTIFACT, "MIT", "Ada", RELEASES[0]["release_time"],
    )  # fmt: skip
    assert (first.url, first.origin) == ("https://bag.example/1.0/api.html#bag.f", "documentation:bag")
    assert str(root) not in repr(got)


def test_documents_and_rejects_add_up_to_the_inventory(tmp_path: Path) -> None:
    folder(tmp_path / "site")
    plug = source(tmp_path, {"address": f"file://{tmp_path}/site", "version": "1.0"})
    output = sites_stage("bag", {"releases": RELEASES, "site_documents": []}, plug, Period())
    rows = output.tables["site_documents"]
    for row in rows:
        table("site_documents").check(row)
    assert [(row["path"], row["first_version"], row["last_version"], row["url"]) for row in rows] == [
        ("bag.f", "1.0", "1.0", "api.html#bag.f"), ("bag.f.member", "1.0", "1.0", "api.html#bag.f.member"),
    ]  # fmt: skip
    assert (output.units_in, output.units_out, output.reasons) == (
        5,
        2,
        {"duplicate": 1, "out_of_scope": 1, "vanished": 1},
    )
    assert sites_stage("bag", {"releases": RELEASES, "site_documents": rows}, plug, Period()).tables == output.tables


def test_stored_rows_stay(tmp_path: Path) -> None:
    folder(tmp_path / "1.0")
    folder(tmp_path / "1.1", number="1.1")
    plug = source(tmp_path, {"address": f"file://{tmp_path}/{{version}}"})
    first = sites_stage(
        "bag", {"releases": RELEASES, "site_documents": []}, plug, Period(until=RELEASES[1]["release_time"])
    )
    second = sites_stage(
        "bag",
        {"releases": RELEASES, "site_documents": first.tables["site_documents"]},
        plug,
        Period(since=RELEASES[1]["release_time"]),
    )
    assert Counter(row["first_version"] for row in second.tables["site_documents"]) == {"1.0": 2, "1.1": 2}
    assert second.reasons["vanished"] == 2, "a page of 1.1 lacks an API, and 2.0 has no site"


def test_versions_of_read_the_docs(tmp_path: Path, pages: Pages) -> None:
    at = f"{pages.url}/en"
    versions = [
        version("latest", type="branch", urls={"documentation": f"{at}/latest/"}),
        version("stable", ref="2.0", urls={"documentation": f"{at}/2.0/"}),
        version("v2.0", urls={"documentation": f"{at}/2.0/"}),
        version("v1.0", urls={"documentation": f"{at}/1.0/"}),
        version("v0.1", urls={"documentation": f"{at}/0.1/"}),
        version("1.x", type="branch", urls={"documentation": f"{at}/1.x/"}),
    ]
    pages.put_json(FIRST, listing(*versions))
    put_site(pages, "/en/2.0/", "1.9.0")
    put_site(pages, "/en/1.x/", "1.1")
    plug = source(tmp_path, {"read_the_docs": "bag"}, api=f"{pages.url}/api/v3")
    assert plug.unavailable() is None
    got = find_samples(plug)
    assert Counter(item.version for item in got if isinstance(item, CodeSample)) == {"1.0": 3, "1.1": 3}
    assert {item.version_statement for item in got if isinstance(item, CodeSample)} == {
        "Read the Docs: branch 1.x of bag", "Read the Docs: tag v1.0 of bag",
    }  # fmt: skip
    assert reasons(got) == {
        RejectReason.VERSION_UNKNOWN: 3, RejectReason.VERSION_NOT_COVERED: 1,
    }  # fmt: skip


def test_a_site_that_moved_is_followed(tmp_path: Path, pages: Pages) -> None:
    pages.put("/old/objects.inv", b"", 301, Location=f"{pages.url}/en/1.0/objects.inv")
    got = find_samples(source(tmp_path, {"address": f"{pages.url}/old", "version": "1.0"}))
    assert next(item.place for item in got if isinstance(item, CodeSample)) == f"{pages.url}/en/1.0/api.html"


def test_a_page_is_fetched_and_read_once(tmp_path: Path, pages: Pages) -> None:
    site = {"address": f"{pages.url}/en/1.0", "version": "1.0"}
    first = find_samples(source(tmp_path, site))
    rows = list(source(tmp_path, site).documents("bag", RELEASES, Period()))
    assert find_samples(source(tmp_path, site)) == first
    assert len(rows) == 5
    assert (pages.requests["/en/1.0/api.html"], pages.requests["/en/1.0/objects.inv"]) == (1, 3)


def test_reading_goes_on_where_it_was_killed(tmp_path: Path, pages: Pages) -> None:
    site = {"address": f"{pages.url}/en/1.0", "version": "1.0"}
    first = find_samples(source(tmp_path, site))
    (cached,) = (tmp_path / "cache").iterdir()
    cached.write_bytes(cached.read_bytes()[:-20])
    assert find_samples(source(tmp_path, site)) == first
    assert (pages.requests["/en/1.0/api.html"], pages.requests["/en/1.0/guide.html"]) == (1, 2)


def test_mkdocs_without_an_inventory(tmp_path: Path) -> None:
    root = tmp_path / "site"
    (root / "search").mkdir(parents=True)
    (root / "guide").mkdir()
    (root / "guide" / "index.html").write_text(GUIDE)
    docs = '{"docs": [{"location": "guide/", "text": ""}, {"location": "guide/#start"}, {"location": "changelog/"}, 7]}'
    (root / "search" / "search_index.json").write_text(docs)
    got = find_samples(source(tmp_path, {"address": f"file://{root}", "version": "1.0"}))
    assert [(item.file, item.url) for item in got if isinstance(item, CodeSample)] == [("guide/", "guide/#start")]
    (root / "search" / "search_index.json").write_text("<html>")
    got = find_samples(source(tmp_path, {"address": f"file://{root}", "version": "1.0"}))
    assert reasons(got) == {RejectReason.BAD_ANSWER: 1}


WRONG = [
    ({}, "read_the_docs"),
    ({"read_the_docs": "bag", "address": "https://bag.example/"}, "read_the_docs"),
    ({"address": "bag.example"}, "pattern"),
    ({"address": "https://bag.example/", "version": "newest"}, "newest"),
    (
        {"address": "file:///bag", "public_address": "https://bag.example/{version}/"},
        "public_address",
    ),
]


@pytest.mark.parametrize(("site", "name"), WRONG)
def test_sites_that_cannot_be_meant(site: dict[str, str], name: str) -> None:
    with raises(ValueError, name):
        SiteRule(library="bag", **site)
