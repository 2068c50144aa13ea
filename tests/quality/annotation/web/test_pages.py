"""What stands on the pages, and that nothing which was crawled or typed is more than text there."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from bs4 import BeautifulSoup

from pipeline.core.vocabularies.annotation import QueueStatus
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.quality.annotation.entries import Flag
from pipeline.quality.annotation.filling import fill
from pipeline.quality.annotation.view import Document, Link
from tests.quality.annotation.web.conftest import Site
from tests.quality.annotation.web.demo_queue import completion, flagged, migration

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>'\"></textarea><svg/onload=alert(1)>{{7*7}}"


def soup(site: Site, path: str, name: str = "ada") -> Any:
    answer = site.person(name).get(path)
    assert answer.status_code == 200, answer.text
    return BeautifulSoup(answer.text, "lxml")


def rows(page: Any) -> list[str]:
    return [str(row["data-id"]) for row in page.select("#rows tbody tr")]


@pytest.mark.parametrize(
    ("query", "taken"),
    [
        ("", slice(0, 12)),
        ("?flag=rename_unsure", slice(0, 8)),
        ("?flag=audit", slice(8, 12)),
        ("?family=migration&source=github", slice(8, 12)),
        ("?family=migration&source=docstring", slice(0, 0)),
        ("?library=pandas&status=pending&age=day", slice(0, 12)),
        ("?library=numpy", slice(0, 0)),
        ("?age=older", slice(0, 0)),
        ("?status=submitted", slice(0, 0)),
        ("?flag=&library=&family=&source=&status=&age=", slice(0, 12)),
    ],
)
def test_filters_select_the_named_samples(site, query, taken):
    assert rows(soup(site, f"/{query}")) == site.ids[taken]


@pytest.mark.parametrize("query", ["?flag=nonsense", "?age=yesterday", "?colour=red", "?after=-1", "?after=x"])
def test_an_invalid_filter_is_an_error(site, query):
    for accept in ("text/html", "application/json"):
        answer = site.person().get(f"/{query}", headers={"accept": accept})
        assert answer.status_code == 422
        assert query[1:].split("=")[0] in answer.text


def test_pages_follow_each_other_without_gaps(site):
    fill(site.store, "numpy", [flagged(n, completion(), library="numpy", id=f"{n:064d}") for n in range(120)])
    seen: list[str] = []
    address: Any = "/"
    while address:
        page = soup(site, address)
        seen += rows(page)
        link = page.select_one("[data-action=next-page]")
        address = link["href"] if link else None
    assert seen == [*site.ids, *(f"{n:064d}" for n in range(120))]


def test_the_queue_counts(site):
    site.person().post(f"/samples/{site.ids[0]}/decisions", json={"kind": "accept"})
    site.person().post(f"/samples/{site.ids[1]}/decisions", json={"kind": "reject", "objection": "bad_code"})
    page = soup(site, "/")
    counts = {mark["data-count"]: int(mark.text) for mark in page.select("[data-count]")}
    assert counts == {"pending": 10, "draft": 0, "submitted": 1, "discarded": 1, "conflicting": 0}
    assert "2 of 12 decided" in page.select_one("header").text


def test_a_sample_has_all_its_columns(site):
    page = soup(site, f"/samples/{site.ids[8]}")
    text = page.select_one("article").get_text(" ")
    for words in (
        "the code for 1.5.3 passes in 2.0.0",
        "drawn with share 0.02",
        "Put the rows of both tables",
        "removed:",
        "executed, confidence 1.00, breaking",
        ".. deprecated:: 1.4.0",
        "Concatenate pandas objects",
        "AttributeError: 'DataFrame' object has no attribute 'append'",
    ):
        assert " ".join(words.split()) in " ".join(text.split()), words
    assert "assert len(everything) == 3" in [cell.get_text() for cell in page.select("table.code td")]
    link = page.select_one("a[target=_blank]")
    assert link["href"].startswith("https://github.com/")
    assert set(link["rel"]) == {"noopener", "noreferrer"}
    changed = page.select_one("table.diff tr.changed")
    assert "".join(part.text for part in changed.select(".old .changed")) == ".append("
    assert [row.select_one(".number").text for row in page.select("table.diff tr")] == [str(n) for n in range(1, 7)]


def test_the_mask_is_rendered_in_its_place(site):
    page = soup(site, f"/samples/{site.ids[0]}")
    (mask,) = page.select("table.code .mask")
    assert mask.text == "map"
    assert "".join(mask.find_parent("td").find_all(string=True)) == "scaled = frame.map(lambda value: value * 10)"


def test_scripts_in_every_field_stay_text(site):
    """Title, label, texts, change, facts, documents, runs, links, evidence, library, names of people, comments."""

    def planted(name: str, text: str) -> str:
        return f"{name} {SCRIPT} {text}"

    views = [migration(planted), completion(planted)]
    flags = (Flag(FlagKind.AUDIT, planted("evidence", "")),)
    bad = [
        flagged(100 + n, view, flags=flags, library=SCRIPT, version=SCRIPT, family=Family.PROBLEM)
        for n, view in enumerate(views)
    ]
    fill(site.store, SCRIPT, bad)
    for sample in bad:
        person = site.person()
        said = {"kind": "comment", "comment": planted("comment", "")}
        assert person.post(f"/samples/{sample.id}/decisions", json=said).status_code == 200
        after = {pane.name: planted("edit", pane.text) + " broken" for pane in sample.view.panes if pane.editable}
        edited = person.post(f"/samples/{sample.id}/decisions", json={"kind": "edit", "after": after})
        assert edited.status_code == 200, edited.text
    for path in (
        "/",
        f"/?library={SCRIPT[:200]}",
        *(f"/samples/{s.id}" for s in bad),
        f"/like/{bad[0].id}",
        "/agreement",
    ):
        answer = site.person().get(path, params=None)
        page: Any = BeautifulSoup(answer.text, "lxml")
        scripts = page.select("script")
        assert all(re.fullmatch(r"/static/\w+/\w+\.js", script["src"]) and not script.text for script in scripts), path
        assert not page.select("img, svg, iframe, object, style")
        assert not [tag for tag in page.find_all() if any(name.startswith("on") for name in tag.attrs)]
        assert all(not tag["href"].lower().startswith(("javascript", "data")) for tag in page.select("[href]"))
        assert "49" not in re.findall(r"alert\(1\)>(\d+)", answer.text)
    shown = soup(site, f"/samples/{bad[0].id}").get_text()
    for name in ("title", "label", "description", "source_code", "tests", "change", "old", "new", "replacement",
                 "fact", "document", "detail", "subject", "link", "evidence", "comment"):  # fmt: skip
        assert f"{name} <script>alert(1)</script>" in shown, name
    values = [area.text for area in soup(site, f"/samples/{bad[0].id}").select("textarea")]
    assert all("</textarea><svg/onload=alert(1)>" in value for value in values), "an editor gives back every character"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "JAVASCRIPT:x", "file:///etc/passwd", "//x", "http://["]
)
def test_only_addresses_of_the_web_are_links(site, url):
    view = msgspec.structs.replace(
        migration(), links=(Link("a", url),), documents=(Document("1.0", "f", "Text.", url),)
    )
    sample = flagged(200, view)
    fill(site.store, "pandas", [sample])
    assert not soup(site, f"/samples/{sample.id}").select("a[target=_blank]")


def test_documentation_leads_to_its_page(site):
    url = "https://pandas.pydata.org/docs/reference/api/pandas.concat.html"
    view = msgspec.structs.replace(migration(), links=(), documents=(Document("2.0.0", "pandas.concat", "Text.", url),))
    sample = flagged(200, view)
    fill(site.store, "pandas", [sample])
    page = soup(site, f"/samples/{sample.id}")
    assert [link["href"] for link in page.select("a[target=_blank]")] == [url]
    assert page.select_one("#sample")["data-flags"] == FlagKind.RENAME_UNSURE


def test_characters_that_turn_the_order_are_written_out(site):
    turned = migration(lambda name, text: text + "# \u202e } if admin\u2066" if name == "tests" else text)
    sample = flagged(201, turned)
    fill(site.store, "pandas", [sample])
    shown = soup(site, f"/samples/{sample.id}").select_one("#panes").get_text()
    assert "⟨U+202E⟩" in shown
    assert "\u202e" not in shown


def test_a_missing_annotator_is_an_error(site):
    answer = site.person().get("/samples/nothing", headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert "no sample nothing is in the queue" in answer.text


def test_a_viewer_sees_nothing_to_decide_with(site):
    page = soup(site, f"/samples/{site.ids[0]}", "viewer eve")
    assert not page.select("#accept, #reject, #open-edit, #undo, textarea")
    assert "may look, not decide" in page.text
    assert not soup(site, "/", "viewer eve").select("#next, #accept-marked")


def test_the_decision_of_the_other_is_hidden_until_the_own_one(site_twice):
    site = site_twice
    said = {"kind": "reject", "objection": "bad_code", "comment": "it does not run"}
    site.person("ada").post(f"/samples/{site.ids[0]}/decisions", json=said)
    before = soup(site, f"/samples/{site.ids[0]}", "bob").text
    assert "it does not run" not in before
    assert "judged by two people" in before
    site.person("bob").post(f"/samples/{site.ids[0]}/decisions", json={"kind": "accept"})
    after = soup(site, f"/samples/{site.ids[0]}", "bob").text
    assert "it does not run" in after
    agreement = soup(site, "/agreement", "bob")
    assert "Judged by two 1" in " ".join(agreement.get_text(" ").split())
    assert rows(agreement) == site.ids[:1]
    assert rows(soup(site, f"/?status={QueueStatus.CONFLICTING}")) == site.ids[:1]


def test_changed_content_reopens_a_sample_with_its_old_decision(site):
    site.person().post(f"/samples/{site.ids[0]}/decisions", json={"kind": "accept", "comment": "fine so"})
    samples = [flagged(n, completion(), content="another") if n == 0 else flagged(n, completion()) for n in range(8)]
    fill(site.store, "pandas", samples)
    page = soup(site, f"/samples/{site.ids[0]}")
    assert "It has changed since it was judged" in page.text
    assert "fine so" in page.text
    assert "on what it was before" in page.select_one("#history + ol").text


def test_static_files_never_change_under_their_address(site):
    address = soup(site, "/").select_one("link[rel=stylesheet]")["href"]
    answer = site.person().get(address)
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["content-type"].startswith("text/css")
    assert site.person().get("/static/0/app.py").status_code == 404
