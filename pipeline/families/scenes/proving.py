"""Proof of scenes: the tests of each block run on the unchanged project, and with an empty block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.scenes import Scene
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import MutationScore
from pipeline.families.repository_tasks.mutating import MutatedCode, Noticed, notice_mutants
from pipeline.families.repository_tasks.project import Variant
from pipeline.families.repository_tasks.project_context import Workshop, open_project
from pipeline.families.repository_tasks.running import run_variants
from pipeline.families.repository_tasks.variant_runs import TestRun
from pipeline.families.scenes.candidates import tests_of
from pipeline.families.scenes.choosing import Planned
from pipeline.families.scenes.rules import SceneRules
from pipeline.families.scenes.source import Span
from pipeline.families.scenes.views import emptied
from pipeline.lake.guard import guarded
from pipeline.lake.rows import ProjectRow, ReachRow
from pipeline.lake.stage import Reject

_AS_IT_IS = "as it is"


RunVariants = Callable[[ProjectRow, Sequence[Variant]], Iterable[TestRun]]
"""Runs tests on variants of a project, which is a row of `projects`."""


@dataclass(frozen=True, slots=True)
class Proven:
    """A scene whose tests pass with the reference.

    `reaching` counts all tests that run its block. `emptied` is what stood in the place of the middle when the tests
    ran on the empty block, None where nothing is to be written; `noticed_by` are those that did not pass then.
    """

    planned: Planned
    tests: Sequence[str]
    reaching: int
    emptied: str | None
    noticed_by: Sequence[str]
    score: MutationScore


@dataclass(frozen=True, slots=True)
class _Subject:
    """A scene with the tests that run its block, and the variant of the project with an empty block, if any."""

    planned: Planned
    tests: Sequence[str]
    reaching: int
    emptied: str | None
    variant: Variant | None

    @property
    def key(self) -> str:
        """The place of the removed block, which other scenes may share."""
        return _name(self.planned.candidate.file["path"], self.planned.view.middle)


def prove(
    project: ProjectRow,
    planned: Iterable[Planned],
    reaches: Mapping[str, Sequence[ReachRow]],
    rules: SceneRules,
    mutation: MutationRules,
    run: RunVariants,
) -> list[Proven | Reject]:
    """Run the tests of scenes and return those that notice an empty block, or a mutated one; `reaches` are by function.

    A refused scene has the id of its function as its key: NO_BLOCK where the file does not parse without the block,
    or the block does nothing, NOT_PROVEN where no test passes that did when it was traced, or where on the empty block
    some ran out of time and no other one noticed it.
    """
    prepared = list(guarded(planned, _function, lambda each: [_prepare(each, reaches, rules)]))
    subjects = [each for each in prepared if isinstance(each, _Subject)]
    everything = sorted({test for subject in subjects for test in subject.tests})
    variants = {subject.variant.id: subject.variant for subject in subjects if subject.variant}
    runs = run(project, [Variant(_AS_IT_IS, everything), *variants.values()]) if everything else ()
    outcomes = {each.id: each.judged for each in runs}
    # Scenes of the same block share its mutants.
    codes = {code.id: code for each in subjects if (code := _code(each, outcomes, rules))}
    noticed = notice_mutants(codes.values(), Family.SCENE, mutation, lambda mutants: run(project, mutants))
    return [each if isinstance(each, Reject) else _judge(each, outcomes, noticed, rules) for each in prepared]


def _function(planned: Planned) -> str:
    return str(planned.candidate.function["id"])


def run_blocks(
    workshop: Workshop, rules: SceneRules, project: ProjectRow, variants: Sequence[Variant]
) -> list[TestRun]:
    """Run tests of a project in the sandbox; on files that were changed they have less time, since they may never end.

    Errors: those of `open_project`.
    """
    opened = open_project(project, workshop)
    hurried = replace(opened, rules=opened.rules.model_copy(update={"test_time_s": rules.test_time_s}))
    whole, changed = ([each for each in variants if bool(each.replacements) == has] for has in (False, True))
    return [*run_variants(opened, whole), *run_variants(hurried, changed, workshop.workers)]


def _prepare(planned: Planned, reaches: Mapping[str, Sequence[ReachRow]], rules: SceneRules) -> _Subject | Reject:
    candidate, middle = planned.candidate, planned.view.middle
    text = candidate.file["text"]
    every = tests_of(candidate, reaches[candidate.function["id"]])
    tests = every[: rules.max_tests + rules.further_tests]
    empty = emptied(text, candidate.block, middle, candidate.extent)
    if empty is None:
        return Reject(candidate.function["id"], RejectReason.NO_BLOCK, f"{candidate.key} cannot be left out")
    variant = None
    if planned.scene != Scene.COMPLETE_BLOCK:
        if text[slice(*middle)].strip() == empty.strip():
            return Reject(candidate.function["id"], RejectReason.NO_BLOCK, f"{candidate.key} is as good as empty")
        path = candidate.file["path"]
        replaced = text[: middle[0]] + empty + text[middle[1] :]
        variant = Variant(_name(path, middle), tests, {path: replaced})
    detail = None if planned.scene == Scene.COMPLETE_BLOCK else empty
    return _Subject(planned, tests, len(every), detail, variant)


def _name(path: str, middle: Span) -> str:
    return f"{path}:{middle[0]}-{middle[1]}"


def _passing(subject: _Subject, outcomes: Mapping[str, Mapping[str, TestOutcome]]) -> list[str]:
    whole = outcomes.get(_AS_IT_IS, {})
    return [test for test in subject.tests if whole.get(test) == TestOutcome.PASSED]


def _code(
    subject: _Subject, outcomes: Mapping[str, Mapping[str, TestOutcome]], rules: SceneRules
) -> MutatedCode | None:
    """Return the mutable part of a scene's block; None where the scene removes no executed code."""
    if subject.variant is None:
        return None
    file, (start, end) = subject.planned.candidate.file, subject.planned.view.middle
    text, tests = file["text"], _passing(subject, outcomes)
    lines = range(text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 2)
    listed, further = tests[: rules.max_tests], tests[rules.max_tests :]
    return MutatedCode(subject.key, file["path"], text, lines, listed, further)


def _judge(
    subject: _Subject,
    outcomes: Mapping[str, Mapping[str, TestOutcome]],
    noticed: Mapping[str, Noticed],
    rules: SceneRules,
) -> Proven | Reject:
    whole, passing = outcomes.get(_AS_IT_IS, {}), _passing(subject, outcomes)
    candidate = subject.planned.candidate
    if not passing:
        detail = ", ".join(f"{test}: {whole.get(test, TestOutcome.NOT_RUN)}" for test in subject.tests)
        return Reject(candidate.function["id"], RejectReason.NOT_PROVEN, f"{candidate.key}: {detail or 'no test'}")
    result = noticed[subject.key] if subject.variant else Noticed(tuple(passing[: rules.max_tests]), MutationScore())
    empty = outcomes.get(subject.variant.id, {}) if subject.variant else {}
    noticing = [test for test in passing if empty.get(test) in rules.noticed_as]
    late = [test for test in passing if empty.get(test) is TestOutcome.TIMED_OUT]
    if late and not noticing:
        detail = f"without {candidate.key} {', '.join(late[:3])} ran out of time: whether that is noticed is not known"
        return Reject(candidate.function["id"], RejectReason.NOT_PROVEN, detail)
    # A test that notices the empty block belongs to the scene, if none of the others does.
    tests = result.tests if {*noticing} & {*result.tests} else (*result.tests, *noticing[:1])
    by = [test for test in tests if test in noticing]
    return Proven(subject.planned, tests, subject.reaching, subject.emptied, by, result.score)
