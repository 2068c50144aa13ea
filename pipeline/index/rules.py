"""Parameters of the crawl: how much is fetched and unpacked, and what of an archive is the library."""

from __future__ import annotations

from pydantic import Field

from pipeline.core.rules.load import Rule
from pipeline.index.archives import ArchiveLimits


class RangeRules(Rule):
    """When and how a wheel is read by ranges; sizes in bytes.

    `over_bytes` is the size from which it is worth it, `tail_bytes` what is asked first, from the end of the file;
    what lies at most `gap_bytes` apart is one request, and `at_once` requests are under way at a time.
    """

    over_bytes: int = Field(ge=0)
    tail_bytes: int = Field(gt=0)
    gap_bytes: int = Field(ge=0)
    at_once: int = Field(gt=0)


class CrawlRules(Rule):
    """Limits of what is fetched and unpacked, in bytes, and the top-level names that are not the library."""

    max_download_bytes: int
    max_unpacked_bytes: int
    max_ratio: int
    ranges: RangeRules
    not_the_library: frozenset[str]

    @property
    def archive_limits(self) -> ArchiveLimits:
        """The limits that the archive reader takes."""
        return ArchiveLimits(self.max_unpacked_bytes, self.max_ratio)
