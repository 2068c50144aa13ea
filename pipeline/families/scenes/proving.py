"""Proof of scenes: the tests of each block run on the unchanged project, and with wrong answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.scenes import Scene
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import MutationScore
from pipeline.families.messages import sources_of_tests, unstated
from pipeline.families.repository_tasks.mutating import MutatedCode, Noticed, choose_tests, notice_mutants
from pipeline.families.repository_tasks.project import Variant
from pipeline.families.repository_tasks.project_context import ProjectContext, open_project
from pipeline.families.repository_tasks.running import run_variants
from pipeline.families.repository_tasks.variant_runs import TestRun
from pipeline.families.scenes.candidates import tests_of
from pipeline.families.scenes.choosing import Planned
from pipeline.families.scenes.rules import SceneRules
from pipeline.families.scenes.source import Span
from pipeline.families.scenes.views import continuations, emptied
from pipeline.lake.guard import guarded
from pipeline.lake.rows import LineCoverageRow, ProjectRow
from pipeline.lake.stage import Reject

_AS_IT_IS = "as it is"


RunVariants = Callable[[ProjectRow, Sequence[Variant]], Iterable[TestRun]]
"""Runs tests on variants of a project, which is a row of `projects`."""

ReadTests = Callable[[ProjectRow, Sequence[str]], Sequence[str]]
"""Returns the sources of tests of a project, which is a row of `projects`."""


@dataclass(frozen=True, slots=True)
class Proven:
    """A scene whose tests pass with the reference and do not pass with a wrong answer.

    `reaching` counts all tests that run its block; `noticed_by` are those that do not pass with the wrong answer.
    """

    planned: Planned
    tests: Sequence[str]
    reaching: int
    wrong_answer: str
    noticed_by: Sequence[str]
    score: MutationScore


@dataclass(frozen=True, slots=True)
class _Subject:
    """A scene with the tests that run its block, and wrong answers with the variants of the project that hold them."""

    planned: Planned
    tests: Sequence[str]
    reaching: int
    variants: Mapping[str, Variant]

    @property
    def key(self) -> str:
        """The place of the removed block, which other scenes may share."""
        return _name(self.planned.candidate.file["path"], self.planned.view.middle)


def prove(
    project: ProjectRow,
    planned: Iterable[Planned],
    line_coverage: Mapping[str, Sequence[LineCoverageRow]],
    rules: SceneRules,
    mutation: MutationRules,
    run: RunVariants,
    read_tests: ReadTests,
) -> list[Proven | Reject]:
    """Run the tests of scenes and return those that notice a wrong answer; `line_coverage` are by function.

    The wrong answer is an empty block, or code after a complete one. A refused scene has the id of its row as its key.
    NO_BLOCK: the file does not parse with a wrong answer, or the block does nothing. NOT_PROVEN: no test passes that
    did when it was traced. WEAK_TESTS: none fails with a wrong answer, or with part of the block left out in more
    places than `mutation` allows; to run out of time is no failure. UNKNOWABLE:
    tests check a text that is nowhere outside the block, or the block needs names that the scene hides.
    """
    prepared = list(guarded(planned, _id, lambda each: [_prepare(each, line_coverage, rules)]))
    subjects = [each for each in prepared if isinstance(each, _Subject)]
    everything = sorted({test for subject in subjects for test in subject.tests})
    variants = {variant.id: variant for subject in subjects for variant in subject.variants.values()}
    runs = run(project, [Variant(_AS_IT_IS, everything), *variants.values()]) if everything else ()
    outcomes = {each.id: each.judged for each in runs}
    # Scenes of the same block share its mutants.
    codes = {code.id: code for each in subjects if (code := _code(each, outcomes, rules))}
    noticed = notice_mutants(codes.values(), Family.SCENE, mutation, lambda mutants: run(project, mutants))
    judged = [
        each if isinstance(each, Reject) else _judge(each, outcomes, noticed, rules, mutation) for each in prepared
    ]
    return [
        each if isinstance(each, Reject) else _unknowable(each, read_tests(project, each.tests), rules) or each
        for each in judged
    ]


def _unknowable(proven: Proven, tests: Sequence[str], rules: SceneRules) -> Reject | None:
    planned = proven.planned
    candidate, (start, end) = planned.candidate, planned.view.middle
    text = candidate.file["text"]
    visible = "\n".join([text[:start], text[planned.view.suffix_start :], *(each["code"] for each in planned.related)])
    lines = range(text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 2)
    texts = unstated(text, lines, visible, tests, rules.text_letters)
    if not texts:
        return None
    detail = f"{_place(planned)}: tests want {', '.join(map(repr, texts))}, which nothing states"
    return Reject(planned.id, RejectReason.UNKNOWABLE, detail[:500])


def read_tests(project_context: ProjectContext, project: ProjectRow, tests: Sequence[str]) -> list[str]:
    """Return the sources of tests of a project.

    Errors: those of `open_project`.
    """
    return sources_of_tests(open_project(project, project_context).tree.text, tests)


def _id(planned: Planned) -> str:
    return planned.id


def _place(planned: Planned) -> str:
    return f"{planned.candidate.key}, scene {planned.scene}"


def run_blocks(
    project_context: ProjectContext, rules: SceneRules, project: ProjectRow, variants: Sequence[Variant]
) -> list[TestRun]:
    """Run tests of a project in the sandbox; on files that were changed they have less time, since they may never end.

    Errors: those of `open_project`.
    """
    opened = open_project(project, project_context)
    hurried = replace(opened, rules=opened.rules.model_copy(update={"test_time_s": rules.test_time_s}))
    whole, changed = ([each for each in variants if bool(each.replacements) == has] for has in (False, True))
    return [*run_variants(opened, whole), *run_variants(hurried, changed, project_context.workers)]


def _prepare(
    planned: Planned, line_coverage: Mapping[str, Sequence[LineCoverageRow]], rules: SceneRules
) -> _Subject | Reject:
    if hidden := planned.hidden:
        detail = f"{_place(planned)}: nothing shows {', '.join(hidden)}"
        return Reject(planned.id, RejectReason.UNKNOWABLE, detail[:500])
    candidate, middle = planned.candidate, planned.view.middle
    path, text = candidate.file["path"], candidate.file["text"]
    every = tests_of(candidate, line_coverage[candidate.function["id"]])
    tests = every[: rules.max_tests + rules.further_tests]
    is_complete = planned.scene == Scene.COMPLETE_BLOCK
    if is_complete:
        wrong = continuations(text, candidate.block, candidate.extent)
    else:
        empty = emptied(text, candidate.block, middle, candidate.extent)
        wrong = [] if empty is None or text[slice(*middle)].strip() == empty.strip() else [empty]
    if not wrong:
        return Reject(planned.id, RejectReason.NO_BLOCK, f"{_place(planned)} has no wrong answer that parses")
    name = _name(path, middle)
    names = [name, *(f"{name} {number}" for number in range(1, len(wrong)))]
    # Code after a complete block makes many a loop one that never ends.
    variants = {
        answer: Variant(
            of_answer, tests, {path: text[: middle[0]] + answer + text[middle[1] :]}, first_time_out=is_complete
        )
        for of_answer, answer in zip(names, wrong, strict=True)
    }
    return _Subject(planned, tests, len(every), variants)


def _name(path: str, middle: Span) -> str:
    return f"{path}:{middle[0]}-{middle[1]}"


def _passing(subject: _Subject, outcomes: Mapping[str, Mapping[str, TestOutcome]]) -> list[str]:
    whole = outcomes.get(_AS_IT_IS, {})
    return [test for test in subject.tests if whole.get(test) == TestOutcome.PASSED]


def _code(
    subject: _Subject, outcomes: Mapping[str, Mapping[str, TestOutcome]], rules: SceneRules
) -> MutatedCode | None:
    """Return the mutable part of a scene's block; None where the scene removes no executed code."""
    if subject.planned.scene == Scene.COMPLETE_BLOCK:
        return None
    file, (start, end) = subject.planned.candidate.file, subject.planned.view.middle
    text, tests = file["text"], _passing(subject, outcomes)
    lines = range(text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 2)
    return MutatedCode(subject.key, file["path"], text, lines, tests, rules.max_tests)


def _judge(
    subject: _Subject,
    outcomes: Mapping[str, Mapping[str, TestOutcome]],
    noticed: Mapping[str, Noticed],
    rules: SceneRules,
    mutation: MutationRules,
) -> Proven | Reject:
    whole, passing = outcomes.get(_AS_IT_IS, {}), _passing(subject, outcomes)
    planned = subject.planned
    if not passing:
        detail = ", ".join(f"{test}: {whole.get(test, TestOutcome.NOT_RUN)}" for test in subject.tests)
        return Reject(planned.id, RejectReason.NOT_PROVEN, f"{_place(planned)}: {detail or 'no test'}"[:500])
    judged = {each: outcomes.get(variant.id, {}) for each, variant in subject.variants.items()}
    noticing = {
        each: [test for test in passing if of_test.get(test) in rules.noticed_as] for each, of_test in judged.items()
    }
    answer = next((each for each, failing in noticing.items() if failing), None)
    if answer is None:
        wrong = " or ".join(map(repr, subject.variants))
        detail = f"{_place(planned)}: {len(passing)} tests do not fail with {wrong}"
        return Reject(planned.id, RejectReason.WEAK_TESTS, detail[:500])
    if planned.scene == Scene.COMPLETE_BLOCK:
        # Nothing is hidden that could be changed: what must not be added stands for mutants.
        kills = [failing for failing in noticing.values() if failing]
        score = MutationScore(len(noticing), len(kills))
        result = Noticed(tuple(choose_tests(passing, kills, rules.max_tests)), score)
    else:
        result = noticed.get(subject.key) or Noticed(tuple(passing[: rules.max_tests]), MutationScore())
    if half := result.half_answers(mutation):
        return Reject(planned.id, RejectReason.WEAK_TESTS, f"{_place(planned)}: {half}"[:500])
    # A test that notices the wrong answer belongs to the scene, if none of the others does.
    by_any = noticing[answer]
    tests = result.tests if {*by_any} & {*result.tests} else (*result.tests, *by_any[:1])
    by = [test for test in tests if test in by_any]
    return Proven(planned, tests, subject.reaching, answer, by, result.score)
