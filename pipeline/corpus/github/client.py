"""What we ask GitHub, through PyGithub: its objects become our rows here, and its exceptions ours."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

import msgspec
import requests
from github import Auth, BadAttributeException, GithubException
from github.Commit import Commit as GithubCommit
from github.ContentFile import ContentFileSearchResult
from github.GithubObject import GithubObject
from github.GitRelease import GitRelease
from github.PaginatedList import PaginatedList
from github.Repository import Repository as GithubRepository
from github.Repository import RepositorySearchResult
from github.Requester import Requester
from github.Tag import Tag
from msgspec import Meta

from pipeline.corpus.github.connection import requester
from pipeline.corpus.github.session import unusable
from pipeline.corpus.github.windows import MAX_RESULTS, Results
from pipeline.index.http import BadAnswer, NotFound, Unreachable

PER_PAGE = 100
_NAME = re.compile(r"(?!\.\.?/)[\w.-]+/(?!\.\.?$)[\w.-]+")
_GONE = (404, 410, 451)
_Listed = TypeVar("_Listed", bound=GithubObject)
_Converted = TypeVar("_Converted")

Time = Annotated[datetime, Meta(tz=True)]
Number = Annotated[int, Meta(ge=0, lt=1 << 53)]


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as GitHub describes it now; `size_kib` counts its history, `licence` is an SPDX id."""

    name: str
    url: Annotated[str, Meta(pattern="^https?://[!-~]+$")]
    branch: str
    licence: str | None
    stars: Number
    size_kib: Number
    fork: bool
    private: bool
    created: Time
    pushed: Time


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, and when it was made."""

    sha: Annotated[str, Meta(pattern="^[0-9a-f]{40}([0-9a-f]{24})?$")]
    time: Time


@dataclass(frozen=True, slots=True)
class Release:
    """A release by its tag; it is as old as its commit, and final where it is neither a draft nor a pre-release."""

    tag: str
    time: Time
    final: bool


class Empty(NotFound):
    """The repository holds no commit."""


class Client:
    """GitHub's REST API at one address.

    Errors of every call: NotFound for what is gone (404, 410, 451, blocked), Empty, Unreachable, BadAnswer,
    RateLimited, OSError where the cache cannot be used.
    """

    def __init__(self, url: str, token: str | None, session: requests.Session, timeout_s: float) -> None:
        auth = Auth.Token(token) if token else None
        self._requester: Requester = requester(session, url, auth, timeout_s, PER_PAGE)

    def check(self) -> None:
        """Ask for the state of our limits, which counts against none and fails where the token is not taken."""
        with _errors("/rate_limit"):
            self._requester.requestJsonAndCheck("GET", "/rate_limit")

    def repositories(self, query: str) -> Results[Repository]:
        """Search for repositories, those with the most stars first."""
        query_parameters = {"q": query, "sort": "stars", "order": "desc"}
        return self._search("/search/repositories", query_parameters, RepositorySearchResult, _repository)

    def names_by_code(self, query: str) -> Results[str]:
        """Search for files, and return the names of their repositories, some of them several times."""
        kind = ContentFileSearchResult
        return self._search("/search/code", {"q": query}, kind, lambda file: _name(file.repository.full_name))

    def _search(
        self, path: str, query_parameters: dict[str, Any], kind: type[_Listed], convert: Callable[[_Listed], _Converted]
    ) -> Results[_Converted]:
        """Ask for the first page, which says how many there are; the others are asked for as they are wanted."""
        query_parameters = query_parameters | {"per_page": PER_PAGE}
        with _errors(query_parameters["q"]):
            headers, data = self._requester.requestJsonAndCheck("GET", path, query_parameters)
            total = data["total_count"]
            if not isinstance(total, int) or not isinstance(data["items"], list):
                raise TypeError(f"{total!r} results in {type(data['items']).__name__}")
            results = PaginatedList(kind, self._requester, path, query_parameters, firstData=data, firstHeaders=headers)
        return Results(
            total, bool(data.get("incomplete_results")), _converted(query_parameters["q"], iter(results), convert)
        )

    def repository(self, name: str) -> Repository:
        """Return a repository by its name; one that was renamed comes under its new name."""
        with _errors(name):
            return _repository(GithubRepository(self._requester, url=f"/repos/{name}"))

    def tagged_commit(self, name: str, tag: str) -> Commit:
        """Return the commit that a tag names."""
        with _errors(f"{name}@{tag}"):
            return _commit(GithubCommit(self._requester, url=f"/repos/{name}/commits/{quote(tag, safe='')}"))

    def last_commit(self, name: str, branch: str, until: datetime | None) -> Commit | None:
        """Return the last commit of a branch before a time; None where it has none."""
        query_parameters: dict[str, Any] = {"sha": branch, "per_page": 1}
        if until:
            # GitHub counts in seconds, and the last one too.
            last = until.astimezone(UTC) - timedelta(microseconds=1)
            query_parameters["until"] = last.strftime("%Y-%m-%dT%H:%M:%SZ")
        with _errors(name):
            commits = PaginatedList(GithubCommit, self._requester, f"/repos/{name}/commits", query_parameters)
            return next(map(_commit, commits), None)

    def releases(self, name: str) -> list[Release]:
        """Return the newest releases, at most a page of them."""
        with _errors(name):
            releases = PaginatedList(GitRelease, self._requester, f"/repos/{name}/releases", None)
            return [_release(release) for release in islice(releases, PER_PAGE)]

    def tags(self, name: str) -> list[str]:
        """Return the names of tags, at most a page of them, in GitHub's order."""
        with _errors(name):
            tags = PaginatedList(Tag, self._requester, f"/repos/{name}/tags", None)
            return msgspec.convert([tag.name for tag in islice(tags, PER_PAGE)], list[str])

    def archive_url(self, name: str, sha: str) -> str:
        """Return where the tarball of a commit is fetched from, which needs no token if the repository is public."""
        with _errors(f"{name}@{sha}"):
            headers, _ = self._requester.requestJsonAndCheck("GET", f"/repos/{name}/tarball/{sha}")
            return str(headers["location"])


def _converted(query: str, items: Iterator[_Listed], convert: Callable[[_Listed], _Converted]) -> Iterator[_Converted]:
    for _ in range(MAX_RESULTS):
        with _errors(query):
            item = next(items, None)
            if item is None:
                return
            row = convert(item)
        yield row


# What GitHub leaves out is None for PyGithub, whatever it says of its types: so every row is checked against its own.


def _repository(description: GithubRepository) -> Repository:
    # The name first: PyGithub would ask for what is missing in a description.
    name = _name(description.full_name)
    spdx = description.license.spdx_id if description.license else None
    row = {
        "name": name,
        "url": description.html_url,
        "branch": description.default_branch,
        # GitHub says NOASSERTION of a licence that it cannot tell.
        "licence": None if spdx == "NOASSERTION" else spdx,
        "stars": description.stargazers_count,
        "size_kib": description.size,
        "fork": description.fork,
        "private": description.private,
        "created": description.created_at,
        "pushed": description.pushed_at or description.created_at,
    }
    return msgspec.convert(row, Repository)


def _commit(description: GithubCommit) -> Commit:
    return msgspec.convert({"sha": description.sha, "time": description.commit.committer.date}, Commit)


def _release(description: GitRelease) -> Release:
    final = not description.draft and not description.prerelease
    return msgspec.convert({"tag": description.tag_name, "time": description.created_at, "final": final}, Release)


def _name(name: str) -> str:
    """Return OWNER/NAME, which becomes a path on this disk."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no OWNER/NAME")
    return name


@contextmanager
def _errors(subject: str) -> Iterator[None]:
    """Turn what PyGithub and requests raise into the errors of this package."""
    try:
        yield
    except GithubException as error:
        raise _refused(subject, error) from None
    except requests.RequestException as error:
        raise Unreachable(f"{subject}: {type(error).__name__}: {error}") from None
    except sqlite3.Error as error:
        raise unusable(error) from None
    except (BadAttributeException, LookupError, TypeError, ValueError, AttributeError, AssertionError) as error:
        # PyGithub believes the shape of an answer, and stumbles over another one in any of these ways.
        raise BadAnswer(f"{subject}: an answer of another shape: {type(error).__name__}: {error}") from None


def _refused(subject: str, error: GithubException) -> Exception:
    message = error.message or (error.data.get("message") if isinstance(error.data, dict) else None) or "no message"
    words = f"{subject}: status {error.status}: {message}"
    # That is how GitHub says that a repository has no such tag.
    is_no_commit = error.status == 422 and "no commit found" in message.lower()
    if error.status in _GONE or is_no_commit or "access blocked" in message.lower():
        return NotFound(words)
    if error.status == 409:
        return Empty(words)
    if error.status == 401:
        return Unreachable(f"{words}. Is GITHUB_TOKEN still valid?")
    return Unreachable(words) if error.status >= 500 else BadAnswer(words)
