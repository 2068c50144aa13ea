"""How large each cache may become: the part `caches` of `curation_rules/retention.yaml`."""

from __future__ import annotations

from pydantic import Field

from pipeline.core.rules.load import Rule

GIB = 1 << 30


class CacheRules(Rule):
    """Limits in GiB, by what lies in the cache folder; `others_gib` holds for each folder or file that is not named.

    What was used in the last `spared_hours` may be in use, and stays while somebody is at work. Pinned environments
    have their limit in the settings (DRIFTLINE_ENVIRONMENTS_GIB).
    """

    gib: dict[str, float]
    others_gib: float = Field(gt=0)
    # Most file systems note the time of reading once a day only (mount(8), relatime).
    spared_hours: float = Field(ge=25)
    kept: tuple[str, ...] = ()

    def limit_bytes(self, name: str) -> int:
        """Return how large a cache may become."""
        return int(self.gib.get(name, self.others_gib) * GIB)
