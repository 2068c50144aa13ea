"""Which snippets are rewritten, for which release, and the pairs that they make with what they were."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import libcst as cst

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Direction
from pipeline.corpus.usages.text import source_of
from pipeline.families.completions_and_migrations.codemods.program import Program
from pipeline.families.completions_and_migrations.codemods.reading import Reading
from pipeline.families.completions_and_migrations.codemods.rewrite import Rewritten, rewrite
from pipeline.families.completions_and_migrations.codemods.rules import CodemodRules
from pipeline.families.completions_and_migrations.codemods.signatures import Unfit
from pipeline.families.completions_and_migrations.history import History, is_major
from pipeline.families.completions_and_migrations.pairs import Pair, Side, similarity
from pipeline.families.completions_and_migrations.transitions import Step, Transition, transitions
from pipeline.lake.guard import attempt
from pipeline.lake.ids import content_id
from pipeline.lake.rows import (
    ChangeRow,
    LifecycleRow,
    RewriteCheck,
    RewriteRow,
    SnippetCheck,
    SnippetRow,
    UsageRow,
)
from pipeline.lake.stage import Reject


def rewritten_examples(
    snippets: Iterable[SnippetRow],
    usages: Mapping[str, Sequence[UsageRow]],
    changes: Iterable[ChangeRow],
    lifecycles: Iterable[LifecycleRow],
    history: History,
    rules: CodemodRules,
) -> Iterator[Pair | Reject]:
    """Yield a pair, or a reject, for each snippet that uses what changes between its release and a neighbour.

    A snippet of the older release is written for the newer one, and so, if rules say so, is one that documentation
    dropped before the change that breaks it: from the last release that has it. One that the older release does not
    have is written backwards, where the inverse is known. A snippet in which nothing changes is no candidate.
    """
    users, programs = _Users(snippets, usages), _Programs()
    for transition in transitions(changes, lifecycles, history):
        yield from transition.failed
        touched = attempt(f"{transition.source} {transition.target}", users.of, transition, rules)
        if isinstance(touched, Reject):
            yield touched
            continue
        for snippet, of_snippet in touched:
            key = f"{snippet['id']} {of_snippet.source} {of_snippet.target}"
            result = attempt(key, _pair, key, snippet, usages[snippet["id"]], of_snippet, rules, programs)
            if result is not None:
                yield result


class _Users:
    """The snippets of a library by the paths that they use."""

    def __init__(self, snippets: Iterable[SnippetRow], usages: Mapping[str, Sequence[UsageRow]]) -> None:
        self.by_path: dict[str, dict[str, SnippetRow]] = defaultdict(dict)
        self.first_use: dict[str, UsageRow] = {}
        for snippet in sorted(snippets, key=lambda row: row["id"]):
            for usage in usages.get(snippet["id"], ()):
                self.by_path[usage["path"]][snippet["id"]] = snippet
                self.first_use.setdefault(usage["path"], usage)

    def of(self, transition: Transition, rules: CodemodRules) -> list[tuple[SnippetRow, Transition]]:
        """Return the snippets that a transition may touch, by id, each with the transition from its own release."""
        by_ends: dict[tuple[str, str, str], tuple[SnippetRow, Transition]] = {}
        for path, usage in self.first_use.items():
            step = transition.step(usage)
            if step is None:
                continue
            for key, snippet in self.by_path[path].items():
                source = _source(snippet, path, transition, early=step.breaking and rules.before_the_change)
                if source is None:
                    continue
                ends = [(source, transition.target)]
                if rules.majors and step.breaking and transition.direction == Direction.OLD_TO_NEW:
                    ends += _majors(snippet, step, source, transition)
                by_ends |= {(key, *pair): (snippet, transition.between(*pair)) for pair in ends}
        return [by_ends[key] for key in sorted(by_ends)]


def _majors(snippet: SnippetRow, step: Step, source: str, transition: Transition) -> Iterator[tuple[str, str]]:
    """Yield the last major release before a change that has a snippet, with the first one after the change."""
    history, path = transition.history, step.task.usage["path"]
    old = [version for version in history.between(str(snippet["version"]), source) if is_major(version)]
    new = [version for version in history.since(transition.target) if is_major(version)]
    if old and new and history.is_public(path, old[-1]):
        yield old[-1], new[0]


def _source(snippet: SnippetRow, path: str, transition: Transition, *, early: bool) -> str | None:
    """Return the release for which a snippet is right and from which a transition takes it on, if it does."""
    history, source = transition.history, transition.source
    first, last = str(snippet["version"]), str(snippet["last_version"])
    if transition.direction == Direction.NEW_TO_OLD:
        alone = history.within(source, first, last) and not history.within(transition.target, first, last)
        return source if alone else None
    if history.within(source, first, last):
        return source
    if not early or history.rank(last) >= history.rank(source):
        return None
    return last if history.is_public(path, last) else None


class _Programs:
    """Snippets read and parsed, by id: one is rewritten for several releases."""

    def __init__(self) -> None:
        self._read: dict[str, Reading] = {}
        self._parsed: dict[str, Program | Unfit] = {}

    def read(self, snippet: SnippetRow) -> Reading:
        """Return what a snippet calls."""
        if snippet["id"] not in self._read:
            self._read[snippet["id"]] = Reading(snippet)
        return self._read[snippet["id"]]

    def of(self, snippet: SnippetRow) -> Program:
        """Return a snippet parsed by libcst. Errors: Unfit."""
        if snippet["id"] not in self._parsed:
            try:
                self._parsed[snippet["id"]] = Program(snippet)
            except Unfit as error:
                self._parsed[snippet["id"]] = error
        program = self._parsed[snippet["id"]]
        if isinstance(program, Unfit):
            raise program
        return program


def _pair(
    key: str,
    snippet: SnippetRow,
    usages: Sequence[UsageRow],
    transition: Transition,
    rules: CodemodRules,
    programs: _Programs,
) -> Pair | Reject | None:
    steps = [step for usage in usages if (step := transition.step(usage)) is not None]
    steps = [step for step in steps if step.basis in rules.follow]
    tasks = [step.task for step in steps]
    if programs.read(snippet).stays(tasks):
        return None
    lines = source_of(snippet).count("\n") + 1
    if lines > rules.max_lines:
        return Reject(key, RejectReason.TOO_LONG, f"{lines} lines, the rule for codemods takes {rules.max_lines}")
    try:
        written = rewrite(programs.of(snippet), tasks)
    except (Unfit, cst.CSTValidationError) as error:
        return Reject(key, RejectReason.NO_CODEMOD, f"{steps[0].task.usage['path']}: {error}")
    if written is None:
        return None
    if line := programs.read(snippet).unproven(written.edits):
        detail = f"{steps[0].task.usage['path']}: line {line} stands in a function that nothing calls"
        return Reject(key, RejectReason.NO_CODEMOD, detail)
    pair = _as_pair(snippet, steps, written, transition)
    if pair.basis in rules.only_with_outputs and not _may_be_trusted(pair, snippet):
        detail = f"{pair.old.path}: no stated output tells whether {pair.new.path} does the same"
        return Reject(key, RejectReason.NO_CODEMOD, detail)
    return pair


def _may_be_trusted(pair: Pair, snippet: SnippetRow) -> bool:
    """Say whether both sides surely do the same: a stated output will tell, or it is the same name in another place."""
    same_name = pair.old.path.rpartition(".")[2] == pair.new.path.rpartition(".")[2]
    return same_name or any(check["expected"] for check in snippet["checks"])


def _as_pair(snippet: SnippetRow, steps: Sequence[Step], written: Rewritten, transition: Transition) -> Pair:
    edited = {edit["path"] for edit in written.edits}
    done = [step for step in steps if step.task.usage["path"] in edited]
    core = min(done, key=lambda step: (step.task.usage["path"] != snippet["path"], step.task.usage["start_byte"]))
    row = _row(snippet, done, written, transition)
    here = Side(snippet, transition.source, core.task.usage["path"])
    there = Side(snippet, transition.target, core.path, row)
    old, new = (here, there) if transition.direction == Direction.OLD_TO_NEW else (there, here)
    return Pair(old, new, core.basis, similarity(old.code, new.code))


def _row(snippet: SnippetRow, done: Sequence[Step], written: Rewritten, transition: Transition) -> RewriteRow:
    pieces = written.pieces
    checks = [
        check
        for was, became in zip(snippet["checks"], pieces.statements, strict=True)
        for check in _checks(was, became)
    ]
    statements = [check["statement"] for check in checks]
    return {
        "id": content_id("rewrite", snippet["library"], transition.target, pieces.preamble, pieces.code, *statements),
        "library": snippet["library"],
        "version": transition.target,
        "snippet_id": snippet["id"],
        "snippet_version": transition.source,
        "changes": sorted({change for step in done for change in step.change_ids}),
        "preamble": pieces.preamble,
        "code": pieces.code,
        "checks": checks,
        "edits": list(written.edits),
    }


def _checks(was: SnippetCheck, became: Sequence[str]) -> list[RewriteCheck]:
    """Return the checks that one became: doctest takes a statement at a time, and the output is that of the last."""
    return [
        {**was, "statement": statement, "expected": was["expected"] if n == len(became) else None}
        for n, statement in enumerate(became, start=1)
    ]
