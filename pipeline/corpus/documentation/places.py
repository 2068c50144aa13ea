"""Where the documentation sites of a library stand, and of which of its releases each of them is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.documentation.fetching import Site, open_site
from pipeline.corpus.documentation.listing import FAILURES, Listed, list_site, refusal
from pipeline.corpus.documentation.pages import Refused
from pipeline.corpus.documentation.read_the_docs import ReadTheDocs
from pipeline.corpus.documentation.releases import contradicts, read_name, release_of
from pipeline.corpus.documentation.rules import DocumentationRules, SiteRule
from pipeline.index.http import BadAnswer, Fetcher, NotFound, Unreachable
from pipeline.index.release_selection import Period
from pipeline.lake.rows import ReleaseRow


@dataclass(frozen=True, slots=True)
class Place:
    """Where a site stands; its names tell of which release it is (none: its inventory does), `stated` in words."""

    address: str
    shown_at: str | None
    names: tuple[str, ...]
    stated: str


@dataclass(frozen=True, slots=True)
class Taken:
    """A site that is read: what it lists, the release that it is of, and what says so."""

    site: Site
    listed: Listed
    release: ReleaseRow
    stated: str


@dataclass(frozen=True, slots=True)
class Places:
    """Finds the sites of libraries by the rules."""

    rules: DocumentationRules
    fetcher: Fetcher
    read_the_docs: ReadTheDocs

    def sites(self, library: str, releases: Sequence[ReleaseRow], period: Period) -> Iterator[Taken | Refused]:
        """Yield the sites of releases in the period, the first of each release, or why a site is not taken.

        Errors: Unreachable where several sites in a row do not answer.
        """
        seen: set[str] = set()
        silent = 0
        for place in self._places(library, releases):
            found = place if isinstance(place, Refused) else self._taken(place, releases, period, seen)
            if found is None:
                continue
            yield found
            if isinstance(found, Taken):
                seen.add(found.release["version"])
            silent = silent + 1 if isinstance(found, Refused) and found.reason == RejectReason.SOURCE_UNREACHABLE else 0
            if silent >= self.rules.limits.unreachable_in_a_row:
                raise Unreachable(f"{library}: {silent} documentation sites in a row")

    def _places(self, library: str, releases: Sequence[ReleaseRow]) -> Iterator[Place | Refused]:
        for rule in self.rules.sites_of(library):
            if rule.read_the_docs is not None:
                yield from self._on_read_the_docs(rule.read_the_docs)
            else:
                yield from _at_addresses(rule, [release["version"] for release in releases])

    def _on_read_the_docs(self, project: str) -> Iterator[Place | Refused]:
        try:
            versions = self.read_the_docs.versions(project)
        except (NotFound, BadAnswer, Unreachable) as error:
            yield refusal(f"Read the Docs: {project}", error)
            return
        for version in versions:
            stated = f"Read the Docs: {version.type or 'version'} {version.names[0]} of {project}"
            yield Place(version.urls.documentation, None, version.names, stated)

    def _taken(
        self, place: Place, releases: Sequence[ReleaseRow], period: Period, seen: set[str]
    ) -> Taken | Refused | None:
        """Return a site with its release; None where the release has one already, or is of another period."""
        by_version = {release["version"]: release for release in releases}
        version = release_of(place.names, list(by_version))
        if place.names and version is None:
            return _unknown(place)
        if version is not None and _is_settled(by_version[version], period, seen):
            return None
        site = open_site(place.address, self.fetcher, place.shown_at)
        try:
            listed = list_site(site, self.rules)
        except FAILURES as error:
            return refusal(place.stated, error)
        said = listed.head.version
        version = version or release_of([said], list(by_version))
        if version is None or contradicts(said, version):
            detail = f"{place.stated}; its inventory is of the version {said!r}"
            return Refused(place.stated, RejectReason.VERSION_UNKNOWN, detail)
        if _is_settled(by_version[version], period, seen):
            return None
        stated = place.stated if place.names else f"{place.stated}, whose inventory says {said}"
        return Taken(site, listed, by_version[version], stated)


def _at_addresses(rule: SiteRule, versions: Sequence[str]) -> Iterator[Place]:
    """Yield the places that an address means: one, or one for each release or series where it has a placeholder."""
    places: dict[str, Place] = {}
    for version in versions if rule.has_placeholder else [rule.version]:
        address, shown = rule.places(version)
        names = (version,) if version and (rule.names_release or rule.version) else ()
        stated = f"documentation.yaml: {_public(rule, address, shown)}"
        places.setdefault(address, Place(address, shown, names, stated))
    yield from places.values()


def _public(rule: SiteRule, address: str, shown: str | None) -> str:
    """Return an address without a folder of this machine."""
    return shown or (address.rstrip("/").rpartition("/")[2] if rule.is_here else address)


def _is_settled(release: ReleaseRow, period: Period, seen: set[str]) -> bool:
    return release["version"] in seen or not period.covers(release["release_time"])


def _unknown(place: Place) -> Refused:
    if any(read_name(name) for name in place.names):
        return Refused(place.stated, RejectReason.VERSION_NOT_COVERED, "the lake has no such release")
    return Refused(place.stated, RejectReason.VERSION_UNKNOWN, f"{place.names[0]!r} names no release")
