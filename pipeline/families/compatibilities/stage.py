"""The stage `compatibilities`: programs that show a change, run in each release; the answer is where they are right."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from packaging.version import Version

from pipeline.core.vocabularies.changes import MARKED, WHOLE
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.usages.text import parse_program, source_of
from pipeline.corpus.witnesses.deprecations import without_filter
from pipeline.families.behaviours import by_place
from pipeline.families.compatibilities.rules import CompatibilityRules
from pipeline.families.proof import OTHER_RESULTS
from pipeline.families.uninformative import uninformative
from pipeline.lake.guard import guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.rows import BehaviourRow, ChangeRow, CompatibilityRow, ReleaseRow, SnippetRow, Tables, VerdictRow
from pipeline.lake.stage import Output, Reject

_OF_NAMED_TUPLES = frozenset({"_asdict", "_field_defaults", "_fields", "_make", "_replace"})
"""Public names of named tuples (`collections.namedtuple`), which have an underscore so that no field is called so."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""A word of a name in snake or camel case, as those of `to_dict` and `JSONEncoder`."""


@dataclass(frozen=True, slots=True)
class _Program:
    """A program that shows a change, with the public path by which it uses what changed."""

    snippet: SnippetRow
    change: ChangeRow | BehaviourRow
    path: str

    @property
    def key(self) -> str:
        return f"{self.snippet['id']} {self.change['id']}"


def compatibilities_stage(tables: Tables, rules: CompatibilityRules, fails: Collection[Outcome]) -> Output:
    """Make the table `compatibilities`; the unit is a program of a witness, which was run in each release.

    A release is asked for where it passes, or ends in one of `fails`, as programs do for what the release has not;
    other ends, such as a time-out, say nothing of the library.

    Rejects: UNCHANGED for a kind of change that is not asked of; UNFIT_NAME of a private API, or where the program
    uses one; TOO_LONG; LEAKS_ANSWER where the program speaks of versions, or prints one; NO_CHECK where all that it
    prints is blank, or says only what kind of thing something is; NOT_PROVEN where it does not tell two releases apart,
    or comes out otherwise in each run; OTHER_CAUSE where the API is deprecated in the same release, where it came or
    went, and a release that has it gives something else, or where it fails between two releases and no change lists
    that; NEAR_DUPLICATE where a shorter program on an API
    of like name, in the same class or module, has the same answer.
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
    rows, alike = parted(_one_of_a_wave(rows, rules.generic_words))
    rejects = sorted([*rejects, *unproven, *alike], key=lambda reject: reject.key)
    rows.sort(key=lambda row: row["id"])
    return Output({"compatibilities": rows}, len(rows) + len(rejects), len(rows), rejects)


def _programs(tables: Tables, rules: CompatibilityRules, versions: Collection[str]) -> Iterator[_Program | Reject]:
    """Yield the programs of witnesses that may be questions."""
    marks = [row for row in tables["changes"] if row["kind"] in MARKED]
    marked = {(row["path"], row["new_version"]) for row in marks}
    private_paths = {row["path"] for row in marks if _names_private(row)}
    own_version = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, versions))})(?![\w.])")
    for program in _of_witnesses(tables):
        code = source_of(program.snippet)
        if program.change["kind"] in rules.without_kinds:
            yield Reject(program.key, RejectReason.UNCHANGED, f"a change of {program.change['kind']}")
        elif program.change["kind"] not in MARKED and (program.path, program.change["new_version"]) in marked:
            # The change comes of the wrapper that warns, or is part of the way to the removal.
            yield Reject(program.key, RejectReason.OTHER_CAUSE, f"{program.path} is deprecated in the same release")
        elif program.path in private_paths:
            yield Reject(program.key, RejectReason.UNFIT_NAME, f"{program.path} is private by its deprecation")
        elif private := _private_name(program.path, code):
            yield Reject(program.key, RejectReason.UNFIT_NAME, f"{private} is private by its name")
        elif len(code.strip().split("\n")) > rules.max_lines:
            yield Reject(program.key, RejectReason.TOO_LONG, f"over {rules.max_lines} lines")
        elif little := uninformative(program.snippet["checks"]):
            yield Reject(program.key, RejectReason.NO_CHECK, little)
        elif leak := rules.gives_away.search(without_filter(code)) or own_version.search(code):
            yield Reject(program.key, RejectReason.LEAKS_ANSWER, f"the program has {leak[0]!r}")
        else:
            yield program


def _of_witnesses(tables: Tables) -> Iterable[_Program]:
    """Return the programs of witnesses, each with its change once: a listed one, else one of behaviour."""
    snippets = {row["id"]: row for row in tables["snippets"]}
    changes = {row["id"]: row for row in tables["changes"]}
    of_results = by_place(tables["behaviours"])
    programs: dict[str, _Program] = {}
    for row in tables["witnesses"]:
        for snippet_id, path in ((row["old_snippet_id"], row["old_path"]), (row["new_snippet_id"], row["new_path"])):
            if snippet_id in snippets and path is not None:
                listed = row["change_id"]
                change = changes.get(listed) if listed else of_results.get((path, row["new_version"]))
                if change is not None:
                    program = _Program(snippets[snippet_id], change, path)
                    programs.setdefault(program.key, program)
    return programs.values()


def _names_private(mark: ChangeRow) -> bool:
    """Say whether a deprecation tells to use, or keeps, the same under a private name: `_gettext` of `gettext`."""
    return re.search(rf"(?<!\w)_{re.escape(mark['path'].rpartition('.')[2])}(?!\w)", mark["new"] or "") is not None


def _private_name(path: str, code: str) -> str | None:
    """Return a private path, or a private name that a program takes of an object and does not bind itself; or None."""
    if any(part.startswith("_") for part in path.split(".")):
        return path
    tree = parse_program(code)
    nodes = list(ast.walk(tree)) if tree else []
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    own = {node.attr for node in attributes if isinstance(node.ctx, ast.Store)} | _OF_NAMED_TUPLES
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    names = (node.attr for node in attributes if node.attr not in own)
    return next((name for name in names if name.startswith("_") and not name.endswith("__")), None)


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


def _one_of_a_wave(rows: Iterable[CompatibilityRow], generic: Collection[str]) -> Iterator[CompatibilityRow | Reject]:
    """Yield the rows; of APIs with like names that came or went together only those of the shortest program's API."""
    waves: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for row in sorted(rows, key=lambda row: (len(row["code"]), row["id"])):
        owner, _, name = row["path"].rpartition(".")
        wave = waves[row["library"], row["version"], owner, *row["compatible"]]
        if name not in wave and (other := next((each for each in wave if _alike(each, name, generic)), None)):
            key = f"{row['snippet_id']} {row['change_id']}"
            yield Reject(key, RejectReason.NEAR_DUPLICATE, f"{wave[other]} asks the same of {owner}.{other}")
        else:
            wave.setdefault(name, row["id"])
            yield row


def _alike(one: str, other: str, generic: Collection[str]) -> bool:
    """Say whether two names have the same words, up to one letter before or behind each: `strip` and `rstrip_iter`."""
    first, second = ([word.lower() for word in _WORD.findall(name)] for name in (one, other))
    first, second = ([word for word in words if word not in generic] for words in (first, second))
    if not first or len(first) != len(second):
        return False
    pairs = (sorted(pair, key=len) for pair in zip(first, second, strict=True))
    return all(short == long or (len(short) > 2 and short in (long[1:], long[:-1])) for short, long in pairs)
