"""The proofs of a snapshot's rows as runs: code, tests or probe of each, and its environment or project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.planning import Sources
from pipeline.evaluation.scores.runs import CaseRun, ProjectRun, Run
from pipeline.evaluation.scores.tasks import rows_of
from pipeline.execution.validation.cases import Case
from pipeline.families.all_families import BY_NAME
from pipeline.families.family import Example, InstanceFamily, Probed, ProjectTests, Proof, Proofs
from pipeline.lake.ids import content_id
from pipeline.lake.rows import AnyRow
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot

Place = tuple[str, bool]
"""Place of a run: the id of a lock, or that of a project (True)."""


@dataclass(frozen=True, slots=True)
class ProbeRun(Run):
    """A probe of an API path in the environment of a lock."""

    lock_id: str
    path: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A published row that was executed, and the runs that must pass for it to survive.

    The first run has the row's own version; `missing` names rows that the snapshot lacks to run it.
    """

    family: Family
    id: str
    library: str
    version: str
    runs: tuple[Run, ...]
    missing: str | None = None

    @property
    def places(self) -> tuple[Place, ...]:
        """The distinct places of its runs."""
        return tuple(dict.fromkeys(place_of(run) for run in self.runs))

    @property
    def probed(self) -> bool:
        """Whether a probe is its proof, without code to run."""
        return any(isinstance(run, ProbeRun) for run in self.runs)


def place_of(run: Run) -> Place:
    """Return the place of a run."""
    if isinstance(run, ProjectRun):
        return run.project_id, True
    if isinstance(run, (CaseRun, ProbeRun)):
        return run.lock_id, False
    raise TypeError(f"no place for a {type(run).__name__}")


def read_references(snapshot: Snapshot, library: str, settings: Any) -> tuple[list[Reference], Sources]:
    """Return the executed rows of a library as references, and the rows that their runs need.

    Families without runs are left out: block completions, and contexts, which are views of completions.

    Errors: SnapshotError.
    """
    sources = Sources.read(snapshot, settings, library)
    return [_reference(*each, sources) for each in _rows(snapshot, library)], sources


def _rows(snapshot: Snapshot, library: str) -> Iterator[tuple[InstanceFamily, Proofs[Any], AnyRow]]:
    for family in map(BY_NAME.__getitem__, Family):
        if family.proofs is not None:
            columns = (family.key, "library", family.version, *family.proofs.columns)
            for row in rows_of(snapshot, family.table, columns, library=library):
                yield family, family.proofs, row


def _reference(family: InstanceFamily, proofs: Proofs[Any], row: AnyRow, sources: Sources) -> Reference:
    runs, missing = [], None
    try:
        runs = [_run((family.name, row[family.key]), proof, sources) for proof in proofs.runs(row)]
    except SnapshotError as error:
        missing = str(error)
    return Reference(family.name, row[family.key], row["library"], row[family.version], tuple(runs), missing)


def _run(answered: tuple[Family, str], proof: Proof, sources: Sources) -> Run:
    if isinstance(proof, Probed):
        key = content_id("probe", proof.lock_id, proof.path)
        return ProbeRun(answered, "", Metric.PASS, key, False, proof.lock_id, proof.path)
    if isinstance(proof, ProjectTests):
        # the reference is in the files of the project
        project = sources.projects.get(proof.project_id)
        state = (project["lock_id"], project["sha256"]) if project else (None, None)
        key = content_id(proof.project_id, *state, proof.tests, sources.settings)
        return ProjectRun(answered, "", Metric.PASS, key, False, proof.project_id, proof.path, _unchanged, proof.tests)
    if isinstance(proof, Example):
        row = sources.example(proof.id)
        case = Case("", row["preamble"], row["code"], tuple(row["checks"]))
    else:
        case = proof.case
    environment = sources.environments.get(proof.lock_id)
    named = replace(case, import_names=tuple(environment["import_names"]) if environment else ())
    key = content_id(proof.lock_id, asdict(named), sources.settings)
    return CaseRun(answered, "", Metric.PASS, key, False, proof.lock_id, replace(named, id=key))


def _unchanged(text: str) -> str:
    return text
