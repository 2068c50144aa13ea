"""Tests of one release alone that print something else in the release beside it, though no listed change says why.

A comparison of surfaces sees nothing where an API keeps its place and its parameters, and gives other results.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from more_itertools import first

from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.rules import WitnessRules
from pipeline.corpus.usages.api import Api
from pipeline.corpus.witnesses.candidates import Catalogue, text_of
from pipeline.corpus.witnesses.changed_uses import TestScripts, UsingProgram, sides_of, waits_for_warning
from pipeline.corpus.witnesses.distinctive import is_informative
from pipeline.corpus.witnesses.reduced import ProvenProgram, reduce_programs
from pipeline.corpus.witnesses.rows import ADDRESS, ProgramForm, fits, witness_row
from pipeline.corpus.witnesses.script_runs import (
    ScriptRuns,
    as_asserted,
    described,
    failing_place,
    outcome_of,
    outputs,
    reason_at_home,
)
from pipeline.corpus.witnesses.scripts import Line
from pipeline.lake.guard import guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.intervals import chains
from pipeline.lake.rows import OwnTestRow, ReleaseRow, WitnessRow
from pipeline.lake.stage import Reject

_OTHER_RESULTS = frozenset({Outcome.FAILED_ASSERTION, Outcome.WRONG_EXCEPTION})


@dataclass(frozen=True, slots=True)
class _Trial:
    """A test that a release has and its neighbour has not, or not in this form."""

    test: OwnTestRow
    home: str
    other: str
    is_old: bool

    @property
    def versions(self) -> tuple[str, str]:
        """The older release and the newer one."""
        return (self.home, self.other) if self.is_old else (self.other, self.home)

    @property
    def key(self) -> str:
        """Its name in rejects."""
        case = f"[{self.test['case']}]" if self.test["case"] else ""
        return f"{self.test['test']}{case} {self.home} beside {self.other}"


@dataclass(frozen=True, slots=True)
class _CutDown:
    """A program of a trial, with what its lines print at home."""

    trial: _Trial
    program: UsingProgram
    printed: Sequence[str]

    @property
    def text(self) -> str:
        return text_of(self.program.lines)


@dataclass(frozen=True, slots=True)
class OtherResults:
    """The search for programs of tests that show a change of results."""

    tests: TestScripts
    apis: Mapping[str, Api]
    catalogue: Catalogue
    runs: ScriptRuns
    rules: WitnessRules

    def witnesses(
        self, releases: Sequence[ReleaseRow], own_tests: Iterable[OwnTestRow]
    ) -> tuple[list[WitnessRow], list[Reject]]:
        """Return the witnesses of such changes, and a reject for each test that shows none.

        A whole test runs at home, then in the other release. It is cut down to the first thing that it prints otherwise
        there. That must come of one API, which both releases have and of which no change is listed.
        """
        trials, rejects = _within_quota(_trials(releases, own_tests), self.rules.per_release)
        whole, refused = parted(guarded(trials, lambda each: each.key, lambda each: [self._whole(each)]))
        rejects += refused
        self._run(((trial.home, lines) for trial, lines in whole), self.rules.whole_test_s)
        # What fails at home shows nothing elsewhere.
        passing = ((trial, lines) for trial, lines in whole if self._printed(trial.home, lines) is not None)
        self._run(((trial.other, lines) for trial, lines in passing), self.rules.whole_test_s)
        cut, refused = parted(guarded(whole, lambda each: each[0].key, lambda each: [self._cut(*each)]))
        rejects += refused
        self._run((trial.home, program.lines) for trial, ways in cut for program in ways)
        self._run(
            (trial.other, program.lines)
            for trial, ways in cut
            for program in ways
            if self._printed(trial.home, program.lines) is not None
        )
        programs, refused = parted(guarded(cut, lambda each: each[0].key, lambda each: [self._informative(*each)]))
        rejects += refused
        proven = [
            ProvenProgram(each.program, each.trial.home, each.trial.other, each.printed, self._place(each))
            for each in programs
        ]
        rows = [
            self._row(each.trial, part) for each, part in zip(programs, reduce_programs(proven, self.runs), strict=True)
        ]
        return rows, rejects

    def _run(self, pairs: Iterable[tuple[str, Sequence[Line]]], time_s: float | None = None) -> None:
        scripts: dict[str, dict[str, Sequence[Line]]] = defaultdict(dict)
        for version, lines in pairs:
            scripts[version][text_of(lines)] = lines
        self.runs.run(scripts, time_s)

    def _printed(self, version: str, lines: Sequence[Line]) -> list[str] | None:
        return outputs(lines, self.runs.results.get((text_of(lines), version)))

    def _whole(self, trial: _Trial) -> tuple[_Trial, tuple[Line, ...]] | Reject:
        """Return all that a test does without fixtures, if something in it can be compared."""
        try:
            lines = self.tests.runnable(trial.test, trial.home)
        except Refused as refused:
            return Reject(trial.key, refused.reason, str(refused))
        if not any(line.expectation is not None for line in lines):
            return Reject(trial.key, RejectReason.NO_CHECK, "nothing in it can be printed and compared")
        return trial, lines

    def _cut(self, trial: _Trial, lines: Sequence[Line]) -> tuple[_Trial, list[UsingProgram]] | Reject:
        """Return a test cut down to the first line that comes out otherwise, in the ways of `TestScripts.ending_at`."""
        text = text_of(lines)
        at_home, there = (self.runs.results.get((text, version)) for version in (trial.home, trial.other))
        printed = outputs(lines, at_home)
        if printed is None or not as_asserted(lines, printed):
            return Reject(trial.key, reason_at_home(at_home, self.rules), f"it fails at home: {described(at_home)}")
        if there is None:
            return Reject(trial.key, RejectReason.NOT_PROVEN, f"not run in {trial.other}")
        place = failing_place(lines, printed, there)
        if place is None:
            return Reject(trial.key, RejectReason.UNCHANGED, "it passes in the other release too")
        if outcome_of(there) not in _OTHER_RESULTS or waits_for_warning(text):
            return Reject(trial.key, RejectReason.OTHER_CAUSE, described(there))
        programs = self.tests.ending_at(trial.test, trial.home, lines[place])
        fitting = [each for each in programs if fits(each.lines, self.rules)]
        if not fitting:
            detail = f"over {self.rules.max_lines} lines or {self.rules.max_columns} columns"
            if not programs:
                detail = "of all that it prints, nothing comes of one API alone and does without pytest"
            return Reject(trial.key, RejectReason.TOO_LONG if programs else RejectReason.OTHER_CAUSE, detail)
        fit, unfit = parted(self._unfit(trial, each) or each for each in fitting)
        return (trial, fit) if fit else unfit[0]

    def _unfit(self, trial: _Trial, program: UsingProgram) -> Reject | None:
        """Say why a failure of a program does not show that one API gives other results."""
        used = {use.path for uses in program.uses for use in uses}
        for path in sorted(used):
            listed = [change for change in self.catalogue.touching(path, *trial.versions) if sides_of(change)]
            # Operators of the objects that a class gives are listed as changes of the class.
            of_class = self.catalogue.touching(path.rpartition(".")[0], *trial.versions)
            listed += [change for change in of_class if change["kind"] == ChangeKind.USE]
            if listed:
                return Reject(trial.key, RejectReason.OTHER_CAUSE, f"{listed[0]['kind']}: {listed[0]['path']}")
            if any(path not in self.apis[version].symbols for version in trial.versions):
                return Reject(trial.key, RejectReason.OTHER_CAUSE, f"{path} is not in both releases")
        if program.core.path.rpartition(".")[2].startswith("_"):
            return Reject(trial.key, RejectReason.UNFIT_NAME, f"{program.core.path} is private by its name")
        return None

    def _informative(self, trial: _Trial, programs: Iterable[UsingProgram]) -> _CutDown | Reject:
        """Return the first informative program of those that come out otherwise, else the first of them."""
        ways: list[_CutDown] = []
        reason = "cut down, it fails at home, or passes in the other release"
        for program in programs:
            printed = self._printed(trial.home, program.lines)
            there = self.runs.results.get((text_of(program.lines), trial.other))
            if printed is None or there is None or not as_asserted(program.lines, printed):
                continue
            text = "".join(printed)
            if failing_place(program.lines, printed, there) is None or outcome_of(there) not in _OTHER_RESULTS:
                continue
            if ADDRESS.search(text) or not text.strip():
                reason = "it prints what differs in each run, or nothing"
                continue
            ways.append(_CutDown(trial, program, printed))
        if not ways:
            return Reject(trial.key, RejectReason.NOT_PROVEN, reason)
        return first((each for each in ways if is_informative("".join(each.printed))), ways[0])

    def _place(self, each: _CutDown) -> int:
        there = self.runs.results[each.text, each.trial.other]
        place = failing_place(each.program.lines, each.printed, there)
        assert place is not None
        return place

    def _row(self, trial: _Trial, part: ProvenProgram) -> WitnessRow:
        there = self.runs.results[text_of(part.program.lines), trial.other]
        form = ProgramForm.of(
            part.program.lines,
            part.printed,
            part.program.core.path,
            trial.test,
            trial.home,
            outcome_of(there),
            part.place,
        )
        forms = (form, None) if trial.is_old else (None, form)
        return witness_row(trial.test["library"], None, trial.versions, *forms)


def _trials(releases: Sequence[ReleaseRow], own_tests: Iterable[OwnTestRow]) -> Iterator[_Trial]:
    """Yield the tests that the next release has no more in this form, and those that the one before has not yet."""
    neighbours = [pair for chain in chains(releases) for pair in itertools.pairwise(chain)]
    after, before = dict(neighbours), {new: old for old, new in neighbours}
    for test in own_tests:
        if other := after.get(test["last_version"]):
            yield _Trial(test, test["last_version"], other, is_old=True)
        if other := before.get(test["version"]):
            yield _Trial(test, test["version"], other, is_old=False)


def _within_quota(trials: Iterable[_Trial], most: int) -> tuple[list[_Trial], list[Reject]]:
    """Keep so many tests of a release and its neighbour, by hash; what else there is makes one reject."""
    by_pair: dict[tuple[str, str], list[_Trial]] = defaultdict(list)
    for trial in trials:
        by_pair[trial.home, trial.other].append(trial)
    chosen: list[_Trial] = []
    rejects: list[Reject] = []
    for (home, other), group in sorted(by_pair.items()):
        group.sort(key=lambda trial: content_id(trial.key))
        chosen += group[:most]
        if (surplus := len(group) - most) > 0:
            detail = f"the rule takes {most} tests of a release alone; {surplus} more are not run"
            rejects.append(Reject(f"{home} beside {other}", RejectReason.OVER_QUOTA, detail))
    return chosen, rejects
