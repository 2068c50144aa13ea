"""Harbor's tasks: a folder for each row, with instruction, environment, oracle, and a verifier apart from the agent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.core.rules.load import load
from pipeline.core.settings import settings
from pipeline.core.vocabularies.exports import Unsupported
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.scores import Exclusion, Metric
from pipeline.evaluation.export.artifacts import answered, beginning
from pipeline.evaluation.export.format import Attached, Format, Layout, Placed, Refused, Result, Unpack
from pipeline.evaluation.export.harbor_folder import ENVIRONMENT, Folder, digest_of, encoded, lock_files, manifest
from pipeline.evaluation.export.harbor_projects import PACKAGES, InProjects, place_of
from pipeline.evaluation.prompts.make import Prompt, Without, prompts
from pipeline.evaluation.prompts.rules import prompt_rules
from pipeline.evaluation.scores.planning import Sources, example_of, plan, plan_control, unparted
from pipeline.evaluation.scores.rules import ScoreRules
from pipeline.evaluation.scores.running import run_controls
from pipeline.evaluation.scores.runs import CaseRun, ProjectRun, Run
from pipeline.evaluation.scores.tasks import Task, read_tasks
from pipeline.execution.environments.store import Locked
from pipeline.execution.validation.rules import ValidationRules
from pipeline.families.all_families import BY_NAME, FAMILIES
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.lake.rows import AnyRow, ProjectRow
from pipeline.snapshots.format.reader import Snapshot

TASKS = "tasks.jsonl"
DATASET = "dataset.toml"
_COLUMNS: Mapping[Family, tuple[str, ...]] = {
    Family.COMPLETION: ("granularity", "masked_code", "core_token", "code"),
    Family.MIGRATION: ("source_code", "target_code", "target_path"),
    Family.PROBLEM: ("starting_code", "hidden_tests", "test", "module"),
    Family.FUNCTION: ("granularity", "masked_code", "core_token", "tests", "module"),
}
"""The columns that judging reads."""
_PLACES = {
    Family.COMPLETION: "has the code above. Write your answer in place of `{mask}`, and change nothing else.",
    Family.FUNCTION: "has the code above. Write your answer in place of `{mask}`, and change nothing else.",
    Family.MIGRATION: "is where your program is expected; `/app/source.py` has the code above.",
    Family.PROBLEM: "has the starting code. Complete it there.",
}
_ARTIFACT = "/app/solution.py"
_START_S = 15.0
_LIBRARY = "the library and its dependencies"
_SOLVE = """#!/bin/sh
# Writes the reference.
exec cp "$(dirname "$0")/solution.py" /app/solution.py
"""
_OF_AGENT = """ENV PATH={environment}/bin:$PATH
WORKDIR /app
COPY app /app
"""
_OF_VERIFIER = """WORKDIR /app
COPY . /tests
RUN chmod -R go= /tests
"""
_LAYOUT = Layout(
    families=("completions", "migrations", "problems", "functions", "repository_tasks", "scenes"),
    configs=("completions", "migrations", "problems", "functions", "repository_tasks", "scenes", "projects"),
    usage="sh evaluate.sh AGENT …",
    evaluate="""\
# AGENT is an agent of Harbor; oracle writes the references, and nop leaves the files as they are.
agent="$1"
shift
exec harbor run --path . --agent "$agent" "$@"
""",
    prepares=False,
    notes=(
        f"a folder is a task of Harbor (schema 1.4); {DATASET} has the digest of each, {TASKS} the row behind it",
        "environment/ is what an agent sees: the pinned Python, the lock, and the file to edit; tests/ is an image of"
        " its own, which gets that file alone",
        "tests/verifier.pyz is the code of `driftline score --run`; it needs root in its container, and runs an answer"
        " as another user who reaches neither tests nor reward",
        "the answer is what replaces the mask or follows the starting code; where the rest of the file has changed, it"
        " is the whole file",
        "of repository tasks and scenes the agent has the project without the answer, and its tests judge the one file",
        "references get 1, empty answers 0; a run without a verdict has no reward; scenes in which nothing is missing"
        " are left out",
    ),
)


@dataclass(frozen=True, slots=True)
class _Programs:
    """What the folders of programs have in common."""

    sources: Sources
    rules: ValidationRules
    sample_chars: int

    def files(self, folder: Folder, run: CaseRun) -> dict[str, bytes]:
        """Return the files of a task by their paths in its folder."""
        family, row = folder.task.family, folder.row
        locks, installs = lock_files(folder.environment["lock"] or "")
        base = folder.base(locks)
        texts = {
            "environment/Dockerfile": base + installs + _OF_AGENT.format(environment=ENVIRONMENT),
            **{f"environment/{file}": text for file, text in locks.items()},
            **{f"environment/app/{file}": text for file, text in _agent_files(family, row).items()},
            "solution/solve.sh": _SOLVE,
            "solution/solution.py": answered(family, row, row[BY_NAME[family].reference]),
            "tests/Dockerfile": base + installs + _OF_VERIFIER,
            **{f"tests/{file}": text for file, text in locks.items()},
            "tests/case.json": json.dumps(self._case(folder, run), indent=1, sort_keys=True) + "\n",
        }
        return folder.common() | encoded(texts)

    @property
    def run_s(self) -> float:
        """Seconds that all repeats of a run may take."""
        return self.rules.repeats * (self.rules.time_s + _START_S)

    def _case(self, folder: Folder, run: CaseRun) -> dict[str, Any]:
        task, row = folder.task, folder.row
        example = example_of(task, self.sources)
        rules = ("options", "vary", "clock_shift_days", "repeats", "output_tail", "ignore_warnings")
        return {
            "family": task.family,
            "row": {name: row[name] for name in _COLUMNS[task.family]},
            "example": {name: example[name] for name in ("preamble", "checks")} if example else None,
            "import_names": list(run.case.import_names),
            "artifact": _ARTIFACT,
            "environment": ENVIRONMENT,
            "sample_chars": self.sample_chars,
            "rules": {name: getattr(self.rules, name) for name in rules} | {"limits": asdict(self.rules.limits)},
        }


def _agent_files(family: Family, row: AnyRow) -> dict[str, str]:
    """Return the files that an agent finds in its folder."""
    text = beginning(family, row)
    return {"source.py": row["source_code"]} if text is None else {"solution.py": text}


def harbor(snapshot: Snapshot, unpack: Unpack) -> Iterator[Result]:
    """Yield the tasks of a snapshot, each a folder, and the manifest of all.

    A task is refused whose empty answer passes, or was not run.

    Errors: ExportError, SnapshotError; SandboxUnavailable where empty answers cannot be run, Unreachable where the
    index that has the sources of projects does not answer.
    """
    rules = settings().rules
    sources = Sources.read(snapshot, None)
    sample_chars = load(rules / "scores.yaml", ScoreRules).sample_chars
    programs = _Programs(sources, load(rules / "validation.yaml", ValidationRules), sample_chars)
    projects: dict[str, ProjectRow] = {}
    if snapshot.has("projects"):
        projects = {row["id"]: row for row in snapshot.rows("projects")}
    environment: Locked
    in_projects = InProjects(projects, unpack, load(rules / "repository.yaml", RepositoryRules), sample_chars)
    tasks = [task for of_id in read_tasks(snapshot, (), running=True).values() for task in of_id.values()]
    digests: dict[str, str] = {}
    of_snapshot = snapshot.name, snapshot.sha256
    for family in (declared.name for declared in FAMILIES if declared.table in _LAYOUT.families):
        of_family = [task for task in tasks if task.family is family]
        rows = {row["id"]: row for row in snapshot.rows(family.table)} if of_family else {}
        able: list[tuple[Task, Run, Prompt]] = []
        prompts_by_id = _prompts(snapshot, family) if of_family else {}
        for task in of_family:
            checked = _able(task, sources, prompts_by_id)
            if isinstance(checked, Refused):
                yield checked
            else:
                able.append((task, *checked))
        refused = dict(_passing_empty([task for task, _, _ in able], rows, snapshot, sources))
        # One project after the other, so that each is unpacked once.
        for task, run, prompt in sorted(able, key=lambda each: rows[each[0].id].get("project_id") or ""):
            row = rows[task.id]
            if refusal := refused.get(task.id):
                yield refusal
                continue
            if isinstance(run, CaseRun):
                environment, artifact, packages = sources.environments[run.lock_id], _ARTIFACT, _LIBRARY
                place = _PLACES[family].format(mask=f"[{row.get('granularity')}-mask]")
                limits = programs.run_s, programs.rules.memory_mib
                folder = Folder(task, row, prompt, environment, *of_snapshot, artifact, place, packages, *limits)
                files = programs.files(folder, run)
            else:
                tree = in_projects.tree(task, row)
                if isinstance(tree, Refused):
                    yield tree
                    continue
                environment, artifact, packages = projects[row["project_id"]], f"/app/{row['path']}", PACKAGES
                place, limits = place_of(task, row), (in_projects.run_s, in_projects.rules.memory_mib)
                folder = Folder(task, row, prompt, environment, *of_snapshot, artifact, place, packages, *limits)
                files = in_projects.files(folder, tree)
            yield from (Attached(f"{folder.name}/{path}", content) for path, content in files.items())
            digests[folder.name] = digest_of(files)
            record = {"task": folder.name, "family": family, "id": task.id, "digest": digests[folder.name]}
            yield Placed(TASKS, record, family.table, row, {"id": task.id})
    yield Attached(DATASET, manifest(snapshot.name, snapshot.sha256, digests).encode())


def _prompts(snapshot: Snapshot, family: Family) -> dict[str, Prompt | Without]:
    setting = BY_NAME[family].setting
    ignore_case = load(settings().rules / "masking.yaml", MaskingRules).ignore_case
    rules = prompt_rules()[setting]
    return {each.id: each for each in prompts(snapshot, setting, rules, ignore_case=ignore_case)}


def _able(task: Task, sources: Sources, prompts_by_id: Mapping[str, Prompt | Without]) -> tuple[Run, Prompt] | Refused:
    """Return the run and the prompt of a task, or why it has none."""
    run = next((run for run in plan(task, "", sources) if run.metric is Metric.PASS), None)
    if isinstance(run, ProjectRun):
        environment: Locked | None = sources.projects.get(run.project_id)
    else:
        environment = sources.environments.get(run.lock_id) if isinstance(run, CaseRun) else None
    if run is None or environment is None or not environment["lock"]:
        why = unparted(task) or (Exclusion.NO_ENVIRONMENT if run else Exclusion.NOT_RUNNABLE).meaning
        return Refused(task.family.table, task.id, Unsupported.NOT_RUNNABLE, why)
    prompt = prompts_by_id[task.id]
    if isinstance(prompt, Without):
        return Refused(task.family.table, task.id, Unsupported.NO_PROMPT, f"{prompt.reason.meaning}: {prompt.detail}")
    return run, prompt


def _passing_empty(
    tasks: Sequence[Task], rows: Mapping[str, AnyRow], snapshot: Snapshot, sources: Sources
) -> Iterator[tuple[str, Refused]]:
    """Yield the tasks whose empty answer passes, or has no verdict; those that are not certain to fail are run."""
    open_tasks = [task for task in tasks if plan_control(task, sources)]
    outcomes = run_controls(open_tasks, snapshot) if open_tasks else {}
    for task in tasks:
        outcome = outcomes.get(task.id)
        # Of a scene in which nothing is missing the empty answer is the reference.
        if outcome is Outcome.PASSED or rows[task.id].get("middle") == "":
            reason = Unsupported.EMPTY_PASSES
        elif outcome in (Outcome.HARNESS_ERROR, Outcome.NO_ENVIRONMENT):
            reason = Unsupported.CONTROL_NOT_RUN
        else:
            continue
        yield task.id, Refused(task.family.table, task.id, reason, reason.meaning)


FORMAT = Format(
    layout=_LAYOUT,
    results=harbor,
    recognised_by=(frozenset({"task", "family", "digest"}),),
)
