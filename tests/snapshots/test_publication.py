"""Release records: answers of people, and the names of earlier builds."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.core.vocabularies.release_checks import CheckKind, CheckStatus, PublicationState
from pipeline.snapshots.candidate import Candidate
from pipeline.snapshots.publication import Publication, Signature, read_publication, signature_of
from pipeline.snapshots.release_checks.release_checks import CheckResult


@pytest.mark.parametrize(
    ("answer", "signature"),
    [
        (None, None),
        (
            {
                "chosen_options": ["Approve"],
                "params_input": {"note": "fine"},
                "responded_at": datetime(2026, 11, 22, tzinfo=UTC),
                "responded_by_user": {"id": "1", "name": "ada"},
                "candidate": "a" * 64,
            },
            Signature("ada", approved=True, when="2026-11-22 00:00:00+00:00", note="fine", candidate="a" * 64),
        ),
        (
            {"chosen_options": ["Reject"], "params_input": {}, "responded_at": "2026", "responded_by_user": None},
            Signature("nobody", approved=False, when="2026"),
        ),
    ],
)
def test_what_airflow_says_of_an_answer(answer: dict[str, object] | None, signature: Signature | None) -> None:
    assert signature_of(answer) == signature


def test_records_of_earlier_builds_are_read_by_the_new_names(tmp_path: Path) -> None:
    result = CheckResult(CheckKind.LOST, "scenes", 0.2, 120, "at most 10%", CheckStatus.APPROVAL)
    candidate = Candidate(tmp_path / "mine" / "mine-2026-11-22.a", "mine", "mine-2026-11-22", "a" * 64, None, {})
    signature = Signature("ada", approved=False, when="2026-11-22", candidate="a" * 64)
    state = PublicationState.WAITING
    record = Publication("run", "mine", state, "why", candidate, [result], ["1 row came"], signature)
    stored = record.as_json()
    (earlier,) = stored["release_checks"]
    earlier |= {"what": earlier.pop("subject"), "standing": "sign_off"}
    del earlier["status"]
    stored |= {"draft": stored.pop("candidate"), "gates": stored.pop("release_checks")}
    stored["signature"]["draft"] = stored["signature"].pop("candidate")
    (tmp_path / "release.json").write_text(json.dumps(stored))
    assert read_publication(tmp_path, tmp_path) == record
