"""Nobody gets in unseen: each route asks who it is, whether they may, and whether our own page sent it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from pipeline.core.vocabularies.annotation import DecisionKind, QueueStatus
from pipeline.quality.annotation.queue import progress
from pipeline.quality.annotation.web.access import Annotator, PageKeys, authorise, page_token
from pipeline.quality.annotation.web.app import create_app
from tests.quality.annotation.web.conftest import HOST, KEYS, Site

ACCEPT = {"kind": "accept"}


def routes(app: FastAPI) -> list[APIRoute]:
    """Every route; one of another kind (a mount, a file server) would have no door, and fails the test."""
    assert all(isinstance(route, APIRoute) for route in app.routes), app.routes
    return [route for route in app.routes if isinstance(route, APIRoute)]


def calls(dependant: Dependant) -> Iterator[object]:
    yield dependant.call
    for below in dependant.dependencies:
        yield from calls(below)


def address(route: APIRoute, site: Site) -> str:
    values = {"sample_id": site.ids[0], "decision_id": "1", "requested_edition": "0", "name": "style.css"}
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], route.path)


def test_each_route_has_the_door(site):
    result = routes(site.app)
    assert len(result) >= 14
    for route in result:
        assert authorise in set(calls(route.dependant)), route.path


def test_no_route_answers_nobody_and_none_changes_anything_for_a_viewer(site):
    for route in routes(site.app):
        for method in route.methods:
            nobody = TestClient(site.app).request(method, address(route, site), json={})
            assert nobody.status_code == 401, (method, route.path)
            if method not in {"GET", "HEAD"}:
                token = page_token(Annotator("eve", decides=False), KEYS)
                viewer = {"x-test-user": "viewer eve", "origin": f"http://{HOST}", "x-driftline-token": token}
                told = TestClient(site.app, headers=viewer).request(method, address(route, site), json={})
                assert told.status_code == 403, (method, route.path)
                assert "may look, and not decide" in told.text


def test_an_application_without_sign_in_admits_nobody(site):
    app = create_app(site.store, site.runs, lambda: None, KEYS)
    app.dependency_overrides.clear()
    assert TestClient(app).get("/").status_code == 401


def test_unknown_addresses_have_an_empty_answer(site):
    for path in ("/docs", "/openapi.json", "/redoc", "/static/", "/static/0/../app.py", "/samples"):
        assert site.person().get(path).status_code == 404, path


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"http://{HOST}:8000"},
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"x-driftline-token": ""},
        {"x-driftline-token": page_token(Annotator("bob", decides=True), KEYS)},
        {"x-driftline-token": page_token(Annotator("ada", decides=True), PageKeys(b"another secret"))},
        {"x-driftline-token": "é"},
    ],
)
def test_a_request_of_another_site_is_refused_on_each_route(site, headers):
    person = site.person()
    for route in routes(site.app):
        for method in route.methods - {"GET", "HEAD"}:
            encoded = {name: value.encode() for name, value in headers.items()}
            assert person.request(method, address(route, site), json={}, headers=encoded).status_code == 403
    assert progress(site.store)[QueueStatus.PENDING] == len(site.ids)


def test_a_form_of_another_site_cannot_be_read_as_a_decision(site):
    sent = site.person().post(
        f"/samples/{site.ids[0]}/decisions", content='{"kind": "accept"}', headers={"content-type": "text/plain"}
    )
    assert sent.status_code == 422


def test_pages_are_no_part_of_another_site_but_may_be_linked_to(site):
    person = site.person()
    part = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert person.get("/", headers=part).status_code == 403
    answer = person.get("/", headers=link)
    assert answer.status_code == 200
    assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]


def test_our_own_page_may_decide_also_behind_a_proxy(site):
    app = create_app(site.store, site.runs, lambda: Annotator("ada", True), PageKeys(b"s", "review.example:8443"))
    token = page_token(Annotator("ada", True), PageKeys(b"s"))
    headers = {"origin": "https://review.example:8443", "x-driftline-token": token, "sec-fetch-site": "same-origin"}
    sent = TestClient(app, headers=headers).post(f"/samples/{site.ids[0]}/decisions", json=ACCEPT)
    assert sent.json()["status"] == QueueStatus.SUBMITTED


def test_the_headers_stand_on_every_answer(site):
    for path in ("/", f"/samples/{site.ids[0]}", "/nowhere", "/static/0/style.css"):
        headers = site.person().get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_an_annotator_is_the_signed_in_name_and_not_the_sent_one(site):
    sent = site.person("ada").post(f"/samples/{site.ids[0]}/decisions", json={**ACCEPT, "who": "bob"})
    assert sent.status_code == 422
    site.person("ada").post(f"/samples/{site.ids[0]}/decisions", json=ACCEPT)
    page = site.person("bob").get(f"/samples/{site.ids[0]}").text
    assert "ada: <strong>accept</strong>" in page
    assert DecisionKind.ACCEPT in page


@pytest.mark.parametrize(
    "headers", [{"content-length": str(9 << 20)}, {"content-length": "many"}, {"transfer-encoding": "chunked"}]
)
def test_nobody_fills_the_memory(site, headers):
    """Bodies are read before anybody is asked who they are."""

    def endless() -> Iterator[bytes]:
        yield b"{"
        raise AssertionError("it is read")

    answer = TestClient(site.app).post(
        "/next", content=endless() if "transfer-encoding" in headers else b"{}", headers=headers
    )
    assert answer.status_code == 413
