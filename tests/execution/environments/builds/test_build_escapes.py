from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from pipeline.core.vocabularies.running import EnvironmentOutcome as Outcome
from pipeline.execution.environments.resolution.failures import StepFailed
from pipeline.execution.environments.resolution.interpreters import Interpreter
from tests.errors import raises
from tests.execution.environments.builds.sources import JUNE, MAY, Builders, built, files, said_by, source
from tests.index_server import Index, wheel

ATTEMPTS = """
import socket, subprocess
def tried(name, function):
    try:
        function()
        said[name] = True
    except Exception as error:
        said[name] = False
def tcp(host, port):
    socket.create_connection((host, port), 2).close()
def unix(path):
    s = socket.socket(socket.AF_UNIX); s.connect(path)
def udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("192.0.2.1", 53)); s.send(b"x")
def read(path):
    open(path).read()
def write(path):
    open(path, "a").close()
def foreign_variable():
    for pid in (name for name in os.listdir("/proc") if name.isdigit()):
        try:
            if b"TOLD_TO_NOBODY" in open("/proc/%%s/environ" %% pid, "rb").read():
                return
        except OSError:
            pass
    raise KeyError("TOLD_TO_NOBODY")
def signal_parent():
    os.kill(%(pid)d, 0)
tried("tcp to the index behind the gateway", lambda: tcp("127.0.0.1", %(port)d))
tried("tcp to another host", lambda: tcp("192.0.2.1", 443))
tried("udp", udp)
tried("name service", lambda: socket.getaddrinfo("localhost.localdomain.example.org", 443))
tried("abstract socket of the host", lambda: unix("\\0%(abstract)s"))
tried("socket file of the host", lambda: unix(%(unix)r))
tried("read a file of the host", lambda: read(%(secret)r))
tried("read home", lambda: os.listdir(%(home)r))
tried("write beside the interpreter", lambda: write(%(prefix)r + "/poisoned"))
tried("write to the cache that others link from", lambda: write(%(cache)r + "/poisoned"))
tried("write to /usr", lambda: write("/usr/poisoned"))
tried("variable of the parent", foreign_variable)
tried("signal to the parent", signal_parent)
"""
HARMLESS_OUTSIDE = {
    "tcp to the index behind the gateway",
    "abstract socket of the host",
    "socket file of the host",
    "read a file of the host",
    "read home",
    "write to the cache that others link from",
    "variable of the parent",
    "signal to the parent",
}


def test_no_way_out_of_a_build(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOLD_TO_NOBODY", "told to nobody")
    (tmp_path / "secret").write_text("told to nobody")
    with socket.socket(socket.AF_UNIX) as abstract, socket.socket(socket.AF_UNIX) as on_disk:
        name = f"driftline-test-{os.getpid()}"
        abstract.bind(f"\0{name}")
        abstract.listen()
        on_disk.bind(str(tmp_path / "host.sock"))
        on_disk.listen()
        body = ATTEMPTS % {
            "port": int(index.url.rpartition(":")[2]),
            "pid": os.getpid(),
            "abstract": name,
            "unix": str(tmp_path / "host.sock"),
            "secret": str(tmp_path / "secret"),
            "home": str(tmp_path),
            "prefix": str(python.prefix),
            "cache": str(tmp_path),
        }
        index.add("lib", "1.0", source("lib", body=body), MAY)
        escaped = said_by(built(builder_at(tmp_path / "wheels"), python))
        held_back = _outside(body, tmp_path)
    assert [name for name, worked in escaped.items() if worked] == []
    assert {name for name in HARMLESS_OUTSIDE if not held_back[name]} == set()


def _outside(body: str, tmp_path: Path) -> dict[str, Any]:
    """Run the same attempts without a sandbox, those that do no harm: one that fails there too would prove nothing."""
    kept = "\n".join(
        line
        for line in body.splitlines()
        if not line.startswith("tried(") or any(f'"{name}"' in line for name in HARMLESS_OUTSIDE)
    )
    folder = tmp_path / "outside"
    folder.mkdir()
    for name, text in files("lib", body=kept).items():
        (folder / name).write_text(text)
    subprocess.run([sys.executable, "-c", "import backend; backend.build_wheel('.')"], cwd=folder, check=True)
    return said_by(folder / "lib-1.0-py3-none-any.whl")


def test_only_the_index_answers_inside(index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path) -> None:
    body = """
import json, urllib.request, urllib.error
index = None
for pid in sorted(p for p in os.listdir("/proc") if p.isdigit()):
    for word in open("/proc/%s/cmdline" % pid).read().split("\\0"):
        if word.startswith("http://127.0.0.1:"):
            index = word
def status(target, method="GET"):
    try:
        return urllib.request.urlopen(urllib.request.Request(target, method=method), timeout=5).status
    except urllib.error.HTTPError as error:
        return error.code
root = index[:-len("/simple")]
said["page"] = status(index + "/lib/")
said["document"] = status(root + "/pypi/lib/json")
said["upload"] = status(index + "/lib/", "POST")
said["elsewhere"] = status(root + "/http://example.org/")
"""
    index.add("lib", "1.0", source("lib", body=body), MAY)
    asked = dict(index.requests)
    said = said_by(built(builder_at(tmp_path), python))
    assert said == {"page": 200, "document": 404, "upload": 501, "elsewhere": 404}
    assert set(index.requests) - set(asked) == {"/pypi/lib/json", "/files/lib-1.0.tar.gz"}


def test_what_a_build_does_to_its_cache_ends_with_it(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    body = """
for place, _, _ in os.walk("/tmp/cache"):
    try:
        open(os.path.join(place, "dep-1.0-py3-none-any.whl"), "w").write("poison")
        said["poisoned"] = True
    except OSError:
        pass
"""
    index.add("lib", "1.0", source("lib", body=body, depends=("dep",)), MAY)
    index.add("dep", "1.0", source("dep", body="said['honest'] = True"), MAY)
    builder = builder_at(tmp_path)
    assert said_by(built(builder, python)) == {"poisoned": True}
    assert said_by(built(builder, python, "dep")) == {"honest": True}


def test_a_flood_of_output_is_not_kept(index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path) -> None:
    index.add("lib", "1.0", source("lib", body="while True: print('flood' * 1000)"), MAY)
    before = psutil.Process().memory_info().rss
    with pytest.raises(StepFailed) as failed:
        built(builder_at(tmp_path, time_s=5, memory_mib=256), python)
    assert failed.value.outcome in (Outcome.TIMED_OUT, Outcome.BUILD_FAILED)
    assert psutil.Process().memory_info().rss - before < 64 << 20


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("-r /etc/passwd", "not a pin"),
        ("--index-url https://example.org/simple", "not a pin"),
        ("evil @ https://example.org/evil-1.0-py3-none-any.whl", "not a pin"),
        ("evil==1.0", "not a pin"),
        ("dep==1.0 \\\n    --hash=sha256:" + "0" * 64, "dep==1.0"),
    ],
)
def test_a_build_that_writes_into_the_lock(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path, lines: str, problem: str
) -> None:
    body = f"""
for pid in (p for p in os.listdir("/proc") if p.isdigit()):
    try:
        if b"/uv\\0pip" in open("/proc/%s/cmdline" % pid, "rb").read():
            os.write(os.open("/proc/%s/fd/1" % pid, os.O_WRONLY), {lines.encode()!r} + b"\\n")
    except OSError:
        pass
"""
    index.add("lib", "1.0", source("lib", body=body), MAY)
    index.add("dep", "1.0", wheel("dep", "1.0", {"dep.py": ""}), MAY)
    with raises(StepFailed, problem) as failed:
        builder_at(tmp_path).lock(["lib==1.0"], python, JUNE)
    assert failed.value.outcome == Outcome.BUILD_FAILED


def test_nothing_of_an_endless_build_goes_on(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    body = "import subprocess\nsubprocess.Popen(['sleep', '98765'], start_new_session=True)\nsubprocess.call(['sleep', '98765'])"
    index.add("lib", "1.0", source("lib", body=body), MAY)
    with pytest.raises(StepFailed) as failed:
        built(builder_at(tmp_path, time_s=2), python)
    assert failed.value.outcome == Outcome.TIMED_OUT
    assert not [p for p in psutil.process_iter(["cmdline"]) if "98765" in (p.info["cmdline"] or ())]
