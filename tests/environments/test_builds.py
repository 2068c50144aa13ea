from __future__ import annotations

import hashlib
import os
import re
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest

from pipeline.environments import Interpreter, NoSandbox, Sandbox, StepFailed, discover, environment_rules
from pipeline.environments.build_rules import build_rules
from pipeline.environments.builds import Builder
from pipeline.environments.failures import IndexUnreachable
from pipeline.environments.index_facts import IndexFacts
from pipeline.environments.pinned import read_lock
from pipeline.terms import EnvironmentOutcome as Outcome
from tests.environments.sources import files, source
from tests.index_server import Index, wheel

MAY = "2021-05-01T00:00:00Z"
JUNE = datetime(2021, 6, 1, tzinfo=UTC)
Builders = Callable[..., Builder]


@pytest.fixture
def python() -> Interpreter:
    return next(found for found in discover() if found.python == "3.9")


@pytest.fixture
def builder_at(index: Index, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Builders:
    def make(root: Path, **changed: Any) -> Builder:
        rules = build_rules().model_copy(update={"time_s": 30} | changed)
        monkeypatch.setattr("pipeline.environments.builds.build_rules", lambda: rules)
        return Builder(root, facts=IndexFacts(index.simple), sandbox=sandbox, rules=environment_rules())

    return make


def said_by(wheel: Path) -> dict[str, Any]:
    """Return what the build put into the module of its wheel."""
    names: dict[str, Any] = {}
    with zipfile.ZipFile(wheel) as archive:
        text = next(archive.read(name) for name in archive.namelist() if "/" not in name)
    exec(text, names)
    return dict(names["said"])


def built(builder: Builder, python: Interpreter, name: str = "lib") -> Path:
    lock = builder.lock([f"{name}==1.0"], python, JUNE)
    return builder.wheel(next(pin for pin in read_lock(lock) if pin.name == name), python)


def test_a_source_is_resolved_built_and_kept(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    file = index.add("lib", "1.0", source("lib", depends=("dep",)), MAY)
    index.add("dep", "1.0", wheel("dep", "1.0", {"dep.py": ""}), MAY)
    index.add("dep", "2.0", wheel("dep", "2.0", {"dep.py": ""}), "2022-01-01T00:00:00Z")
    lock = builder_at(tmp_path).lock(["lib==1.0"], python, JUNE)
    dep, lib = read_lock(lock)
    assert (dep.requirement, dep.built) == ("dep==1.0", None)
    assert file is not None
    assert (lib.requirement, lib.sha256s) == ("lib==1.0", (file.sha256,))
    assert lib.built is not None
    assert lib.built.as_of == JUNE
    text = builder_at(tmp_path).installable(lock, python)
    found = re.search(r"^lib @ file://(\S+) \\\n    --hash=sha256:(\w+)$", text, re.M)
    assert found
    assert hashlib.sha256(Path(found[1]).read_bytes()).hexdigest() == found[2]
    assert text.startswith("dep==1.0 \\\n")
    index.projects.clear()
    assert builder_at(tmp_path).installable(lock, python) == text


def test_the_same_source_makes_the_same_wheel(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    index.add("lib", "1.0", source("lib", body="said['epoch'] = os.environ.get('SOURCE_DATE_EPOCH')"), MAY)
    wheels = [built(builder_at(tmp_path / name), python) for name in "ab"]
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    assert said_by(wheels[0]) == {"epoch": str(int(datetime(2021, 5, 1, tzinfo=UTC).timestamp()))}


@pytest.mark.parametrize(
    ("asked", "version", "from_source"),
    [
        (("lib==1.0", "dep"), "1.0", False),
        (("lib==1.0", "dep>=2"), "2.0", True),
        (("lib==1.0", "dep==2.0"), "2.0", True),
        (("lib==1.0", "dep<1"), "0.9", True),
    ],
)
def test_wheels_go_before_sources(
    index: Index,
    builder_at: Builders,
    python: Interpreter,
    tmp_path: Path,
    asked: tuple[str, ...],
    version: str,
    from_source: bool,
) -> None:
    index.add("lib", "1.0", wheel("lib", "1.0", {"lib.py": ""}), MAY)
    index.add("dep", "0.9", source("dep", "0.9"), "2020-01-01T00:00:00Z")
    index.add("dep", "1.0", wheel("dep", "1.0", {"dep.py": ""}), "2020-02-01T00:00:00Z")
    index.add("dep", "1.0", source("dep", "1.0", body="raise SystemExit('must not run')"), "2020-02-01T00:00:00Z")
    index.add("dep", "2.0", source("dep", "2.0"), MAY)
    dep = read_lock(builder_at(tmp_path).lock(list(asked), python, JUNE))[0]
    assert (dep.version, dep.built is not None) == (version, from_source)


def test_what_has_a_cutoff_of_its_own(index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path) -> None:
    index.add("lib", "1.0", source("lib", depends=("tool",)), MAY)
    index.add("tool", "1.0", wheel("tool", "1.0", {"tool.py": ""}), MAY)
    index.add("tool", "2.0", wheel("tool", "2.0", {"tool.py": ""}), "2023-01-01T00:00:00Z")
    later = {"Tool": datetime(2024, 1, 1, tzinfo=UTC)}
    lock = builder_at(tmp_path).lock(["lib==1.0"], python, JUNE, later)
    assert [pin.requirement for pin in read_lock(lock)] == ["lib==1.0", "tool==2.0"]


def test_build_requirements_are_those_of_the_day(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    body = "import helper; said['helper'] = helper.version"
    index.add("lib", "1.0", source("lib", body=body, requires=("helper",)), MAY)
    for version, day in (("1.0", MAY), ("2.0", "2021-05-20T00:00:00Z"), ("3.0", "2023-01-01T00:00:00Z")):
        index.add("helper", version, wheel("helper", version, {"helper.py": f"version = {version!r}"}), day)
    assert said_by(built(builder_at(tmp_path / "day"), python)) == {"helper": "2.0"}
    constraint = build_rules().constraints[0].model_copy(update={"requirement": "helper<2", "python": ""})
    constrained = builder_at(tmp_path / "constrained", constraints=(constraint,))
    assert said_by(built(constrained, python)) == {"helper": "1.0"}
    never = builder_at(tmp_path / "never", constraints=(constraint.model_copy(update={"requirement": "helper<1"}),))
    assert said_by(built(never, python)) == {"helper": "2.0"}


def test_what_is_compiled_against_is_what_it_runs_with(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    body = "import numpy; said['numpy'] = numpy.version"
    index.add("lib", "1.0", source("lib", body=body, requires=("numpy",), depends=("numpy",)), MAY)
    for version in ("1.19", "1.20"):
        index.add("numpy", version, wheel("numpy", version, {"numpy.py": f"version = {version!r}"}), MAY)
    builder = builder_at(tmp_path)
    lock = builder.lock(["lib==1.0", "numpy==1.19"], python, JUNE)
    found = re.search(r"file://(\S+)", builder.installable(lock, python))
    assert found
    assert said_by(Path(found[1])) == {"numpy": "1.19"}


def test_what_a_setup_needs_and_does_not_declare(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    index.add("lib", "1.0", source("lib", body="import numpy, Cython"), MAY)
    index.add("numpy", "1.0", wheel("numpy", "1.0", {"numpy.py": ""}), MAY)
    index.add("cython", "1.0", wheel("cython", "1.0", {"Cython.py": ""}), MAY)
    assert built(builder_at(tmp_path / "a"), python).name == "lib-1.0-py3-none-any.whl"
    with pytest.raises(StepFailed, match="No module named 'numpy'"):
        built(builder_at(tmp_path / "b", undeclared={}), python)


@pytest.mark.parametrize(
    ("body", "outcome", "missing", "detail"),
    [
        ("raise SystemExit('error: no luck today')", Outcome.BUILD_FAILED, None, "no luck today"),
        ("import nothing_of_that_name", Outcome.BUILD_FAILED, None, "No module named 'nothing_of_that_name'"),
        (
            "open('x.c', 'w').write('#include <nothere.h>')\n"
            "import subprocess; subprocess.check_call(['gcc', '-c', 'x.c'])",
            Outcome.BUILD_FAILED,
            "header nothere.h",
            "fatal error: nothere.h: No such file or directory",
        ),
        (
            "import subprocess; subprocess.check_call(['gfortran-of-another-machine'])",
            Outcome.BUILD_FAILED,
            "tool gfortran-of-another-machine",
            "No such file or directory: 'gfortran-of-another-machine'",
        ),
        ("import time; time.sleep(600)", Outcome.TIMED_OUT, None, "not done after 2 s"),
        ("x = open('x', 'wb')\nwhile True: x.write(bytes(1 << 20))", Outcome.BUILD_FAILED, "scratch", "No space left"),
        (
            "x = []\nwhile True: x.append(bytearray(1 << 20))",
            Outcome.BUILD_FAILED,
            None,
            "emory",
        ),
        ("return 'nothing.whl'", Outcome.BUILD_FAILED, None, "The build backend returned an error"),
    ],
)
def test_failures_end_in_an_outcome(
    index: Index,
    builder_at: Builders,
    python: Interpreter,
    tmp_path: Path,
    body: str,
    outcome: Outcome,
    missing: str | None,
    detail: str,
) -> None:
    index.add("lib", "1.0", source("lib", body=body), MAY)
    builder = builder_at(tmp_path, time_s=2, memory_mib=256, scratch_mib=64)
    with pytest.raises(StepFailed) as failed:
        built(builder, python)
    assert failed.value.outcome == outcome
    assert (failed.value.missing or "").startswith(missing or "")
    assert bool(failed.value.missing) == bool(missing)
    assert detail in failed.value.detail
    assert len(failed.value.detail) <= 800
    assert not list(tmp_path.rglob("*.whl"))


def test_a_sandbox_that_cannot_show_the_index_alone_builds_nothing(
    index: Index, python: Interpreter, tmp_path: Path
) -> None:
    index.add("lib", "1.0", source("lib"), MAY)
    builder = Builder(tmp_path, facts=IndexFacts(index.simple), sandbox=NoSandbox(), rules=environment_rules())
    with pytest.raises(StepFailed, match="nothing can be built here: without a sandbox") as failed:
        builder.lock(["lib==1.0"], python, JUNE)
    assert failed.value.outcome == Outcome.BUILD_FAILED


def test_an_index_that_fails_is_not_a_fact_about_the_release(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add("lib", "1.0", source("lib", requires=("helper",)), MAY)
    index.add("helper", "1.0", wheel("helper", "1.0", {"helper.py": ""}), MAY)
    index.faults["/files/helper-1.0-py3-none-any.whl"] = [503] * 99
    monkeypatch.setattr("pipeline.crawl.http.RETRY_STATUSES", ())
    with pytest.raises(IndexUnreachable):
        built(builder_at(tmp_path), python)


def test_a_failure_is_remembered_and_a_finished_wheel_shared(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path
) -> None:
    index.add("bad", "1.0", source("bad", body="raise SystemExit(sum(range(10)))"), MAY)
    index.add("lib", "1.0", source("lib"), MAY)
    builder = builder_at(tmp_path)
    first = built(builder, python)
    started = time.monotonic()
    lock = "lib==1.0 \\\n    --hash=sha256:{}\n    # built from source as of 2021-06-01T00:00:00Z\n"
    assert read_lock(lock.format(index.projects["lib"]["1.0"][0].sha256))
    assert built(builder, python) == first
    assert time.monotonic() - started < 20


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
            if b"DRIFTLINE_SECRET" in open("/proc/%%s/environ" %% pid, "rb").read():
                return
        except OSError:
            pass
    raise KeyError("DRIFTLINE_SECRET")
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
    monkeypatch.setenv("DRIFTLINE_SECRET", "told to nobody")
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


@pytest.mark.parametrize(
    ("change", "works"), [("NAME = 'other'", False), ("VERSION = '9.0'", False), ("REQUIRES[:] = ['new']", True)]
)
def test_a_wheel_is_of_what_was_resolved(
    index: Index, builder_at: Builders, python: Interpreter, tmp_path: Path, change: str, works: bool
) -> None:
    body = f"global NAME, VERSION\nif 'SOURCE_DATE_EPOCH' in os.environ: {change}"
    index.add("lib", "1.0", source("lib", body=body), MAY)
    if works:
        assert built(builder_at(tmp_path), python).name == "lib-1.0-py3-none-any.whl"
        return
    with pytest.raises(StepFailed) as failed:
        built(builder_at(tmp_path), python)
    assert failed.value.outcome == Outcome.BUILD_FAILED
    assert "lib has invalid metadata" in failed.value.detail


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
        ("-r /etc/passwd", "not a pin with hashes"),
        ("--index-url https://example.org/simple", "not a pin with hashes"),
        ("evil @ https://example.org/evil-1.0-py3-none-any.whl", "not a pin with hashes"),
        ("evil==1.0", "not a pin with hashes"),
        ("dep==1.0 \\\n    --hash=sha256:" + "0" * 64, "the index has no such files of dep==1.0"),
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
    with pytest.raises(StepFailed, match=problem) as failed:
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
