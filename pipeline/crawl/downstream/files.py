"""Which files of a dependent's release use the library, and for which of its releases they were written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from posixpath import dirname

from pipeline.crawl.downstream.about import about
from pipeline.crawl.downstream.choosing import DependentRelease
from pipeline.crawl.downstream.imports import import_line, imports, source_text
from pipeline.crawl.downstream.rules import DependentRules
from pipeline.crawl.downstream.sdists import Sdist
from pipeline.crawl.found import Found
from pipeline.crawl.licences import LicenceRules
from pipeline.crawl.pins import KnownVersion, Narrow, Pins, Published, is_pin_file, read_pins, version_of
from pipeline.lake import Reject, Row
from pipeline.terms import Language, RejectReason, SnippetSource

_ROOTS = ("src", "lib")


@dataclass(frozen=True)
class Target:
    """The library whose uses are looked for: its `releases` in the lake, and all that were `published`."""

    library: str
    releases: tuple[Row, ...]
    published: Sequence[Published]

    @cached_property
    def covered(self) -> frozenset[str]:
        """The versions in the lake."""
        return frozenset(row["version"] for row in self.releases)

    @cached_property
    def names(self) -> frozenset[str]:
        """The top-level packages and modules of the library."""
        return frozenset(name for row in self.releases for name in row["import_names"])


def pieces(
    target: Target,
    release: DependentRelease,
    sdist: Sdist,
    rules: DependentRules,
    licences: LicenceRules,
    narrow: Narrow | None = None,
) -> Iterator[Found | Reject]:
    """Yield the files of a release that import the library, and what was refused: a file, a line, or the release."""
    read = {path: text for path in sorted(sdist.files) if (text := _read(target, release, sdist, path, rules))}
    if not read:
        count = sum(path.endswith(".py") for path in sdist.files)
        detail = f"none of its {count} Python files imports {', '.join(sorted(target.names))}"
        yield Reject(release.purl, RejectReason.NO_USE, detail)
        return
    yield from (refused for refused in read.values() if isinstance(refused, Reject))
    texts = {path: text for path, text in read.items() if isinstance(text, str)}
    if texts:
        pins = _pins(sdist, rules)
        yield from (Reject(f"{release.purl}#{line.key}", line.reason, line.detail) for line in pins.rejects)
        yield from _dated(target, release, texts, pins, sdist.metadata, licences, narrow)


def _pins(sdist: Sdist, rules: DependentRules) -> Pins:
    """Read what states versions; requirements among tests are there to be tested with."""
    return read_pins(
        {path: text for path, text in sdist.files.items() if is_pin_file(path) and not rules.out_of_scope(path, "")}
    )


def _read(
    target: Target, release: DependentRelease, sdist: Sdist, path: str, rules: DependentRules
) -> str | Reject | None:
    """Return the text of a file that imports the library, why it is refused, or None where it does not import it."""
    content = sdist.files[path]
    if not path.endswith(".py") or not import_line(target.names).search(content):
        return None
    key = f"{release.purl}#{path}"
    if len(content) > rules.max_file_bytes:
        return Reject(key, RejectReason.TOO_LARGE, f"{len(content)} bytes, the limit is {rules.max_file_bytes}")
    text = source_text(content)
    if text is None:
        return Reject(key, RejectReason.UNREADABLE, "not in the encoding that it states (PEP 263), or no text")
    if not imports(text, target.names):
        return None
    why = _own_package(path, target.names) or rules.out_of_scope(path, text)
    return Reject(key, RejectReason.OUT_OF_SCOPE, why) if why else text


def _own_package(path: str, names: frozenset[str]) -> str | None:
    """Say so where a file stands in a package that is called as the library is: what it imports may be itself."""
    first, _, rest = path.partition("/")
    package = (rest.partition("/")[0] if first in _ROOTS else first).removesuffix(".py")
    return f"the distribution has a package {package} of its own: a copy of the library" if package in names else None


def _dated(
    target: Target,
    release: DependentRelease,
    texts: Mapping[str, str],
    pins: Pins,
    metadata: str,
    licences: LicenceRules,
    narrow: Narrow | None,
) -> Iterator[Found | Reject]:
    """Yield the files with the version of the library that is stated for their folder, and once each why it is not."""
    told = about(metadata, licences)
    versions: dict[str, KnownVersion | Reject] = {}
    refused: dict[Reject, int] = {}
    for path, text in texts.items():
        folder = dirname(path)
        if folder not in versions:
            versions[folder] = version_of(
                target.library,
                pins.stated,
                target.releases,
                release.uploaded,
                file=path,
                published=target.published,
                narrow=narrow,
            )
        known = versions[folder]
        if isinstance(known, Reject):
            refused[known] = refused.get(known, 0) + 1
            continue
        yield Found(
            source=SnippetSource.DOWNSTREAM,
            library=target.library,
            version=known.version,
            version_evidence=known.evidence,
            stated=known.words,
            origin=f"pypi:{release.dependent}",
            place=release.purl,
            url=told.url or release.purl,
            file=path,
            line=1,
            text=text,
            language=Language.PYTHON,
            created_time=release.uploaded,
            licence=told.licence,
            attribution=told.attribution,
            title=None,
        )
    for reject, count in refused.items():
        yield Reject(release.purl, reject.reason, f"{reject.detail} ({count} of {len(texts)} files that import it)")
