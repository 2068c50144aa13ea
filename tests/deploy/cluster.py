"""A cluster on this machine, by the files of `deploy/`: Airflow on PostgreSQL and Redis, TLS in front, two workers."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
import requests
import yaml

from pipeline.core.settings import PROJECT
from pipeline.orchestration.local_airflow.server import free_port
from tests import servers
from tests.object_store import s3_server

PASSWORDS = {"admin": "the-password-of-admin", "viewer": "the-password-of-viewer"}
READY_S = 240


def variables() -> dict[str, str]:
    """Return what `deploy/cluster.env` tells every component."""
    lines = (PROJECT / "deploy" / "cluster.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


@dataclass
class Worker:
    """A Celery worker with a folder of its own, and all processes that it has started."""

    name: str
    data: Path
    process: subprocess.Popen[bytes]

    def tree(self) -> list[psutil.Process]:
        return tree_of(self.process)

    def pause(self) -> None:
        for one in self.tree():
            with suppress(psutil.NoSuchProcess):
                one.suspend()

    def go_on(self) -> None:
        for one in self.tree():
            with suppress(psutil.NoSuchProcess):
                one.resume()

    def kill(self) -> None:
        """Kill it with everything that it runs, as a machine that loses its power would."""
        end(self.process)


@dataclass
class Cluster:
    """A running cluster: what its components are told, the port of its API and of TLS, and its workers."""

    folder: Path
    environment: dict[str, str]
    port: int
    tls_port: int
    workers: list[Worker] = field(default_factory=list)

    @property
    def page(self) -> str:
        return f"https://localhost:{self.tls_port}"

    @property
    def certificate(self) -> str:
        return str(self.folder / "tls.crt")

    def token(self, user: str, password: str | None = None) -> requests.Response:
        """Sign in by way of TLS."""
        body = {"username": user, "password": password or PASSWORDS[user]}
        return requests.post(f"{self.page}/auth/token", json=body, verify=self.certificate, timeout=60)

    def browser(self) -> requests.Session:
        """Return somebody who trusts our certificate, whatever REQUESTS_CA_BUNDLE says here."""
        session = requests.Session()
        session.trust_env = False
        session.verify = self.certificate
        return session

    def signed_in(self, user: str) -> requests.Session:
        session = self.browser()
        answer = self.token(user)
        answer.raise_for_status()
        session.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
        return session

    def log(self, name: str) -> Path:
        return self.folder / "logs" / f"{name}.log"


def run(cluster: Cluster, name: str, *command: str) -> None:
    """Run a command of Airflow to its end."""
    with cluster.log(name).open("ab") as log:
        done = subprocess.run(command, env=cluster.environment, cwd=PROJECT, stdout=log, stderr=log, check=False)
    assert done.returncode == 0, cluster.log(name).read_text()[-3000:]


def start(
    cluster: Cluster, name: str, *command: str, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    with cluster.log(name).open("ab") as log:
        return subprocess.Popen(
            command,
            env=environment or cluster.environment,
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def tree_of(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return a process and all that it has started, none where it has ended."""
    try:
        root = psutil.Process(process.pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it has started, at once: nothing that they keep is wanted."""
    for one in tree_of(process):
        with suppress(psutil.NoSuchProcess):
            one.kill()
    process.wait(10)


@contextmanager
def running(
    folder: Path, index: str, workers: Sequence[str] = ("one", "two"), told: Mapping[str, str] | None = None
) -> Iterator[Cluster]:
    """Run a cluster over a package index until the block ends; its components are told more by `told`."""
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        pytest.skip("no nginx is installed (Debian: nginx-light, openssl)")
    pytest.importorskip("celery")
    with ExitStack() as stack:
        database = stack.enter_context(servers.postgresql())
        broker = stack.enter_context(servers.redis(folder))
        store = stack.enter_context(s3_server(folder / "s3"))
        store.files().mkdir("driftline")
        with psycopg.connect(f"{database}/postgres", autocommit=True) as connection:
            for name in ("airflow", "reviews"):
                connection.execute(f"CREATE DATABASE {name}")
        (folder / "logs").mkdir()
        _keep_secrets(folder / "secrets", database, broker)
        cluster = Cluster(folder, {}, free_port(), free_port())
        cluster.environment = _environment(cluster, index) | store.environ | dict(told or {})
        _prepare(cluster)
        started = {name: start(cluster, name, *command) for name, command in _components(cluster).items()}
        started["nginx"] = _tls(cluster)
        for process in started.values():
            stack.callback(end, process)
        _wait(cluster, started)
        _furnish(cluster)
        for name in workers:
            worker = _worker(cluster, name)
            stack.callback(worker.kill)
            cluster.workers.append(worker)
        yield cluster


def _keep_secrets(folder: Path, database: str, broker: str) -> None:
    """Write what a service manager would mount."""
    (folder / "settings").mkdir(parents=True)
    airflow = f"{database.replace('postgresql:', 'postgresql+psycopg2:')}/airflow"
    kept = {
        "sql_alchemy_conn": airflow,
        "broker_url": broker,
        "result_backend": f"db+{airflow}",
        "api_secret_key": secrets.token_urlsafe(32),
        "jwt_secret": secrets.token_urlsafe(48),
        "fernet_key": "",
    }
    (folder / "airflow.yaml").write_text(yaml.safe_dump(kept))
    (folder / "settings" / "driftline_reviews").write_text(
        f"{database.replace('postgresql:', 'postgresql+psycopg:')}/reviews"
    )
    (folder / "settings" / "driftline_rates").write_text(broker.replace("/0", "/1"))


def _environment(cluster: Cluster, index: str) -> dict[str, str]:
    """Return what every component is told: the shipped file, with the places of this machine and shorter patience."""
    folder = cluster.folder
    here = {
        "AIRFLOW_HOME": str(folder / "airflow"),
        "AIRFLOW_CONFIG": str(PROJECT / "airflow.cfg"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(PROJECT / "dags"),
        "AIRFLOW__API__PORT": str(cluster.port),
        "AIRFLOW__API__BASE_URL": cluster.page,
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{cluster.port}/execution/",
        "AIRFLOW__FAB__CONFIG_FILE": str(PROJECT / "deploy" / "webserver_config.py"),
        "AIRFLOW__SECRETS__BACKEND_KWARGS": json.dumps({"configs_file_path": str(folder / "secrets" / "airflow.yaml")}),
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "20",
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "2",
        "AIRFLOW__CELERY__WORKER_CONCURRENCY": "1",
        "DRIFTLINE_SECRETS": str(folder / "secrets" / "settings"),
        "DRIFTLINE_DATA": str(folder / "data"),
        "DRIFTLINE_INDEX_URL": index,
        "DRIFTLINE_SCHEDULE": "off",
        "DRIFTLINE_WORKERS": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONDONTWRITEBYTECODE": "",
    }
    return os.environ | variables() | here


def _prepare(cluster: Cluster) -> None:
    run(cluster, "migrate", "airflow", "db", "migrate")
    command = ["airflow", "users", "create", "--username", "admin", "--role", "Admin", "--password", PASSWORDS["admin"]]
    run(cluster, "users", *command, "--firstname", "Ada", "--lastname", "Example", "--email", "admin@example.org")


def _furnish(cluster: Cluster) -> None:
    """Let the admin make the pool of crawling and a user, as on the page."""
    pool = {"name": "index", "slots": 2, "description": "how many tasks may crawl at once"}
    body = {
        "username": "viewer",
        "email": "viewer@example.org",
        "first_name": "Vera",
        "last_name": "Example",
        "password": PASSWORDS["viewer"],
        "roles": [{"name": "Viewer"}],
    }
    admin = cluster.signed_in("admin")
    for path, value in {"api/v2/pools": pool, "auth/fab/v1/users": body}.items():
        answer = admin.post(f"{cluster.page}/{path}", json=value, timeout=60)
        assert answer.ok, answer.text


def _components(cluster: Cluster) -> dict[str, tuple[str, ...]]:
    return {
        "api-server": ("airflow", "api-server", "--proxy-headers"),
        "scheduler": ("airflow", "scheduler", "--skip-serve-logs"),
        "dag-processor": ("airflow", "dag-processor"),
    }


def _tls(cluster: Cluster) -> subprocess.Popen[bytes]:
    """Put the shipped nginx.conf in front, with a certificate of our own."""
    folder = cluster.folder
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt")]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, *files],
        check=True,
        capture_output=True,
        timeout=60,
    )
    text = (PROJECT / "deploy" / "nginx.conf").read_text()
    for shipped, here in {
        "listen 80;": f"listen 127.0.0.1:{free_port()};",
        "listen 443 ssl;": f"listen 127.0.0.1:{cluster.tls_port} ssl;",
        "server_name driftline.example.org;": "server_name localhost;",
        "/etc/driftline/tls.": f"{folder}/tls.",
        "http://127.0.0.1:8080": f"http://127.0.0.1:{cluster.port}",
        "/run/driftline-nginx.pid": f"{folder}/nginx.pid",
    }.items():
        assert shipped in text
        text = text.replace(shipped, here)
    (folder / "nginx.conf").write_text(text)
    return start(cluster, "nginx", "nginx", "-c", str(folder / "nginx.conf"), "-g", "daemon off; error_log stderr;")


def _wait(cluster: Cluster, started: Mapping[str, subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline and all(process.poll() is None for process in started.values()):
        try:
            health = requests.get(
                f"{cluster.page}/api/v2/monitor/health", verify=cluster.certificate, timeout=10
            ).json()
            if all(health[part]["status"] == "healthy" for part in ("metadatabase", "scheduler", "dag_processor")):
                return
        except (requests.RequestException, ValueError, KeyError):
            pass
        time.sleep(1)
    logs = "\n".join(f"{log.name}: {log.read_text()[-1500:]}" for log in (cluster.folder / "logs").glob("*.log"))
    pytest.fail(f"the cluster did not come up: {logs}")


def _worker(cluster: Cluster, name: str) -> Worker:
    own = {
        "DRIFTLINE_DATA": str(cluster.folder / name / "data"),
        "AIRFLOW_HOME": str(cluster.folder / name / "airflow"),
        "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(free_port()),
    }
    command = ("airflow", "celery", "worker", "--celery-hostname", f"{name}@%h", "--skip-serve-logs")
    process = start(cluster, name, *command, environment=cluster.environment | own)
    return Worker(name, cluster.folder / name / "data", process)


def tasks_of(cluster: Cluster, session: requests.Session, dag: str, run_id: str) -> list[dict[str, Any]]:
    answer = session.get(f"{cluster.page}/api/v2/dags/{dag}/dagRuns/{run_id}/taskInstances?limit=200", timeout=60)
    answer.raise_for_status()
    found: list[dict[str, Any]] = answer.json()["task_instances"]
    return found
