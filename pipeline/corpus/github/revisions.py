"""Which commits of a repository are read, and what their files give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import quote

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language, SnippetSource
from pipeline.corpus.code_source import Found
from pipeline.corpus.github.client import Client, Commit, Repository
from pipeline.corpus.github.rules import TakeRules
from pipeline.corpus.pins.version import ResolvedVersion
from pipeline.corpus.python_files import PythonFileRules, Target, dated, pins_of, using
from pipeline.index.release_selection import Period
from pipeline.lake.stage import Reject

LOOKED_AT = 10
"""Tags have no date, so each costs a request; GitHub lists the highest names first."""


def commits(client: Client, repository: Repository, period: Period, rules: TakeRules) -> list[Commit]:
    """Return the last commit of the period, and those of its last releases in it, in the order of their time.

    Errors: those of the client.
    """
    name = repository.name
    found = [client.last_commit(name, repository.branch, period.until)] if rules.newest else []
    if rules.tagged:
        found += _tagged(client, name, period)[: rules.tagged]
    by_sha = {commit.sha: commit for commit in found if commit and period.covers(commit.time)}
    return sorted(by_sha.values(), key=lambda commit: (commit.time, commit.sha))


def _tagged(client: Client, name: str, period: Period) -> list[Commit]:
    """Return the commits of releases or, without any, of tags that lie in the period, the last first."""
    releases = [release for release in client.releases(name) if release.final]
    tags = [one.tag for one in releases if period.covers(one.time)] if releases else client.tags(name)
    found = [client.tagged_commit(name, tag) for tag in tags[:LOOKED_AT]]
    return sorted((one for one in found if period.covers(one.time)), key=lambda one: (one.time, one.sha), reverse=True)


def pieces(
    repository: Repository, commit: Commit, files: Mapping[str, bytes], target: Target, rules: PythonFileRules
) -> Iterator[Found | Reject]:
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
    for path, known in dated(list(texts), pins, target, commit.time).items():
        if isinstance(known, Reject):
            refused.append(Reject(path, known.reason, known.detail))
        else:
            yield _found(repository, commit, target.library, path, texts[path], known)
    for reject in sorted([*refused, *pins.rejects], key=lambda one: one.key):
        yield Reject(f"github:{place}#{reject.key}", reject.reason, reject.detail)


def _found(repository: Repository, commit: Commit, library: str, path: str, text: str, known: ResolvedVersion) -> Found:
    return Found(
        source=SnippetSource.GITHUB,
        library=library,
        version=known.version,
        version_evidence=known.evidence,
        stated=known.words,
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
