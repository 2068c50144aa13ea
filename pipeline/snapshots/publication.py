"""The release record of a run: candidate, results of release checks, signature, state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pipeline.core.errors import InputError
from pipeline.core.vocabularies.release_checks import CheckKind, CheckStatus, PublicationState
from pipeline.lake.damage import read_state, renamed
from pipeline.lake.runner import write_json
from pipeline.snapshots.candidate import Candidate
from pipeline.snapshots.release_checks.release_checks import CheckResult

_RECORD = "release.json"
_EARLIER_RECORD = "publication.json"
"""Its name before 2026-11-26."""
_WAITING = frozenset({PublicationState.WAITING})
_ONLY_AFTER: Mapping[PublicationState, frozenset[PublicationState]] = {
    PublicationState.PUBLISHED: _WAITING | {PublicationState.READY, PublicationState.PUBLISHED},
    PublicationState.REFUSED: _WAITING,
    PublicationState.UNANSWERED: _WAITING,
    PublicationState.SUPERSEDED: _WAITING,
}
"""The states that end a candidate, and those before them. A new candidate may follow any state."""


@dataclass(frozen=True, slots=True)
class Signature:
    """An answer of a person, its time (ISO 8601 in UTC), note, and candidate (sha256 of its manifest)."""

    signer: str
    approved: bool
    when: str
    note: str = ""
    candidate: str = ""


def signature_of(answer: Mapping[str, Any] | None) -> Signature | None:
    """Return a person's answer in Airflow (the result of its ApprovalOperator), None without an answer."""
    if not answer:
        return None
    user, note = answer.get("responded_by_user"), answer["params_input"].get("note")
    approved, when = answer["chosen_options"] == ["Approve"], str(answer["responded_at"])
    return Signature(user["name"] if user else "nobody", approved, when, str(note or ""), answer.get("candidate", ""))


@dataclass(frozen=True, slots=True)
class Publication:
    """A release record. `changes` are sentences on differences of the candidate from the last snapshot.

    `reason` explains why nothing was published, or why it waits; `snapshot` is the name of the published snapshot.
    """

    run: str
    profile: str
    state: PublicationState
    reason: str = ""
    candidate: Candidate | None = None
    release_checks: Sequence[CheckResult] = ()
    changes: Sequence[str] = ()
    signature: Signature | None = None
    snapshot: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the record as plain values, without absolute paths."""
        values = asdict(self)
        if self.candidate is not None:
            values["candidate"] |= {"path": self.candidate.path.name}
        return values

    @property
    def asks(self) -> bool:
        """Whether it waits for approval."""
        return self.state == PublicationState.WAITING

    def is_about(self, candidate: str) -> bool:
        """Say whether its candidate's manifest has this sha256."""
        return self.candidate is not None and self.candidate.manifest_sha256 == candidate


_NEEDED = frozenset({"run", "profile", "state", "candidate", "release_checks", "signature"})


def write_publication(folder: Path, publication: Publication) -> None:
    """Write the release record into the folder of a run.

    Errors: ValueError for a state that cannot follow that of the record.
    """
    stored = _stored(folder)
    before = PublicationState(stored["state"]) if stored else None
    if before not in _ONLY_AFTER.get(publication.state, {before}):
        raise InputError(f"{folder}: {publication.state} cannot follow {before}", code="publication_state_invalid")
    write_json(folder / _RECORD, publication.as_json())


def read_publication(folder: Path, candidates: Path) -> Publication | None:
    """Return the release record of a run, None where there is none, or it is damaged."""
    if (stored := _stored(folder)) is None:
        return None
    candidate, signature = stored["candidate"], stored["signature"]
    return Publication(
        **stored
        | {
            "state": PublicationState(stored["state"]),
            "candidate": Candidate(**candidate | {"path": candidates / stored["profile"] / candidate["path"]})
            if candidate
            else None,
            "release_checks": [_check_result(result) for result in stored["release_checks"]],
            "signature": Signature(**renamed(signature, _EARLIER_NAMES)) if signature else None,
        }
    )


def _stored(folder: Path) -> dict[str, Any] | None:
    records = (read_state(folder / name, _NEEDED, _EARLIER_NAMES) for name in (_RECORD, _EARLIER_RECORD))
    return next((record for record in records if record), None)


# Names in records of builds before 2026-11-26, a status before 2026-11-29, and names before 2026-12-01.
_EARLIER_NAMES = {
    "who": "signer",
    "what": "subject",
    "standing": "status",
    "sign_off": "approval",
    "draft": "candidate",
    "gates": "release_checks",
}


def _check_result(stored: Mapping[str, Any]) -> CheckResult:
    result = CheckResult(**renamed(stored, _EARLIER_NAMES))
    return replace(
        result, kind=CheckKind(result.kind), status=CheckStatus(_EARLIER_NAMES.get(result.status, result.status))
    )
