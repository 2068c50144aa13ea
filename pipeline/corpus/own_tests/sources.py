"""The source distributions of a library's own releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.corpus.dependents.sdists import SdistStore, TooLarge
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import BadAnswer, NotFound, Unreachable, WrongHash
from pipeline.index.index import IndexFile, Project, project

_REASONS: Mapping[type[Exception], RejectReason] = {
    TooLarge: RejectReason.TOO_LARGE,
    BadArchive: RejectReason.BAD_ARCHIVE,
    UnsafeArchive: RejectReason.UNSAFE_ARCHIVE,
    WrongHash: RejectReason.WRONG_HASH,
    NotFound: RejectReason.NO_FILES,
    BadAnswer: RejectReason.BAD_INDEX_ANSWER,
    Unreachable: RejectReason.INDEX_UNREACHABLE,
}


@dataclass
class ReleaseSdists:
    """Fetches the source distributions of releases through a store, as the index lists them."""

    store: SdistStore
    index_url: str
    _projects: dict[str, Project] = field(default_factory=dict)

    def read(self, library: str, version: str) -> tuple[IndexFile, Mapping[str, bytes]]:
        """Return the source distribution of a release, and its Python and requirement files by their paths in it.

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
            return chosen, self.store.read(chosen).files
        except tuple(_REASONS) as error:
            (reason, *_) = (reason for kind, reason in _REASONS.items() if isinstance(error, kind))
            raise Refused(reason, str(error)) from None
