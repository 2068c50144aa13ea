"""The main job: plan, the groups of stages for each library, publish, totals. Airflow and the CLI call these."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.compute as pc
from packaging.utils import canonicalize_name

from pipeline.crawl import Period
from pipeline.drafting.draftable import counted, draftable
from pipeline.drafting.model.tally import Tally
from pipeline.drafting.summary import Spent, keep_tallies, spent_by, tallies_of
from pipeline.house import House
from pipeline.lake import Count, Lake, read_counts, run_stage, sha256_json, write_json
from pipeline.publish import Published, publish
from pipeline.rules import load_profile, plain
from pipeline.runs import RunRecord, now, record_beginning
from pipeline.settings import settings
from pipeline.stages import GROUPS, stages_of
from pipeline.terms import DraftKind, DraftStanding, RejectReason


@dataclass(frozen=True, slots=True)
class Refresh:
    """What a refresh covers: a profile, some of its libraries (none named: all), a period, and the name of the run."""

    run: str
    profile: str = "starter"
    libraries: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None

    @property
    def period(self) -> Period:
        """The covered period; a date stands for its midnight, UTC."""
        return Period(_time(self.since), _time(self.until))

    @property
    def folder(self) -> Path:
        """Folder in which this run leaves what it did: the counts of its stages, and what it published."""
        return settings().runs / re.sub(r"[^\w.+-]", "_", self.run)

    def house(self) -> House:
        """Return the stages over this refresh.

        Errors: RuleError for a profile that does not exist and for rule files that are wrong.
        """
        return House(settings(), load_profile(self.profile), self.period, self.run)


def _time(text: str | None) -> datetime | None:
    if not text:
        return None
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def plan(refresh: Refresh) -> list[str]:
    """Return the libraries of a refresh, after reading every rule file: a typo stops a run before it begins."""
    house = refresh.house()
    if refresh.libraries:
        return list(dict.fromkeys(str(canonicalize_name(library)) for library in refresh.libraries))
    return [rule.library for rule in house.profile.libraries]


def begin(refresh: Refresh) -> list[str]:
    """Plan a refresh, and leave a record of it for its report."""
    libraries = plan(refresh)
    stages = tuple(name for names in GROUPS.values() for name in names)
    covered = (refresh.run, refresh.profile, tuple(libraries), stages, refresh.since, refresh.until)
    record_beginning(refresh.folder, RunRecord(*covered, began=now()))
    return libraries


def run_group(refresh: Refresh, group: str, library: str) -> list[Count]:
    """Run one group of stages for one library."""
    house = refresh.house()
    stages = stages_of(house)
    counts: list[Count] = []
    for name in GROUPS[group]:
        try:
            counts.append(run_stage(stages[name], library, house.lake, refresh.folder / "counts"))
        finally:
            _keep_asked(house, refresh.folder, library, name)
    return counts


def _keep_asked(house: House, folder: Path, library: str, stage: str) -> None:
    """Leave with the run what a stage asked of a model, also where the stage broke off, and begin to count anew."""
    if house.has_asked and house.drafter is not None:
        keep_tallies(folder, library, stage, house.drafter.told())
        house.drafter.tallies.clear()


def publish_refresh(refresh: Refresh) -> Published:
    """Publish the snapshot of a profile from what is in the lake, with whatever other libraries were asked for.

    A refresh of some libraries brings those up to date; the snapshot still holds the others.
    """
    house = refresh.house()
    rules = sha256_json(plain(vars(house.rules)))
    crawled = set(house.lake.libraries("releases"))
    listed = [rule.library for rule in house.profile.libraries if rule.library in crawled]
    libraries = sorted({*listed, *plan(refresh)})
    published = publish(house.lake, settings().snapshots, refresh.profile, libraries, refresh.period, rules)
    write_json(refresh.folder / "published.json", asdict(published))
    return published


def published_of(refresh: Refresh) -> Published | None:
    """Return what a refresh published, None if it did not come to that."""
    path = refresh.folder / "published.json"
    if not path.is_file():
        return None
    kept = json.loads(path.read_text())
    return Published(**kept | {"path": Path(kept["path"])})


def left_out(refresh: Refresh) -> dict[str, str]:
    """Return the sources of code that could not be asked for any of the libraries, each with why and what to do."""
    return sources_left_out(Lake(settings().lake), plan(refresh))


def sources_left_out(lake: Lake, libraries: Iterable[str]) -> dict[str, str]:
    """Return the sources of code that the lake says could not be asked for libraries, each with why and what to do."""
    where = (pc.field("stage") == "gather") & (pc.field("reason") == RejectReason.SOURCE_LEFT_OUT)
    notes = [row for library in libraries for row in lake.read("rejects", library, where)]
    return {row["key"]: row["detail"] for row in sorted(notes, key=lambda row: (row["key"], row["detail"]))}


@dataclass(frozen=True, slots=True)
class Drafts:
    """What came of the texts that the offline drafter cannot write.

    With a key: what was asked of a model, by kind, and what it has cost. Without: how many rows a model would improve,
    by kind and standing.
    """

    asked: Mapping[DraftKind, Tally]
    spent: Spent | None
    improvable: Mapping[DraftKind, Mapping[DraftStanding, int]]


def drafts_of(refresh: Refresh) -> Drafts:
    """Return what a refresh has to say of its drafts."""
    house = refresh.house()
    if house.has_model:
        return Drafts(tallies_of(refresh.folder), spent_by(settings().answers, house.rules.models, refresh.run), {})
    return Drafts({}, None, counted(draftable(house.lake, plan(refresh), house.rules)))


def totals(counts: Sequence[Count]) -> list[Count]:
    """Add up the counts of a run over its libraries, one for each stage in the order of the picture."""
    grouped: dict[str, list[Count]] = defaultdict(list)
    for count in counts:
        grouped[count.stage].append(count)
    order = [name for names in GROUPS.values() for name in names]
    return [_sum(name, grouped[name]) for name in order if name in grouped]


def _sum(stage: str, counts: Sequence[Count]) -> Count:
    return Count(
        stage=stage,
        library="",
        seen=sum(count.seen for count in counts),
        made=sum(count.made for count in counts),
        rejected=_added(count.rejected for count in counts),
        unchanged=sum(count.unchanged for count in counts),
        noted=_added(count.noted for count in counts),
        made_before=sum(count.made_before for count in counts),
        rejected_before=_added(count.rejected_before for count in counts),
        noted_before=_added(count.noted_before for count in counts),
        seconds=round(sum(count.seconds for count in counts), 3),
        peak_memory_bytes=max(count.peak_memory_bytes for count in counts),
    )


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add up numbers by reason."""
    return dict(sorted(sum(map(Counter, counts), Counter[str]()).items()))


def counts_of(refresh: Refresh) -> list[Count]:
    """Return the counts that the stages of a refresh have left so far."""
    return read_counts(refresh.folder / "counts")
