"""The runner of stages: skips what is done, writes whole partitions, records counts, and survives being killed.

A stage is done for a library when its fingerprint is the one recorded at its last success, and its outputs are still
what they were. The fingerprint holds its inputs, rules and version number, and the declared columns of the tables that
it reads and writes. Each table is replaced in one commit, and the state of the stage is committed last. So a run that
is killed at any moment leaves a stage either done or to be done again, never half done.
"""

from __future__ import annotations

import json
import logging
import resource
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pipeline.core.credentials import cut
from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.damage import Damaged, read_state, renamed
from pipeline.lake.ids import sha256_json
from pipeline.lake.reads import Read
from pipeline.lake.rows import RejectRow, StageStateRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output, Reject, stage_of
from pipeline.lake.tables import Lake, replacing

log = logging.getLogger(__name__)

TRANSIENT = frozenset(
    {
        RejectReason.INDEX_UNREACHABLE,
        RejectReason.SOURCE_UNREACHABLE,
        RejectReason.RATE_LIMITED,
        RejectReason.NO_SPACE,
        RejectReason.DRAFT_WAITING,
    }
)
"""Reasons that may pass by themselves: a stage that met one is run again by the next refresh."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage as the runner needs it.

    `run` gets the lake, the library, and how far it came before (the `progress` of its last output, as long as rules,
    version and its tables are still the same; else None); `depends` gives whatever else the result depends on (rules,
    interpreters) as plain JSON values. A stage without `reads` looks at the outside world and is run each time.
    `partly` tells which columns and rows it reads of a table, where it does not need the whole one.
    """

    name: str
    version: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    depends: Callable[[], Any]
    run: Callable[[Lake, str, Any], Output]
    partly: Mapping[str, Read] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Count:
    """What a stage did for a library in one run: units_in = units_out + rejected + unchanged.

    Of the unchanged, `units_out_before` and `rejected_before` tell what came of them when they were looked at, if that
    was kept.
    """

    stage: str
    library: str
    units_in: int
    units_out: int
    rejected: Mapping[str, int]
    unchanged: int
    noted: Mapping[str, int] = field(default_factory=dict)
    units_out_before: int = 0
    rejected_before: Mapping[str, int] = field(default_factory=dict)
    noted_before: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    peak_memory_bytes: int = 0


_OF_ALL = ("rejects", "stage_states")
"""Tables that every stage writes."""
_STATE = frozenset({"fingerprint", "outputs", "units_in"})
_EARLIER_NAMES = {"seen": "units_in", "made": "units_out", "made_before": "units_out_before"}
"""Keys as earlier releases wrote them."""
_COUNT = frozenset({"stage", "library", "units_in", "units_out", "rejected", "unchanged"})


def run_stage(stage: Stage, library: str, lake: Lake, counts: Path) -> Count:
    """Run a stage for a library, or find that it is done; record and return its counts.

    Two processes of one machine that want the same library take turns, and the second finds the work done.

    Errors: LakeError, CONFLICT where another machine wrote to the library meanwhile; whatever the stage raises.
    """
    began = time.monotonic()
    with lake.turn(library):
        lake.refresh(*stage.reads, *stage.writes, *_OF_ALL)
        count = _run_locked(stage, library, lake)
    count = Count(
        **{**asdict(count), "seconds": round(time.monotonic() - began, 3), "peak_memory_bytes": _peak_memory()}
    )
    write_json(counts / f"{library}.{stage.name}.json", asdict(count))
    return count


def _run_locked(stage: Stage, library: str, lake: Lake) -> Count:
    fingerprint = _fingerprint(stage, library, lake)
    states = StageStates(lake, library)
    state = states.get(stage.name)
    damaged = _damaged_parts(stage, library, lake)
    for name, part in damaged:
        log.warning("%s was damaged: the stage %s makes it again.", lake.path(name, library, part), stage.name)
        lake.replace(name, library, {part: None})
    if stage.reads and state and not damaged and _is_as_left(stage, library, lake, state, fingerprint):
        return _unchanged(stage.name, library, state)
    basis = sha256_json([stage.name, stage.version, stage.depends(), _layouts(stage)])
    resumes = state and state.get("basis") == basis and _outputs(stage, library, lake) == state["outputs"]
    output = stage.run(lake, library, state.get("progress") if state and resumes else None)
    if missing := set(stage.writes) ^ {*output.tables, *output.updates}:
        raise ValueError(f"stage {stage.name} and its declared tables differ by {sorted(missing)}")
    rejects = [*output.rejects, *output.notes]
    for name, rows in output.by_table.items():
        lake.write(name, library, rows)
    for name, update in output.updates.items():
        lake.update(name, library, update)
    lake.write("rejects", library, reject_rows(stage.name, library, rejects), part=stage.name)
    outputs = _outputs(stage, library, lake)
    passing = any(reject.reason in TRANSIENT for reject in rejects)
    if not stage.reads and state and outputs == state["outputs"] and not passing:
        if output.progress != state.get("progress"):
            states.write(stage.name, {**state, "basis": basis, "progress": output.progress})
        return _unchanged(stage.name, library, state)
    noted = dict(sorted(Counter(str(note.reason) for note in output.notes).items()))
    count = Count(stage.name, library, output.units_in, output.units_out, output.reasons, 0, noted)
    ran = {
        # none equals an empty one: the next refresh tries again what failed for now
        "fingerprint": "" if passing else fingerprint,
        "inputs": _inputs(stage, library, lake),
        "outputs": outputs,
        "basis": basis,
        "progress": output.progress,
    }
    counted = {"units_in": output.units_in, "units_out": output.units_out, "rejected": output.reasons, "noted": noted}
    states.write(stage.name, ran | counted)
    return count


class StageStates:
    """The states of a library's stages, as of the last success of each: its rows of the table `stage_states`."""

    def __init__(self, lake: Lake, library: str) -> None:
        self._lake, self._library = lake, library

    def get(self, stage: str) -> Mapping[str, Any] | None:
        """Return the state of a stage, None where it never succeeded."""
        return self.all().get(stage)

    def all(self) -> dict[str, Mapping[str, Any]]:
        """Return the states by stage; none where the table is damaged, so that all stages run again."""
        try:
            rows = self._lake.read("stage_states", self._library)
        except Damaged as error:
            log.warning("%s: the stages of %s will be repeated", error, self._library)
            return {}
        states = {row["stage"]: renamed(json.loads(row["state"]), _EARLIER_NAMES) for row in rows}
        return {stage: state for stage, state in states.items() if state.keys() >= _STATE}

    def write(self, stage: str, state: Mapping[str, Any]) -> None:
        """Record the state of a stage."""
        self.write_all({stage: state})

    def write_all(self, changed: Mapping[str, Mapping[str, Any]]) -> None:
        """Record the states of some stages in one commit."""
        self._replace({**self.all(), **changed})

    def drop(self, stages: Collection[str]) -> None:
        """Remove the states of some stages in one commit."""
        self._replace({stage: state for stage, state in self.all().items() if stage not in stages})

    def _replace(self, states: Mapping[str, Mapping[str, Any]]) -> None:
        rows: list[StageStateRow] = [
            {"library": self._library, "stage": stage, "state": json.dumps(state, sort_keys=True, default=str)}
            for stage, state in states.items()
        ]
        self._lake.write("stage_states", self._library, rows)


def drop_former_stages(lake: Lake, library: str, stages: Collection[str]) -> None:
    """Remove the rejects and states of all stages but these: of those that were removed or renamed.

    Otherwise snapshots would publish the rejects of such a stage, beside those of its new name, for ever.

    Errors: LakeError.
    """
    with lake.turn(library):
        lake.refresh(*_OF_ALL)
        if parts := lake.files("rejects", library).keys() - set(stages):
            lake.replace("rejects", library, dict.fromkeys(parts))
        states = StageStates(lake, library)
        if removed := states.all().keys() - set(stages):
            states.drop(removed)


def last_counts(lake: Lake, library: str) -> list[Count]:
    """Return the counts of a library in the stages that succeeded, as of the last run of each, by today's names."""
    states = StageStates(lake, library).all()
    by_name = {stage_of(name): states[name] for name in sorted(states, key=lambda name: stage_of(name) == name)}
    return [_unchanged(stage, library, state) for stage, state in sorted(by_name.items())]


def is_done(stage: Stage, library: str, lake: Lake) -> bool:
    """Tell whether a stage has nothing to do for a library; one that looks at the outside world is never done."""
    lake.refresh(*stage.reads, *stage.writes, *_OF_ALL)
    state = StageStates(lake, library).get(stage.name) if stage.reads else None
    if state is None or not _is_as_left(stage, library, lake, state, _fingerprint(stage, library, lake)):
        return False
    return not _damaged_parts(stage, library, lake)


def behind_inputs(stages: Iterable[Stage], library: str, lake: Lake) -> list[str]:
    """Return the stages that never ran on their tables as these are now: a refresh of the library was stopped midway.

    A stage of which the code or the rules alone have changed is not behind: its rows still fit what they were made of.
    Nothing is known of a library without any record, and none of its stages is returned.
    """
    lake.refresh()
    if not (states := StageStates(lake, library).all()):
        return []
    return [stage.name for stage in stages if not _has_run_on(stage, library, lake, states.get(stage.name))]


def _has_run_on(stage: Stage, library: str, lake: Lake, state: Mapping[str, Any] | None) -> bool:
    if state is None:
        return False
    inputs = _inputs(stage, library, lake)
    # an older driftline kept no inputs
    same: bool = state.get("inputs", inputs) == inputs and _outputs(stage, library, lake) == state["outputs"]
    return same


def _is_as_left(stage: Stage, library: str, lake: Lake, state: Mapping[str, Any], fingerprint: str) -> bool:
    same: bool = state["fingerprint"] == fingerprint and _outputs(stage, library, lake) == state["outputs"]
    return same


def _damaged_parts(stage: Stage, library: str, lake: Lake) -> list[tuple[str, str]]:
    """Return the parts, each with its table, whose files are not as a stage left them."""
    return [
        (name, part)
        for name in (*stage.writes, "rejects")
        for part in lake.files(name, library)
        if (name != "rejects" or part == stage.name) and not lake.is_whole(name, library, part)
    ]


def _unchanged(stage: str, library: str, state: Mapping[str, Any]) -> Count:
    return Count(
        stage=stage,
        library=library,
        units_in=state["units_in"],
        units_out=0,
        rejected={},
        unchanged=state["units_in"],
        units_out_before=state.get("units_out", 0),
        rejected_before=state.get("rejected", {}),
        noted_before=state.get("noted", {}),
    )


def _fingerprint(stage: Stage, library: str, lake: Lake) -> str:
    inputs = {name: lake.hashes(name, library) for name in stage.reads}
    return sha256_json([stage.name, stage.version, stage.depends(), inputs, _layouts(stage)])


def _inputs(stage: Stage, library: str, lake: Lake) -> str:
    return sha256_json({name: lake.hashes(name, library) for name in stage.reads})


def _layouts(stage: Stage) -> dict[str, Any]:
    """Return the declared columns of what a stage reads and writes: with another one its rows are made again."""
    whole = {name: table(name).layout for name in (*stage.reads, *stage.writes, "rejects")}
    return whole | {name: read.layout for name, read in stage.partly.items()}


def _outputs(stage: Stage, library: str, lake: Lake) -> dict[str, Any]:
    hashes: dict[str, Any] = {name: lake.hashes(name, library) for name in stage.writes}
    return hashes | {"rejects": lake.hashes("rejects", library).get(f"{stage.name}.parquet")}


def reject_rows(stage: str, library: str, rejects: Sequence[Reject]) -> list[RejectRow]:
    """Turn rejects into rows; a second one with the same key and reason gets a number, so that none is lost."""
    rows: list[RejectRow] = []
    numbers: Counter[tuple[str, str]] = Counter()
    for reject in rejects:
        numbers[reject.key, reject.reason] += 1
        number = numbers[reject.key, reject.reason]
        key = reject.key if number == 1 else f"{reject.key} #{number}"
        rows.append({"stage": stage, "library": library, "key": key, "reason": reject.reason, "detail": reject.detail})
    return rows


def read_counts(counts: Path) -> list[Count]:
    """Read the counts of a run, in the order of their names."""
    states = (read_state(path, _COUNT, _EARLIER_NAMES) for path in sorted(counts.glob("*.json")))
    return [Count(**count) for count in states if count is not None]


def write_json(path: Path, value: object) -> None:
    """Write a value as JSON, whole or not at all, without credentials that this process knows."""
    with replacing(path) as temporary:
        temporary.write_text(cut(json.dumps(value, indent=1, sort_keys=True, default=str)) + "\n")


def _peak_memory() -> int:
    """Return the peak resident bytes of this process and of its finished children so far (getrusage counts KiB)."""
    return 1024 * max(
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    )
