"""Candidates: a task of an example in a version where something sets that version apart from a neighbour."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pipeline.core.vocabularies.changes import RELOCATED, ChangeKind, GitChameleonCategory, LibEvolutionEvalTag
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Language, UsageForm
from pipeline.corpus.usages.uses import Use
from pipeline.families.completions_and_migrations.history import PLAIN, Tagging
from pipeline.families.problems.library import Library
from pipeline.families.problems.program import write
from pipeline.families.problems.rules import ProblemRules
from pipeline.families.problems.tasks import CaseOf, Task, renamed, tasks_of
from pipeline.lake.guard import guarded
from pipeline.lake.rows import ChangeRow, RewriteRow, SnippetRow
from pipeline.lake.stage import Reject

_TAG_ORDER = [LibEvolutionEvalTag.INTRODUCED, LibEvolutionEvalTag.DEPRECATED, LibEvolutionEvalTag.MODIFIED]
_ADDED = frozenset({ChangeKind.PARAMETER_ADDED_REQUIRED, ChangeKind.PARAMETER_ADDED_OPTIONAL})
_CATEGORIES = {
    LibEvolutionEvalTag.INTRODUCED: GitChameleonCategory.NEW_FEATURE,
    LibEvolutionEvalTag.MODIFIED: GitChameleonCategory.ARGUMENT_OR_ATTRIBUTE,
    LibEvolutionEvalTag.UNCHANGED: GitChameleonCategory.SEMANTICS,
}


@dataclass(frozen=True, slots=True)
class WitnessedChange:
    """The change that running an example shows, and the API of it that the example calls."""

    change: ChangeRow
    path: str


@dataclass(frozen=True, slots=True)
class ExampleTask:
    """A task that an example shows; `number` counts the tasks of the example.

    Of a witness `witnessed` is the change that running it shows.
    """

    snippet: SnippetRow
    number: int
    task: Task
    witnessed: WitnessedChange | None = None

    @property
    def key(self) -> str:
        """What a reject of it is called."""
        return f"{self.snippet['id']} {self.number}"


@dataclass(frozen=True, slots=True)
class Other:
    """A task of the same inputs and results as it is written for another version, and how that is known."""

    task: Task
    role: ProblemRun


@dataclass(frozen=True, slots=True)
class Candidate:
    """A task in a version: its core API, what changed about that, and the version on the other side of the change.

    `other` is what is right for the other version, if that is known.
    """

    example: ExampleTask
    version: str
    path: str
    tags: Tagging
    change: ChangeRow | None
    category: GitChameleonCategory | None
    other_version: str | None
    other: Other | None
    uses: tuple[Use, ...]
    differs_in_runs: bool

    @property
    def task(self) -> Task:
        """The task itself."""
        return self.example.task

    @property
    def api_calls(self) -> tuple[str, ...]:
        """The public paths that are called, each once, in order."""
        return tuple(dict.fromkeys(use.path for use in self.uses if use.form == UsageForm.CALL))

    @property
    def introduced(self) -> str | None:
        """The core API, if it is new in this version and called: an older call is another answer then."""
        new = self.tags[1] == LibEvolutionEvalTag.INTRODUCED
        return self.path if new and self.path in self.api_calls else None

    @property
    def required(self) -> str | None:
        """The core API, if tests want it called: it is new, or running the example shows a change of it."""
        return self.introduced or (self.path if self.example.witnessed is not None else None)

    @property
    def new_parameter(self) -> str | None:
        """The parameter that the change adds in this version, if the core API is called with it by its name."""
        change = self.change
        if change is None or change["kind"] not in _ADDED or change["new_version"] != self.version:
            return None
        by_name = {keyword for use in self.uses if use.path == self.path for keyword in use.keywords}
        return change["parameter"] if change["parameter"] in by_name else None

    @property
    def name(self) -> str:
        """The name of the core API."""
        return self.path.rpartition(".")[2]

    @property
    def rank(self) -> tuple[object, ...]:
        """What goes first where the rules take only some."""
        size = len(self.task.body), len(self.task.variables)
        return (
            not self.differs_in_runs,
            self.example.witnessed is not None,
            self.other is None,
            -len(self.task.cases),
            size,
            self.version,
            self.example.key,
        )


def show(snippets: Iterable[SnippetRow], library: Library, rules: ProblemRules) -> Iterator[ExampleTask | Reject]:
    """Yield the tasks of the examples that the rules take, and what makes none."""
    samples = [row for row in snippets if row["source"] in rules.sources and row["language"] == Language.PYTHON]

    def tasks(snippet: SnippetRow) -> Iterator[ExampleTask | Reject]:
        parts = tasks_of(snippet, library.roots(snippet["version"]))
        if not parts.tasks:
            detail = parts.unfit[0] if parts.unfit else "no use of the library has a stated output to compare"
            yield Reject(snippet["id"], RejectReason.NO_CHECK, detail)
        for number, task in enumerate(parts.tasks, 1):
            example = ExampleTask(snippet, number, task)
            yield refusal(example, rules) or example

    yield from guarded(sorted(samples, key=_id), _id, tasks)


def _id(row: SnippetRow) -> str:
    return str(row["id"])


def refusal(example: ExampleTask, rules: ProblemRules) -> Reject | None:
    """Return why a task is no function of a size that the rules take."""
    task = example.task
    statements = len(task.body) + 1
    if not task.variables:
        return Reject(example.key, RejectReason.NO_INPUT, task.returned)
    if all(case.outcome.raises for case in task.cases):
        return Reject(example.key, RejectReason.NO_CHECK, f"{task.returned}: only exceptions are stated")
    if len(task.variables) > rules.max_parameters or statements > rules.max_statements:
        detail = f"{len(task.variables)} parameters, {statements} statements"
        return Reject(example.key, RejectReason.TOO_LONG, detail)
    return None


class Candidates:
    """Finds the versions in which tasks say something, by the tags of what they use and by what other examples say."""

    def __init__(
        self, examples: Sequence[ExampleTask], rewrites: Iterable[RewriteRow], library: Library, rules: ProblemRules
    ) -> None:
        # slow to import
        from pipeline.families.problems.apis.other_release import OtherRelease

        self.library = library
        self.rules = rules
        self._other_release = OtherRelease(library)
        self._rewrites: Mapping[tuple[str, str], list[RewriteRow]] = defaultdict(list)
        for rewrite in sorted(rewrites, key=lambda row: str(row["id"])):
            self._rewrites[rewrite["snippet_id"], rewrite["version"]].append(rewrite)
        self._stating: Mapping[CaseOf, list[ExampleTask]] = defaultdict(list)
        for each in examples:
            for case in each.task.cases:
                self._stating[case].append(each)

    def of(self, example: ExampleTask) -> Iterator[Candidate]:
        """Yield a candidate for each version of the example's run where one of two neighbours is set apart.

        Of a witness it is the version in which its change is shown.
        """
        if example.witnessed is not None:
            yield self._by_change(example, example.witnessed)
            return
        program = write(example.task, (), self.rules).program
        for version in self._versions(example, program):
            uses = self.library.uses(program, version)
            candidates = (
                self._by_tags(example, version, uses)
                or self._by_runs(example, version, uses)
                or self._by_rewrites(example, version, uses)
            )
            if candidates is not None:
                yield candidates

    def _versions(self, example: ExampleTask, program: str) -> Iterator[str]:
        """Yield the versions of the run that may say something, so that uses are looked for in those alone."""
        history, snippet = self.library.history, example.snippet
        run = history.between(snippet["version"], snippet["last_version"])
        paths = {use.path for use in self.library.uses(program, run[0])}
        for version in run:
            previous, following = history.previous(version), history.next(version)
            if previous is not None and (
                any((history.tags(path, version) or PLAIN) != PLAIN for path in paths)
                or self.library.runs.outcome(snippet["id"], previous) == Outcome.FAILED_ASSERTION
                or (snippet["id"], following) in self._rewrites
            ):
                yield version

    def _by_change(self, example: ExampleTask, witnessed: WitnessedChange) -> Candidate:
        """Return the candidate of the API whose change running the example shows."""
        change, version = witnessed.change, example.snippet["version"]
        neighbour = change["old_version"] if version == change["new_version"] else change["new_version"]
        tags = self.library.history.tags(witnessed.path, version) or PLAIN
        category = _category(change, tags)
        uses = self.library.uses(write(example.task, (), self.rules).program, version)
        candidate = self._candidate(example, version, _Target(witnessed.path, tags, change, category), neighbour, uses)
        return replace(candidate, differs_in_runs=True)

    def _by_tags(self, example: ExampleTask, version: str, uses: tuple[Use, ...]) -> Candidate | None:
        """Return the candidate of the API that changed, best the one that the example documents."""
        history = self.library.history
        changed: dict[str, Tagging] = {}
        for use in uses:
            tags = history.tags(use.path, version)
            if tags is not None and tags != PLAIN and use.name == use.path.rpartition(".")[2]:
                changed[use.path] = tags
        if not changed:
            return None
        path = min(
            changed, key=lambda p: (p != example.snippet["path"], _TAG_ORDER.index(changed[p][1]), -p.count("."), p)
        )
        tags = changed[path]
        change = history.change_behind(path, version, tags)
        gone = tags[1] == LibEvolutionEvalTag.DEPRECATED
        neighbour = history.next(version) if gone else history.previous(version)
        category = _category(change, tags)
        if neighbour is not None and history.old_name(path, version, neighbour):
            category = GitChameleonCategory.NAME
        return self._candidate(example, version, _Target(path, tags, change, category), neighbour, uses)

    def _by_runs(self, example: ExampleTask, version: str, uses: tuple[Use, ...]) -> Candidate | None:
        """Return the candidate of an API whose own example a neighbouring release does not fulfil, as it ran."""
        path = example.snippet["path"]
        if path not in {use.path for use in uses if use.name == use.path.rpartition(".")[2]}:
            return None
        history = self.library.history
        neighbour = history.previous(version)
        if self.library.runs.outcome(example.snippet["id"], neighbour) != Outcome.FAILED_ASSERTION:
            return None
        target = _Target(path, PLAIN, None, GitChameleonCategory.SEMANTICS)
        return self._candidate(example, version, target, neighbour, uses)

    def _by_rewrites(self, example: ExampleTask, version: str, uses: tuple[Use, ...]) -> Candidate | None:
        """Return the candidate of an API that codemods write otherwise for the release after."""
        history = self.library.history
        following = history.next(version)
        rewrites = self._rewrites.get((example.snippet["id"], following), []) if following else []
        used = {use.path for use in uses}
        for edit in (edit for rewrite in rewrites for edit in rewrite["edits"] if edit["path"] in used):
            changes = (self.library.changes.get(key) for rewrite in rewrites for key in rewrite["changes"])
            change = next((row for row in changes if row and row["path"] == edit["path"]), None)
            named = change["gitchameleon_category"] if change else None
            category = GitChameleonCategory(named or GitChameleonCategory.ARGUMENT_OR_ATTRIBUTE)
            tags = history.tags(edit["path"], version) or PLAIN
            candidate = self._candidate(
                example, version, _Target(edit["path"], tags, change, category), following, uses
            )
            if candidate.other is not None:
                return candidate
        return None

    def _candidate(
        self, example: ExampleTask, version: str, target: _Target, neighbour: str | None, uses: tuple[Use, ...]
    ) -> Candidate:
        paths = {example.snippet["path"], target.path, *_counterparts(target.change)}
        other = self._other(example, version, target.path, neighbour, paths) if neighbour is not None else None
        outcome = self.library.runs.outcome(example.snippet["id"], neighbour)
        apart = outcome not in (None, Outcome.PASSED)
        return Candidate(example, version, *target, neighbour, other, uses, apart)

    def _other(
        self, example: ExampleTask, version: str, path: str, neighbour: str, paths: Collection[str | None]
    ) -> Other | None:
        """Return what is right for the neighbour: by a change of an API, by an example, by a stated replacement.

        What replaces an API may well do something else, which an example of the same result does not.
        """
        followed = self._other_release.follow(example.task, version, neighbour)
        by_codemod = Other(followed.task, ProblemRun.OTHER_CODEMOD) if followed else None
        if followed is not None and not followed.is_replacement:
            return by_codemod
        return (
            self._example(example, version, neighbour, paths)
            or by_codemod
            or self._rewritten(example, neighbour)
            or self._under_old_name(example, path, version, neighbour)
        )

    def _rewritten(self, example: ExampleTask, neighbour: str) -> Other | None:
        """Return what a codemod made of the task for the neighbour."""
        for rewrite in self._rewrites.get((example.snippet["id"], neighbour), []):
            for task in tasks_of(rewrite, self.library.roots(neighbour)).tasks:
                if task.code != example.task.code and set(task.cases) & set(example.task.cases):
                    return Other(task, ProblemRun.OTHER_CODEMOD)
        return None

    def _under_old_name(self, example: ExampleTask, path: str, version: str, neighbour: str) -> Other | None:
        """Return the task under the name that the neighbour has, if the new one is but another for the same."""
        names = self.library.history.old_name(path, version, neighbour)
        return Other(renamed(example.task, *names), ProblemRun.OTHER_CODEMOD) if names else None

    def _example(
        self, example: ExampleTask, version: str, neighbour: str, paths: Collection[str | None]
    ) -> Other | None:
        """Return what an example of the neighbour writes for one of the same inputs and results, and no example here.

        It is an example of one of the paths, or calls something of the core API's name.
        """
        cases = set(example.task.cases)
        names = {path.rpartition(".")[2] for path in paths if path}
        for each in sorted((each for case in cases for each in self._stating[case]), key=lambda each: each.key):
            related = each.snippet["path"] in paths or any(
                re.search(rf"\b{re.escape(n)}\b", each.task.code) for n in names
            )
            if related and self._holds(each, neighbour) and not self._is_documented(each.task, version):
                return Other(each.task, ProblemRun.OTHER_EXAMPLE)
        return None

    def _is_documented(self, task: Task, version: str) -> bool:
        """Say whether an example of a version writes the same."""
        return any(each.task.code == task.code and self._holds(each, version) for each in self._stating[task.cases[0]])

    def _holds(self, example: ExampleTask, version: str) -> bool:
        return self.library.history.within(version, example.snippet["version"], example.snippet["last_version"])


class _Target(NamedTuple):
    path: str
    tags: Tagging
    change: ChangeRow | None
    category: GitChameleonCategory | None


def _category(change: ChangeRow | None, tags: Tagging) -> GitChameleonCategory | None:
    """Return the category of a change, or of what is tagged so without one; an API that went for nothing has none."""
    if change is None:
        return _CATEGORIES.get(tags[1])
    named = change["gitchameleon_category"]
    return GitChameleonCategory(named) if named is not None else None


def _counterparts(change: ChangeRow | None) -> Iterator[str]:
    """Yield the paths on both sides of a change, and what the library says to use instead."""
    if change is None:
        return
    yield change["path"]
    if change["kind"] in RELOCATED and change["new"]:
        yield change["new"]
    if change["replacement"]:
        yield change["replacement"]
