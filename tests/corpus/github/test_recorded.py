"""Against answers that GitHub itself gave (npm's @octokit/fixtures-server), in every scenario that a reader can play."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests
from github import Auth
from github.GitRef import GitRef
from github.GitRelease import GitRelease
from github.Issue import Issue, IssueSearchResult
from github.Organization import Organization
from github.PaginatedList import PaginatedList
from github.Requester import Requester

from pipeline.corpus.github.archive import files_of, keep_archive
from pipeline.corpus.github.client import Client, Repository
from pipeline.corpus.github.connection import requester
from pipeline.corpus.github.limits import Turns
from pipeline.corpus.github.session import open_session
from pipeline.index.archives import ArchiveLimits, read_members
from pipeline.index.http import BadAnswer, Fetcher, NotFound
from tests.corpus.github.conftest import github_rules
from tests.corpus.github.recorded import TOKEN, installed, replaying, scenario
from tests.errors import raises

pytestmark = pytest.mark.slow

ORG = "octokit-fixture-org"
# The recordings were made with a client that says this of itself, and tells its token to codeload too.
RECORDED = {"Accept-Encoding": "gzip, compress, deflate, br"}
HEADERS = {"Accept": "application/vnd.github.v3+json", "Authorization": f"token {TOKEN}", **RECORDED}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with replaying(installed(tmp_path_factory.getbasetemp().parent / "octokit-fixtures")) as url:
        yield url


@pytest.fixture
def session(tmp_path: Path) -> requests.Session:
    rules = github_rules().ask
    opened = open_session(tmp_path / "answers.sqlite", Turns(max_wait_s=1, secondary_s=1), rules)
    opened.headers.update(RECORDED)
    return opened


@pytest.fixture
def client(server: str, session: requests.Session) -> Callable[[str], Client]:
    return lambda name: Client(scenario(server, name), TOKEN, session, 10)


@pytest.fixture
def asker(server: str, session: requests.Session) -> Callable[..., Requester]:
    """Return PyGithub's own way of asking over our session, for what is no business of the source."""
    return lambda name, per_page=30: requester(session, scenario(server, name), Auth.Token(TOKEN), 10, per_page)


def test_get_repository(client: Callable[[str], Client]) -> None:
    result = client("get-repository").repository(f"{ORG}/hello-world")
    # The server turns every address into one of its own.
    assert result.url.endswith(f"/{ORG}/hello-world")
    assert replace(result, url="") == Repository(
        name=f"{ORG}/hello-world",
        url="",
        branch="master",
        licence=None,
        stars=42,
        size_kib=0,
        fork=False,
        private=False,
        created=datetime(2017, 10, 10, 16, tzinfo=UTC),
        pushed=datetime(2017, 10, 10, 16, tzinfo=UTC),
    )


def test_rename_repository(server: str, session: requests.Session) -> None:
    url = scenario(server, "rename-repository")
    old = f"{ORG}/rename-repository"
    # Byte by byte as it was recorded.
    headers = HEADERS | {"Content-Type": "application/json; charset=utf-8"}
    body = b'{"name":"rename-repository-newname"}'
    requests.patch(f"{url}/repos/{old}", data=body, headers=headers, timeout=10).raise_for_status()
    assert Client(url, TOKEN, session, 10).repository(old).name == f"{old}-newname"


def test_get_archive(client: Callable[[str], Client], tmp_path: Path) -> None:
    recorded = client("get-archive")
    fetcher = Fetcher(timeout_s=10)
    fetcher.session.headers.update(HEADERS)
    where = recorded.archive_url(f"{ORG}/get-archive", "main")
    assert "/codeload.github.com/" in where
    body = fetcher.get(where, stream=True).raw.read()
    members = list(read_members(io.BytesIO(body), lambda name: True, ArchiveLimits()))
    assert [member.name.partition("/")[2] for member in members] == ["README.md"]
    again = client("get-archive")
    keep_archive(
        lambda: again.archive_url(f"{ORG}/get-archive", "main"),
        tmp_path / "a.zip",
        fetcher,
        ArchiveLimits(),
        max_bytes=1 << 20,
        max_s=10,
    )
    # No Python in it, and nothing that states a version.
    assert files_of(tmp_path / "a.zip", ArchiveLimits()) == {}


def test_branch_protection_is_not_found(client: Callable[[str], Client]) -> None:
    with raises(NotFound, "status 404", code="not_found"):
        client("branch-protection").repository(f"{ORG}/branch-protection/branches/main/protection")


def test_paginate_issues(asker: Callable[..., Requester]) -> None:
    ask = asker("paginate-issues", per_page=3)
    issues = PaginatedList(Issue, ask, f"/repos/{ORG}/paginate-issues/issues", None)
    assert [issue.number for issue in issues] == list(range(13, 0, -1))


def test_search_issues(asker: Callable[..., Requester]) -> None:
    query = {"q": f"sesame repo:{ORG}/search-issues"}
    paginatedlist = PaginatedList(IssueSearchResult, asker("search-issues"), "/search/issues", query)
    assert (len(list(paginatedlist)), paginatedlist.totalCount, paginatedlist.incomplete_results) == (2, 2, False)


def test_releases_references_and_an_organization(asker: Callable[..., Requester]) -> None:
    for name in ("release-assets", "release-assets-conflict"):
        release = GitRelease(asker(name), url=f"/repos/{ORG}/{name}/releases/tags/v1.0.0")
        assert (release.tag_name, release.draft, release.created_at.tzinfo) == ("v1.0.0", False, UTC)
    references = PaginatedList(GitRef, asker("git-refs"), f"/repos/{ORG}/git-refs/git/refs/", None)
    assert [reference.ref for reference in references] == ["refs/heads/main"]
    assert Organization(asker("get-organization"), url=f"/orgs/{ORG}").login == ORG


def test_get_root(asker: Callable[..., Requester]) -> None:
    headers, data = asker("get-root").requestJsonAndCheck("GET", "/")
    assert data["code_search_url"].endswith("/search/code?q={query}{&page,per_page,sort,order}")
    assert headers["x-ratelimit-remaining"] == "4999"


def test_get_content_that_is_no_json(asker: Callable[..., Requester]) -> None:
    ask = asker("get-content")
    _, listed = ask.requestJsonAndCheck("GET", f"/repos/{ORG}/hello-world/contents/")
    assert [file["path"] for file in listed] == ["README.md"]
    raw = {"Accept": "application/vnd.github.v3.raw"}
    with raises(BadAnswer, "application/vnd.github.v3.raw", code="bad_answer"):
        ask.requestJsonAndCheck("GET", f"/repos/{ORG}/hello-world/contents/README.md", headers=raw)
