"""What of an edit is to be run, and where: as the pipeline runs what was not edited."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.samples import Language
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.runs import subjects_of
from pipeline.families.model_migrations.tables import read_with_drafted
from pipeline.lake.rows import AnyRow, CompletionRow, MigrationRow, ProblemRow, RewriteRow, SnippetCheck, SnippetRow
from pipeline.lake.tables import Lake
from pipeline.quality.all_rules import CurationRules

_TEXT = frozenset({"description", "problem", "functionality", "arguments"})


@dataclass(frozen=True, slots=True)
class Planned:
    """One run of edited code; `subject` is the name that acceptance looks up, `must_pass` whether it proves it.

    `code` is what runs in place of a problem's solution, None where it is the solution.
    """

    subject: str
    label: str
    version: str
    must_pass: bool
    program: str
    checks: tuple[SnippetCheck, ...] = ()
    test: str | None = None
    test_file: str | None = None
    module: str | None = None
    cover: bool = False
    code: str | None = None

    def case(self, import_names: Sequence[str]) -> Case:
        """Return the run as the harness takes it."""
        return Case(
            f"{self.subject} {self.version}",
            "",
            self.program,
            checks=self.checks,
            import_names=import_names,
            test=self.test,
            test_file=self.test_file,
            module=self.module,
            cover=self.cover,
        )


def planned(lake: Lake, family: Family, before: AnyRow, after: AnyRow, rules: CurationRules) -> list[Planned]:
    """Return what is to be run of an edited instance: nothing where only texts changed, or where it is never run."""
    if all(before[name] == value for name, value in after.items() if name not in _TEXT):
        return []
    planner = _PLANNERS.get(family)
    return [*planner(lake, after, rules)] if planner else []


def _snippet(lake: Lake, library: str, snippet_id: str) -> SnippetRow:
    return lake.read("snippets", library, pc.field("id") == snippet_id)[0]


def _rewrite(lake: Lake, library: str, rewrite_id: str) -> RewriteRow:
    return read_with_drafted(lake, "rewrites", library, pc.field("id") == rewrite_id)[0]


def _completion(lake: Lake, row: CompletionRow, rules: CurationRules) -> Iterator[Planned]:
    """Yield the runs of a completion whose example runs alone: in its version and in the one before."""
    snippet = _snippet(lake, row["library"], row["snippet_id"])
    if snippet["source"] not in rules.validation.executable_sources or snippet["language"] != Language.PYTHON:
        return
    checks = checks_of(row["code"], [snippet])
    for version in filter(None, (row["version"], row["previous_version"])):
        own = version == row["version"]
        yield Planned(snippet["id"], "the code", version, own, row["code"], checks)


def _migration(lake: Lake, row: MigrationRow, rules: CurationRules) -> Iterator[Planned]:
    source, target = subjects_of(row)
    both = row["version"], row["target_version"]
    snippets = [
        _snippet(lake, row["library"], snippet_id) for snippet_id in (row["snippet_id"], row["target_snippet_id"])
    ]
    rewrites = [row["source_rewrite_id"], row["target_rewrite_id"]]
    sides = [
        _rewrite(lake, row["library"], rewrite) if rewrite else snippet
        for rewrite, snippet in zip(rewrites, snippets, strict=True)
    ]
    for subject, code, own, side in (
        (source, row["source_code"], both[0], sides[0]),
        (target, row["target_code"], both[1], sides[1]),
    ):
        label = "the code to migrate" if own == both[0] else "the code after migration"
        for version in both:
            yield Planned(subject, label, version, version == own, code, checks_of(code, [side]))


def _problem(lake: Lake, row: ProblemRow, rules: CurationRules) -> Iterator[Planned]:
    """Yield the runs of a problem: the visible and the hidden tests here, and whatever ran to set versions apart."""
    program, version = row["starting_code"] + row["solution"], row["version"]
    tests: dict[str, Any] = {"test_file": row["hidden_tests"], "module": row["module"]}
    visible, hidden = str(ProblemRun.VISIBLE), str(ProblemRun.HIDDEN)
    apart = {visible, hidden, str(ProblemRun.OTHER_RELEASE)}
    yield Planned(visible, "the visible test", version, True, program, test=row["test"])
    yield Planned(hidden, "the hidden tests", version, True, program, **tests, cover=True)
    for run in lake.read("problem_runs", row["library"], pc.field("problem_id") == row["id"]):
        if run["role"] not in apart:
            other = program if run["code"] is None else row["starting_code"] + run["code"]
            yield Planned(str(run["role"]), "other code", run["version"], False, other, **tests, code=run["code"])


_PLANNERS: Mapping[Family, Callable[[Lake, Any, CurationRules], Iterator[Planned]]] = {
    Family.PROBLEM: _problem,
    Family.COMPLETION: _completion,
    Family.MIGRATION: _migration,
}


def checks_of(code: str, sources: Iterable[SnippetRow | RewriteRow]) -> tuple[SnippetCheck, ...]:
    """Return the statements of edited code, each with the output that its source states for the same statement.

    Nothing where none of them has a stated output: then the code only has to run to its end.
    """
    source_checks: dict[str, list[SnippetCheck]] = defaultdict(list)
    for check in (check for source in sources for check in source["checks"]):
        source_checks[check["statement"].strip()].append(check)
    try:
        body = parse_python(code).body
    except SyntaxError:
        return ()
    texts = [ast.get_source_segment(code, node, padded=True) or "" for node in body]
    checks = tuple(_check(text, source_checks[text.strip()]) for text in texts)
    return checks if any(check["expected"] is not None for check in checks) else ()


def _check(text: str, source_checks: list[SnippetCheck]) -> SnippetCheck:
    """Return a statement with the output that the next equal statement of the source has."""
    source_check: SnippetCheck = (
        source_checks.pop(0) if source_checks else {"statement": "", "expected": None, "options": []}
    )
    return {**source_check, "statement": f"{text}\n"}
