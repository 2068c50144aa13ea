"""Changes that comparing sources found, run: the paths of each in both releases, in their pinned environments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.core.vocabularies.changes import LIVES_ON, REPLACEABLE_APIS
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.execution.environments.resolution.request import Wanted
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.probes import probe
from pipeline.families.proof import Runs
from pipeline.lake.schema import Row
from pipeline.lake.stage import Reject
from pipeline.orchestration.adhoc import NoAnswerError, Tell
from pipeline.orchestration.resources.resources import House
from pipeline.quality.acceptance.changes import prove_changes


def run_changes(
    changes: Sequence[Row], house: House, tell: Tell = lambda what, done, total: None
) -> list[Row | Reject]:
    """Return each change as running both releases shows it, or the reject LABEL_REFUTED, in the order given.

    Paths are imported in both releases, and calls are bound to the signatures that stand there (`prove_changes`). What
    running shows has the evidence `executed`. A replacement that the new release lacks is left out of its change.

    Errors: NoAnswerError for a release that has no environment here.
    """
    if not changes:
        return []
    library, versions = changes[0]["library"], [changes[0][side] for side in ("old_version", "new_version")]
    paths = sorted({path for change in changes for path in _paths(change)})
    verdicts: list[Row] = []
    for version in versions:
        tell(f"running {library} {version}", 0, 0)
        row = house.environments.build(Wanted(library, version))
        if row["outcome"] != EnvironmentOutcome.BUILT:
            raise NoAnswerError(f"{library} {version} has no environment: {row['outcome']}: {row['detail']}")
        found = probe(house.environments.open(row), paths, find_sandbox(), house.rules.validation)
        for path, result in found.items():
            of_path = {"id": path, "subject_id": path, "version": version}
            verdicts.append(of_path | {"outcome": result.outcome, "seen": result.seen})
    runs = Runs(verdicts)
    return prove_changes([_with_replacement(change, runs) for change in changes], runs)


def _paths(change: Row) -> Iterator[str]:
    yield change["path"]
    if change["kind"] in LIVES_ON:
        yield change["new"]
    if _is_own(change["replacement"], change):
        yield change["replacement"]


def _is_own(replacement: str | None, change: Row) -> bool:
    """Return whether a stated replacement is a path of the same package: other words cannot be imported."""
    top = f"{change['path'].partition('.')[0]}."
    return bool(replacement) and change["kind"] in REPLACEABLE_APIS and str(replacement).startswith(top)


def _with_replacement(change: Row, runs: Runs) -> Row:
    lacks = runs.outcome(change["replacement"] or "", change["new_version"]) == Outcome.API_MISSING
    return change | {"replacement": None} if lacks and _is_own(change["replacement"], change) else change
