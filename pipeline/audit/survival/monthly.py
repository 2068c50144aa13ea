"""The monthly survival run, as the DAG `survival` calls it: plan, one library at a time, and summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from packaging.utils import canonicalize_name

from pipeline.audit.survival.rules import survival_rules
from pipeline.audit.survival.survive import Survey, libraries_of, newest_snapshots, rows_of_survey, survive, this_period
from pipeline.core.errors import CodedError
from pipeline.core.rules.profiles import profile_names
from pipeline.core.settings import settings
from pipeline.lake.rows import SurvivalRow
from pipeline.orchestration.run_parameters import BadForm
from pipeline.snapshots.format.survival_figures import survival_figures
from pipeline.snapshots.shared import fetch_snapshots

_NAMED = 20


class NotJudged(CodedError, RuntimeError):
    """Some rows have no verdict because of temporary failures."""

    code = "survival_not_judged"


def survey_of(profile: str, period: str) -> Survey:
    """Return the survey of a profile in a period, with its newest snapshots."""
    current, rules = settings(), survival_rules()
    return Survey(newest_snapshots(current.snapshots, profile, rules.snapshots), period, current, rules)


def plan(profile: str, libraries: Iterable[str] | None = None) -> list[dict[str, str]]:
    """Return the items of a run, each a period and a library; none where nothing was published.

    Errors: BadForm for libraries without a snapshot, and for an unknown profile, whose run would be empty; RuleError;
    SnapshotError where no snapshot can be read.
    """
    fetch_snapshots(profile)
    period = this_period()
    there = libraries_of(survey_of(profile, period).snapshots)
    requested = [str(canonicalize_name(library)) for library in libraries or there]
    if not there and profile not in profile_names():
        names = ", ".join(profile_names())
        raise BadForm(
            f"nothing was looked at:\nprofile: {profile} has neither rules nor snapshots; there are {names}",
            code="profile_unknown",
        )
    if unknown := sorted(set(requested) - set(there)):
        listed = ", ".join(there[:_NAMED]) + (" …" if len(there) > _NAMED else "")
        raise BadForm(
            f"nothing was looked at:\nlibraries: the newest snapshots of profile {profile} have no"
            f" {', '.join(unknown)}; they have {listed or 'no library, since there are none'}",
            code="snapshot_library_unknown",
        )
    return [{"period": period, "library": library} for library in there if library in requested]


def look(profile: str, period: str, library: str) -> dict[str, Any]:
    """Survey a library, and return the numbers of added and existing rows, and unreadable snapshots.

    Errors: NotJudged where rows have no verdict, after all others have been added; those of `survive`.
    """
    fetch_snapshots(profile)
    looked = survive(survey_of(profile, period), library)
    if looked.unjudged:
        unjudged = "; ".join(f"{number} rows: {why}" for why, number in looked.unjudged.items())
        raise NotJudged(f"{library}: could not be judged, {len(looked.added)} others were: {unjudged}. Try again later")
    return {"library": library, "added": len(looked.added), "known": looked.existing, "unread": list(looked.unread)}


def report_survival(profile: str, planned: Sequence[dict[str, str]], looks: Iterable[dict[str, Any]]) -> list[str]:
    """Return a sentence for each snapshot: its survival figure, or why it could not be read.

    `looks` are results of `look` for the planned libraries that did not fail.
    """
    rows: list[SurvivalRow] = []
    for period in sorted({item["period"] for item in planned}):
        libraries = [item["library"] for item in planned if item["period"] == period]
        rows += rows_of_survey(survey_of(profile, period), libraries)
    unread = sorted({why for item in looks for why in item["unread"]})
    return [*map(str, survival_figures(rows)), *(f"not looked at: {why}" for why in unread)]


def describe_failed(profile: str, planned: Sequence[dict[str, str]], looks: Iterable[dict[str, Any]]) -> str | None:
    """Return a message with the failed libraries and advice; None where there are none."""
    done = {item["library"] for item in looks}
    failed = sorted({item["library"] for item in planned} - done)
    if not failed:
        return None
    return (
        f"these libraries failed, the others were looked at: {', '.join(failed)}. Their red tasks say why. What to do:"
        f" clear these tasks, or run `driftline survive {profile} --libraries {','.join(failed)}`; rows that are there"
        " are kept"
    )
