"""What a model is asked for, where there is one, and what stands in for it."""

from __future__ import annotations

from pipeline.execution.validation.stage import Runner
from pipeline.families.functions.writing import Writers as FunctionWriters
from pipeline.families.model_migrations import tables as model_migrations
from pipeline.families.problems.drafted import ProblemWriter
from pipeline.families.repository_tasks.llm_specifications import RequirementWriter
from pipeline.lake.rows import Tables
from pipeline.lake.stage import Output, as_tables
from pipeline.llm.tasks.rules import DescriptionRules
from pipeline.llm.writers import Improver, OfflineWriter
from pipeline.orchestration.resources.resources import Resources


def writer(resources: Resources, kind: DescriptionRules) -> Improver:
    """Return who writes texts of a kind: the offline drafter, and the model for what that cannot write."""
    offline = OfflineWriter(resources.rules.drafting)
    if resources.drafter is None:
        return offline
    from pipeline.llm.tasks.description import DescriptionWriter

    return DescriptionWriter(offline, resources.drafter, kind, resources.rules.drafting)


def requirements(resources: Resources) -> RequirementWriter | None:
    """Return who writes requirements of functions without a docstring: nobody without a model."""
    if resources.drafter is None:
        return None
    from pipeline.families.repository_tasks.llm_requirement import ModelRequirements

    return ModelRequirements(
        resources.drafter, resources.rules.drafts.requirement, resources.rules.repository.min_words
    )


def problem_writer(resources: Resources, runner: Runner) -> ProblemWriter | None:
    """Return who writes problems about changes that no example decides: nobody without a model."""
    if resources.drafter is None:
        return None
    from pipeline.families.problems.llm_problem import ModelProblems
    from pipeline.families.problems.llm_reading import Reader
    from pipeline.llm.judging import RunJudge

    kind, fails = resources.rules.drafts.problem, resources.rules.quality.fails_in_target
    judge = RunJudge(runner.sandbox, runner.rules, kind.min_coverage, fails, runner.workers)
    reader = Reader(kind, resources.rules.drafting, resources.rules.problems.function)
    return ModelProblems(resources.drafter, kind, reader, judge, runner)


def function_writers(resources: Resources, runner: Runner) -> FunctionWriters | None:
    """Return who writes functions and tests beside the rules: nobody without a model."""
    if resources.drafter is None:
        return None
    from pipeline.families.functions.llm_function import ModelFunctions
    from pipeline.families.functions.llm_tests import ModelTests
    from pipeline.llm.judging import RunJudge

    kinds, fails = resources.rules.drafts, resources.rules.quality.fails_in_target
    run = runner.sandbox, runner.rules, runner.workers
    judge = RunJudge(runner.sandbox, runner.rules, kinds.function_tests.min_coverage, fails, runner.workers)
    return FunctionWriters(
        ModelFunctions(resources.drafter, kinds.task_function, resources.rules.drafting, *run),
        ModelTests(resources.drafter, kinds.function_tests, judge),
    )


def draft_migrations(resources: Resources, tables: Tables) -> Output:
    """Run the stage `model_migrations` in the sandbox of this machine; nothing is run where no model drafts."""
    if resources.drafter is None:
        return Output(as_tables({name: [] for name in model_migrations.TABLES}), units_in=0, units_out=0)
    from pipeline.families.model_migrations.stage import Migrating, model_migrations_stage

    rules = resources.rules
    migrating = Migrating(
        rules=rules.drafts.migrated_code,
        drafting=rules.drafting,
        tagging=rules.lifecycle,
        usage=rules.usage,
        executable_sources=rules.validation.executable_sources,
        fails=rules.quality.fails_in_target,
        runner=resources.runner,
        drafter=resources.drafter,
    )
    return model_migrations_stage(tables, migrating=migrating)


def judge_renames(resources: Resources, tables: Tables) -> Output:
    """Run the judgements stage; nothing is read where no model judges."""
    if resources.drafter is None:
        return Output({"judgements": []}, units_in=0, units_out=0)
    from pipeline.families.rename_judgements.llm_judge import ModelJudge
    from pipeline.families.rename_judgements.stage import Judging, judgements_stage

    releases = {release["version"]: release for release in tables["releases"]}
    rules = resources.rules.drafts.rename_judgement
    judging = Judging(
        rules=rules,
        tagging=resources.rules.lifecycle,
        sources=lambda version: resources.sources_of(releases[version]),
        contents=resources.artifacts.contents,
        judge=ModelJudge(resources.drafter, rules),
    )
    return judgements_stage(tables, judging=judging)
