"""The stage `witnesses`: the smallest programs of tests of which running shows a change of the library."""

from __future__ import annotations

import ast
import difflib
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from more_itertools import unique_everseen
from packaging.version import Version

from pipeline.core.vocabularies.changes import GONE, OF_PARAMETERS, WHOLE
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.own_tests.candidates import Candidate, Catalogue, Cause, Failure, candidates, text_of
from pipeline.corpus.own_tests.changed_uses import ChangeSide, TestScripts, UsingProgram, blamed, is_symptom, sides_of
from pipeline.corpus.own_tests.distinctive import (
    LONGEST_OUTPUT,
    emptiness,
    is_distinctive,
    is_informative,
    is_presentable,
    plain_code,
    script_of_variants,
    variants,
)
from pipeline.corpus.own_tests.reduced import ProvenProgram, reduce_programs
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.rules import OwnTestRules, WitnessRules
from pipeline.corpus.own_tests.script_runs import ScriptRuns, as_asserted, described, failing_place, outcome_of, outputs
from pipeline.corpus.own_tests.scripts import OF_RAISED, OUTPUT, Line, loose_script_of
from pipeline.corpus.own_tests.values_of_tests import ValuesOfTests
from pipeline.corpus.own_tests.written import ProgramWriter
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.rules import UsageRules
from pipeline.corpus.usages.uses import Use
from pipeline.execution.validation.stage import Runner
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.intervals import chains, holding_at
from pipeline.lake.rows import ChangeRow, OwnTestRow, ReleaseRow, SnippetCheck, Tables, WitnessRow
from pipeline.lake.stage import Output, Reject

_ADDRESS = re.compile(r"\bat 0x|\bid=\d{6}| @ \d{9}|/tmp\b")
"""Parts of an output that differ in each run."""

_OBJECT = re.compile(r"^<[^<>]*\bobject\b[^<>]* at 0x…>$", re.MULTILINE)
"""What an object prints that has no text of its own, an iterator among them; the run hides its address."""


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
    """Run what may show a change in the releases on either side of it, and keep the smallest programs that do.

    One unit is a change that running can show. Of the tests of either release those are cut down that use the API, or
    give the parameter. Where none shows the change, programs are written from it. One that passes at home is a row
    where it fails in the other release at the line of the use, and the failure names what changed.

    The other unit is a test with another program in the next release. It is a row where the old program fails in the
    new release, the new program prints there what the old one printed in its own, and the line that fails uses an API
    that the catalogue says to have changed. Where the catalogue says nothing of it, it is the reject UNLISTED_CHANGE.
    A release without an environment is a note.

    Errors: those of `EnvironmentStore.open`.
    """
    if not rules.enabled:
        return Output({"witnesses": []}, 0, 0)
    releases = {row["version"]: row for row in tables["releases"]}
    library = next((row["library"] for row in releases.values()), None)
    returns = usage.returns_of(library) if library else {}
    pairs = list(changed_forms(tables["releases"], tables["own_tests"]))
    forms, rejects = parted(guarded(pairs, lambda pair: pair[1]["id"], lambda pair: [_forms(*pair, rules.witness)]))
    forms, over = _within_quota(forms, tables["changes"], rules.witness)
    rejects += over
    changes = [change for change in sorted(tables["changes"], key=lambda row: row["id"]) if sides_of(change)]
    sides = [side for change in changes for side in sides_of(change)]
    versions = {side.home for side in sides} | {version for each in forms for version in each.versions}
    apis = {
        version: Api(
            {row["path"]: row for row in holding_at(tables["symbols"], version)},
            releases[version]["import_names"],
            returns,
        )
        for version in sorted(versions, key=Version)
    }
    runs = ScriptRuns(releases, runner)
    scripts = TestScripts(tables["own_tests"], apis, releases)
    # Each test is parsed for its values, which takes its time.
    values = ValuesOfTests(tables["own_tests"] if rules.written.programs else (), tables["symbols"], rules.written)
    writer = ProgramWriter(scripts, apis, values, rules.written)
    search = _Search(scripts, writer, apis, Catalogue(tables["changes"]), runs, rules.witness)
    of_changes, refused = search.of_changes(changes)
    rejects += refused
    _run_forms(forms, runs)
    of_pairs, refused = parted(guarded(forms, lambda each: each.key, lambda each: [search.of_forms(each)]))
    rows, surplus = _one_of_each([*of_changes, *of_pairs], apis, rules)
    rejects += [*refused, *surplus]
    return Output({"witnesses": rows}, len(rows) + len(rejects), len(rows), rejects, runs.notes)


def _forms(old: OwnTestRow, new: OwnTestRow, rules: WitnessRules) -> Forms | Reject:
    without = Forms(old, new, ())
    try:
        scripts, unbound = zip(*(loose_script_of(form) for form in (old, new)), strict=True)
    except Refused as refused:
        return Reject(without.key, refused.reason, str(refused))
    if not all(any(line.expectation is not None for line in script) for script in scripts):
        return Reject(without.key, RejectReason.NO_CHECK, "nothing in it can be printed and compared")
    forms = [
        candidate
        for candidate in candidates(*scripts)
        if not any(
            line.needs & names
            for lines, names in zip((candidate.old, candidate.new), unbound, strict=True)
            for line in lines
        )
    ][: rules.candidates]
    fitting = tuple(each for each in forms if _fits(each.old, rules) and _fits(each.new, rules))
    if not forms:
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
    """Keep the tests that use an API that changed between their releases, so many of a release."""
    changed: dict[str, set[str]] = defaultdict(set)
    for change in changes:
        if sides_of(change):
            changed[change["new_version"]] |= {change["path"], change["canonical_path"], change["new"] or ""}

    def touches(each: Forms) -> bool:
        uses = {*each.old["apis"], *each.new["apis"]}
        parents = {parent for path in uses for parent in itertools.accumulate(path.split("."), "{}.{}".format)}
        return not changed[each.versions[1]].isdisjoint(parents)

    counts: Counter[str] = Counter()
    accepted: list[Forms] = []
    rejects: list[Reject] = []
    for each in sorted(forms, key=lambda each: content_id(each.key)):
        version = each.versions[1]
        if not touches(each):
            detail = f"it uses no API that the catalogue says to have changed in {version}"
            rejects.append(Reject(each.key, RejectReason.UNCHANGED, detail))
        elif counts[version] >= rules.per_release:
            detail = f"the rule takes {rules.per_release} tests of a release"
            rejects.append(Reject(each.key, RejectReason.OVER_QUOTA, detail))
        else:
            counts[version] += 1
            accepted.append(each)
    return accepted, rejects


def _same_outputs(
    candidate: Candidate, versions: tuple[str, str], runs: ScriptRuns
) -> tuple[list[str], list[str]] | None:
    """Return what the forms print at home, by line, where both pass and print the same."""
    old, new = (
        outputs(lines, runs.results.get((text_of(lines), version)))
        for lines, version in zip((candidate.old, candidate.new), versions, strict=True)
    )
    return (old, new) if old is not None and new is not None and "".join(old) == "".join(new) else None


def _run_forms(forms: Iterable[Forms], runs: ScriptRuns) -> None:
    """Run both forms of tests at home, and those that print the same in the other release too."""
    for beside in (False, True):
        scripts: dict[str, dict[str, Sequence[Line]]] = defaultdict(dict)
        for each in forms:
            for candidate in each.candidates:
                if not beside or _same_outputs(candidate, each.versions, runs):
                    for lines, version in zip(
                        (candidate.old, candidate.new), each.versions[:: -1 if beside else 1], strict=True
                    ):
                        scripts[version][text_of(lines)] = lines
        runs.run(scripts)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A program that may show a change, from one of its sides."""

    side: ChangeSide
    program: UsingProgram

    @property
    def use(self) -> tuple[str, str, str, Use]:
        """The use of what changed for which it was cut out."""
        test = self.program.test["id"] if self.program.test else ""
        return self.side.change["id"], self.side.home, test, self.program.core

    @property
    def text(self) -> str:
        return text_of(self.program.lines)

    def rank(self, printed: Sequence[str]) -> tuple[bool, int, int]:
        """Those come first that give the parameter in question, then as `_rank` says."""
        lines = zip(self.program.lines, printed, strict=True)
        texts = [text for line, text in lines if text and not line.is_of_raised]
        without = self.side.keyword is not None and self.side.keyword not in self.program.core.keywords
        return without, *_rank(self.text, self.program.core.path, texts)


_Reached = tuple[int, RejectReason, str]
"""How far a program came, and why no further."""

_Programs = tuple[list[_Candidate], list[_Reached]]


@dataclass(frozen=True, slots=True)
class _Search:
    """The search for witnesses in the tests of a library."""

    tests: TestScripts
    writer: ProgramWriter
    apis: Mapping[str, Api]
    catalogue: Catalogue
    runs: ScriptRuns
    rules: WitnessRules

    def of_changes(self, changes: Sequence[ChangeRow]) -> tuple[list[WitnessRow], list[Reject]]:
        """Return the witnesses of changes by programs that use what changed, and a reject for each without one.

        Programs are written only for what no test shows distinctively. One that is not distinctive counts where no
        other program shows the change, and one of a test before one that is written, or that only names the API.
        """
        tested, reached = self._proven(changes, self._of_tests)
        distinctive = {row["change_id"] for row in tested if row["distinctive"]}
        others = [change for change in changes if change["id"] not in distinctive]
        written, rejects = self._proven(others, self._written)
        witnessed = {row["change_id"] for row in (*tested, *written)}
        gone = [change for change in others if change["kind"] in GONE and change["id"] not in witnessed]
        naming, refused = self._proven(gone[: self.writer.rules.naming], self._naming)
        rows: list[WitnessRow] = []
        for programs in ([row for row in (*tested, *written) if row["distinctive"]], tested, written, naming):
            witnessed = {row["change_id"] for row in rows}
            rows += [row for row in programs if row["change_id"] not in witnessed]
        furthest: dict[str, Reject] = {}
        for reject in sorted([*refused, *rejects, *reached], key=lambda each: _ORDER.get(RejectReason(each.reason), 0)):
            furthest[reject.key] = reject
        witnessed = {row["change_id"] for row in rows}
        return rows, [reject for key, reject in furthest.items() if key not in witnessed]

    def _proven(
        self, changes: Sequence[ChangeRow], programs: Callable[[ChangeRow], _Programs]
    ) -> tuple[list[WitnessRow], list[Reject]]:
        by_change: dict[str, list[_Candidate]] = {}
        reached: dict[str, list[_Reached]] = {}
        rejects: list[Reject] = []
        for change in changes:
            result = attempt(change["id"], programs, change)
            if isinstance(result, Reject):
                rejects.append(result)
            else:
                by_change[change["id"]], reached[change["id"]] = result
        for more in (self._in_contexts, self._listed):
            self._run([(each.side.home, each) for of_change in by_change.values() for each in of_change])
            for of_change in by_change.values():
                of_change += more(of_change)
        self._show_values(by_change.values())
        judged = self._run_and_judged([each for of_change in by_change.values() for each in of_change])
        rows: list[WitnessRow] = []
        for key, of_change in by_change.items():
            results, failed = parted(judged[id(each)] for each in of_change)
            rows += results
            if not results:
                reasons = reached[key] + [
                    (_ORDER.get(one.reason, 9), RejectReason(one.reason), one.detail) for one in failed
                ]
                _, reason, detail = max(reasons, key=lambda each: each[0])
                rejects.append(Reject(key, reason, detail))
        return rows, rejects

    def _run_and_judged(self, every: Sequence[_Candidate]) -> dict[int, WitnessRow | Reject]:
        """Return, by identity, the witness that each program is, without needless lines, or why it is none."""
        self._run([(each.side.home, each) for each in every])
        at_home = {id(each): self._outputs(each) for each in every}
        printed = {key: texts for key, texts in at_home.items() if not isinstance(texts, Reject)}
        passing = [each for each in every if id(each) in printed]
        doubts = self._doubts(passing, printed)
        # Those that are distinctive come first, then those that show more of the API, then the shortest.
        passing.sort(key=lambda each: (id(each) in doubts, *each.rank(printed[id(each)])))
        # A failure costs a process of its own, so only so many programs are run where they may fail.
        counts: Counter[tuple[str, str]] = Counter()
        beside: list[_Candidate] = []
        for each in unique_everseen(passing, key=lambda each: each.use):
            counts[each.side.change["id"], each.side.home] += 1
            if counts[each.side.change["id"], each.side.home] <= self.rules.candidates:
                beside.append(each)
        self._run([(each.side.other, each) for each in beside])
        ran = set(map(id, beside))
        judged = {
            id(each): attempt(each.side.change["id"], self._judged, each, at_home[id(each)], id(each) not in doubts)
            for each in every
            if id(each) in ran or id(each) not in printed
        }
        for each in passing:
            detail = f"{each.program.name}: not run in {each.side.other}"
            judged.setdefault(id(each), Reject(each.side.change["id"], RejectReason.OVER_QUOTA, detail))
        proven = [each for each in every if not isinstance(judged[id(each)], Reject)]
        parts = self._reduced(proven, printed)
        reduced = [replace(each, program=part.program) for each, part in zip(proven, parts, strict=True)]
        new_doubts = self._doubts(reduced, {id(each): part.printed for each, part in zip(reduced, parts, strict=True)})
        for each, smaller, part in zip(proven, reduced, parts, strict=True):
            row = self._judged(smaller, part.printed, id(each) not in doubts)
            # A line may be needless for the output, and still tell the API from others.
            is_as_distinctive = id(each) in doubts or id(smaller) not in new_doubts
            if is_as_distinctive and not isinstance(row, Reject):
                judged[id(each)] = row
        return judged

    def _reduced(self, proven: Sequence[_Candidate], printed: Mapping[int, Sequence[str]]) -> list[ProvenProgram]:
        """Return the programs that show a change, without the lines that they do without."""
        programs: list[ProvenProgram] = []
        for each in proven:
            texts, there = printed[id(each)], self.runs.results[each.text, each.side.other]
            place = failing_place(each.program.lines, texts, there)
            assert place is not None
            programs.append(ProvenProgram(each.program, each.side.home, each.side.other, texts, place))
        return reduce_programs(programs, self.runs)

    def _written(self, change: ChangeRow) -> _Programs:
        programs = [(side, program) for side in sides_of(change) for program in self.writer.programs(side)]
        detail = "no use of it can be written without a test"
        return [_Candidate(*each) for each in programs], [(-1, RejectReason.UNTESTED, detail)]

    def _naming(self, change: ChangeRow) -> _Programs:
        sides = [side for side in sides_of(change) if side.is_old]
        programs = [_Candidate(side, program) for side in sides if (program := self.writer.naming(side))]
        return programs, [(-1, RejectReason.UNTESTED, "no program can name it")]

    def _of_tests(self, change: ChangeRow) -> _Programs:
        collected: list[_Candidate] = []
        reached: list[_Reached] = []
        for side in sides_of(change):
            tests = self.tests.using(side)
            if not tests:
                reached.append(
                    (0, RejectReason.UNTESTED, f"no test of {side.home} that can be cut out uses {side.path}")
                )
            programs: dict[str, UsingProgram] = {}
            for test in tests[: self.rules.tests_per_change]:
                try:
                    for program in self.tests.programs(test, side):
                        programs.setdefault(program.size[1], program)
                except Refused as refused:
                    reached.append((1, refused.reason, f"{test['test']}: {refused}"))
            fitting = [each for each in programs.values() if _fits(each.lines, self.rules)]
            if programs and not fitting:
                reached.append((2, RejectReason.TOO_LONG, f"over {self.rules.max_lines} lines"))
            # What it raises is the least that a test shows of an API.
            fitting.sort(
                key=lambda each: (each.lines[-1].is_of_raised, side.keyword not in each.core.keywords, each.size)
            )
            collected += [_Candidate(side, program) for program in fitting[: self.rules.programs_per_change]]
        return collected, reached

    def _run(self, pairs: Iterable[tuple[str, _Candidate]]) -> None:
        scripts: dict[str, dict[str, Sequence[Line]]] = defaultdict(dict)
        for version, each in pairs:
            scripts[version][each.text] = each.program.lines
        self.runs.run(scripts)

    def _in_contexts(self, candidates: Iterable[_Candidate]) -> list[_Candidate]:
        """Return, in contexts of tests, the written programs that fail as code does that needs one."""
        wrapped: list[_Candidate] = []
        for each in candidates:
            result = self.runs.results.get((each.text, each.side.home))
            error = (result.detail or "").partition(":")[0] if result else ""
            if each.program.test is None and error in self.writer.rules.context_errors:
                wrapped += [
                    _Candidate(each.side, program) for program in self.writer.in_contexts(each.side, each.program)
                ]
        return wrapped

    def _listed(self, candidates: Iterable[_Candidate]) -> list[_Candidate]:
        """Return programs that print what is in the iterators that written ones print, or what they changed."""
        listed: list[_Candidate] = []
        for each in candidates:
            printed = outputs(each.program.lines, self.runs.results.get((each.text, each.side.home)))
            if each.program.test is None and _OBJECT.search("".join(printed or ())):
                program = self.writer.listed(each.side, each.program)
                listed += [_Candidate(each.side, program)] if program else []
            if each.program.test is None and "".join(printed or ()).strip() == "None":
                listed += [_Candidate(each.side, program) for program in self.writer.changed(each.side, each.program)]
        return listed

    def _show_values(self, groups: Iterable[list[_Candidate]]) -> None:
        """Put, in place of tests that print that two things are equal, programs that print what is equal.

        They must print one short line that is the same in each run and says more than yes or no.
        """
        pairs: list[tuple[list[_Candidate], int, _Candidate]] = []
        for group in groups:
            for number, each in enumerate(group):
                result = self.runs.results.get((each.text, each.side.home))
                printed = outputs(each.program.lines, result) if each.program.test else None
                if printed and as_asserted(each.program.lines, printed):
                    valued = self.tests.valued(each.program, each.side)
                    pairs += [(group, number, _Candidate(each.side, valued))] if valued else []
        self._run([(each.side.home, each) for *_, each in pairs])
        for group, number, each in pairs:
            printed = outputs(each.program.lines, self.runs.results.get((each.text, each.side.home)))
            text = "".join(printed or ()).rstrip("\n")
            if printed and is_informative(text) and not _ADDRESS.search(text):
                group[number] = each

    def _outputs(self, each: _Candidate) -> list[str] | Reject:
        """Return what the lines of a program print at home, or why it is no witness."""
        key, program = each.side.change["id"], each.program
        result = self.runs.results.get((each.text, each.side.home))
        printed = outputs(program.lines, result)
        where = f"{program.name} in {each.side.home}"
        if printed is None or not any(printed) or _ADDRESS.search("".join(printed)):
            return Reject(key, RejectReason.NOT_PROVEN, f"{where}: {described(result)}")
        if not as_asserted(program.lines, printed):
            return Reject(key, RejectReason.NOT_PROVEN, f"{where}: {described(result)}")
        if not is_presentable(program, printed):
            text = "".join(printed).strip()[:LONGEST_OUTPUT]
            return Reject(key, RejectReason.NO_CHECK, f"{where}: prints a type, or what is long: {text}")
        return printed

    def _doubts(self, candidates: Iterable[_Candidate], texts: Mapping[int, Sequence[str]]) -> set[int]:
        """Return the programs, by identity, that are not distinctive: other code may print the same.

        They print what they are given, or what says little, or the same with another API or fewer arguments. An API
        that gives the same in all of several ways is taken for another name of the same.
        """
        groups: dict[tuple[str, str], list[tuple[_Candidate, list[str], tuple[Line, ...]]]] = defaultdict(list)
        scripts: dict[str, dict[str, Sequence[Line]]] = defaultdict(dict)
        doubts: set[int] = set()
        for each in candidates:
            printed, home, rules = texts[id(each)], each.side.home, self.writer.rules
            if not is_distinctive(each.side, each.program, printed):
                doubts.add(id(each))
            elif others := variants(each.side, each.program, self.apis[home], printed, rules.neighbours):
                imports = [line for line in each.program.lines if isinstance(line.node, ast.Import | ast.ImportFrom)]
                script = script_of_variants(imports, others.values(), rules.neighbour_s)
                groups[each.side.change["id"], home].append((each, list(others), script))
                scripts[home][text_of(script)] = script
        self.runs.run(scripts)
        for (_, home), group in groups.items():
            same: dict[int, set[str]] = {}
            for each, names, script in group:
                printed_by = outputs(script, self.runs.results.get((text_of(script), home)))
                if printed_by is None:
                    # Nothing tells what others print.
                    doubts.add(id(each))
                    continue
                own = "".join(texts[id(each)])
                pairs = zip(names, printed_by[-len(names) :], strict=True)
                same[id(each)] = {name for name, text in pairs if text == own}
            is_varied = len({"".join(texts[id(each)]) for each, *_ in group if id(each) in same}) > 1
            aliases = set.intersection(*same.values()) if is_varied and not group[0][0].side.keyword else set()
            doubts |= {number for number, alike in same.items() if alike - aliases}
        return doubts

    def _judged(self, each: _Candidate, expected: Sequence[str] | Reject, distinctive: bool) -> WitnessRow | Reject:
        """Return the witness that a program is, or why it is none."""
        if isinstance(expected, Reject):
            return expected
        side, program = each.side, each.program
        key, change = side.change["id"], side.change
        there = self.runs.results.get((each.text, side.other))
        if there is None:
            return Reject(key, RejectReason.OVER_QUOTA, f"{program.name}: not run in {side.other}")
        place = failing_place(program.lines, expected, there)
        where = f"{program.name} of {side.home} in {side.other}"
        if place is None:
            return Reject(key, RejectReason.UNCHANGED, f"{where}: passes too")
        names = side.names(self.apis[side.home])
        outcome, message = outcome_of(there), there.detail or ""
        line = program.lines[place].text.partition("\n")[0]
        path = program.core.path if side.concerns(program.core.path, names) else side.path
        whole = side.path if change["kind"] in WHOLE else path
        if not blamed(side, program, place, names) or not is_symptom(
            change, whole, side.keyword, outcome, message, each.text
        ):
            return Reject(key, RejectReason.OTHER_CAUSE, f"{where}: {line}: {described(there)}")
        if not _by_exception(change) and len(self._changed(side, program, place)) > 1:
            return Reject(key, RejectReason.OTHER_CAUSE, f"{where}: several changes bear on {line}")
        release = (self.tests.nearest(program.test, side) if program.test else None) or side.home
        written = _Form(
            _commented(program.lines, expected),
            _checks(program.lines, expected),
            path,
            program.test,
            release,
            outcome,
            place,
        )
        forms = (written, None) if side.is_old else (None, written)
        return _row(change, *forms, distinctive=distinctive)

    def _changed(self, side: ChangeSide, program: UsingProgram, place: int) -> set[str]:
        paths = {use.path for use in program.uses[place]}
        paths |= {row["canonical_path"] for path in paths if (row := self.apis[side.home].symbols.get(path))}
        versions = side.change["old_version"], side.change["new_version"]
        return {row["id"] for path in paths for row in self.catalogue.touching(path, *versions) if sides_of(row)}

    def of_forms(self, forms: Forms) -> WitnessRow | Reject:
        """Return the smallest candidate that shows a change, or why the one that got furthest does not."""
        old_version, new_version = forms.versions
        runs = self.runs.results
        reached: list[_Reached] = []
        for candidate in forms.candidates:
            old, new = text_of(candidate.old), text_of(candidate.new)
            old_runs, new_runs = ([runs.get((text, version)) for version in forms.versions] for text in (old, new))
            before, after = outputs(candidate.old, old_runs[0]), outputs(candidate.new, new_runs[1])
            if before is None or after is None:
                failed = old_runs[0] if before is None else new_runs[1]
                reached.append((0, RejectReason.NOT_PROVEN, f"it fails at home: {described(failed)}"))
                continue
            place = failing_place(candidate.old, before, old_runs[1])
            if "".join(before) != "".join(after) or _ADDRESS.search("".join(before)):
                reached.append((1, RejectReason.NO_PARTNER, "the new form does not give what the old one gave"))
            elif place is None:
                reached.append((2, RejectReason.UNCHANGED, f"the old form passes in {new_version} too"))
            else:
                failure = Failure(place, outcome_of(old_runs[1]), (old_runs[1] and old_runs[1].detail) or "")
                cause = self.catalogue.cause(candidate, self.apis, old_version, new_version, failure)
                if not isinstance(cause, Cause):
                    line = candidate.old[place].text.partition("\n")[0]
                    detail = f"{line}: {described(old_runs[1])}; it uses {', '.join(sorted(cause)) or 'no public API'}"
                    reached.append((3, RejectReason.UNLISTED_CHANGE, detail))
                    continue
                downwards = outputs(candidate.new, new_runs[0]) == after
                outcome = Outcome.PASSED if downwards else outcome_of(new_runs[0])
                return _row(
                    cause.change,
                    _Form(
                        _commented(candidate.old, before),
                        _checks(candidate.old, before),
                        cause.old_path,
                        forms.old,
                        old_version,
                        failure.outcome,
                        place,
                    ),
                    _Form(
                        _commented(candidate.new, after),
                        _checks(candidate.new, after),
                        cause.new_path,
                        forms.new,
                        new_version,
                        outcome,
                        failing_place(candidate.new, after, new_runs[0]),
                    ),
                    forms.versions,
                )
        _, reason, detail = max(reached, key=lambda each: each[0])
        return Reject(forms.key, reason, detail)


_ORDER = {
    RejectReason.NOT_PROVEN: 3,
    RejectReason.NO_CHECK: 4,
    RejectReason.OVER_QUOTA: 5,
    RejectReason.UNCHANGED: 6,
    RejectReason.OTHER_CAUSE: 7,
}
"""How far a program came that is no witness."""


def _by_exception(change: ChangeRow) -> bool:
    return change["kind"] in WHOLE or change["kind"] in OF_PARAMETERS


@dataclass(frozen=True, slots=True)
class _Form:
    """A program of a witness: outputs, API, its test if it has one, the release of that.

    `elsewhere` is how it comes out in the other release, `place` the statement at which it fails there, if it does.
    """

    code: str
    checks: list[SnippetCheck]
    path: str
    test: OwnTestRow | None
    release: str
    elsewhere: Outcome
    place: int | None


def _row(
    change: ChangeRow,
    old: _Form | None,
    new: _Form | None,
    versions: tuple[str, str] | None = None,
    *,
    distinctive: bool = True,
) -> WitnessRow:
    library = change["library"]
    old_version, new_version = versions or (change["old_version"], change["new_version"])
    latest = new or old
    assert latest is not None
    codes = [form.code if form else "" for form in (old, new)]
    tests = [form.test if form else None for form in (old, new)]
    source = SnippetSource.OWN_TEST if latest.test else SnippetSource.CHANGE
    ids = [
        content_id(library, version, source, form.code) if form else None
        for version, form in ((old_version, old), (new_version, new))
    ]
    return {
        "id": content_id("witness", library, old_version, new_version, *codes),
        "library": library,
        "old_version": old_version,
        "new_version": new_version,
        "source": source,
        "test_id": next((test["test_id"] for test in tests if test), None),
        "test": latest.test["test"] if latest.test else None,
        "old_snippet_id": ids[0],
        "new_snippet_id": ids[1],
        "change_id": change["id"],
        "distinctive": distinctive,
        "old_path": old.path if old else None,
        "new_path": new.path if new else None,
        "old_code": old.code if old else None,
        "new_code": new.code if new else None,
        "old_checks": old.checks if old else [],
        "new_checks": new.checks if new else [],
        "new_in_old": new.elsewhere if new else None,
        "old_fails_at": old.place if old else None,
        "new_fails_at": new.place if new else None,
        "similarity": round(difflib.SequenceMatcher(None, codes[0], codes[1], autojunk=False).ratio(), 4)
        if old and new
        else None,
        "old_test_version": old.release if old else None,
        "new_test_version": new.release if new else None,
        "old_file": tests[0]["file"] if tests[0] else None,
        "old_line": tests[0]["line"] if tests[0] else None,
        "new_file": tests[1]["file"] if tests[1] else None,
        "new_line": tests[1]["line"] if tests[1] else None,
    }


def _commented(lines: Sequence[Line], printed: Sequence[str]) -> str:
    """Return a program in which comments say what is printed, as the test's assertions did."""
    texts = [text.rstrip("\n") for text in printed]
    short = [bool(text) and "\n" not in text and len(text) <= LONGEST_OUTPUT for text in texts]
    return text_of(
        replace(line, text=f"{line.text}{OUTPUT}{text}") if fits and "\n" not in line.text else line
        for line, text, fits in zip(lines, texts, short, strict=True)
    )


def _checks(lines: Sequence[Line], printed: Sequence[str]) -> list[SnippetCheck]:
    return [
        {"statement": f"{line.text}\n", "expected": text or None, "options": []}
        for line, text in zip(lines, printed, strict=True)
    ]


def _rank(code: str, path: str, printed: Sequence[str]) -> tuple[int, int]:
    """Order programs by their length in dozens of lines, then by how little they show of the API."""
    return code.count("\n") // 12, emptiness(code, path, printed)


def _rank_of(row: WitnessRow) -> tuple[int, int]:
    """Order witnesses as programs; what they raise counts as nothing."""
    code, path = row["old_code"] or row["new_code"] or "", row["old_path"] or row["new_path"] or ""
    checks = row["old_checks"] or row["new_checks"]
    return _rank(
        code,
        path,
        [check["expected"] for check in checks if check["expected"] and OF_RAISED not in check["statement"]],
    )


def _one_of_each(
    rows: Sequence[WitnessRow], apis: Mapping[str, Api], rules: OwnTestRules
) -> tuple[list[WitnessRow], list[Reject]]:
    """Keep so many programs and pairs for a side of a change: distinctive ones, that show more of the API, then short.

    Of programs that are written differently and mean the same one is kept.
    """
    counts: Counter[str] = Counter()
    by_meaning: dict[tuple[str, ...], WitnessRow] = {}
    rejects: list[Reject] = []
    size = {row["id"]: sum(len(row[side] or "") for side in ("old_code", "new_code")) for row in rows}

    def order(row: WitnessRow) -> tuple[object, ...]:
        return not row["distinctive"], _rank_of(row), size[row["id"]], row["id"], row["test_id"] or ""

    for row in sorted(rows, key=order):
        key = f"{row['test'] or 'written'} {row['old_version']} {row['new_version']}"
        most = rules.witness.per_change if row["source"] == SnippetSource.OWN_TEST else rules.written.per_change
        change = f"{row['change_id']} {bool(row['old_code'])} {bool(row['new_code'])}"
        meaning = (
            row["old_version"],
            row["new_version"],
            plain_code(row["old_code"], row["old_path"], apis.get(row["old_version"])),
            plain_code(row["new_code"], row["new_path"], apis.get(row["new_version"])),
        )
        if meaning in by_meaning:
            rejects.append(Reject(key, RejectReason.DUPLICATE, "another test has the same program"))
        elif counts[change] >= (1 if OF_RAISED in f"{row['old_code']}{row['new_code']}" else most):
            rejects.append(Reject(key, RejectReason.OVER_QUOTA, f"the rule takes {most} programs of a change"))
        else:
            counts[change] += 1
            by_meaning[meaning] = row
    return sorted(by_meaning.values(), key=lambda row: row["id"]), rejects
