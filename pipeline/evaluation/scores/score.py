"""Score a file of predictions against a snapshot."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from pipeline.core.progress import ReportProgress, labelled, no_progress
from pipeline.core.rules.fingerprint import plain
from pipeline.core.settings import settings
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Exclusion, Metric
from pipeline.evaluation.scores.planning import Sources
from pipeline.evaluation.scores.predictions import Excluded, read_predictions
from pipeline.evaluation.scores.references import ReferenceRun, doubtful_references
from pipeline.evaluation.scores.rules import ScoreRules
from pipeline.evaluation.scores.running import Passes, Runners, run_samples
from pipeline.evaluation.scores.runs import CONTROLS, RunFile, RunResult
from pipeline.evaluation.scores.table import Scores, score_rows
from pipeline.evaluation.scores.tally import Answered, tally
from pipeline.evaluation.scores.tasks import Errata, Task, Tasks, read_errata, read_tasks, rows_of, tasks_in
from pipeline.evaluation.views import ALL_ROWS, TaskView
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import AnyRow, ApiDocumentRow, ScoreRow
from pipeline.lake.schema import table
from pipeline.lake.tables import replacing, write_parquet
from pipeline.snapshots.format.reader import Snapshot

FILES = ("scores.parquet", "scores.csv", "excluded.csv", "scores.svg")
"""What `write` leaves in a folder."""

RUNS = "runs.jsonl"
"""The results of runs by key, which later scorings in the folder reuse. No scoring removes any."""

REFERENCE_RUNS = Path("scores", "references.jsonl")
"""Below the cache: outcomes and times of references on this machine."""

_TASKS_ONLY = frozenset(
    {
        *(Exclusion.NOT_PREDICTED, Exclusion.NO_DOCUMENT, Exclusion.NOT_RUNNABLE, Exclusion.EMPTY_PASSES),
        *(Exclusion.TESTS_NOT_PARTED, Exclusion.NOT_IN_VIEW),
        Exclusion.WITHDRAWN,
    }
)


@dataclass(frozen=True, slots=True)
class Scored:
    """Result of a scoring: rows of `scores`, exclusions, number of samples, and answered of all tasks by family.

    `verdicts` are the scores of each sample of each task by metric. `references` are slow on this machine, or fail.
    `texts` are the samples as extracted, with the numbers of `overlong` ones; `results` are those of runs by text and
    metric.
    """

    rows: Sequence[ScoreRow]
    excluded: Sequence[Excluded]
    samples: int
    answered: Mapping[Family, tuple[int, int]]
    verdicts: Scores
    tasks: Tasks
    texts: Mapping[Answered, Sequence[str]]
    overlong: Mapping[Answered, Collection[int]]
    results: Mapping[Answered, Mapping[str, Mapping[Metric, RunResult]]]
    runs: int | None = None
    references: Sequence[ReferenceRun] = ()

    @property
    def reasons(self) -> Mapping[Exclusion, int]:
        """The number of exclusions by reason."""
        return Counter(excluded.reason for excluded in self.excluded)

    @property
    def flawed(self) -> bool:
        """Whether a prediction for the view, and not only a task, is missing from a figure."""
        return any(reason not in _TASKS_ONLY for reason in self.reasons)


def score_predictions(
    snapshot: Path,
    predictions: IO[bytes],
    rules: ScoreRules,
    runners: Runners | None = None,
    runs: Path | None = None,
    report: ReportProgress = no_progress,
    *,
    view: TaskView = ALL_ROWS,
    references: Path | None = None,
    only: Collection[tuple[Family, str]] | None = None,
) -> Scored:
    """Score a file of predictions for a view; with runners, run them too. `runs` is the file that stores outcomes.

    `only` restricts the tasks. With a file of `references`, those of the tasks are run once on this machine, and those
    that are slow or fail here are in the result.

    Errors: SnapshotError; InputError for a view without tasks.
    """
    reader = Snapshot(snapshot)
    every = read_tasks(reader, rules.facets, running=runners is not None)
    tasks = tasks_in(every, view)
    outside = every.keys() - tasks.keys()
    if only is not None:
        tasks = {of: {f: task for f, task in by.items() if (f, of) in only} for of, by in tasks.items()}
    documents = _Documents(reader)
    answers = read_predictions(predictions, rules)
    counted = tally(tasks, answers, rules, documents.of)
    scores: dict[Any, dict[Metric, Sequence[float]]] = {key: dict(values) for key, values in counted.scores.items()}
    withdrawn = read_errata(reader)
    excluded = [_explained(each, withdrawn, outside) for each in counted.excluded]
    passes = Passes()
    doubtful: Sequence[ReferenceRun] = ()
    if runners is not None:
        sources = Sources.read(reader, [runners.engine.settings, plain(runners.project_context.rules)])
        with RunFile(runs, settings().cache / CONTROLS) as file:
            passes = run_samples(counted.samples, tasks, sources, runners, file, labelled("answers", report))
        if references:
            executed = [tasks[of][family] for family, of in passes.scores]
            doubtful = doubtful_references(executed, sources, runners, references, labelled("references", report))
        for key, values in passes.scores.items():
            scores.setdefault(key, {}).update(values)
        excluded += passes.excluded
    tasks_by_family = Counter(task.family for of_id in tasks.values() for task in of_id.values())
    answered = Counter(family for family, _ in {answered for answered, _ in counted.answers})
    rows = score_rows(scores, tasks, rules.k, rules.resamples, passes.open)
    of = {family: (answered[family], tasks_by_family[family]) for family in Family if answered[family]}
    return Scored(
        rows,
        excluded,
        counted.counted,
        of,
        scores,
        tasks,
        counted.samples,
        counted.overlong,
        passes.results,
        passes.runs if runners is not None else None,
        doubtful,
    )


def _explained(excluded: Excluded, errata: Errata, outside: Collection[str]) -> Excluded:
    """Return the exclusion of an unknown task with its erratum, or with the view that leaves it out."""
    if excluded.reason is not Exclusion.UNKNOWN_ID:
        return excluded
    if excluded.id in outside:
        return replace(excluded, reason=Exclusion.NOT_IN_VIEW, detail=Exclusion.NOT_IN_VIEW.meaning)
    erratum = errata.get(excluded.id or "")
    return replace(excluded, reason=Exclusion.WITHDRAWN, detail=erratum) if erratum else excluded


class _Documents:
    """The relevant documents of tasks; those of the snapshot are read with the first task."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @cached_property
    def _by_path(self) -> Mapping[tuple[str, str], list[ApiDocumentRow]]:
        columns = ("id", "library", "path", "canonical_path", "first_version", "last_version")
        by_path: dict[tuple[str, str], list[ApiDocumentRow]] = {}
        for row in rows_of(self._snapshot, "api_documents", columns):
            for path in {row["path"], row["canonical_path"] or row["path"]}:
                by_path.setdefault((row["library"], path), []).append(row)
        return by_path

    def of(self, task: Task) -> Collection[str]:
        """Return the ids of the documents of a task's core API in its version, under any of its public paths."""
        if document := task.row.get("document_id"):
            return {document}
        library, path, version = task.row["library"], task.row["path"], task.row["version"]
        own = holding_at([row for row in self._by_path.get((library, path), ()) if row["path"] == path], version)
        canonical = {row["canonical_path"] or path for row in own}
        others = (row for at in canonical for row in self._by_path.get((library, at), ()))
        same = [row for row in others if (row["canonical_path"] or row["path"]) in canonical]
        return {row["id"] for row in (*own, *holding_at(same, version))}


def write(scored: Scored, folder: Path, title: str, rules: ScoreRules) -> None:
    """Write the table as Parquet and CSV, the exclusions and the picture; without figures, remove an older picture.

    Errors: OSError.
    """
    write_parquet(folder / FILES[0], "scores", scored.rows)
    _write_csv(folder / FILES[1], "scores", scored.rows)
    _write_csv(folder / FILES[2], "excluded_predictions", [asdict(excluded) for excluded in scored.excluded])
    if not any(row["mean"] is not None for row in scored.rows):
        (folder / FILES[3]).unlink(missing_ok=True)
    else:
        # slow to import, and needed for the picture alone
        from pipeline.evaluation.scores.picture import scores_svg

        with replacing(folder / FILES[3]) as temporary:
            temporary.write_text(
                scores_svg(title, scored.rows, rules.facets, rules.groups_in_picture), encoding="utf-8"
            )


def _write_csv(path: Path, name: str, rows: Iterable[AnyRow]) -> None:
    declared = table(name)
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8", errors="replace") as file:
        lines = csv.DictWriter(file, [column.name for column in declared.columns], lineterminator="\n")
        lines.writeheader()
        for row in rows:
            declared.check(row)
            lines.writerow(row)
