"""Prepare this folder for a scorer: environments from their locks, and the paths of the place where it lies.

`python3 prepare.py [PART-OF-A-NAME …]` needs Python 3.9, `uv` (pip install uv) and a package index. Environments that
exist are left alone. The sources of a project are imported from its own folder: its installed copy is not kept.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = "Source_Code"
COPY = "Source_Code_Copy"
ABSOLUTE = ("func_name", "block_key", "run_command")
"""Fields of Codev-Bench with paths, which its scorer expects to be absolute."""
NOT_COMPLETED = ("__pycache__", "tests", "test")


def read(file: Path) -> list[dict[str, Any]]:
    """Return the records of a file of JSON lines, none where there is no such file."""
    if not file.is_file():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def uv(*arguments: str) -> None:
    """Run uv, quietly unless it fails."""
    subprocess.run(["uv", "--quiet", *arguments], check=True)


def install(folder: Path, python: str, lock: str, *options: str) -> Path:
    """Make an environment with what a lock pins; return its site-packages."""
    uv("venv", "--clear", "--python", python, str(folder))
    interpreter = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    (folder / "lock.txt").write_text(lock, encoding="utf-8")
    if lock:
        uv("pip", "install", "--python", interpreter, "--no-deps", "--require-hashes", "-r", str(folder / "lock.txt"))
    if options:
        uv("pip", "install", "--python", interpreter, *options)
    command = [interpreter, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return Path(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode().strip())


def without(lock: str, name: str) -> str:
    """Return a lock without one distribution."""
    pins = [pin for pin in blocks(lock) if not pin.startswith(f"{name}==")]
    return "".join(pins)


def blocks(lock: str) -> Iterator[str]:
    """Yield the lines of each distribution of a lock."""
    block = ""
    for line in lock.splitlines(keepends=True):
        if block and not line.startswith(" "):
            yield block
            block = ""
        block += line
    if block:
        yield block


def make_project(root: Path, project: dict[str, Any]) -> None:
    """Make the environment `myenv` of a project: all but the project itself, which is imported from its folder.

    Of the installed project only metadata and what a build generates are kept.
    """
    folder = root / SOURCES / project["folder"]
    lock, name = project["lock"], project["project"]
    extra = [*project["extra"]] if project.get("extra") else []
    if extra and project.get("cutoff"):
        extra += ["--exclude-newer", project["cutoff"]]
    site_packages = install(folder / "myenv", project["python"], without(lock, name), *extra)
    built = folder / "myenv" / "built"
    own = folder / "myenv" / "own.txt"
    own.write_text("".join(pin for pin in blocks(lock) if pin.startswith(f"{name}==")), encoding="utf-8")
    target = ["--target", str(built), "--python", project["python"]]
    uv("pip", "install", *target, "--no-deps", "--require-hashes", "-r", str(own))
    adopt(project, folder, site_packages, built)
    shutil.rmtree(str(built))


def adopt(project: dict[str, Any], folder: Path, site_packages: Path, built: Path) -> None:
    """Take metadata and generated files of an installed project, and have its folder be what is imported."""
    for metadata in built.glob("*.dist-info"):
        shutil.copytree(str(metadata), str(site_packages / metadata.name))
    imported = folder / (project.get("import_root") or "")
    hidden = {str(folder / path) for path in project.get("hidden", ())}
    for package in project["packages"]:
        complete(imported / package, built / package, hidden)
    paths = dict.fromkeys((str(imported.resolve()), str(folder.resolve())))
    (site_packages / "driftline-project.pth").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")


def complete(package: Path, built: Path, hidden: set[str]) -> None:
    """Copy into a package what only its build makes, and no file that was left out of the export."""
    if not package.is_dir() or not built.is_dir():
        return
    for there in sorted(built.iterdir()):
        here = package / there.name
        if there.name in NOT_COMPLETED or str(here) in hidden:
            continue
        if there.is_dir() and here.is_dir():
            complete(here, there, hidden)
        elif there.is_file() and not here.exists():
            shutil.copyfile(str(there), str(here))


def place(root: Path) -> None:
    """Write the absolute paths of this place into the records of Codev-Bench, in place of those of any other."""
    files = [*(root / "prompts").glob("*.jsonl"), *(root / "metadatas").glob("*/*.jsonl")]
    for file in sorted(files):
        records = read(file)
        for record in records:
            record.update({name: placed(root, record[name]) for name in ABSOLUTE if name in record})
        file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def placed(root: Path, text: str) -> str:
    """Return a path below the sources, or a command that begins with `cd` to one, with its absolute path."""
    inside = text.rpartition(f"{SOURCES}/")[2]
    if text.startswith("cd "):
        return f"cd {shlex.quote(str(root.resolve()))}/{SOURCES}/{inside}"
    return f"{root.resolve()}/{SOURCES}/{inside}"


def main(root: Path, names: list[str]) -> int:
    """Prepare a folder; return 0, or 1 where an environment could not be made."""
    failed = 0
    projects = read(root / "projects.jsonl")
    if (root / "metadatas").is_dir():
        place(root)
        if not (root / COPY).exists():
            shutil.copytree(str(root / SOURCES), str(root / COPY), ignore=shutil.ignore_patterns("myenv"))
    rows = [*read(root / "environments.jsonl"), *projects]
    for row in rows:
        folder = root / SOURCES / row["folder"] / "myenv" if row in projects else root / row["folder"]
        if (folder / "ready").exists() or (names and not any(name in row["folder"] for name in names)):
            continue
        try:
            if row in projects:
                make_project(root, row)
            else:
                install(folder, row["python"], row["lock"])
            (folder / "ready").touch()
        except subprocess.CalledProcessError as error:
            failed += 1
            sys.stderr.write(f"{row['folder']}: {error}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parent, sys.argv[1:]))
