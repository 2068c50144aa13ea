"""The figures of a snapshot: instances by what they are, how they are proven, environments, flags and runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.vocabularies.changes import GitChameleonCategory, LibEvolutionEvalTag, VersiCodeTag
from pipeline.core.vocabularies.projects import FunctionType, ProjectOutcome
from pipeline.core.vocabularies.review import FlagKind, ReviewStatus
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome, VerdictRole
from pipeline.core.vocabularies.samples import Direction, Evidence, Granularity, SnippetSource, VersionPattern
from pipeline.core.vocabularies.scenes import BlockType, Scene
from pipeline.core.vocabularies.survival import Loss
from pipeline.core.vocabularies.term import Term
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.snapshots.format.reader import Snapshot

PROJECTS = "project"
"""What stands for a source where the code is a project with its own tests."""
SURVIVES = "still passes"


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a figure: its label, what the label means where that is a term, and numbers by part."""

    label: str
    meaning: str
    parts: Mapping[str, int]

    @property
    def total(self) -> int:
        """All of its parts together."""
        return sum(self.parts.values())


@dataclass(frozen=True, slots=True)
class Figure:
    """Bars that share their parts, in the order of the legend; `note` says what is counted and what is not.

    `before` has what each bar came to in what it is compared with, by label; None where that is nothing.
    """

    name: str
    title: str
    note: str
    parts: Sequence[str]
    bars: Sequence[Bar] = field(default=())
    before: Mapping[str, int] | None = None

    @property
    def most(self) -> int:
        """The longest bar; 1 where all are empty."""
        return max((bar.total for bar in self.bars), default=0) or 1


@dataclass(frozen=True)
class SnapshotTables:
    """The tables of a snapshot, column by column."""

    snapshot: Snapshot

    def columns(self, config: str) -> frozenset[str]:
        """Return the columns that a table has; none where the snapshot has no such table."""
        return self.snapshot.columns(config)

    def count(self, config: str, *columns: str) -> Counter[tuple[Any, ...]]:
        """Count the rows of a table by the values of columns; none where it lacks a column."""
        if not set(columns) <= self.columns(config):
            return Counter()
        return _grouped(self.snapshot.read(config, columns), columns)

    def count_items(self, config: str, lists: str, other: str) -> Counter[tuple[Any, ...]]:
        """Count the items of a column of lists by item and another column."""
        if not {lists, other} <= self.columns(config):
            return Counter()
        data = self.snapshot.read(config, (lists, other))
        items = pa.table(
            {
                lists: pc.list_flatten(data[lists].combine_chunks()),
                other: data[other].combine_chunks().take(pc.list_parent_indices(data[lists].combine_chunks())),
            }
        )
        return _grouped(items, (lists, other))

    def rows(self, config: str) -> int:
        """Return how many rows a table has; 0 where there is none."""
        return self.snapshot.count([config])


def _grouped(data: pa.Table, columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
    counted = data.group_by(list(columns)).aggregate([([], "count_all")]).to_pylist()
    return Counter({tuple(row[column] for column in columns): row["count_all"] for row in counted})


def snapshot_figures(snapshot: Snapshot) -> list[Figure]:
    """Return the figures of a snapshot, in the order of the page; those without any row are left out."""
    tables = SnapshotTables(snapshot)
    figures = [
        *_instances(tables),
        *_as_in_papers(tables),
        _proof(tables),
        _survival(tables),
        _environments(tables),
        _verdicts(tables),
        _flags(tables),
        _reviews(tables),
    ]
    return [figure for figure in figures if any(bar.total for bar in figure.bars)]


def _instances(tables: SnapshotTables) -> Iterator[Figure]:
    """Yield the figures of instances by a property, each bar parted by family."""
    rows = {family: Counter({family: tables.rows(family)}) for family in INSTANCE_TABLES}
    yield _by_family("family", "Instances by family", "", rows, INSTANCE_TABLES)
    sources = {family: _sources(tables, family) for family in INSTANCE_TABLES}
    words = {PROJECTS: "a source distribution with its own tests"}
    note = "Controlled completions are made from documentation, and have no code of others."
    yield _by_family("source", "Instances by source", note, sources, [*SnippetSource, PROJECTS], words)
    for column, title, vocabulary in (
        ("versicode_tag", "Instances by lifecycle tag (VersiCode)", VersiCodeTag),
        ("libevolutioneval_tag", "Instances by API change (LibEvolutionEval)", LibEvolutionEvalTag),
        ("category", "Problems by category (GitChameleon)", GitChameleonCategory),
    ):
        tagged = {family: _values(tables.count(family, column)) for family in INSTANCE_TABLES}
        yield _by_family(column, title, "Families whose rows have no such tag are left out.", tagged, list(vocabulary))
    years = {family: _years(tables, family) for family in INSTANCE_TABLES}
    note = "Year of the release that the answer is for; where rows name no release time, of the source."
    yield _by_family(
        "release_year", "Instances by release year", note, years, sorted({y for n in years.values() for y in n})
    )
    libraries = {family: _values(tables.count(family, "library")) for family in INSTANCE_TABLES}
    named = sum(libraries.values(), Counter[str]())
    yield _by_family(
        "library", "Instances by library", "", libraries, sorted(named, key=lambda library: (-named[library], library))
    )


def _as_in_papers(tables: SnapshotTables) -> Iterator[Figure]:
    """Yield what the papers count beside sources, tags and years: granularity, direction, pattern, kind of scene."""
    for column, title, vocabulary in (
        ("granularity", "Masked code by granularity (VersiCode)", Granularity),
        ("direction", "Migrations by direction (VersiCode)", Direction),
        ("pattern", "Migrations by version pattern (VersiCode)", VersionPattern),
        ("scene", "Scenes by what the developer has (Codev-Bench)", Scene),
        ("block_type", "Scenes by block (Codev-Bench)", BlockType),
        ("function_type", "Repository tasks by kind of function (EvoCodeBench)", FunctionType),
    ):
        counts = {family: _values(tables.count(family, column)) for family in INSTANCE_TABLES}
        yield _by_family(column, title, "", counts, list(vocabulary))


def _survival(tables: SnapshotTables) -> Figure:
    """Return how rows of earlier snapshots came out when they were run again, by period and snapshot."""
    counted = tables.count("survivals", "period", "snapshot", "reason")
    looked_at = sorted({(period, snapshot) for period, snapshot, _ in counted}, reverse=True)
    reasons = [reason for reason in Loss if any(why == reason for *_, why in counted)]
    bars = [
        Bar(
            f"{period}: {snapshot}",
            "",
            {SURVIVES: counted[period, snapshot, None], **{why: counted[period, snapshot, why] for why in reasons}},
        )
        for period, snapshot in looked_at
    ]
    note = "Rows of earlier snapshots whose references were run again in their locked environments, by month."
    return Figure("survival", "Survival", note, [SURVIVES, *reasons], bars)


def _by_family(
    name: str,
    title: str,
    note: str,
    counts: Mapping[str, Counter[str]],
    labels: Iterable[str],
    meanings: Mapping[str, str] | None = None,
) -> Figure:
    families = [family for family in counts if counts[family].total()]
    bars = [
        Bar(label, _meaning(label, meanings), {family: counts[family][label] for family in families})
        for label in labels
    ]
    return Figure(name, title, note, families, [bar for bar in bars if bar.total])


def _meaning(label: str, meanings: Mapping[str, str] | None = None) -> str:
    return label.meaning if isinstance(label, Term) else (meanings or {}).get(label, "")


def _values(counted: Counter[tuple[Any, ...]]) -> Counter[str]:
    return Counter({str(value): number for (value,), number in counted.items() if value is not None})


def _sources(tables: SnapshotTables, family: str) -> Counter[str]:
    if "source" in tables.columns(family):
        return _values(tables.count(family, "source"))
    return Counter({PROJECTS: tables.rows(family)}) if "sdist" in tables.columns(family) else Counter()


def _years(tables: SnapshotTables, family: str) -> Counter[str]:
    column = "release_time" if "release_time" in tables.columns(family) else "created_time"
    years: Counter[str] = Counter()
    for (time,), number in tables.count(family, column).items():
        years[f"{time:%Y}" if time else "unknown"] += number
    return years


def _proof(tables: SnapshotTables) -> Figure:
    note = "How it is known that the version, or the tests, decide: executed rows were seen by running."
    bars = [
        Bar(family, "", {evidence: counted[evidence] for evidence in reversed(Evidence)})
        for family in INSTANCE_TABLES
        if (counted := _values(tables.count(family, "evidence")))
    ]
    return Figure("evidence", "Instances by evidence", note, [*reversed(Evidence)], bars)


def _environments(tables: SnapshotTables) -> Figure:
    configs = {
        "environments": "releases",
        "problem_environments": "releases for problems",
        "function_environments": "releases for functions",
        "projects": "projects",
    }
    counts = {named: _values(tables.count(config, "outcome")) for config, named in configs.items()}
    note = "Environments of releases, those with test tools, and projects whose own tests were to run."
    return _by_family("environments", "Environments by outcome", note, counts, [*EnvironmentOutcome, *ProjectOutcome])


def _verdicts(tables: SnapshotTables) -> Figure:
    counted = tables.count("verdicts", "role", "outcome")
    roles = [role for role in VerdictRole if any(of == role for of, _ in counted)]
    bars = [Bar(outcome, outcome.meaning, {role: counted[role, outcome] for role in roles}) for outcome in Outcome]
    note = "One run of one piece of code in one environment; runs in a neighbouring release are there to fail."
    return Figure("verdicts", "Runs by outcome", note, roles, [bar for bar in bars if bar.total])


def _flags(tables: SnapshotTables) -> Figure:
    counts: Counter[tuple[Any, ...]] = Counter()
    for family in INSTANCE_TABLES:
        counts += tables.count_items(family, "flags", "review_status")
    statuses = [status for status in ReviewStatus if any(of == status for _, of in counts)]
    bars = [Bar(kind, kind.meaning, {status: counts[kind, status] for status in statuses}) for kind in FlagKind]
    note = "Published instances with a flag, by what became of their review; an instance may have several."
    return Figure("flags", "Flags", note, statuses, [bar for bar in bars if bar.total])


def _reviews(tables: SnapshotTables) -> Figure:
    counts = {family: _values(tables.count(family, "review_status")) for family in INSTANCE_TABLES}
    statuses = [status for status in ReviewStatus if any(of[status] for of in counts.values())]
    bars = [Bar(family, "", {s: counts[family][s] for s in statuses}) for family in INSTANCE_TABLES if counts[family]]
    note = "Whether a person has looked at the published instances."
    return Figure("review", "Review", note, statuses, bars)
