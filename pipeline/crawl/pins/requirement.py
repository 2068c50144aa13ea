"""One requirement by PEP 508, as pip has read it over the years, turned into a statement."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from pipeline.crawl.pins.stated import Stated, refused
from pipeline.lake import Reject
from pipeline.terms import StatementKind

# `>=1.0.*` was allowed until packaging 22 and meant `>=1.0`.
_DOT_STAR = re.compile(r"((?:<=?|>=?|~=)\s*v?\d[\w.!+-]*?)\.\*")
_SHOWN = 200


def requirement(text: str, file: str, line: int, group: str | None = None) -> Stated | Reject:
    """Read a requirement by PEP 508, or as older tools wrote it."""
    try:
        found = Requirement(text)
    except InvalidRequirement as error:
        try:
            found = Requirement(_DOT_STAR.sub(r"\1", text))
        except InvalidRequirement:
            return refused(file, line, f"{text[:_SHOWN]!r}: {str(error).splitlines()[0]}")
    marker = str(found.marker) if found.marker else None
    if found.url:
        return addressed(found.name, found.url, file, line, marker, group)
    return specified(found.name, str(found.specifier), file, line, marker, group)


def specified(
    name: str, specifier: str, file: str, line: int, marker: str | None = None, group: str | None = None
) -> Stated | Reject:
    """State a requirement whose specifier is that of PEP 440, or alternatives of it."""
    try:
        version = exact(specifier)
    except InvalidSpecifier as error:
        return refused(file, line, f"{name[:_SHOWN]}: {error}")
    kind = StatementKind.EXACT_PIN if version else StatementKind.RANGE
    return Stated(canonicalize_name(name), specifier, version, kind, file, line, marker, group)


def locked(
    name: str, version: str, file: str, line: int, marker: str | None = None, group: str | None = None
) -> Stated | Reject:
    """State what a lock file names."""
    try:
        Version(version)
    except (InvalidVersion, TypeError):
        return refused(file, line, f"{str(name)[:_SHOWN]} {str(version)[:_SHOWN]!r}: no version by PEP 440")
    library = canonicalize_name(name)
    return Stated(library, f"=={version}", version, StatementKind.LOCK, file, line, marker, group)


def addressed(name: str, url: str, file: str, line: int, marker: str | None = None, group: str | None = None) -> Stated:
    """State a requirement that comes from an address; a wheel's name says which release it is."""
    version = wheel_version(url)
    kind = StatementKind.EXACT_PIN if version else StatementKind.ADDRESS
    specifier = f"=={version}" if version else ""
    return Stated(canonicalize_name(name), specifier, version, kind, file, line, marker, group)


def wheel_version(url: str) -> str | None:
    """Return the version in the name of the wheel that an address leads to; None where it leads to something else."""
    try:
        return str(parse_wheel_filename(unquote(urlsplit(url).path).rsplit("/", 1)[-1])[1])
    except (InvalidWheelFilename, ValueError):
        return None


def exact(specifier: str) -> str | None:
    """Return the one version that a specifier pins: `==1.3.5`, alone or beside others.

    Errors: InvalidSpecifier.
    """
    alternatives = [SpecifierSet(one) for one in specifier.split("||")]
    if len(alternatives) > 1:
        return None
    pins = [one for one in alternatives[0] if one.operator in ("==", "===") and not one.version.endswith(".*")]
    return pins[0].version if pins else None
