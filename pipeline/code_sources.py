"""The sources of real code, with what they need of settings, rules and cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from pipeline.crawl import ArtifactStore, CodeSource, project
from pipeline.crawl.downstream import Downstream
from pipeline.crawl.github import GitHub
from pipeline.crawl.pins import Published, published_of
from pipeline.curation import CurationRules
from pipeline.settings import Settings, index_url
from pipeline.terms import SnippetSource


def code_sources(
    names: Sequence[SnippetSource], settings: Settings, rules: CurationRules, artifacts: ArtifactStore
) -> list[CodeSource]:
    """Return the sources of those names; each keeps what it fetched in a folder of its own in the cache."""
    fetcher = artifacts.fetcher

    def published(library: str) -> Sequence[Published]:
        return published_of(project(fetcher, index_url(), library))

    def downstream() -> CodeSource:
        return Downstream(
            index_url=index_url(),
            fetcher=fetcher,
            cache=settings.cache / "downstream",
            rules=rules.dependents,
            files=rules.python_files,
            licences=rules.licences,
            crawled=(artifacts.sources,),
            workers=settings.workers,
        )

    def github() -> CodeSource:
        return GitHub(
            url=settings.github_url,
            token=os.environ.get("GITHUB_TOKEN"),
            fetcher=fetcher,
            rules=rules.github,
            files=rules.python_files,
            cache=settings.cache / "github",
            published=published,
        )

    makers: Mapping[SnippetSource, Callable[[], CodeSource]] = {
        SnippetSource.DOWNSTREAM: downstream,
        SnippetSource.GITHUB: github,
    }
    return [makers[name]() for name in names if name in makers]
