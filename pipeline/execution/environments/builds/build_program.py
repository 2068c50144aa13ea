"""Runs a command of uv inside the sandbox, whose only way out is a socket; a file of its own, for Python 3.6 and newer.

It listens on the loopback of the sandbox and passes bytes on to the socket, runs the command with `{index}` replaced by
that address, and writes to standard output a line of JSON (status, or null after a time-out; the beginning and the end
of the log; name and length of the result), and the result: what the command printed, or the wheel that was wanted.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.6 cannot subscript these
    Words = list[str]
    Status = int | None
    Ended = tuple[Status, bytes, bytes]
    Named = tuple[str, bytes]

_CHUNK = 1 << 16
_HEAD, _TAIL = 1 << 15, 1 << 17
_NOT_BUILT = ("archive-", "builds-", "src")  # folders of uv's cache: unpacked wheels, build environments, sources


class BoundedReader:
    """The beginning of what a pipe brings, and the end of it; what is between is read and dropped."""

    def __init__(self, pipe: IO[bytes], head: int, tail: int) -> None:
        self._pipe, self._head, self._tail = pipe, head, tail
        self.head, self.tail = b"", b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for chunk in iter(lambda: os.read(self._pipe.fileno(), _CHUNK), b""):
            room = self._head - len(self.head)
            self.head += chunk[:room]
            self.tail = (self.tail + chunk[room:])[-self._tail :] if self._tail else b""

    def whole(self) -> bytes:
        """Return what was kept, once the pipe is closed, or five seconds later."""
        self._thread.join(5)
        return self.head + self.tail


def main() -> None:
    """Do what the order on standard input says."""
    order = json.loads(sys.stdin.read())
    address = _listen(order["socket"])
    command = [word.replace("{index}", address) for word in order["command"]]
    status, log, printed = _run(command, order["time_s"], order["result_bytes"])
    name, result = "", b""
    if status == 0 and order["wheel"]:
        name, result = _built(Path(order["cache"]), order["wheel"], order["result_bytes"])
    elif status == 0:
        result = printed
    report = {"status": status, "log": log.decode("utf-8", "replace"), "name": name, "length": len(result)}
    sys.stdout.buffer.write(json.dumps(report).encode() + b"\n" + result)
    sys.stdout.buffer.flush()
    os._exit(0)  # threads are still waiting for connections


def _run(command: "Words", time_s: float, result_bytes: int) -> "Ended":
    """Return status (None after a time-out), log, and what was printed; end all that the command started."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout
        assert process.stderr
        printed, log = BoundedReader(process.stdout, result_bytes, 0), BoundedReader(process.stderr, _HEAD, _TAIL)
        status: Status = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = process.wait(time_s)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        return status, log.whole(), printed.whole()


def _built(cache: Path, name: str, most: int) -> "Named":
    """Return name and bytes of the wheel of a distribution, which uv keeps in its cache after building it."""
    normalized = re.sub(r"[-_.]+", "-", name).lower()
    for folder, folders, names in os.walk(str(cache)):
        folders[:] = [each for each in folders if not each.startswith(_NOT_BUILT)]
        for file in names:
            of = re.sub(r"[-_.]+", "-", file.split("-")[0]).lower()
            path = Path(folder, file)
            if file.endswith(".whl") and of == normalized and path.stat().st_size <= most:
                return file, path.read_bytes()
    return "", b""


def _listen(path: str) -> str:
    """Listen on a free port of the loopback, and return the address of the index there."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    _start(_serve, listener, path)
    return f"http://127.0.0.1:{listener.getsockname()[1]}/simple"


def _serve(listener: socket.socket, path: str) -> None:
    while True:
        _start(_connect, listener.accept()[0], path)


def _connect(client: socket.socket, path: str) -> None:
    with client, socket.socket(socket.AF_UNIX) as way_out, contextlib.suppress(OSError):
        way_out.connect(path)
        back = _start(_pass_on, way_out, client)
        _pass_on(client, way_out)
        back.join()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        for chunk in iter(lambda: source.recv(_CHUNK), b""):
            target.sendall(chunk)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _start(target: Any, *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


if __name__ == "__main__":
    main()
