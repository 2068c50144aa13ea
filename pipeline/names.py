"""Libraries that somebody asks for by name, held against the index before anything is run."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.crawl.http import BadAnswer, NotFound, Unreachable
from pipeline.crawl.index import project
from pipeline.form import BadForm
from pipeline.refresh import Refresh, plan
from pipeline.settings import index_url


def check_names(refresh: Refresh) -> None:
    """Refuse libraries that neither the profile nor the index knows: a run of them would end well, and empty.

    An index that does not answer says nothing here; the stage `crawl` tells of it.

    Errors: BadForm, which names them all; RuleError for rule files that are wrong.
    """
    if unknown := _unknown(refresh, _asked_by_name(refresh)):
        raise BadForm(
            f"nothing was run:\nlibraries: neither profile {refresh.profile} nor the index knows"
            f" {', '.join(unknown)}; write the names as the index spells them"
        )


def _asked_by_name(refresh: Refresh) -> list[str]:
    """Return the libraries that the form names and no rule does."""
    if not refresh.libraries:
        return []
    house = refresh.house()
    listed = {rule.library for rule in house.profile.libraries} | set(house.rules.stack_overflow.foreign)
    return [library for library in plan(refresh) if library not in listed]


def _unknown(refresh: Refresh, libraries: Iterable[str]) -> list[str]:
    """Return those that the index says it does not have; a silent index is not asked for the next one."""
    fetcher, unknown = refresh.house().artifacts.fetcher, []
    for library in libraries:
        try:
            project(fetcher, index_url(), library)
        except NotFound:
            unknown.append(library)
        except BadAnswer:
            continue
        except Unreachable:
            break
    return unknown
