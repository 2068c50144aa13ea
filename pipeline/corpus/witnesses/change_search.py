"""The search for the smallest programs of which running shows a change: of tests, else written from the change."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from more_itertools import unique_everseen

from pipeline.core.vocabularies.changes import GONE, MARKED, OF_PARAMETERS, WHOLE
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.rules import WitnessRules
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.uses import Use
from pipeline.corpus.witnesses.candidates import Catalogue, text_of
from pipeline.corpus.witnesses.changed_uses import (
    ChangeSide,
    TestScripts,
    UsingProgram,
    blamed,
    is_symptom,
    side_before_mark,
    sides_of,
)
from pipeline.corpus.witnesses.deprecations import ending_at_warning
from pipeline.corpus.witnesses.distinctive import (
    LONGEST_OUTPUT,
    is_distinctive,
    is_informative,
    is_presentable,
    rank,
    script_of_variants,
    variants,
)
from pipeline.corpus.witnesses.lifted import lift_values
from pipeline.corpus.witnesses.reduced import ProvenProgram, reduce_programs, without_failing_line
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
from pipeline.corpus.witnesses.written import ProgramWriter
from pipeline.lake.guard import attempt, parted
from pipeline.lake.rows import ChangeRow, SymbolParameter, WitnessRow
from pipeline.lake.stage import Reject

_OBJECT = re.compile(r"^<[^<>]*\bobject\b[^<>]* at 0x…>$", re.MULTILINE)
"""What an object prints that has no text of its own, an iterator among them; the run hides its address."""


_ORDER = {
    RejectReason.NOT_PROVEN: 3,
    RejectReason.NEEDS_FILES: 3,
    RejectReason.NEEDS_NETWORK: 3,
    RejectReason.NEEDS_DISPLAY: 3,
    RejectReason.NEEDS_ROOT: 3,
    RejectReason.TOO_SLOW: 3,
    RejectReason.NO_CHECK: 4,
    RejectReason.OVER_QUOTA: 5,
    RejectReason.UNCHANGED: 6,
    RejectReason.OTHER_CAUSE: 7,
}
"""How far a program came that is no witness."""


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
        """Order programs: first those that give the parameter in question, then by `rank`."""
        lines = zip(self.program.lines, printed, strict=True)
        texts = [text for line, text in lines if text and not line.is_of_raised]
        without = self.side.keyword is not None and self.side.keyword not in self.program.core.keywords
        return without, *rank(self.text, self.program.core.path, texts)


_Reached = tuple[int, RejectReason, str]
"""How far a program came, and why no further."""

_Programs = tuple[list[_Candidate], list[_Reached]]


@dataclass(frozen=True, slots=True)
class ChangeSearch:
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
        by_change = {key: [*filter(None, map(self._ending, of_change))] for key, of_change in by_change.items()}
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
        """Return the witness of each program, without its needless parts, or why there is none, by identity."""
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
        chosen = {id(each): each for each in proven}
        smallest: list[tuple[_Candidate, ProvenProgram]] = []
        new_doubts = self._doubts(reduced, {id(each): part.printed for each, part in zip(reduced, parts, strict=True)})
        for each, smaller, part in zip(proven, reduced, parts, strict=True):
            row = self._judged(smaller, part.printed, id(each) not in doubts)
            # A line may be needless for the output, and still tell the API from others.
            is_as_distinctive = id(each) in doubts or id(smaller) not in new_doubts
            if is_as_distinctive and not isinstance(row, Reject):
                judged[id(each)] = row
                chosen[id(each)] = smaller
                smallest.append((each, part))
        return judged | self._lifted(smallest, doubts) | self._of_several_causes(chosen)

    def _of_several_causes(self, witnesses: Mapping[int, _Candidate]) -> dict[int, WitnessRow | Reject]:
        """Return a reject for each program that comes out otherwise without the use too."""
        rests: dict[int, _Candidate] = {}
        for key, each in witnesses.items():
            printed = outputs(each.program.lines, self.runs.results.get((each.text, each.side.home)))
            there = self.runs.results.get((each.text, each.side.other))
            place = failing_place(each.program.lines, printed or (), there)
            program = None if place is None else without_failing_line(each.program, place)
            if program is not None:
                rests[key] = replace(each, program=program)
        self._run([(version, rest) for rest in rests.values() for version in (rest.side.home, rest.side.other)])
        rejects: dict[int, WitnessRow | Reject] = {}
        for key, rest in rests.items():
            lines, there = rest.program.lines, self.runs.results.get((rest.text, rest.side.other))
            printed = outputs(lines, self.runs.results.get((rest.text, rest.side.home)))
            if printed is not None and failing_place(lines, printed, there) is not None:
                detail = f"{rest.program.name} in {rest.side.other} without the use: {described(there)}"
                rejects[key] = Reject(rest.side.change["id"], RejectReason.OTHER_CAUSE, detail)
        return rejects

    def _lifted(
        self, witnesses: Sequence[tuple[_Candidate, ProvenProgram]], doubts: Collection[int]
    ) -> dict[int, WitnessRow]:
        """Return the witnesses of programs that take variables in the call of what changed, by identity."""
        signatures = [self._signature(each) for each, _ in witnesses]
        lifted = lift_values([part for _, part in witnesses], signatures, self.rules.lifted_from, self.runs)
        rows: dict[int, WitnessRow] = {}
        for (each, _), part in zip(witnesses, lifted, strict=True):
            if part is not None and fits(part.program.lines, self.rules):
                row = self._judged(replace(each, program=part.program), part.printed, id(each) not in doubts)
                rows |= {} if isinstance(row, Reject) else {id(each): row}
        return rows

    def _signature(self, each: _Candidate) -> Sequence[SymbolParameter] | None:
        """Return the parameters of what a program calls, if the change is about the whole of it."""
        api = self.apis[each.side.home]
        symbol = api.symbols.get(api.preferred(each.program.core.path))
        return symbol["parameters"] if symbol and each.side.change["kind"] in WHOLE else None

    def _reduced(self, proven: Sequence[_Candidate], printed: Mapping[int, Sequence[str]]) -> list[ProvenProgram]:
        """Return the programs that show a change, without their needless parts."""
        programs: list[ProvenProgram] = []
        for each in proven:
            texts, there = printed[id(each)], self.runs.results[each.text, each.side.other]
            place = failing_place(each.program.lines, texts, there)
            assert place is not None
            programs.append(ProvenProgram(each.program, each.side.home, each.side.other, texts, place))
        return reduce_programs(programs, self.runs)

    def _written(self, change: ChangeRow) -> _Programs:
        programs = [(side, program) for side in _sides(change) for program in self.writer.programs(side)]
        detail = "no use of it can be written without a test"
        return [_Candidate(*each) for each in programs], [(-1, RejectReason.UNTESTED, detail)]

    def _naming(self, change: ChangeRow) -> _Programs:
        sides = [side for side in sides_of(change) if side.is_old]
        programs = [_Candidate(side, program) for side in sides if (program := self.writer.naming(side))]
        return programs, [(-1, RejectReason.UNTESTED, "no program can name it")]

    def _of_tests(self, change: ChangeRow) -> _Programs:
        collected: list[_Candidate] = []
        reached: list[_Reached] = []
        for side in _sides(change):
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
            fitting = [each for each in programs.values() if fits(each.lines, self.rules)]
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
        """Put, in place of tests that print only that things are equal, or of a class, programs that print the things.

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
            if printed and is_informative(text) and not ADDRESS.search(text):
                group[number] = each

    def _ending(self, each: _Candidate) -> _Candidate | None:
        """Return a program of a deprecation as one that ends at the warning, another as it is."""
        if each.side.change["kind"] not in MARKED:
            return each
        program = ending_at_warning(each.side, each.program, self.apis)
        return _Candidate(each.side, program) if program else None

    def _outputs(self, each: _Candidate) -> list[str] | Reject:
        """Return what the lines of a program print at home, or why it is no witness."""
        key, program = each.side.change["id"], each.program
        result = self.runs.results.get((each.text, each.side.home))
        printed = outputs(program.lines, result)
        where = f"{program.name} in {each.side.home}"
        if printed is None or not any(printed) or ADDRESS.search("".join(printed)):
            # What a written program lacks, its values gave to it.
            reason = reason_at_home(result, self.rules) if program.test else RejectReason.NOT_PROVEN
            return Reject(key, reason, f"{where}: {described(result)}")
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
        written = ProgramForm.of(
            program.lines,
            expected,
            path,
            program.test,
            release,
            outcome,
            place,
        )
        forms = (written, None) if side.is_old else (None, written)
        versions = change["old_version"], change["new_version"]
        # What a program of a deprecation asks for, newer code gives as well.
        is_example = distinctive and change["kind"] not in MARKED
        return witness_row(change["library"], change["id"], versions, *forms, distinctive=is_example)

    def _changed(self, side: ChangeSide, program: UsingProgram, place: int) -> set[str]:
        paths = {use.path for use in program.uses[place]}
        paths |= {row["canonical_path"] for path in paths if (row := self.apis[side.home].symbols.get(path))}
        versions = side.change["old_version"], side.change["new_version"]
        return {row["id"] for path in paths for row in self.catalogue.touching(path, *versions) if sides_of(row)}


def _sides(change: ChangeRow) -> list[ChangeSide]:
    return side_before_mark(change) or sides_of(change)


def _by_exception(change: ChangeRow) -> bool:
    return change["kind"] in WHOLE | OF_PARAMETERS | MARKED
