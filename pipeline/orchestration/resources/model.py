"""What a model is asked for, where there is one, and what stands in for it."""

from __future__ import annotations

from pipeline.execution.validation.stage import Runner
from pipeline.families.functions.writing import Writers as FunctionWriters
from pipeline.families.model_migrations import tables as model_migrations
from pipeline.families.problems.drafted import ProblemWriter
from pipeline.families.rename_judgements import tables as rename_judgements
from pipeline.families.repository_tasks.llm_specifications import RequirementWriter
from pipeline.lake.rows import Tables
from pipeline.lake.stage import Output, as_tables
from pipeline.llm.tasks.rules import DescriptionRules
from pipeline.llm.writers import Improver, OfflineWriter
from pipeline.orchestration.resources.resources import House


def writer(house: House, kind: DescriptionRules) -> Improver:
    """Return who writes texts of a kind: the offline drafter, and the model for what that cannot write."""
    offline = OfflineWriter(house.rules.drafting)
    if house.drafter is None:
        return offline
    from pipeline.llm.tasks.description import DescriptionWriter

    return DescriptionWriter(offline, house.drafter, kind, house.rules.drafting)


def requirements(house: House) -> RequirementWriter | None:
    """Return who writes requirements of functions without a docstring: nobody without a model."""
    if house.drafter is None:
        return None
    from pipeline.families.repository_tasks.llm_requirement import ModelRequirements

    return ModelRequirements(house.drafter, house.rules.drafts.requirement, house.rules.repository.min_words)


def problem_writer(house: House, runner: Runner) -> ProblemWriter | None:
    """Return who writes problems about changes that no example decides: nobody without a model."""
    if house.drafter is None:
        return None
    from pipeline.families.problems.llm_problem import ModelProblems
    from pipeline.families.problems.llm_reading import Reader
    from pipeline.llm.judging import RunJudge

    kind, fails = house.rules.drafts.problem, house.rules.quality.fails_in_target
    judge = RunJudge(runner.sandbox, runner.rules, kind.min_coverage, fails, runner.workers)
    reader = Reader(kind, house.rules.drafting, house.rules.problems.function)
    return ModelProblems(house.drafter, kind, reader, judge, runner)


def function_writers(house: House, runner: Runner) -> FunctionWriters | None:
    """Return who writes functions and tests beside the rules: nobody without a model."""
    if house.drafter is None:
        return None
    from pipeline.families.functions.llm_function import ModelFunctions
    from pipeline.families.functions.llm_tests import ModelTests
    from pipeline.llm.judging import RunJudge

    kinds, fails = house.rules.drafts, house.rules.quality.fails_in_target
    run = runner.sandbox, runner.rules, runner.workers
    judge = RunJudge(runner.sandbox, runner.rules, kinds.function_tests.min_coverage, fails, runner.workers)
    return FunctionWriters(
        ModelFunctions(house.drafter, kinds.task_function, house.rules.drafting, *run),
        ModelTests(house.drafter, kinds.function_tests, judge),
    )


def draft_migrations(house: House, tables: Tables) -> Output:
    """Run the migrated_code stage in the sandbox of this machine; nothing is run where no model drafts."""
    if house.drafter is None:
        return Output(as_tables({name: [] for name in model_migrations.TABLES}), seen=0, made=0)
    from pipeline.families.model_migrations.stage import Migrating, drafted_migrations_stage

    rules = house.rules
    migrating = Migrating(
        rules=rules.drafts.migrated_code,
        drafting=rules.drafting,
        tagging=rules.lifecycle,
        usage=rules.usage,
        executable_sources=rules.validation.executable_sources,
        fails=rules.quality.fails_in_target,
        runner=house.runner,
        drafter=house.drafter,
    )
    return drafted_migrations_stage(tables, migrating=migrating)


def judge_renames(house: House, tables: Tables) -> Output:
    """Run the judgements stage; nothing is read where no model judges."""
    if house.drafter is None:
        return Output(as_tables({name: [] for name in rename_judgements.TABLES}), seen=0, made=0)
    from pipeline.families.rename_judgements.llm_judge import ModelJudge
    from pipeline.families.rename_judgements.stage import Judging, judgements_stage

    releases = {release["version"]: release for release in tables["releases"]}
    rules = house.rules.drafts.rename_judgement
    judging = Judging(
        rules=rules,
        tagging=house.rules.lifecycle,
        sources=lambda version: house.sources_of(releases[version]),
        contents=house.artifacts.contents,
        judge=ModelJudge(house.drafter, rules),
    )
    return judgements_stage(tables, judging=judging)
