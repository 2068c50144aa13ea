"""One requirement by PEP 508, as pip has read it over the years, turned into a statement."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from pipeline.corpus.pins.statements import Statement, StatementKind, refused
from pipeline.lake.stage import Reject

# Until packaging 22 this was allowed: `>=1.0.*` for `>=1.0`, and a comma too many.
_DOT_STAR = re.compile(r"((?:<=?|>=?|~=)\s*v?\d[\w.!+-]*?)\.\*")
_COMMA = re.compile(r",\s*(?=,|;|$)")
# What no version has: Python refuses to read such a number.
_NUMBER = re.compile(r"\d{100}")
_LONGEST = 10_000
_MAX_DETAIL = 200


def requirement(
    text: str, file: str, line: int, group: str | None = None, condition: str | None = None
) -> Statement | Reject:
    """Read a requirement by PEP 508, or as older tools wrote it; `condition` is a marker that holds besides its own."""
    try:
        parsed = _parsed(text)
        marker = both(str(parsed.marker) if parsed.marker else None, normal(condition))
    except (InvalidRequirement, InvalidMarker, RecursionError) as error:
        return refused(file, line, f"{text[:_MAX_DETAIL]!r}: {str(error).splitlines()[0]}")
    if parsed.url:
        return addressed(parsed.name, parsed.url, file, line, marker, group)
    return specified(parsed.name, str(parsed.specifier), file, line, marker, group)


def _parsed(text: str) -> Requirement:
    if len(text) > _LONGEST or _NUMBER.search(text):
        raise InvalidRequirement(f"longer than {_LONGEST} characters, or with a number of more than a hundred digits")
    try:
        return Requirement(text)
    except InvalidRequirement:
        return Requirement(_mended(text))


def normal(marker: str | None) -> str | None:
    """Return a marker as packaging writes it, None for an empty one. Errors: InvalidMarker, a ValueError."""
    return str(Marker(marker)) if marker and marker.strip() else None


def _mended(text: str) -> str:
    """Return a requirement or specifier without what was allowed once."""
    return _COMMA.sub("", _DOT_STAR.sub(r"\1", text))


def both(marker: str | None, condition: str | None) -> str | None:
    """Return the marker that holds where both hold."""
    if marker and condition:
        return f"({condition}) and ({marker})"
    return marker or condition


def specified(
    name: str, specifier: str, file: str, line: int, marker: str | None = None, group: str | None = None
) -> Statement | Reject:
    """State a requirement whose specifier is that of PEP 440, or alternatives of it."""
    try:
        specifier = _mended(specifier)
        version = exact(specifier)
    except InvalidSpecifier as error:
        return refused(file, line, f"{name[:_MAX_DETAIL]}: {error}"[: 2 * _MAX_DETAIL])
    kind = StatementKind.EXACT_PIN if version else StatementKind.RANGE
    return Statement(canonicalize_name(name), specifier, version, kind, file, line, marker, group)


def locked(
    name: str, version: str, file: str, line: int, marker: str | None = None, group: str | None = None
) -> Statement | Reject:
    """State what a lock file names."""
    statement = specified(name, f"=={version}", file, line, marker, group)
    if isinstance(statement, Reject) or statement.version is None:
        return refused(file, line, f"{name[:_MAX_DETAIL]} {version[:_MAX_DETAIL]!r}: no version by PEP 440")
    return Statement(statement.library, statement.specifier, version, StatementKind.LOCK, file, line, marker, group)


def addressed(
    name: str, url: str, file: str, line: int, marker: str | None = None, group: str | None = None
) -> Statement:
    """State a requirement that comes from an address; a wheel's name says which release it is."""
    version = wheel_version(url)
    kind = StatementKind.EXACT_PIN if version else StatementKind.ADDRESS
    specifier = f"=={version}" if version else ""
    return Statement(canonicalize_name(name), specifier, version, kind, file, line, marker, group)


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
    if _NUMBER.search(specifier):
        raise InvalidSpecifier("a number of more than a hundred digits")
    alternatives = [SpecifierSet(alternative) for alternative in specifier.split("||")]
    pins = [pin for alternative in alternatives[0] if (pin := _pinned(alternative))]
    return pins[0] if pins and len(alternatives) == 1 else None


def _pinned(clause: Specifier) -> str | None:
    if clause.operator not in ("==", "===") or clause.version.endswith(".*"):
        return None
    try:
        Version(clause.version)
    except ValueError:
        raise InvalidSpecifier(f"{clause.version!r} is no version by PEP 440") from None
    return clause.version
