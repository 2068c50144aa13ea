"""The releases stage: which releases of a library are taken, and what each of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from packaging.version import Version

from pipeline.core.rules.fingerprint import plain
from pipeline.core.vocabularies.review import RejectReason
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.artifacts import ArtifactStore
from pipeline.index.http import BadAnswer, BrokenOff, NotFound, Unreachable, WrongHash
from pipeline.index.index import Project, project
from pipeline.index.layout import Choose
from pipeline.index.licences import LicenceRules, spdx
from pipeline.index.manifest import Artifact, parse_metadata
from pipeline.index.period_coverage import Want, cover, periods_of, told
from pipeline.index.release_selection import Wanted, finals_of
from pipeline.index.rules import CrawlRules
from pipeline.lake.guard import attempt
from pipeline.lake.ids import sha256_json
from pipeline.lake.place import at_release
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.runner import TRANSIENT
from pipeline.lake.stage import Output, Reject

_REASONS: dict[type[Exception], RejectReason] = {
    Unreachable: RejectReason.INDEX_UNREACHABLE,
    BrokenOff: RejectReason.INDEX_UNREACHABLE,
    NotFound: RejectReason.NO_FILES,
    BadAnswer: RejectReason.NO_FILES,
    WrongHash: RejectReason.WRONG_HASH,
    BadArchive: RejectReason.BAD_ARCHIVE,
    UnsafeArchive: RejectReason.UNSAFE_ARCHIVE,
}


def releases_stage(
    wanted: Wanted,
    known: Sequence[ReleaseRow],
    index_url: str,
    store: ArtifactStore,
    licences: LicenceRules,
    workers: int,
    wanted_sources: Choose | None = None,
    progress: Mapping[str, Any] | None = None,
) -> Output:
    """Take the releases that are wanted and new, beside those `known` from earlier runs.

    The table is what this and all earlier periods (`progress`) cover as of the end of this one: where that lies before
    what is known, the later releases are not in it. Their sources (those paths from the import root that are wanted)
    are in the store afterwards. The unit is a release in the wanted range. When the index cannot be asked, or does not
    know the library any more, what is known until the end stays as it is and the library is a reject.
    """
    try:
        found = project(store.fetcher, index_url, wanted.library)
    except (Unreachable, NotFound, BadAnswer) as error:
        return _without_index(wanted, known, error, progress)
    if wanted.period.from_start_if_new and not known and not progress:
        wanted = replace(wanted, period=replace(wanted.period, since=None))
    periods = periods_of(progress, wanted.period, wanted.latest is not None)
    covered = cover(found, wanted, periods, known)
    _, refused = finals_of(found, wanted.versions, wanted.period.until, wanted.named)
    by_version = {row["version"]: row for row in known}
    made = {version: by_version[version] for version in covered.kept}
    made |= {
        version: by_version[version] | {"as_of": want.as_of}
        for version, want in covered.wants.items()
        if version in by_version and _is_of(by_version[version], want, found)
    }
    refusals = Refused(progress, store.rules)
    new = [want for version, want in covered.wants.items() if version not in made]
    with ThreadPoolExecutor(workers) as pool:
        of_want = partial(_release, library=wanted.library, store=store, licences=licences, wanted=wanted_sources)

        def read(want: Want) -> ReleaseRow | Reject:
            known = refusals.of(want)
            return known if known is not None else attempt(want.candidate.version, of_want, want)

        for want, result in zip(new, pool.map(read, new), strict=True):
            if isinstance(result, Reject):
                refused.append(result)
                refusals.keep(want, result)
            else:
                made[result["version"]] = result
    if not made and not refused:
        refused.append(Reject(wanted.library, RejectReason.NO_RELEASES, f"no release in {wanted.versions or 'any'}"))
    rows = [made[version] | {"predecessor": covered.predecessors[version]} for version in sorted(made, key=Version)]
    noted = {"periods": told(periods, datetime.now(UTC)), "refused": refusals.kept}
    return Output({"releases": rows}, len(rows) + len(refused), len(rows), refused, progress=noted)


def _is_of(row: ReleaseRow, want: Want, found: Project) -> bool:
    """Tell whether a row is of a file that was there at the end of the period that wants the release."""
    uploaded = {file.sha256: file.uploaded for file in found.releases.get(row["version"], ())}.get(row["sha256"])
    return want.candidate.file is None or want.end is None or uploaded is None or uploaded < want.end


class Refused:
    """The files that were read and refused for good: reading them again would not come out otherwise."""

    def __init__(self, progress: Mapping[str, Any] | None, rules: CrawlRules) -> None:
        self._basis = sha256_json(plain(rules))[:16]
        self._before: Mapping[str, Sequence[str]] = (progress or {}).get("refused", {})
        self.kept: dict[str, Sequence[str]] = {}

    def of(self, want: Want) -> Reject | None:
        """Return the reject of a release whose file was refused before, under the same rules."""
        said = self._before.get(self._key(want))
        return Reject(want.candidate.version, RejectReason[said[0].upper()], said[1]) if said else None

    def keep(self, want: Want, reject: Reject) -> None:
        """Keep a reject, unless its reason may pass by itself, or with the next Driftline."""
        if reject.reason not in TRANSIENT | {RejectReason.INTERNAL_ERROR}:
            self.kept[self._key(want)] = [str(reject.reason), reject.detail]

    def _key(self, want: Want) -> str:
        file = want.candidate.file
        return f"{want.candidate.version} {file.sha256 if file else ''} {self._basis}"


def _without_index(
    wanted: Wanted, known: Sequence[ReleaseRow], error: Exception, progress: Mapping[str, Any] | None
) -> Output:
    reasons: dict[type[Exception], RejectReason] = {
        NotFound: RejectReason.NO_SUCH_LIBRARY,
        BadAnswer: RejectReason.BAD_INDEX_ANSWER,
        Unreachable: RejectReason.INDEX_UNREACHABLE,
    }
    reason = reasons[type(error)]
    seen = "no project of that name" if isinstance(error, NotFound) else str(error)
    detail = f"{seen}. Check the name in the profile, or the index setting, and run again."
    end = wanted.period.until
    kept = [row for row in known if end is None or row["release_time"] < end]
    return Output(
        {"releases": kept}, len(kept) + 1, len(kept), [Reject(wanted.library, reason, detail)], progress=progress
    )


def _release(
    want: Want,
    library: str,
    store: ArtifactStore,
    licences: LicenceRules,
    wanted: Choose | None,
) -> ReleaseRow | Reject:
    candidate, file = want.candidate, want.candidate.file
    if file is None:
        return Reject(candidate.version, RejectReason.NO_FILES, "the index lists it no more")
    try:
        with at_release(candidate.version):
            tree, manifest = store.read(Artifact(file.url, file.sha256, file.size, file.kind), library, wanted)
    except tuple(_REASONS) as error:
        # Without the mirror's address, so that the row is the same wherever it was made.
        detail = str(error).replace(f"{file.url}: ", "")
        return Reject(candidate.version, _REASONS[type(error)], f"{file.filename}: {detail}")
    if not tree.import_names:
        return Reject(candidate.version, RejectReason.NO_MODULES, f"{file.filename} holds no package or module to read")
    metadata = parse_metadata(manifest.metadata)
    licence, stated = spdx(metadata.licence_expression, metadata.licence_text, metadata.classifiers, licences)
    return {
        "library": library,
        "version": candidate.version,
        "release_time": candidate.uploaded,
        "predecessor": candidate.predecessor,
        "as_of": want.as_of,
        "requires_python": file.requires_python,
        "artifact": file.filename,
        "artifact_kind": file.kind,
        "sha256": file.sha256,
        "size": file.size or manifest.artifact.size,
        "url": file.url,
        "import_names": list(tree.import_names),
        "licence": licence,
        "licence_stated": stated,
        "attribution": metadata.author,
        "purl": f"pkg:pypi/{library}@{candidate.version}",
    }
