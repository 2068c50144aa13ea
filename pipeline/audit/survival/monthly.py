"""The monthly look at what was published, as the DAG `survival` calls it: plan, a library at a time, and the sum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from packaging.utils import canonicalize_name

from pipeline.audit.survival.rules import survival_rules
from pipeline.audit.survival.survive import Survey, libraries_of, newest_snapshots, rows_of_survey, survive, this_period
from pipeline.core.rules.profiles import profile_names
from pipeline.core.settings import settings
from pipeline.lake.rows import SurvivalRow
from pipeline.lake.sync import read_lake, read_profile
from pipeline.orchestration.run_parameters import BadForm
from pipeline.snapshots.format.survival_figures import survival_figures

_NAMED = 20


class NotJudged(RuntimeError):
    """Of some rows nobody knows yet whether they pass, because of what may pass by itself."""


def survey_of(profile: str, period: str) -> Survey:
    """Return what is looked at of a profile in a period: its newest snapshots, as many as the rules say."""
    current, rules = settings(), survival_rules()
    return Survey(newest_snapshots(current.snapshots, profile, rules.snapshots), period, current, rules)


def plan(profile: str, libraries: Iterable[str] | None = None) -> list[dict[str, str]]:
    """Return what there is to look at now: period and library, each; nothing where nothing was published.

    Errors: BadForm for libraries that are in no snapshot, and for a profile that never was, which would make a run that
    is green and empty; RuleError; SnapshotError where no snapshot can be read.
    """
    read_profile(profile)
    period = this_period()
    there = libraries_of(survey_of(profile, period).snapshots)
    wanted = [str(canonicalize_name(library)) for library in libraries or there]
    if not there and profile not in profile_names():
        names = ", ".join(profile_names())
        raise BadForm(f"nothing was looked at:\nprofile: {profile} has neither rules nor snapshots; there are {names}")
    if unknown := sorted(set(wanted) - set(there)):
        known = ", ".join(there[:_NAMED]) + (" …" if len(there) > _NAMED else "")
        raise BadForm(
            f"nothing was looked at:\nlibraries: the newest snapshots of profile {profile} have no"
            f" {', '.join(unknown)}; they have {known or 'no library, since there are none'}"
        )
    return [{"period": period, "library": library} for library in there if library in wanted]


def look(profile: str, period: str, library: str) -> dict[str, Any]:
    """Look at a library, and return what came of it: rows added and known, and snapshots that could not be read.

    Errors: NotJudged where rows are left for another try, after all others have been added; as `survive`.
    """
    read_profile(profile)
    looked = survive(survey_of(profile, period), library)
    if looked.left:
        left = "; ".join(f"{number} rows: {why}" for why, number in looked.left.items())
        raise NotJudged(f"{library}: could not be judged, {len(looked.added)} others were: {left}. Try again later")
    return {"library": library, "added": len(looked.added), "known": looked.known, "unread": list(looked.unread)}


def tell(profile: str, planned: Sequence[dict[str, str]], looks: Iterable[dict[str, Any]]) -> list[str]:
    """Return a sentence for each snapshot: how much still passes and why the rest does not, or why nobody could look.

    `looks` are what `look` returned for the planned libraries that did not fail.
    """
    read_lake()
    rows: list[SurvivalRow] = []
    for period in sorted({one["period"] for one in planned}):
        libraries = [one["library"] for one in planned if one["period"] == period]
        rows += rows_of_survey(survey_of(profile, period), libraries)
    unread = sorted({why for one in looks for why in one["unread"]})
    return [*map(str, survival_figures(rows)), *(f"not looked at: {why}" for why in unread)]


def tell_failed(profile: str, planned: Sequence[dict[str, str]], looks: Iterable[dict[str, Any]]) -> str | None:
    """Name the planned libraries that no look came of, and say what to do; None where there are none."""
    done = {one["library"] for one in looks}
    failed = sorted({one["library"] for one in planned} - done)
    if not failed:
        return None
    return (
        f"these libraries failed, the others were looked at: {', '.join(failed)}. Their red tasks say why. What to do:"
        f" clear these tasks, or run `driftline survive {profile} --libraries {','.join(failed)}`; rows that are there"
        " are kept"
    )
