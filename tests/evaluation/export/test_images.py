"""Harbor's images without a daemon: podman builds the exported files, and a trial runs in what it built."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import uv

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export.folder import export
from pipeline.evaluation.export.harbor_folder import ENVIRONMENT
from tests.evaluation.export.rows import snapshot_of
from tests.evaluation.export.test_harbor import PYTHON, problem, tables
from tests.execution.sandbox.kinds import podman_of_its_own
from tests.index_server import Index, serve

pytestmark = pytest.mark.slow(minutes=2)

BASE, UV = "python:3.11-slim-bookworm", "ghcr.io/astral-sh/uv:0.9.7"
PROGRAMS = ("sh", "cp", "chmod", "dirname", "mkdir", "rm")
LIMITS = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024", "--cgroups=disabled", "--network", "none")


@pytest.fixture(scope="module")
def podman() -> Iterator[str]:
    if os.getuid() or not shutil.which("podman"):
        pytest.skip("images are built by podman as root, which is not here")
    if sys.version_info[:2] != (3, 11):
        pytest.skip("the base image of the tests has the interpreter that runs them, and verifiers need Python 3.11")
    with podman_of_its_own() as program:
        yield program


def run(*words: str | Path, status: int = 0) -> str:
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def needed(*programs: Path) -> set[Path]:
    """The shared libraries of programs."""
    words = run("ldd", *programs).split()
    return {Path(word) for word in words if word.startswith("/") and not word.endswith(":")}


def base_image(place: Path) -> Path:
    """An archive with what Docker Hub's image of Python has that the images of tasks use, taken from this machine."""
    prefix, name = Path(sys.base_prefix), f"python{PYTHON}"
    library = prefix / "lib" / name
    programs = [Path(cast(str, shutil.which(program, path="/usr/bin:/bin"))) for program in PROGRAMS]
    interpreter = prefix / "bin" / name
    left_out = {
        "test",
        "site-packages",
        "dist-packages",
        "__pycache__",
        "idlelib",
        "lib2to3",
        "ensurepip",
        "tkinter",
        f"config-{PYTHON}-x86_64-linux-gnu",
    }

    def without_unused(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if Path(member.name).name in left_out else member

    path = place / "base.tar"
    with tarfile.open(path, "w", dereference=True) as archive:
        for program in programs:
            archive.add(program, f"bin/{program.name}")
        archive.add(interpreter, f"usr/local/bin/{name}")
        archive.add(library, f"usr/local/lib/{name}", filter=without_unused)
        for file in needed(*programs, interpreter, Path(uv.find_uv_bin()), *library.glob("lib-dynload/*.so")):
            archive.add(file, str(file).lstrip("/"))
        link = tarfile.TarInfo("usr/local/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, name
        archive.addfile(link)
        for folder in ("tmp", "root", "opt", "usr/bin"):
            made = tarfile.TarInfo(folder)
            made.type, made.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            archive.addfile(made)
    return path


def test_a_trial_in_images_that_no_daemon_built(podman: str, tmp_path: Path) -> None:
    with serve(Index()) as index:
        file = index.add_wheel("demo", "1.0", {"demo/__init__.py": ""}, "2021-06-01T12:30:00Z")
        assert file is not None
        content = tables(lock=f"demo==1.0 \\\n    --hash=sha256:{file.sha256}\n")
        environments = {name: content[name] for name in ("releases", "problem_environments")}
        lock_id = content["problem_environments"][0]["lock_id"]
        rows = {**environments, "published_problems": [problem(lock_id=lock_id)]}
        export(snapshot_of(rows, tmp_path), ExportFormat.HARBOR, tmp_path / "out", cast(Any, None))
        [task] = [tmp_path / "out" / json.loads((tmp_path / "out" / "tasks.jsonl").read_text())["task"]]
        path = "PATH=/usr/local/bin:/usr/bin:/bin"
        run(
            podman,
            "import",
            "-q",
            "-c",
            f"ENV {path}",
            "-c",
            f"ENV UV_DEFAULT_INDEX={index.simple}",
            base_image(tmp_path),
            BASE,
        )
        (tmp_path / "uv").mkdir()
        shutil.copy(uv.find_uv_bin(), tmp_path / "uv")
        (tmp_path / "uv" / "Containerfile").write_text("FROM scratch\nCOPY uv /uv\n")
        build = (podman, "build", "-q", "--isolation", "chroot", "--pull=never", "--layers=false")
        run(*build, "-t", UV, tmp_path / "uv")
        for name in ("environment", "tests"):
            run(*build, "-t", name, "-f", task / name / "Dockerfile", task / name)
    inside = (podman, "run", "--rm", "--pull=never", *LIMITS)
    solved, untouched = (
        shutil.copytree(task / "environment" / "app", tmp_path / name) for name in ("solved", "untouched")
    )
    folders = ("-v", f"{solved}:/app", "-v", f"{task / 'solution'}:/solution")
    script = f"sh /solution/solve.sh && {ENVIRONMENT}/bin/python -c 'import demo; print(demo.__file__)'"
    where = run(*inside, *folders, "environment", "sh", "-c", script)
    assert where.strip() == f"{ENVIRONMENT}/lib/python{PYTHON}/site-packages/demo/__init__.py"
    for app, reward in ((solved, "1"), (untouched, "0")):
        logs = tmp_path / f"logs-{reward}"
        logs.mkdir()
        run(*inside, "-v", f"{app}:/app", "-v", f"{logs}:/logs/verifier", "tests", "sh", "/tests/test.sh")
        assert (logs / "reward.txt").read_text().strip() == reward
    run(podman, "save", "-q", "--format", "oci-archive", "-o", tmp_path / "image.tar", "environment")
    with tarfile.open(tmp_path / "image.tar") as image:
        assert {"index.json", "oci-layout"} <= {*image.getnames()}
