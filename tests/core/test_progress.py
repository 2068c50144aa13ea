"""Progress with a label."""

from __future__ import annotations

from pipeline.core.progress import labelled


def test_a_label_stands_before_each_step() -> None:
    reported: list[tuple[str, int, int]] = []
    labelled("answers", lambda *step: reported.append(step))("demo 2.0", 1, 3)
    assert reported == [("answers: demo 2.0", 1, 3)]
