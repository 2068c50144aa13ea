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
class SiteAddress:
    """Where a site stands; its names tell of which release it is (none: its inventory does), `evidence` says so."""

    address: str
    public_address: str | None
    names: tuple[str, ...]
    evidence: str


@dataclass(frozen=True, slots=True)
class DatedSite:
    """A site that is read: what it lists, the release that it is of, and what says so."""

    site: Site
    listed: Listed
    release: ReleaseRow
    evidence: str


@dataclass(frozen=True, slots=True)
class Places:
    """Finds the sites of libraries by the rules."""

    rules: DocumentationRules
    fetcher: Fetcher
    read_the_docs: ReadTheDocs

    def sites(self, library: str, releases: Sequence[ReleaseRow], period: Period) -> Iterator[DatedSite | Refused]:
        """Yield the sites of releases in the period, the first of each release, or why a site is not taken.

        Errors: Unreachable where several sites in a row do not answer.
        """
        covered: set[str] = set()
        silent = 0
        for place in self._places(library, releases):
            site = place if isinstance(place, Refused) else self._dated(place, releases, period, covered)
            if site is None:
                continue
            yield site
            if isinstance(site, DatedSite):
                covered.add(site.release["version"])
            silent = silent + 1 if isinstance(site, Refused) and site.reason == RejectReason.SOURCE_UNREACHABLE else 0
            if silent >= self.rules.limits.unreachable_in_a_row:
                raise Unreachable(f"{library}: {silent} documentation sites in a row")

    def _places(self, library: str, releases: Sequence[ReleaseRow]) -> Iterator[SiteAddress | Refused]:
        for rule in self.rules.sites_of(library):
            if rule.read_the_docs is not None:
                yield from self._on_read_the_docs(rule.read_the_docs)
            else:
                yield from _at_addresses(rule, [release["version"] for release in releases])

    def _on_read_the_docs(self, project: str) -> Iterator[SiteAddress | Refused]:
        try:
            versions = self.read_the_docs.versions(project)
        except (NotFound, BadAnswer, Unreachable) as error:
            yield refusal(f"Read the Docs: {project}", error)
            return
        for version in versions:
            evidence = f"Read the Docs: {version.type or 'version'} {version.names[0]} of {project}"
            yield SiteAddress(version.urls.documentation, None, version.names, evidence)

    def _dated(
        self, place: SiteAddress, releases: Sequence[ReleaseRow], period: Period, covered: set[str]
    ) -> DatedSite | Refused | None:
        """Return a site with its release; None where the release has one already, or is of another period."""
        by_version = {release["version"]: release for release in releases}
        version = release_of(place.names, list(by_version))
        if place.names and version is None:
            return _unknown(place)
        if version is not None and _is_settled(by_version[version], period, covered):
            return None
        site = open_site(place.address, self.fetcher, place.public_address)
        try:
            listed = list_site(site, self.rules)
        except FAILURES as error:
            return refusal(place.evidence, error)
        inventory_version = listed.head.version
        version = version or release_of([inventory_version], list(by_version))
        if version is None or contradicts(inventory_version, version):
            detail = f"{place.evidence}; its inventory is of the version {inventory_version!r}"
            return Refused(place.evidence, RejectReason.VERSION_UNKNOWN, detail)
        if _is_settled(by_version[version], period, covered):
            return None
        evidence = place.evidence if place.names else f"{place.evidence}, whose inventory says {inventory_version}"
        return DatedSite(site, listed, by_version[version], evidence)


def _at_addresses(rule: SiteRule, versions: Sequence[str]) -> Iterator[SiteAddress]:
    """Yield the places that an address means: one, or one for each release or series where it has a placeholder."""
    places: dict[str, SiteAddress] = {}
    for version in versions if rule.has_placeholder else [rule.version]:
        address, public_address = rule.places(version)
        names = (version,) if version and (rule.names_release or rule.version) else ()
        evidence = f"documentation.yaml: {_public(rule, address, public_address)}"
        places.setdefault(address, SiteAddress(address, public_address, names, evidence))
    yield from places.values()


def _public(rule: SiteRule, address: str, public_address: str | None) -> str:
    """Return an address without a folder of this machine."""
    return public_address or (address.rstrip("/").rpartition("/")[2] if rule.is_here else address)


def _is_settled(release: ReleaseRow, period: Period, covered: set[str]) -> bool:
    return release["version"] in covered or not period.covers(release["release_time"])


def _unknown(place: SiteAddress) -> Refused:
    if any(read_name(name) for name in place.names):
        return Refused(place.evidence, RejectReason.VERSION_NOT_COVERED, "the lake has no such release")
    return Refused(place.evidence, RejectReason.VERSION_UNKNOWN, f"{place.names[0]!r} names no release")
