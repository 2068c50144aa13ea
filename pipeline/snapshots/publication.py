"""How the publishing of a run stands: its draft, the gates as they were measured, who signed, what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.core.vocabularies.gates import GateKind, GateStanding, PublicationState
from pipeline.lake.damage import read_state
from pipeline.lake.runner import write_json
from pipeline.snapshots.candidate import Draft
from pipeline.snapshots.release_checks.release_checks import Gate

_RECORD = "publication.json"


@dataclass(frozen=True, slots=True)
class Signature:
    """Who answered, what, when (ISO 8601 in UTC), with which words, and to which draft (sha256 of its manifest)."""

    who: str
    approved: bool
    when: str
    note: str = ""
    draft: str = ""


def signature_of(answer: Mapping[str, Any] | None) -> Signature | None:
    """Return what a person answered in Airflow (the result of its ApprovalOperator), None where nobody has."""
    if not answer:
        return None
    who, note = answer.get("responded_by_user"), answer["params_input"].get("note")
    approved, when = answer["chosen_options"] == ["Approve"], str(answer["responded_at"])
    return Signature(who["name"] if who else "nobody", approved, when, str(note or ""), answer.get("draft", ""))


@dataclass(frozen=True, slots=True)
class Publication:
    """A publication. `changes` says in sentences how the draft differs from the last snapshot.

    `reason` says why nothing was published, or why it waits; `snapshot` is the name of what was published.
    """

    run: str
    profile: str
    state: PublicationState
    reason: str = ""
    draft: Draft | None = None
    gates: Sequence[Gate] = ()
    changes: Sequence[str] = ()
    signature: Signature | None = None
    snapshot: str | None = None

    def standing(self, *standings: GateStanding) -> list[Gate]:
        """Return the gates that stand like that."""
        return [gate for gate in self.gates if gate.standing in standings]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values; nothing in it is a path."""
        told = asdict(self)
        if self.draft is not None:
            told["draft"] |= {"path": self.draft.path.name}
        return told

    @property
    def asks(self) -> bool:
        """Whether a person has to sign it off."""
        return self.state == PublicationState.WAITING

    def is_about(self, draft: str) -> bool:
        """Say whether its draft is the one whose manifest has this sha256."""
        return self.draft is not None and self.draft.manifest_sha256 == draft


_NEEDED = frozenset({"run", "profile", "state", "draft", "gates", "signature"})


def keep_publication(folder: Path, publication: Publication) -> None:
    """Leave in the folder of a run how its publishing stands."""
    write_json(folder / _RECORD, publication.as_json())


def read_publication(folder: Path, drafts: Path) -> Publication | None:
    """Return how the publishing of a run stands, None where it was never begun, or its record is damaged."""
    if (kept := read_state(folder / _RECORD, _NEEDED)) is None:
        return None
    draft, signature = kept["draft"], kept["signature"]
    return Publication(
        **kept
        | {
            "state": PublicationState(kept["state"]),
            "draft": Draft(**draft | {"path": drafts / kept["profile"] / draft["path"]}) if draft else None,
            "gates": [_gate(gate) for gate in kept["gates"]],
            "signature": Signature(**signature) if signature else None,
        }
    )


def _gate(kept: Mapping[str, Any]) -> Gate:
    return Gate(**dict(kept) | {"kind": GateKind(kept["kind"]), "standing": GateStanding(kept["standing"])})
