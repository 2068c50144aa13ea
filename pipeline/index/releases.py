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
from pipeline.index.period_coverage import CoveredRelease, as_progress, cover, periods_of
from pipeline.index.release_selection import ReleaseRequest, finals_of
from pipeline.index.rules import CrawlRules
from pipeline.lake.guard import attempt
from pipeline.lake.ids import sha256_json
from pipeline.lake.place import at_release
from pipeline.lake.rows import ReleaseRow, Tables
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
    request: ReleaseRequest,
    tables: Tables,
    index_url: str,
    store: ArtifactStore,
    licences: LicenceRules,
    workers: int,
    choose: Choose | None = None,
    progress: Mapping[str, Any] | None = None,
) -> Output:
    """Read the requested releases that are new, beside the rows of earlier runs.

    The table holds what this and all earlier periods (`progress`) cover as of the end of this one; later releases are
    left out. The sources that `choose` selects are in the store afterwards. The unit is a release in the requested
    range. If the index does not answer, or has no such library any more, the earlier rows until the end stay as they
    are and the library is a reject.
    """
    earlier = tables["releases"]
    try:
        listed = project(store.fetcher, index_url, request.library)
    except (Unreachable, NotFound, BadAnswer) as error:
        return _without_index(request, earlier, error, progress)
    if request.period.from_start_if_new and not earlier and not progress:
        request = replace(request, period=replace(request.period, since=None))
    periods = periods_of(progress, request.period, request.latest is not None)
    covered = cover(listed, request, periods, earlier)
    _, refused = finals_of(listed, request.versions, request.period.until, request.named)
    by_version = {row["version"]: row for row in earlier}
    releases = {version: by_version[version] for version in covered.retained}
    releases |= {
        version: by_version[version] | {"as_of": release.as_of}
        for version, release in covered.releases.items()
        if version in by_version and _is_of(by_version[version], release, listed)
    }
    permanent_rejects = PermanentRejects(progress, store.rules)
    new = [release for version, release in covered.releases.items() if version not in releases]
    with ThreadPoolExecutor(workers) as pool:
        row_of = partial(_release, library=request.library, store=store, licences=licences, choose=choose)

        def read(covered: CoveredRelease) -> ReleaseRow | Reject:
            reject = permanent_rejects.of(covered)
            return reject if reject is not None else attempt(covered.candidate.version, row_of, covered)

        for release, result in zip(new, pool.map(read, new), strict=True):
            if isinstance(result, Reject):
                refused.append(result)
                permanent_rejects.keep(release, result)
            else:
                releases[result["version"]] = result
    if not releases and not refused:
        refused.append(Reject(request.library, RejectReason.NO_RELEASES, f"no release in {request.versions or 'any'}"))
    rows = [
        releases[version] | {"predecessor": covered.predecessors[version]} for version in sorted(releases, key=Version)
    ]
    noted = {"periods": as_progress(periods, datetime.now(UTC)), "refused": permanent_rejects.retained}
    return Output({"releases": rows}, len(rows) + len(refused), len(rows), refused, progress=noted)


def _is_of(row: ReleaseRow, release: CoveredRelease, listed: Project) -> bool:
    """Tell whether a row is of a file that was there at the end of the period that wants the release."""
    uploaded = {file.sha256: file.uploaded for file in listed.releases.get(row["version"], ())}.get(row["sha256"])
    return release.candidate.file is None or release.end is None or uploaded is None or uploaded < release.end


class PermanentRejects:
    """The files that were read and refused for good: reading them again would not come out otherwise."""

    def __init__(self, progress: Mapping[str, Any] | None, rules: CrawlRules) -> None:
        self._basis = sha256_json(plain(rules))[:16]
        self._before: Mapping[str, Sequence[str]] = (progress or {}).get("refused", {})
        self.retained: dict[str, Sequence[str]] = {}

    def of(self, release: CoveredRelease) -> Reject | None:
        """Return the reject of a release whose file was refused before, under the same rules."""
        entry = self._before.get(self._key(release))
        return Reject(release.candidate.version, RejectReason[entry[0].upper()], entry[1]) if entry else None

    def keep(self, release: CoveredRelease, reject: Reject) -> None:
        """Keep a reject, unless its reason may pass by itself, or with the next Driftline."""
        if reject.reason not in TRANSIENT | {RejectReason.INTERNAL_ERROR}:
            self.retained[self._key(release)] = [str(reject.reason), reject.detail]

    def _key(self, release: CoveredRelease) -> str:
        file = release.candidate.file
        return f"{release.candidate.version} {file.sha256 if file else ''} {self._basis}"


def _without_index(
    request: ReleaseRequest, earlier: Sequence[ReleaseRow], error: Exception, progress: Mapping[str, Any] | None
) -> Output:
    reasons: dict[type[Exception], RejectReason] = {
        NotFound: RejectReason.NO_SUCH_LIBRARY,
        BadAnswer: RejectReason.BAD_INDEX_ANSWER,
        Unreachable: RejectReason.INDEX_UNREACHABLE,
    }
    reason = reasons[type(error)]
    problem = "no project of that name" if isinstance(error, NotFound) else str(error)
    detail = f"{problem}. Check the name in the profile, or the index setting, and run again."
    end = request.period.until
    rows = [row for row in earlier if end is None or row["release_time"] < end]
    return Output(
        {"releases": rows}, len(rows) + 1, len(rows), [Reject(request.library, reason, detail)], progress=progress
    )


def _release(
    release: CoveredRelease,
    library: str,
    store: ArtifactStore,
    licences: LicenceRules,
    choose: Choose | None,
) -> ReleaseRow | Reject:
    candidate, file = release.candidate, release.candidate.file
    if file is None:
        return Reject(candidate.version, RejectReason.NO_FILES, "the index lists it no more")
    try:
        with at_release(candidate.version):
            tree, manifest = store.read(Artifact(file.url, file.sha256, file.size, file.kind), library, choose)
    except tuple(_REASONS) as error:
        # Without the mirror's address, so that the row is the same wherever it was made.
        detail = str(error).replace(f"{file.url}: ", "")
        return Reject(candidate.version, _REASONS[type(error)], f"{file.filename}: {detail}")
    if not tree.import_names:
        return Reject(candidate.version, RejectReason.NO_MODULES, f"{file.filename} holds no package or module to read")
    metadata = parse_metadata(manifest.metadata)
    licence, licence_source = spdx(metadata.licence_expression, metadata.licence_text, metadata.classifiers, licences)
    return {
        "library": library,
        "version": candidate.version,
        "release_time": candidate.uploaded,
        "predecessor": candidate.predecessor,
        "as_of": release.as_of,
        "requires_python": file.requires_python,
        "artifact": file.filename,
        "artifact_kind": file.kind,
        "sha256": file.sha256,
        "size": file.size or manifest.artifact.size,
        "url": file.url,
        "import_names": list(tree.import_names),
        "licence": licence,
        "licence_stated": licence_source,
        "attribution": metadata.author,
        "purl": f"pkg:pypi/{library}@{candidate.version}",
    }
