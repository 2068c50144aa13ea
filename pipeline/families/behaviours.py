"""The stage `behaviour`: APIs whose signature stays and whose results differ, as one program shows in two releases.

The catalogue of changes is made before anything runs. Examples run in their own release and in the one next to it all
the same, and where they come out otherwise, and nothing in the catalogue says why, the API that they use changed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from packaging.utils import canonicalize_name

from pipeline.api.history.index import Index
from pipeline.api.history.reach import farthest, reach_of
from pipeline.api.history.rules import LifecycleRules
from pipeline.core.vocabularies.changes import MARKED, OF_TYPES, OFFERED, WHOLE, ChangeKind, LibEvolutionEvalTag
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome, VerdictRole
from pipeline.core.vocabularies.samples import Evidence, SnippetSource
from pipeline.corpus.witnesses.deprecations import FILTER
from pipeline.execution.environments.resolution.request import request_of
from pipeline.execution.validation.cases import Result
from pipeline.execution.validation.runs import Run
from pipeline.execution.validation.stage import Runner
from pipeline.families.proof import OTHER_RESULTS, Runs
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.intervals import holding_at
from pipeline.lake.place import at_release
from pipeline.lake.reads import Read
from pipeline.lake.rows import BehaviourRow, ChangeRow, EnvironmentRow, R, ReleaseRow, SnippetRow, Tables
from pipeline.lake.stage import Output, Reject

_CHANGES_NO_RESULT = OF_TYPES | MARKED | {ChangeKind.UNDEPRECATED}
_COMPARED = re.compile(r"expected: (?P<expected>.*)\ngot:(?P<printed>.*)", re.DOTALL)
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
_LONGEST = 200

OF_REACH = Read(
    "symbols",
    (
        "path",
        "first_version",
        "last_version",
        "canonical_path",
        "kind",
        "public_because",
        "bases",
        "labels",
        "docstring_sha256",
        "deprecation",
        "file",
        "source",
    ),
)
"""What tells where an API is defined, and how far it reaches."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A program that passes in one of two consecutive releases and comes out otherwise in the other."""

    snippet: SnippetRow
    old_version: str
    new_version: str
    old_outcome: str
    new_outcome: str
    detail: str

    @property
    def key(self) -> str:
        """Its name in rejects."""
        return f"{self.snippet['id']} {self.old_version} {self.new_version}"

    @property
    def home(self) -> str:
        """The release in which it passes."""
        return self.new_version if self.fails_before else self.old_version

    @property
    def other(self) -> str:
        return self.old_version if self.fails_before else self.new_version

    def failing(self, result: Result) -> _Pair:
        """Return the same with another run in the release in which it fails."""
        outcomes = (result.outcome, self.new_outcome) if self.fails_before else (self.old_outcome, result.outcome)
        return replace(self, old_outcome=outcomes[0], new_outcome=outcomes[1], detail=result.detail or "")

    @property
    def fails_before(self) -> bool:
        return self.new_outcome == Outcome.PASSED

    def results(self) -> tuple[str | None, str | None]:
        """Return what the program gave before and after, with the statement if no other states the same output."""
        compared = _COMPARED.fullmatch(self.detail)
        if compared is None:
            message = _shortened(self.detail)
            return (message, None) if self.fails_before else (None, message)
        expected, printed = compared["expected"].strip(), compared["printed"].strip() or "nothing"
        stating = [each["statement"] for each in self.snippet["checks"] if (each["expected"] or "").strip() == expected]
        statement = f"`{stating[0].strip()}` gives " if len(stating) == 1 and "\n" not in stating[0].strip() else ""
        before, after = (printed, expected) if self.fails_before else (expected, printed)
        return _shortened(statement + before), _shortened(after)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def behaviours_stage(tables: Tables, rules: LifecycleRules, runner: Runner) -> Output:
    """Make the table `behaviours` of a library; the unit is a program with other results in two consecutive releases.

    It is a row, one for each API and pair of releases, where the program shows one API, which both releases have and of
    which the catalogue lists no change; else it is OTHER_CAUSE, or UNLISTED_CHANGE where it uses several. Where the
    environments of both releases differ in more than the library, the program must come out so, too, where the release
    in which it failed is installed beside the dependencies, and on the Python, of the other one: else OTHER_CAUSE.

    Errors: those of `EnvironmentStore.open`.
    """
    catalogue: dict[str, list[ChangeRow]] = defaultdict(list)
    for change in tables["changes"]:
        if change["kind"] not in _CHANGES_NO_RESULT:
            catalogue[change["new_version"]].append(change)
    used: dict[str, set[str]] = defaultdict(set)
    for usage in tables["usages"]:
        used[usage["snippet_id"]].add(usage["path"])
    pairs = list(_pairs(tables))
    indexes = {
        version: Index(holding_at(tables["symbols"], version))
        for version in {version for pair in pairs for version in (pair.old_version, pair.new_version)}
    }

    def attributed(pair: _Pair) -> tuple[_Pair, str] | Reject:
        old, new = indexes[pair.old_version], indexes[pair.new_version]
        paths = used[pair.snippet["id"]]
        if listed := next(_explaining(paths, (old, new), catalogue[pair.new_version]), None):
            return Reject(pair.key, RejectReason.OTHER_CAUSE, f"{listed['kind']}: {listed['path']}")
        path = _api_of(paths, pair.snippet)
        if path is None or not (old.alive(path) and new.alive(path)):
            return Reject(pair.key, RejectReason.UNLISTED_CHANGE, f"of {', '.join(sorted(paths))}: {pair.detail}")
        return pair, path

    claims, rejects = parted(guarded(pairs, lambda pair: pair.key, lambda pair: [attributed(pair)]))
    confirmed, refused = _confirmed(claims, tables, runner)
    candidates, failed = parted(
        guarded(
            confirmed,
            lambda claim: claim[0].key,
            lambda claim: [_row(*claim, (indexes[claim[0].old_version], indexes[claim[0].new_version]), rules)],
        )
    )
    rejects += [*refused, *failed]
    rows: dict[str, BehaviourRow] = {}
    for row in sorted(candidates, key=lambda row: (not row["breaking"], row["new"] is None, row["snippet_id"])):
        if row["id"] in rows:
            detail = f"another program shows it of {row['path']}"
            rejects.append(Reject(f"{row['snippet_id']} {row['new_version']}", RejectReason.DUPLICATE, detail))
        rows.setdefault(row["id"], row)
    return Output({"behaviours": [rows[key] for key in sorted(rows)]}, len(pairs), len(rows), rejects)


def _confirmed(
    claims: Iterable[tuple[_Pair, str]], tables: Tables, runner: Runner
) -> tuple[list[tuple[_Pair, str]], list[Reject]]:
    """Return the claims that hold where nothing differs but the library."""
    environments = {row["version"]: row for row in tables["environments"]}
    releases = {row["version"]: row for row in tables["releases"]}
    confirmed: list[tuple[_Pair, str]] = []
    rejects: list[Reject] = []
    doubtful: dict[tuple[str, str], list[tuple[_Pair, str]]] = defaultdict(list)
    for claim in claims:
        home, other = claim[0].home, claim[0].other
        if _differ_in_library_alone(environments[home], environments[other]):
            confirmed.append(claim)
        else:
            doubtful[home, other].append(claim)
    for (home, other), group in sorted(doubtful.items()):
        results = attempt(other, _run_beside, [pair for pair, _ in group], environments[home], releases, runner)
        for place, (pair, path) in enumerate(group):
            if isinstance(results, Reject):
                rejects.append(replace(results, key=pair.key))
            elif results[place].outcome in OTHER_RESULTS:
                confirmed.append((pair.failing(results[place]), path))
            else:
                detail = f"{other} beside the dependencies of {home}: {results[place].outcome}"
                rejects.append(Reject(pair.key, RejectReason.OTHER_CAUSE, detail))
    return confirmed, rejects


def _run_beside(
    pairs: Sequence[_Pair], home: EnvironmentRow, releases: Mapping[str, ReleaseRow], runner: Runner
) -> list[Result] | Reject:
    """Run programs in the other release, installed as the one is in which they pass."""
    other = releases[pairs[0].other]
    later = max(other["release_time"], releases[home["version"]]["release_time"])
    pins = tuple(f"{name}=={version}" for name, version in sorted(_beside(home)))
    request = replace(request_of(other), python=home["python"], pins=pins, release_time=later)
    with at_release(other["version"]):
        built = runner.store.build(request)
        if built["outcome"] != EnvironmentOutcome.BUILT or not _differ_in_library_alone(home, built):
            return Reject(
                other["version"], RejectReason.OTHER_CAUSE, f"not beside {', '.join(pins)}: {built['outcome']}"
            )
        runs = [Run(pair.snippet["id"], other["version"], VerdictRole.OTHER_VERSION) for pair in pairs]
        return runner.run(built, runs, other, {pair.snippet["id"]: pair.snippet for pair in pairs})


def by_place(behaviours: Iterable[BehaviourRow]) -> dict[tuple[str, str], BehaviourRow]:
    """Return changes of behaviour by the paths of their APIs and the release that changed them."""
    return {
        (path, row["new_version"]): row
        for row in sorted(behaviours, key=lambda row: row["id"])
        for path in (row["canonical_path"], row["path"])
    }


def retagged(instance: R, behaviours: Mapping[tuple[str, str], BehaviourRow]) -> R:
    """Return an instance that says `unchanged` with the tags of the change of behaviour that running has shown."""
    change = behaviours.get((instance["path"], instance["version"]))
    if change is None or instance["libevolutioneval_tag"] != LibEvolutionEvalTag.UNCHANGED:
        return instance
    tags = {name: change[name] for name in ("versicode_tag", "libevolutioneval_tag")}
    return cast(R, {**instance, **tags, "change_id": change["id"]})


def _pairs(tables: Tables) -> Iterator[_Pair]:
    """Yield programs that were run in two consecutive releases and have other results in one of them.

    One that ends at warnings gives other results where the catalogue lists a deprecation.
    """
    runs = Runs(tables["verdicts"])
    pairs = sorted((row["predecessor"], row["version"]) for row in tables["releases"] if row["predecessor"])
    snippets = (row for row in tables["snippets"] if FILTER.text not in row["code"])
    for snippet in sorted(snippets, key=lambda row: row["id"]):
        for old, new in pairs:
            before, after = runs.of(snippet["id"], old), runs.of(snippet["id"], new)
            if before is None or after is None:
                continue
            outcomes = before["outcome"], after["outcome"]
            if Outcome.PASSED in outcomes and OTHER_RESULTS.intersection(outcomes):
                detail = (before if outcomes[0] != Outcome.PASSED else after)["detail"] or ""
                yield _Pair(snippet, old, new, *outcomes, detail)


def _beside(environment: EnvironmentRow) -> set[tuple[str, str]]:
    """Return what is installed beside the library, by name and version."""
    pins = {(str(canonicalize_name(name)), version) for name, version in _PIN.findall(environment["lock"] or "")}
    return {pin for pin in pins if pin[0] != environment["library"]}


def _differ_in_library_alone(one: EnvironmentRow, other: EnvironmentRow) -> bool:
    return one["python"] == other["python"] and _beside(one) == _beside(other)


def _owners(path: str) -> set[str]:
    names = path.split(".")
    return {".".join(names[:depth]) for depth in range(1, len(names))}


def _explaining(paths: Collection[str], indexes: Sequence[Index], changes: Iterable[ChangeRow]) -> Iterator[ChangeRow]:
    """Yield changes of what a program uses, under any of its names, and of what that is a member of."""
    states = [state for path in paths for index in indexes if (state := index.find(path)) is not None]
    names = {*paths, *(name for state in states for name in (state["path"], state["canonical_path"]))}
    owners = {owner for name in names for owner in _owners(name)}
    for change in changes:
        places = {change["path"], change["canonical_path"], *([change["new"]] if change["kind"] in WHOLE else [])}
        if places & (names | owners):
            yield change


def _api_of(paths: Collection[str], snippet: SnippetRow) -> str | None:
    """Return the one API that a program uses; that of its docstring where all others are members of it.

    A program that was cut out of a test for the results of one API is of that one.
    """
    example_of = snippet["example_of"] or ()
    if snippet["source"] == SnippetSource.OWN_TEST and len(example_of) == 1:
        return example_of[0]
    owners = {owner for path in paths for owner in _owners(path)}
    single = [path for path in paths if path not in owners]
    if len(single) == 1:
        return single[0]
    documented = snippet["path"]
    if documented in paths and all(documented in {path, *_owners(path)} for path in single):
        return documented
    return None


def _row(pair: _Pair, path: str, indexes: Sequence[Index], rules: LifecycleRules) -> BehaviourRow:
    state = indexes[1].find(path)
    assert state is not None  # the caller looked
    path = state["path"]
    library, versions, kind = pair.snippet["library"], (pair.old_version, pair.new_version), ChangeKind.BEHAVIOUR
    old, new = pair.results()
    tags = rules.changes[kind]
    reach = farthest(reach_of(path, index) for index in indexes)
    return {
        "id": content_id(library, *versions, path, str(kind), None),
        "library": library,
        "old_version": pair.old_version,
        "new_version": pair.new_version,
        "path": path,
        "canonical_path": state["canonical_path"],
        "kind": kind,
        "parameter": None,
        "old": old,
        "new": new,
        # a call that failed before and runs now breaks nobody
        "breaking": tags.breaking and new is not None and reach in OFFERED,
        "reach": reach,
        "griffe_kind": tags.griffe,
        "replacement": None,
        "confidence": 1.0,
        "evidence": Evidence.EXECUTED,
        "versicode_tag": tags.versicode,
        "libevolutioneval_tag": tags.libevolutioneval,
        "gitchameleon_category": tags.gitchameleon,
        "old_outcome": pair.old_outcome,
        "new_outcome": pair.new_outcome,
        "snippet_id": pair.snippet["id"],
    }
