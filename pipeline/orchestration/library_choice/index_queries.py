"""Asking the index about a library: one document, and its newest release's word on the licence."""

from __future__ import annotations

from datetime import date

from packaging.specifiers import SpecifierSet

from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.index.http import BadAnswer, Fetcher, NotFound
from pipeline.index.index import IndexFile, project
from pipeline.index.library_facts import Fact
from pipeline.index.licences import LicenceRules, spdx
from pipeline.index.release_selection import finals_of


def ask(
    fetcher: Fetcher, index_url: str, library: str, since: date, today: date, licences: LicenceRules
) -> Fact | None:
    """Return what the index says of a library, None where it has no final release.

    Errors: NotFound where the index does not know it, Unreachable, BadAnswer.
    """
    finals, _ = finals_of(project(fetcher, index_url, library), SpecifierSet())
    files = [(final, final.file) for final in finals if final.file]
    if not files:
        return None
    newest, newest_file = files[-1]
    days = [final.uploaded.date() for final, _ in files]
    return Fact(
        library=library,
        observed=today,
        since=since,
        releases=sum(day >= since for day in days),
        all_releases=len(files),
        first=min(days),
        last=max(days),
        pure=_is_pure(newest_file),
        bytes=sum(file.size for _, file in files),
        licence=_licence(fetcher, index_url, library, licences),
        licence_of=newest.version,
    )


def _is_pure(file: IndexFile) -> bool | None:
    return file.filename.endswith("-any.whl") if file.kind is ArtifactKind.WHEEL else None


def _licence(fetcher: Fetcher, index_url: str, library: str, rules: LicenceRules) -> str | None:
    """Return what the index's document says of the licence, None where an index has no such document."""
    try:
        document = fetcher.get_json(f"{index_url.removesuffix('/simple')}/pypi/{library}/json")
    except (NotFound, BadAnswer):
        return None
    info = document.get("info") or {}
    licence, _ = spdx(info.get("license_expression"), info.get("license"), info.get("classifiers") or [], rules)
    return licence
