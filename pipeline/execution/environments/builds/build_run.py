"""One command of uv in the sandbox, with the index proxy as its only way out: what comes back is bytes and a log."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import uv

from pipeline.execution.environments.builds import build_program
from pipeline.execution.environments.builds.build_rules import BuildRules
from pipeline.execution.environments.resolution.index_proxy import IndexProxy
from pipeline.execution.environments.resolution.index_proxy_server import on_socket
from pipeline.execution.environments.resolution.interpreters import Interpreter
from pipeline.execution.sandbox.environment import BARE, Environment
from pipeline.execution.sandbox.permissions import INDEX_SOCKET, Permissions
from pipeline.execution.sandbox.sandbox import SCRATCH, Sandbox
from pipeline.execution.sandbox.supervise import Finished

_STAMP = "%Y-%m-%dT%H:%M:%SZ"
_PROGRAM = "build_program.py"


@dataclass(frozen=True, slots=True)
class Job:
    """A command of uv and the files that it is given; `wheel` is the distribution whose wheel is wanted, if one is."""

    arguments: Sequence[str]
    files: Mapping[str, bytes]
    wheel: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended: `status` is None where it took too long. Nothing in here is to be trusted."""

    status: int | None
    log: str
    name: str
    result: bytes


def run_uv(job: Job, interpreter: Interpreter, gateway: IndexProxy, sandbox: Sandbox, rules: BuildRules) -> Ran:
    """Run a job in a new sandbox, with a cache of its own that ends with it."""
    uv_binary = Path(uv.find_uv_bin()).resolve()
    order = {
        "command": [str(uv_binary), *job.arguments],
        "socket": INDEX_SOCKET,
        "wheel": job.wheel,
        "cache": f"{SCRATCH}/cache",
        "time_s": rules.time_s,
        "result_bytes": rules.wheel_mib << 20,
    }
    program = Path(build_program.__file__).read_bytes()
    with on_socket(gateway) as socket:
        done = sandbox.run(
            [str(interpreter.path), "-I", "-S", f"{SCRATCH}/{_PROGRAM}"],
            environment=_bare(interpreter),
            files={_PROGRAM: program, **job.files},
            stdin=json.dumps(order).encode(),
            limits=rules.limits,
            variables=_variables() | dict(job.variables),
            grants=Permissions(read=(uv_binary,), index=socket),
        )
    return _read(done)


def uv_options(interpreter: Interpreter) -> list[str]:
    """Return what every command of uv in the sandbox is told."""
    return [
        *("--python", str(interpreter.path), "--default-index", "{index}"),
        *("--config-file", f"{SCRATCH}/uv.toml", "--cache-dir", f"{SCRATCH}/cache", "--color", "never"),
    ]


def dated(cutoff: datetime, others: Mapping[str, datetime]) -> list[str]:
    """Return what tells uv as of when it resolves."""
    words = ["--exclude-newer", cutoff.strftime(_STAMP)]
    for name, time in sorted(others.items()):
        words += ["--exclude-newer-package", f"{name}={time.strftime(_STAMP)}"]
    return words


def _bare(interpreter: Interpreter) -> Environment:
    site_packages = interpreter.prefix / "lib" / f"python{interpreter.python}" / "site-packages"
    return Environment(BARE, interpreter.python, interpreter.path, site_packages, (interpreter.prefix,))


def _variables() -> dict[str, str]:
    return {
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_PROGRESS": "1",
        "UV_CONCURRENT_DOWNLOADS": "8",
        "UV_CONCURRENT_BUILDS": "2",
        "UV_HTTP_TIMEOUT": "120",
        "UV_HTTP_RETRIES": "0",  # the index proxy has tried again already
        "UV_PREVIEW_FEATURES": "extra-build-dependencies",
        "MAKEFLAGS": "-j2",
        # Without debugging symbols, which have the name of uv's temporary folder in them: faster, smaller, repeatable.
        "CFLAGS": "-O2 -g0",
        "CXXFLAGS": "-O2 -g0",
    }


def _read(done: Finished) -> Ran:
    """Read the answer of the program; where none came, the sandbox ended it, and says why."""
    head, _, result = done.stdout.partition(b"\n")
    try:
        answer = json.loads(head)
        status, log, name, length = (answer[key] for key in ("status", "log", "name", "length"))
        if length == len(result) and isinstance(status, int | None) and isinstance(log, str) and isinstance(name, str):
            return Ran(status, log, name, result)
    except (ValueError, KeyError, TypeError):
        pass
    if done.timed_out:
        return Ran(None, "", "", b"")
    reasons = {"used too much memory": done.out_of_memory, "printed too much": done.too_much_output}
    why = next((reason for reason, held in reasons.items() if held), f"ended with status {done.returncode}")
    return Ran(1, f"the build {why}\n{done.stderr.decode(errors='replace')[-2000:]}", "", b"")
