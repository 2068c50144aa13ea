"""What an artifact holds: its source files by hash, and what it says of itself; reading that from a whole archive."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import IO

import msgspec
from packaging.metadata import parse_email

from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.index.archives import ArchiveLimits, read_members

SOURCES = (".py", ".pyi")
EXTENSION_MODULES = (".so", ".pyd")
ABOUT = ("METADATA", "PKG-INFO", "top_level.txt")

Needed = Callable[["Manifest"], Set[str]]
"""Which contents (sha256) are to be read of an artifact, once it is known what it holds."""


class Artifact(msgspec.Struct, frozen=True):
    """A file of the index: where it is, what it must hash to, its bytes (0: not told)."""

    url: str
    sha256: str
    size: int
    kind: ArtifactKind


class Manifest(msgspec.Struct, frozen=True):
    """What an artifact holds, whatever of it is the library.

    `files` maps each source file's name in the archive to the sha256 (hex) of its bytes; `compiled` are the names of
    what may be extension modules; `metadata` and `top_level` are the core metadata and top_level.txt, or nothing.
    """

    artifact: Artifact
    files: dict[str, str]
    compiled: tuple[str, ...]
    metadata: str
    top_level: str


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the core metadata of a release says of its licence and its authors."""

    licence_expression: str | None
    licence_text: str | None
    classifiers: tuple[str, ...]
    author: str | None


def make_manifest(
    artifact: Artifact, names: Iterable[str], files: Mapping[str, str], about: Mapping[str, bytes]
) -> Manifest:
    """Make a manifest of all names of an archive, the hashes of its sources and the contents of what is_about() it."""
    info, top_level = (about.get(name or "", b"").decode("utf-8", "replace") for name in about_names(about, artifact))
    compiled = tuple(sorted(name for name in names if name.endswith(EXTENSION_MODULES)))
    return Manifest(artifact, dict(sorted(files.items())), compiled, info, top_level)


def is_about(name: str, artifact: Artifact) -> bool:
    """Tell whether a member may be the core metadata or top_level.txt of a wheel or sdist (PEP 427, PEP 643)."""
    folder, _, last = name.rpartition("/")
    if last not in ABOUT or artifact.kind is not ArtifactKind.WHEEL:
        return last in ABOUT
    return folder.endswith(".dist-info") and "/" not in folder


def about_names(names: Iterable[str], artifact: Artifact) -> tuple[str | None, str | None]:
    """Return the names of core metadata and top_level.txt; an sdist has more of them in its egg-info, further down."""
    about = sorted((name for name in names if is_about(name, artifact)), key=lambda name: (name.count("/"), name))
    metadata = next((name for name in about if not name.endswith("top_level.txt")), None)
    return metadata, next((name for name in about if name.endswith("top_level.txt")), None)


def parse_metadata(text: str) -> Metadata:
    """Read core metadata, of which any field may be missing."""
    raw, _ = parse_email(text)
    people = [raw.get("author"), raw.get("author_email"), raw.get("maintainer"), raw.get("maintainer_email")]
    return Metadata(
        licence_expression=raw.get("license_expression"),
        licence_text=raw.get("license"),
        classifiers=tuple(raw.get("classifiers", ())),
        author=next((person.strip() for person in people if person and person.strip()), None),
    )


def read_archive(
    file: IO[bytes], artifact: Artifact, limits: ArchiveLimits, needed: Needed
) -> tuple[Manifest, dict[str, bytes]]:
    """Read manifest and needed contents of an archive that is here whole.

    Errors: BadArchive, UnsafeArchive.
    """
    names = []

    def is_selected(name: str) -> bool:
        names.append(name)
        return name.endswith(SOURCES) or is_about(name, artifact)

    members = {member.name: member.content for member in read_members(file, is_selected, limits)}
    files = {name: sha256_of(content) for name, content in members.items() if name.endswith(SOURCES)}
    manifest = make_manifest(artifact, names, files, {name: c for name, c in members.items() if name not in files})
    hashes = needed(manifest)
    return manifest, {sha256: members[name] for name, sha256 in files.items() if sha256 in hashes}


def sha256_of(content: bytes) -> str:
    """Return the sha256 of bytes in hex."""
    return hashlib.sha256(content).hexdigest()
