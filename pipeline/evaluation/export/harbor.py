"""Harbor's tasks: a folder for each row, with instruction, environment, oracle, and a verifier apart from the agent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import ceil
from typing import Any

from pipeline.core.rules.load import load
from pipeline.core.settings import settings
from pipeline.core.vocabularies.exports import Unsupported
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.scores import Exclusion, Metric
from pipeline.evaluation.export.archive import archive
from pipeline.evaluation.export.artifacts import answered, beginning
from pipeline.evaluation.export.environments import check_lock
from pipeline.evaluation.export.format import Attached, ExportError, Format, Layout, Placed, Refused, Result
from pipeline.evaluation.prompts.make import Prompt, Without, prompts
from pipeline.evaluation.prompts.rules import prompt_rules
from pipeline.evaluation.scores.planning import Sources, example_of, plan, plan_control, unparted
from pipeline.evaluation.scores.rules import ScoreRules
from pipeline.evaluation.scores.running import run_controls
from pipeline.evaluation.scores.runs import CaseRun
from pipeline.evaluation.scores.tasks import Task, read_tasks
from pipeline.execution.environments.resolution.pinned import read_lock
from pipeline.execution.validation.rules import ValidationRules
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.lake.ids import sha256_text
from pipeline.lake.schema import Row
from pipeline.snapshots.format.reader import Snapshot

TASKS = "tasks.jsonl"
DATASET = "dataset.toml"
_SETTINGS = {
    Family.COMPLETION: "versicode-completion",
    Family.MIGRATION: "versicode-migration",
    Family.PROBLEM: "gitchameleon-greedy",
    Family.FUNCTION: "versicode-function",
}
_COLUMNS: Mapping[Family, tuple[str, ...]] = {
    Family.COMPLETION: ("granularity", "masked_code", "core_token", "code"),
    Family.MIGRATION: ("target_code",),
    Family.PROBLEM: ("starting_code", "hidden_tests", "test", "module"),
    Family.FUNCTION: ("granularity", "masked_code", "core_token", "tests", "module"),
}
"""The columns that judging reads."""
_REFERENCES = {
    Family.COMPLETION: "answer",
    Family.MIGRATION: "target_code",
    Family.PROBLEM: "solution",
    Family.FUNCTION: "answer",
}
_PLACES = {
    Family.COMPLETION: "has the code above. Write your answer in place of `{mask}`, and change nothing else.",
    Family.FUNCTION: "has the code above. Write your answer in place of `{mask}`, and change nothing else.",
    Family.MIGRATION: "is where your program is expected; `/app/source.py` has the code above.",
    Family.PROBLEM: "has the starting code. Complete it there.",
}
_ARTIFACT = "/app/solution.py"
_ENVIRONMENT = "/opt/environment"
_PROGRAM = "pipeline.evaluation.export.beside.verify"
_HARNESS = ("pipeline.execution.validation.inside", "pipeline.execution.sandbox.drop_privileges")
_PYTHON = re.compile(r"3\.\d{1,2}")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_START_S = 15.0
_AGENT_S = 900.0
_NOTE = """
---

Do not answer in text: your answer is a file. `{artifact}` {place}
`{environment}/bin/python` is a Python {python} with the library and its dependencies.
Whatever is said above of the form of an answer, the file holds code alone.
"""
_SOLVE = """#!/bin/sh
# Writes the reference.
exec cp "$(dirname "$0")/solution.py" /app/solution.py
"""
_TEST = """#!/bin/sh
# Judges /app/solution.py and writes /logs/verifier/reward.txt.
exec python3 -I "$(dirname "$0")/verifier.pyz"
"""
_BASE = """# The interpreter of the verifier, and uv with the environment in which the reference was run.
FROM python:3.11-{image}
COPY --from=ghcr.io/astral-sh/uv:0.9.7 /uv /usr/local/bin/uv
ENV UV_PYTHON_INSTALL_DIR=/opt/python UV_LINK_MODE=copy UV_NO_CACHE=1
RUN uv venv --python {python} {environment}
"""
_INSTALL = """COPY {file} /opt/{file}
RUN uv pip install --python {environment} --no-deps --require-hashes {options}-r /opt/{file}
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
    families=("completions", "migrations", "problems", "functions"),
    configs=("completions", "migrations", "problems", "functions"),
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
        "references get 1, empty answers 0; a run without a verdict has no reward",
    ),
)


@dataclass(frozen=True, slots=True)
class _Exporter:
    """What all tasks of a snapshot have in common."""

    snapshot: Snapshot
    sources: Sources
    rules: ValidationRules
    sample_chars: int

    def files(self, task: Task, row: Row, name: str, prompt: Prompt, run: CaseRun) -> dict[str, bytes]:
        """Return the files of a task by their paths in its folder."""
        environment = self.sources.environments[run.lock_id]
        check_lock(environment)
        python = environment["python"]
        if not _PYTHON.fullmatch(python):
            raise ExportError(f"lock {run.lock_id:.40}: no Python {python!r:.40}: run `driftline verify`")
        locks, installs = _locks(environment["lock"])
        # Nothing but a source distribution needs compilers.
        image = "bookworm" if len(locks) > 1 else "slim-bookworm"
        base = _BASE.format(image=image, python=python, environment=_ENVIRONMENT)
        texts = {
            "task.toml": self._settings(task, row, name, prompt),
            "instruction.md": _instruction(task, row, python, prompt),
            "environment/Dockerfile": base + installs + _OF_AGENT.format(environment=_ENVIRONMENT),
            **{f"environment/{file}": text for file, text in locks.items()},
            **{f"environment/app/{file}": text for file, text in _agent_files(task.family, row).items()},
            "solution/solve.sh": _SOLVE,
            "solution/solution.py": answered(task.family, row, row[_REFERENCES[task.family]]),
            "tests/Dockerfile": base + installs + _OF_VERIFIER,
            **{f"tests/{file}": text for file, text in locks.items()},
            "tests/test.sh": _TEST,
            "tests/case.json": json.dumps(self._case(task, row, run), indent=1, sort_keys=True) + "\n",
        }
        verifier = {"tests/verifier.pyz": archive(_PROGRAM, *_HARNESS)}
        return {path: text.encode() for path, text in texts.items()} | verifier

    def _case(self, task: Task, row: Row, run: CaseRun) -> dict[str, Any]:
        example = example_of(task, self.sources)
        rules = ("options", "vary", "clock_shift_days", "repeats", "output_tail")
        return {
            "family": task.family,
            "row": {name: row[name] for name in _COLUMNS[task.family]},
            "example": {name: example[name] for name in ("preamble", "checks")} if example else None,
            "import_names": list(run.case.import_names),
            "artifact": _ARTIFACT,
            "environment": _ENVIRONMENT,
            "sample_chars": self.sample_chars,
            "rules": {name: getattr(self.rules, name) for name in rules} | {"limits": asdict(self.rules.limits)},
        }

    def _settings(self, task: Task, row: Row, name: str, prompt: Prompt) -> str:
        run_s = self.rules.repeats * (self.rules.time_s + _START_S)
        of_row = {column: row[column] for column in ("library", "version", "granularity", "licence") if row.get(column)}
        return _toml(
            {
                "": {"schema_version": "1.4", "artifacts": [_ARTIFACT]},
                "task": {
                    "name": f"driftline/{name}",
                    "description": f"{task.family.meaning}: {row['library']} {row['version']}",
                    "keywords": ["driftline", str(task.family)],
                },
                "metadata": {
                    "id": task.id,
                    "family": str(task.family),
                    **of_row,
                    "setting": prompt.setting,
                    "snapshot": self.snapshot.name,
                    "manifest_sha256": self.snapshot.sha256,
                    "canary": prompt.canary,
                },
                # A run without a verdict is repeated once.
                "verifier": {"environment_mode": "separate", "timeout_sec": float(ceil(2 * run_s) + 60)},
                "verifier.environment": {"network_mode": "no-network", "memory_mb": self.rules.memory_mib + 1024},
                "agent": {"timeout_sec": _AGENT_S},
                "environment": {"network_mode": "public", "memory_mb": self.rules.memory_mib + 1024},
            }
        )


def _agent_files(family: Family, row: Row) -> dict[str, str]:
    """Return the files that an agent finds in its folder."""
    text = beginning(family, row)
    return {"source.py": row["source_code"]} if text is None else {"solution.py": text}


def _instruction(task: Task, row: Row, python: str, prompt: Prompt) -> str:
    place = _PLACES[task.family].format(mask=f"[{row.get('granularity')}-mask]")
    note = _NOTE.format(artifact=_ARTIFACT, place=place, environment=_ENVIRONMENT, python=python)
    # Harbor takes such a first line away before an agent sees the rest.
    canary = f"<!-- canary {' '.join(prompt.canary.split()).replace('--', '')} -->\n\n"
    system = f"{prompt.system.strip()}\n\n" if prompt.system else ""
    return f"{canary}{system}{prompt.prompt.rstrip()}\n{note}"


def _locks(lock: str) -> tuple[dict[str, str], str]:
    """Return the files of a lock and the lines that install them: wheels, and each source distribution by itself.

    A source distribution is built with requirements of its own time, as it was before.
    """
    blocks = re.findall(r"^\S.*\n(?:[ ].*\n?)*", lock, re.MULTILINE)
    wheels, installs = "", ""
    files: dict[str, str] = {}
    for pin, block in zip(read_lock(lock), blocks, strict=True):
        if pin.built is None:
            wheels += block
            continue
        file = f"built-{len(files) + 1}.txt"
        files[file] = block
        options = f"--no-binary {pin.name} --exclude-newer {pin.built.as_of:%Y-%m-%dT%H:%M:%SZ} "
        if pin.built.constraints:
            files[f"constraints-{file}"] = "".join(f"{one}\n" for one in pin.built.constraints)
            installs += f"COPY constraints-{file} /opt/constraints-{file}\n"
            options += f"--build-constraints /opt/constraints-{file} "
        installs += _INSTALL.format(file=file, environment=_ENVIRONMENT, options=options)
    only = _INSTALL.format(file="lock.txt", environment=_ENVIRONMENT, options="--only-binary :all: ") if wheels else ""
    return {"lock.txt": wheels, **files}, only + installs


def harbor(snapshot: Snapshot, *, unnoticed: bool = False) -> Iterator[Result]:
    """Yield the tasks of a snapshot, each a folder, and the manifest of all.

    A task is refused whose empty answer passes, or was not run, unless `unnoticed`.

    Errors: ExportError, SnapshotError; SandboxUnavailable where empty answers cannot be run.
    """
    rules = settings().rules
    sources = Sources.read(snapshot, None)
    exporter = _Exporter(
        snapshot,
        sources,
        load(rules / "validation.yaml", ValidationRules),
        load(rules / "scores.yaml", ScoreRules).sample_chars,
    )
    tasks = [task for of_id in read_tasks(snapshot, (), running=True).values() for task in of_id.values()]
    by_family = {family: {task.id: task for task in tasks if task.family is family} for family in _SETTINGS}
    digests: dict[str, str] = {}
    for family, of_family in by_family.items():
        prompts_by_id = _prompts(snapshot, family) if of_family else {}
        rows = {row["id"]: row for row in snapshot.rows(family.table)} if of_family else {}
        able: list[tuple[Task, CaseRun, Prompt]] = []
        for task in of_family.values():
            checked = _able(task, sources, prompts_by_id)
            if isinstance(checked, Refused):
                yield checked
            else:
                able.append((task, *checked))
        refused = {} if unnoticed else dict(_unnoticed([task for task, _, _ in able], snapshot, sources))
        for task, run, prompt in able:
            if refusal := refused.get(task.id):
                yield refusal
                continue
            name = name_of(task)
            files = exporter.files(task, rows[task.id], name, prompt, run)
            yield from (Attached(f"{name}/{path}", content) for path, content in files.items())
            digests[name] = digest_of(files)
            record = {"task": name, "family": family, "id": task.id, "digest": digests[name]}
            yield Placed(TASKS, record, family.table, rows[task.id], {"id": task.id})
    yield Attached(DATASET, _manifest(snapshot, digests).encode())


def _prompts(snapshot: Snapshot, family: Family) -> dict[str, Prompt | Without]:
    setting = _SETTINGS[family]
    ignore_case = load(settings().rules / "masking.yaml", MaskingRules).ignore_case
    rules = prompt_rules()[setting]
    return {each.id: each for each in prompts(snapshot, setting, rules, ignore_case=ignore_case, unnoticed=True)}


def _able(
    task: Task, sources: Sources, prompts_by_id: Mapping[str, Prompt | Without]
) -> tuple[CaseRun, Prompt] | Refused:
    """Return the run and the prompt of a task, or why it has none."""
    runs = (run for run in plan(task, "", sources) if run.metric is Metric.PASS)
    run = next((run for run in runs if isinstance(run, CaseRun)), None)
    if run is None or not sources.environments.get(run.lock_id, {}).get("lock"):
        why = unparted(task) or (Exclusion.NO_ENVIRONMENT if run else Exclusion.NOT_RUNNABLE).meaning
        return Refused(task.family.table, task.id, Unsupported.NOT_RUNNABLE, why)
    prompt = prompts_by_id[task.id]
    if isinstance(prompt, Without):
        return Refused(task.family.table, task.id, Unsupported.NO_PROMPT, f"{prompt.reason.meaning}: {prompt.detail}")
    return run, prompt


def _unnoticed(tasks: Sequence[Task], snapshot: Snapshot, sources: Sources) -> Iterator[tuple[str, Refused]]:
    """Yield the tasks whose empty answer passes, or has no verdict; those that are not certain to fail are run."""
    open_tasks = [task for task in tasks if plan_control(task, sources)]
    outcomes = run_controls(open_tasks, snapshot) if open_tasks else {}
    for task in tasks:
        outcome = outcomes.get(task.id)
        if task.is_unnoticed or outcome is Outcome.PASSED:
            reason = Unsupported.NOT_DISCRIMINATING
        elif outcome in (Outcome.HARNESS_ERROR, Outcome.NO_ENVIRONMENT):
            reason = Unsupported.CONTROL_NOT_RUN
        else:
            continue
        yield task.id, Refused(task.family.table, task.id, reason, reason.meaning)


def name_of(task: Task) -> str:
    """Return the name of a task's folder; ids of untrusted snapshots may be anything, and are then hashed."""
    family = str(task.family).replace("_", "-")
    name = f"{family}-{task.id}"
    return name if _NAME.fullmatch(name) else f"{family}-x{sha256_text(task.id)[:32]}"


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return the digest of a task as Harbor computes it."""
    lines = (f"{path}\0{sha256(content).hexdigest()}\n" for path, content in sorted(files.items()))
    return f"sha256:{sha256(''.join(lines).encode()).hexdigest()}"


def _manifest(snapshot: Snapshot, digests: Mapping[str, str]) -> str:
    name = re.sub(r"[^A-Za-z0-9-]+", "-", snapshot.name).strip("-") or "snapshot"
    tables: list[tuple[str, Mapping[str, object]]] = [
        ("[dataset]", {"name": f"driftline/{name}", "description": f"the snapshot {snapshot.name} of Driftline"}),
        *(("[[tasks]]", {"name": f"driftline/{task}", "digest": digest}) for task, digest in sorted(digests.items())),
        ("[metadata]", {"manifest_sha256": snapshot.sha256}),
    ]
    return "\n".join(f"{head}\n{_pairs(table)}" for head, table in tables)


def _toml(tables: Mapping[str, Mapping[str, object]]) -> str:
    return "\n".join((f"[{name}]\n" if name else "") + _pairs(table) for name, table in tables.items())


def _pairs(table: Mapping[str, object]) -> str:
    return "".join(f"{name} = {_value(value)}\n" for name, value in table.items())


def _value(value: object) -> str:
    """Return a text, number or list of texts in TOML: strings are those of JSON, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


FORMAT = Format(
    layout=_LAYOUT,
    results=lambda snapshot, unpack, unnoticed: harbor(snapshot, unnoticed=unnoticed),
    recognised_by=(frozenset({"task", "family", "digest"}),),
)
