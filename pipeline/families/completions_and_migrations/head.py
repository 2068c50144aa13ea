"""What completion and migration instances share: the head of a row, and the record of what was made and refused."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypedDict

from pipeline.core.vocabularies.review import RejectReason
from pipeline.families.completions_and_migrations.history import History, Tagging
from pipeline.lake.rows import InstanceHead, R
from pipeline.lake.stage import Reject


@dataclass(slots=True)
class Candidates(Generic[R]):
    """Rows that were made, candidates that were refused, and notes on what never became a candidate."""

    rows: list[R] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    notes: list[Reject] = field(default_factory=list)

    def add(self, result: R | Reject) -> None:
        """Take one candidate's row or reject."""
        if isinstance(result, Reject):
            self.rejects.append(result)
        else:
            self.rows.append(result)


class SourceSnippet(TypedDict):
    """What of a row of `snippets` an instance holds."""

    id: str
    library: str


def head(id_: str, snippet: SourceSnippet, path: str, version: str, tags: Tagging, history: History) -> InstanceHead:
    """Return the columns that every instance table begins with."""
    change = history.change_behind(path, version, tags)
    return {
        "id": id_,
        "library": snippet["library"],
        "version": version,
        "release_time": history.releases[version]["release_time"],
        "previous_version": history.previous(version),
        "snippet_id": snippet["id"],
        "path": path,
        "change_id": change["id"] if change else None,
        "versicode_tag": tags[0],
        "libevolutioneval_tag": tags[1],
    }


def tags_of(key: str, path: str, version: str, history: History, *, is_about_change: bool = False) -> Tagging | Reject:
    """Return the tags of a candidate's API, or the reject of a candidate that can have none.

    What is about a change between two releases of the lake needs no release before them: it is not asked what is new.
    """
    if history.previous(version) is None and not is_about_change:
        detail = f"the release before {version} is not in the lake, so nobody knows what is new in it"
        return Reject(key, RejectReason.NO_PREDECESSOR, detail)
    tags = history.tags(path, version)
    return tags or Reject(key, RejectReason.UNRESOLVED_NAME, f"{path} is not public in {version}")


def within_quota(
    rows: Iterable[R],
    kind_of: Callable[[R], Hashable],
    rank_of: Callable[[R], tuple[object, ...]],
    limit: int | Callable[[R], int],
) -> tuple[list[R], list[Reject]]:
    """Keep up to `limit` rows of each kind, lowest rank first, and one of each id; reject the others.

    All rows of a kind have the same limit.
    """
    counts: dict[Hashable, int] = {}
    by_id: dict[str, R] = {}
    rejects: list[Reject] = []
    for row in sorted(rows, key=rank_of):
        kind, most = kind_of(row), limit if isinstance(limit, int) else limit(row)
        key = " ".join(str(row[column]) for column in ("id", "usage_id", "target_snippet_id", "basis") if column in row)
        if row["id"] in by_id:
            rejects.append(Reject(key, RejectReason.DUPLICATE, "another candidate has the same code, API and versions"))
        elif counts.get(kind, 0) >= most:
            rejects.append(Reject(key, RejectReason.OVER_QUOTA, f"the rule takes {most} of {row['path']}"))
        else:
            counts[kind] = counts.get(kind, 0) + 1
            by_id[row["id"]] = row
    return list(by_id.values()), rejects
