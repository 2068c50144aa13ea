"""What an annotator does over HTTP, and what it comes to in the review database."""

from __future__ import annotations

import time
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pipeline.core.vocabularies.annotation import DecisionKind, QueueStatus
from pipeline.quality.annotation.queue import look, open_sample, progress
from tests.quality.annotation.web.conftest import Site
from tests.quality.annotation.web.demo_queue import COMPLETION


def status(site: Site, number: int) -> QueueStatus:
    return look(site.store, site.ids[number], None).entry.status


def say(person: TestClient, site: Site, number: int, **said: Any) -> Any:
    return person.post(f"/samples/{site.ids[number]}/decisions", json=said)


def outcome(person: TestClient, site: Site, number: int, decision: int) -> dict[str, Any]:
    """Wait for the run of an edit as the page does."""
    for _ in range(200):
        told: dict[str, Any] = person.get(f"/samples/{site.ids[number]}/decisions/{decision}").json()
        if told["state"] != "running":
            return told
        time.sleep(0.02)
    raise AssertionError("the run did not end")


def test_samples_are_leased_singly(site):
    ada, bob = site.person("ada"), site.person("bob")
    assert [person.post("/next", json={}).json()["id"] for person in (ada, bob, ada, bob)] == [
        site.ids[0],
        site.ids[1],
        site.ids[0],
        site.ids[1],
    ], "the one that somebody has open is free for themselves alone"
    assert ada.post(f"/samples/{site.ids[1]}/open").json() == {"open_by": "bob"}
    assert ada.post(f"/samples/{site.ids[1]}/renew").json() == {"kept": False}
    refused = say(ada, site, 1, kind="accept")
    assert (refused.status_code, refused.json()["detail"]) == (409, "bob has this sample open: take another one")
    bob.post("/release")
    assert ada.post(f"/samples/{site.ids[1]}/open").json() == {"open_by": None}
    assert say(ada, site, 1, kind="accept").status_code == 200


def test_next_follows_the_filters_to_the_end(site):
    person, found, after = site.person(), [], 0
    while True:
        asked = {"filters": {"family": "migration", "flag": "audit"}, "after": after}
        sample_id = person.post("/next", json=asked).json()["id"]
        if sample_id is None:
            break
        found.append(sample_id)
        say(person, site, site.ids.index(sample_id), kind="accept")
    assert found == site.ids[8:]


def test_decisions_have_the_status_of_their_kind(site):
    person = site.person()
    assert say(person, site, 0, kind="accept", comment="well").json()["status"] == "submitted"
    assert say(person, site, 1, kind="reject", objection="bad_tests").json()["status"] == "discarded"
    assert say(person, site, 2, kind="skip").json()["status"] == "pending"
    assert say(person, site, 3, kind="comment", comment="hm").json()["status"] == "pending"
    assert person.post("/undo").json() == {"ids": [site.ids[2]]}
    assert person.post("/undo").json() == {"ids": [site.ids[1]]}
    assert person.post("/undo").json() == {"ids": [site.ids[0]]}
    assert person.post("/undo").json() == {"ids": []}
    assert progress(site.store)[QueueStatus.PENDING] == 12
    kinds = [step.kind for step in look(site.store, site.ids[0], None).history]
    assert kinds == [DecisionKind.ACCEPT, DecisionKind.UNDO], "nothing that was said is lost"


def test_undo_takes_back_a_decision_on_many_samples_as_a_whole(site):
    person = site.person()
    say(person, site, 0, kind="accept")
    for kind in ("reject", "accept"):
        many = {"ids": site.ids[1:4], "kind": kind, "objection": "bad_tests" if kind == "reject" else None}
        person.post("/decisions", json=many)
    say(person, site, 2, kind="reject", objection="bad_tests")
    assert person.post("/undo").json() == {"ids": [site.ids[2]]}
    assert [status(site, number) for number in (1, 2, 3)] == [QueueStatus.SUBMITTED] * 3
    assert sorted(person.post("/undo").json()["ids"]) == sorted(site.ids[1:4])
    assert [status(site, number) for number in (1, 2, 3)] == [QueueStatus.DISCARDED] * 3, "the bulk before stands again"
    assert sorted(person.post("/undo").json()["ids"]) == sorted(site.ids[1:4])
    assert [status(site, number) for number in range(4)] == [QueueStatus.SUBMITTED, *[QueueStatus.PENDING] * 3]
    assert person.post("/undo").json() == {"ids": [site.ids[0]]}


def test_nobody_undoes_the_decision_of_another(site):
    say(site.person("ada"), site, 0, kind="accept")
    assert site.person("bob").post("/undo").json() == {"ids": []}
    assert status(site, 0) == QueueStatus.SUBMITTED


@pytest.mark.parametrize(
    ("said", "code", "told"),
    [
        ({"kind": "reject"}, 409, "a rejection needs a reason"),
        ({"kind": "reject", "objection": "other"}, 409, "the comment is empty"),
        ({"kind": "comment", "comment": "  "}, 409, "the comment is empty"),
        ({"kind": "edit", "after": {}}, 409, "changes nothing"),
        ({"kind": "edit", "after": {"code": COMPLETION}}, 409, "changes nothing"),
        ({"kind": "edit", "after": {"id": "x"}}, 409, "not among what can be edited"),
        ({"kind": "edit", "after": {"version": "9.9"}}, 409, "is none of 2.0.3, 2.1.0"),
        ({"kind": "edit", "after": {"code": "a\0b"}}, 409, "null byte"),
        ({"kind": "accept", "content": "what it was yesterday"}, 409, "has changed"),
        ({"kind": "accept", "flags": []}, 409, "has been flagged since it was opened"),
        ({"kind": "accept", "flags": ["ugly"]}, 422, "flags"),
        ({"kind": "comment", "comment": "a\0b"}, 409, "null byte"),
        ({"kind": "undo"}, 409, "nothing to undo"),
        ({"kind": "praise"}, 422, "kind"),
        ({"kind": "reject", "objection": "ugly"}, 422, "objection"),
        ({}, 422, "kind"),
        ({"kind": "accept", "extra": 1}, 422, "extra"),
    ],
)
def test_an_invalid_decision_is_an_error_and_changes_nothing(site, said, code, told):
    answer = say(site.person(), site, 0, **said)
    assert answer.status_code == code
    assert told in answer.json()["detail"]
    assert not look(site.store, site.ids[0], None).history


def test_bodies_that_are_no_json_are_errors(site):
    for content in (b"", b"{", b"[]", b"\xff", b'"' + b"[" * 5000):
        answer = site.person().post(
            f"/samples/{site.ids[0]}/decisions", content=content, headers={"content-type": "application/json"}
        )
        assert answer.status_code in {400, 422}, content[:10]


def test_half_a_character_is_an_error(site):
    content, headers = rb'{"kind": "comment", "comment": "\ud800"}', {"content-type": "application/json"}
    answer = site.person().post(f"/samples/{site.ids[0]}/decisions", content=content, headers=headers)
    assert (answer.status_code, "half a character" in answer.json()["detail"]) == (409, True)


def test_samples_that_are_not_there(site):
    person = site.person()
    for path in ("open", "renew", "decisions/1/run"):
        assert person.post(f"/samples/nothing/{path}").status_code == 404
    assert person.get("/samples/nothing/decisions/1").status_code == 404
    assert person.post("/samples/nothing/decisions", json={"kind": "accept"}).status_code in {404, 409}
    assert person.get(f"/samples/{site.ids[0]}/decisions/77").status_code == 404


def test_an_edit_counts_once_it_has_passed(site):
    person = site.person()
    site.runs.released.clear()
    said = say(person, site, 0, kind="edit", after={"description": "Ten times each value."}).json()
    assert said["status"] == "draft"
    path = f"/samples/{site.ids[0]}/decisions/{said['decision']}"
    assert person.get(path).json()["state"] == "running"
    site.runs.released.set()
    told = outcome(person, site, 0, said["decision"])
    assert (told["state"], told["runs"][0]["outcome"]) == ("passed", "passed")
    assert status(site, 0) == QueueStatus.SUBMITTED
    assert site.runs.seen[0]["description"] == "Ten times each value."
    assert site.runs.seen[0]["code"] == COMPLETION, "what was not edited is run too"


def test_an_edit_that_fails_stays_a_draft_with_its_reason(site):
    person = site.person()
    said = say(person, site, 0, kind="edit", after={"code": "broken"}).json()
    told = outcome(person, site, 0, said["decision"])
    assert told["state"] == "failed"
    assert told["problem"] == "in 2.1.0 it ends with: failed assertion"
    assert told["runs"][0]["detail"] == "AssertionError"
    assert status(site, 0) == QueueStatus.DRAFT


def test_a_failing_run_is_reported_and_can_be_started_again(site, monkeypatch):
    person = site.person()

    def no_sandbox(sample_id: str, after: object) -> None:
        raise RuntimeError("no sandbox works here")

    with monkeypatch.context() as patch:
        patch.setattr(site.runs, "check", no_sandbox)
        said = say(person, site, 0, kind="edit", after={"description": "Ten times."}).json()
        told = outcome(person, site, 0, said["decision"])
    assert told == {"state": "not_run", "problem": "it could not be run: no sandbox works here"}
    person.post(f"/samples/{site.ids[0]}/decisions/{said['decision']}/run")
    assert outcome(person, site, 0, said["decision"])["state"] == "passed"


def test_an_interrupted_run_is_reported_and_can_be_started_again(site):
    person = site.person()
    said = say(person, site, 0, kind="edit", after={"description": "broken"}).json()
    outcome(person, site, 0, said["decision"])
    again = say(person, site, 1, kind="edit", after={"description": "Ten times."}).json()
    outcome(person, site, 1, again["decision"])
    from pipeline.quality.annotation.database import validations

    with site.store.writing() as connection:
        connection.execute(validations.delete())
    site.app.state.site.runs.clear()
    told = person.get(f"/samples/{site.ids[1]}/decisions/{again['decision']}").json()
    assert told["state"] == "not_run"
    assert "run it again" in told["problem"]
    person.post(f"/samples/{site.ids[1]}/decisions/{again['decision']}/run")
    assert outcome(person, site, 1, again["decision"])["state"] == "passed"


def test_a_bulk_decision(site):
    ada = site.person("ada")
    open_sample(site.store, site.ids[2], "bob")
    answer = ada.post("/decisions", json={"ids": site.ids[:4], "kind": "reject", "objection": "duplicate"}).json()
    assert answer["decided"] == [site.ids[0], site.ids[1], site.ids[3]]
    assert answer["refused"] == {site.ids[2]: "bob has this sample open: take another one"}
    assert progress(site.store)[QueueStatus.DISCARDED] == 3
    for body in ({"ids": [], "kind": "accept"}, {"ids": ["x" * 65], "kind": "accept"}):
        assert ada.post("/decisions", json=body).status_code == 422
    for body in ({"ids": site.ids, "kind": "edit"}, {"ids": ["x"] * 501, "kind": "accept"}):
        assert ada.post("/decisions", json=body).status_code == 409
    assert ada.post("/decisions", json={"ids": ["nothing"], "kind": "accept"}).json()["decided"] == []
