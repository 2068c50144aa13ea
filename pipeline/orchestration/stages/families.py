"""The stages of the families that bring their own proof: projects with their tests, scenes, problems, functions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pipeline.execution.environments.resolution.interpreters import discover
from pipeline.execution.validation.runs import EXAMPLES
from pipeline.families.compatibilities.stage import compatibilities_stage
from pipeline.families.problems.library import DOCSTRINGS, OF_APIS
from pipeline.families.repository_tasks.choosing import DEPENDENTS
from pipeline.families.repository_tasks.tasks import repository_tasks_stage
from pipeline.lake.reads import Read
from pipeline.lake.runner import Stage
from pipeline.orchestration.resources.model import requirements
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.resources.running import make_functions, make_problems, make_scenes, trace_projects
from pipeline.orchestration.stages.declaring import declared


def families(resources: Resources) -> Iterator[Stage]:
    """Yield the stages of compatibilities, projects, repository tasks, scenes, problems and functions."""
    rules = resources.rules
    yield declared(
        "compatibilities",
        reads="releases snippets changes behaviours witnesses verdicts",
        writes="compatibilities",
        depends=lambda: [rules.compatibilities, sorted(rules.quality.fails_in_target)],
        run=lambda tables: compatibilities_stage(tables, rules.compatibilities, rules.quality.fails_in_target),
        partly=[EXAMPLES, Read("verdicts", ("subject_id", "version", "outcome", "python", "lock_id"))],
    )
    yield declared(
        "projects",
        reads="releases code_samples",
        writes="projects project_files traced_functions line_coverage",
        depends=lambda: [
            rules.repository,
            rules.licences,
            sorted(rules.quality.licences),
            rules.of_environments,
            [interpreter.python for interpreter in discover()],
        ],
        run=partial(trace_projects, resources),
        partly=[DEPENDENTS],
    )
    yield declared(
        "repository_tasks",
        reads="projects traced_functions line_coverage project_files",
        writes="repository_tasks",
        depends=lambda: [rules.repository, rules.mutation, *resources.by_model(rules.drafts.requirement)],
        run=lambda tables: repository_tasks_stage(
            tables, project_context=resources.project_context, mutation=rules.mutation, writer=requirements(resources)
        ),
    )
    yield declared(
        "scenes",
        reads="projects project_files traced_functions line_coverage",
        writes="scenes",
        depends=lambda: [rules.scenes, rules.repository, rules.mutation],
        run=partial(make_scenes, resources),
    )
    yield declared(
        "problems",
        reads="releases snippets rewrites symbols changes lifecycles documents api_documents verdicts witnesses",
        writes="problems problem_runs problem_environments",
        depends=lambda: [
            rules.problems,
            rules.mutation,
            sorted(rules.quality.fails_in_target),
            *resources.by_model(rules.drafts.problem),
            rules.drafting,
            rules.lifecycle,
            rules.usage,
            rules.validation,
            rules.of_environments,
            [interpreter.python for interpreter in discover()],
        ],
        run=partial(make_problems, resources),
        partly=[Read("symbols", OF_APIS), EXAMPLES, DOCSTRINGS],
    )
    yield declared(
        "functions",
        reads="releases snippets rewrites symbols changes lifecycles documents api_documents verdicts witnesses",
        writes="functions function_runs function_environments refused_functions",
        depends=lambda: [
            rules.functions,
            rules.problems,
            rules.mutation,
            sorted(rules.quality.fails_in_target),
            rules.masking.min_name_length,
            rules.drafting,
            *resources.by_model(rules.drafts.description),
            *resources.by_model(rules.drafts.task_function),
            *resources.by_model(rules.drafts.function_tests),
            rules.lifecycle,
            rules.usage,
            rules.validation,
            rules.of_environments,
            [interpreter.python for interpreter in discover()],
        ],
        run=partial(make_functions, resources),
        partly=[Read("symbols", OF_APIS), EXAMPLES, DOCSTRINGS],
    )
