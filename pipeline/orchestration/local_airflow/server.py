"""A local Airflow: started on loopback, and ended with all its children.

Airflow itself runs as processes of its own; nothing of it is imported here.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
import requests

from pipeline.core.settings import PROJECT
from pipeline.lake.runner import write_json
from pipeline.orchestration.local_airflow.client import POLL_S, READY_S, AirflowError, Client
from pipeline.orchestration.local_airflow.home import Server

POOLS = {"index": (2, "how many tasks may crawl the package index at once")}
COMPONENTS: Mapping[str, tuple[str, ...]] = {
    # Its log server would listen on every interface; the page reads logs from the disk here. No DAG defers (who waits
    # for a person is no process either), so there is no triggerer.
    "scheduler": ("scheduler", "--skip-serve-logs"),
    "dag-processor": ("dag-processor",),
    "api-server": ("api-server",),
}


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def running(folder: Path) -> Server | None:
    """Return the server that runs on a home folder, None where there is none."""
    server = Server(folder, 0)
    if not server.state.is_file():
        return None
    state = json.loads(server.state.read_text())
    alive = [process for process in state["processes"] if _process(process)]
    return Server(folder, state["port"]) if alive else None


def _process(entry: Mapping[str, Any]) -> psutil.Process | None:
    """Return a recorded process if it still is the same one, and not a later one with its number."""
    try:
        process = psutil.Process(entry["pid"])
        same = abs(process.create_time() - entry["created"]) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return None
    return process if same else None


def up(folder: Path, port: int, report: Callable[[str], None], *, scheduled: bool = True) -> Server:
    """Start Airflow on a home folder and wait until it answers.

    One that is not `scheduled` runs only what it is asked to, and not first the week that has just ended.

    Errors: AirflowError where one runs there already, the port is taken, or a component ends or stays silent.
    """
    if process := running(folder):
        raise AirflowError(
            f"Airflow runs already at {process.url}; end it with `driftline airflow down`", code="airflow_running"
        )
    server = Server(folder, port, scheduled)
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise AirflowError(f"port {port} is taken; choose another with --port", code="airflow_port_taken")
    server.log("").parent.mkdir(parents=True, exist_ok=True)
    if scheduled and (announced := starts_at_once()):
        report(announced)
    report("preparing the database")
    _migrate(server)
    report("starting Airflow")
    started = {name: _start(server, name, arguments) for name, arguments in COMPONENTS.items()}
    entries = [{"pid": p.pid, "created": psutil.Process(p.pid).create_time()} for p in started.values()]
    write_json(server.state, {"port": port, "processes": entries})
    try:
        _wait_until_ready(server, started)
        client = Client(server)
        for name, (slots, description) in POOLS.items():
            client.ensure_pool(name, slots, description)
    except BaseException:
        down(folder)
        raise
    return server


def starts_at_once() -> str | None:
    """Say which run a scheduled Airflow begins with, None where the setting says that it begins none."""
    if os.environ.get("DRIFTLINE_SCHEDULE") == "off":
        return None
    profile = os.environ.get("DRIFTLINE_PROFILE") or "starter"
    return (
        f"the scheduled refresh of the profile {profile} over the last whole week starts at once, unless it has run;"
        " DRIFTLINE_SCHEDULE=off starts nothing by itself"
    )


def _migrate(server: Server) -> None:
    """Make or upgrade the database, once for each version of Airflow: even a check costs seconds."""
    stamp = server.home / "database_version"
    installed = version("apache-airflow")
    if stamp.is_file() and stamp.read_text() == installed:
        return
    log = server.log("database")
    with log.open("ab") as file:
        done = subprocess.run(
            ["airflow", "db", "migrate"], env=server.environment(), stdout=file, stderr=file, check=False, cwd=PROJECT
        )
    if done.returncode:
        raise AirflowError(f"`airflow db migrate` failed; its log is {log}", code="airflow_database_failed")
    stamp.write_text(installed)


def _start(server: Server, name: str, arguments: tuple[str, ...]) -> subprocess.Popen[bytes]:
    with server.log(name).open("ab") as file:
        return subprocess.Popen(
            ["airflow", *arguments],
            env=server.environment(),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
            cwd=PROJECT,
        )


def _wait_until_ready(server: Server, started: Mapping[str, subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        for name, process in started.items():
            if process.poll() is not None:
                raise AirflowError(
                    f"Airflow's {name} ended with {process.returncode}; its log is {server.log(name)}",
                    code="airflow_ended",
                )
        if _healthy(server):
            return
        time.sleep(POLL_S)
    raise AirflowError(
        f"Airflow did not answer within {READY_S:.0f} s; its logs are in {server.log('').parent}",
        code="airflow_not_ready",
    )


def _healthy(server: Server) -> bool:
    try:
        health = requests.get(f"{server.url}/api/v2/monitor/health", timeout=5).json()
    except (requests.RequestException, ValueError):
        return False
    return all(health.get(part, {}).get("status") == "healthy" for part in ("scheduler", "dag_processor"))


def down(folder: Path) -> bool:
    """End the server of a home folder with all its children; tell whether there was one."""
    state = folder / "server.json"
    try:
        entries = json.loads(state.read_text())["processes"]
    except FileNotFoundError:
        return False
    roots = [p for entry in entries if (p := _process(entry))]
    processes: dict[int, psutil.Process] = {}
    for root in roots:
        # A refresh that comes to its end ends them too.
        with suppress(psutil.NoSuchProcess):
            processes |= {child.pid: child for child in [root, *root.children(recursive=True)]}
            root.terminate()
    _, alive = psutil.wait_procs(processes.values(), timeout=15)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(alive, timeout=5)
    state.unlink(missing_ok=True)
    return bool(roots)


@contextmanager
def serving(folder: Path, report: Callable[[str], None]) -> Iterator[Server]:
    """Use the Airflow that runs on a home folder, or one that lives as long as the block."""
    if process := running(folder):
        report(f"using the Airflow at {process.url}")
        yield process
        return
    server = up(folder, free_port(), report, scheduled=False)
    try:
        yield server
    finally:
        down(folder)
