"""Wheels read by ranges: the list of members and RECORD first, then only the sources that are needed.

What comes is checked against RECORD (PEP 376, PEP 427) and against the zip's CRC. The index's own hash is of the whole
file, so that RECORD itself is only as good as the connection to the index.
"""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Iterable

import msgspec

from pipeline.index.archives import ZipMembers
from pipeline.index.http import Fetcher, NoRanges
from pipeline.index.manifest import SOURCES, Artifact, Manifest, Needed, is_about, make_manifest, sha256_of
from pipeline.index.ranges import RemoteFile
from pipeline.index.rules import CrawlRules


def read_wheel(
    fetcher: Fetcher, artifact: Artifact, rules: CrawlRules, needed: Needed
) -> tuple[Manifest, dict[str, bytes]]:
    """Read manifest and needed contents of a wheel without fetching the rest of it.

    Errors: NoRanges where it cannot be read or not be checked in parts, BadArchive, UnsafeArchive, those of Fetcher.
    """
    file = RemoteFile(fetcher, artifact.url, rules.ranges, rules.max_download_bytes)
    wheel = ZipMembers(file, file.size, rules.archive_limits)
    names = wheel.names
    about = _read(file, wheel, [name for name in names if _is_record(name) or is_about(name, artifact)])
    hashes = _record(artifact, about)
    _check(artifact, {name: content for name, content in about.items() if not _is_record(name)}, hashes)
    files = _sources(artifact, names, hashes)
    manifest = make_manifest(msgspec.structs.replace(artifact, size=file.size), names, files, about)
    chosen = needed(manifest)
    # The same bytes under several names, as empty files are, are fetched once.
    first = {files[name]: name for name in reversed(manifest.files) if files[name] in chosen}
    sources = _read(file, wheel, first.values())
    _check(artifact, sources, files)
    return manifest, {files[name]: content for name, content in sources.items()}


def _read(file: RemoteFile, wheel: ZipMembers, names: Iterable[str]) -> dict[str, bytes]:
    chosen = list(names)
    file.fetch(wheel.place(name) for name in chosen)
    return {name: wheel.read(name) for name in chosen}


def _is_record(name: str) -> bool:
    return name.count("/") == 1 and name.endswith(".dist-info/RECORD")


def _record(artifact: Artifact, about: dict[str, bytes]) -> dict[str, str]:
    """Return the sha256 (hex) of each file that is read, as far as RECORD gives one."""
    records = [content for name, content in about.items() if _is_record(name)]
    if len(records) != 1:
        raise NoRanges(f"{artifact.url}: {len(records)} RECORD files")
    try:
        rows = list(csv.reader(io.StringIO(records[0].decode("utf-8"), newline="")))
        hashes = {row[0]: row[1] for row in rows if len(row) > 1 and row[1].startswith("sha256=")}
        return {name: _hex(text) for name, text in hashes.items() if name.endswith(SOURCES) or is_about(name, artifact)}
    except (ValueError, csv.Error) as error:
        raise NoRanges(f"{artifact.url}: RECORD cannot be read: {error}") from None


def _hex(record_hash: str) -> str:
    """Turn a hash of RECORD, urlsafe base64 without its padding, into hex."""
    return base64.urlsafe_b64decode(record_hash.removeprefix("sha256=") + "==").hex()


def _sources(artifact: Artifact, names: Iterable[str], hashes: dict[str, str]) -> dict[str, str]:
    sources = [name for name in names if name.endswith(SOURCES)]
    unlisted = [name for name in sources if name not in hashes]
    if unlisted:
        raise NoRanges(f"{artifact.url}: RECORD has no sha256 of {len(unlisted)} sources, the first is {unlisted[0]}")
    return {name: hashes[name] for name in sources}


def _check(artifact: Artifact, members: dict[str, bytes], hashes: dict[str, str]) -> None:
    for name, content in members.items():
        if name in hashes and hashes[name] != sha256_of(content):
            raise NoRanges(f"{artifact.url}: {name} is not what RECORD says, sha256 {hashes[name]}")
