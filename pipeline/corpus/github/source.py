"""Repositories on GitHub as a source of real code: at commits of the covered period, with what their files pin."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path

from filelock import FileLock

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.github.archive import ARCHIVE_FORMAT, files_of, keep_archive
from pipeline.corpus.github.client import Client, Commit, Repository
from pipeline.corpus.github.limits import RateLimited, Turns
from pipeline.corpus.github.outcomes import Outcomes
from pipeline.corpus.github.revisions import commits, pieces
from pipeline.corpus.github.rules import GitHubRules
from pipeline.corpus.github.search import Search
from pipeline.corpus.github.session import archive_fetcher, open_session
from pipeline.corpus.pins.matrix import Narrow, Published
from pipeline.corpus.python_files import PythonFileRules, Target
from pipeline.index.archives import BadArchive
from pipeline.index.http import BadAnswer, Fetcher, NotFound, Unreachable
from pipeline.index.release_selection import Period
from pipeline.lake.guard import guarded
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject


@dataclass(frozen=True)
class GitHub:
    """Asks GitHub's API at `url` with `token`, and keeps answers and archives under `cache`.

    `published` gives all final releases of a library, which the lake may not hold; `narrow` resolves a version together
    with the other requirements of a repository; `now` bounds searches of a period without end, and is never in a row.
    """

    url: str
    token: str | None = field(repr=False)
    fetcher: Fetcher
    rules: GitHubRules
    files: PythonFileRules
    cache: Path
    published: Callable[[str], Sequence[Published]]
    narrow: Narrow | None = None
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    sleep: Callable[[float], None] = time.sleep

    @property
    def name(self) -> SnippetSource:
        """The source that its code is said to be of."""
        return SnippetSource.GITHUB

    def unavailable(self) -> str | None:
        """Return why GitHub cannot be asked, and what to do; None if it can."""
        if not self.token:
            return "no token: set GITHUB_TOKEN to a personal access token without any permission, and run again"
        try:
            self.client.check()
        except (Unreachable, NotFound, BadAnswer, RateLimited) as error:
            return f"{error}. Look at GITHUB_TOKEN and at DRIFTLINE_GITHUB_URL ({self.url}), and run again."
        return None

    def find(self, library: str, releases: Sequence[ReleaseRow], period: Period) -> Iterator[CodeSample | Reject]:
        """Yield the files of repositories that import a library, with its version, or what was refused.

        Errors: Unreachable where GitHub does not answer so many times in a row, or the index does not.
        """
        if not releases:
            return
        try:
            target = Target(library, tuple(releases), self.published(library), self.narrow)
        except (NotFound, BadAnswer) as error:
            detail = f"{error}. Without the releases of the index no requirement can be read; run again."
            yield Reject(library, RejectReason.BAD_INDEX_ANSWER, detail)
            return
        self.turns.begin()
        outcomes = Outcomes(self.rules.ask.silent_in_a_row)
        search = Search(self.client, library, period, self.rules, self.now(), outcomes)
        repositories = search.repositories()
        yield from search.rejects
        work = partial(self._of_repository, target=target, period=period, outcomes=outcomes)
        yield from guarded(repositories, lambda repository: f"github:{repository.name}", work)

    def at_tag(self, name: str, tags: Iterable[str]) -> tuple[str, Mapping[str, bytes]] | Reject:
        """Return the first of some tags that a repository has, with the files there by path, or why there are none."""
        rejects: list[Reject] = []
        self.turns.begin()
        # No tag is asked for after one without an answer.
        outcomes = Outcomes(silent_in_a_row=2)
        for tag in tags:
            with outcomes.rejecting(f"github:{name}@{tag}", rejects):
                return tag, self._files(name, self.client.tagged_commit(name, tag))
            if rejects[-1].reason != RejectReason.VANISHED:
                break
        return rejects[-1]

    def _of_repository(
        self, repository: Repository, target: Target, period: Period, outcomes: Outcomes
    ) -> Iterator[CodeSample | Reject]:
        rejects: list[Reject] = []
        with outcomes.rejecting(f"github:{repository.name}", rejects):
            yield from self._pieces(repository, target, period)
        yield from rejects

    def _pieces(self, repository: Repository, target: Target, period: Period) -> Iterator[CodeSample | Reject]:
        revisions = commits(self.client, repository, period, self.rules.take)
        if not revisions:
            yield Reject(f"github:{repository.name}", RejectReason.NOT_SELECTED, "no commit in the covered period")
        for commit in revisions:
            yield from pieces(repository, commit, self._files(repository.name, commit), target, self.files)

    def _files(self, name: str, commit: Commit) -> dict[str, bytes]:
        """Return the files of a commit, which never change, and so are fetched once."""
        path = self.cache / f"archives-{ARCHIVE_FORMAT}" / name / f"{commit.sha}.zip"
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.parent / "lock"):
            return self._read_archive(path, name, commit)

    def _read_archive(self, path: Path, name: str, commit: Commit) -> dict[str, bytes]:
        take = self.rules.take
        with suppress(FileNotFoundError, BadArchive):
            return files_of(path, take.archive_limits)
        keep_archive(
            partial(self.client.archive_url, name, commit.sha),
            path,
            self._archives,
            take.archive_limits,
            max_bytes=take.max_archive_bytes,
            max_s=self.rules.ask.max_archive_s,
        )
        return files_of(path, take.archive_limits)

    @cached_property
    def _archives(self) -> Fetcher:
        return archive_fetcher(self.fetcher.timeout_s, self.turns, self.rules.ask)

    @cached_property
    def turns(self) -> Turns:
        """Our place in GitHub's rate limits."""
        ask = self.rules.ask
        return Turns(max_wait_s=ask.max_wait_s, secondary_s=ask.secondary_wait_s, sleep=self.sleep)

    @cached_property
    def client(self) -> Client:
        """GitHub's API; made where it is used, since its cache is not to be carried into another process."""
        session = open_session(self.cache / "answers.sqlite", self.turns, self.rules.ask)
        return Client(self.url, self.token, session, self.fetcher.timeout_s)
