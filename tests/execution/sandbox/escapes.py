"""Escapes from a sandbox: each is real, and is reached if the attempt comes to its end or the host was touched."""

from __future__ import annotations

import socket
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.permissions import Permissions
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.sandbox.supervise import Limits
from tests.execution.sandbox import worlds
from tests.execution.sandbox.worlds import SECRET, WorldOf

LIMITS = Limits(
    time_s=20,
    memory_bytes=256 << 20,
    processes=24,
    output_bytes=100_000,
    file_bytes=16 << 20,
    scratch_bytes=8 << 20,
    open_files=128,
    files=2_000,
)
_PROGRAM = """
import ctypes, glob, os, signal, socket, subprocess, sys, tempfile, threading, time
told = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
def call(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
def read(path):
    with open(path, errors="replace") as file:
        return file.read()
def tell(*found):
    if not any(found):
        raise LookupError("nothing found")
try:
{attempt}
    print("ESC" + "APED", flush=True)
except BaseException as error:
    print("stopped by", repr(error), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Escape:
    """An attempt to break a promise; `control` is what shows it to work without a sandbox, None if that would harm."""

    promise: str
    name: str
    attempt: str
    world: WorldOf = worlds.empty
    control: str | None = ""
    needs_root: bool = False
    as_user: int | None = None
    limits: Limits = field(default=LIMITS)


@dataclass(frozen=True, slots=True)
class Tried:
    """How an attempt came out, and what it said."""

    escaped: bool
    said: str


def attempt(escape: Escape, sandbox: Sandbox, environment: Environment) -> Tried:
    """Try an escape from a sandbox."""
    with escape.world(sandbox, environment) as world:
        argv = [str(environment.python), "-I", "-c", _program(escape.attempt), world.argument]
        grants = Permissions(read=world.read)
        done = sandbox.run(argv, environment=environment, files={}, stdin=b"", limits=escape.limits, grants=grants)
        said = (done.stdout + done.stderr).decode(errors="replace")
        late = done.duration_s > escape.limits.time_s + 3
        return Tried(
            "ESCAPED" in said or late or world.reached(), f"{said[-500:]} {replace(done, stdout=b'', stderr=b'')}"
        )


def attempt_unprotected(escape: Escape, environment: Environment) -> Tried:
    """Try the same without any sandbox, to see that nothing else is in its way."""
    text = escape.control or escape.attempt
    user: dict[str, Any] = {}
    if escape.as_user is not None:
        user = {"user": escape.as_user, "group": escape.as_user, "extra_groups": []}
    with escape.world(None, environment) as world, tempfile.TemporaryDirectory() as folder:
        argv = [str(environment.python), "-I", "-c", _program(text), world.argument]
        done = subprocess.run(argv, capture_output=True, cwd=folder, close_fds=False, timeout=60, check=False, **user)
        said = (done.stdout + done.stderr).decode(errors="replace")
        return Tried("ESCAPED" in said or world.reached(), said[-500:])


def _program(text: str) -> str:
    return _PROGRAM.format(attempt="".join(f"    {line}\n" for line in text.strip().splitlines()))


def _flood(stream: str) -> str:
    return f"for _ in range(200): sys.{stream}.write('x' * 10_000 + '\\n')\nsys.{stream}.flush()"


_TCP = "socket.create_connection(({address!r}, int(told)), 2).send(b'x')"
_UDP = "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', int(told)))\nraise LookupError"
_UNIX = "s = socket.socket(socket.AF_UNIX, {kind})\ns.connect({prefix}told)\ns.send(b'x')"
_ALL = "for path in glob.glob({pattern!r}):\n    try: found.append({wanted!r}[::-1] in read(path))\n    except OSError: pass"
_FORK = "for _ in range(60):\n    if os.fork() == 0:\n        time.sleep(5); os._exit(0)"
_SLEEPS = "threading.Thread(target=time.sleep, args=(3,), daemon=True).start()"
# What is bounded is looked at now and then, so that all have to have grown before it ends.
_GROW = """
ends = os.pipe()
for _ in range(6):
    if os.fork() == 0:
        x = bytearray(b'x') * (60 << 20)
        os.write(ends[1], b'x')
        time.sleep(5)
        os._exit(0)
os.close(ends[1])
if sum(len(os.read(ends[0], 1)) for _ in range(6)) < 6: raise MemoryError
time.sleep(1)
"""
_DAEMON = """
if os.fork() == 0:
    os.setsid()
    for number in set(range(1, 32)) - {9, 19}:
        try: signal.signal(number, signal.SIG_IGN)
        except OSError: pass
    if os.fork() == 0:
        for number in (0, 1, 2): os.close(number)
        time.sleep(15)
    os._exit(0)
os._exit(0)
"""
_NEW_USER = 0x10000000


def _network() -> Sequence[Escape]:
    stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    tcp, six = worlds.listener(socket.AF_INET, stream, "127.0.0.1"), worlds.listener(socket.AF_INET6, stream, "::1")
    udp = worlds.listener(socket.AF_INET, datagram, "127.0.0.1")
    path = _UNIX.format(kind="socket.SOCK_STREAM", prefix="")
    datagrams = _UNIX.format(kind="socket.SOCK_DGRAM", prefix="")
    abstract = _UNIX.format(kind="socket.SOCK_STREAM", prefix="'\\0' + ")
    packet = "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 768)"
    raw = "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"
    return (
        Escape("no TCP", "tcp", _TCP.format(address="127.0.0.1"), tcp),
        Escape("no TCP", "tcp over IPv6", _TCP.format(address="::1"), six),
        Escape("no UDP", "udp", _UDP, udp),
        Escape("no DNS", "dns", "socket.getaddrinfo('example.org', 80)", control=None),
        Escape("no Unix sockets of the host", "unix path", path, worlds.unix_listener(stream, False)),
        Escape("no Unix sockets of the host", "unix datagram", datagrams, worlds.unix_listener(datagram, False)),
        Escape("no Unix sockets of the host", "unix abstract", abstract, worlds.unix_listener(stream, True)),
        Escape("no raw packets", "packet socket", packet, needs_root=True),
        Escape("no raw packets", "raw socket", raw, needs_root=True),
    )


def _reading() -> Sequence[Escape]:
    variables = "found = []\n" + _ALL.format(pattern="/proc/*/environ", wanted=SECRET[::-1]) + "\ntell(*found)"
    commands = "found = []\n" + _ALL.format(pattern="/proc/*/cmdline", wanted=SECRET[::-1]) + "\ntell(*found)"
    above = (
        "for who in (1, os.getppid()):\n"
        "    try: said = {part for part in read(f'/proc/{who}/environ').split('\\0') if not part.startswith('PWD=')}\n"
        "    except OSError: continue\n"
        "    if said - {f'{k}={v}' for k, v in os.environ.items()} - {''}: break\n"
        "else: raise LookupError"
    )
    # of a parent of its own: the worker of a test run may have written its title over its variables
    of_parent = (
        "code = \"import os; print('PATH=' in open(f'/proc/{os.getppid()}/environ').read())\"\n"
        "tell('True' in subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout)"
    )
    scratch = "found = []\n" + "\n".join(
        _ALL.format(pattern=pattern, wanted=SECRET[::-1])
        for pattern in (
            "/tmp/*/sample.py",
            "/var/tmp/*/sample.py",
            "/dev/shm/*",
            "/proc/*/cwd/sample.py",
            "../*/sample.py",
        )
    )
    inherited = f"found = []\nfor n in range(3, 64):\n    try: found.append({SECRET!r}.encode() in os.pread(n, 99, 0))\n    except OSError: pass\ntell(*found)"
    return (
        Escape("no home, no secrets", "file in home", "read(told)", worlds.secret_in_home),
        Escape("no home, no secrets", "file that all may read", "read(told + '/precious')", worlds.folder_outside),
        Escape("no home, no secrets", "passwords", "tell('root:' in read('/etc/shadow'))", needs_root=True),
        Escape("no home, no secrets", "users", "tell('root:' in read('/etc/passwd'))"),
        Escape("other samples unseen", "scratch of another", scratch + "\ntell(*found)", worlds.scratch_of_another),
        Escape("no variables of the host", "variables of a process", variables, worlds.victim),
        Escape("no variables of the host", "variables of parents", above, control=of_parent),
        Escape("no /proc of the host", "command lines", commands, worlds.victim),
        Escape("no files inherited", "descriptors", inherited, worlds.open_descriptor),
        Escape("names of files unseen", "stat", "os.stat(told + '/precious')", worlds.folder_outside),
    )


def _writing() -> Sequence[Escape]:
    everywhere = (
        "found = []\nfor place in ('/', '/usr/bin', '/etc', '/var/tmp', '/dev/shm', '/tmp', '/run', '/root'):\n"
        "    try: open(os.path.join(place, told), 'w').write('x')\n    except OSError: pass\nraise LookupError"
    )
    through = "os.symlink(told, 'link')\nopen('link/precious', 'w').write('x')"
    linked = "os.link(told + '/precious', 'mine')\nopen('mine', 'w').write('x')"
    cleaned = "os.symlink(told, 'link')\nos.mkdir('closed')\nos.symlink(told, 'closed/link')\nos.chmod('closed', 0)\nraise LookupError"
    through_link = "os.symlink(told, 'link')\nos.remove('link/precious')"
    outside, granted = worlds.folder_outside, worlds.folder_granted
    return (
        Escape("no writing outside scratch", "new file", "open(told + '/new', 'w').write('x')", outside),
        Escape("no writing outside scratch", "places of the system", everywhere, worlds.places),
        Escape("no writing outside scratch", "what may be read", "open(told + '/precious', 'a').write('x')", granted),
        Escape("no writing outside scratch", "mode", "os.chmod(told + '/precious', 0o777)", granted),
        Escape("no writing outside scratch", "times", "os.utime(told + '/precious', (1, 1))", granted),
        Escape("no writing outside scratch", "deleting", "os.remove(told + '/precious')", granted),
        Escape("links lead nowhere", "through a symbolic link", through, granted),
        Escape("links lead nowhere", "through a hard link", linked, granted),
        Escape("links lead nowhere", "followed when deleting", cleaned, outside, through_link),
    )


def _using() -> Sequence[Escape]:
    disk = "for i in range(20): open(f'{place}/{i}', 'wb').write(bytes(1 << 20))\ntime.sleep(0.5)"
    unlinked = "kept = []\nfor i in range(20):\n    kept.append(open(f'u{i}', 'wb', 0)); os.remove(f'u{i}'); kept[-1].write(bytes(1 << 20))\ntime.sleep(0.5)"
    hoard = (
        "for i in range(50):\n    n = libc.memfd_create(b'x', 0); call(n); os.write(n, bytes(8 << 20))\ntime.sleep(0.5)"
    )
    segments = "for i in range(50):\n    n = libc.shmget(0, 8 << 20, 0o1600); call(n)\n    libc.shmctl(n, 0, 0)\ntime.sleep(0.2)"
    stubborn = "for n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\ntime.sleep(4)"
    shared = disk.replace("{place}", "/dev/shm/" + "x").replace("/dev/shm/x/", "/dev/shm/x")
    cleanup = "\nfor i in range(20): os.remove(f'/dev/shm/x{i}')"
    return (
        Escape("fork bombs end", "processes", _FORK, worlds.leavings),
        Escape("fork bombs end", "threads", f"for _ in range(200): {_SLEEPS}\ntime.sleep(0.5)"),
        Escape("memory is bounded", "one process", "x = bytearray(b'x') * (400 << 20)"),
        Escape("memory is bounded", "all processes", _GROW, worlds.leavings),
        Escape("memory is bounded", "memory files", hoard),
        Escape("memory is bounded", "shared segments", segments),
        Escape("disk is bounded", "many files", disk.replace("{place}", ".")),
        Escape("disk is bounded", "one file", "open('x', 'wb').write(bytes(20 << 20))"),
        Escape("disk is bounded", "deleted files", unlinked),
        Escape("disk is bounded", "shared memory", shared, control=shared + cleanup),
        Escape("inodes are bounded", "empty files", "for i in range(9000): open(str(i), 'w').close()\ntime.sleep(0.5)"),
        Escape("output is cut", "stdout", _flood("stdout")),
        Escape("output is cut", "stderr", _flood("stderr")),
        Escape("time is bounded", "ignored signals", stubborn, limits=replace(LIMITS, time_s=1.5)),
    )


def _taking() -> Sequence[Escape]:
    tree = "for who in (told, os.getppid(), 1):\n    try: os.kill(int(who), 9)\n    except OSError: pass\nos.kill(-1, 9)\nraise LookupError"
    tracing = "call(libc.ptrace(0x4206, int(told), 0, 0))"
    parent = "call(libc.ptrace(0x4206, os.getppid(), 0, 0))"
    memory = "buffer = ctypes.create_string_buffer(8)\nos.pread(os.open(f'/proc/{told}/mem', os.O_RDWR), 8, int(read(f'/proc/{told}/maps').split('-')[0], 16))"
    setuid = "tell('euid=0' in subprocess.run([told], capture_output=True, text=True).stdout)"
    clone = f"if os.uname().machine == 'x86_64': call(libc.syscall(56, {_NEW_USER} | 17, 0, 0, 0, 0))\nelse: call(libc.syscall(220, {_NEW_USER} | 17, 0, 0, 0, 0))"
    clone3 = f"a = (ctypes.c_uint64 * 8)({_NEW_USER}, 0, 0, 0, 17, 0, 0, 0)\ncall(libc.syscall(435, a, 64))"
    mounting = "call(libc.unshare(0x20000))\ncall(libc.mount(b'none', b'/mnt', b'tmpfs', 0, 0))"
    limiting = "import resource\nresource.prlimit(int(told), resource.RLIMIT_NOFILE, (8, 8))"
    joining = (
        "for who in (told, 1, os.getppid()):\n"
        "    try: call(libc.setns(os.open(f'/proc/{who}/ns/mnt', 0), 0)); break\n"
        "    except OSError: pass\n"
        "else: raise LookupError"
    )
    return (
        Escape("processes end with the run", "daemon", _DAEMON, worlds.leavings),
        Escape("no signals to the host", "kill", tree, worlds.victim, "os.kill(int(told), 9)"),
        Escape("no signals to the host", "limits of a process", limiting, worlds.victim),
        Escape("no tracing", "ptrace", tracing, worlds.victim),
        Escape("no tracing", "ptrace of the parent", parent),
        Escape("no tracing", "memory", memory, worlds.victim),
        Escape("no other user", "setuid", "os.setuid(0)", needs_root=True),
        Escape("no other user", "setuid program", setuid, worlds.setuid_program, needs_root=True, as_user=54321),
        Escape("no namespaces inside", "unshare", f"call(libc.unshare({_NEW_USER}))"),
        Escape("no namespaces inside", "clone", clone),
        Escape("no namespaces inside", "clone3", clone3),
        Escape("no namespaces inside", "setns", joining, worlds.victim, needs_root=True),
        Escape("no namespaces inside", "mount", mounting, needs_root=True),
    )


ESCAPES = (*_network(), *_reading(), *_writing(), *_using(), *_taking())

NOT_KEPT = {"sandlock": frozenset({"names of files unseen"})}
"""Promises that a kind of sandbox cannot keep, and does not claim to."""
