"""The stage `witnesses`: the smallest parts of two forms of a test of which running shows a change of the library."""

from __future__ import annotations

import difflib
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from packaging.version import Version

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.corpus.own_tests.candidates import Candidate, Catalogue, Cause, candidates, text_of
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.rules import OwnTestRules, WitnessRules
from pipeline.corpus.own_tests.scripts import Line, script_of
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.rules import UsageRules
from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.environments.resolution.request import request_of
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.intervals import chains, holding_at
from pipeline.lake.place import at_release
from pipeline.lake.rows import ChangeRow, EnvironmentRow, OwnTestRow, ReleaseRow, SnippetCheck, Tables, WitnessRow
from pipeline.lake.stage import Output, Reject

_MARK = "=====8<====="
"""A program prints it after each of its lines, so that the outputs of lines can be separated."""

_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}|/tmp/")
"""Parts of an output that differ in each run."""


@dataclass(frozen=True, slots=True)
class Forms:
    """A test whose program differs between two releases, with the assertions that may show why."""

    old: OwnTestRow
    new: OwnTestRow
    candidates: tuple[Candidate, ...]

    @property
    def key(self) -> str:
        """Its name in rejects."""
        case = f"[{self.old['case']}]" if self.old["case"] else ""
        return f"{self.new['test']}{case} {self.old['last_version']} {self.new['version']}"

    @property
    def versions(self) -> tuple[str, str]:
        """The last release that has the old form, and the first that has the new one."""
        return self.old["last_version"], self.new["version"]


def changed_forms(
    releases: Sequence[ReleaseRow], own_tests: Iterable[OwnTestRow]
) -> Iterator[tuple[OwnTestRow, OwnTestRow]]:
    """Yield the two programs of each test that are neighbours in a run of releases and not the same."""
    chain_of = {version: number for number, chain in enumerate(chains(releases)) for version in chain}
    by_test: dict[tuple[str, int], list[OwnTestRow]] = defaultdict(list)
    for row in own_tests:
        if row["version"] in chain_of:
            by_test[row["test_id"], chain_of[row["version"]]].append(row)
    for key in sorted(by_test):
        rows = sorted(by_test[key], key=lambda row: Version(row["version"]))
        yield from itertools.pairwise(rows)


def witnesses_stage(tables: Tables, runner: Runner, rules: OwnTestRules, usage: UsageRules) -> Output:
    """Run what may show a change in both releases, and keep the smallest programs that do.

    The unit is a test with another program in the next release. It is a row where the old program fails in the new
    release, the new program prints there what the old one printed in its own, and lines that differ use an API that
    the catalogue says to have changed. Where the catalogue says nothing of it, it is the reject UNLISTED_CHANGE.
    A release without an environment is a note.

    Errors: those of `EnvironmentStore.open`.
    """
    if not rules.enabled:
        return Output({"witnesses": []}, 0, 0)
    releases = {row["version"]: row for row in tables["releases"]}
    pairs = list(changed_forms(tables["releases"], tables["own_tests"]))
    forms, rejects = parted(guarded(pairs, lambda pair: pair[1]["id"], lambda pair: [_forms(*pair, rules.witness)]))
    catalogue = Catalogue(tables["changes"])
    forms, over = _within_quota(forms, tables["changes"], rules.witness)
    rejects += over
    versions = sorted({version for each in forms for version in each.versions}, key=Version)
    library = next((row["library"] for row in releases.values()), None)
    returns = usage.returns_of(library) if library else {}
    apis = {
        version: Api(
            {row["path"]: row for row in holding_at(tables["symbols"], version)},
            releases[version]["import_names"],
            returns,
        )
        for version in versions
    }
    runs, notes = _run(forms, releases, runner)
    shown, refused = parted(
        guarded(forms, lambda each: each.key, lambda each: [_shown(each, runs, catalogue, apis, releases)])
    )
    rows, surplus = _one_of_each(shown, rules.witness.per_change)
    rejects += [*refused, *surplus]
    return Output({"witnesses": rows}, len(rows) + len(rejects), len(rows), rejects, notes)


def _forms(old: OwnTestRow, new: OwnTestRow, rules: WitnessRules) -> Forms | Reject:
    without = Forms(old, new, ())
    try:
        scripts = script_of(old), script_of(new)
    except Refused as refused:
        return Reject(without.key, refused.reason, str(refused))
    if not all(any(line.expectation is not None for line in script) for script in scripts):
        return Reject(without.key, RejectReason.NO_CHECK, "nothing in it can be printed and compared")
    found = candidates(*scripts, most=rules.candidates)
    fitting = tuple(each for each in found if _fits(each.old, rules) and _fits(each.new, rules))
    if not found:
        return Reject(
            without.key,
            RejectReason.SAME_CODE,
            "no assertion that both make, of the same values, depends on lines that differ",
        )
    if not fitting:
        return Reject(
            without.key, RejectReason.TOO_LONG, f"over {rules.max_lines} lines or {rules.max_columns} columns"
        )
    return Forms(old, new, fitting)


def _fits(lines: Sequence[Line], rules: WitnessRules) -> bool:
    physical = text_of(lines).split("\n")
    return len(physical) <= rules.max_lines and max(map(len, physical)) <= rules.max_columns


def _within_quota(
    forms: Sequence[Forms], changes: Iterable[ChangeRow], rules: WitnessRules
) -> tuple[list[Forms], list[Reject]]:
    """Keep so many tests of a release: first those that use an API that changed in it."""
    changed: dict[str, set[str]] = defaultdict(set)
    for change in changes:
        changed[change["new_version"]].add(change["path"])

    def order(each: Forms) -> tuple[bool, str]:
        uses = {*each.old["apis"], *each.new["apis"]}
        return changed[each.versions[1]].isdisjoint(uses), content_id(each.key)

    taken: Counter[str] = Counter()
    kept: list[Forms] = []
    rejects: list[Reject] = []
    for each in sorted(forms, key=order):
        taken[each.versions[1]] += 1
        if taken[each.versions[1]] <= rules.per_release:
            kept.append(each)
        else:
            detail = f"the rule takes {rules.per_release} tests of a release"
            rejects.append(Reject(each.key, RejectReason.OVER_QUOTA, detail))
    return kept, rejects


Runs = Mapping[tuple[str, str], Result]
"""Results by the text of a program and the release in which it ran."""


def _run(
    forms: Iterable[Forms], releases: Mapping[str, ReleaseRow], runner: Runner
) -> tuple[dict[tuple[str, str], Result], list[Reject]]:
    programs: dict[str, dict[str, str]] = defaultdict(dict)
    for each in forms:
        for one in each.candidates:
            for lines in (one.old, one.new):
                for version in each.versions:
                    programs[version][text_of(lines)] = _marked(lines)

    def build(version: str) -> EnvironmentRow | Reject:
        return attempt(version, _build, releases[version], runner)

    with ThreadPoolExecutor(runner.store.workers) as pool:
        built = dict(zip(programs, pool.map(build, programs), strict=True))
    found: dict[tuple[str, str], Result] = {}
    notes: list[Reject] = []
    for version, environment in built.items():
        if isinstance(environment, Reject):
            notes.append(environment)
        elif environment["outcome"] != EnvironmentOutcome.BUILT:
            notes.append(Reject(version, RejectReason.NO_ENVIRONMENT, str(environment["outcome"])))
        else:
            with at_release(version):
                results = attempt(version, _run_in, programs[version], environment, releases[version], runner)
            if isinstance(results, Reject):
                notes.append(results)
            else:
                found |= {(text, version): result for text, result in zip(programs[version], results, strict=True)}
    return found, notes


def _build(release: ReleaseRow, runner: Runner) -> EnvironmentRow | Reject:
    try:
        with at_release(release["version"]):
            return runner.store.build(request_of(release))
    except IndexUnreachable as error:
        return Reject(release["version"], RejectReason.INDEX_UNREACHABLE, str(error))


def _run_in(
    programs: Mapping[str, str], environment_row: EnvironmentRow, release: ReleaseRow, runner: Runner
) -> list[Result]:
    environment = runner.store.open(environment_row)
    names = tuple(release["import_names"])
    cases = [Case(content_id(text), "", marked, import_names=names) for text, marked in programs.items()]
    return run_cases(environment, cases, runner.sandbox, runner.rules.once, runner.workers, None, runner.memory)


def _marked(lines: Sequence[Line]) -> str:
    # What a deprecated API warns of would stand among what is printed.
    quiet = "import warnings\nwarnings.simplefilter('ignore')\n"
    return ("" if any(map(_is_future, lines)) else quiet) + "".join(
        f"{line.text}\n" if _is_future(line) else f"{line.text}\nprint({_MARK!r})\n" for line in lines
    )


def _is_future(line: Line) -> bool:
    return line.text.startswith("from __future__ ")


def _outputs(lines: Sequence[Line], result: Result | None) -> list[str] | None:
    """Return what each line of a program printed; None where it did not run to its end."""
    if result is None or result.outcome is not Outcome.PASSED:
        return None
    *printed, last = result.output.rstrip("\n").split(_MARK)
    texts = [text.removeprefix("\n") for text in printed]
    running = [line for line in lines if not _is_future(line)]
    if last.strip() or len(texts) != len(running):
        return None
    by_line = iter(texts)
    return ["" if _is_future(line) else next(by_line, "") for line in lines]


def _shown(
    forms: Forms, runs: Runs, catalogue: Catalogue, apis: Mapping[str, Api], releases: Mapping[str, ReleaseRow]
) -> WitnessRow | Reject:
    """Return the smallest candidate that shows a change, or the reason for which the one that got furthest does not."""
    old_version, new_version = forms.versions
    reached: list[tuple[int, RejectReason, str]] = []
    for one in forms.candidates:
        old, new = text_of(one.old), text_of(one.new)
        old_runs, new_runs = ([runs.get((text, version)) for version in forms.versions] for text in (old, new))
        stated, same = _outputs(one.old, old_runs[0]), _outputs(one.new, new_runs[1])
        if stated is None or same is None:
            failed = old_runs[0] if stated is None else new_runs[1]
            reached.append((0, RejectReason.NOT_PROVEN, f"it fails at home: {_told(failed)}"))
        elif "".join(stated) != "".join(same) or _ADDRESS.search("".join(stated)):
            reached.append((1, RejectReason.NO_PARTNER, "the new form does not give what the old one gave"))
        elif _outputs(one.old, old_runs[1]) == stated:
            reached.append((2, RejectReason.UNCHANGED, f"the old form passes in {new_version} too"))
        elif not isinstance(cause := catalogue.cause(one, apis, old_version, new_version), Cause):
            detail = f"{_told(old_runs[1])}; the lines that differ use {', '.join(sorted(cause)) or 'no public API'}"
            reached.append((3, RejectReason.UNLISTED_CHANGE, detail))
        else:
            downwards = _outputs(one.new, new_runs[0]) == same
            outcomes = _outcome(old_runs[1]), Outcome.PASSED if downwards else _outcome(new_runs[0])
            return _row(forms, one, cause, (stated, same), outcomes, releases)
    _, reason, detail = max(reached, key=lambda each: each[0])
    return Reject(forms.key, reason, detail)


def _outcome(result: Result | None) -> Outcome:
    """Return how a program failed; one that ran to its end printed something else."""
    if result is None:
        return Outcome.NO_ENVIRONMENT
    return Outcome.FAILED_ASSERTION if result.outcome is Outcome.PASSED else result.outcome


def _told(result: Result | None) -> str:
    return f"{_outcome(result)}: {(result.detail if result else None) or ''}"[-300:]


def _row(
    forms: Forms,
    one: Candidate,
    cause: Cause,
    printed: tuple[Sequence[str], Sequence[str]],
    outcomes: tuple[Outcome, Outcome],
    releases: Mapping[str, ReleaseRow],
) -> WitnessRow:
    library, (old_version, new_version) = forms.old["library"], forms.versions
    old, new = text_of(one.old), text_of(one.new)
    return {
        "id": content_id("witness", library, old_version, new_version, old, new),
        "library": library,
        "old_version": old_version,
        "new_version": new_version,
        "test_id": forms.old["test_id"],
        "test": forms.new["test"],
        "old_snippet_id": content_id(library, old_version, "own_test", old),
        "new_snippet_id": content_id(library, new_version, "own_test", new),
        "change_id": cause.change["id"],
        "old_path": cause.old_path,
        "new_path": cause.new_path,
        "old_code": old,
        "new_code": new,
        "old_checks": _checks(one.old, printed[0]),
        "new_checks": _checks(one.new, printed[1]),
        "old_in_new": outcomes[0],
        "new_in_old": outcomes[1],
        "similarity": round(difflib.SequenceMatcher(None, old, new, autojunk=False).ratio(), 4),
        "old_file": forms.old["file"],
        "old_line": forms.old["line"],
        "new_file": forms.new["file"],
        "new_line": forms.new["line"],
    }


def _checks(lines: Sequence[Line], printed: Sequence[str]) -> list[SnippetCheck]:
    return [
        {"statement": f"{line.text}\n", "expected": text or None, "options": []}
        for line, text in zip(lines, printed, strict=True)
    ]


def _one_of_each(rows: Iterable[WitnessRow], most: int) -> tuple[list[WitnessRow], list[Reject]]:
    """Keep so many of the shortest programs for a change, and one of those that are the same."""
    taken: Counter[str] = Counter()
    kept: dict[str, WitnessRow] = {}
    rejects: list[Reject] = []
    for row in sorted(rows, key=lambda row: (len(row["old_code"]) + len(row["new_code"]), row["id"], row["test_id"])):
        key = f"{row['test']} {row['old_version']} {row['new_version']}"
        change = str(row["change_id"])
        if row["id"] in kept:
            rejects.append(Reject(key, RejectReason.DUPLICATE, "another test has the same program"))
        elif taken[change] >= most:
            rejects.append(Reject(key, RejectReason.OVER_QUOTA, f"the rule takes {most} programs of a change"))
        else:
            taken[change] += 1
            kept[row["id"]] = row
    return sorted(kept.values(), key=lambda row: row["id"]), rejects
