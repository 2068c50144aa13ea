"""The documentation sites of a library as a source, from a folder and from a server, with what goes wrong on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.crawl import CodeSource, Fetcher, Found, Period, Unreachable
from pipeline.crawl.documentation.rules import DocumentationRules, SiteRule
from pipeline.crawl.documentation.sites import sites_stage
from pipeline.crawl.documentation.source import Documentation
from pipeline.lake import Reject, Row, table
from pipeline.rules import RULES, load
from pipeline.terms import RejectReason, SnippetSource, VersionEvidence
from tests.crawl.documentation.site_server import Pages, inventory, served
from tests.crawl.documentation.test_read_the_docs import FIRST, listing, version
from tests.crawl.documentation.test_sphinx_pages import NEW, NUMPYDOC, rules

API = NEW.replace("FIELDS", NUMPYDOC)
GUIDE = '<main><section id="start"><h1>Start</h1><div class="highlight-python"><pre>import bag\nbag.f(1)\n</pre></div></section></main>'
ENTRIES = [
    "bag.f py:function 1 api.html#$ -",
    "bag.f.member py:method 1 api.html#$ -",
    "bag.gone py:function 1 api.html#$ -",
    "bag._core.f py:function -1 api.html#bag.f -",
    "other.g py:function 1 api.html#$ -",
    "guide std:doc -1 guide.html Start",
    "changes std:doc -1 changes.html Changes",
]


def release(number: str, day: int = 1) -> Row:
    return {
        "library": "bag", "version": number, "release_time": datetime(2024, 1, day, tzinfo=UTC), "import_names": ["bag"],
        "licence": "MIT", "attribution": "Ada", "purl": f"pkg:pypi/bag@{number}",
    }  # fmt: skip


RELEASES = [release("1.0", 1), release("1.1", 2), release("2.0", 3)]


def source(
    tmp_path: Path, *sites: dict[str, Any], api: str = "http://127.0.0.1:9/api/v3", **limits: int
) -> Documentation:
    kept = load(RULES / "documentation.yaml", DocumentationRules)
    told = kept.model_copy(
        update={
            "sites": tuple(SiteRule(**{"library": "bag", **site}) for site in sites),
            "limits": kept.limits.model_copy(update=limits),
        }
    )
    fetcher = Fetcher(timeout_s=5, retries=0)
    return Documentation.of(fetcher, told, rules(), tmp_path / "cache", api)


def folder(root: Path, entries: list[str] = ENTRIES, number: str = "1.0", **pages: str | bytes) -> Path:
    root.mkdir(parents=True)
    (root / "objects.inv").write_bytes(inventory(entries, number))
    for name, content in ({"api": API, "guide": GUIDE, "changes": GUIDE} | pages).items():
        (root / f"{name}.html").write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def found(documentation: Documentation, period: Period | None = None) -> list[Found | Reject]:
    return list(documentation.find("bag", RELEASES, period or Period()))


def reasons(things: list[Any]) -> Counter[RejectReason]:
    return Counter(thing.reason for thing in things if isinstance(thing, Reject))


@pytest.fixture
def pages() -> Iterator[Pages]:
    """A server with the site of 1.0 at /en/1.0/."""
    with served() as pages:
        put_site(pages, "/en/1.0/")
        yield pages


def put_site(pages: Pages, at: str, number: str = "1.0") -> None:
    pages.put(f"{at}objects.inv", inventory(ENTRIES, number), Content_Type="application/octet-stream")
    pages.put(f"{at}api.html", API)
    pages.put(f"{at}guide.html", GUIDE)


def test_it_is_a_source_of_code(tmp_path: Path) -> None:
    plug: CodeSource = source(tmp_path)
    assert plug.name is SnippetSource.DOCUMENTATION
    assert "names no site" in (plug.left_out() or "")


def test_a_folder_as_site(tmp_path: Path) -> None:
    root = folder(tmp_path / "1.0")
    address = {"address": f"file://{tmp_path}/{{version}}", "shown_at": "https://bag.example/{series}"}
    plug = source(tmp_path, address)
    assert plug.left_out() is None
    got = found(plug, Period(until=RELEASES[1]["release_time"]))
    first, second, third = (one for one in got if isinstance(one, Found))
    assert [(one.title, one.file, one.text) for one in (first, second, third)] == [
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


def test_documents_and_what_is_refused_add_up_to_the_inventory(tmp_path: Path) -> None:
    folder(tmp_path / "site")
    plug = source(tmp_path, {"address": f"file://{tmp_path}/site", "version": "1.0"})
    output = sites_stage("bag", RELEASES, [], plug, Period())
    rows = output.tables["site_documents"]
    for row in rows:
        table("site_documents").check(row)
    assert [(row["path"], row["first_version"], row["last_version"], row["url"]) for row in rows] == [
        ("bag.f", "1.0", "1.0", "api.html#bag.f"), ("bag.f.member", "1.0", "1.0", "api.html#bag.f.member"),
    ]  # fmt: skip
    assert (output.seen, output.made, output.reasons) == (5, 2, {"duplicate": 1, "out_of_scope": 1, "vanished": 1})
    assert sites_stage("bag", RELEASES, rows, plug, Period()).tables == output.tables


def test_what_was_known_stays(tmp_path: Path) -> None:
    folder(tmp_path / "1.0")
    folder(tmp_path / "1.1", number="1.1")
    plug = source(tmp_path, {"address": f"file://{tmp_path}/{{version}}"})
    first = sites_stage("bag", RELEASES, [], plug, Period(until=RELEASES[1]["release_time"]))
    second = sites_stage(
        "bag", RELEASES, first.tables["site_documents"], plug, Period(since=RELEASES[1]["release_time"])
    )
    assert Counter(row["first_version"] for row in second.tables["site_documents"]) == {"1.0": 2, "1.1": 2}
    assert second.reasons["vanished"] == 2, "a page of 1.1 lacks an API, and 2.0 has no site"


def test_versions_of_read_the_docs(tmp_path: Path, pages: Pages) -> None:
    at = f"{pages.url}/en"
    told = [
        version("latest", type="branch", urls={"documentation": f"{at}/latest/"}),
        version("stable", ref="2.0", urls={"documentation": f"{at}/2.0/"}),
        version("v2.0", urls={"documentation": f"{at}/2.0/"}),
        version("v1.0", urls={"documentation": f"{at}/1.0/"}),
        version("v0.1", urls={"documentation": f"{at}/0.1/"}),
        version("1.x", type="branch", urls={"documentation": f"{at}/1.x/"}),
    ]
    pages.put_json(FIRST, listing(*told))
    put_site(pages, "/en/2.0/", "1.9.0")
    put_site(pages, "/en/1.x/", "1.1")
    plug = source(tmp_path, {"read_the_docs": "bag"}, api=f"{pages.url}/api/v3")
    assert plug.left_out() is None
    got = found(plug)
    assert Counter(one.version for one in got if isinstance(one, Found)) == {"1.0": 3, "1.1": 3}
    assert {one.stated for one in got if isinstance(one, Found)} == {
        "Read the Docs: branch 1.x of bag", "Read the Docs: tag v1.0 of bag",
    }  # fmt: skip
    assert reasons(got) == {
        RejectReason.VERSION_UNKNOWN: 3, RejectReason.VERSION_NOT_COVERED: 1,
    }  # fmt: skip


INVENTORIES = [
    (b"<!DOCTYPE html><title>Not Found</title>", 200, RejectReason.BAD_ANSWER),
    (b"", 200, RejectReason.BAD_ANSWER),
    (b"gone", 410, RejectReason.VANISHED),
    (b"no", 403, RejectReason.BAD_ANSWER),
    (inventory(ENTRIES)[:100], 200, None),
]


@pytest.mark.parametrize(("body", "status", "reason"), INVENTORIES)
def test_inventories_that_are_none(
    tmp_path: Path, pages: Pages, body: bytes, status: int, reason: RejectReason | None
) -> None:
    pages.put("/en/1.1/objects.inv", body, status)
    plug = source(tmp_path, {"address": f"{pages.url}/en/{{version}}/"})
    output = sites_stage("bag", RELEASES, [], plug, Period(until=RELEASES[2]["release_time"]))
    assert len(output.tables["site_documents"]) == 2, "the site of 1.0 is read all the same"
    bad = {**output.reasons, "out_of_scope": 0, "duplicate": 0}
    assert bad.get(reason or RejectReason.VERSION_UNKNOWN, 0) >= 1 if reason else bad["bad_answer"] == 1


def test_an_inventory_that_breaks_off_gives_what_came_before(tmp_path: Path) -> None:
    many = [f"bag.f{number} py:function 1 p{number * 7919 % 9973}.html#$ -" for number in range(20_000)]
    root = folder(tmp_path / "site")
    (root / "objects.inv").write_bytes(inventory([*ENTRIES, *many])[:-3000])
    plug = source(tmp_path, {"address": f"file://{root}", "version": "1.0"}, max_pages=2)
    output = sites_stage("bag", RELEASES, [], plug, Period())
    assert [row["path"] for row in output.tables["site_documents"]] == ["bag.f", "bag.f.member"]
    details = [reject.detail for reject in output.rejects if reject.reason is RejectReason.BAD_ANSWER]
    assert details == ["objects.inv: breaks off: its zlib stream has no end"]
    assert output.reasons["too_large"] > 1000, "the pages beyond the limit"


def test_pages_that_are_missing_broken_huge_or_elsewhere(tmp_path: Path, pages: Pages) -> None:
    names = ["api", "gone", "huge", "endless", "away", "loop", "silent", "broken", "forbidden"]
    entries = [f"bag.{name} py:function 1 {name}.html#bag.f -" for name in names]
    entries += [
        "bag.outside py:function 1 ../../etc/passwd#$ -",
        "bag.absolute py:function 1 https://bag.example/x.html#$ -",
    ]
    at = "/en/1.0"
    pages.put(f"{at}/objects.inv", inventory(entries))
    pages.put(f"{at}/huge.html", b"x", Content_Length=str(2 << 30))
    pages.put(f"{at}/endless.html", b"x" * (1 << 17))
    pages.put(f"{at}/away.html", b"", 302, Location=f"{pages.url}/login")
    pages.put("/login", "<html>Log in</html>")
    pages.put(f"{at}/loop.html", b"", 302, Location=f"{pages.url}{at}/loop.html")
    pages.put(f"{at}/silent.html", b"")
    pages.faults[f"{at}/silent.html"] = [503] * 9
    pages.put(f"{at}/broken.html", API[:-900].replace("</dd>", "").replace("</p>", "<b>"))
    pages.put(f"{at}/forbidden.html", b"no", 403)
    plug = source(tmp_path, {"address": f"{pages.url}{at}/", "version": "1.0"}, max_page_bytes=1 << 16)
    got = list(plug.documents("bag", RELEASES, Period()))
    assert sorted(row["path"] for row in got if not isinstance(row, Reject)) == ["bag.api", "bag.broken"]
    refused = {one.key.split()[-1]: one.reason for one in got if isinstance(one, Reject)}
    assert refused == {
        "bag.gone": RejectReason.VANISHED,
        "bag.huge": RejectReason.TOO_LARGE,
        "bag.endless": RejectReason.TOO_LARGE,
        "bag.away": RejectReason.OUT_OF_SCOPE,
        "bag.loop": RejectReason.SOURCE_UNREACHABLE,
        "bag.silent": RejectReason.SOURCE_UNREACHABLE,
        "bag.forbidden": RejectReason.BAD_ANSWER,
        "bag.outside": RejectReason.OUT_OF_SCOPE,
        "bag.absolute": RejectReason.OUT_OF_SCOPE,
    }


def test_pages_of_a_folder_that_lead_out_or_are_huge(tmp_path: Path) -> None:
    names = ["../secret", "link", "huge", "folder", "api"]
    root = folder(tmp_path / "site", [f"bag.f{n} py:function 1 {name}.html#bag.f -" for n, name in enumerate(names)])
    (tmp_path / "secret.html").write_text(API)
    (root / "link.html").symlink_to(tmp_path / "secret.html")
    with (root / "huge.html").open("wb") as file:
        file.truncate(2 << 30)
    (root / "folder.html").mkdir()
    got = list(source(tmp_path, {"address": f"file://{root}", "version": "1.0"}).documents("bag", RELEASES, Period()))
    assert {one.key.split()[-1]: one.reason for one in got if isinstance(one, Reject)} == {
        "bag.f0": RejectReason.OUT_OF_SCOPE, "bag.f1": RejectReason.OUT_OF_SCOPE,
        "bag.f2": RejectReason.TOO_LARGE, "bag.f3": RejectReason.VANISHED,
    }  # fmt: skip
    assert [row["path"] for row in got if not isinstance(row, Reject)] == ["bag.f4"]


def test_a_site_that_moved_is_followed(tmp_path: Path, pages: Pages) -> None:
    pages.put("/old/objects.inv", b"", 301, Location=f"{pages.url}/en/1.0/objects.inv")
    got = found(source(tmp_path, {"address": f"{pages.url}/old", "version": "1.0"}))
    assert next(one.place for one in got if isinstance(one, Found)) == f"{pages.url}/en/1.0/api.html"


def test_a_page_is_fetched_and_read_once(tmp_path: Path, pages: Pages) -> None:
    site = {"address": f"{pages.url}/en/1.0", "version": "1.0"}
    first = found(source(tmp_path, site))
    rows = list(source(tmp_path, site).documents("bag", RELEASES, Period()))
    assert found(source(tmp_path, site)) == first
    assert len(rows) == 5
    assert (pages.requests["/en/1.0/api.html"], pages.requests["/en/1.0/objects.inv"]) == (1, 3)


def test_reading_goes_on_where_it_was_killed(tmp_path: Path, pages: Pages) -> None:
    site = {"address": f"{pages.url}/en/1.0", "version": "1.0"}
    first = found(source(tmp_path, site))
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_bytes(kept.read_bytes()[:-20])
    assert found(source(tmp_path, site)) == first
    assert (pages.requests["/en/1.0/api.html"], pages.requests["/en/1.0/guide.html"]) == (1, 2)


def test_a_site_that_stops_answering_is_left(tmp_path: Path, pages: Pages) -> None:
    entries = [f"bag.f{number} py:function 1 p{number}.html#bag.f -" for number in range(9)]
    pages.put("/en/1.0/objects.inv", inventory(entries))
    for number in range(9):
        pages.put(f"/en/1.0/p{number}.html", API)
        pages.faults[f"/en/1.0/p{number}.html"] = [] if number in (0, 2) else [503] * 9
    plug = source(tmp_path, {"address": f"{pages.url}/en/1.0", "version": "1.0"})
    output = sites_stage("bag", RELEASES, [], plug, Period())
    assert [row["path"] for row in output.tables["site_documents"]] == ["bag.f0", "bag.f2"]
    assert [note.reason for note in output.notes] == [RejectReason.SOURCE_UNREACHABLE]
    pages.faults.clear()
    again = sites_stage("bag", RELEASES, [], plug, Period())
    assert len(again.tables["site_documents"]) == 9
    assert pages.requests["/en/1.0/p0.html"] == 1


def test_hosts_out_of_reach(tmp_path: Path) -> None:
    away = "http://127.0.0.1:9"
    plug = source(tmp_path, {"read_the_docs": "bag"}, api=f"{away}/api/v3")
    assert "no way to" in (plug.left_out() or "")
    output = sites_stage("bag", RELEASES, [], plug, Period())
    assert (output.seen, [note.reason for note in output.notes]) == (0, [RejectReason.SOURCE_LEFT_OUT])
    several = source(tmp_path, {"address": f"{away}/{{version}}/"})
    with pytest.raises(Unreachable, match="3 documentation sites"):
        found(several)


def test_mkdocs_without_an_inventory(tmp_path: Path) -> None:
    root = tmp_path / "site"
    (root / "search").mkdir(parents=True)
    (root / "guide").mkdir()
    (root / "guide" / "index.html").write_text(GUIDE)
    docs = '{"docs": [{"location": "guide/", "text": ""}, {"location": "guide/#start"}, {"location": "changelog/"}, 7]}'
    (root / "search" / "search_index.json").write_text(docs)
    got = found(source(tmp_path, {"address": f"file://{root}", "version": "1.0"}))
    assert [(one.file, one.url) for one in got if isinstance(one, Found)] == [("guide/", "guide/#start")]
    (root / "search" / "search_index.json").write_text("<html>")
    got = found(source(tmp_path, {"address": f"file://{root}", "version": "1.0"}))
    assert reasons(got) == {RejectReason.BAD_ANSWER: 1}


WRONG = [
    ({}, "either read_the_docs"),
    ({"read_the_docs": "bag", "address": "https://bag.example/"}, "either read_the_docs"),
    ({"address": "bag.example"}, "pattern"),
    ({"address": "https://bag.example/", "version": "newest"}, "not a version by PEP 440"),
    ({"address": "file:///bag", "shown_at": "https://bag.example/{version}/"}, "shown_at has a placeholder"),
]


@pytest.mark.parametrize(("site", "words"), WRONG)
def test_sites_that_cannot_be_meant(site: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SiteRule(library="bag", **site)
