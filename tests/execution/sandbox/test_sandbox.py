"""What a program in a sandbox finds, how its end is told, and what it may be granted; escapes have a suite of their own."""

from __future__ import annotations

import os
import pty
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.execution.sandbox.environment import Environment, bare_environment
from pipeline.execution.sandbox.permissions import PermissionRefused, Permissions
from pipeline.execution.sandbox.sandbox import NoSandbox, Sandbox
from pipeline.execution.sandbox.sandlock import Sandlock
from pipeline.execution.sandbox.supervise import Finished, Limits
from tests.errors import raises
from tests.execution.sandbox.kinds import KINDS, Opened, marks

Open = Callable[[str], Opened]
BARE = bare_environment()
LIMITS = Limits(time_s=10, memory_bytes=512 << 20, processes=24, scratch_bytes=8 << 20, file_bytes=4 << 20)
EACH = pytest.mark.parametrize("kind", [pytest.param(kind, marks=marks(kind)) for kind in KINDS])
WITH_NAMESPACES = pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=marks(kind)) for kind in KINDS if kind != "sandlock"]
)


def run(opened: Opened, program: str, *arguments: str, limits: Limits = LIMITS, **how: object) -> Finished:
    sandbox, environment = opened
    argv = [str(environment.python), "-c", program, *arguments]
    options = {"files": {}, "stdin": b"", **how}
    return sandbox.run(argv, environment=environment, limits=limits, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("attempt", "error"),
    [
        ("socket.create_connection(('192.0.2.1', 80), 2)", "(101,"),
        ("socket.create_connection(('2001:db8::1', 80), 2)", "(101,"),
        ("socket.socket(40, socket.SOCK_STREAM)", "(97,"),  # vsock: no network namespace holds it back
        ("socket.socket(38, socket.SOCK_SEQPACKET)", "(97,"),  # the kernel's crypto
        ("os.setgroups([0])", "PermissionError"),
        ("os.chroot('/tmp')", "PermissionError"),
        ("os.mknod('/tmp/disk', 0o60666, 0xfe00)", "PermissionError"),
        ("open('/dev/x', 'w')", "Error"),
        ("open('/proc/sys/kernel/hostname', 'w').write('x')", "Error"),
        ("open('/proc/sysrq-trigger', 'w').write('b')", "Error"),
    ],
)
@WITH_NAMESPACES
def test_refused(opened: Open, kind: str, attempt: str, error: str) -> None:
    program = f"import os, socket\ntry:\n    {attempt}\nexcept Exception as e: print(repr(e))\nelse: print('ESCAPED')"
    said = run(opened(kind), program).stdout.decode()
    assert error in said
    assert "ESCAPED" not in said


@WITH_NAMESPACES
def test_little_is_there(opened: Open, kind: str) -> None:
    listing = run(opened(kind), "import os; print(*os.listdir('/'), *(p for p in os.listdir('/proc') if p.isdigit()))")
    names = set(listing.stdout.decode().split())
    assert not {"home", "work", "mnt", "opt", "srv", "boot"} & names
    assert len([name for name in names if name.isdigit()]) <= 4


@EACH
def test_privileges_cannot_be_had_back(opened: Open, kind: str) -> None:
    status = run(opened(kind), "print(open('/proc/self/status').read())").stdout.decode()
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert facts["NoNewPrivs"] == "1"
    assert {int(facts[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")} == {0}
    assert "0" not in facts["Uid"].split()


@EACH
def test_what_a_program_needs_is_there(opened: Open, kind: str) -> None:
    program = """
import asyncio, os, subprocess, sys, tempfile, threading, time
assert os.path.samefile(os.path.expanduser("~"), os.getcwd())
assert open("a/b.txt").read() == "here" and sys.stdin.read() == "input"
assert time.tzname == ("UTC", "UTC") and os.environ["OMP_NUM_THREADS"] == "1" and os.environ["MORE"] == "x"
open("/dev/null", "w").write("x"); os.urandom(4); tempfile.TemporaryDirectory(); open("mine", "w").write("x")
threading.Thread(target=print, args=("thread",)).start()
async def main(): await asyncio.sleep(0.01)
asyncio.run(main())
print(subprocess.run([sys.executable, "-c", "print('child')"], capture_output=True, text=True).stdout, end="")
"""
    done = run(opened(kind), program, files={"a/b.txt": b"here"}, stdin=b"input", variables={"MORE": "x"})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"thread\nchild\n", b"")


@WITH_NAMESPACES
def test_a_loopback_and_shared_memory_of_its_own(opened: Open, kind: str) -> None:
    program = """
import multiprocessing, socket
assert socket.gethostbyname("localhost") == "127.0.0.1"
server = socket.create_server(("localhost", 0))
socket.create_connection(server.getsockname())
assert socket.gethostname() == "sandbox"
multiprocessing.Lock()
"""
    done = run(opened(kind), program)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_user_has_a_name(sandbox: Sandbox) -> None:
    assert run((sandbox, BARE), "import getpass; print(getpass.getuser())").stdout == b"sandbox\n"


@EACH
@pytest.mark.parametrize(
    ("program", "status"), [("import sys; sys.exit(3)", 3), ("import os; os.kill(os.getpid(), 11)", 139)]
)
def test_status(opened: Open, kind: str, program: str, status: int) -> None:
    assert run(opened(kind), program).returncode == status


@EACH
def test_output_is_cut_at_the_limit(opened: Open, kind: str) -> None:
    done = run(opened(kind), "while True: print('x' * 1000)", limits=replace(LIMITS, output_bytes=10_000))
    assert done.too_much_output
    assert len(done.stdout) == 10_000


@EACH
def test_what_went_over_a_limit_is_told(opened: Open, kind: str) -> None:
    tree = "import os, time\nfor _ in range(8):\n  if not os.fork():\n    x = b'x' * (100 << 20); time.sleep(20)\ntime.sleep(20)"
    done = run(opened(kind), tree)
    assert (done.out_of_memory, done.killed) == (True, True)
    assert done.peak_memory_bytes > LIMITS.memory_bytes
    files = "import time\nfor i in range(900): open(str(i), 'w').close()\ntime.sleep(20)"
    assert run(opened(kind), files, limits=replace(LIMITS, files=500)).too_many_files


def test_pages_that_processes_share_are_counted_once(opened: Open) -> None:
    program = "import os, time\nx = b'x' * (200 << 20)\nfor _ in range(6):\n  if not os.fork(): break\ntime.sleep(1)"
    done = run(opened(KINDS[os.getuid() != 0]), program)
    assert (done.returncode, done.out_of_memory) == (0, False)
    assert 200 << 20 < done.peak_memory_bytes < LIMITS.memory_bytes


def test_runs_at_the_same_time_have_different_uids(sandbox: Sandbox) -> None:
    program = "import os, time; time.sleep(0.5); print(os.getuid())"
    with ThreadPoolExecutor(3) as pool:
        uids = list(pool.map(lambda _: run((sandbox, BARE), program).stdout, range(3)))
    assert len(set(uids)) == (3 if os.getuid() == 0 else 1)


@EACH
def test_more_can_be_granted_to_read(opened: Open, kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        Path(folder, "file").write_text("granted")
        program = "import sys; print(open(sys.argv[1]).read())"
        for grant in (Path(folder), Path(folder, "file")):
            done = run(opened(kind), program, f"{folder}/file", grants=Permissions(read=(grant,)))
            assert done.stdout == b"granted\n", done.stderr


@EACH
def test_nothing_reaches_our_terminal(opened: Open, kind: str) -> None:
    """A program that opens the terminal itself could write to it, or type into it for us."""
    sandbox, environment = opened(kind)
    attempt = [str(environment.python), "-c", "open('/dev/tty', 'w').write('TYPED')"]
    child, terminal = pty.fork()
    if child == 0:
        sandbox.run(attempt, environment=environment, files={}, stdin=b"", limits=LIMITS)
        os.write(1, b"over")
        os._exit(0)
    assert read_all(terminal) == b"over"
    os.waitpid(child, 0)
    child, terminal = pty.fork()
    if child == 0:
        os.execv(attempt[0], attempt)
    assert read_all(terminal) == b"TYPED"
    os.waitpid(child, 0)


def read_all(terminal: int) -> bytes:
    said = b""
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:  # how a pseudo-terminal tells its end
            chunk = b""
        if not chunk:
            os.close(terminal)
            return said
        said += chunk


def test_sandlock_refuses_in_words_what_it_cannot_give(tmp_path: Path) -> None:
    sandlock = Sandlock("/usr/bin/prlimit")
    for grants in (Permissions(second_uid=True), Permissions(index=tmp_path / "socket")):
        with raises(PermissionRefused, code="sandbox_lacks_index"):
            run((sandlock, BARE), "", grants=grants)
    if os.getuid() == 0:
        tmp_path.chmod(0o700)
        with raises(PermissionRefused, code="sandbox_cannot_read"):
            run((sandlock, replace(BARE, folders=(tmp_path,))), "")


def test_without_a_sandbox_limits_and_scratch_still_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_TEST_SECRET", "very-secret")
    program = (
        "import os; print(open('a/b').read(), 'DRIFTLINE_TEST_SECRET' in os.environ, os.getcwd() == os.environ['HOME'])"
    )
    unprotected = (NoSandbox(), Environment("bare", "3.11", Path(sys.executable), Path(), ()))
    assert run(unprotected, program, files={"a/b": b"x"}).stdout == b"x False True\n"
    forked = "import os, time\nos.fork()\ntime.sleep(60)"
    assert run(unprotected, forked, limits=replace(LIMITS, time_s=0.5)).timed_out
    with pytest.raises(PermissionRefused):
        run(unprotected, "", grants=Permissions(second_uid=True))
