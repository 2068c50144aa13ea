"""The source distributions of a library's own releases, and its repository at their tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.corpus.dependents.about import github_repository
from pipeline.corpus.dependents.sdists import Sdist, SdistStore, TooLarge
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import BadAnswer, NotFound, Unreachable, WrongHash
from pipeline.index.index import IndexFile, Project, project
from pipeline.lake.stage import Reject

_REASONS: Mapping[type[Exception], RejectReason] = {
    TooLarge: RejectReason.TOO_LARGE,
    BadArchive: RejectReason.BAD_ARCHIVE,
    UnsafeArchive: RejectReason.UNSAFE_ARCHIVE,
    WrongHash: RejectReason.WRONG_HASH,
    NotFound: RejectReason.NO_FILES,
    BadAnswer: RejectReason.BAD_INDEX_ANSWER,
    Unreachable: RejectReason.INDEX_UNREACHABLE,
}


class Repositories(Protocol):
    """A host of repositories."""

    def at_tag(self, name: str, tags: Iterable[str]) -> tuple[str, Mapping[str, bytes]] | Reject:
        """Return the first of some tags that a repository has, with the files there by path, or why there are none."""


@dataclass
class ReleaseSdists:
    """Fetches the source distributions of releases through a store, as the index lists them.

    `repositories` hold the tests that a source distribution leaves out; None if they may not be read.
    """

    store: SdistStore
    index_url: str
    repositories: Repositories | None = None
    _projects: dict[str, Project] = field(default_factory=dict)

    def read(self, library: str, version: str) -> tuple[IndexFile, Sdist]:
        """Return the source distribution of a release, and what it holds.

        Errors: Refused, where there is none or it cannot be read.
        """
        try:
            if library not in self._projects:
                self._projects[library] = project(self.store.fetcher, self.index_url, library)
            files = self._projects[library].releases.get(version, ())
            sdists = [file for file in files if file.kind is ArtifactKind.SDIST]
            if not sdists:
                raise Refused(RejectReason.NO_FILES, "the index lists no source distribution of it")
            chosen = min(sdists, key=lambda file: (file.yanked, file.filename))
            return chosen, self.store.read(chosen)
        except tuple(_REASONS) as error:
            (reason, *_) = (reason for kind, reason in _REASONS.items() if isinstance(error, kind))
            raise Refused(reason, str(error)) from None

    def of_repository(self, metadata: str, tags: Iterable[str]) -> Mapping[str, bytes]:
        """Return the files of the repository that core metadata name, at the first of some tags that it has.

        Errors: Refused, where there is none.
        """
        if self.repositories is None:
            raise Refused(
                RejectReason.NO_FILES,
                "its repository is not read: that needs github in the profile's sources, and GITHUB_TOKEN",
            )
        name = github_repository(metadata)
        if name is None:
            raise Refused(RejectReason.NO_FILES, "its metadata names no repository on GitHub")
        answer = self.repositories.at_tag(name, tags)
        if isinstance(answer, Reject):
            raise Refused(RejectReason(answer.reason), f"{answer.key}: {answer.detail}")
        return answer[1]
