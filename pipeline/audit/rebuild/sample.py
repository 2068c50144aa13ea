"""A sample of a snapshot's rows, made again from what they say they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.compute as pc
from packaging.version import Version

from pipeline.audit.rebuild import families, projects, sources
from pipeline.audit.rebuild.basis import otherwise_made
from pipeline.audit.rebuild.context import World
from pipeline.audit.rebuild.outcome import Made, NotMade, NotRebuilt, Rebuilt, held_against, id_of, not_rebuilt
from pipeline.core.rules.profiles import LibraryRule, Profile
from pipeline.core.settings import settings
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.core.vocabularies.snapshots import Rebuilding
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.families.completions_and_migrations.source import BrokenSource
from pipeline.index.release_selection import Period
from pipeline.lake.ids import sha256_text
from pipeline.lake.intervals import holds_at
from pipeline.lake.rows import SnippetRow
from pipeline.lake.schema import Row
from pipeline.orchestration.resources.resources import House
from pipeline.snapshots.format.reader import Snapshot

Maker = Callable[[World, Row], Made]

MAKERS: Mapping[str, Maker] = {
    "completions": families.completion,
    "migrations": families.migration,
    "block_completions": families.block_completion,
    "controlled_completions": families.controlled_completion,
    "problems": families.problem,
    "functions": families.function,
    "repository_tasks": projects.repository_task,
    "scenes": projects.scene,
    "contexts": families.context,
    "changes": families.change,
    "snippets": sources.snippet,
    "uses": sources.uses,
    "api_documents": sources.api_document,
    "documents": sources.document,
}
"""What makes a row of a configuration again; `uses` are all the uses of a snippet."""

DRAWN = (*INSTANCE_TABLES, "contexts", "changes")
"""The configurations that rows are drawn from; of the others those are taken that the drawn ones come from."""

_LIBRARIES = 2

_OF_CHANGES = ("completions", "migrations", "controlled_completions")
_CORRECTED = "probes corrected whether a change of its API breaks calls; it is the same with what the comparison said"


@dataclass(frozen=True, slots=True)
class Draw:
    """How many rows of each configuration are drawn; whether artifacts are read; what the draw hangs on."""

    rows: int
    artifacts: bool = True
    seed: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """What making rows again came to, and what the snapshot was made by that is another today."""

    results: tuple[Rebuilt, ...] = ()
    otherwise_made: tuple[str, ...] = ()

    @property
    def differing(self) -> list[Rebuilt]:
        """The rows that came out as others."""
        return [one for one in self.results if one.outcome is Rebuilding.DIFFERS]

    @property
    def problems(self) -> list[str]:
        """What that says against the snapshot: nothing where it was made by other rules, or by another driftline."""
        return [] if self.otherwise_made else [one.line for one in self.differing]


def rebuild_sample(
    snapshot: Path, draw: Draw, tell: Callable[[str, int, int], None] = lambda what, done, total: None
) -> Sample:
    """Draw rows of a snapshot and make them again; with them the snippets, uses and documents they come from.

    A row is compared column by column, by bytes. It is drawn by the hash of its id, from at most two libraries of each
    configuration, so that the same snapshot gives the same sample. Artifacts come from the cache, else from the index.

    Errors: RuleError for rule files that are wrong; SnapshotError.
    """
    known = Snapshot(snapshot)
    house = House(settings(), Profile(name="verify", libraries=(LibraryRule(library="verify"),)), Period())
    seed = draw.seed or known.sha256
    drawn: dict[str, list[tuple[str, Row]]] = {}
    for config in DRAWN:
        for row in _drawn(known, config, draw.rows, seed):
            drawn.setdefault(row["library"], []).append((config, row))
    results: list[Rebuilt] = []
    for done, (library, rows) in enumerate(sorted(drawn.items())):
        tell(f"making rows of {library} again", done, len(drawn))
        world = World(known, library, house, artifacts=draw.artifacts)
        results += [
            _rebuilt(world, config, row) for config, row in (*_prepared(world, rows), *_behind(world, rows, draw.rows))
        ]
    return Sample(tuple(results), tuple(otherwise_made(known.manifest, house.rules)))


def _drawn(snapshot: Snapshot, config: str, count: int, seed: str) -> list[Row]:
    if not snapshot.has(config):
        return []
    name = "completion_id" if config == "contexts" else "id"
    by_library: dict[str, list[str]] = {}
    for row in snapshot.rows(config, (name, "library")):
        by_library.setdefault(row["library"], []).append(row[name])
    chosen = sorted(by_library, key=lambda library: sha256_text(f"{seed} {library}"))[:_LIBRARIES]
    ranked = {one: sorted(by_library[one], key=lambda key: sha256_text(f"{seed} {key}")) for one in chosen}
    # the first of each library, then the second of each
    rounds = [(place, one) for place in range(count) for one in chosen if place < len(ranked[one])]
    ids = [ranked[one][place] for place, one in rounds][:count]
    return snapshot.rows(config, where=pc.field(name).isin(ids)) if ids else []


def _prepared(world: World, rows: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, Row]]:
    """Put beside a context what was retrieved for it."""
    for config, row in rows:
        if config == "contexts":
            hits = [hit for hit in world.rows("retrievals") if hit["completion_id"] == row["completion_id"]]
            yield config, row | {"hits": families.ranked(hits)}
        else:
            yield config, row


def _behind(world: World, rows: Iterable[tuple[str, Row]], count: int) -> Iterator[tuple[str, Row]]:
    """Yield what the drawn rows come from: snippets, their uses, and documents."""
    snippets = {row["snippet_id"]: world.snippets[row["snippet_id"]] for _, row in rows if row.get("snippet_id")}
    for snippet in snippets.values():
        yield "snippets", snippet
        if snippet["path"] is not None or snippet["language"] == "python":
            yield "uses", snippet | {"uses": sources.in_order(world.usages[snippet["id"]])}
    wanted = {row["document_id"] for _, row in rows if row.get("document_id")}
    yield from (("api_documents", row) for row in world.rows("api_documents") if row["id"] in wanted)
    yield from (("documents", row) for row in _documents(world, snippets.values(), count))


def _documents(world: World, snippets: Iterable[SnippetRow], count: int) -> list[Row]:
    """Return the documents that snippets were taken from, of as many releases as there are rows to be drawn."""
    examples = [one for one in snippets if one["source"] == SnippetSource.DOCSTRING]
    found = {
        id_of(row): row
        for one in examples
        for row in world.rows("documents")
        if row["path"] == one["path"] and holds_at(row, Version(one["version"]))
    }
    releases = sorted({row["first_version"] for row in found.values()}, key=lambda version: sha256_text(version))[
        :count
    ]
    kept = [row for row in found.values() if row["first_version"] in releases]
    return sorted(kept, key=lambda row: (row["first_version"], row["path"]))


def _rebuilt(world: World, config: str, row: Row) -> Rebuilt:
    """Make a row again; where it comes out as another, once more with what probes corrected."""
    found = _made_again(world, config, row)
    if found.outcome is not Rebuilding.DIFFERS or config not in _OF_CHANGES:
        return found
    before = world.before_probes(row)
    again = _made_again(before, config, row) if before else found
    return found if again.outcome is Rebuilding.DIFFERS else replace(again, outcome=Rebuilding.PART, why=_CORRECTED)


def _made_again(world: World, config: str, row: Row) -> Rebuilt:
    try:
        return held_against(config, row, MAKERS[config](world, row))
    except NotRebuilt as why:
        return not_rebuilt(config, row, str(why))
    except NotMade as why:
        if refuted := _refuted(world, row):
            return not_rebuilt(config, row, refuted)
        return Rebuilt(config, id_of(row), row["library"], Rebuilding.DIFFERS, (), str(why))
    except (LookupError, BrokenSource) as error:
        why_not = f"what it is made from is not there, or broken: {error!r}"
        return Rebuilt(config, id_of(row), row["library"], Rebuilding.DIFFERS, (), why_not)


def _refuted(world: World, row: Row) -> str:
    """Say that a change of the row's API was refuted, where one was: it is not in a snapshot, and tags hang on it."""
    named = [
        reject
        for reject in world.rows("rejects")
        if reject["reason"] == RejectReason.LABEL_REFUTED and f" {row.get('path')} " in f" {reject['detail']} "
    ]
    return "a change of its API was refuted, and refuted changes are not in a snapshot" if named else ""
