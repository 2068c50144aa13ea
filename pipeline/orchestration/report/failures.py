"""What a run left undone: failures with their release and what to do, and troubles that may pass by themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.run_records import RunRecord
from pipeline.lake.runner import TRANSIENT, Count
from pipeline.orchestration.failures import KILLED, REPORT_IT, Failure, InternalError


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that did not work: in which libraries, stage and release (if it was one), why, and what to do."""

    libraries: Sequence[str]
    stage: str
    release: str | None
    why: str
    advice: str


def troubles_of(
    record: RunRecord, counts: Sequence[Count], failures: Sequence[Failure], errors: Sequence[InternalError] = ()
) -> list[Trouble]:
    """Return what a run left undone: first what failed, then what broke off untold or may pass, then what raised."""
    failed = [Trouble([f.library], f.stage, f.release, f.error, f.advice) for f in failures]
    explained = {failure.library for failure in failures}
    libraries: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for library in record.libraries:
        own = [count for count in counts if count.library == library]
        for trouble in (*_broken_off(record, library, own, explained), *_passing(own)):
            libraries[trouble].append(library)
    left = [Trouble(names, stage, None, why, advice) for (stage, why, advice), names in sorted(libraries.items())]
    return [*failed, *left, *map(_raised, errors)]


def _raised(error: InternalError) -> Trouble:
    more = f" and {error.number - 1} more" if error.number > 1 else ""
    why = f"{RejectReason.INTERNAL_ERROR}: {error.key}{more}: {error.trace}"
    return Trouble([error.library], error.stage, None, why, REPORT_IT)


def _broken_off(
    record: RunRecord, library: str, counts: Sequence[Count], failed: set[str]
) -> Iterator[tuple[str, str, str]]:
    done = {count.stage for count in counts}
    missing = [stage for stage in record.stages if stage not in done]
    if missing and library not in failed:
        how = "broke off" if record.ended else "the run goes on, or was killed,"
        yield missing[0], f"{how} before this stage ended; what the library had before stands", KILLED


def _passing(counts: Sequence[Count]) -> Iterator[tuple[str, str, str]]:
    """Yield the troubles that may pass; drafts that wait are none, since the offline drafter's stand."""
    meanings = {str(reason): reason.meaning for reason in TRANSIENT - {RejectReason.DRAFT_WAITING}}
    for count in counts:
        for reason in sorted(meanings.keys() & {*count.rejected, *count.noted}):
            yield count.stage, f"{reason}: {meanings[reason]}", "run the same refresh again"
