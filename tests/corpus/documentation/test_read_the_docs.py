"""Read the Docs' API v3, spoken by a server on loopback as its documentation has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.corpus.documentation.read_the_docs import ReadTheDocs
from pipeline.index.http import BadAnswer, Fetcher, NotFound, Unreachable
from tests.corpus.documentation.builders import FIRST, listing, version
from tests.corpus.documentation.site_server import Pages
from tests.errors import raises
from tests.index_server import Reply


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def api(pages: Pages, cache: Path, token: str | None = None, keep_s: float = 60) -> ReadTheDocs:
    return ReadTheDocs(Fetcher(timeout_s=5, retries=1, backoff_s=0.01), f"{pages.url}/api/v3", cache, keep_s, token)


def test_versions_over_several_pages(pages: Pages, cache: Path) -> None:
    stable = version("stable", ref="v2.0")
    pages.put_json(
        FIRST, listing(version("v2.0"), stable, following="/api/v3/projects/bag/versions/?limit=100&offset=100")
    )
    rest = listing(version("v1.0"), version("v0.9", built=False), version("v0.8", active=False))
    pages.put_json("/api/v3/projects/bag/versions/?limit=100&offset=100", rest)
    result = api(pages, cache).versions("bag")
    assert [item.slug for item in result] == ["stable", "v1.0", "v2.0"]
    assert result[0].names == ("v2.0", "stable", "stable")
    assert result[1].urls.documentation == "https://bag.example/en/v1.0/"


def test_an_absolute_address_of_the_next_page_is_requested_from_the_same_host(pages: Pages, cache: Path) -> None:
    pages.put_json(FIRST, listing(version("v2.0"), following="https://elsewhere.example/more"))
    pages.put_json("/more", listing(version("v1.0")))
    assert [item.slug for item in api(pages, cache).versions("bag")] == ["v1.0", "v2.0"]


def test_the_token_is_sent_and_never_printed(pages: Pages, cache: Path) -> None:
    pages.put_json(FIRST, listing())
    assert api(pages, cache, "secret").versions("bag") == []
    assert pages.tokens == ["Token secret"]
    assert "secret" not in repr(api(pages, cache, "secret"))


BAD: list[tuple[Any, str]] = [
    (b"<html>Log in</html>", "text/html"),
    (b'{"count": 25, "next": null, "resul', "JSON"),
    (b"[]", "versions"),
    (b'{"results": [{"slug": 7}]}', "versions"),
    (b'{"results": [{"slug": "v1"}]}', "versions"),
    (b'{"results": [], "next": "?active=true&built=true&limit=100"}', "without end"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "words"), BAD)
def test_answers_in_another_format(pages: Pages, cache: Path, body: bytes, words: str) -> None:
    pages.put(FIRST, body)
    with raises(BadAnswer, words, code="bad_answer"):
        api(pages, cache).versions("bag")


def test_a_project_that_is_not_there(pages: Pages, cache: Path) -> None:
    pages.put_json(FIRST, {"detail": "Not found."})
    pages.replies[FIRST].status = 404
    with pytest.raises(NotFound):
        api(pages, cache).versions("bag")


@pytest.mark.parametrize("status", [429, 503])
def test_a_limit_that_does_not_pass(pages: Pages, cache: Path, status: int) -> None:
    pages.replies[FIRST] = Reply(status, {"Content-Type": "application/json"}, b'{"detail": "Request was throttled."}')
    with raises(Unreachable, str(status), code="unreachable"):
        api(pages, cache).versions("bag")
    assert pages.requests[FIRST] == 2


def test_a_limit_that_passes(pages: Pages, cache: Path) -> None:
    pages.put_json(FIRST, listing(version("v1.0")))
    pages.faults[FIRST] = [429]
    assert [item.slug for item in api(pages, cache).versions("bag")] == ["v1.0"]


def test_an_answer_is_cached_for_a_while(pages: Pages, cache: Path) -> None:
    pages.put_json(FIRST, listing(version("v1.0", ref="1.0")))
    first = api(pages, cache).versions("bag")
    assert api(pages, cache).versions("bag") == first
    assert pages.requests[FIRST] == 1
    assert api(pages, cache, keep_s=0).versions("bag") == first
    (cached,) = cache.iterdir()
    cached.write_text("[{")
    assert api(pages, cache).versions("bag") == first
    assert pages.requests[FIRST] == 3
