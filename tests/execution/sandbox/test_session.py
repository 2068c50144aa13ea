"""A process in a sandbox that stays, and hands its children to a second user."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import psutil
import pytest

from pipeline.execution.sandbox import drop_privileges
from pipeline.execution.sandbox.environment import bare_environment
from pipeline.execution.sandbox.permissions import CASE_UID, INDEX_SOCKET, Permissions
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.sandbox.session import Session
from pipeline.execution.sandbox.supervise import Limits
from tests.execution.sandbox.kinds import KINDS, Opened, marks

Open = Callable[[str], Opened]
BARE = bare_environment()
LIMITS = Limits(memory_bytes=512 << 20, processes=24)
EACH = pytest.mark.parametrize("kind", [pytest.param(kind, marks=marks(kind)) for kind in KINDS])
AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="two uids take root")

ECHO = "import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)"

SERVER = """
import ctypes, os, signal, sys
sys.path.insert(0, "/tmp")
import drop_privileges
case = int(os.environ["DRIFTLINE_CASE_UID"])
server, mine = os.getpid(), bytearray(b"of the server")
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        drop_privileges.become(case)
        try:
            exec(line)
            print("DONE", flush=True)
        except BaseException as error:
            print("stopped by", repr(error), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""

ATTEMPTS = [
    "os.kill(server, signal.SIGKILL)",
    "os.kill(server, 0)",
    "os.setresuid(*[os.stat('/proc/%d' % server).st_uid] * 3)",
    "os.setresuid(0, 0, 0)",
    "os.setuid(0)",
    "os.setgroups([0])",
    "os.open('/proc/%d/mem' % server, os.O_RDWR)",
    "os.open('/proc/%d/mem' % server, os.O_RDONLY)",
    "open('/proc/%d/environ' % server).read()",
    "os.listdir('/proc/%d/fd' % server)",
    "os.remove('/tmp/drop_privileges.py')",
    "open('/tmp/drop_privileges.py', 'a')",
    "assert ctypes.CDLL(None).ptrace(16, server, 0, 0) == 0",
    "assert ctypes.CDLL(None).prlimit(server, 7, (ctypes.c_uint64 * 2)(0, 0), None) == 0",
    "assert ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(224, 224, 224)) == 0",
]


@EACH
def test_a_session_answers_until_it_is_ended(opened: Open, kind: str) -> None:
    sandbox, environment = opened(kind)
    argv = [str(environment.python), "-c", ECHO]
    with sandbox.open(argv, environment=environment, files={"a": b"x"}, limits=LIMITS) as session:
        for word in (b"one", b"two"):
            session.stdin.write(word + b"\n")
            assert session.stdout.readline() == word[::-1] + b"\n"
        assert 1 << 20 < session.memory_bytes() < 100 << 20
        assert session.files() >= 1
        session.end()
        assert session.stdout.closed


@EACH
def test_a_session_that_ends_by_itself(opened: Open, kind: str) -> None:
    sandbox, environment = opened(kind)
    argv = [str(environment.python), "-c", "import sys; sys.stderr.write('why'); sys.exit(3)"]
    with sandbox.open(argv, environment=environment, files={}, limits=LIMITS) as session:
        assert (session.stdout.read(), session.stderr.read()) == (b"", b"why")


@AS_ROOT
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_what_was_handed_to_the_second_user_cannot_touch_the_server(sandbox: Sandbox, attempt: str) -> None:
    with serving(sandbox) as session:
        assert b"stopped by" in ask(session, attempt)
        assert ask(session, "assert os.getuid() == case and not drop_privileges.held()") == b"DONE\n"


@AS_ROOT
def test_the_server_can_become_nobody_but_the_second_user(sandbox: Sandbox) -> None:
    """What a library does when the server imports it is done with the server's means."""
    program = f"""
import os
import secrets
import signal
own, case = os.getuid(), int(os.environ["{CASE_UID}"])
def refused(call, *arguments):
    try: call(*arguments)
    except PermissionError: return True
print(own != 0 != case, own != case, all([
    refused(os.setuid, case), refused(os.setresuid, 0, 0, 0), refused(os.setresuid, case, case, 0),
    refused(os.setresuid, -1, -1, 0), refused(os.setresgid, 0, 0, 0), refused(os.setgroups, [0]),
    refused(os.setgid, 0), refused(os.setregid, 0, 0), refused(os.setreuid, 0, 0), refused(os.chown, "/tmp", own, own),
    refused(os.chroot, "/tmp"),
]))
"""
    argv = [str(BARE.python), "-c", program]
    with sandbox.open(argv, environment=BARE, files={}, limits=LIMITS, grants=Permissions(second_uid=True)) as session:
        assert session.stdout.read() == b"True True True\n", session.stderr.read()


@AS_ROOT
def test_a_child_that_keeps_something_is_not_let_go_on(sandbox: Sandbox) -> None:
    with serving(sandbox) as session:
        assert b"stopped by" in ask(session, "drop_privileges.become(case + 1)")


def serving(sandbox: Sandbox) -> AbstractContextManager[Session]:
    files = {"drop_privileges.py": Path(drop_privileges.__file__).read_bytes()}
    argv = [str(BARE.python), "-c", SERVER]
    return sandbox.open(argv, environment=BARE, files=files, limits=LIMITS, grants=Permissions(second_uid=True))


def ask(session: Session, line: str) -> bytes:
    session.stdin.write(line.encode() + b"\n")
    return session.stdout.readline()


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=marks(kind)) for kind in KINDS if kind != "sandlock"])
def test_a_granted_index_is_the_one_way_out(opened: Open, kind: str) -> None:
    sandbox, environment = opened(kind)
    program = (
        f"import socket; s = socket.socket(socket.AF_UNIX); s.connect('{INDEX_SOCKET}'); print(s.recv(9).decode())"
    )
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        Path(folder).chmod(0o755)
        path = Path(folder, "index.sock")
        server.bind(str(path))
        path.chmod(0o666)
        server.listen()
        answering = threading.Thread(target=lambda: server.accept()[0].sendall(b"hello"), daemon=True)
        answering.start()
        argv = [str(environment.python), "-c", program]
        granted = sandbox.run(
            argv, environment=environment, files={}, stdin=b"", limits=LIMITS, grants=Permissions(index=path)
        )
        assert granted.stdout == b"hello\n", granted.stderr
        bare = sandbox.run(argv, environment=environment, files={}, stdin=b"", limits=LIMITS)
        assert b"FileNotFoundError" in bare.stderr


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "container"])
def test_when_we_are_killed_nothing_is_left(opened: Open, kind: str, tmp_path: Path) -> None:
    sandbox, environment = opened(kind)
    word = secrets.token_hex(8)
    program = "import os, time\nif os.fork() == 0: os.setsid()\nprint('ready', flush=True)\ntime.sleep(60)"
    child = os.fork()
    if child == 0:
        argv = [str(environment.python), "-c", program, word]
        with sandbox.open(argv, environment=environment, files={}, limits=LIMITS) as session:
            session.stdout.readline()
            (tmp_path / "ready").touch()
            time.sleep(30)
        os._exit(0)
    try:
        wait_until(lambda: (tmp_path / "ready").exists() and marked(word))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    wait_until(lambda: not marked(word))


def marked(word: str) -> list[psutil.Process]:
    return [process for process in psutil.process_iter(["cmdline"]) if word in (process.info["cmdline"] or [])]


def wait_until(seen: Callable[[], object]) -> None:
    until = time.monotonic() + 60
    while not seen():
        assert time.monotonic() < until
        time.sleep(0.02)
