"""`driftline review` for one person: who has the address gets in, and nobody else on this machine or beyond it."""

from __future__ import annotations

import socket

import pytest
from fastapi.testclient import TestClient

from pipeline.quality.annotation.web.single_user import TokenInAddress, alone, listen
from tests.errors import raises
from tests.quality.annotation.web.conftest import Site

BASE = "http://127.0.0.1:8300"


@pytest.fixture
def door() -> TokenInAddress:
    return TokenInAddress("ada")


@pytest.fixture
def client(site: Site, door: TokenInAddress) -> TestClient:
    return TestClient(alone(site.store, site.runs, door), base_url=BASE, follow_redirects=False)


def test_the_token_is_exchanged_for_a_cookie(client, door, site):
    answer = client.get(f"/?token={door.token}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert door.token not in cookie, "whoever sees a request of the browser cannot hand on the address"
    assert client.get("/").status_code == 200
    assert client.get(f"/samples/{site.ids[0]}").status_code == 200
    assert "ada" in client.get("/").text


@pytest.mark.parametrize("token", ["", "x", "é", "\0"])
def test_another_token_lets_nobody_in(client, token):
    answer = client.get("/", params={"token": token})
    assert answer.status_code == 401
    assert "driftline review" in answer.text
    assert "set-cookie" not in answer.headers


def test_a_cookie_of_another_run_lets_nobody_in(client, door, site):
    client.get(f"/?token={door.token}")
    later = TestClient(alone(site.store, site.runs, TokenInAddress("ada")), base_url=BASE, cookies=client.cookies)
    assert later.get("/").status_code == 401


def test_a_token_in_the_address_decides_nothing(client, door, site):
    path = f"/samples/{site.ids[0]}/decisions?token={door.token}"
    assert client.post(path, json={"kind": "accept"}).status_code == 303


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "169.254.0.1"])
def test_other_names_of_this_machine_are_not_answered(client, door, host):
    """DNS rebinding: a page of another site whose name suddenly leads here."""
    client.get(f"/?token={door.token}")
    assert client.get("/", headers={"host": host}).status_code == 400


def test_it_listens_on_loopback_alone():
    with listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        with raises(OSError, "in use"):
            listen(listening.getsockname()[1])
        assert listening.proto == socket.IPPROTO_TCP, "else asyncio lets what it sends wait for acknowledgements"
