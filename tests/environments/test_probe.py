from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.environments import NoSandbox, SandboxUnavailable, diagnose, find_sandbox, probe
from pipeline.environments.seccomp import seccomp_filter


def without_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put a bubblewrap that this kernel refuses in the place of the real ones."""
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(probe, "_binaries", lambda: [broken])


def test_no_sandbox_is_an_error_that_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_bubblewrap(monkeypatch, tmp_path)
    with pytest.raises(SandboxUnavailable, match=r"No permissions to create new namespace.*DRIFTLINE_ALLOW_UNSAFE=1"):
        find_sandbox()
    assert [finding.works for finding in diagnose() if finding.name == "sandbox"] == [False]


def test_no_sandbox_only_if_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_ALLOW_UNSAFE", "1")
    assert not isinstance(find_sandbox(), NoSandbox)
    without_bubblewrap(monkeypatch, tmp_path)
    assert isinstance(find_sandbox(), NoSandbox)


def test_a_sandbox_that_leaks_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_door = tmp_path / "bwrap"
    open_door.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    open_door.chmod(0o755)
    monkeypatch.setattr(probe, "_binaries", lambda: [open_door])
    with pytest.raises(SandboxUnavailable):
        find_sandbox()


def test_diagnosis_finds_what_this_machine_has() -> None:
    findings = {finding.name: finding for finding in diagnose()}
    assert set(findings) == {"interpreters", "uv", "sandbox", "disk"}
    assert findings["interpreters"].works
    assert findings["uv"].seen.startswith("uv ")
    assert findings["sandbox"].seen.startswith("bubblewrap")


def test_the_filter_is_made_for_known_machines_only() -> None:
    assert len(seccomp_filter("x86_64")) % 8 == 0
    assert seccomp_filter("x86_64") != seccomp_filter("aarch64")
    with pytest.raises(KeyError):
        seccomp_filter("pdp11")
