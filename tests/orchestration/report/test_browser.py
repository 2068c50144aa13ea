"""The page in a real browser: narrow and wide, light and dark, it can be read and asks for nothing.

The pictures of the documentation are made of a real report: DRIFTLINE_SCREENSHOTS=docs/report, DRIFTLINE_REPORT=its page.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from pipeline.core.vocabularies.release_checks import CheckKind, CheckStatus, PublicationState
from pipeline.orchestration.failures import Failure
from pipeline.orchestration.report.data import report_of
from pipeline.orchestration.report.figures import Bar, Figure
from pipeline.orchestration.report.page import page_of as html_of
from pipeline.snapshots.publication import Publication
from pipeline.snapshots.release_checks.release_checks import CheckResult
from tests.orchestration.report.test_page import DRAFTS, HOSTILE, RECORD, count, ran
from tests.quality.annotation.web.browser import chromium, page_of, picture
from tests.quality.annotation.web.test_browser import check_contrast

pytestmark = pytest.mark.slow

WIDTHS = {"narrow": (360, 1600), "wide": (1280, 1500)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every part, and with names that nobody should have."""
    if kept := os.environ.get("DRIFTLINE_REPORT"):
        return Path(kept).resolve()
    failure = Failure("a", "acceptance", "1.2", f"KeyError: {HOSTILE}", "report it", "2026-11-20T10:00:00+00:00", "")
    result = CheckResult(CheckKind.REJECTED, "crawl: any reason", 0.41, 120, "at most 30%", CheckStatus.APPROVAL)
    record = Publication("now", "starter", PublicationState.WAITING, "crawl", None, [result], ["3 rows came"])
    now = replace(ran(RECORD, count("crawl", "a", 9)), failures=[failure], publication=record)
    parts = [f"part{number}" for number in range(8)]
    bars = [Bar("x" * 80, "meaning", dict.fromkeys(parts, 5)), Bar("short", "", {"part0": 1})]
    figure = Figure("f", "Figure", "note", parts, bars, {"short": 3})
    path = tmp_path_factory.mktemp("report") / "report.html"
    report = report_of(now, None, ran(RECORD), None, DRAFTS, {"github": "no token"})
    path.write_text(html_of(replace(report, figures=[figure])), encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_can_be_read_and_asks_for_nothing(browser: Browser, page: Path, scheme: str, width: str) -> None:
    asked: list[str] = []
    with page_of(browser, *WIDTHS[width], scheme) as shown:
        shown.on("request", lambda request: asked.append(request.url))
        shown.goto(page.as_uri())
        for details in shown.locator("details").all():
            details.evaluate("element => element.open = true")
        assert shown.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width][0]
        check_contrast(shown, f"{width} {scheme}")
        for details in shown.locator("details").all():
            details.evaluate("element => element.open = false")
        picture(shown, f"{scheme}_{width}")
    assert asked == [page.as_uri()]
