"""Artifacts: which file of a release stands for it, its download into the cache, its sources and its metadata."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packaging.metadata import parse_email
from packaging.utils import canonicalize_name, parse_wheel_filename

from pipeline.crawl.archives import ArchiveLimits, BadArchive, Member, read_members
from pipeline.crawl.http import Fetcher
from pipeline.crawl.index import IndexFile
from pipeline.crawl.tree import SourceTree
from pipeline.lake import Row
from pipeline.rules import Rule
from pipeline.terms import ArtifactKind

SOURCE_ROOTS = ("src/", "lib/", "")


class CrawlRules(Rule):
    """Limits of what is fetched and unpacked, in bytes, and the top-level names that are not the library."""

    max_download_bytes: int
    max_unpacked_bytes: int
    max_ratio: int
    not_the_library: frozenset[str]

    @property
    def archive_limits(self) -> ArchiveLimits:
        """The limits that the archive reader takes."""
        return ArchiveLimits(self.max_unpacked_bytes, self.max_ratio)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the core metadata of a release says of its licence and its authors."""

    licence_expression: str | None
    licence_text: str | None
    classifiers: tuple[str, ...]
    author: str | None


def choose_artifact(files: Sequence[IndexFile]) -> IndexFile | None:
    """Return the file whose sources stand for a release: a pure wheel, else a wheel for Linux, else any, else an sdist.

    The order is fixed, so that neighbouring releases are read from the same kind of file where they have one: a
    switch from wheel to sdist changes the layout, not the API. Among wheels the newest Python counts, since the
    wheel for Python 2 of one release can hold other sources than that for Python 3.
    """
    return min(files, key=_preference, default=None)


def _preference(file: IndexFile) -> tuple[int, int, str]:
    if file.kind is not ArtifactKind.WHEEL:
        return (3, 0, file.filename)
    try:
        tags = parse_wheel_filename(file.filename)[3]
    except ValueError:
        return (4, 0, file.filename)
    newest = max(int("".join(filter(str.isdigit, tag.interpreter)) or 0) for tag in tags)
    if any(tag.platform == "any" for tag in tags):
        return (0, -newest, file.filename)
    linux = any("linux" in tag.platform and "x86_64" in tag.platform for tag in tags)
    return (1 if linux else 2, -newest, file.filename)


class ArtifactStore:
    """The cache of downloaded artifacts, addressed by their sha256."""

    def __init__(self, root: Path, fetcher: Fetcher, rules: CrawlRules) -> None:
        self.root = root
        self.fetcher = fetcher
        self.rules = rules

    def path(self, sha256: str) -> Path:
        """Return where an artifact is, or would be."""
        return self.root / sha256[:2] / sha256

    def fetch(self, url: str, sha256: str) -> Path:
        """Return the artifact's file, downloading it if it is not there.

        Errors: Unreachable, NotFound, BadAnswer, WrongHash.
        """
        path = self.path(sha256)
        if not path.is_file():
            self.fetcher.download(url, path, sha256=sha256, max_bytes=self.rules.max_download_bytes)
        return path

    def tree(self, release: Row) -> SourceTree:
        """Return the sources of a `releases` row."""
        return self.read(self.fetch(release["url"], release["sha256"]), release["library"])[0]

    def read(self, path: Path, library: str) -> tuple[SourceTree, Metadata]:
        """Read sources and metadata of an artifact.

        Errors: BadArchive, UnsafeArchive.
        """
        members = list(read_members(path, _is_wanted, self.rules.archive_limits))
        return _source_tree(members, library, self.rules), _metadata(members)


def _is_wanted(name: str) -> bool:
    return name.endswith((".py", ".pyi")) or PurePosixPath(name).name in {"METADATA", "PKG-INFO", "top_level.txt"}


def _source_tree(members: Iterable[Member], library: str, rules: CrawlRules) -> SourceTree:
    contents = {member.name: member.content for member in members}
    sources = {name: content for name, content in contents.items() if name.endswith((".py", ".pyi"))}
    top_level = next((c for name, c in sorted(contents.items()) if name.endswith("/top_level.txt")), b"")
    announced = frozenset(top_level.decode("utf-8", "replace").split())
    found: list[tuple[str, dict[str, bytes], list[str]]] = []
    for root in _roots(contents):
        files = {name[len(root) :]: content for name, content in sources.items() if name.startswith(root)}
        names = _import_names(files, announced, library, rules)
        if names:
            kept = {name: content for name, content in files.items() if _top(name) in names}
            found.append((root, kept, names))
    if not found:
        return SourceTree({}, "", ())
    root, files, names = max(found, key=lambda tree: (bool(announced & set(tree[2])), _names_library(tree[2], library)))
    return SourceTree(dict(sorted(files.items())), root, tuple(names))


def _roots(contents: Iterable[str]) -> list[str]:
    """Return the folders that can be the import root: of a wheel its top, of an sdist `name-version/` and below."""
    names = list(contents)
    if any(name.split("/")[0].endswith(".dist-info") for name in names):
        return [""]
    tops = sorted({name.split("/")[0] + "/" for name in names if "/" in name})
    return [top + root for top in tops for root in SOURCE_ROOTS]


def _import_names(files: Iterable[str], announced: frozenset[str], library: str, rules: CrawlRules) -> list[str]:
    """Return the packages (folders with an __init__) and modules at the root that belong to the library."""
    paths = [PurePosixPath(name) for name in files]
    tops = {path.parts[0] for path in paths if len(path.parts) > 1 and path.stem == "__init__" and len(path.parts) == 2}
    tops |= {path.stem for path in paths if len(path.parts) == 1 and path.stem.isidentifier()}
    kept = {top for top in tops if not top.startswith("_")} - (rules.not_the_library - {library})
    return sorted(kept & announced or kept)


def _names_library(names: Sequence[str], library: str) -> bool:
    return library in {canonicalize_name(name) for name in names}


def _top(path: str) -> str:
    first = PurePosixPath(path).parts[0]
    return first.rsplit(".", 1)[0] if first == path else first


def _metadata(members: Iterable[Member]) -> Metadata:
    """Read METADATA or the shallowest PKG-INFO (an sdist has another in its egg-info)."""
    found = [m for m in members if PurePosixPath(m.name).name in {"METADATA", "PKG-INFO"}]
    if not found:
        return Metadata(None, None, (), None)
    raw, _ = parse_email(min(found, key=lambda m: (m.name.count("/"), m.name)).content)
    people = [raw.get("author"), raw.get("author_email"), raw.get("maintainer"), raw.get("maintainer_email")]
    return Metadata(
        licence_expression=raw.get("license_expression"),
        licence_text=raw.get("license"),
        classifiers=tuple(raw.get("classifiers", ())),
        author=next((person.strip() for person in people if person and person.strip()), None),
    )


def read_artifact(store: ArtifactStore, file: IndexFile, library: str) -> tuple[SourceTree, Metadata]:
    """Fetch a file of the index and read it; a tree without import names is an error of the archive.

    Errors: those of ArtifactStore.fetch and ArtifactStore.read.
    """
    if file.size > store.rules.max_download_bytes:
        raise BadArchive(f"{file.filename}: {file.size} bytes, the limit is {store.rules.max_download_bytes}")
    return store.read(store.fetch(file.url, file.sha256), library)
