"""`driftline airflow`: a local Airflow, and the refresh as its DAG run."""

from __future__ import annotations

import json as jsonlib
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from pipeline.cli.options import Families, Json, Libraries, ProfileName, Since, Sources, Until
from pipeline.cli.output import PROBLEM, fail, notify, out, print_json, progress
from pipeline.cli.refresh import as_json, print_summary, read_refresh
from pipeline.core.settings import PROJECT, settings
from pipeline.orchestration.local_airflow.client import AirflowError, Client
from pipeline.orchestration.local_airflow.home import Server, home
from pipeline.orchestration.local_airflow.server import down, free_port, running, serving, up
from pipeline.orchestration.publishing.publish_snapshot import publication_of, published_of
from pipeline.orchestration.refresh import Refresh, plan
from pipeline.orchestration.stages.groups import GROUPS

DAG, PUBLISH = "refresh", "publish"
ASSET_TASK = "pin_lake"
"""The task of the refresh that updates the asset which triggers `publish`."""
PORT = 8974

app = typer.Typer(no_args_is_help=True)


@app.callback()
def local_airflow() -> None:
    """Start, follow and end a local Airflow on loopback."""


@app.command("up")
def start(
    port: Annotated[
        int, typer.Option(help="Port of the page; 0 takes a free one.", envvar="DRIFTLINE_AIRFLOW_PORT")
    ] = PORT,
) -> None:
    """Start Airflow with its web page, in the background.

    Example: driftline airflow up --port 9000
    """
    try:
        server = up(home(), port or free_port(), notify)
    except AirflowError as error:
        fail(error)
    password = jsonlib.loads(server.passwords.read_text())["admin"]
    out.print(f"Airflow is at [bold]{server.url}[/bold], user admin, password {password}")
    out.print("`make down` ends it.")


@app.command("down")
def stop() -> None:
    """End Airflow with all its processes.

    Example: driftline airflow down
    """
    out.print("Airflow is down." if down(home()) else "There was no Airflow to end.")


@app.command("refresh")
def refresh(
    libraries: Libraries = "",
    since: Since = None,
    until: Until = None,
    profile: ProfileName = "starter",
    families: Families = "",
    sources: Sources = "",
    json: Json = False,
) -> None:
    """Run the refresh DAG in Airflow and follow it; starts an Airflow for as long as it takes, if none runs.

    Example: driftline airflow refresh --profile starter
    """
    request = read_refresh(libraries, since, until, profile, families, sources)
    planned = plan(request)
    try:
        with serving(home(), notify) as server:
            run, state = _run(server, request, planned)
            waits = follow_publish(Client(server), run, notify)
    except AirflowError as error:
        fail(error)
    done = Refresh(run, profile, request.libraries, since, until)
    published = published_of(done)
    if json:
        print_json(as_json(done, published))
    else:
        print_summary(done, published)
    publication = publication_of(done)
    problems = [waits] if waits else []
    if published is None and publication is not None and publication.reason:
        problems.append(publication.reason)
    if published is None and not problems:
        problems.append(f"nothing was published; the logs are in {home() / 'logs'}")
    if state != "success":
        problems.append(f"the DAG run {run} ended as {state}; its logs are in {home() / 'logs'}")
    if problems:
        fail("\n".join(problems), PROBLEM)


@app.command("alert")
def alert() -> None:
    """Send a test alert to all receivers in curation_rules/alerts.yaml.

    Example: driftline airflow alert
    """
    command = [sys.executable, "-m", "pipeline.orchestration.alerts.trial"]
    with progress("telling the receivers"):
        done = subprocess.run(
            command, env=Server(home(), 0).environment(), cwd=PROJECT, capture_output=True, text=True, check=False
        )
    if done.returncode:
        fail(done.stderr.strip()[-2000:], done.returncode)
    number = done.stdout.split()[-1]
    out.print(f"logged, appended to {settings().alerts}, and sent to {number} receivers of alerts.yaml", markup=False)


@app.command("status")
def status() -> None:
    """Say whether an Airflow runs here, and where.

    Example: driftline airflow status
    """
    server = running(home())
    out.print(f"Airflow is at {server.url}" if server else "No Airflow runs here.")
    raise typer.Exit(0 if server else PROBLEM)


def _run(server: Server, request: Refresh, planned: list[str]) -> tuple[str, str]:
    client = Client(server)
    conf = {
        "profile": request.profile,
        "libraries": list(request.libraries) or None,
        "since": request.since,
        "until": request.until,
        "families": list(request.families) or None,
        "sources": list(request.sources) or None,
    }
    run = client.trigger(DAG, conf)
    notify(f"DAG run {run} at {server.url}/dags/{DAG}")
    states: list[str] = []
    reported: set[str] = set()
    total = len(planned) * len(GROUPS)
    with progress("refresh", total) as report:
        for state, tasks in client.follow(DAG, run):
            states = [state]
            for line in news(tasks, planned):
                if line not in reported:
                    reported.add(line)
                    notify(line)
            done = sum(task["state"] in ("success", "skipped") and _group(task) is not None for task in tasks)
            waiting = "waiting for the end of an earlier run" if state == "queued" else "refresh"
            report(", ".join(at_work(tasks, planned)) or waiting, done, total)
    return run, states[-1]


def follow_publish(client: Client, run: str, report: Callable[[str], None]) -> str | None:
    """Follow the run of `publish` that a run of `refresh` started, and return a message where a person has to answer.

    No process waits for a person: Airflow resumes by itself, at the latest after its next start.
    """
    publish_run = client.started_by(DAG, run, ASSET_TASK, PUBLISH)
    if publish_run is None:
        return None
    report(f"DAG run {publish_run} at {client.server.url}/dags/{PUBLISH}")
    return waits_for_person(client, publish_run)


def waits_for_person(client: Client, run: str) -> str | None:
    """Follow a run of `publish` to its end, or until it or an earlier one needs an answer of a person."""
    for _, tasks in client.follow(PUBLISH, run):
        open_requests = client.open_requests(PUBLISH)
        if open_requests and not any(task["state"] in _AT_WORK for task in tasks):
            which = "; ".join(f"{request['subject']} in the run {_run_of(request)}" for request in open_requests)
            return f"a person has to answer at {client.server.url}/required_actions, or by `driftline publish`: {which}"
    return None


_AT_WORK = frozenset({"running", "queued", "scheduled", "up_for_retry"})


def _run_of(request: Mapping[str, Any]) -> str:
    return str(request["task_instance"]["dag_run_id"])


def news(tasks: list[dict[str, Any]], planned: list[str]) -> list[str]:
    """Return a line for each group of stages of a library that is finished, failed, or waiting for another try."""
    words = {"success": "done", "failed": "failed", "up_for_retry": "to be tried again"}
    return [
        f"{library}: {group} {words[task['state']]}" + ("" if task["try_number"] < 2 else f", try {task['try_number']}")
        for task in tasks
        if (group := _group(task)) and (library := _library(task, planned)) and task["state"] in words
    ]


def at_work(tasks: list[dict[str, Any]], planned: list[str]) -> list[str]:
    """Return the running groups of stages by library."""
    return sorted(
        f"{_library(task, planned)}: {group}"
        for task in tasks
        if task["state"] == "running" and (group := _group(task))
    )


def _group(task: dict[str, Any]) -> str | None:
    name = str(task["task_id"]).removeprefix("collect.")
    return name if name in GROUPS else None


def _library(task: dict[str, Any], planned: list[str]) -> str | None:
    """Return a task's library; Airflow itself renders the name only when the task has ended."""
    number = int(task["map_index"])
    return planned[number] if 0 <= number < len(planned) else None
