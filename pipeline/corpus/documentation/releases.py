"""Of which release a documentation site is: what its address, its project and its inventory say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from packaging.version import InvalidVersion, Version

_PREFIX = re.compile(r"^(?:[A-Za-z][A-Za-z._-]*?[-_/]?)?v?(?=\d)", re.IGNORECASE)
_SERIES = re.compile(r"(\d+(?:[._]\d+)*)[._]x")


def read_name(name: str) -> Version | None:
    """Return the version that a tag or slug names: `v1.2.3`, `release-1.2`, `1_2_3`; None where it names none."""
    bare = _PREFIX.sub("", name.strip(), count=1)
    try:
        return Version(bare if "." in bare else bare.replace("_", "."))
    except InvalidVersion:
        return None


def release_of(names: Iterable[str], releases: Sequence[str]) -> str | None:
    """Return the release that one of these names means, as the index spells it.

    A name means one release (`v1.2.3`), or as the name of a branch (`2.2.x`) the last release of a series: that one
    is known only if the lake holds a release of a later series too.
    """
    spelled = {Version(release): release for release in releases}
    for name in names:
        version = read_name(name)
        if version is not None and version in spelled:
            return spelled[version]
        if newest := _last_of_series(name, spelled.keys()):
            return spelled[newest]
    return None


def _last_of_series(name: str, versions: Iterable[Version]) -> Version | None:
    series = _SERIES.search(name)
    if not series:
        return None
    prefix = tuple(int(part) for part in re.split(r"[._]", series[1]))
    ordered = sorted(versions)
    of_series = [version for version in ordered if version.release[: len(prefix)] == prefix]
    return of_series[-1] if of_series and of_series[-1] != ordered[-1] else None


def contradicts(inventory_version: str, release: str) -> bool:
    """Return whether the version in an inventory says that a site is not of a release.

    `1.5`, `1.5.x` and `1.5.3` fit 1.5.3; what is no final version (`1.5.4.dev0+g1a2b`, made from a checkout) and
    `0.0.0`, which mkdocstrings writes where it was not told, say nothing.
    """
    version, expected = read_name(re.sub(r"[._]x$", "", inventory_version)), Version(release)
    if version is None or version.is_prerelease or version.local or not any(version.release):
        return False
    if len(version.release) >= len(expected.release):
        return version.base_version != expected.base_version and version != expected
    return expected.release[: len(version.release)] != version.release
