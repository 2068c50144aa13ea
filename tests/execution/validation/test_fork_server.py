"""The fork server: the same outcomes as fresh, however nasty the cases, and nothing that a case can do to it or to others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pipeline.core.vocabularies.running import Outcome, Process
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import NoSandbox, Sandbox
from pipeline.execution.validation import fork_server
from pipeline.execution.validation.cases import Attempt, Case, Result
from pipeline.execution.validation.fork_server import ForkServer, imports_of
from pipeline.execution.validation.fresh import Fresh
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases
from pipeline.lake.rows import SnippetCheck

NASTY = {
    "passes": "import lib\nassert lib.Box(1).grow(2) == 3",
    "fails": "import lib\nassert lib.Box(1).grow(2) == 4",
    "raises": "import lib\nlib.Box(1).broken()",
    "api": "import lib\nlib.gone",
    "signature": "import lib\nlib.Box()",
    "submodule": "import lib\nlib.described",
    "import": "import lib.broken",
    "name": "lib",
    "syntax": "x = (",
    "never ends": "while True: pass",
    "sleeps": "import time\ntime.sleep(60)",
    "ignores signals": "import signal, time\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\ntime.sleep(60)",
    "prints forever": "while True: print('x' * 10000)",
    "memory": "x = b'x' * (1 << 30)",
    "memory of a tree": "import os, time\nfor _ in range(4): os.fork()\nx = b'x' * (100 << 20)\ntime.sleep(60)",
    "exits": "import sys\nsys.exit(0)",
    "exits hard": "import os\nos._exit(0)",
    "aborts": "import os\nos.abort()",
    "crashes": "import ctypes\nctypes.string_at(0)",
    "kills itself": "import os\nos.kill(os.getpid(), 9)",
    "kills its parent": "import os\nos.kill(os.getppid(), 9)\nassert False",
    "kills all": "import os\nos.kill(-1, 9)",
    "kills its group": "import os\nos.killpg(0, 9)",
    "stops itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "fork bomb": "import os\nwhile True: os.fork()",
    "threads": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()",
    "daemon": "import os, time\nif not os.fork():\n    os.setsid()\n    if not os.fork(): time.sleep(600)\n    os._exit(0)",
    "child goes on": "import os\nif os.fork(): 1 / 0",
    "child fails": "import os\nif not os.fork(): 1 / 0",
    "fills the disk": "f = open('x', 'wb')\nwhile True: f.write(b'x' * (1 << 20))",
    "many files": "for n in range(10**9): open(str(n), 'w')",
    "deep folders": "import os\nfor n in range(3000): os.mkdir('d'); os.chdir('d')",
    "locked folders": "import os\nos.makedirs('a/b/c'); open('a/b/c/f', 'w'); os.chmod('a/b', 0); os.chmod('a', 0)",
    "links": "import os\nos.symlink('/', 'root'); os.symlink('/etc/passwd', 'file'); os.mkfifo('pipe'); os.link('pipe', 'pipe2')",
    "removes all": "import shutil\nshutil.rmtree('.', ignore_errors=True); open('mine', 'w')",
    "leaves": "import os, time\nos.chdir('/'); time.tzset()",
    "closes all": "import os\nos.closerange(0, 3)",
    "closes the harness": "import os\nos.closerange(3, 512)",
    "patches": "import os, sys, json, builtins\nos._exit = os.write = os.getpid = json.dumps = builtins.print = None\nsys.stdout = sys.stderr = None",
    "patches the library": "import lib\nlib.Box = lib.save = None",
    "environment": "import os\nos.environ.clear(); os.environ['PYTHONPATH'] = '/x'",
    "network": "import socket\nsocket.create_connection(('192.0.2.1', 1))",
    "writes": "open('/usr/mine', 'w')",
    "atexit": "import atexit, os\natexit.register(os._exit, 0)\nassert False",
    "excepthook": "import sys, os\nsys.excepthook = lambda *a: os._exit(0)\nassert False",
    "traces": "import sys\nsys.settrace(lambda *a: None); sys.setrecursionlimit(50)",
    "recursion": "def f(): f()\nf()",
    "random": "import random\nassert random.random() == 0.8444218515250481",
    "hash": "assert hash('a') == hash('a')",
    "first import warns": "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n    import lib.old\nassert w",
}  # fmt: skip
ENDLESS = {"never ends", "sleeps", "ignores signals", "stops itself"}


@pytest.fixture
def limited(rules: ValidationRules) -> ValidationRules:
    small = {"repeats": 1, "time_s": 4.0, "memory_mib": 400, "processes": 30, "file_mib": 16, "scratch_mib": 16}
    return rules.model_copy(update=small | {"fork_from": 1})


@pytest.fixture
def outcomes(installed: Environment, sandbox: Sandbox, limited: ValidationRules) -> Callable[..., dict[str, Result]]:
    def run(cases: dict[str, str], process: Process = Process.FORK) -> dict[str, Result]:
        """Run cases: seconds are few for those that use them all, and enough for others to meet their limits on a busy machine."""
        results = []
        for time_s, names in ((limited.time_s, ENDLESS & cases.keys()), (60.0, cases.keys() - ENDLESS)):
            rules = limited.model_copy(update={"process": process, "time_s": time_s})
            wanted = [Case(name, "", code, import_names=("lib",)) for name, code in cases.items() if name in names]
            results += run_cases(installed, wanted, sandbox, rules, workers=2) if wanted else []
        return {result.id: result for result in results}

    return run


@pytest.fixture
def forked(installed: Environment, sandbox: Sandbox, limited: ValidationRules, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run pieces of code one after the other in one server, without any confirmation by a fresh process."""

    def run(*codes: str) -> list[Attempt | None]:
        cases = [
            Case(str(number), "", "import lib\n" + code, import_names=("lib",)) for number, code in enumerate(codes)
        ]
        fresh = Fresh(installed, sandbox, limited)
        monkeypatch.setattr(
            Fresh, "attempt", lambda self, case, repeat: Attempt(Outcome.HARNESS_ERROR, case.code, 0, 0)
        )
        with ForkServer(fresh, cases, imports_of(cases, installed, limited)) as server:
            return [server.attempt(case, 0) for case in cases]

    return run


@pytest.mark.slow
def test_the_same_outcomes_as_fresh(outcomes: Callable[..., dict[str, Result]]) -> None:
    fresh, forked = outcomes(NASTY, Process.FRESH), outcomes(NASTY)
    told = {name: (result.outcome, forked[name].outcome) for name, result in fresh.items()}
    assert {name: pair for name, pair in told.items() if pair[0] != pair[1]} == {}
    assert len(told) >= 40


def test_quick_ones_come_out_the_same(outcomes: Callable[..., dict[str, Result]]) -> None:
    quick = {name: code for name, code in list(NASTY.items())[::4] if name not in ENDLESS}
    fresh, forked = outcomes(quick, Process.FRESH), outcomes(quick)
    assert {name: result.outcome for name, result in fresh.items()} == {n: r.outcome for n, r in forked.items()}


@pytest.mark.parametrize("process", [Process.FORK, Process.FRESH])
@pytest.mark.parametrize("ignore_warnings", [False, True])
def test_warnings_are_printed_unless_the_rules_ignore_them(
    installed: Environment, sandbox: Sandbox, limited: ValidationRules, process: Process, ignore_warnings: bool
) -> None:
    rules = limited.model_copy(update={"process": process, "ignore_warnings": ignore_warnings})
    case = Case("", "", "import warnings\nimport lib\nwarnings.warn('gone soon')", import_names=("lib",))
    (result,) = run_cases(installed, [case], sandbox, rules)
    assert result.outcome is Outcome.PASSED
    assert ("gone soon" in result.output) is not ignore_warnings


def test_cases_are_forked_from_one_server(forked: Any) -> None:
    results = forked(*["import os; print(os.getppid(), 'lib' in __import__('sys').modules)"] * 4)
    said = {result.output for result in results}
    assert len(said) == 1
    assert said.pop().endswith("True\n")


# What was killed stands in /proc until its new parent, the sandbox's first process, has taken note of its end.
COUNT_PROCESSES = """\
import os, time
for _ in range(100):
    running = [p for p in os.listdir('/proc') if p.isdigit()]
    if len(running) == 4: break
    time.sleep(0.05)
else:
    assert False, running
"""
STAYS_BEHIND = {
    "file": ("open('secret', 'w').write('x')", "import os\nassert not os.path.exists('/tmp/secret')"),
    "hidden folders": (
        "import os\nos.makedirs('/tmp/.a/b/c'); os.chmod('/tmp/.a/b', 0); open('/dev/shm/x', 'w')",
        "import os\nassert set(os.listdir('/tmp')) <= {'case.py', 'pytest-of-root'} and not os.listdir('/dev/shm')",
    ),
    "process": (
        "import os, time\nif not os.fork():\n    os.setsid()\n    if not os.fork(): time.sleep(60)\n    os._exit(0)",
        COUNT_PROCESSES,
    ),
    "chain": (
        "import os\nif not os.fork():\n    os.setsid()\n    while True:\n        if os.fork(): os._exit(0)",
        COUNT_PROCESSES,
    ),
    "writer": (
        "import os, time\nif not os.fork():\n    os.setsid()\n    while True: open('/tmp/again', 'w')",
        "import os, time\ntime.sleep(0.2)\nassert not os.path.exists('/tmp/again')",
    ),
    "listener": (
        "import os, socket, time\ns = socket.socket(); s.bind(('127.0.0.1', 5000)); s.listen()\nif not os.fork(): time.sleep(60)",
        "import socket\ntry: socket.create_connection(('127.0.0.1', 5000))\nexcept ConnectionRefusedError: pass\nelse: assert False",
    ),
    "queue": (
        "import ctypes\nassert ctypes.CDLL(None).msgget(7, 0o1666) >= 0",
        "import ctypes\nassert ctypes.CDLL(None).msgget(7, 0o666) < 0",
    ),
    "module": ("lib.Box = None\nimport lib.shapes", "import lib\nassert lib.Box(1)"),
    "variable": ("import os\nos.environ['X'] = 'x'", "import os\nassert 'X' not in os.environ"),
    "folder": ("import os\nos.chdir('/')", "import os\nassert os.getcwd() == '/tmp'"),
    "umask": ("import os\nos.umask(0o777)", "import os\nassert os.umask(0o22) != 0o777"),
    "limit": ("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))", "[open('/dev/null') for _ in range(20)]"),
    "priority": ("import os\nos.nice(19)", "import os\nassert os.nice(0) != 19"),
}  # fmt: skip


@pytest.mark.parametrize("name", STAYS_BEHIND)
def test_nothing_stays_behind(forked: Any, name: str) -> None:
    before, after = STAYS_BEHIND[name]
    first, second = forked(before, after)
    assert (first.outcome, second.outcome) == (Outcome.PASSED, Outcome.PASSED), (first, second)


REFUSED = [
    "os.kill(os.getppid(), 9)",
    "os.kill(os.getppid(), signal.SIGSTOP)",
    "open('/proc/%d/mem' % os.getppid(), 'r+b')",
    "open('/proc/%d/mem' % os.getppid(), 'rb')",
    "open('/proc/%d/environ' % os.getppid()).read()",
    "os.listdir('/proc/%d/fd' % os.getppid())",
    "open('/proc/%d/fd/0' % os.getppid(), 'rb')",
    "open('/proc/%d/fd/1' % os.getppid(), 'wb')",
    "os.readlink('/proc/%d/exe' % os.getppid())",
    "open('/proc/%d/oom_score_adj' % os.getppid(), 'w').write('1000')",
    "os.setuid(0)",
    "os.setresuid(-1, int(open('/proc/%d/status' % os.getppid()).read().split('Uid:')[1].split()[0]), -1)",
    "os.setresgid(-1, int(open('/proc/%d/status' % os.getppid()).read().split('Gid:')[1].split()[0]), -1)",
    "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))",
    "os.sched_setaffinity(os.getppid(), [0])",
    "call('ptrace', 16, os.getppid(), 0, 0)",
    "call('process_vm_readv', os.getppid(), 0, 0, 0, 0, 0)",
    "call('process_vm_writev', os.getppid(), 0, 0, 0, 0, 0)",
    "call('capset', (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(0xE0, 0xE0, 0, 0, 0, 0))",
]


@pytest.mark.parametrize("attempt", REFUSED)
def test_the_server_is_out_of_reach(forked: Any, attempt: str) -> None:
    code = (
        "import ctypes, os, resource, signal\n"
        "def call(name, *arguments):\n"
        "    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) < 0: raise PermissionError(ctypes.get_errno())\n"
        f"try: {attempt}\nexcept PermissionError: pass\nelse: assert False, 'it could'"
    )
    first, second = forked(code, "import os; print(os.getppid())")
    assert (first.outcome, second.outcome) == (Outcome.PASSED, Outcome.PASSED), (first, second)


def test_a_case_runs_as_another_user_without_capabilities(forked: Any) -> None:
    (said,) = forked(
        "import os\nprint(open('/proc/self/status').read())\n"
        "assert os.getresuid() != os.stat('/proc/%d' % os.getppid()).st_uid\n"
        "assert len({*os.getresuid(), *os.getresgid()}) == 1 and not set(os.getgroups()) - {os.getgid()}"
    )
    assert said.outcome == Outcome.PASSED, said
    lines = dict(line.split(":\t", 1) for line in said.output.splitlines() if ":\t" in line)
    assert {int(lines[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
    assert lines["NoNewPrivs"] == "1"


def test_a_library_that_leaves_threads_or_fails_is_not_forked(
    installed: Environment, sandbox: Sandbox, limited: ValidationRules
) -> None:
    rules = limited.model_copy(update={"process": Process.FORK})
    for name, source in (("threaded", "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()\n"), ("leaves", "import os\nos._exit(7)\n"), ("fails", "1 / 0\n")):  # fmt: skip
        (installed.site_packages / f"only_{name}.py").write_text(source)
        code = f"if False: import only_{name}\n"
        results = run_cases(installed, [Case("", "", code, import_names=(f"only_{name}",))] * 2, sandbox, rules)
        assert {result.outcome for result in results} == {Outcome.PASSED}


def test_a_module_with_the_name_of_the_library_is_what_is_tested(
    installed: Environment, sandbox: Sandbox, limited: ValidationRules
) -> None:
    rules = limited.model_copy(update={"process": Process.FORK, "time_s": 20.0})
    test_file = "import lib\ndef test(): assert lib.mine\n"
    cases = [Case("", "", "mine = True", import_names=("lib",), test_file=test_file, module="lib")] * 2
    assert {result.outcome for result in run_cases(installed, cases, sandbox, rules)} == {Outcome.PASSED}


def test_statements_and_test_modules_are_forked_too(
    installed: Environment, sandbox: Sandbox, limited: ValidationRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fresh, "attempt", lambda self, case, repeat: Attempt(Outcome.HARNESS_ERROR, "fresh", 0, 0))
    rules = limited.model_copy(update={"process": Process.FORK, "time_s": 20.0})
    checks: list[SnippetCheck] = [{"statement": "import lib", "expected": None, "options": []}]
    checks.append({"statement": "lib.Box(1).size", "expected": "1\n", "options": []})
    test_file = "from solution import lib\ndef test(): assert lib.Box(1).size == 1\n"
    cases = [
        Case("checks", "", "", checks, ("lib",)),
        Case("module", "", "import lib", import_names=("lib",), test_file=test_file, cover=True),
        Case("both", "", "import lib", import_names=("lib",), test="assert lib", test_file=test_file),
    ]
    results = run_cases(installed, cases, sandbox, rules)
    assert [result.outcome for result in results] == [Outcome.PASSED] * 3, results


@pytest.fixture
def ran_fresh(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Return the id and the repeat of what is run in fresh processes from now on."""
    ran: list[tuple[str, int]] = []
    attempt = Fresh.attempt

    def counted(self: Fresh, case: Case, repeat: int) -> Attempt:
        ran.append((case.id, repeat))
        return attempt(self, case, repeat)

    monkeypatch.setattr(Fresh, "attempt", counted)
    return ran


FAILING = {
    "passes": ("", Outcome.PASSED),
    "fails": ("lib.gone", Outcome.API_MISSING),
    "fails with another hash": ("assert os.environ['PYTHONHASHSEED'] == '0'", Outcome.FLAKY),
    "fails otherwise with another hash": (
        "lib.gone if os.environ['PYTHONHASHSEED'] == '0' else 1 / 0",
        Outcome.FLAKY,
    ),
}


def test_a_failure_is_confirmed_once_in_a_fresh_process(
    installed: Environment, sandbox: Sandbox, limited: ValidationRules, ran_fresh: list[tuple[str, int]]
) -> None:
    rules = limited.model_copy(update={"process": Process.FORK, "repeats": 2})
    cases = [Case(name, "", "print()\nimport lib, os\n" + code, import_names=("lib",)) for name, (code, _) in FAILING.items()]  # fmt: skip
    cases.append(Case("passes in a fork alone", "", "import sys\nassert 'lib' in sys.modules", import_names=("lib",)))
    outcomes = [result.outcome for result in run_cases(installed, cases, sandbox, rules)]
    assert outcomes == [*(outcome for _, outcome in FAILING.values()), Outcome.PASSED]
    assert ran_fresh == [
        ("fails", 0),
        ("fails with another hash", 1),
        ("fails otherwise with another hash", 0),
        ("fails otherwise with another hash", 1),
    ]


def test_what_fails_in_a_server_that_loaded_what_the_case_begins_with_is_not_confirmed(
    installed: Environment, sandbox: Sandbox, limited: ValidationRules, ran_fresh: list[tuple[str, int]]
) -> None:
    rules = limited.model_copy(update={"process": Process.FORK, "repeats": 2})
    cases = [Case(name, "import lib, os\n", code, import_names=("lib",)) for name, (code, _) in FAILING.items()]
    assert [result.outcome for result in run_cases(installed, cases, sandbox, rules)] == [
        o for _, o in FAILING.values()
    ]
    assert ran_fresh == []


def test_what_the_server_cannot_load_unnoticed_is_confirmed(
    installed: Environment,
    sandbox: Sandbox,
    limited: ValidationRules,
    ran_fresh: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fork_server, "_WORTH_A_SERVER", 1)
    (installed.site_packages / "lib" / "talks.py").write_text("print('hello')\n")
    rules = limited.model_copy(update={"process": Process.FORK})
    hello: list[Any] = [{"statement": "import lib.talks", "expected": "hello\n", "options": []}]
    cases = [
        Case("talks", "", "", hello, ("lib",)),
        Case("broken", "", "import lib.broken", import_names=("lib",)),
        Case("ends", "", "import lib, os\nos._exit(3)", import_names=("lib",)),
    ]
    outcomes = [result.outcome for result in run_cases(installed, cases, sandbox, rules)]
    assert outcomes == [Outcome.PASSED, Outcome.IMPORT_ERROR, Outcome.WRONG_EXCEPTION]
    assert sorted(ran_fresh) == [("broken", 0), ("ends", 0), ("talks", 0)]


def test_a_submodule_is_loaded_for_the_cases_that_begin_with_it_where_these_are_many(forked: Any) -> None:
    loaded = "print(sorted(name for name in __import__('sys').modules if name.startswith('lib.')))"
    many = [f"from lib import described\n{loaded}"] * 6
    outputs = [attempt.output for attempt in forked(loaded, *many, loaded, f"import lib.described\n{loaded}")]
    shapes, both = "['lib.shapes']\n", "['lib.described', 'lib.shapes']\n"
    assert outputs == [shapes, *[both] * 6, shapes, both]


def test_no_process_of_the_sandbox_is_within_reach(forked: Any) -> None:
    code = (
        "import os\n"
        "others = [int(name) for name in os.listdir('/proc') if name.isdigit() and int(name) != os.getpid()]\n"
        "assert len(others) == 3\n"
        "for pid in others:\n"
        "    for attempt in (lambda: os.kill(pid, 9), lambda: open(f'/proc/{pid}/mem', 'r+b'), lambda: os.listdir(f'/proc/{pid}/fd')):\n"
        "        try: attempt()\n"
        "        except PermissionError: pass\n"
        "        else: assert False, pid\n"
        "print(os.getppid())\nopen('/tmp/left', 'w')"
    )
    first, second = forked(code, "import os\nassert 'left' not in os.listdir('/tmp')\nprint(os.getppid())")
    assert (first.outcome, second.outcome) == (Outcome.PASSED, Outcome.PASSED), (first, second)
    assert first.output == second.output


def test_without_a_second_user_cases_are_run_fresh(installed: Environment, limited: ValidationRules) -> None:
    rules = limited.model_copy(update={"process": Process.FORK})
    code = "import os, lib\nopen('left', 'w')\nassert lib and not os.path.exists('../left')"
    results = run_cases(installed, [Case("", "", code, import_names=("lib",))] * 3, NoSandbox(), rules)
    assert {result.outcome for result in results} == {Outcome.PASSED}


def test_limits_of_a_case_are_its_own(installed: Environment, sandbox: Sandbox, limited: ValidationRules) -> None:
    rules = limited.model_copy(update={"process": Process.FORK})
    small = replace(limited.limits, time_s=0.5, memory_bytes=64 << 20, output_bytes=1000)
    large = replace(limited.limits, time_s=9.0, memory_bytes=1 << 30, output_bytes=1 << 20)
    codes = ("import time; time.sleep(2)", "x = b'x' * (500 << 20)", "print('x' * 5000)")
    cases = [Case(f"{code} {size.time_s}", "", code, import_names=("lib",), limits=size) for code in codes for size in (small, large)]  # fmt: skip
    outcomes = [result.outcome for result in run_cases(installed, cases, sandbox, rules)]
    assert outcomes[::2] == [Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.SANDBOX_VIOLATION]
    assert set(outcomes[1::2]) == {Outcome.PASSED}
