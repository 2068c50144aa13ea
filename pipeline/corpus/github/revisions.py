"""Which commits of a repository are read, and what their files give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import quote

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language, SnippetSource
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.github.client import Client, Commit, Repository
from pipeline.corpus.github.rules import TakeRules
from pipeline.corpus.pins.version import ResolvedVersion
from pipeline.corpus.python_files import PythonFileRules, Target, dated, pins_of, using
from pipeline.index.release_selection import Period
from pipeline.lake.stage import Reject

MAX_TAGS = 10
"""Tags have no date, so each costs a request; GitHub lists the highest names first."""


def commits(client: Client, repository: Repository, period: Period, rules: TakeRules) -> list[Commit]:
    """Return the last commit of the period, and those of its last releases in it, in the order of their time.

    Errors: those of the client.
    """
    name = repository.name
    candidates = [client.last_commit(name, repository.branch, period.until)] if rules.newest else []
    if rules.tagged:
        candidates += _tagged(client, name, period)[: rules.tagged]
    by_sha = {commit.sha: commit for commit in candidates if commit and period.covers(commit.time)}
    return sorted(by_sha.values(), key=lambda commit: (commit.time, commit.sha))


def _tagged(client: Client, name: str, period: Period) -> list[Commit]:
    """Return the commits of releases or, without any, of tags that lie in the period, the last first."""
    releases = [release for release in client.releases(name) if release.final]
    tags = [release.tag for release in releases if period.covers(release.time)] if releases else client.tags(name)
    tagged = [client.tagged_commit(name, tag) for tag in tags[:MAX_TAGS]]
    return sorted(
        (commit for commit in tagged if period.covers(commit.time)),
        key=lambda commit: (commit.time, commit.sha),
        reverse=True,
    )


def pieces(
    repository: Repository, commit: Commit, files: Mapping[str, bytes], target: Target, rules: PythonFileRules
) -> Iterator[CodeSample | Reject]:
    """Yield the files of a commit that import the library, and what was refused: a file, a line, or the commit."""
    place = f"{repository.name}@{commit.sha}"
    read = using(files, target, rules)
    if not read:
        count = sum(path.endswith(".py") for path in files)
        detail = f"none of its {count} Python files imports {', '.join(sorted(target.names))}"
        yield Reject(f"github:{place}", RejectReason.NO_USE, detail)
        return
    texts = {path: text for path, text in read.items() if isinstance(text, str)}
    refused = [text for text in read.values() if isinstance(text, Reject)]
    pins = pins_of(files, rules)
    for path, version in dated(list(texts), pins, target, commit.time).items():
        if isinstance(version, Reject):
            refused.append(Reject(path, version.reason, version.detail))
        else:
            yield _sample(repository, commit, target.library, path, texts[path], version)
    for reject in sorted([*refused, *pins.rejects], key=lambda reject: reject.key):
        yield Reject(f"github:{place}#{reject.key}", reject.reason, reject.detail)


def _sample(
    repository: Repository, commit: Commit, library: str, path: str, text: str, version: ResolvedVersion
) -> CodeSample:
    return CodeSample(
        source=SnippetSource.GITHUB,
        library=library,
        version=version.version,
        version_evidence=version.evidence,
        version_statement=version.words,
        origin=f"github:{repository.name}",
        place=f"{repository.name}@{commit.sha}",
        url=f"{repository.url}/blob/{commit.sha}/{quote(path)}",
        file=path,
        line=1,
        text=text,
        language=Language.PYTHON,
        created_time=commit.time,
        licence=repository.licence,
        attribution=repository.name,
        title=None,
    )
