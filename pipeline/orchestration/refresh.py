"""The main job: plan, the groups of stages for each library, totals. Airflow and the CLI call these."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from more_itertools import first
from packaging.utils import canonicalize_name
from packaging.version import Version

from pipeline.core.rules.profiles import load_profile, profile_names
from pipeline.core.settings import settings
from pipeline.core.vocabularies.drafts import DraftKind, DraftStatus
from pipeline.core.vocabularies.review import RejectReason
from pipeline.index.rates import rate_rules
from pipeline.index.release_selection import Period
from pipeline.lake.run_records import RunRecord, now, record_beginning
from pipeline.lake.runner import Count, Stage, drop_former_stages, is_done, read_counts, run_stage
from pipeline.lake.tables import Lake
from pipeline.llm.client.tally import Tally
from pipeline.llm.summary import Spent, keep_tallies, spent_by, tallies_of
from pipeline.orchestration.draftable import counted, draftable
from pipeline.orchestration.failures import forget_failure, run_recorded
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.run_parameters import check_form
from pipeline.orchestration.stages.all_stages import stages_of
from pipeline.orchestration.stages.empty_families import EmptyFamilies, empty_families
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.orchestration.stages.selecting import stages_for
from pipeline.quality.all_rules import CurationRules
from pipeline.snapshots.release_checks.rules import ReleaseCheckRules, read_release_check_rules


@dataclass(frozen=True, slots=True)
class Refresh:
    """What a refresh covers: a profile, some of its libraries (none named: all), a period, and the name of the run.

    Where `families` are named only the stages that these need are run, where `sources` are, only those are asked for
    code of others; what the lake holds of the others stays. `from_start_if_new` covers all releases of a library that
    was never crawled.
    """

    run: str
    profile: str = "starter"
    libraries: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    families: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    from_start_if_new: bool = False

    @property
    def period(self) -> Period:
        """The covered period; a date stands for its midnight, UTC."""
        return Period(_time(self.since), _time(self.until), self.from_start_if_new)

    @property
    def folder(self) -> Path:
        """Folder in which this run leaves what it did: the counts of its stages, and what it published."""
        return settings().runs / re.sub(r"[^\w.+-]", "_", self.run)

    @property
    def plain(self) -> dict[str, Any]:
        """This refresh as plain JSON values, for those whom its end starts."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def resources(self) -> Resources:
        """Return the resources of this refresh.

        Errors: RuleError for a profile that does not exist and for rule files that are wrong.
        """
        profile = load_profile(self.profile)
        if self.sources:
            sources = tuple(source for source in profile.code.sources if source in self.sources)
            profile = profile.model_copy(update={"code": profile.code.model_copy(update={"sources": sources})})
        return Resources(settings(), profile, self.period, self.run)


def refresh_of(plain: Mapping[str, Any]) -> Refresh:
    """Return the refresh that was told as plain values (`Refresh.plain`); what Airflow adds is passed over."""
    names = [field.name for field in fields(Refresh) if field.name in plain]
    values: dict[str, Any] = {
        name: tuple(plain[name]) if isinstance(plain[name], list) else plain[name] for name in names
    }
    return Refresh(**values)


def _time(text: str | None) -> datetime | None:
    if not text:
        return None
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def plan(refresh: Refresh) -> list[str]:
    """Return the libraries of a refresh, after reading every rule file: a typo stops a run before it begins."""
    rate_rules(settings().rules)
    release_check_rules()
    CurationRules.read().try_out()
    resources = refresh.resources()
    if refresh.libraries:
        return list(dict.fromkeys(str(canonicalize_name(library)) for library in refresh.libraries))
    return [rule.library for rule in resources.profile.libraries]


def release_check_rules() -> ReleaseCheckRules:
    """Return the rules of release checks.

    Errors: RuleError for a rule file that is wrong, or names a stage that does not exist.
    """
    return read_release_check_rules(settings().rules, [name for names in GROUPS.values() for name in names])


def checked(
    filled: Mapping[str, Any],
    run: str,
    since: str | None = None,
    until: str | None = None,
    *,
    from_start_if_new: bool = False,
) -> Refresh:
    """Return the refresh that a form asks for; `since` and `until` are taken where the form has none.

    With `from_start_if_new` these cover, of a library that was never crawled, all releases until the end.

    Errors: BadForm, which says all that is wrong; RuleError for rule files that are wrong.
    """
    profiles = profile_names()
    exists = filled["profile"] in profiles
    check_form(filled, profiles, load_profile(filled["profile"]).code.sources if exists else ())
    return Refresh(
        run=run,
        profile=filled["profile"],
        libraries=tuple(filled["libraries"] or ()),
        since=filled["since"] or since,
        until=filled["until"] or until,
        families=tuple(filled["families"] or ()),
        sources=tuple(filled["sources"] or ()),
        from_start_if_new=from_start_if_new and since is not None,
    )


def begin(refresh: Refresh) -> list[str]:
    """Plan a refresh, and leave a record of it for its report."""
    libraries = plan(refresh)
    chosen = stages_for(refresh.families, stages_of(refresh.resources()))
    stages = tuple(name for names in GROUPS.values() for name in names if name in chosen)
    covered = (refresh.run, refresh.profile, tuple(libraries), stages, refresh.since, refresh.until)
    record_beginning(refresh.folder, RunRecord(*covered, now(), None, refresh.families, refresh.sources))
    return libraries


def run_group(
    refresh: Refresh, group: str, library: str, begin_stage: Callable[[str], object] = lambda stage: None
) -> list[Count]:
    """Run one group of stages for one library, those of them that the families of the refresh need.

    `begin_stage` is called with the name of each stage before it runs.

    Errors: StageFailed, which names library, release and stage and says what to do; it is kept with the run.
    """
    resources = refresh.resources()
    stages = stages_of(resources)
    chosen = stages_for(refresh.families, stages)
    counts: list[Count] = []
    for name in filter(chosen.__contains__, GROUPS[group]):
        begin_stage(name)
        try:
            work = partial(_run, name, stages, library, resources.lake, refresh.folder / "counts")
            counts.append(run_recorded(refresh.run, refresh.folder, library, name, work))
        finally:
            _store_tallies(resources, refresh.folder, library, name)
    forget_failure(refresh.folder, library)
    return counts


def _run(name: str, stages: Mapping[str, Stage], library: str, lake: Lake, counts: Path) -> Count:
    """Run a stage for a library; the first one also clears what stages of earlier releases left."""
    if name == first(stages):
        drop_former_stages(lake, library, stages)
    return run_stage(stages[name], library, lake, counts)


def has_news(refresh: Refresh, library: str) -> bool:
    """Return whether any stage after those of `crawl` has work for a library; all of these read tables alone."""
    resources = refresh.resources()
    stages = stages_of(resources)
    chosen = stages_for(refresh.families, stages)
    return any(
        not is_done(stages[name], library, resources.lake)
        for group in GROUPS
        if group != "crawl"
        for name in GROUPS[group]
        if name in chosen
    )


def count_unchanged(refresh: Refresh, library: str) -> None:
    """Record the counts of the stages after `crawl` for a library without news, as a run of them would."""
    for group in GROUPS:
        if group != "crawl":
            run_group(refresh, group, library)


def _store_tallies(resources: Resources, folder: Path, library: str, stage: str) -> None:
    """Leave with the run what a stage asked of a model, also where the stage broke off, and begin to count anew."""
    if resources.has_requests and resources.drafter is not None:
        keep_tallies(folder, library, stage, resources.drafter.tallies_by_kind())
        resources.drafter.tallies.clear()


def left_out(refresh: Refresh) -> dict[str, str]:
    """Return the sources of code that could not be asked for any of the libraries, each with why and what to do."""
    return sources_left_out(Lake(settings().lake_root), plan(refresh))


def sources_left_out(lake: Lake, libraries: Iterable[str]) -> dict[str, str]:
    """Return the sources of code that the lake says could not be asked for libraries, each with why and what to do."""
    where = (pc.field("stage") == "gather") & (pc.field("reason") == RejectReason.SOURCE_LEFT_OUT)
    notes = [row for library in libraries for row in lake.read("rejects", library, where)]
    return {row["key"]: row["detail"] for row in sorted(notes, key=lambda row: (row["key"], row["detail"]))}


def gaps_of(refresh: Refresh) -> dict[str, list[str]]:
    """Return by library the releases after a gap, whose changes are unknown: the lake lacks the one just before.

    The oldest release of the lake is compared with nothing anyway.
    """
    lake = Lake(settings().lake_root)
    gaps: dict[str, list[str]] = {}
    for library in plan(refresh):
        predecessors = {row["version"]: row["predecessor"] for row in lake.read("releases", library)}
        for version in sorted(predecessors, key=Version)[1:]:
            if (before := predecessors[version]) is not None and before not in predecessors:
                gaps.setdefault(library, []).append(version)
    return gaps


def empty_of(refresh: Refresh) -> list[EmptyFamilies]:
    """Return why families have no row of libraries of a refresh, by the lake as it is now."""
    resources = refresh.resources()
    foreign = resources.rules.stack_overflow.foreign
    return empty_families(
        resources.lake, plan(refresh), stages_of(resources), refresh.profile, foreign, refresh.families
    )


@dataclass(frozen=True, slots=True)
class Drafts:
    """What came of the texts that the offline drafter cannot write.

    With a key: what was asked of a model, by kind, and what it has cost. Without: how many rows a model would improve,
    by kind and standing.
    """

    tallies: Mapping[DraftKind, Tally]
    spent: Spent | None
    improvable: Mapping[DraftKind, Mapping[DraftStatus, int]]


def drafts_of(refresh: Refresh) -> Drafts:
    """Return what a refresh has to say of its drafts."""
    resources = refresh.resources()
    if resources.has_model:
        return Drafts(tallies_of(refresh.folder), spent_by(settings().answers, resources.rules.models, refresh.run), {})
    return Drafts({}, None, counted(draftable(resources.lake, plan(refresh), resources.rules)))


def totals(counts: Sequence[Count]) -> list[Count]:
    """Add up the counts of a run over its libraries, one for each stage in the order of `GROUPS`."""
    grouped: dict[str, list[Count]] = defaultdict(list)
    for count in counts:
        grouped[count.stage].append(count)
    order = [name for names in GROUPS.values() for name in names]
    return [_sum(name, grouped[name]) for name in order if name in grouped]


def _sum(stage: str, counts: Sequence[Count]) -> Count:
    return Count(
        stage=stage,
        library="",
        units_in=sum(count.units_in for count in counts),
        units_out=sum(count.units_out for count in counts),
        rejected=_added(count.rejected for count in counts),
        unchanged=sum(count.unchanged for count in counts),
        noted=_added(count.noted for count in counts),
        units_out_before=sum(count.units_out_before for count in counts),
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
