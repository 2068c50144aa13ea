from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi import FastAPI, HTTPException, Request
from fastapi.testclient import TestClient

from pipeline.quality.annotation.store import Store
from pipeline.quality.annotation.web.access import Annotator, PageKeys, page_token
from pipeline.quality.annotation.web.app import create_app
from tests.quality.annotation.web.demo_queue import Runs, fill_demo, store_at

KEYS = PageKeys(b"a secret of the tests")
HOST = "testserver"


def by_header(request: Request) -> Annotator:
    """Take whoever a header names: `NAME` decides, `viewer NAME` looks."""
    name = request.headers.get("x-test-user")
    if not name:
        raise HTTPException(401, "nobody is signed in")
    return Annotator(name.removeprefix("viewer "), decides=not name.startswith("viewer "))


@dataclass(frozen=True)
class Site:
    """The page over a demo queue, and how its people ask it."""

    app: FastAPI
    store: Store
    ids: list[str]
    runs: Runs

    def person(self, name: str = "ada") -> TestClient:
        """Return the browser of somebody who loaded the page."""
        annotator = Annotator(name, decides=True)
        headers = {"x-test-user": name, "origin": f"http://{HOST}", "x-driftline-token": page_token(annotator, KEYS)}
        return TestClient(self.app, headers=headers, follow_redirects=False)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A review database with the demo queue, and the ids of its samples: each test gets a copy."""
    folder = tmp_path_factory.mktemp("demo")
    store = store_at(folder)
    ids = fill_demo(store)
    store.engine.dispose()
    return folder / "reviews.sqlite", ids


def site_over(store: Store, ids: list[str]) -> Iterator[Site]:
    runs = Runs()
    runs.released.set()
    yield Site(create_app(store, runs, by_header, KEYS), store, ids, runs)
    runs.released.set()
    store.engine.dispose()


@pytest.fixture
def site(tmp_path: Path, demo: tuple[Path, list[str]]) -> Iterator[Site]:
    database, ids = demo
    shutil.copy(database, tmp_path)
    yield from site_over(store_at(tmp_path), ids)


@pytest.fixture
def site_twice(tmp_path: Path) -> Iterator[Site]:
    """The same, with every sample judged by two people."""
    store = store_at(tmp_path, twice=1.0)
    yield from site_over(store, fill_demo(store))
