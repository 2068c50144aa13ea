"""Reviews survive the way out and in, in both formats, and a file that is read twice adds nothing."""

from __future__ import annotations

import json
from datetime import UTC, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.annotation import DecisionKind, Objection, QueueStatus
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.quality.annotation.decisions import NewDecision, add_validation, decide
from pipeline.quality.annotation.exchange import (
    BadLine,
    Line,
    Raised,
    Ruling,
    export_lines,
    import_lines,
    read_line,
    write_line,
)
from pipeline.quality.annotation.label_studio import from_task, interface, to_task
from pipeline.quality.annotation.queue import Filter, look
from pipeline.quality.annotation.store import Store
from tests.errors import raises
from tests.quality.annotation.rows import PASSED, START, TWICE, filled, sample, store_in

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = TEXTS.filter(bool)
FIELDS = ("description", "answer")
CHANGED = st.dictionaries(st.sampled_from(FIELDS), TEXTS.map(lambda text: f"changed {text}"), min_size=1)


@st.composite
def rulings(draw: st.DrawFn) -> Ruling:
    kind = draw(st.sampled_from([kind for kind in DecisionKind if kind != DecisionKind.UNDO]))
    return Ruling(
        annotator=draw(NAMES),
        kind=kind,
        time=draw(st.datetimes(timezones=st.just(UTC))),
        objection=draw(st.sampled_from(Objection)) if kind == DecisionKind.REJECT else None,
        comment=draw(TEXTS),
        after=draw(CHANGED) if kind == DecisionKind.EDIT else {},
        seconds=draw(st.none() | st.floats(0, 1e4)),
    )


LINES = st.builds(
    Line,
    id=NAMES,
    family=st.sampled_from(Family),
    library=NAMES,
    version=NAMES,
    title=TEXTS,
    source=st.sampled_from(SnippetSource),
    status=st.sampled_from(QueueStatus),
    content=NAMES,
    flags=st.lists(st.builds(Raised, kind=st.sampled_from(FlagKind), evidence=TEXTS), max_size=3),
    texts=st.fixed_dictionaries(dict.fromkeys(FIELDS, TEXTS)),
    fields=st.just(list(FIELDS)),
    decisions=st.lists(rulings(), max_size=4),
)


@given(LINES)
def test_a_line_is_read_as_it_was_written(line: Line) -> None:
    assert read_line(write_line(line)) == line
    assert b"\n" not in write_line(line)


@given(LINES)
def test_a_task_is_read_as_it_was_written(line: Line) -> None:
    assert from_task(json.loads(json.dumps(to_task(line)))) == line


def test_an_unchanged_field_is_no_edit() -> None:
    line = read_line(write_line(_line()))
    task = to_task(line)
    results = [
        {"from_name": "decision", "to_name": "sample", "type": "choices", "value": {"choices": ["edit"]}},
        {"from_name": "edit_description", "to_name": "sample", "type": "textarea", "value": {"text": ["new"]}},
        {
            "from_name": "edit_answer",
            "to_name": "sample",
            "type": "textarea",
            "value": {"text": [line.texts["answer"]]},
        },
    ]
    task["annotations"] = [{"completed_by": 7, "result": results, "lead_time": 3.5}]
    (ruling,) = from_task(task).decisions
    assert (ruling.annotator, ruling.after, ruling.seconds) == ("label-studio:7", {"description": "new"}, 3.5)
    assert 'name="edit_description"' in interface(frozenset(line.fields))


RESULT = {"from_name": "decision", "to_name": "sample", "type": "choices", "value": {"choices": ["accept"]}}


def test_an_emptied_field_is_no_filter() -> None:
    empty = {"from_name": "comment", "to_name": "sample", "type": "textarea", "value": {"text": []}}
    task = to_task(_line()) | {"annotations": [{"completed_by": 7, "result": [RESULT, empty]}]}
    (ruling,) = from_task(task).decisions
    assert (ruling.kind, ruling.comment) == (DecisionKind.ACCEPT, "")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"created_at": "2026-11-01T12:00:00"}, "time zone"),
        ({"created_at": "0001-01-01T00:00:00+05:00"}, "out of range"),
        ({"lead_time": float("nan")}, "seconds"),
        ({"lead_time": -1.0}, "seconds"),
    ],
)
def test_invalid_numbers_are_errors(given: dict[str, object], problem: str) -> None:
    task = to_task(_line()) | {"annotations": [{"completed_by": 7, "result": [RESULT]} | given]}
    with raises(BadLine, problem, code="label_studio_task_invalid"):
        from_task(task)
    with raises(BadLine, code="decision_line_invalid"):
        read_line(write_line(_line()).replace(b'"decisions":[]', b'"decisions":[%s]' % NAIVE))


NAIVE = b'{"who":"a","kind":"accept","time":"2026-11-01T12:00:00"}'


def _line() -> Line:
    return Line(
        *("id0", Family.COMPLETION, "lib", "1.0", "lib.f", SnippetSource.DOCSTRING, QueueStatus.PENDING, "first"),
        *([], {"description": "a", "answer": "b"}, ["description"], []),
    )


@pytest.mark.parametrize(
    "task",
    [{}, [], {"data": {}}, {"data": 3}, to_task(_line()) | {"annotations": [{}]}, to_task(_line()) | {"data": []}],
)
def test_a_task_of_another_kind_is_an_error(task) -> None:
    with raises(BadLine, code="label_studio_task_invalid"):
        from_task(task)


@pytest.mark.parametrize("text", [b"", b"{}", b"[1]", b"{", b'{"id": 1}', b"\xff", b'{"id": "a", "extra": 1}'])
def test_a_line_of_another_format_is_an_error(text: bytes) -> None:
    with pytest.raises(BadLine):
        read_line(text)


def decided(folder: Path) -> Store:
    """A queue in which something of every kind was said."""
    store, clock = store_in(folder)
    filled(store, (sample(n) for n in range(5)))
    for number, said in enumerate(
        (
            NewDecision(DecisionKind.ACCEPT, comment="fine"),
            NewDecision(DecisionKind.REJECT, Objection.OTHER, "it is a joke"),
            NewDecision(DecisionKind.EDIT, after={"description": "Better.", "version": "2.0"}),
            NewDecision(DecisionKind.SKIP),
        )
    ):
        clock.turn(60)
        made = decide(store, f"id{number}", f"annotator {number}", said)
        if said.kind == DecisionKind.EDIT:
            add_validation(store, made.decision_id, PASSED)
    clock.turn(60)
    decide(store, "id0", "annotator 0", NewDecision(DecisionKind.UNDO))
    return store


@pytest.mark.parametrize("by_tasks", [False, True])
def test_decisions_come_into_another_database_once(tmp_path: Path, by_tasks: bool) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    store = decided(tmp_path / "a")
    lines = [line for line in export_lines(store, Filter()) if not (by_tasks and line.id == "id0")]
    lines = [from_task(to_task(line)) if by_tasks else read_line(write_line(line)) for line in lines]
    other, _ = store_in(tmp_path / "b")
    filled(other, (sample(n) for n in range(5)))
    imported = import_lines(other, lines, "decided.jsonl")
    assert (imported.added, imported.existing, imported.refused) == (3 if by_tasks else 5, 0, ())
    assert look(other, "id2").entry.status == QueueStatus.DRAFT
    for edit in imported.edits:
        add_validation(other, edit, PASSED)
    numbers = range(1, 5) if by_tasks else range(5)
    for number in numbers:
        mine, theirs = look(store, f"id{number}"), look(other, f"id{number}")
        assert mine.entry.status == theirs.entry.status
        assert [(d.annotator, d.time, d.kind, d.after) for d in mine.history] == [
            (d.annotator, d.time, d.kind, d.after) for d in theirs.history
        ]
    assert {decision.origin for decision in look(other, "id1").history} == {"decided.jsonl"}
    again = import_lines(other, lines, "decided.jsonl")
    assert (again.added, again.existing) == (0, imported.added)


def test_an_imported_decision_on_changed_content_is_refused(tmp_path: Path) -> None:
    store = decided(tmp_path)
    lines = list(export_lines(store, Filter()))
    filled(store, [sample(1, content="second"), *(sample(n) for n in (0, 2, 3, 4))])
    fresh = [Ruling("bob", DecisionKind.ACCEPT, content="first"), Ruling("bob", DecisionKind.REJECT)]
    imported = import_lines(store, [msgspec.structs.replace(lines[1], decisions=fresh)], "late.jsonl")
    assert imported.added == 0
    assert [why.partition(": ")[0] for why in imported.refused] == ["id1, accept by bob", "id1, reject by bob"]
    assert "has changed" in imported.refused[0]


def test_an_imported_earlier_decision_does_not_replace_a_later_one(tmp_path: Path) -> None:
    store, clock = store_in(tmp_path)
    filled(store, [sample(0)])
    (line,) = export_lines(store, Filter())
    clock.turn(3600)
    decide(store, "id0", "ann", NewDecision(DecisionKind.REJECT, Objection.BAD_CODE))
    said = [
        Ruling("bob", DecisionKind.ACCEPT, START),
        Ruling("ann", DecisionKind.UNDO, START),
        Ruling("bob", DecisionKind.ACCEPT, START + timedelta(days=9)),
        Ruling("bob", DecisionKind.COMMENT, START, comment="why?"),
    ]
    imported = import_lines(store, [msgspec.structs.replace(line, decisions=said)], "late.jsonl")
    assert (imported.added, look(store, "id0").entry.status) == (1, QueueStatus.DISCARDED)
    since = "ann has decided since, on 2026-11-01 13:00 UTC: look at it again"
    assert imported.refused == (
        f"id0, accept by bob: {since}",
        f"id0, undo by ann: {since}",
        "id0, accept by bob: it was made on 2026-11-10, which is in the future",
    )


def test_the_second_of_two_may_have_judged_before_the_first(tmp_path: Path) -> None:
    store, clock = store_in(tmp_path, TWICE)
    filled(store, [sample(0)])
    (line,) = export_lines(store, Filter())
    clock.turn(3600)
    decide(store, "id0", "ann", NewDecision(DecisionKind.ACCEPT))
    late = msgspec.structs.replace(line, decisions=[Ruling("bob", DecisionKind.ACCEPT, START)])
    assert import_lines(store, [late], "late.jsonl").refused == ()
    assert look(store, "id0").entry.status == QueueStatus.SUBMITTED


def test_an_imported_acceptance_before_a_new_flag_is_refused(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    filled(store, [sample(0)])
    (line,) = export_lines(store, Filter())
    filled(store, [sample(0, FlagKind.AUDIT, FlagKind.FLAKY)])
    line = msgspec.structs.replace(line, decisions=[Ruling("bob", DecisionKind.ACCEPT)])
    imported = import_lines(store, [line], "late.jsonl")
    assert "flagged since it was opened (flaky)" in imported.refused[0]


def test_another_reason_at_the_same_time_is_another_decision(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path)
    filled(store, [sample(0)])
    (line,) = export_lines(store, Filter())
    for reason in (Objection.BAD_CODE, Objection.BAD_CODE, Objection.BAD_TESTS):
        ruling = Ruling("bob", DecisionKind.REJECT, START, reason)
        imported = import_lines(store, [msgspec.structs.replace(line, decisions=[ruling])], "again.jsonl")
        assert imported.refused == ()
    assert [each.objection for each in look(store, "id0").history] == [Objection.BAD_CODE, Objection.BAD_TESTS]
