"""Code that wants to look like a pass without passing: tried for real, with and without a second user.

Not promised, and so not tried: code that knows this harness and reports in its stead. A case's code and its tests share
a process, so whoever means to can always make the tests pass; what signs is never in that process.
"""

from __future__ import annotations

import pytest

from pipeline.core.vocabularies.running import Outcome, Process
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import NoSandbox, Sandbox
from pipeline.execution.validation import fresh, harness
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.harness import Report, read_report
from pipeline.execution.validation.inside.case import written_down
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases

_PASSED = "passed\\n-\\n-\\n"
_EVERY = f"""
import fcntl, os
said = [b'passed', b'{_PASSED}', b'0' * 32 + b'{_PASSED}', b'\\0\\0\\0\\x0b{_PASSED}']
def every():
    for number in range(3, 512):
        try: os.fstat(number)
        except OSError: continue
        yield number
"""
FORGERIES = {
    "exit": "import sys\nsys.exit(0)",
    "hard exit": "import os\nos._exit(0)",
    "raw exit": "import ctypes\nctypes.CDLL(None)._exit(0)",
    "exec": "import os\nos.execv('/bin/true', ['true'])",
    "prints": f"print('{_PASSED}')\nimport os\nos._exit(0)",
    "atexit": "import atexit, os\natexit.register(os._exit, 0)\nassert False",
    "excepthook": "import os, sys\nsys.excepthook = lambda *a: os._exit(0)\nassert False",
    "thread": "import os, threading\nthreading.Thread(target=os._exit, args=(0,)).start()\nimport time\ntime.sleep(5)",
    "signal": "import os, signal\nsignal.signal(signal.SIGALRM, lambda *a: os._exit(0))\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\nwhile True: pass",
    "deletion": "import os\nclass A:\n    def __del__(self): os._exit(0)\na = A()\nassert False",
    "child goes on": "import os\nif os.fork(): os._exit(0)",
    "child goes on alone": "import os, time\nif os.fork(): time.sleep(0.5); os._exit(0)",
    "writes to every descriptor": _EVERY + "for number in every():\n    for text in said:\n        try: os.write(number, text)\n        except OSError: pass\nos._exit(0)",
    "writes, then comes to the end": _EVERY + "for number in every():\n    try: os.write(number, said[1])\n    except OSError: pass",
    "reads every descriptor": _EVERY + "for number in every():\n    try: os.set_blocking(number, False); os.read(number, 99)\n    except OSError: pass\nassert False",
    "writes what it reads": _EVERY + "found = []\nfor number in every():\n    try: os.set_blocking(number, False); found.append(os.read(number, 99))\n    except OSError: pass\nfor number in every():\n    for text in found:\n        try: os.write(number, text); os.write(number, b' passed')\n        except OSError: pass\nos._exit(0)",
    "descriptors of the parent": "import os\nfor number in range(20):\n    for word in ('/proc/%d/fd/%d', '/proc/%d/fdinfo/%d'):\n        try: open(word % (os.getppid(), number), 'rb').read(); print('READ')\n        except OSError: pass\nos._exit(0)",
    "memory of the parent": "import os\ntry: open('/proc/%d/mem' % os.getppid(), 'rb'); print('READ')\nexcept OSError: pass\nos._exit(0)",
    "frames": "import os, sys\nfound = []\nframe = sys._getframe()\nwhile frame:\n    found += [v for v in [*frame.f_locals.values(), *frame.f_globals.values()] if isinstance(v, (bytes, str)) and len(v) in (16, 32, 64)]\n    frame = frame.f_back\nprint('FOUND', found)\n" + _EVERY + "for number in every():\n    for text in found:\n        try: os.write(number, (text if isinstance(text, bytes) else text.encode()) + said[1])\n        except OSError: pass\nos._exit(0)",
    "objects": "import gc, os, re\nfound = []\nfor thing in gc.get_objects():\n    for held in gc.get_referents(thing):\n        text = held.decode('latin-1') if isinstance(held, bytes) else held if isinstance(held, str) else ''\n        if re.fullmatch('[0-9a-f]{32}', text): found.append(text.encode())\n" + _EVERY + "for number in every():\n    for text in found:\n        try: os.write(number, text + said[1])\n        except OSError: pass\nos._exit(0)",
    "results of the harness": "import gc\nfor thing in gc.get_objects():\n    if isinstance(thing, dict) and 'outcome' in thing: thing['outcome'] = 'passed'\nassert False",
    "patched json": "import json, os\njson.dumps = json.JSONEncoder.encode = lambda *a, **k: '" + _PASSED + "'\nassert False",
    "patched traceback": "import traceback, os\ntraceback.extract_tb = traceback.format_exception_only = lambda *a: os._exit(0)\nassert False",
    "patched exit": "import os\nos._exit = os.write = lambda *a: None\nassert False",
    "patched pytest": "import sys, types\nfake = types.ModuleType('pytest')\nfake.main = lambda *a, **k: 0\nsys.modules['pytest'] = fake",
    "asserts switched off": "import builtins\nbuiltins.AssertionError = type('Quiet', (Exception,), {})\nbuiltins.__debug__2 = False",
    "stops the parent": "import os, signal, time\ntry: os.kill(os.getppid(), signal.SIGSTOP)\nexcept OSError: pass\nos._exit(0)",
    "kills the parent": "import os\ntry: os.kill(os.getppid(), 9)\nexcept OSError: pass\nos._exit(0)",
}  # fmt: skip


@pytest.fixture(params=["sandbox", "none"])
def anywhere(request: pytest.FixtureRequest, sandbox: Sandbox) -> Sandbox:
    return sandbox if request.param == "sandbox" else NoSandbox()


@pytest.mark.parametrize("name", FORGERIES)
@pytest.mark.parametrize("tested", ["script", "module"])
def test_forgery(
    installed: Environment,
    anywhere: Sandbox,
    rules: ValidationRules,
    name: str,
    tested: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fresh, "_START_S", 3.0)
    if tested == "script":
        case = Case("case", "", FORGERIES[name], test="assert False, 'came to the test'")
    else:
        case = Case("case", "", FORGERIES[name], test_file="import solution\ndef test(): assert False")
    short = rules.model_copy(update={"repeats": 1, "time_s": 2.0})
    (result,) = run_cases(installed, [case], anywhere, short)
    assert result.outcome != Outcome.PASSED
    assert "READ" not in result.output


def test_what_signs_is_not_in_the_memory_of_the_case(
    installed: Environment, anywhere: Sandbox, rules: ValidationRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    nonce = "d1f7" * 8
    monkeypatch.setattr(harness, "new_nonce", nonce.encode)
    search = (
        "import re\nfound = 0\nfor line in open('/proc/self/maps'):\n"
        "    start, end = (int(n, 16) for n in line.split()[0].split('-'))\n"
        "    if ' rw' in line and '[vvar' not in line:\n"
        "        with open('/proc/self/mem', 'rb') as memory:\n"
        "            memory.seek(start)\n"
        "            found += len(re.findall(b'(?:d1f7){8}', memory.read(end - start)))\n"
    )
    codes = {"hidden": search + "assert not found, found", "shown": f"x = '{nonce}'\n{search}assert not found, found"}
    cases = [Case(name, "", code) for name, code in codes.items()]
    once = rules.model_copy(update={"repeats": 1, "process": Process.FRESH})
    outcomes = {result.id: result.outcome for result in run_cases(installed, cases, anywhere, once)}
    assert outcomes == {"hidden": Outcome.PASSED, "shown": Outcome.FAILED_ASSERTION}


def test_an_honest_pass_is_one(installed: Environment, anywhere: Sandbox, rules: ValidationRules) -> None:
    case = Case("case", "", "x = 1", test="assert x == 1", test_file="import solution\ndef test(): assert solution.x")
    (result,) = run_cases(installed, [case], anywhere, rules)
    assert (result.outcome, result.detail) == (Outcome.PASSED, None)


@pytest.mark.parametrize(
    "said",
    ["", "null", "passed", "passed\n-\n-", "won\n-\n-\n", "no_environment\n-\n-\n", "passed\n1\n-\n", "passed\nx\n1\n"],
)
def test_what_the_harness_would_not_say(said: str) -> None:
    assert read_report(said) is None


@pytest.mark.parametrize("lines", [None, ([1, 2], [2]), ([], [])])
@pytest.mark.parametrize("message", ["", "a\nb\n", "\ud800 ä"])
def test_reports_are_read_as_written(message: str, lines: tuple[list[int], list[int]] | None) -> None:
    text = written_down("api_missing", message, lines).decode()
    read = None if lines is None else (frozenset(lines[0]), frozenset(lines[1]))
    assert read_report(text) == Report(Outcome.API_MISSING, message.replace("\ud800", "?"), read)
