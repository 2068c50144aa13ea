"""Which repositories may use a library: searches for repositories and for files, and what the rules select of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TypeVar

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.github.client import Client, Repository
from pipeline.corpus.github.outcomes import Outcomes
from pipeline.corpus.github.rules import GitHubRules
from pipeline.corpus.github.windows import MAX_RESULTS, Results, Window, parts, window_of
from pipeline.index.release_selection import Period
from pipeline.lake.stage import Reject

_Item = TypeVar("_Item")


@dataclass
class Search:
    """The search for repositories that may use a library in a period; `rejects` grow while it goes on.

    `now` bounds a period that has no end.
    """

    client: Client
    library: str
    period: Period
    rules: GitHubRules
    now: datetime
    outcomes: Outcomes
    rejects: list[Reject] = field(default_factory=list)

    def repositories(self) -> list[Repository]:
        """Return the repositories to read, those with the most stars, in the order of their names.

        Errors: Unreachable.
        """
        by_name = {repository.name.lower(): repository for repository in self._by_topic()}
        for name in sorted(set(self._by_code()) - {repository.name for repository in by_name.values()}):
            with self.outcomes.rejecting(f"github:{name}", self.rejects):
                repository = self.client.repository(name)
                by_name[repository.name.lower()] = repository
        selected = []
        for key in sorted(by_name):
            if refused := refusal(by_name[key], self.period, self.rules):
                self.rejects.append(refused)
            else:
                selected.append(by_name[key])
        return self._best(selected)

    def _by_topic(self) -> Iterator[Repository]:
        search = self.rules.search
        max_results = self.rules.take.max_repositories
        for query in search.queries:
            for licence in search.licences:
                words = f"{query} license:{licence.lower()} stars:>={search.min_stars} fork:false is:public"
                for qualifier in search.windows:
                    window = window_of(self.period, qualifier, self.now)
                    yield from self._all(words, window, self.client.repositories, max_results)

    def _by_code(self) -> Iterator[str]:
        sizes = Window("size", 0, self.rules.search.max_code_bytes)
        for query in self.rules.search.code_queries:
            yield from self._all(query, sizes, self.client.names_by_code, self.rules.search.max_code_results)

    def _all(
        self, query: str, window: Window, ask: Callable[[str], Results[_Item]], max_results: int
    ) -> Iterator[_Item]:
        """Yield what a search finds, in as many parts as it needs; what is not seen of it is a reject."""
        words = query.replace("{library}", self.library)
        with self.outcomes.rejecting(f"github:{words} {window}", self.rejects):
            for part, results in parts(window, lambda part_window: ask(f"{words} {part_window}"), max_results):
                yield from islice(results.items, max_results)
                self._note(f"github:{words} {part}", results, max_results)

    def _note(self, key: str, results: Results[_Item], max_results: int) -> None:
        if results.incomplete:
            detail = f"GitHub ran out of time, and gave what it had found of {results.total}"
            self.rejects.append(Reject(key, RejectReason.BAD_ANSWER, detail))
        if min(max_results, results.total) > MAX_RESULTS:
            detail = f"{results.total} results in a window that cannot be parted, of which GitHub shows {MAX_RESULTS}"
            self.rejects.append(Reject(key, RejectReason.OVER_QUOTA, detail))

    def _best(self, selected: list[Repository]) -> list[Repository]:
        ranked = sorted(selected, key=lambda repository: (-repository.stars, repository.name.lower()))
        quota = self.rules.take.max_repositories
        for repository in ranked[quota:]:
            detail = f"{repository.stars} stars; {quota} repositories with as many or more are taken"
            self.rejects.append(Reject(f"github:{repository.name}", RejectReason.OVER_QUOTA, detail))
        return sorted(ranked[:quota], key=lambda repository: repository.name.lower())


def refusal(repository: Repository, period: Period, rules: GitHubRules) -> Reject | None:
    """Return why a repository is not read, from what GitHub says of it; None if it is read."""
    if repository.private:
        # Its name is not ours to write down.
        return Reject("github:private repository", RejectReason.NOT_SELECTED, "the token can see it, the public cannot")
    key = f"github:{repository.name}"
    if repository.licence not in rules.search.licences:
        return Reject(key, RejectReason.LICENCE, f"{repository.licence or 'none that GitHub can tell'}")
    if repository.size_kib > rules.take.max_repository_kib:
        detail = f"{repository.size_kib} KiB, the rule allows {rules.take.max_repository_kib}"
        return Reject(key, RejectReason.TOO_LARGE, detail)
    if why := _not_selected(repository, period, rules):
        return Reject(key, RejectReason.NOT_SELECTED, why)
    return None


def _not_selected(repository: Repository, period: Period, rules: GitHubRules) -> str | None:
    if repository.fork:
        return "a fork"
    if repository.stars < rules.search.min_stars:
        return f"{repository.stars} stars, the rule asks for {rules.search.min_stars}"
    if period.until and repository.created >= period.until:
        return f"created on {repository.created:%Y-%m-%d}, after the covered period"
    if period.since and repository.pushed < period.since:
        return f"last pushed to on {repository.pushed:%Y-%m-%d}, before the covered period"
    return None
