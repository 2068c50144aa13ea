"""The stages of the families that bring their own proof: projects with their tests, scenes, problems, functions."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.environments import (
    discover,
)
from pipeline.house import House
from pipeline.lake import Stage
from pipeline.publish import (
    functions_gate_stage,
    problems_gate_stage,
    repository_gate_stage,
    scenes_gate_stage,
)
from pipeline.repository import repository_tasks_stage
from pipeline.stages.declaring import declared


def families(house: House) -> Iterator[Stage]:
    """Yield the stages of projects, repository tasks, scenes, problems and functions, with their gates."""
    rules = house.rules
    yield declared(
        "projects",
        reads="releases found",
        writes="projects project_files traced_functions reaches",
        depends=lambda: [
            rules.repository,
            rules.licences,
            sorted(rules.quality.licences),
            rules.of_environments,
            [interpreter.python for interpreter in discover()],
        ],
        run=house.trace_projects,
        version=2,
    )
    yield declared(
        "repository_tasks",
        reads="projects traced_functions reaches project_files",
        writes="repository_tasks",
        depends=lambda: [rules.repository, *house.by_model(rules.drafts.requirement)],
        run=lambda **tables: repository_tasks_stage(**tables, workshop=house.workshop, writer=house.requirements()),
        version=2,
    )
    yield declared(
        "repository_gate",
        reads="repository_tasks projects",
        writes="published_repository_tasks",
        depends=lambda: rules.quality,
        run=lambda **tables: repository_gate_stage(**tables, rules=rules.quality),
    )
    yield declared(
        "scenes",
        reads="projects project_files traced_functions reaches",
        writes="scenes",
        depends=lambda: [rules.scenes, rules.repository],
        run=house.make_scenes,
        version=3,
    )
    yield declared(
        "scenes_gate",
        reads="scenes projects project_files",
        writes="published_scenes",
        depends=lambda: rules.quality,
        run=lambda **tables: scenes_gate_stage(**tables, rules=rules.quality),
    )
    yield declared(
        "problems",
        reads="releases snippets rewrites symbols changes lifecycles documents api_documents verdicts",
        writes="problems problem_runs problem_environments refused_problems",
        depends=lambda: [
            rules.problems,
            [[kind, rules.quality.fails_in_target] for kind in house.by_model(rules.drafts.problem)],
            rules.drafting,
            rules.lifecycle,
            rules.usage,
            rules.validation,
            rules.of_environments,
            [interpreter.python for interpreter in discover()],
        ],
        run=house.make_problems,
        version=8,
    )
    yield declared(
        "problems_gate",
        reads="problems problem_runs snippets releases published_changes",
        writes="published_problems",
        depends=lambda: [rules.quality, rules.problems],
        run=lambda **tables: problems_gate_stage(**tables, rules=rules.quality, least=rules.problems),
        version=4,
    )
    yield declared(
        "functions",
        reads="releases snippets rewrites symbols changes lifecycles documents api_documents verdicts",
        writes="functions function_runs function_environments refused_functions",
        depends=lambda: [
            rules.functions,
            rules.problems,
            rules.masking.min_name_length,
            rules.drafting,
            *house.by_model(rules.drafts.description),
            *house.by_model(rules.drafts.task_function),
            *([kind, rules.quality.fails_in_target] for kind in house.by_model(rules.drafts.function_tests)),
            rules.lifecycle,
            rules.usage,
            rules.validation,
            rules.of_environments,
            [interpreter.python for interpreter in discover()],
        ],
        run=house.make_functions,
        version=2,
    )
    yield declared(
        "functions_gate",
        reads="functions function_runs refused_functions snippets published_changes",
        writes="published_functions",
        depends=lambda: [rules.quality, rules.functions, rules.masking],
        run=lambda **tables: functions_gate_stage(
            **tables, rules=rules.quality, least=rules.functions, masking=rules.masking
        ),
        version=3,
    )
