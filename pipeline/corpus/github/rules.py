"""What a curator decides about GitHub: which repositories are searched for, what of them is taken, how long we wait."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.index.archives import ArchiveLimits


def _with_library(query: str) -> str:
    if "{library}" not in query:
        raise InputError(
            f"{query!r} is the same search for every library; say where its name stands with {{library}}",
            code="rule_placeholder_missing",
        )
    return query


Query = Annotated[str, AfterValidator(_with_library)]


class SearchRules(Rule):
    """How repositories are searched for; `licences` are SPDX ids, one search each.

    `queries` search for repositories, once for each of the `windows` that has to lie in the covered period.
    `code_queries` search for files of up to `max_code_bytes` that name the library; of each, `max_code_results` are
    looked at.
    """

    queries: tuple[Query, ...]
    code_queries: tuple[Query, ...]
    max_code_bytes: int = Field(gt=0)
    max_code_results: int = Field(gt=0)
    windows: Annotated[tuple[Literal["created", "pushed"], ...], Field(min_length=1)]
    licences: Annotated[tuple[str, ...], Field(min_length=1)]
    min_stars: int = Field(ge=0)


class TakeRules(Rule):
    """What is taken of what was found: repositories of a library, revisions of a repository, and sizes in bytes.

    `newest` takes the last commit of the period, `tagged` so many of its last releases or tags.
    """

    max_repositories: int = Field(gt=0)
    newest: bool
    tagged: int = Field(ge=0)
    max_repository_kib: int = Field(gt=0)
    max_archive_bytes: int = Field(gt=0)
    max_unpacked_bytes: int = Field(gt=0)
    max_ratio: int = Field(gt=0)

    @property
    def archive_limits(self) -> ArchiveLimits:
        """The limits that the archive reader takes."""
        return ArchiveLimits(self.max_unpacked_bytes, self.max_ratio)


class AskRules(Rule):
    """How GitHub is asked: seconds and bytes of one answer or archive, of waiting for our turn, of trying again."""

    fresh_hours: float = Field(ge=0)
    max_wait_s: float = Field(ge=0)
    secondary_wait_s: float = Field(gt=0)
    retries: int = Field(ge=0)
    backoff_s: float = Field(ge=0)
    max_answer_bytes: int = Field(gt=0)
    max_answer_s: float = Field(gt=0)
    max_archive_s: float = Field(gt=0)
    silent_in_a_row: int = Field(gt=0)


class GitHubRules(Rule):
    """The rules of `curation_rules/github.yaml`."""

    search: SearchRules
    take: TakeRules
    ask: AskRules
