"""Verdicts of exported Harbor tasks on right and wrong answers, beside those of `driftline score --run`.

    python -m benchmarks.harbor SNAPSHOT EXPORT --answers 240

EXPORT is a folder of `driftline export SNAPSHOT --format harbor`. Of every family the tasks whose ids' hashes are
smallest are answered in all ways of `WAYS`. The scripts of the folders run in namespaces with the folders that their
images would have. Ends with status 1 if a verdict differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from pipeline.core.progress import no_progress
from pipeline.core.settings import settings
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.export.artifacts import answered, answered_in
from pipeline.evaluation.scores.planning import Sources
from pipeline.evaluation.scores.running import Runners, run_samples, runners_at
from pipeline.evaluation.scores.runs import RunFile
from pipeline.evaluation.scores.tally import as_answer
from pipeline.evaluation.scores.tasks import Task, read_tasks
from pipeline.execution.environments.store import Locked
from pipeline.families.repository_tasks.project_context import open_project
from pipeline.lake.ids import sha256_text
from pipeline.lake.rows import AnyRow
from pipeline.snapshots.format.reader import Snapshot
from tests.evaluation.export.containers import Containers
from tests.evaluation.export.stand_ins import corruptions

CORRUPTED = 3
"""Corrupted references of a task; the further ones are those of the next tasks."""
WAYS = ("reference", "empty", "corrupted", "other release", "other task", "fenced", "no syntax")

Answers = Sequence[tuple[str, str]]
"""Ways and texts of answers to a task."""


def answers(task: Task, number: int, tasks: Sequence[Task], rows: Mapping[str, AnyRow]) -> Iterator[tuple[str, str]]:
    """Yield answers to a task, the `number`-th of the chosen ones; other tasks of its family are answered wrongly."""
    reference = task.right_answer
    yield "reference", reference
    yield "empty", ""
    changed = corruptions(reference)
    yield from (("corrupted", changed[(CORRUPTED * number + at) % len(changed)]) for at in range(CORRUPTED))
    if other := other_release(task, tasks, rows):
        yield "other release", other
    yield "other task", next(other.right_answer for other in tasks if other.right_answer != reference)
    yield "fenced", f"Here is the code:\n\n```python\n{reference}\n```\n\nIt does what you want."
    yield "no syntax", f"{reference}\n    (]"


def other_release(task: Task, tasks: Sequence[Task], rows: Mapping[str, AnyRow]) -> str | None:
    """Return code that is right for another release: the given side of a migration, or a reference that differs."""
    row = rows[task.id]
    if task.family is Family.MIGRATION:
        return str(row["source_code"])
    of_library = [other for other in tasks if rows[other.id]["library"] == row["library"]]
    others = [other.right_answer for other in of_library if rows[other.id]["version"] != row["version"]]
    return next((text for text in others if text != task.right_answer), None)


def chosen(
    snapshot: Snapshot, export: Path, wanted: int, families: Collection[Family]
) -> Sequence[tuple[Task, Path, Answers]]:
    """Return tasks of an export with their folders and answers, about as many answers of each family."""
    tasks = read_tasks(snapshot, (), running=True)
    by_family: dict[Family, list[tuple[Task, Path]]] = defaultdict(list)
    for line in (export / "tasks.jsonl").read_text().splitlines():
        record = json.loads(line)
        family = Family(record["family"])
        if family not in families:
            continue
        by_family[family].append((tasks[record["id"]][family], export / record["task"]))
    found: list[tuple[Task, Path, Answers]] = []
    for family, of_family in by_family.items():
        rows = {row["id"]: row for row in snapshot.rows(family.table)}
        of_family.sort(key=lambda each: sha256_text(each[0].id))
        others, missing = [task for task, _ in of_family], wanted / len(by_family)
        for number, (task, folder) in enumerate(of_family):
            if missing <= 0:
                break
            texts = list(answers(task, number, others, rows))
            found.append((task, folder, texts))
            missing -= len(texts)
    return found


def rewards(
    task: Task, row: AnyRow, folder: Path, texts: Answers, sources: Sources, runners: Runners
) -> list[str | None]:
    """Run the scripts of a task's folder on answers, and return the rewards."""
    if task.family in (Family.REPOSITORY_TASK, Family.SCENE):
        project = open_project(sources.projects[row["project_id"]], runners.project_context)
        environment, text = project.environment, project.tree.text(row["path"]) or ""
        files = [
            answered_in(task.family, row, text, as_answer(task.family, row.get("granularity"), answer))
            for _, answer in texts
        ]
    else:
        lock: Locked = sources.environments[row["target_lock_id" if task.family is Family.MIGRATION else "lock_id"]]
        environment = runners.engine.store.open(lock)
        files = [answered(task.family, row, answer) for _, answer in texts]
    given: list[str | None] = []
    for file in files:
        with TemporaryDirectory(dir=environment.python.parent.parent.parent) as place:
            containers = Containers(folder, Path(place, "trial"), environment)
            containers.answer(file)
            given.append(containers.verify()[0])
    return given


def main() -> int:
    """Run, and print a table of families and ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot", type=Path)
    parser.add_argument("export", type=Path)
    parser.add_argument("--answers", type=int, default=240)
    parser.add_argument("--families", type=Family, nargs="+", default=list(Family))
    arguments = parser.parse_args()
    snapshot, runners = Snapshot(arguments.snapshot), runners_at(settings().cache)
    sources = Sources.read(snapshot, None)
    found = chosen(snapshot, arguments.export, arguments.answers, arguments.families)
    samples = {
        (task.family, task.id): [as_answer(task.family, task.row.get("granularity"), text) for _, text in texts]
        for task, _, texts in found
    }
    tasks = {task.id: {task.family: task} for task, _, _ in found}
    passes = run_samples(samples, tasks, sources, runners, RunFile(None, None), no_progress)
    counts: dict[Family, Counter[str]] = defaultdict(Counter)
    rows = {
        family: {row["id"]: row for row in snapshot.rows(family.table)}
        for family in {task.family for task, _, _ in found}
    }
    for task, folder, texts in found:
        scored = passes.scores.get((task.family, task.id), {}).get(Metric.PASS, [])
        given = rewards(task, rows[task.family][task.id], folder, texts, sources, runners)
        if len(scored) != len(given):
            sys.stderr.write(f"{folder.name}: {len(scored)} of {len(given)} answers have a verdict of scoring\n")
            counts[task.family]["no verdict"] += len(given)
            continue
        for (way, text), reward, score in zip(texts, given, scored, strict=True):
            counts[task.family].update([way, f"{way} passed"] if score else [way])
            counts[task.family]["answers"] += 1
            if reward != str(int(score)):
                counts[task.family]["different"] += 1
                sys.stderr.write(f"{folder.name}: {way}: reward {reward}, scoring {score}: {text!r:.200}\n")
    report(counts)
    return int(any(of_family["different"] or of_family["no verdict"] for of_family in counts.values()))


def report(counts: Mapping[Family, Counter[str]]) -> None:
    """Print a line for each family: passed answers of each way, and verdicts that differ."""
    table = Table("family", "answers", *WAYS, "different", "no verdict")
    for family, of_family in counts.items():
        passed = [f"{of_family[f'{way} passed']} of {of_family[way]}" for way in WAYS]
        table.add_row(
            family, str(of_family["answers"]), *passed, str(of_family["different"]), str(of_family["no verdict"])
        )
    Console(width=200).print(table)


if __name__ == "__main__":
    sys.exit(main())
