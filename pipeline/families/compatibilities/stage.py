"""The stage `compatibilities`: programs that show a change, run in each release; the answer is where they are right."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from packaging.version import Version

from pipeline.core.vocabularies.changes import WHOLE
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.usages.text import source_of
from pipeline.families.compatibilities.rules import CompatibilityRules
from pipeline.families.proof import OTHER_RESULTS
from pipeline.lake.guard import guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ChangeRow, CompatibilityRow, ReleaseRow, SnippetRow, Tables, VerdictRow
from pipeline.lake.stage import Output, Reject


@dataclass(frozen=True, slots=True)
class _Program:
    """A program that shows a change, with the public path by which it uses what changed."""

    snippet: SnippetRow
    change: ChangeRow
    path: str

    @property
    def key(self) -> str:
        return f"{self.snippet['id']} {self.change['id']}"


def compatibilities_stage(tables: Tables, rules: CompatibilityRules, fails: Collection[Outcome]) -> Output:
    """Make the table `compatibilities`; the unit is a program of a witness, which was run in each release.

    A release is asked for where it passes, or ends in one of `fails`, as programs do for what the release has not;
    other ends, such as a time-out, say nothing of the library.

    Rejects: UNCHANGED for a kind of change that is not asked of; UNFIT_NAME of a private API; TOO_LONG; LEAKS_ANSWER
    where the program speaks of versions, or prints one; NO_CHECK where all that it prints is blank; NOT_PROVEN where it
    does not tell two releases apart, or comes out otherwise in each run; OTHER_CAUSE where an API came or went, and a
    release that has it gives something else, or where it fails between two releases and no change lists that.
    """
    releases = {row["version"]: row for row in tables["releases"]}
    programs, rejects = parted(_programs(tables, rules, releases))
    runs: dict[str, dict[str, VerdictRow]] = defaultdict(dict)
    for row in sorted(tables["verdicts"], key=lambda row: Version(row["version"])):
        runs[row["subject_id"]][row["version"]] = row
    place_changes = {(row["path"], row["new_version"]) for row in tables["changes"] if row["kind"] in WHOLE}
    rows, unproven = parted(
        guarded(
            programs,
            lambda program: program.key,
            lambda program: [_row(program, runs[program.snippet["id"]], fails, releases, rules, place_changes)],
        )
    )
    rejects = sorted([*rejects, *unproven], key=lambda reject: reject.key)
    rows.sort(key=lambda row: row["id"])
    return Output({"compatibilities": rows}, len(rows) + len(rejects), len(rows), rejects)


def _programs(tables: Tables, rules: CompatibilityRules, versions: Collection[str]) -> Iterator[_Program | Reject]:
    """Yield the programs of witnesses, each with its change once."""
    snippets = {row["id"]: row for row in tables["snippets"]}
    changes = {row["id"]: row for row in tables["changes"]}
    programs: dict[str, _Program] = {}
    for row in tables["witnesses"]:
        for snippet_id, path in ((row["old_snippet_id"], row["old_path"]), (row["new_snippet_id"], row["new_path"])):
            if snippet_id in snippets and row["change_id"] in changes and path is not None:
                program = _Program(snippets[snippet_id], changes[row["change_id"]], path)
                programs.setdefault(program.key, program)
    own_version = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, versions))})(?![\w.])")
    for program in programs.values():
        code = source_of(program.snippet)
        outputs = [check["expected"] for check in program.snippet["checks"] if check["expected"]]
        if program.change["kind"] in rules.without_kinds:
            yield Reject(program.key, RejectReason.UNCHANGED, f"a change of {program.change['kind']}")
        elif any(part.startswith("_") for part in program.path.split(".")):
            yield Reject(program.key, RejectReason.UNFIT_NAME, f"{program.path} is private by its name")
        elif len(code.strip().split("\n")) > rules.max_lines:
            yield Reject(program.key, RejectReason.TOO_LONG, f"over {rules.max_lines} lines")
        elif outputs and not "".join(outputs).replace("<BLANKLINE>", "").strip():
            yield Reject(program.key, RejectReason.NO_CHECK, "all that it prints is blank")
        elif leak := rules.gives_away.search(code) or own_version.search(code):
            yield Reject(program.key, RejectReason.LEAKS_ANSWER, f"the program has {leak[0]!r}")
        else:
            yield program


def _row(
    program: _Program,
    runs: Mapping[str, VerdictRow],
    fails: Collection[Outcome],
    releases: Mapping[str, ReleaseRow],
    rules: CompatibilityRules,
    place_changes: Collection[tuple[str, str]],
) -> CompatibilityRow | Reject:
    outcomes = {version: Outcome(run["outcome"]) for version, run in runs.items()}
    if unstable := [version for version, outcome in outcomes.items() if outcome == Outcome.FLAKY]:
        return Reject(program.key, RejectReason.NOT_PROVEN, f"it comes out otherwise in each run of {unstable[0]}")
    decided = {version: outcome for version, outcome in outcomes.items() if outcome in {Outcome.PASSED, *fails}}
    compatible = [version for version, outcome in decided.items() if outcome == Outcome.PASSED]
    if len(decided) < rules.min_releases or len(compatible) in (0, len(decided)):
        detail = f"it passes in {len(compatible)} of {len(decided)} releases whose runs say something"
        return Reject(program.key, RejectReason.NOT_PROVEN, detail)
    first, last = (list(decided).index(compatible[at]) for at in (0, -1))
    switches = [new for old, new in pairwise(decided) if (old in compatible) != (new in compatible)]
    if last - first >= len(compatible) and any((program.path, each) not in place_changes for each in switches):
        return Reject(program.key, RejectReason.OTHER_CAUSE, "it fails in a release between two in which it passes")
    others = [version for version, outcome in decided.items() if outcome in OTHER_RESULTS]
    if program.change["kind"] in WHOLE and others:
        return Reject(program.key, RejectReason.OTHER_CAUSE, f"in {others[0]} it gives something else")
    library, version, code = program.snippet["library"], program.change["new_version"], source_of(program.snippet)
    newest = runs[compatible[-1]]
    return {
        "id": content_id("compatibility", library, program.change["id"], code),
        "library": library,
        "version": version,
        "release_time": releases[version]["release_time"],
        "path": program.path,
        "change_id": program.change["id"],
        "snippet_id": program.snippet["id"],
        "code": code,
        "output": "".join(check["expected"] or "" for check in program.snippet["checks"]),
        "releases": list(decided),
        "compatible": compatible,
        "outcomes": list(decided.values()),
        "python": newest["python"],
        "lock_id": newest["lock_id"],
    }
