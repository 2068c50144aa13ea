"""A build is named by its release and commit; clones, archives and copies without either."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from packaging.version import Version

from pipeline.core import build

GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]


def git(folder: Path, *arguments: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run([*GIT, *arguments], cwd=folder, env=clean, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one commit that stands for the project's."""
    folder = tmp_path / "outer" / "project"
    for part in ("pipeline/core/commit.txt", ".gitattributes"):
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(build._PROJECT / part, folder / part)
    (folder / "README.md").write_text("text\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    monkeypatch.setattr(build, "_PROJECT", folder)
    monkeypatch.setattr(build, "ARCHIVED_COMMIT", folder / "pipeline/core/commit.txt")
    monkeypatch.delenv("DRIFTLINE_COMMIT", raising=False)
    return folder


def named() -> str:
    build.build_version.cache_clear()
    try:
        return build.build_version()
    finally:
        build.build_version.cache_clear()


def of(project: Path) -> str:
    return f"{build.VERSION}+g{git(project, 'rev-parse', 'HEAD')[:12]}"


def test_each_commit_is_another_build_with_a_valid_version(project: Path) -> None:
    first = named()
    assert first == of(project)
    git(project, "commit", "-q", "--allow-empty", "-m", "second")
    assert named() == of(project) != first
    assert Version(named()).public == build.VERSION


@pytest.mark.parametrize(
    ("path", "dirty"),
    [("pipeline/core/commit.txt", True), ("pipeline/new.py", True), ("schemas/new.yaml", True), ("README.md", False)],
)
def test_only_sources_that_differ_from_the_commit_make_a_build_dirty(project: Path, path: str, dirty: bool) -> None:
    (project / path).parent.mkdir(exist_ok=True)
    (project / path).write_text("changed\n")
    assert named() == of(project) + (".dirty" if dirty else "")
    assert Version(named())


def test_a_variable_of_git_does_not_name_another_repository(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    git(tmp_path / "other", "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    assert named() == of(project)


def test_an_archive_of_git_names_its_commit(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(project, "archive", "-o", str(tmp_path / "a.tar"), "HEAD")
    with tarfile.open(tmp_path / "a.tar") as archive:
        archive.extractall(tmp_path / "copy", filter="data")
    monkeypatch.setattr(build, "_PROJECT", tmp_path / "copy")
    monkeypatch.setattr(build, "ARCHIVED_COMMIT", tmp_path / "copy/pipeline/core/commit.txt")
    assert named() == of(project)


@pytest.mark.parametrize("broken", [False, True])
def test_a_copy_inside_another_repository_is_not_named_by_that_one(
    project: Path, monkeypatch: pytest.MonkeyPatch, broken: bool
) -> None:
    shutil.rmtree(project / ".git")
    git(project.parent, "init", "-q")
    git(project.parent, "commit", "-q", "--allow-empty", "-m", "of the outer")
    if broken:
        (project / ".git").mkdir()
    assert named() == f"{build.VERSION}+unknown"
    monkeypatch.setenv("DRIFTLINE_COMMIT", "1f2e3d4c5b6a7f8e")
    assert named() == f"{build.VERSION}+g1f2e3d4c5b6a"
    monkeypatch.setenv("DRIFTLINE_COMMIT", "main")
    assert named() == f"{build.VERSION}+unknown"


def test_without_git_the_local_part_says_so(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert named() == f"{build.VERSION}+unknown"
