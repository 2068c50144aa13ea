"""The stages that run code, examples and drafts and the tests of projects, in the environments of a resources."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pipeline.execution.environments.stage import environments_stage
from pipeline.execution.validation.runs import EXAMPLES, SYMBOLS, planned_versions
from pipeline.execution.validation.stage import validation_stage
from pipeline.families.completions_and_migrations.mutation_scores import mutation_scores_stage
from pipeline.families.functions.stage import functions_stage
from pipeline.families.model_migrations.tables import with_drafted
from pipeline.families.problems.stage import problems_stage
from pipeline.families.repository_tasks.stage import projects_stage
from pipeline.families.scenes.proving import read_tests, run_blocks
from pipeline.families.scenes.stage import scenes_stage
from pipeline.lake.reads import LakeTables
from pipeline.lake.rows import Tables
from pipeline.lake.stage import Output
from pipeline.lake.tables import Lake
from pipeline.orchestration.resources.model import function_writers, problem_writer, writer
from pipeline.orchestration.resources.resources import Resources

IN_ENVIRONMENTS = (
    "releases",
    "snippets",
    "completions",
    "migrations",
    "changes",
    "symbols",
    "controlled_completions",
    "rewrites",
)
"""The tables that tell what is to be run in which release."""


def build_environments(resources: Resources, lake: Lake, library: str, progress: Any) -> Output:
    """Run the environments stage for the releases in which something is to be run."""
    tables: Mapping[str, Any] = LakeTables(lake, library, IN_ENVIRONMENTS, {"symbols": SYMBOLS, "snippets": EXAMPLES})
    requested = planned_versions(**tables, executable_sources=resources.rules.validation.executable_sources)
    stored = lake.read("environments", library) if progress else ()
    return environments_stage(
        {"releases": tables["releases"], "environments": stored}, requested, resources.environments, progress
    )


def validate(resources: Resources, tables: Tables) -> Output:
    """Run the validation stage in the sandbox of this machine."""
    return validation_stage(tables, runner=resources.runner)


def score_migrations(resources: Resources, tables: Tables) -> Output:
    """Run mutants of migrations, those that a model wrote too, in the sandbox of this machine."""
    return mutation_scores_stage(with_drafted(tables), rules=resources.rules.mutation, runner=resources.runner)


def make_problems(resources: Resources, tables: Tables) -> Output:
    """Run the problems stage in the sandbox of this machine."""
    runner = resources.runner
    rules = resources.rules
    return problems_stage(
        tables,
        rules=rules.problems,
        drafting=rules.drafting,
        tagging=rules.lifecycle,
        usage=rules.usage,
        mutation=rules.mutation,
        runner=runner,
        fails=rules.quality.fails_in_target,
        writer=problem_writer(resources, runner),
    )


def make_functions(resources: Resources, tables: Tables) -> Output:
    """Run the functions stage in the sandbox of this machine."""
    runner = resources.runner
    rules = resources.rules
    return functions_stage(
        tables,
        rules=rules.functions,
        of_problems=rules.problems,
        drafting=rules.drafting,
        tagging=rules.lifecycle,
        usage=rules.usage,
        min_name_length=rules.masking.min_name_length,
        mutation=rules.mutation,
        writer=writer(resources, rules.drafts.description),
        runner=runner,
        fails=rules.quality.fails_in_target,
        writers=function_writers(resources, runner),
    )


def trace_projects(resources: Resources, tables: Tables) -> Output:
    """Run the projects stage: the newest releases and dependents of a library, with their own tests."""
    return projects_stage(
        tables,
        project_context=resources.project_context,
        licences=resources.rules.licences,
        allowed=resources.rules.quality.licences,
    )


def make_scenes(resources: Resources, tables: Tables) -> Output:
    """Run the scenes stage: blocks of what the tests of projects reach, with the tests on each block left empty."""
    rules = resources.rules
    return scenes_stage(
        tables,
        rules=rules.scenes,
        mutation=rules.mutation,
        run=partial(run_blocks, resources.project_context, rules.scenes),
        read_tests=partial(read_tests, resources.project_context),
    )
