"""What goes wrong with documentation sites: each is a reject, and the rest is read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.documentation.sites import sites_stage
from pipeline.index.http import Unreachable
from pipeline.index.release_selection import Period
from pipeline.lake.stage import Reject
from tests.corpus.documentation.builders import API, ENTRIES, RELEASES, find_samples, folder, source
from tests.corpus.documentation.site_server import Pages, inventory
from tests.errors import raises

INVENTORIES = [
    (b"<!DOCTYPE html><title>Not Found</title>", 200, RejectReason.BAD_ANSWER),
    (b"", 200, RejectReason.BAD_ANSWER),
    (b"gone", 410, RejectReason.VANISHED),
    (b"no", 403, RejectReason.BAD_ANSWER),
    (inventory(ENTRIES)[:100], 200, RejectReason.BAD_ANSWER),
]


@pytest.mark.parametrize(("body", "status", "reason"), INVENTORIES)
def test_inventories_that_are_none(
    tmp_path: Path, pages: Pages, body: bytes, status: int, reason: RejectReason
) -> None:
    pages.put("/en/1.1/objects.inv", body, status)
    plug = source(tmp_path, {"address": f"{pages.url}/en/{{version}}/"})
    output = sites_stage(
        "bag", {"releases": RELEASES, "site_documents": []}, plug, Period(until=RELEASES[2]["release_time"])
    )
    assert len(output.tables["site_documents"]) == 2, "the site of 1.0 is read all the same"
    of_the_other = Counter(["duplicate", "out_of_scope", "vanished"])
    assert output.reasons == of_the_other + Counter([reason])


def test_a_search_index_that_cannot_be_read_is_a_reject(tmp_path: Path) -> None:
    root = folder(tmp_path / "site", ["bag.f py:function 1 api.html#$ -"])
    plug = source(tmp_path, {"address": f"file://{root}", "version": "1.0"})
    assert sites_stage("bag", {"releases": RELEASES, "site_documents": []}, plug, Period()).reasons == {}
    (root / "search").mkdir()
    (root / "search" / "search_index.json").write_text("<html>")
    output = sites_stage("bag", {"releases": RELEASES, "site_documents": []}, plug, Period())
    assert [row["path"] for row in output.tables["site_documents"]] == ["bag.f"]
    assert [reject.detail for reject in output.rejects] == ["search/search_index.json: not JSON, 6 bytes"]


def test_a_truncated_inventory_gives_its_first_entries(tmp_path: Path) -> None:
    many = [f"bag.f{number} py:function 1 p{number * 7919 % 9973}.html#$ -" for number in range(20_000)]
    root = folder(tmp_path / "site")
    (root / "objects.inv").write_bytes(inventory([*ENTRIES, *many])[:-3000])
    plug = source(tmp_path, {"address": f"file://{root}", "version": "1.0"}, max_pages=2)
    output = sites_stage("bag", {"releases": RELEASES, "site_documents": []}, plug, Period())
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
    refused = {item.key.split()[-1]: item.reason for item in got if isinstance(item, Reject)}
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
    assert {item.key.split()[-1]: item.reason for item in got if isinstance(item, Reject)} == {
        "bag.f0": RejectReason.OUT_OF_SCOPE, "bag.f1": RejectReason.OUT_OF_SCOPE,
        "bag.f2": RejectReason.TOO_LARGE, "bag.f3": RejectReason.VANISHED,
    }  # fmt: skip
    assert [row["path"] for row in got if not isinstance(row, Reject)] == ["bag.f4"]


def test_a_site_that_stops_answering_ends_the_reading(tmp_path: Path, pages: Pages) -> None:
    entries = [f"bag.f{number} py:function 1 p{number}.html#bag.f -" for number in range(9)]
    pages.put("/en/1.0/objects.inv", inventory(entries))
    for number in range(9):
        pages.put(f"/en/1.0/p{number}.html", API)
        pages.faults[f"/en/1.0/p{number}.html"] = [] if number in (0, 2) else [503] * 9
    plug = source(tmp_path, {"address": f"{pages.url}/en/1.0", "version": "1.0"})
    output = sites_stage("bag", {"releases": RELEASES, "site_documents": []}, plug, Period())
    assert [row["path"] for row in output.tables["site_documents"]] == ["bag.f0", "bag.f2"]
    assert [note.reason for note in output.notes] == [RejectReason.SOURCE_UNREACHABLE]
    pages.faults.clear()
    again = sites_stage("bag", {"releases": RELEASES, "site_documents": []}, plug, Period())
    assert len(again.tables["site_documents"]) == 9
    assert pages.requests["/en/1.0/p0.html"] == 1


def test_hosts_out_of_reach(tmp_path: Path) -> None:
    away = "http://127.0.0.1:9"
    plug = source(tmp_path, {"read_the_docs": "bag"}, api=f"{away}/api/v3")
    assert "no way to" in (plug.unavailable() or "")
    output = sites_stage("bag", {"releases": RELEASES, "site_documents": []}, plug, Period())
    assert (output.units_in, [note.reason for note in output.notes]) == (0, [RejectReason.SOURCE_LEFT_OUT])
    several = source(tmp_path, {"address": f"{away}/{{version}}/"})
    with raises(Unreachable, code="unreachable"):
        find_samples(several)


def test_sites_that_raise_are_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = folder(tmp_path / "site", ["bag.f py:function 1 api.html#$ -", "bag.g py:function 1 other.html#$ -"])
    plug = source(tmp_path, {"address": f"file://{root}", "version": "1.0"})

    def planted(name: str, *_: object, **__: object) -> None:
        raise ZeroDivisionError(name)

    with monkeypatch.context() as patched:
        patched.setattr("pipeline.corpus.documentation.reading.read_page", planted)
        pages = sites_stage("bag", {"releases": RELEASES, "site_documents": []}, plug, Period())
        patched.setattr("pipeline.corpus.documentation.source._documents", planted)
        whole = sites_stage("bag", {"releases": RELEASES, "site_documents": []}, plug, Period())
    # what a page raised is not kept: it is read once that is mended
    assert RejectReason.INTERNAL_ERROR in pages.reasons
    assert [(note.key, note.reason) for note in whole.notes] == [("documentation", RejectReason.INTERNAL_ERROR)]
    assert (
        RejectReason.INTERNAL_ERROR
        not in sites_stage("bag", {"releases": RELEASES, "site_documents": []}, plug, Period()).reasons
    )
