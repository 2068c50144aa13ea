"""Reasons for the removal of rows of an earlier snapshot, from tables of the lake."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.annotation import DecisionKind, Objection
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.snapshots import ErratumReason
from pipeline.families.all_families import INSTANCES
from pipeline.lake.rows import AnyRow, RejectRow, ReviewRow, SnippetRow, SurvivalRow, Tables
from pipeline.lake.stage import stage_of

_STAGES = {
    **{family.table: family.stages for family in INSTANCES},
    "changes": ("lifecycle", "acceptance"),
}
"""The stages whose rejects remove a row of the configuration; a refused context removes no instance."""

_LOST = ErratumReason.NOT_MADE, "no reject names it: rules, stages or what it depends on have changed"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a row was removed, with stage and reason of a reject if there is one."""

    reason: ErratumReason
    detail: str
    stage: str | None = None
    reject_reason: str | None = None


class Reasons:
    """Finds reasons: `tables` are those of the new snapshot, `before` of the last one, the others of the lake."""

    def __init__(
        self,
        tables: Mapping[str, Sequence[AnyRow]],
        before: Tables,
        rejects: Iterable[RejectRow],
        reviews: Iterable[ReviewRow],
        survivals: Iterable[SurvivalRow],
    ) -> None:
        self._by_word: dict[str, list[RejectRow]] = defaultdict(list)
        self._by_key: dict[str, list[RejectRow]] = defaultdict(list)
        for reject in sorted(rejects, key=lambda row: (row["stage"], row["key"], row["reason"])):
            self._by_key[reject["key"]].append(reject)
            for word in set(reject["key"].split()):
                self._by_word[word].append(reject)
        self._reviews = {row["instance_id"]: row for row in reviews if row["kind"] == DecisionKind.REJECT}
        newest = {row["instance_id"]: row for row in sorted(survivals, key=lambda row: str(row["period"]))}
        self._failed = {key: row for key, row in newest.items() if not row["survives"]}
        self._snippets = {row["id"]: row for row in before.get("snippets", ())}
        self._there = {row["id"] for row in tables.get("snippets", ())}
        self._projects = {row["id"] for row in tables.get("projects", ())}
        self._releases = {(row["library"], row["version"]) for row in tables.get("releases", ())}

    def of(self, config: str, row: AnyRow, successor: str | None) -> Reason:
        """Return why a row of a configuration was removed."""
        refused = [*self._rejects_of(row), *self._rejects_of_candidate(config, row)]
        named = [reject for reject in refused if stage_of(reject["stage"]) in _STAGES[config]]
        reason = self._reviewed(row) or (_reason(named[0]) if named else None) or self._survival(row)
        if reason is not None:
            return reason
        if successor is not None:
            return Reason(ErratumReason.REPLACED, "other content stands at its place")
        return self._source_gone(config, row) or Reason(*_LOST)

    def _reviewed(self, row: AnyRow) -> Reason | None:
        review = next((self._reviews[name] for name in _names(row) if name in self._reviews), None)
        if review is None:
            return None
        why = Objection(review["objection"]) if review["objection"] else None
        detail = f"{why}: {why.meaning}" if why else "rejected"
        return Reason(ErratumReason.REVIEWED_OUT, detail, "acceptance", RejectReason.REVIEWED_OUT)

    def _rejects_of(self, row: AnyRow) -> Iterator[RejectRow]:
        """Yield the rejects that name a row by its id, or its function at its granularity."""
        for name in _names(row):
            for reject in self._by_word.get(name, ()):
                if name == row["id"] or reject["key"] in (name, f"{name} {row.get('granularity')}"):
                    yield reject

    def _rejects_of_candidate(self, config: str, row: AnyRow) -> Iterator[RejectRow]:
        """Yield the rejects of candidates that had no id yet: by path and version, or by snippet and more."""
        yield from self._by_key.get(f"{row.get('path')} {row.get('version')}", ())
        for reject in self._by_word.get(row.get("snippet_id") or "", ()):
            if _is_candidate(config, row, reject["key"].split()):
                yield reject

    def _survival(self, row: AnyRow) -> Reason | None:
        failed = next((self._failed[name] for name in _names(row) if name in self._failed), None)
        if failed is None:
            return None
        return Reason(ErratumReason.NO_LONGER_RUNS, f"{failed['period']}: {failed['reason']}: {failed['detail'] or ''}")

    def _source_gone(self, config: str, row: AnyRow) -> Reason | None:
        version = row.get("version") or row.get("new_version")
        if project := row.get("project_id"):
            return (
                None
                if project in self._projects
                else _gone(f"project {row['project']} {version}", self._by_word.get(project))
            )
        if self._releases and (row["library"], version) not in self._releases and "language" not in row:
            named = [reject for reject in self._by_key.get(str(version), ()) if reject["library"] == row["library"]]
            return _gone(f"release {version}", named)
        snippet = self._snippets.get(row.get("snippet_id") or "")
        if config == "changes" or snippet is None or snippet["id"] in self._there:
            return None
        return _gone(f"snippet {snippet['id']}", self._of_snippet(snippet))

    def _of_snippet(self, snippet: SnippetRow) -> list[RejectRow]:
        """Return the rejects of a snippet's place: a docstring's example, or a line of crawled code."""
        if snippet["path"] is not None:
            start = f"{snippet['path']} {snippet['version']} #"
            return [r for r in self._by_word.get(snippet["path"], ()) if r["key"].startswith(start)]
        space = " " if snippet["file"] else ""
        return self._by_key.get(f"{snippet['place']}{space}{snippet['file']}:{snippet['line']}", [])


def _names(row: AnyRow) -> list[str]:
    return [row[column] for column in ("id", "function_id") if row.get(column)]


def _is_candidate(config: str, row: AnyRow, words: Sequence[str]) -> bool:
    """Say whether the key of a reject, in words, is that of the candidate that a row was."""
    if config == "completions":
        return {row["snippet_id"], row["path"], row["version"], row["granularity"]} <= set(words)
    if config == "migrations":
        versions = {row["version"], row["target_version"]}
        about = len(words) == 1 or row["path"] in words or versions <= set(words)
        return about and {row["snippet_id"], row["target_snippet_id"]} <= set(words)
    if config == "compatibilities":
        return words[0] == row["snippet_id"] and row.get("change_id") in (None, *words[1:])
    # of problems and functions it is the snippet, the number of the task, and the version where there is one
    return config in ("problems", "functions") and words[0] == row["snippet_id"] and words[2:] in ([], [row["version"]])


def _reason(reject: RejectRow) -> Reason:
    """Return a reject as a reason; a decision of a person has a reason of its own."""
    out = reject["reason"] == RejectReason.REVIEWED_OUT
    reason = ErratumReason.REVIEWED_OUT if out else ErratumReason.REFUSED
    return Reason(reason, reject["detail"], reject["stage"], reject["reason"])


def _gone(source: str, rejects: Sequence[RejectRow] | None) -> Reason:
    """Return the reason that the source of a row is gone, with its reject if there is one."""
    if not rejects:
        return Reason(ErratumReason.SOURCE_GONE, f"{source} is no longer there")
    first = rejects[0]
    return Reason(ErratumReason.SOURCE_GONE, f"{source}: {first['detail']}", first["stage"], first["reason"])
