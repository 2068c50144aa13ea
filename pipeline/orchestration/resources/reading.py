"""What a stage takes from outside or goes on with: the index, other sources, surfaces, lives, reviews."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc
from packaging.specifiers import SpecifierSet

from pipeline.api.history.stage import lifecycle_stage
from pipeline.api.surface.stage import identity, in_order, surface_stage
from pipeline.core.settings import index_url
from pipeline.corpus.documentation.sites import sites_stage
from pipeline.corpus.gather import gather_stage
from pipeline.index.release_selection import ReleaseRequest
from pipeline.index.releases import releases_stage
from pipeline.lake.deferred import defer, with_deferred
from pipeline.lake.rows import Tables
from pipeline.lake.stage import Output
from pipeline.lake.tables import Lake, one_of
from pipeline.orchestration.resources.resources import Resources


def crawl(resources: Resources, lake: Lake, library: str, progress: Any) -> Output:
    """Run the releases stage for a library, beside the releases that are known already."""
    if library in resources.rules.stack_overflow.foreign:
        # Of other languages there are posts only.
        return Output({"releases": []}, 0, 0)
    rule = resources.profile.rule_of(library)
    request = ReleaseRequest(library, SpecifierSet(rule.versions), rule.latest, resources.period)
    stored = with_deferred(lake, "releases", library)
    output = releases_stage(
        request,
        {"releases": stored},
        index_url(),
        resources.artifacts,
        resources.rules.licences,
        resources.settings.workers,
        resources.needed_sources,
        progress,
    )
    defer(lake, "releases", library, stored, output.tables["releases"])
    return output


def gather(resources: Resources, lake: Lake, library: str, progress: Any) -> Output:
    """Run the gather stage for a library, beside what was found before."""
    releases, stored = lake.read("releases", library), with_deferred(lake, "code_samples", library)
    sources, end = resources.code_sources.configured(), resources.period.until
    tables: Tables = {"releases": releases, "code_samples": stored}
    output = gather_stage(library, tables, sources, resources.code_period, progress, end)
    defer(lake, "code_samples", library, stored, output.tables["code_samples"])
    return output


def read_sites(resources: Resources, lake: Lake, library: str, progress: Any) -> Output:
    """Run the sites stage for a library, beside what its sites said before."""
    releases, stored = lake.read("releases", library), with_deferred(lake, "site_documents", library)
    sites, end = resources.code_sources.sites(), resources.period.until
    tables: Tables = {"releases": releases, "site_documents": stored}
    output = sites_stage(library, tables, sites, resources.code_period, progress, end)
    defer(lake, "site_documents", library, stored, output.tables["site_documents"])
    return output


def read_surfaces(resources: Resources, lake: Lake, library: str, progress: Any) -> Output:
    """Run the surface stage for a library, going on from an earlier run where the releases follow its own."""
    releases = lake.read("releases", library)
    done = {line[0] for line in progress or ()}
    resources.prepare(release for release in releases if release["version"] not in done)
    return surface_stage(
        {"releases": releases},
        resources.surface_of,
        progress,
        lambda table: _since(lake, table, library),
        resources.surfaces.forget,
    )


def follow_lifecycles(resources: Resources, lake: Lake, library: str, progress: Any) -> Output:
    """Run the lifecycle stage for a library, reading only the states that releases since an earlier run need."""
    releases = lake.read("releases", library)
    identities = [identity(release) for release in in_order(releases)]
    if progress and progress["releases"] != identities[: len(progress["releases"])]:
        # others came between, or the refresh is about a time before: all states are needed
        progress = None
    done = [line[0] for line in progress["releases"]] if progress else []
    where = None
    if done:
        later = [row["version"] for row in releases if row["version"] not in done]
        last = pc.field("last_version")
        where = last.is_null() | (last == done[-1]) | one_of("last_version", later) | one_of("first_version", later)
    symbols = lake.read("symbols", library, where)
    importable = lake.read("importable_names", library, where)
    lifecycles = lake.read("lifecycles", library, pc.field("removed_in").is_null()) if done else []
    return lifecycle_stage(
        {"releases": releases, "symbols": symbols, "importable_names": importable, "lifecycles": lifecycles},
        resources.rules.lifecycle,
        progress,
    )


def read_decisions(resources: Resources, lake: Lake, library: str, progress: Any) -> Output:
    """Run the stage `decisions` for a library: its settled decisions in the review database, if there is one.

    Errors: StoreError where it does not answer, and where it was there and is gone.
    """
    gone = resources.settings.reviews is None and not resources.settings.reviews_file.is_file()
    if gone and not lake.read("reviews", library):
        return Output({"reviews": []}, 0, 0)
    # slow to import
    from pipeline.quality.annotation.review_rows import settled
    from pipeline.quality.annotation.store import StoreError, open_store

    if gone:
        problem = (
            f"{resources.settings.reviews_file} is gone, and people have decided on rows of {library}: bring it back"
        )
        raise StoreError(
            f"{problem} from a backup, or name in DRIFTLINE_REVIEWS the database that all machines share",
            code="reviews_gone",
        )
    rows, failed = settled(open_store(resources.settings.reviews_url, resources.rules.annotation), library)
    return Output({"reviews": rows}, len(rows) + len(failed), len(rows), failed)


def _since(lake: Lake, table: str, library: str) -> dict[str, str]:
    """Return the first version of each row of a library that still holds, by path."""
    holding = lake.read(table, library, pc.field("last_version").is_null(), ("path", "first_version"))
    return {row["path"]: row["first_version"] for row in holding}
