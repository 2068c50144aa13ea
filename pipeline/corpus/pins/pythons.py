"""The Pythons that a project may have been run on: when each came out, which a project admits, what markers see."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from functools import lru_cache

from packaging.markers import Marker, UndefinedEnvironmentName
from packaging.specifiers import InvalidSpecifier, SpecifierSet

RELEASED = {
    "2.7": date(2010, 7, 3),
    "3.3": date(2012, 9, 29),
    "3.4": date(2014, 3, 16),
    "3.5": date(2015, 9, 13),
    "3.6": date(2016, 12, 23),
    "3.7": date(2018, 6, 27),
    "3.8": date(2019, 10, 14),
    "3.9": date(2020, 10, 5),
    "3.10": date(2021, 10, 4),
    "3.11": date(2022, 10, 24),
    "3.12": date(2023, 10, 2),
    "3.13": date(2024, 10, 7),
    "3.14": date(2025, 10, 7),
}
"""CPython X.Y to the day of its first release (PEP 373, 398, 429, 478, 494, 537, 569, 596, 619, 664, 693, 719, 745)."""

_SYSTEM = {
    "os_name": "posix",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "platform_release": "5.10",
    "platform_version": "1",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
}
_PATCHES = (20, *range(20))
"""Patch releases that are tried: `>=3.6.1` admits 3.6, and so does `<3.6.5`."""


def existing(as_of: datetime) -> list[str]:
    """Return the Pythons that were there at a time, the newest first."""
    return [python for python, day in reversed(RELEASED.items()) if datetime.combine(day, time(), UTC) <= as_of]


@lru_cache(maxsize=1 << 14)
def admits(specifier: str, python: str) -> bool:
    """Whether Requires-Python admits some release of Python X.Y; what cannot be read admits all."""
    try:
        alternatives = [SpecifierSet(alternative) for alternative in specifier.split("||")]
    except InvalidSpecifier:
        return True
    return any(
        alternative.contains(f"{python}.{patch}", prereleases=True)
        for patch in _PATCHES
        for alternative in alternatives
    )


def admitted(specifiers: Iterable[str], as_of: datetime) -> list[str]:
    """Return the Pythons that were there at a time and that all specifiers admit, the newest first."""
    constraints = list(specifiers)
    return [python for python in existing(as_of) if all(admits(constraint, python) for constraint in constraints)]


@lru_cache(maxsize=1 << 14)
def holds(marker: str | None, python: str, group: str | None = None) -> bool:
    """Whether a marker holds for CPython X.Y on Linux (PEP 508); one that cannot be read holds."""
    if marker is None:
        return True
    full = f"{python}.{_PATCHES[0]}"
    versions = {"python_version": python, "python_full_version": full, "implementation_version": full}
    groups = frozenset({group} if group else ())
    context: dict[str, str | frozenset[str]] = {"extra": group or "", "extras": groups, "dependency_groups": groups}
    try:
        return Marker(marker).evaluate({**_SYSTEM, **versions, **context}, context="lock_file")
    except (ValueError, UndefinedEnvironmentName, RecursionError):
        return True
