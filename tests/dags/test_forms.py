"""What a person sees of the DAG `refresh`: its documentation, the form of a single run, and Airflow's backfill.

The DAG is paused, so that runs are made and none is worked on: forms and what they hand over are the subject here. The
pictures of the documentation are made by DRIFTLINE_SCREENSHOTS=docs/airflow.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from pipeline.lake.run_records import RunRecord
from pipeline.lake.runner import Count, write_json
from pipeline.orchestration.failures import StageFailed, run_recorded
from pipeline.orchestration.local_airflow.client import Client
from pipeline.orchestration.local_airflow.home import Server
from pipeline.orchestration.local_airflow.server import down, free_port, up
from pipeline.orchestration.refresh import checked
from pipeline.orchestration.run_parameters import filled_in
from tests.quality.annotation.web.browser import chromium, picture

pytestmark = pytest.mark.slow(minutes=1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Airflow as `make up` starts it, with its weekly schedule, and with paused DAGs."""
    folder = tmp_path_factory.mktemp("forms")
    own = {
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True",
        "DRIFTLINE_DATA": str(folder / "data"),
        "DRIFTLINE_INDEX_URL": "http://127.0.0.1:1/simple",
    }
    with pytest.MonkeyPatch.context() as environment:
        for name, value in own.items():
            environment.setenv(name, value)
        try:
            yield up(folder / "airflow", free_port(), print)
        finally:
            down(folder / "airflow")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def signed_in(browser: Browser, server: Server) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 1450}, timezone_id="UTC", locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{server.url}/dags/refresh")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(json.loads(server.passwords.read_text())["admin"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Trigger Dag")).to_be_visible()
    yield page
    context.close()


@pytest.fixture
def page(signed_in: Page, server: Server) -> Page:
    """The page of the DAG."""
    signed_in.goto(f"{server.url}/dags/refresh")
    return signed_in


def form(page: Page) -> Locator:
    page.get_by_role("button", name="Trigger Dag").click()
    shown = page.get_by_role("dialog")
    expect(shown.locator("#element_libraries")).to_be_visible()
    return shown


def pick(page: Page, shown: Locator, number: int, *values: str) -> None:
    """Pick values in one of the boxes with a list: profile, families, sources."""
    for value in values:
        shown.get_by_role("combobox").nth(number).fill(value)
        page.get_by_role("option").first.click()


def runs(server: Server, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Client(server).call("GET", f"dags/refresh/dagRuns?run_type={kind}")["dag_runs"]
    return found


def stay_paused(shown: Locator) -> None:
    shown.get_by_text("Unpause refresh on trigger").click()
    expect(shown.get_by_label("Unpause refresh on trigger")).not_to_be_checked()


def test_a_single_run_gets_what_its_form_says(page: Page, server: Server) -> None:
    page.get_by_role("button", name="Dag Docs").click()
    expect(page.get_by_role("dialog")).to_contain_text("Past weeks: Trigger, Backfill.")
    page.keyboard.press("Escape")

    shown = form(page)
    stay_paused(shown)
    shown.locator("#element_libraries").fill("flask\nclick")
    shown.locator("#element_since").fill("2026-11-02")
    shown.locator("#element_until").fill("2026-11-16")
    pick(page, shown, 1, "problems", "scenes")
    pick(page, shown, 2, "downstream")
    picture(page, "trigger_form")

    shown.locator("#element_libraries").fill("flask\nnot a name")
    submit = shown.get_by_test_id("trigger-dag-submit")
    submit.press("Enter")
    expect(shown).to_contain_text("Invalid input for param libraries: 'not a name' does not match")
    picture(page, "mistake")
    assert runs(server, "manual") == []

    shown.locator("#element_libraries").fill("flask\nclick \n")
    submit.press("Enter")  # what is told of the mistake lies over the button
    page.wait_for_url("**/dags/refresh/runs/manual__*")
    (run,) = runs(server, "manual")
    assert run["state"] == "queued"
    assert run["conf"] == {
        "profile": "starter",
        "libraries": ["flask", "click ", ""],
        "since": "2026-11-02",
        "until": "2026-11-16",
        "families": ["problems", "scenes"],
        "sources": ["downstream"],
    }
    asked = checked(filled_in(run["conf"]), run["dag_run_id"])
    assert (asked.libraries, asked.families, asked.sources) == (
        ("flask", "click"),
        ("problems", "scenes"),
        ("downstream",),
    )


def test_a_backfill_is_a_run_for_each_week(page: Page, server: Server) -> None:
    form(page).get_by_text("Run this Dag for a range of dates").click()
    shown = page.get_by_role("dialog").filter(has_text="Run Backfill")
    for number, day in enumerate(("2026/09/07", "2026/10/26")):
        shown.get_by_test_id("datetime-input").nth(number).click()
        box = page.get_by_placeholder("YYYY/MM/DD").locator("visible=true")
        box.fill(day)
        box.press("Enter")
        page.keyboard.press("Escape")
        expect(box).to_be_hidden()
    expect(shown).to_contain_text("8 runs will be triggered.")
    expect(shown.get_by_label("Missing Runs")).to_be_checked()
    expect(shown.locator("[name=max_active_runs]")).to_have_value("1")
    picture(page, "backfill")
    stay_paused(shown)
    shown.get_by_role("button", name="Run Backfill").click()
    expect(page.get_by_text("Backfill in progress")).to_be_visible()
    made = runs(server, "backfill")
    weeks = sorted((run["data_interval_start"], run["data_interval_end"]) for run in made)
    mondays = [f"{datetime(2026, 9, 7, 3) + timedelta(days=7 * week):%Y-%m-%dT%H:%M:%SZ}" for week in range(9)]
    assert weeks == list(pairwise(mondays))
    assert {run["state"] for run in made} == {"queued"}


def test_the_status_page_is_searched_and_its_button_runs_failures_again(page: Page, server: Server) -> None:
    """The page in Airflow's own frame, from its navigation."""
    client = Client(server)
    run = client.call("POST", "dags/refresh/dagRuns", {"logical_date": None, "conf": {}})["dag_run_id"]
    path = f"dags/refresh/dagRuns/{quote(run, safe='')}"
    client.call("PATCH", path, {"state": "failed"})  # its tasks are skipped
    client.call("PATCH", f"{path}/taskInstances/plan", {"new_state": "failed"})
    record = RunRecord(
        run, "starter", ("click", "flask"), ("crawl", "surface"), None, None, "2026-11-16T03:00:00+00:00"
    )
    folder = Path(os.environ["DRIFTLINE_DATA"]) / "runs" / "one"
    write_json(folder / "run.json", asdict(record) | {"ended": "2026-11-16T04:00:00+00:00"})

    def breaks() -> Count:
        raise ConnectionError("no answer")

    with pytest.raises(StageFailed):
        run_recorded(run, folder, "flask", "crawl", breaks)
    page.goto(server.url)
    page.get_by_role("button", name="Plugins").click()
    page.get_by_role("menuitem", name="Driftline status").click()
    shown = page.frame_locator("iframe")
    expect(shown.get_by_role("heading", name="ConnectionError")).to_be_visible()
    picture(page, "status")
    shown.get_by_label("Search").fill("flask")
    shown.get_by_role("button", name="Show").click()
    expect(shown.get_by_role("cell", name="click", exact=True)).to_have_count(0)
    expect(shown.get_by_role("cell", name="flask", exact=True)).to_have_count(2)
    assert client.call("GET", path)["state"] == "failed"
    shown.get_by_role("button", name="Run failures again").click()
    expect(shown.get_by_role("button", name="Run failures again")).to_have_count(0)
    assert client.call("GET", path)["state"] == "queued"
