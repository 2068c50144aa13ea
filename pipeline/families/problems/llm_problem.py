"""Problems by a model about changes that no example decides: written, read, and judged by running them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.validation.cases import MODULE, Case, Result
from pipeline.execution.validation.stage import Runner
from pipeline.families.problems.apis.needs import ignoring, parameters_of
from pipeline.families.problems.drafted import Text, Unwritten, WrittenProblem, hidden_tests, tested
from pipeline.families.problems.llm_reading import Reader, text_of
from pipeline.families.problems.running import OpenEnvironment, Tested, run_tested
from pipeline.lake.rows import ProblemRunRow
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.idle import doing_nothing
from pipeline.llm.judging import RunJudge, Trial
from pipeline.llm.tasks.forms import ProblemText
from pipeline.llm.tasks.rounds import Drafted, Subject, draft
from pipeline.llm.tasks.rules import ProblemDraftRules

_Draft = tuple[Unwritten, Text]


@dataclass(frozen=True)
class ModelProblems:
    """Asks a model for problems, and takes those that give nothing away, run as they must, and hang on the version."""

    drafter: ModelDrafter
    rules: ProblemDraftRules
    reader: Reader
    judge: RunJudge
    runner: Runner

    def write(self, requests: Sequence[Unwritten], places: Mapping[str, OpenEnvironment]) -> list[WrittenProblem]:
        """Write a problem for each change, in their order; none where no draft was accepted."""
        court = _Court(self, {request.id: request for request in requests}, places)
        subjects = [Subject(request.id, request.facts) for request in requests]
        drafted = draft(subjects, ProblemText, self.rules, self.drafter, court.judge)
        return [_written(draft, court.runs) for draft in drafted]


@dataclass
class _Court:
    """Judges drafts of problems; `runs` are those of the last draft of each that came so far.

    `accepted` are problems by their id, which is that of the program.
    """

    kind: ModelProblems
    by_key: Mapping[str, Unwritten]
    places: Mapping[str, OpenEnvironment]
    runs: dict[str, Sequence[ProblemRunRow]] = field(default_factory=dict)
    accepted: dict[str, Tested] = field(default_factory=dict)

    def judge(self, drafts: Sequence[tuple[Subject, ProblemText]]) -> list[str | None]:
        """Say what is wrong with each: by reading it, by what its tests tell, by whether the solution needs the core
        API, the library and each parameter, and by what both releases make of it."""
        problems: dict[str, str | None] = {}
        texts = [(self.by_key[subject.id], text_of(draft)) for subject, draft in drafts]
        for judged in (self._read, self._try, self._need, self._vary, self._prove):
            problems |= judged([(request, text) for request, text in texts if problems.get(request.id) is None])
        return [problems[subject.id] for subject, _ in drafts]

    def _read(self, drafts: Sequence[_Draft]) -> dict[str, str | None]:
        return {request.id: self.kind.reader.problem(request, text) for request, text in drafts}

    def _try(self, drafts: Sequence[_Draft]) -> dict[str, str | None]:
        trials = [self._trial(request, text) for request, text in drafts]
        return {trial.id: verdict.problem for trial, verdict in zip(trials, self.kind.judge.judge(trials), strict=True)}

    def _trial(self, request: Unwritten, text: Text) -> Trial:
        place = self.places[request.changed.version]
        other = text.starting_code + text.other_solution if text.other_solution else None
        names = place.row["import_names"]
        return Trial(request.id, place.environment, MODULE, text.hidden, text.program, other, import_names=names)

    def _need(self, drafts: Sequence[_Draft]) -> dict[str, str | None]:
        """Run the hidden tests where the core API does nothing, and where each use of the library is to raise.

        A solution that passes the first, or fails the second, does the work by itself.
        """
        idle = self._run([(request, {"": _without(request, text)}, text.hidden) for request, text in drafts])
        whole = self._run([(request, {"": text.program}, hidden_tests(request, text)) for request, text in drafts])
        problems: dict[str, str | None] = {}
        for request, _ in drafts:
            path, library = request.changed.path, whole[request.id, ""]
            problems[request.id] = None
            if idle[request.id, ""].outcome is Outcome.PASSED:
                problems[request.id] = f"solution: the tests pass where {path} does nothing: use it"
            elif library.outcome is not Outcome.PASSED:
                problems[request.id] = (
                    f"solution: it must fail where each use of {request.library.name} raises: {library.detail}"
                )
        return problems

    def _vary(self, drafts: Sequence[_Draft]) -> dict[str, str | None]:
        """Run the hidden tests with functions that ignore a parameter each: one that passes is not varied by a test."""
        runs = []
        for request, text in drafts:
            names = enumerate(parameters_of(text.head))
            programs = {name: ignoring(text.program, text.head.name, number) for number, name in names}
            runs.append((request, programs, text.hidden))
        results = self._run(runs)
        problems: dict[str, str | None] = {}
        for request, programs, _ in runs:
            unused = [name for name in programs if results[request.id, name].outcome is Outcome.PASSED]
            detail = (
                f"hidden_tests: a function that ignores {', '.join(unused)} passes: vary it alone, to other results"
            )
            problems[request.id] = detail if unused else None
        return problems

    def _run(self, trials: Iterable[tuple[Unwritten, Mapping[str, str], str]]) -> dict[tuple[str, str], Result]:
        """Run tests once with each of the programs of a draft, in its version; results by the draft and the program."""
        by_version: Mapping[str, list[Case]] = defaultdict(list)
        keys: dict[str, tuple[str, str]] = {}
        for request, programs, tests in trials:
            for name, program in programs.items():
                case = Case(f"{request.id} {name}", "", program, test_file=tests)
                keys[case.id] = request.id, name
                by_version[request.changed.version].append(case)
        results: dict[str, Result] = {}
        for version, cases in sorted(by_version.items()):
            results |= self.kind.judge.run_once(self.places[version].environment, cases)
        return {keys[key]: result for key, result in results.items()}

    def _prove(self, drafts: Sequence[_Draft]) -> dict[str, str | None]:
        problems = {request.id: tested(request, text) for request, text in drafts}
        first = dict(self.accepted)
        for problem in problems.values():
            first.setdefault(problem.id, problem)
        # Of the same program with other tests the runs would be those of another problem.
        same = {key: problem for key, problem in problems.items() if problem == first[problem.id]}
        runs = run_tested({problem.id: problem for problem in same.values()}.values(), self.places, self.kind.runner)
        self.runs |= {key: runs[problem.id] for key, problem in same.items()}
        proven = {key: self._unproven(self.runs[key], problem.other_version) for key, problem in same.items()}
        self.accepted |= {problem.id: problem for key, problem in same.items() if proven[key] is None}
        return {key: proven[key] if key in same else _TWICE for key in problems}

    def _unproven(self, rows: Sequence[ProblemRunRow], other_version: str | None) -> str | None:
        """Say which run of a problem did not end as it must."""
        runs = {row["role"]: row for row in rows}
        for role, name in _MUST_PASS.items():
            if role in runs and runs[role]["outcome"] != Outcome.PASSED:
                return f"{name} as {runs[role]['outcome']}:\n{runs[role]['detail'] or ''}".strip()
        there = runs[ProblemRun.REFERENCE_ELSEWHERE]["outcome"]
        if there not in self.kind.judge.fails:
            return f"solution: in {other_version} it ends as {there}: use the API so that the change matters"
        return None


_TWICE = "starting_code and solution: another problem about the same API is the same program"
_MUST_PASS = {
    ProblemRun.VISIBLE: "visible_test: with the solution it ends",
    ProblemRun.HIDDEN: "hidden_tests: with the solution they end",
    ProblemRun.OTHER_THERE: "other_solution: with it the hidden tests end in the other version",
}


def _without(request: Unwritten, text: Text) -> str:
    """Return the program of a problem where the core API does nothing."""
    return doing_nothing(request.changed.path) + text.program


def _written(one: Drafted[ProblemText], runs: Mapping[str, Sequence[ProblemRunRow]]) -> WrittenProblem:
    text = text_of(one.form) if one.form is not None else None
    of_text = runs[one.subject.id] if text is not None else ()
    return WrittenProblem(text, of_text, one.refusal, one.model, one.prompt_sha256, one.tokens, one.nano_usd)
