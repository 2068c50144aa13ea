"""Libraries that a form or a profile names, held against the index before anything is run."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.core.settings import index_url
from pipeline.index.http import BadAnswer, NotFound, Unreachable
from pipeline.index.index import project
from pipeline.index.suggestions import did_you_mean
from pipeline.orchestration.refresh import Refresh, plan
from pipeline.orchestration.run_parameters import BadForm


def check_names(refresh: Refresh) -> None:
    """Refuse libraries that the index does not know: a run of them would end well, and empty.

    What the lake holds was there once and is not asked for. An index that does not answer refuses nothing here; the
    stage `crawl` reports it.

    Errors: BadForm, which names them all; RuleError for rule files that are wrong.
    """
    libraries = plan(refresh)  # reads every rule file before anything is made
    resources = refresh.resources()
    names = {*resources.lake.libraries("releases"), *resources.rules.stack_overflow.foreign}
    if unknown := _unknown(refresh, [library for library in libraries if library not in names]):
        field = "libraries" if refresh.libraries else f"profile {refresh.profile}"
        named = ", ".join(f"{library}{did_you_mean(library)}" for library in unknown)
        raise BadForm(
            f"nothing was run:\n{field}: the index does not know {named}; write the names as the index spells them",
            code="library_unknown",
        )


def _unknown(refresh: Refresh, libraries: Iterable[str]) -> list[str]:
    """Return those that the index says it does not have; a silent index is not asked for the next one."""
    fetcher, unknown = refresh.resources().artifacts.fetcher, []
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
