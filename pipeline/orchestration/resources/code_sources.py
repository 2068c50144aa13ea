"""The sources of code of others, with what they need of settings, rules and cache."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pipeline.core.rules.profiles import Profile
from pipeline.core.settings import Settings, index_url
from pipeline.core.vocabularies.samples import ExternalSource, SnippetSource
from pipeline.corpus.code_source import CodeSample, CodeSource
from pipeline.corpus.dependents.source import Downstream
from pipeline.corpus.documentation.source import Documentation
from pipeline.corpus.pins.matrix import Narrow, Published, published_of
from pipeline.corpus.pins.narrowing import narrowed_by
from pipeline.corpus.stack_overflow.source import StackOverflow
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.execution.environments.resolution.interpreters import discover
from pipeline.execution.environments.resolution.resolver import Resolver
from pipeline.index.artifacts import ArtifactStore
from pipeline.index.http import Fetcher
from pipeline.index.index import project
from pipeline.index.release_selection import Period
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject
from pipeline.quality.all_rules import CurationRules

if TYPE_CHECKING:
    from pipeline.corpus.github.source import GitHub


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """A source that cannot be reached from here."""

    name: SnippetSource
    why: str

    def unavailable(self) -> str:
        """Return why it is unavailable."""
        return f"{self.why}. Allow the way out, or set another address (docs/reference/settings.md)."

    def find(self, library: str, releases: Sequence[ReleaseRow], period: Period) -> Iterator[CodeSample | Reject]:
        """Find nothing."""
        yield from ()


@functools.cache
def _no_way_to(fetcher: Fetcher, address: str) -> str | None:
    return fetcher.no_way_to(address)


class Maker(NamedTuple):
    """What makes a source, and the address that must be reached for it, where there is one."""

    make: Callable[[], CodeSource]
    address: str | None = None


@dataclass(frozen=True)
class CodeSources:
    """Makes the sources that a profile wants; each keeps what it fetched in a folder of its own in the cache."""

    settings: Settings
    rules: CurationRules
    artifacts: ArtifactStore
    profile: Profile

    def configured(self) -> list[CodeSource]:
        """Return the sources of the profile; one to which there is no way at all is said to be left out, at once."""
        return [
            OutOfReach(SnippetSource(name), why) if (why := self._no_way_to(name)) else self._makers[name].make()
            for name in self.profile.code.sources
        ]

    @property
    def _makers(self) -> Mapping[ExternalSource, Maker]:
        """The sources that there are, each with the address without which it need not be asked."""
        settings = self.settings
        pages = None if self._has_other_sites else settings.read_the_docs_url
        posts = None if settings.stack_overflow_dump else settings.stack_exchange_url
        return {
            ExternalSource.DOWNSTREAM: Maker(self._downstream),
            ExternalSource.GITHUB: Maker(self._github),
            ExternalSource.DOCUMENTATION: Maker(self._documentation, pages),
            ExternalSource.STACK_OVERFLOW: Maker(self._stack_overflow, posts),
        }

    def repositories(self) -> GitHub | None:
        """Return the host of repositories, None where the profile does not want it, or nobody gave a token."""
        name = ExternalSource.GITHUB
        has_token = bool(os.environ.get("GITHUB_TOKEN"))
        return None if name not in self.profile.code.sources or not has_token else self._github()

    def sites(self) -> Documentation | None:
        """Return the documentation sites, None where the profile does not want them."""
        name = ExternalSource.DOCUMENTATION
        return None if name not in self.profile.code.sources or self._no_way_to(name) else self._documentation()

    def _no_way_to(self, source: ExternalSource) -> str | None:
        """Return why the service behind a source cannot be reached; its own client would try again and again."""
        address = self._makers[source].address
        return _no_way_to(self.artifacts.fetcher, address) if address else None

    @property
    def _has_other_sites(self) -> bool:
        return any(site.read_the_docs is None for site in self.rules.documentation.sites)

    def _cache(self, source: ExternalSource) -> Path:
        return self.settings.cache / source

    def _published(self, library: str) -> Sequence[Published]:
        return published_of(project(self.artifacts.fetcher, index_url(), library))

    @cached_property
    def _resolved(self) -> Narrow:
        resolver = Resolver(
            IndexFacts(index_url()), self.settings.cache / "environments" / "uv", self.rules.environments.step_timeout_s
        )
        return narrowed_by(resolver, discover())

    def _narrow(self, library: str, requirements: Sequence[str], python: str, as_of: datetime) -> str | None:
        """Resolve a library that others cap together with the other requirements of a project."""
        capped = library in self.rules.pins.capped
        return self._resolved(library, requirements, python, as_of) if capped else None

    def _downstream(self) -> Downstream:
        return Downstream(
            index_url=index_url(),
            fetcher=self.artifacts.fetcher,
            cache=self._cache(ExternalSource.DOWNSTREAM),
            rules=self.rules.dependents,
            files=self.rules.python_files,
            licences=self.rules.licences,
            crawled=(self.artifacts.sources,),
            workers=self.settings.workers,
            narrow=self._narrow,
        )

    def _github(self) -> GitHub:
        # slow to import
        from pipeline.corpus.github.source import GitHub

        return GitHub(
            url=self.settings.github_url,
            token=os.environ.get("GITHUB_TOKEN"),
            fetcher=self.artifacts.fetcher,
            rules=self.rules.github,
            files=self.rules.python_files,
            cache=self._cache(ExternalSource.GITHUB),
            published=self._published,
            narrow=self._narrow,
        )

    def _documentation(self) -> Documentation:
        return Documentation.of(
            self.artifacts.fetcher,
            self.rules.documentation,
            self.rules.directives,
            self._cache(ExternalSource.DOCUMENTATION),
            self.settings.read_the_docs_url,
            os.environ.get("READTHEDOCS_TOKEN"),
        )

    def _stack_overflow(self) -> StackOverflow:
        return StackOverflow(
            self.artifacts.fetcher,
            self.rules.stack_overflow,
            self._cache(ExternalSource.STACK_OVERFLOW),
            libraries=[rule.library for rule in self.profile.libraries],
            api_url=self.settings.stack_exchange_url,
            key=os.environ.get("STACKEXCHANGE_KEY"),
            dump=self.settings.stack_overflow_dump,
        )
