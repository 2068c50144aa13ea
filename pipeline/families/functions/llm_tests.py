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
        """Write the tests that each function lacks, in their order, or say why there are none."""
        by_id = {one.id: one for one in functions}
        judgements: dict[str, Judgement] = {}

        def judge(drafts: Sequence[tuple[Subject, FunctionTests]]) -> list[str | None]:
            problems = {subject.id: self._problem(tests, by_id[subject.id]) for subject, tests in drafts}
            sound = [(by_id[subject.id], tests) for subject, tests in drafts if problems[subject.id] is None]
            trials = [_trial(one, assemble(tests.tests, one)) for one, tests in sound]
            for trial, judgement in zip(trials, self.judge.judge(trials), strict=True):
                judgements[trial.id] = judgement
                problems[trial.id] = judgement.problem
            problems |= self._needless([trial for trial in trials if problems[trial.id] is None], by_id)
            return [problems[subject.id] for subject, _ in drafts]

        subjects = [self._subject(one) for one in functions]
        drafted = draft(subjects, FunctionTests, self.rules, self.drafter, judge)
        return [_written(done, one, judgements.get(one.id)) for done, one in zip(drafted, functions, strict=True)]

    def _needless(self, trials: Sequence[Trial], functions: Mapping[str, Untested]) -> dict[str, str | None]:
        """Run tests where the core API does nothing: a program that passes them does not need it."""
        groups: dict[str, list[Trial]] = defaultdict(list)
        for trial in trials:
            groups[trial.environment.lock_id].append(trial)
        ran: dict[str, Result] = {}
        for _, group in sorted(groups.items()):
            cases = [_idle(one, functions[one.id].path) for one in group]
            ran |= self.judge.run_once(group[0].environment, cases)
        passed = {trial.id for trial in trials if ran[trial.id].outcome is Outcome.PASSED}
        paths = {key: functions[key].path for key in passed}
        return {
            key: f"the tests pass where {path} does nothing: test what it brings about" for key, path in paths.items()
        }

    def _problem(self, form: FunctionTests, one: Untested) -> str | None:
        """Say what is wrong with tests before any has run; None where nothing is."""
        if problem := self._counts(form, one):
            return problem
        for number, test in enumerate(form.tests, 1):
            if problem := body_problem(test, one, self.rules):
                return f"test {number} ({test.kind}): {problem}"
        assembled = assemble(form.tests, one)
        if repeated(assembled):
            return "two tests are the same"
        return unbound(assembled) or unparted(assembled.text, one.module)

    def _counts(self, form: FunctionTests, one: Untested) -> str | None:
        numbers = Counter(test.kind for test in form.tests)
        for kind, most in self._wanted(one).items():
            if not 1 <= numbers[kind] <= most:
                return f"{numbers[kind]} tests of {kind}; 1 to {most} are wanted"
        surplus = sorted(set(numbers) - set(one.lacking))
        return f"tests of {', '.join(surplus)} are not wanted" if surplus else None

    def _wanted(self, one: Untested) -> dict[TestKind, int]:
        """Return the most tests that may be added, by kind: those that are there count, and one is always wanted."""
        have = read_tests(one.tests).counts
        return {kind: max(1, self.rules.max_of_kind[kind] - have.get(kind, 0)) for kind in one.lacking}

    def _subject(self, one: Untested) -> Subject:
        data = {
            "library": one.library,
            "version": one.version,
            "program": one.program,
            "function": one.function,
            "description": one.description,
            "tests": one.tests,
            "wanted": self._wanted(one),
            "hidden": list(one.hidden),
        }
        return Subject(one.id, data)


def _trial(one: Untested, tests: Assembled) -> Trial:
    return Trial(one.id, one.environment, one.module, tests.text, one.program, one.other, tests.apart, one.import_names)


def _idle(one: Trial, path: str) -> Case:
    """Return the case of a program before which the core API is made to do nothing."""
    program = doing_nothing(path) + one.reference
    return Case(one.id, "", program, test_file=one.tests, module=one.module, import_names=one.import_names)


def _written(drafted: Drafted[FunctionTests], one: Untested, judgement: Judgement | None) -> WrittenTests | Refusal:
    if drafted.form is None or judgement is None:
        assert drafted.refusal is not None
        return drafted.refusal
    tests = assemble(drafted.form.tests, one)
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
