"""uv, called so that nothing but our own settings count: resolve to a hashed lock, make an environment from it."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

import uv

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.execution.environments.resolution.index_proxy import IndexProxy
from pipeline.execution.environments.resolution.index_proxy_server import on_loopback
from pipeline.execution.environments.resolution.interpreters import Interpreter

# What uv may know of our environment: how to reach the index, and nothing that changes what it resolves.
_PASSED_ON = (
    *("HOME", "PATH", "TMPDIR", "NETRC", "SSL_CERT_FILE", "SSL_CERT_DIR", "UV_HTTP_RETRIES", "UV_HTTP_TIMEOUT"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
)
_UNREACHABLE = re.compile(
    r"error sending request|Request failed after|tcp connect error|HTTP status server error|operation timed out"
    r"|connection closed|error decoding response body"
)
_NO_SPACE = re.compile(r"No space left on device|os error 28|Disk quota exceeded")
_DETAIL = 800
_WHEELS = ("--only-binary", ":all:")
LACKED = re.compile(r"([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?:\[[^\]]*\])? was not found in the package registry")
"""How uv names a project that the index does not have."""


class _NoUploadTimes(Exception):
    """The index does not tell uv when files were uploaded."""


class _Unreadable(Exception):
    """The index has metadata that uv cannot read, of a release that would have been needed."""


class Resolver:
    """The locked uv with an index, a cache of its own and a time limit for each step."""

    def __init__(self, facts: IndexFacts, cache: Path, timeout_s: float) -> None:
        self.index_url = facts.index_url
        self.cache = cache
        self.timeout_s = timeout_s
        self._proxy = IndexProxy(facts)
        self._undated = False
        self._listening = threading.Lock()

    def lock(
        self,
        requirements: Sequence[str],
        interpreter: Interpreter,
        cutoff: datetime,
        later: Mapping[str, datetime] | None = None,
    ) -> str:
        """Resolve requirements for an interpreter as of a time, wheels only, and return the lock text.

        The lock is pip's format with hashes (PEP 440 pins, no index address), so pip can install it too. `later`
        names distributions that have a cut-off of their own.

        Errors: StepFailed with NO_FILES, UNRESOLVABLE, NO_SPACE or TIMED_OUT; IndexUnreachable.
        """
        if not self._undated:
            try:
                return self._lock(requirements, interpreter, cutoff, later or {}, self.index_url)
            except _NoUploadTimes:
                self._undated = True
            except _Unreadable:
                pass
        with self._listening:
            address = self._address
        try:
            return self._lock(requirements, interpreter, cutoff, later or {}, address)
        except _Unreadable as error:
            raise StepFailed(EnvironmentOutcome.UNRESOLVABLE, str(error)) from None

    @cached_property
    def _address(self) -> str:
        """Where the index has upload times, and metadata that uv can read; listens from the first use on."""
        return on_loopback(self._proxy)

    def _lock(
        self,
        requirements: Sequence[str],
        interpreter: Interpreter,
        cutoff: datetime,
        later: Mapping[str, datetime],
        address: str,
    ) -> str:
        with tempfile.TemporaryDirectory(prefix="driftline-") as folder:
            requirements_file = Path(folder, "wanted.txt")
            requirements_file.write_text("".join(f"{line}\n" for line in requirements))
            arguments = ["pip", "compile", str(requirements_file), "--python", str(interpreter.path), *_WHEELS]
            arguments += ["--exclude-newer", _stamp(cutoff), "--generate-hashes"]
            for name, time in sorted(later.items()):
                arguments += ["--exclude-newer-package", f"{name}={_stamp(time)}"]
            arguments += ["--no-header", "--no-annotate", "--no-emit-index-url"]
            return self._run(arguments, EnvironmentOutcome.UNRESOLVABLE, requirements[0], address)

    def make(self, folder: Path, lock: str, interpreter: Interpreter) -> None:
        """Make a relocatable virtual environment at `folder` and install a lock into it, from the cache if it can.

        The lock may name wheels on disk, with their hashes, in place of source distributions.

        Nothing of the installed packages is run: uv unpacks wheels, and looks at the interpreter before that.

        Errors: StepFailed with INSTALL_FAILED, NO_SPACE or TIMED_OUT; IndexUnreachable.
        """
        failed = EnvironmentOutcome.INSTALL_FAILED
        venv = ["venv", str(folder), "--python", str(interpreter.path), "--relocatable", "--no-project", "--quiet"]
        self._run(venv, failed, "venv")
        with tempfile.NamedTemporaryFile("w", prefix="driftline-", suffix=".txt") as locked:
            locked.write(lock)
            locked.flush()
            install = ["pip", "install", "--python", str(folder / "bin" / "python"), "--require-hashes", "--no-deps"]
            install += ["-r", locked.name, "--link-mode", "hardlink", "--quiet", *_WHEELS]
            try:
                self._run([*install, "--offline"], failed, "install")
            except StepFailed as error:
                if error.outcome is not failed:
                    raise
                self._run(install, failed, "install")

    def _run(
        self, arguments: Sequence[str], failed: EnvironmentOutcome, subject: str, address: str | None = None
    ) -> str:
        command = [uv.find_uv_bin(), *arguments, "--no-config", "--cache-dir", str(self.cache), "--color", "never"]
        variables = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        # No argument names the index: whoever is on this machine can read those, and an address may hold a password.
        variables |= {"UV_DEFAULT_INDEX": address or self.index_url}
        variables |= {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"}
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=self.timeout_s,
                check=False,
                env=variables,
                umask=0o022,  # what runs in the sandbox is somebody else, who must be able to read it
            )
        except subprocess.TimeoutExpired:
            raise StepFailed(EnvironmentOutcome.TIMED_OUT, f"{subject}: not done after {self.timeout_s:g} s") from None
        if done.returncode == 0:
            return done.stdout
        raise self._failure(done.stderr, failed, subject)

    def _failure(self, log: str, failed: EnvironmentOutcome, subject: str) -> Exception:
        detail = portable_log(log, (self.index_url, str(self.cache)))
        if _NO_SPACE.search(log):
            return StepFailed(EnvironmentOutcome.NO_SPACE, os.strerror(errno.ENOSPC))
        if _UNREACHABLE.search(log):
            return IndexUnreachable(detail)
        if "is missing an upload date" in log:
            return _NoUploadTimes(detail)
        if failed is EnvironmentOutcome.UNRESOLVABLE and "invalid metadata" in log:
            return _Unreadable(detail)
        name = re.escape(subject)
        if failed is EnvironmentOutcome.UNRESOLVABLE and re.search(rf"(?i){name} has no (usable )?wheels", log):
            return StepFailed(EnvironmentOutcome.NO_FILES, detail)
        return StepFailed(failed, detail)


def _stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def portable_log(log: str, hidden: Sequence[str] = ()) -> str:
    """Return what a log says that is the same on every machine: no addresses, no absolute paths, no timings."""
    for text in sorted(hidden, key=len, reverse=True):
        log = log.replace(text, "…")
    log = re.sub(r"https?://[^\s`'\")]+", "…", log)
    log = re.sub(r"(?<![\w.…])(?:/[^\s/:`'\")]+){2,}", lambda match: match[0].rsplit("/", 1)[-1], log)
    log = re.sub(r"\bin \d+(\.\d+)?m?s\b", "", log)
    lines = [" ".join(line.split()) for line in log.splitlines()]
    whole = "\n".join(line for line in lines if line and not line.startswith(("hint:", "warning:")))
    end = whole[-_DETAIL:]
    # What the index lacks stands at the beginning of uv's reasons, and decides whether it is worth another try.
    missing = dict.fromkeys(match[0] for match in LACKED.finditer(whole))
    return "\n".join([*(reason for reason in missing if reason not in end), end])
