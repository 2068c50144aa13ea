"""What is kept of a person's answer."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pipeline.snapshots.publication import Signature, signature_of


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
                "draft": "a" * 64,
            },
            Signature("ada", approved=True, when="2026-11-22 00:00:00+00:00", note="fine", draft="a" * 64),
        ),
        (
            {"chosen_options": ["Reject"], "params_input": {}, "responded_at": "2026", "responded_by_user": None},
            Signature("nobody", approved=False, when="2026"),
        ),
    ],
)
def test_what_airflow_says_of_an_answer(answer: dict[str, object] | None, signature: Signature | None) -> None:
    assert signature_of(answer) == signature
