"""What a release of a dependent gives: its files that use the library, with the version that they were written for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language, SnippetSource
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.dependents.about import About
from pipeline.corpus.dependents.choosing import DependentRelease
from pipeline.corpus.dependents.sdists import Sdist
from pipeline.corpus.pins.version import ResolvedVersion
from pipeline.corpus.python_files import PythonFileRules, Target, dated, pins_of, using
from pipeline.lake.stage import Reject


def pieces(
    release: DependentRelease,
    sdist: Sdist,
    about: About,
    target: Target,
    rules: PythonFileRules,
) -> Iterator[CodeSample | Reject]:
    """Yield the files of a release that import the library, and what was refused: a file, a line, or the release.

    The key of what is refused is the release's package URL, with the path behind `#` where it is a file.
    """
    read = using(sdist.files, target, rules)
    if not read:
        count = sum(path.endswith(".py") for path in sdist.files)
        detail = f"none of its {count} Python files imports {', '.join(sorted(target.names))}"
        yield Reject(release.purl, RejectReason.NO_USE, detail)
        return
    yield from (_inside(release, refused) for refused in read.values() if isinstance(refused, Reject))
    texts = {path: text for path, text in read.items() if isinstance(text, str)}
    if texts:
        pins = pins_of(sdist.files, rules)
        yield from (_inside(release, line) for line in pins.rejects)
        versions = dated(list(texts), pins, target, release.uploaded)
        yield from _undated(release, versions)
        for path, version in versions.items():
            if not isinstance(version, Reject):
                yield _sample(release, about, target, version, path, texts[path])


def _inside(release: DependentRelease, refused: Reject) -> Reject:
    return replace(refused, key=f"{release.purl}#{refused.key}")


def _undated(release: DependentRelease, versions: Mapping[str, ResolvedVersion | Reject]) -> Iterator[Reject]:
    """Yield why the version of files is not known, once for the release and not for each of them."""
    refused = Counter(version for version in versions.values() if isinstance(version, Reject))
    for reject, count in refused.items():
        detail = f"{reject.detail} ({count} of the {len(versions)} files that import it)"
        yield Reject(release.purl, reject.reason, detail)


def _sample(
    release: DependentRelease, about: About, target: Target, version: ResolvedVersion, path: str, text: str
) -> CodeSample:
    return CodeSample(
        source=SnippetSource.DOWNSTREAM,
        library=target.library,
        version=version.version,
        version_evidence=version.evidence,
        version_statement=version.words,
        origin=f"pypi:{release.dependent}",
        place=release.purl,
        url=about.url or release.purl,
        file=path,
        line=1,
        text=text,
        language=Language.PYTHON,
        created_time=release.uploaded,
        licence=about.licence,
        attribution=about.attribution,
        title=None,
    )
