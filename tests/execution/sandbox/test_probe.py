from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.execution.environments.diagnosis import diagnose
from pipeline.execution.sandbox import probe
from pipeline.execution.sandbox.bubblewrap import Bubblewrap
from pipeline.execution.sandbox.environment import bare_environment
from pipeline.execution.sandbox.probe import SandboxUnavailable, find_sandbox
from pipeline.execution.sandbox.sandbox import NoSandbox
from pipeline.execution.sandbox.seccomp import same_user_filter, seccomp_filter, seccomp_profile
from tests.errors import raises
from tests.execution.sandbox.kinds import NotHere, everyones


@pytest.fixture
def without_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put a bubblewrap that this kernel refuses in the place of the real ones."""
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nprintf 'bwrap: No permissions to create \\033[31mnew namespace\\n' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(probe, "_binaries", lambda: [broken])


@pytest.fixture
def with_an_open_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the probe use an interpreter that every user can read, as most machines have it."""
    try:
        found = everyones()
    except NotHere as error:
        pytest.skip(str(error))
    monkeypatch.setattr(probe, "bare_environment", lambda: replace(bare_environment(), python=found.python, folders=()))
    probe._problem.cache_clear()


@pytest.mark.usefixtures("without_bubblewrap")
def test_no_sandbox_is_an_error_that_says_what_to_do() -> None:
    with raises(SandboxUnavailable, "DRIFTLINE_ALLOW_UNSAFE=1", code="sandbox_unavailable") as e:
        find_sandbox()
    assert "\033" not in str(e.value)
    [finding] = [finding for finding in diagnose() if finding.name == "sandbox"]
    assert not finding.works
    assert all(kind in finding.advice for kind in ("container engine: none is named", "bubblewrap", "sandlock"))


@pytest.mark.usefixtures("without_bubblewrap")
def test_no_sandbox_only_if_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_ALLOW_UNSAFE", "1")
    assert isinstance(find_sandbox(), NoSandbox)


def test_a_sandbox_is_taken_before_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_ALLOW_UNSAFE", "1")
    assert not isinstance(find_sandbox(), NoSandbox)


@pytest.mark.usefixtures("without_bubblewrap", "with_an_open_interpreter")
def test_sandlock_is_taken_where_it_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    with raises(SandboxUnavailable, "DRIFTLINE_ALLOW_SANDLOCK=1", code="sandbox_unavailable"):
        find_sandbox()
    monkeypatch.setenv("DRIFTLINE_ALLOW_SANDLOCK", "1")
    assert find_sandbox().kind == "sandlock"


def test_an_engine_that_is_named_and_does_not_work_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_CONTAINER_ENGINE", "no-such-engine --quiet")
    first, second, *_ = probe.trials()
    assert "no-such-engine" in str(first)
    assert "No such file" in str(second)
    assert isinstance(find_sandbox(), Bubblewrap)


def test_a_sandbox_that_leaks_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_door = tmp_path / "bwrap"
    open_door.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    open_door.chmod(0o755)
    monkeypatch.setattr(probe, "_binaries", lambda: [open_door])
    with pytest.raises(SandboxUnavailable):
        find_sandbox()


def test_diagnosis_finds_what_this_machine_has() -> None:
    findings = {finding.name: finding for finding in diagnose()}
    assert set(findings) == {"interpreters", "uv", "sandbox", "disk", "system libraries"}
    assert findings["interpreters"].works
    assert findings["uv"].observed.startswith("uv ")
    assert findings["sandbox"].observed.startswith("bubblewrap")


@pytest.mark.parametrize("made", [seccomp_filter, same_user_filter])
def test_a_filter_is_made_for_known_machines_only(made: Callable[[str], bytes]) -> None:
    assert len(made("x86_64")) % 8 == 0
    assert made("x86_64") != made("aarch64")
    with pytest.raises(KeyError):
        made("pdp11")


def test_the_profile_of_engines_refuses_what_the_filter_refuses() -> None:
    profile = seccomp_profile()
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    assert isinstance(profile["syscalls"], list)
    names = {name for rule in profile["syscalls"] for name in rule["names"]}
    assert {"unshare", "mount", "ptrace", "bpf", "memfd_create", "shmget", "clone3", "clone", "socket"} <= names
