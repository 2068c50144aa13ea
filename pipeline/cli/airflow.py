"""`driftline airflow`: a local Airflow, and the refresh as its DAG run."""

from __future__ import annotations

import json as jsonlib
from collections import Counter
from typing import Annotated, Any

import typer

from pipeline.airflow import AirflowError, Client, Server, down, home, running, serving, up
from pipeline.cli.output import PROBLEM, fail, out, print_json, say
from pipeline.cli.refresh import Json, Libraries, ProfileName, Since, Until, read_refresh
from pipeline.cli.summary import as_json, print_summary
from pipeline.refresh import Refresh, counts_of, plan, published_of

DAG = "refresh"
PORT = 8974

app = typer.Typer(help="A local Airflow on loopback, with sqlite.", no_args_is_help=True)


@app.command("up")
def start(
    port: Annotated[int, typer.Option(help="Port of the page.", envvar="DRIFTLINE_AIRFLOW_PORT")] = PORT,
) -> None:
    """Start Airflow with its web page, in the background.

    Example: driftline airflow up --port 9000
    """
    try:
        server = up(home(), port, say)
    except AirflowError as error:
        fail(str(error))
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
    json: Json = False,
) -> None:
    """Run the refresh DAG in Airflow and follow it; starts an Airflow for as long as it takes, if none runs.

    Example: driftline airflow refresh --profile starter
    """
    asked = read_refresh(libraries, since, until, profile)
    plan(asked)
    try:
        with serving(home(), say) as server:
            run, state = _run(server, asked)
    except AirflowError as error:
        fail(str(error))
    done = Refresh(run, profile, asked.libraries, since, until)
    published = published_of(done)
    if published is None:
        fail(f"the DAG run {run} ended as {state} and published nothing; its logs are in {home() / 'logs'}")
    if json:
        print_json(as_json(run, counts_of(done), published))
    else:
        print_summary(counts_of(done), published)
    if state != "success":
        fail(f"the DAG run {run} ended as {state}; its logs are in {home() / 'logs'}", PROBLEM)


@app.command("status")
def status() -> None:
    """Say whether an Airflow runs here, and where.

    Example: driftline airflow status
    """
    server = running(home())
    out.print(f"Airflow is at {server.url}" if server else "No Airflow runs here.")
    raise typer.Exit(0 if server else PROBLEM)


def _run(server: Server, asked: Refresh) -> tuple[str, str]:
    client = Client(server)
    conf = {
        "profile": asked.profile,
        "libraries": list(asked.libraries) or None,
        "since": asked.since,
        "until": asked.until,
    }
    run = client.trigger(DAG, conf)
    say(f"DAG run {run} at {server.url}/dags/{DAG}")
    states: list[str] = []
    told: set[str] = set()
    for state, tasks in client.follow(DAG, run):
        states = [state]
        for line in [*failures(tasks), progress_line(tasks)]:
            if line not in told:
                told.add(line)
                say(line)
    return run, states[-1]


def progress_line(tasks: list[dict[str, Any]]) -> str:
    """Return how many tasks of each step are done, and which libraries are being worked on."""
    steps: dict[str, Counter[str]] = {}
    for task in tasks:
        if task["task_id"].startswith("collect."):
            steps.setdefault(task["task_id"].removeprefix("collect."), Counter())[task["state"] or "waiting"] += 1
    parts = [f"{step} {states['success']}/{states.total()}" for step, states in steps.items()]
    now = sorted(str(task.get("rendered_map_index") or task["task_id"]) for task in tasks if task["state"] == "running")
    return "  ".join([*parts, f"({', '.join(now)})" if now else ""]).rstrip()


def failures(tasks: list[dict[str, Any]]) -> list[str]:
    """Return a line for each task that failed or is to be tried again."""
    return [
        f"{task['task_id']} {task.get('rendered_map_index') or ''} try {task['try_number']}: {task['state']}"
        for task in tasks
        if task["state"] in ("failed", "up_for_retry")
    ]
