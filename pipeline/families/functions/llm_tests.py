"""Tests of task functions by a model: of the kinds that no example gives, judged by running them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.functions import TestKind
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.splitting import unparted
from pipeline.families.functions.function import read_tests
from pipeline.families.functions.llm_assembly import Assembled, assemble, body_problem, repeated, unbound
from pipeline.families.functions.writers import Untested, WrittenTests
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.idle import doing_nothing
from pipeline.llm.judging import Judgement, RunJudge, Trial
from pipeline.llm.tasks.forms import FunctionTests
from pipeline.llm.tasks.rounds import Drafted, Subject, draft
from pipeline.llm.tasks.rules import FunctionTestsRules
from pipeline.llm.writers import Refusal


@dataclass(frozen=True)
class ModelTests:
    """Asks a model for tests, and takes those that the judge finds good, each of which fails for an empty body."""

    drafter: ModelDrafter
    rules: FunctionTestsRules
    judge: RunJudge

    def write(self, functions: Sequence[Untested]) -> list[WrittenTests | Refusal]:
        """Write the missing tests of each function, in their order, or return a refusal."""
        by_id = {function.id: function for function in functions}
        judgements: dict[str, Judgement] = {}

        def judge(drafts: Sequence[tuple[Subject, FunctionTests]]) -> list[str | None]:
            problems = {subject.id: self._problem(tests, by_id[subject.id]) for subject, tests in drafts}
            sound = [(by_id[subject.id], tests) for subject, tests in drafts if problems[subject.id] is None]
            trials = [_trial(function, assemble(tests.tests, function)) for function, tests in sound]
            for trial, judgement in zip(trials, self.judge.judge(trials), strict=True):
                judgements[trial.id] = judgement
                problems[trial.id] = judgement.problem
            problems |= self._needless([trial for trial in trials if problems[trial.id] is None], by_id)
            return [problems[subject.id] for subject, _ in drafts]

        subjects = [self._subject(function) for function in functions]
        drafted = draft(subjects, FunctionTests, self.rules, self.drafter, judge)
        return [
            _written(done, function, judgements.get(function.id))
            for done, function in zip(drafted, functions, strict=True)
        ]

    def _needless(self, trials: Sequence[Trial], functions: Mapping[str, Untested]) -> dict[str, str | None]:
        """Run tests where the core API does nothing: a program that passes them does not need it."""
        groups: dict[str, list[Trial]] = defaultdict(list)
        for trial in trials:
            groups[trial.environment.lock_id].append(trial)
        ran: dict[str, Result] = {}
        for _, group in sorted(groups.items()):
            cases = [_idle(function, functions[function.id].path) for function in group]
            ran |= self.judge.run_once(group[0].environment, cases)
        passed = {trial.id for trial in trials if ran[trial.id].outcome is Outcome.PASSED}
        paths = {key: functions[key].path for key in passed}
        return {
            key: f"the tests pass where {path} does nothing: test what it brings about" for key, path in paths.items()
        }

    def _problem(self, form: FunctionTests, function: Untested) -> str | None:
        """Return the problem of tests before any runs; None without one."""
        if problem := self._counts(form, function):
            return problem
        for number, test in enumerate(form.tests, 1):
            if problem := body_problem(test, function, self.rules):
                return f"test {number} ({test.kind}): {problem}"
        assembled = assemble(form.tests, function)
        if repeated(assembled):
            return "two tests are the same"
        return unbound(assembled) or unparted(assembled.text, function.module)

    def _counts(self, form: FunctionTests, function: Untested) -> str | None:
        numbers = Counter(test.kind for test in form.tests)
        for kind, most in self._required_counts(function).items():
            if not 1 <= numbers[kind] <= most:
                return f"{numbers[kind]} tests of {kind}; 1 to {most} are wanted"
        surplus = sorted(set(numbers) - set(function.missing_kinds))
        return f"tests of {', '.join(surplus)} are not wanted" if surplus else None

    def _required_counts(self, function: Untested) -> dict[TestKind, int]:
        """Return the largest number of new tests by kind: existing ones count, and one is always required."""
        have = read_tests(function.tests).counts
        return {kind: max(1, self.rules.max_of_kind[kind] - have.get(kind, 0)) for kind in function.missing_kinds}

    def _subject(self, function: Untested) -> Subject:
        data = {
            "library": function.library,
            "version": function.version,
            "program": function.program,
            "function": function.function,
            "description": function.description,
            "tests": function.tests,
            "wanted": self._required_counts(function),
            "hidden": list(function.hidden),
        }
        return Subject(function.id, data)


def _trial(function: Untested, tests: Assembled) -> Trial:
    return Trial(
        function.id,
        function.environment,
        function.module,
        tests.text,
        function.program,
        function.other,
        tests.apart,
        function.import_names,
    )


def _idle(function: Trial, path: str) -> Case:
    """Return the case of a program before which the core API is made to do nothing."""
    program = doing_nothing(path) + function.reference
    return Case(
        function.id, "", program, test_file=function.tests, module=function.module, import_names=function.import_names
    )


def _written(
    drafted: Drafted[FunctionTests], function: Untested, judgement: Judgement | None
) -> WrittenTests | Refusal:
    if drafted.form is None or judgement is None:
        assert drafted.refusal is not None
        return drafted.refusal
    tests = assemble(drafted.form.tests, function)
    return WrittenTests(
        tests=tests.text,
        kinds=dict(tests.kinds),
        coverage=judgement.coverage,
        discriminating=judgement.discriminating,
        model=drafted.model,
        prompt_sha256=drafted.prompt_sha256,
        tries=drafted.tries,
        tokens=drafted.tokens,
        nano_usd=drafted.nano_usd,
    )
