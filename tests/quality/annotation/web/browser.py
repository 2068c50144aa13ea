"""A real Chromium on the page: what an annotator has before them. Debian's, or whatever the system has."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from pipeline.quality.annotation.store import Store
from pipeline.quality.annotation.web.single_user import TokenInAddress, alone, listen, serve
from tests.quality.annotation.web.demo_queue import Runs, fill_demo, store_at

# What a busy machine may take; nothing waits longer than it has to.
expect.set_options(timeout=20_000)

SCREENSHOTS = os.environ.get("DRIFTLINE_SCREENSHOTS")
"""Folder that pictures of the views are written to (`docs/review` for the documentation); unset, none are made."""


@dataclass(frozen=True)
class Served:
    """The page as `driftline review` serves it."""

    store: Store
    ids: list[str]
    runs: Runs
    base: str
    door: TokenInAddress

    @property
    def address(self) -> str:
        """What `driftline review` prints."""
        return f"{self.base}/?token={self.door.token}"


@contextmanager
def served(folder: Path, twice: float = 0.0) -> Iterator[Served]:
    store, runs, door, listening = store_at(folder, twice), Runs(), TokenInAddress("ada"), listen(0)
    runs.released.set()
    ids = fill_demo(store)
    threading.Thread(target=serve, args=(alone(store, runs, door), listening), daemon=True).start()
    yield Served(store, ids, runs, f"http://127.0.0.1:{listening.getsockname()[1]}", door)


@contextmanager
def chromium() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no Chromium is installed")
    # what is expected comes at once, but on a machine that is busy
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.getuid() == 0 else [])
        yield browser
        browser.close()


@contextmanager
def page_of(browser: Browser, width: int = 1280, height: int = 1000, scheme: str = "light") -> Iterator[Page]:
    """A window of its own; whatever its console complains about fails the test, but for decisions that are refused."""
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert [told for told in complaints if "409 (Conflict)" not in told] == []


def picture(page: Page, name: str) -> None:
    """Keep a picture of a view, where pictures are wanted."""
    if SCREENSHOTS:
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png")
