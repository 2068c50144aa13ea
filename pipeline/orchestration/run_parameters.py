"""The form of a refresh that a person starts: its fields, and what is wrong with how they were filled in.

DAG files import this when they are read, so that nothing that takes time is imported here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from pipeline.core.errors import CodedError
from pipeline.core.spelling import did_you_mean
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import ExternalSource

_NAME = r"([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9])"
"""The names that a package index can have (PEP 508)."""


class BadForm(CodedError, ValueError):
    """A run was asked for that cannot be; the message names each field, says why, and what to write."""


def fields(profile: str, rules: Path) -> dict[str, dict[str, Any]]:
    """Return the fields of the form, each with what JSON Schema and Airflow's form make of it.

    `profile` is the default, `rules` the folder of the rule files, whose profiles are offered.
    """
    profiles = sorted({profile, *(path.stem for path in (rules / "profiles").glob("*.yaml"))})
    return {
        "profile": {
            "default": profile,
            "type": "string",
            "enum": profiles,
            "title": "Profile",
            "description": "Which libraries, and which range of each: a file in curation_rules/profiles/.",
        },
        "libraries": {
            "default": None,
            "type": ["null", "array"],
            # A line of Airflow's box is an item: those that are empty, and blanks around a name, are no mistake.
            "items": {"type": "string", "pattern": rf"^\s*{_NAME}?\s*$"},
            "title": "Libraries",
            "description": "Only these, one a line, as the index spells them (more-itertools); empty: all of the"
            " profile. One that is not in the profile is taken with its newest six releases.",
        },
        "since": {
            "default": None,
            "type": ["null", "string"],
            "format": "date",
            "title": "First day",
            "description": "First day covered, UTC. Both days empty: the last whole week before the logical date,"
            " and all releases until then of a library that the lake does not have; this one"
            " alone: from the beginning. In a backfill both stay empty: its date range says which weeks.",
        },
        "until": {
            "default": None,
            "type": ["null", "string"],
            "format": "date",
            "title": "Day after the last",
            "description": "Nothing of that day or later is used. This one alone empty: until now.",
        },
        "families": _several(
            {family.table: family.rows for family in Family},
            "Families",
            "Make only these; the others stay as they are. Empty: all.",
        ),
        "sources": _several(
            {str(source): source.meaning for source in ExternalSource},
            "Sources",
            "Ask only these for code of others; what the others gave stays. Empty: all of the profile.",
        ),
    }


def _several(meanings: Mapping[str, str], title: str, description: str) -> dict[str, Any]:
    """Return a field in which several terms can be picked."""
    return {
        "default": None,
        "type": ["null", "array"],
        "items": {"type": "string", "enum": list(meanings)},
        "examples": list(meanings),
        "values_display": {name: f"{name}: {meaning}" for name, meaning in meanings.items()},
        "title": title,
        "description": description,
    }


def filled_in(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what Airflow hands over, with the names of libraries as they are meant: without blanks and empty lines."""
    names = [line.strip() for line in params["libraries"] or ()]
    return {**params, "libraries": [name for name in names if name] or None}


def own_period(
    filled: Mapping[str, Any], start: datetime | None, end: datetime | None, *, backfill: bool
) -> tuple[str | None, str | None]:
    """Return what a run covers whose form names no day: its data interval, from `start` to before `end`.

    A form that names one day leaves the other end open. Without a schedule the interval of a manual run has no length,
    and is none.

    Errors: BadForm for days in the form of a backfill, all of whose runs would cover the same.
    """
    if filled["since"] or filled["until"]:
        if backfill:
            raise BadForm(
                "nothing was run:\nsince, until: leave both empty in a backfill, whose date range decides the weeks."
                " For one run over these days choose Trigger, Single Run",
                code="backfill_with_dates",
            )
        return None, None
    if start is None or end is None or start >= end:
        return None, None
    return start.isoformat(), end.isoformat()


def check_form(filled: Mapping[str, Any], profiles: Sequence[str], offered: Sequence[str]) -> None:
    """Say what is wrong with what a refresh is asked for, all of it at once; `offered` are the sources of the profile.

    Errors: BadForm.
    """
    wrong = [*_wrong_profile(filled["profile"], profiles), *_wrong_names(filled["libraries"] or ())]
    wrong += _wrong_days(filled["since"], filled["until"])
    wrong += _wrong_terms("families", filled["families"] or (), [family.table for family in Family])
    sources = filled["sources"] or ()
    wrong += _wrong_terms("sources", sources, list(ExternalSource))
    wrong += [
        f"sources: profile {filled['profile']} takes no code from {source}; it takes {', '.join(offered) or 'none'}"
        for source in sources
        if source in list(ExternalSource) and source not in offered
    ]
    if wrong:
        raise BadForm("nothing was run:\n" + "\n".join(wrong), code="run_parameter_invalid")


def _wrong_profile(profile: str, profiles: Sequence[str]) -> Iterable[str]:
    if profile not in profiles:
        near = did_you_mean(profile, profiles)
        yield f"profile: no profile {profile!r} in curation_rules/profiles/{near}; there are {', '.join(profiles)}"


def _wrong_names(libraries: Iterable[str]) -> Iterable[str]:
    for name in libraries:
        if not re.fullmatch(_NAME, name):
            yield f"libraries: {name!r} is not a name that a package index can have (PEP 508); write one a line"


def _wrong_days(since: str | None, until: str | None) -> Iterable[str]:
    times: dict[str, datetime] = {}
    for name, text in (("since", since), ("until", until)):
        if text:
            try:
                times[name] = datetime.fromisoformat(text).replace(tzinfo=None)
            except ValueError:
                yield f"{name}: {text!r} is not a day; write it as {date(2026, 11, 16)}"
    if len(times) == 2 and times["since"] >= times["until"]:
        yield f"until: {until} is not after since ({since}); `until` is the day after the last one covered"


def _wrong_terms(field: str, named: Iterable[str], terms: Sequence[str]) -> Iterable[str]:
    for name in named:
        if name not in [str(term) for term in terms]:
            yield f"{field}: there is no {name!r}; there are {', '.join(terms)}"
