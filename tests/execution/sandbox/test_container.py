"""The command line that container engines are given, whether or not one is here."""

from __future__ import annotations

import io
import itertools
import tarfile
from pathlib import Path

import pytest

from pipeline.execution.sandbox.container import Container, EngineFailed, _archive, ask
from pipeline.execution.sandbox.environment import bare_environment
from pipeline.execution.sandbox.permissions import PermissionRefused, Permissions
from pipeline.execution.sandbox.supervise import Limits
from tests.errors import raises

BARE = bare_environment()
RUN = {"environment": BARE, "files": {"a/b": b"x"}, "stdin": b""}


@pytest.fixture
def engine(tmp_path: Path) -> Container:
    """An engine that says what it is asked, and runs nothing."""
    script = tmp_path / "docker"
    script.write_text('#!/bin/sh\n[ "$1" = --version ] && echo docker && exit\nprintf "%s\\n" "$@"\n')
    script.chmod(0o755)
    return Container((str(script),), "/usr/bin/prlimit")


def test_everything_is_closed(engine: Container, tmp_path: Path) -> None:
    grants = Permissions(read=(tmp_path,), index=tmp_path / "index.sock")
    done = engine.run(["python", "-c", "pass"], **RUN, limits=Limits(files=7, processes=9), grants=grants)  # type: ignore[arg-type]
    words = done.stdout.decode().split("\n")
    pairs = set(itertools.pairwise(words))
    assert {
        ("--network", "none"),
        ("--cap-drop", "ALL"),
        ("--security-opt", "no-new-privileges"),
        ("--pids-limit", "9"),
        ("--ulimit", "nproc=9:9"),
        ("--memory", str(4 << 30)),
        ("--pull", "never"),
        ("--volume", f"{tmp_path}:{tmp_path}:ro"),
        ("--volume", f"{tmp_path}/index.sock:/run/index.sock:ro"),
        ("--volume", "/usr:/usr:ro"),
    } <= pairs
    assert "--read-only" in words
    assert not {"--privileged", "--pid", "--userns"} & set(words)
    mounts = [second for first, second in pairs if first == "--volume"]
    assert all(mount.endswith(":ro") for mount in mounts)
    assert words[words.index("--user") + 1] not in ("0:0", "")


def test_without_cgroups_none_are_asked_for(engine: Container) -> None:
    without = Container(engine.engine, engine.prlimit, cgroups=False)
    words = without.run(["true"], **RUN, limits=Limits()).stdout.decode().split("\n")  # type: ignore[arg-type]
    assert "--cgroups=disabled" in words
    assert "--memory" not in words


def test_a_named_image_brings_its_own_system(engine: Container) -> None:
    named = Container(engine.engine, engine.prlimit, image="debian:12")
    words = named.run(["true"], **RUN, limits=Limits()).stdout.decode().split("\n")  # type: ignore[arg-type]
    assert "debian:12" in words
    assert "/usr:/usr:ro" not in words


def test_no_second_user(engine: Container) -> None:
    with raises(PermissionRefused, code="sandbox_lacks_user"):
        engine.run(["true"], **RUN, limits=Limits(), grants=Permissions(second_uid=True))  # type: ignore[arg-type]


def test_the_image_holds_nothing_but_the_way_to_this_system() -> None:
    with tarfile.open(fileobj=io.BytesIO(_archive())) as archive:
        members = {member.name: member for member in archive.getmembers()}
    assert members["usr"].isdir()
    assert members["etc/hosts"].size > 0
    assert sum(member.size for member in members.values()) < 1000
    assert {name for name, member in members.items() if member.issym()} == {
        path.name
        for path in Path("/").iterdir()
        if path.is_symlink() and path.name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
    }


def test_an_engine_that_fails_says_why(tmp_path: Path) -> None:
    script = tmp_path / "podman"
    script.write_text("#!/bin/sh\necho 'cannot connect' >&2\nexit 1\n")
    script.chmod(0o755)
    with raises(EngineFailed, "podman info", code="container_engine_failed"):
        ask((str(script),), "info")
    with raises(EngineFailed, code="container_engine_failed"):
        ask((str(tmp_path / "nothing"),), "info")
