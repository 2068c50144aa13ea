"""The home folder of a local Airflow: the address of its page, its logs, passwords and environment."""

from __future__ import annotations

import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.settings import PROJECT, index_url


@dataclass(frozen=True, slots=True)
class Server:
    """A local Airflow: its home folder, the port of its page, and whether it starts runs by itself."""

    home: Path
    port: int
    scheduled: bool = True

    @property
    def url(self) -> str:
        """Address of the page and of the API."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def state(self) -> Path:
        """File that names the processes of a running server."""
        return self.home / "server.json"

    @property
    def passwords(self) -> Path:
        """File with the password of the user `admin`, made by Airflow at its first start."""
        return self.home / "passwords.json"

    def log(self, component: str) -> Path:
        """Return the log file of a component."""
        return self.home / "logs" / f"{component}.log"

    def environment(self) -> dict[str, str]:
        """Return the environment of Airflow's processes; the address is set in every place that must agree."""
        own = {
            "AIRFLOW_HOME": str(self.home),
            "AIRFLOW_CONFIG": str(PROJECT / "airflow.cfg"),
            "AIRFLOW__CORE__DAGS_FOLDER": str(PROJECT / "dags"),
            "AIRFLOW__API__PORT": str(self.port),
            "AIRFLOW__API__BASE_URL": self.url,
            "AIRFLOW__API__SECRET_KEY": self._secret("api_secret"),
            "AIRFLOW__API_AUTH__JWT_SECRET": self._secret("jwt_secret"),
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{self.url}/execution/",
            # Asked once here: each task would otherwise start pip to learn it.
            "DRIFTLINE_INDEX_URL": index_url(),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONDONTWRITEBYTECODE": "",
        }
        return os.environ | own | ({} if self.scheduled else {"DRIFTLINE_SCHEDULE": "off"})

    def _secret(self, name: str) -> str:
        """Return a secret that is made once: were it new in each process, none could check another's tokens."""
        path = self.home / name
        if not path.is_file():
            self.home.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(48))
        return path.read_text()


def home() -> Path:
    """Return the folder of everything that Airflow generates."""
    return Path(os.environ.get("DRIFTLINE_AIRFLOW_HOME") or PROJECT / ".airflow").resolve()
