"""Where things are and how much of the machine to use: environment variables `DRIFTLINE_*`, nothing else."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from pipeline.core import credentials
from pipeline.core.errors import FatalError
from pipeline.core.places import place
from pipeline.core.spelling import did_you_mean

_PREFIX = "DRIFTLINE_"
_OTHERS = {
    f"{_PREFIX}{name}"
    for name in ("AIRFLOW_DATABASE", "AIRFLOW_HOME", "AIRFLOW_PORT", "COMMIT", "PROFILE", "SCHEDULE", "SECRETS")
}
"""Variables that are read elsewhere: by the Makefile, the DAGs, the local Airflow and `core/build.py`."""
PROJECT = Path(__file__).resolve().parents[2]


PIP_S = 60.0
"""Seconds to wait for pip to tell its index; a loaded machine needs some to start Python."""


class SettingsError(FatalError):
    """The environment says something that cannot be used, or does not say what is needed."""


class Settings(BaseSettings):
    """The settings of this process; every field is an environment variable with the prefix DRIFTLINE_."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, frozen=True, extra="forbid", env_ignore_empty=True)

    data: Path = Field(PROJECT / "data", description="folder of the lake, the caches and the snapshots")
    rules: Path = Field(PROJECT / "curation_rules", description="folder of the rule files")
    index_url: str | None = Field(None, description="package index; default: what pip is configured to use")
    github_url: str = Field("https://api.github.com", description="GitHub's REST API, asked with GITHUB_TOKEN")
    stack_exchange_url: str = Field(
        "https://api.stackexchange.com/2.3",
        description="the Stack Exchange API, with STACKEXCHANGE_KEY where set",
    )
    stack_overflow_dump: Path | None = Field(None, description="Posts.xml of the data dump, or its .7z, for the API")
    read_the_docs_url: str = Field("https://readthedocs.org/api/v3", description="the API of Read the Docs")
    workers: int = Field(os.cpu_count() or 1, ge=1, description="processes and threads that one stage may use")
    timeout_s: float = Field(60.0, gt=0, description="seconds to wait for an answer of the index")
    environments_gib: float = Field(20.0, gt=0, description="size above which unused environments are taken away")
    install_python: bool = Field(False, description="let uv install an interpreter that is asked for and not here")
    container_engine: str | None = Field(None, description="docker or podman, with options, to run crawled code in")
    container_image: str | None = Field(None, description="image to run it in; default: one over this machine's /usr")
    allow_sandlock: bool = Field(False, description="run crawled code in sandlock, which sees that files exist")
    reviews: str | None = Field(
        None, description="SQLAlchemy address of the review database; default: reviews.sqlite in the data folder"
    )
    lake: str | None = Field(
        None,
        description="folder or address (s3://bucket/prefix) of lake, runs and snapshots for several machines; default:"
        " in the data folder",
    )
    rates: str | None = Field(
        None, description="Redis in which all workers count requests to a host; default: a file in the cache"
    )
    log: Literal["off", "text", "json"] = Field(
        "off", description="log of the command line on its standard error: lines for people, or JSON lines"
    )
    allow_unsafe: bool = Field(False, description="run crawled code without a sandbox where none works")

    @property
    def environments_bytes(self) -> int:
        """Size above which unused environments are taken away."""
        return int(self.environments_gib * (1 << 30))

    @property
    def lake_root(self) -> Path:
        """Folder or address of the tables."""
        return place(self.lake) if self.lake else self.data / "lake"

    @property
    def cache(self) -> Path:
        """Folder of what can be fetched or made again: archives, surfaces, environments."""
        return self.data / "cache"

    @property
    def answers(self) -> Path:
        """What models answered, and what it cost: no cache, for it was paid for."""
        return self.data / "model" / "answers.sqlite"

    @property
    def evaluations(self) -> Path:
        """What evaluated models answered, and what it cost; a ledger of its own, since drafting has a budget."""
        return self.data / "model" / "evaluations.sqlite"

    @property
    def reviews_url(self) -> str:
        """Address of the database of what people decided: no cache, for nobody can make it again."""
        return self.reviews or f"sqlite:///{self.reviews_file}"

    @property
    def reviews_file(self) -> Path:
        """The review database where no address is given."""
        return self.data / "reviews.sqlite"

    @property
    def snapshots(self) -> Path:
        """Folder of the published snapshots on this machine."""
        return self.data / "snapshots"

    @property
    def shared_snapshots(self) -> str | None:
        """Address of the published snapshots of all machines, None for one machine."""
        return f"{self.lake.rstrip('/')}/_snapshots" if self.lake else None

    @property
    def candidates(self) -> Path:
        """Folder of snapshots that are not published yet."""
        return self.data / "candidates"

    @property
    def alerts(self) -> Path:
        """JSON lines of the alerts that were sent, whoever the receivers are."""
        return self.data / "alerts.jsonl"

    @property
    def runs(self) -> Path:
        """Folder or address of the counts of each run."""
        return self.lake_root / "_runs" if self.lake else self.data / "runs"


def settings() -> Settings:
    """Return the settings of the environment as it is now.

    What is secret may stand in files instead: DRIFTLINE_SECRETS names a folder with `driftline_reviews` and the like.

    Errors: SettingsError naming each variable that cannot be used, or is spelled almost like one.
    """
    variables = tuple(sorted(item for item in os.environ.items() if item[0].upper().startswith(_PREFIX)))
    secrets = os.environ.get("DRIFTLINE_SECRETS")
    # Files of secrets may change while a process lives. Reading the variables costs 3 ms, hundreds of times in a run.
    return _read(variables, secrets) if secrets else _read_once(variables)


@functools.lru_cache(maxsize=8)
def _read_once(variables: tuple[tuple[str, str], ...]) -> Settings:
    return _read(variables, None)


def _read(variables: tuple[tuple[str, str], ...], secrets: str | None) -> Settings:
    if misspelt := [problem for name, _ in variables if name.startswith(_PREFIX) and (problem := _misspelt(name))]:
        raise SettingsError("\n".join(misspelt), code="setting_misspelt")
    try:
        return Settings(_secrets_dir=secrets or None)
    except ValidationError as error:
        lines = [f"DRIFTLINE_{'.'.join(map(str, e['loc'])).upper()}: {e['msg']}" for e in error.errors()]
        raise SettingsError("\n".join(lines), code="setting_invalid") from None


@functools.cache
def _misspelt(variable: str) -> str | None:
    """Say which setting a variable is almost spelled like; others belong to whoever set them."""
    variables = {f"{_PREFIX}{name.upper()}" for name in Settings.model_fields} | _OTHERS
    if variable in variables:
        return None
    # Without the prefix, which makes all of them alike: Kubernetes sets DRIFTLINE_PORT for a service of that name.
    near = did_you_mean(variable, variables, _PREFIX)
    return f"{variable}: no such setting{near}: correct it, or unset it" if near else None


@functools.cache
def pip_index_url() -> str:
    """Return the index that pip would use, so that a mirror set up for pip serves us too.

    pip itself knows its default; asking it keeps the registry's address out of this project.
    """
    script = (
        "from pip._internal.commands import create_command as c;"
        "print(c('install').parser.get_default_values().index_url)"
    )
    command = [sys.executable, "-c", script]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_S, check=False)
    except subprocess.TimeoutExpired:
        address, problem = "", f"nothing in {PIP_S:g} s"
    else:
        address, problem = done.stdout.strip(), done.stderr.strip()[-300:]
    if not address:
        raise SettingsError(
            "cannot ask pip for its package index (is pip missing from this environment?): set DRIFTLINE_INDEX_URL"
            f" to the address of a simple index. pip said: {credentials.cut_message(problem)}",
            code="pip_index_unknown",
        )
    return address


def index_url() -> str:
    """Return the address of the simple index, without a slash at the end; its credentials are known from then on."""
    address = (settings().index_url or pip_index_url()).rstrip("/")
    credentials.remember(address)
    return address
