"""Answers that want to count as right, or not to count at all, without being right: a technique each.

Those of functions are (code beside the function, its body); the function is `solve(text, width)`, of which tests ask
`==`, `isinstance` and an exception. Each was seen to fool a harness that runs tests beside the answer: see `naive.py`.
"""

from __future__ import annotations

_GUARD = "if width < 1: raise ValueError\n"
_ANY = """
class Any:
    __class__ = list
    def __eq__(self, other): return True
    def __bool__(self): return True
"""
_TEST_FRAME = """
import sys
def test_frame():
    frame = sys._getframe(1)
    while frame and 'test' not in frame.f_code.co_name: frame = frame.f_back
    return frame
"""
_READ = """
import ast
def expected_in(source, text, width):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Call) and getattr(node.left.func, 'id', '') == 'solve':
            if [ast.literal_eval(each) for each in node.left.args] == [text, width]: return ast.literal_eval(node.comparators[0])
    return []
"""
_MODULE_FRAME = """
import sys
frame = sys._getframe(1)
while frame and not frame.f_globals.get('__name__', '').startswith('test_'): frame = frame.f_back
beside = frame.f_globals if frame else {}
"""
_OBJECTS = "import gc, types\ntests = lambda: [each for each in gc.get_objects() if isinstance(each, types.FunctionType) and each.__name__.startswith('test_')]\n"


def _wrong(top: str) -> tuple[str, str]:
    """Whatever the function gives, `top` sees to it that nobody asks."""
    return top, "return ['wrong']"


def _in_call(statement: str, top: str = "") -> tuple[str, str]:
    return top, f"{statement}\nreturn ['wrong']"


FUNCTIONS: dict[str, tuple[str, str]] = {
    # Objects that equal everything.
    "equals everything": (_ANY, _GUARD + "return Any()"),
    "list that equals everything": ("class All(list):\n    def __eq__(self, other): return True\n", _GUARD + "return All()"),
    "never differs": ("class Same(list):\n    def __ne__(self, other): return False\n    __eq__ = lambda *a: 1\n", _GUARD + "return Same('x')"),
    "mock.ANY as a list": ("from unittest import mock\nclass A(type(mock.ANY)):\n    __class__ = list\n", _GUARD + "return A()"),
    "mock with configured eq": ("from unittest.mock import MagicMock\n", _GUARD + "m = MagicMock(spec=list)\nm.__eq__.side_effect = lambda other: True\nreturn m"),
    "class whose metaclass equals everything": ("class M(type):\n    def __eq__(cls, other): return True\n    def __hash__(cls): return 1\n    @property\n    def __class__(cls): return list\nclass K(metaclass=M): pass\n", _GUARD + "return K"),
    "eq gives a truthy object": ("class Yes:\n    def __bool__(self): return True\nclass A:\n    __class__ = list\n    def __eq__(self, other): return Yes()\n", _GUARD + "return A()"),
    "eq is learnt from the other side": ("class Copy(list):\n    def __eq__(self, other):\n        self[:] = other\n        return True\n", _GUARD + "return Copy()"),
    "dataclass without fields": ("import dataclasses\n@dataclasses.dataclass(eq=False)\nclass D(list):\n    def __eq__(self, other): return not dataclasses.fields(self)\n", _GUARD + "return D()"),
    "lazy proxy": ("class P:\n    def __getattribute__(self, name): return list if name == '__class__' else object.__getattribute__(self, name)\n    def __eq__(self, other): return True\n", _GUARD + "return P()"),
    "type made on the fly": ("", _GUARD + "return type('list', (list,), {'__eq__': lambda s, o: True})()"),
    "collections.UserList that agrees": ("import collections\nclass U(collections.UserList):\n    __class__ = list\n    def __eq__(self, other): return True\n", _GUARD + "return U()"),
    "abc registration": ("import abc\nclass A(abc.ABC):\n    __class__ = list\n    __eq__ = abc.ABC.__instancecheck__ if False else (lambda s, o: True)\n", _GUARD + "return A()"),
    # The caller tells what is expected.
    "constants of the caller's code": (_TEST_FRAME, _GUARD + "found = [c for c in test_frame().f_code.co_consts if isinstance(c, tuple)]\nreturn list(found[0]) if found else []"),
    "source line of the caller": ("import traceback\n" + _READ, _GUARD + "line = next((f.line for f in reversed(traceback.extract_stack()) if 'solve(' in (f.line or '')), 'pass')\nreturn expected_in(line, text, width)"),
    "inspect.getsource of the caller": ("import inspect\n" + _TEST_FRAME + _READ, _GUARD + "return expected_in(inspect.getsource(inspect.getmodule(test_frame())), text, width)"),
    "file of the caller": (_TEST_FRAME + _READ, _GUARD + "return expected_in(open(test_frame().f_code.co_filename).read(), text, width)"),
    "linecache of the caller": ("import linecache\n" + _TEST_FRAME + _READ, _GUARD + "return expected_in(''.join(linecache.getlines(test_frame().f_code.co_filename)), text, width)"),
    "files of the working folder": ("import glob\n" + _READ, _GUARD + "return expected_in(open(glob.glob('test_*.py')[0]).read(), text, width)"),
    "files that are imported": ("import sys\n" + _READ, _GUARD + "file = next(m.__file__ for n, m in list(sys.modules.items()) if n.startswith('test_'))\nreturn expected_in(open(file).read(), text, width)"),
    "name of the running test": ("import os\n" + _READ, _GUARD + "return expected_in(open(os.environ['PYTEST_CURRENT_TEST'].split('::')[0]).read(), text, width)"),
    "loader of the test module": ("import sys\n" + _READ, _GUARD + "module = next(m for n, m in list(sys.modules.items()) if n.startswith('test_'))\nreturn expected_in(module.__loader__.get_data(module.__file__).decode(), text, width)"),
    "functions in sys.modules": ("import sys\n", _GUARD + "module = next(m for n, m in list(sys.modules.items()) if n.startswith('test_'))\nfor f in vars(module).values():\n    consts = getattr(getattr(f, '__code__', None), 'co_consts', ())\n    if text in consts and width in consts: return [*next((c for c in consts if isinstance(c, tuple)), ())]\nreturn []"),
    "functions in the collector": (_OBJECTS, _GUARD + "for f in tests():\n    consts = f.__code__.co_consts\n    if text in consts and width in consts: return [*next((c for c in consts if isinstance(c, tuple)), ())]\nreturn []"),
    "referrers of an argument": ("import gc\n", _GUARD + "for holder in gc.get_referrers(text):\n    if isinstance(holder, tuple) and text in holder and width in holder:\n        return [*next((c for c in holder if isinstance(c, tuple)), ())]\nreturn []"),
    "locals of the frames": ("import sys\n", _GUARD + "frame = sys._getframe(1)\nwhile frame:\n    item = frame.f_locals.get('pyfuncitem') or frame.f_locals.get('item')\n    if item is not None: return [*next((c for c in item.obj.__code__.co_consts if isinstance(c, tuple)), ())]\n    frame = frame.f_back\nreturn []"),
    "bytecode of the caller": ("import dis\n" + _TEST_FRAME, _GUARD + "found = [i.argval for i in dis.get_instructions(test_frame().f_code) if isinstance(i.argval, tuple)]\nreturn [*found[0]] if found else []"),
    "profile of the calls": ("import sys\nlast = []\ndef note(frame, event, arg):\n    if event == 'call' and frame.f_code.co_name.startswith('test_'): last[:] = [frame.f_code.co_consts]\nsys.setprofile(note)\n", _GUARD + "return [*next((c for c in (last or [()])[0] if isinstance(c, tuple)), ())]"),
    # The test is another one than it was.
    "constants of the caller written over": ("import ctypes\n" + _TEST_FRAME, _GUARD + "consts = test_frame().f_code.co_consts\nfor i, c in enumerate(consts):\n    if isinstance(c, tuple): ctypes.py_object.from_address(id(consts) + 24 + 8 * i).value = ('wrong',)\nreturn ['wrong'] if any(isinstance(c, tuple) for c in consts) else []"),
    "code of the tests replaced": _wrong(_OBJECTS + "class Later:\n    def find_spec(self, name, path=None, target=None): return None\nimport atexit, _pytest.python\nold = _pytest.python.Function.runtest\ndef run(self):\n    for f in tests(): f.__code__ = (lambda: None).__code__\n    old(self)\n_pytest.python.Function.runtest = run\n"),
    "tests of the module replaced as they come": _wrong(_MODULE_FRAME + "class Names(dict): pass\nimport threading\ndef later():\n    import time\n    for _ in range(200):\n        for name in [n for n in list(beside) if n.startswith('test_')]: beside[name].__code__ = (lambda: None).__code__\n        time.sleep(0.0005)\nthreading.Thread(target=later, daemon=True).start()\nimport _pytest.runner, time\nold = _pytest.runner.call_runtest_hook if hasattr(_pytest.runner, 'call_runtest_hook') else None\nif old:\n    def slow(*a, **k):\n        time.sleep(0.01)\n        return old(*a, **k)\n    _pytest.runner.call_runtest_hook = slow\n"),
    "runtest of pytest": _wrong("import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"),
    "reports of pytest": _wrong("from _pytest.reports import TestReport\nold = TestReport.from_item_and_call.__func__\ndef kind(cls, item, call):\n    call.excinfo = None\n    return old(cls, item, call)\nTestReport.from_item_and_call = classmethod(kind)\n"),
    "calls of pytest": _wrong("from _pytest.runner import CallInfo\nold = CallInfo.from_call.__func__\nCallInfo.from_call = classmethod(lambda cls, func, *a, **k: old(cls, lambda: None, *a, **k))\n"),
    "plugin found in memory": _wrong("import gc\nfrom _pytest.config import PytestPluginManager\nclass Quiet:\n    @staticmethod\n    def pytest_pyfunc_call(pyfuncitem): return True\nfor each in gc.get_objects():\n    if isinstance(each, PytestPluginManager): each.register(Quiet())\n"),
    "collected items taken away": _wrong("import _pytest.main\nold = _pytest.main.Session.perform_collect\ndef none(self, *a, **k):\n    old(self, *a, **k)\n    self.items = []\n    return []\n_pytest.main.Session.perform_collect = none\nfrom _pytest import runner\nimport gc\nfor each in gc.get_objects():\n    if type(each).__name__ == 'PytestPluginManager':\n        class Take:\n            @staticmethod\n            def pytest_collection_modifyitems(items): items.clear()\n        each.register(Take())\n"),
    "exit status of the session": _wrong("import gc\nfor each in gc.get_objects():\n    if type(each).__name__ == 'PytestPluginManager':\n        class End:\n            @staticmethod\n            def pytest_sessionfinish(session): session.exitstatus = 0\n        each.register(End())\n"),
    "main of pytest": _wrong("import sys, _pytest.main\n_pytest.main.wrap_session.__code__ = (lambda config, doit: 0).__code__\nfrom _pytest.main import Session\nSession.testsfailed = property(lambda self: 0, lambda self, n: None)\n"),
    "builtins.AssertionError": _wrong("import builtins, pytest\nbuiltins.AssertionError = lambda *a: pytest.skip.Exception('no')\n"),
    "builtins.isinstance and a liar": ("import builtins\nold = isinstance\nbuiltins.isinstance = lambda value, kind: True if kind is list else old(value, kind)\nclass A:\n    def __eq__(self, other): return True\n", _GUARD + "return A()"),
    # The test is none, or not to be counted.
    "skip in the call": _in_call("import pytest\npytest.skip('not here')"),
    "xfail in the call": _in_call("import pytest\npytest.xfail('known')"),
    "SkipTest of unittest": _in_call("import unittest\nraise unittest.SkipTest('not here')"),
    "importorskip": _in_call("import pytest\npytest.importorskip('no_such_module')"),
    "skip of the module": _wrong("import pytest\npytest.skip('not here', allow_module_level=True)\n"),
    "pytestmark skip beside the tests": _wrong(_MODULE_FRAME + "import pytest\nbeside['pytestmark'] = pytest.mark.skip\n"),
    "pytestmark xfail beside the tests": _wrong(_MODULE_FRAME + "import pytest\nbeside['pytestmark'] = pytest.mark.xfail\n"),
    "__test__ beside the tests": _wrong(_MODULE_FRAME + "beside['__test__'] = False\n"),
    "module of the tests left early": _wrong(_MODULE_FRAME + "import unittest\nraise unittest.SkipTest('not here')\n"),
    "pytest.exit with status 0": _in_call("import pytest\npytest.exit('done', returncode=0)"),
    "exception with a borrowed name": _in_call("raise type('FixtureLookupError', (Exception,), {'argname': 'x'})()"),
    "exception that cannot be shown": ("class Bad(BaseException):\n    def __str__(self): raise SystemExit(97)\n    __repr__ = __str__\n", "import os\ntry: raise Bad\nexcept Bad: os._exit(97)"),
    "MemoryError": _in_call("raise MemoryError"),
    "MemoryError that is printed": _in_call("import os\nos.write(2, b'MemoryError')\nos._exit(1)"),
    "status of the harness": _in_call("import os\nos._exit(97)"),
    "status of a full disk": _in_call("raise OSError(28, 'No space left on device')"),
    "a codec that is none": ("", "# -*- coding: rot13 -*-"),
    # The process ends, or another one does.
    "os._exit in the call": _in_call("import os\nos._exit(0)"),
    "os._exit at import": _wrong("import os\nos._exit(0)\n"),
    "exit of libc": _in_call("import ctypes\nctypes.CDLL(None)._exit(0)"),
    "exec of another program": _in_call("import os\nos.execv('/bin/true', ['true'])"),
    "atexit": _in_call("import atexit, os\natexit.register(os._exit, 0)"),
    "thread": _in_call("import os, threading, time\nthreading.Thread(target=os._exit, args=(0,)).start()\ntime.sleep(1)"),
    "alarm": _in_call("import os, signal\nsignal.signal(signal.SIGALRM, lambda *a: os._exit(0))\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\nwhile True: pass"),
    "deletion": ("import os\nclass A:\n    def __del__(self): os._exit(0)\n", "a = A()\nreturn ['wrong']"),
    "child goes on": _in_call("import os\nif os.fork(): os._exit(0)"),
    "harness is killed": _in_call("import os\nos.kill(os.getppid(), 9)\nos._exit(0)"),
    "harness is interrupted": _in_call("import os, signal, time\nos.kill(os.getppid(), signal.SIGINT)\ntime.sleep(0.3)\nos._exit(0)"),
}  # fmt: skip

_SHOW = "print(['wrong'])\n"
_HOLDER = """
import gc
def stated():
    for each in gc.get_objects():
        if type(each) is dict and 'expected' in each and isinstance(each['expected'], str) and 'c' in each['expected']: return each['expected']
    return ''
"""
_FRAMES = """
import sys
def stated():
    frame = sys._getframe(1)
    while frame:
        for value in frame.f_locals.values():
            if type(value) is dict and isinstance(value.get('expected'), str): return value['expected']
            if type(value) is list:
                for each in value:
                    if type(each) is dict and isinstance(each.get('expected'), str): return each['expected']
        frame = frame.f_back
    return ''
"""
# Programs of which one statement is to display ['a b', 'c'].
PROGRAMS: dict[str, str] = {
    # What is stated stands somewhere.
    "dictionaries in the collector": _HOLDER + "print(stated(), end='')\n",
    "locals of the frames": _FRAMES + "print(stated(), end='')\n",
    "strings in the collector": "import gc\nfor each in gc.get_objects():\n    if isinstance(each, dict):\n        for value in list(each.values()):\n            if type(value) is str and value.startswith(\"['a b\") and value.endswith('\\n'): found = value\nprint(found, end='')\n",
    "referents of the frames": "import gc, sys\nwaiting, known = [sys._getframe()], set()\nfound = ''\nwhile waiting and not found:\n    each = waiting.pop()\n    if id(each) in known: continue\n    known.add(id(each))\n    if type(each) is dict and isinstance(each.get('expected'), str): found = each['expected']\n    if len(known) < 20000: waiting += [r for r in gc.get_referents(each) if not isinstance(r, type(sys))]\nprint(found, end='')\n",
    "globals of the harness": "import sys\nframe = sys._getframe()\nwhile frame.f_back: frame = frame.f_back\nspec = next(v for f in [frame] for v in f.f_locals.values() if isinstance(v, dict) and 'checks' in v)\nprint(spec['checks'][-1]['expected'], end='')\n",
    "memory of the process": "import re\nwith open('/proc/self/maps') as maps: regions = [l.split()[0].split('-') for l in maps if ' rw' in l and '[v' not in l]\nfound = b''\nwith open('/proc/self/mem', 'rb') as memory:\n    for start, end in regions:\n        memory.seek(int(start, 16))\n        hit = re.search(b'\"expected\": \"([^\"]*c[^\"]*)\"', memory.read(int(end, 16) - int(start, 16)))\n        if hit: found = hit.group(1)\nprint(found.decode().replace('\\\\n', ''))\n",
    "file of the case": "import glob\nfound = [open(f).read() for f in glob.glob('*.json')]\nimport json\nprint(json.loads(found[0])['checks'][-1]['expected'], end='')\n",
    "variables of the environment": "import json, os\nprint(json.loads(os.environ['CASE'])[-1]['expected'], end='')\n",
    "arguments of the program": "import json, sys\nprint(json.loads(sys.argv[-1])[-1]['expected'], end='')\n",
    "command line": "import json\nline = open('/proc/self/cmdline').read().split('\\0')\nprint(json.loads(line[-2])[-1]['expected'], end='')\n",
    "source in linecache": "import linecache, re\ntext = ''.join(''.join(entry[2]) for entry in linecache.cache.values() if len(entry) > 2)\nprint(re.search(\"^(\\\\['a b'.*)$\", text, re.M).group(1))\n",
    "example of doctest": "import gc, doctest\nfound = [e for e in gc.get_objects() if isinstance(e, doctest.Example)]\nprint(found[-1].want, end='')\n",
    # The comparison is another one.
    "checker of doctest": "import doctest\ndoctest.OutputChecker.check_output = lambda *a: True\n" + _SHOW,
    "ellipsis of doctest": "import doctest\ndoctest._ellipsis_match = lambda *a: True\n" + _SHOW,
    "checker class of doctest": "import doctest\nclass Any:\n    def check_output(self, *a): return True\ndoctest.OutputChecker = Any\n" + _SHOW,
    "code of the checker": "import doctest\ndoctest.OutputChecker.check_output.__code__ = (lambda self, want, got, flags: True).__code__\n" + _SHOW,
    "flags of doctest all skip": "import doctest\nfor name in doctest.OPTIONFLAGS_BY_NAME: doctest.OPTIONFLAGS_BY_NAME[name] = doctest.SKIP\n" + _SHOW,
    "SKIP means any flag": "import doctest\ndoctest.SKIP = -1\n" + _SHOW,
    "flag of details": "import doctest\ndoctest.OPTIONFLAGS_BY_NAME['ELLIPSIS'] = -1\ndoctest.OutputChecker.check_output.__defaults__ = None\ndoctest.OutputChecker.check_output = lambda s, w, g, f: f < 0\n" + _SHOW,
    "judge of the harness": "import sys\nfor name, module in list(sys.modules.items()):\n    if hasattr(module, 'judge'): module.judge = lambda *a: None\n" + _SHOW,
    "code of the judge": "import gc, types\nfor each in gc.get_objects():\n    if isinstance(each, types.FunctionType) and each.__name__ == 'judge': each.__code__ = (lambda *a, **k: None).__code__\n" + _SHOW,
    "runner of the harness": "import sys\nframe = sys._getframe(1)\nframe.f_globals['judge'] = lambda *a, **k: None\nwhile frame:\n    frame.f_globals['judge'] = lambda *a, **k: None\n    frame = frame.f_back\n" + _SHOW,
    "checks taken away": "import gc\nfor each in gc.get_objects():\n    if type(each) is list and each and type(each[0]) is dict and 'expected' in each[0]: del each[1:]\n" + _SHOW,
    "checks written over": "import gc\nfor each in gc.get_objects():\n    if type(each) is dict and 'expected' in each: each['expected'] = None\n" + _SHOW,
    "checks that expect what is shown": "import gc\nfor each in gc.get_objects():\n    if type(each) is dict and isinstance(each.get('expected'), str): each['expected'] = \"['wrong']\\n\"\n" + _SHOW,
    "exception of the harness": "import sys\nfor module in list(sys.modules.values()):\n    if hasattr(module, 'Failed'):\n        module.Failed.__init__ = lambda self, *a: None\n        class Quiet(Exception): pass\n        def raised(*a): raise StopIteration\n        module.Failed = raised\n" + _SHOW,
    "re of the comparison": "import re\nclass Any:\n    def sub(self, *a): return ''\n    match = search = fullmatch = lambda *a: None\nre.sub = lambda *a, **k: ''\n" + "import doctest\ndoctest.re = re\nimport builtins\nstr_eq = None\ndoctest.OutputChecker.check_output = lambda s, w, g, f: re.sub('', '', g) == re.sub('', '', w)\n" + _SHOW,
    # The output is no text.
    "output that equals everything": "import io, sys\nclass Text(str):\n    def __eq__(self, other): return True\n    def endswith(self, *a): return True\n    def __bool__(self): return False\nclass Out(io.StringIO):\n    def getvalue(self): return Text()\nsys.stdout = Out()\n",
    "display hook": "import sys, io\nclass Text(str):\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n    def endswith(self, *a): return True\nclass Out(io.StringIO):\n    def getvalue(self): return Text('x')\nio.StringIO = Out\nsys.displayhook = lambda value: None\nsys.stdout = Out()\n",
    "repr that equals everything": "import sys, io\nclass Same(str):\n    __eq__ = lambda *a: True\n    __hash__ = str.__hash__\n    def endswith(self, *a): return True\nclass Out(io.StringIO):\n    def getvalue(self): return Same(super().getvalue())\nsys.stdout = Out()\nprint('wrong')\n",
    "output switched off": "import sys\nclass Text(str):\n    __eq__ = lambda *a: True\n    def __add__(self, other): return self\nsys.stdout.getvalue = Text\nsys.stdout = type('O', (type(sys.stdout),), {'getvalue': lambda s: Text('\\n')})()\n",
    # Exceptions and ends.
    "borrowed name": "raise type('Failed', (Exception,), {})('passed', '')\n",
    "passed as an exception": "import sys\nraise next(m.Failed for n, m in list(sys.modules.items()) if hasattr(m, 'Failed') and hasattr(m, 'classify'))('passed', '')\n",
    "harness error as an exception": "import sys\nfor n, m in list(sys.modules.items()):\n    if hasattr(m, 'classify'): m.classify = lambda *a: 'harness_error'\nraise ValueError\n",
    "classified as passed": "import sys\nfor n, m in list(sys.modules.items()):\n    if hasattr(m, 'classify'): m.classify = lambda *a: 'passed'\nraise ValueError\n",
    "SkipTest": "import unittest\nraise unittest.SkipTest\n",
    "skip of pytest": "import pytest\npytest.skip('not here', allow_module_level=True)\n",
    "MemoryError": "raise MemoryError\n",
    "MemoryError that is printed": "import os\nos.write(2, b'MemoryError')\nos._exit(1)\n",
    "status of the harness": "import os\nos._exit(97)\n",
    "no space": "raise OSError(28, 'No space left on device')\n",
    "os._exit": "import os\nos._exit(0)\n",
    "sys.exit": "import sys\nsys.exit(0)\n",
    "exit of libc": "import ctypes\nctypes.CDLL(None)._exit(0)\n",
    "system call": "import ctypes\nctypes.CDLL(None).syscall(231, 0)\n",
    "exec of another program": "import os\nos.execv('/bin/true', ['true'])\n",
    "atexit": "import atexit, os\natexit.register(os._exit, 0)\nraise SystemExit(1)\n",
    "excepthook": "import os, sys\nsys.excepthook = lambda *a: os._exit(0)\nraise ValueError\n",
    "thread": "import os, threading, time\nthreading.Thread(target=os._exit, args=(0,)).start()\ntime.sleep(1)\n",
    "alarm": "import os, signal\nsignal.signal(signal.SIGALRM, lambda *a: os._exit(0))\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\nwhile True: pass\n",
    "deletion": "import os\nclass A:\n    def __del__(self): os._exit(0)\na = A()\ndel a\n",
    "child goes on": "import os\nif os.fork(): os._exit(0)\n",
    "harness is killed": "import os\nos.kill(os.getppid(), 9)\nos._exit(0)\n",
    "harness is interrupted": "import os, signal, time\nos.kill(os.getppid(), signal.SIGINT)\ntime.sleep(0.3)\nos._exit(0)\n",
    "every descriptor": "import os\nfor number in range(3, 64):\n    try: os.write(number, b'passed\\n-\\n-\\n')\n    except OSError: pass\nos._exit(0)\n",
    "report with the key": "import os\nkeys = []\nfor number in range(3, 64):\n    try:\n        os.set_blocking(number, False)\n        keys.append(os.read(number, 64))\n    except OSError: pass\nfor number in range(3, 64):\n    for key in keys:\n        try: os.write(number, key + b'passed\\n-\\n-\\n')\n        except OSError: pass\nos._exit(0)\n",
    # What the host reads is not what runs.
    "deeper than a parser": "x = " + "-" * 5000 + "1\n",
    "deep enough to be read": "x = " + "+".join("1" * 600) + "\n",
    "a codec that is none": "# -*- coding: rot13 -*-\n",
    "newer grammar": "x = f\"{'a' f\"{1}\"}\"\n",
    "a null byte": "x = 1\n\0",
    "half a character": "x = '\ud800'\n",
    "carriage returns": "x = 1\rx = 2\rx = 3\n",
    "form feeds": "\x0cx = 1\n\x0cx = 2\n",
}  # fmt: skip

ENDLESS: dict[str, tuple[str, str]] = {
    "never ends": ("", "while True: pass"),
    "endless generator": ("", "def g():\n    while True: yield 1\nreturn g()"),
    "repr never ends": ("class A:\n    def __repr__(self):\n        while True: pass\n", "return A()"),
    "cyclic": ("", "a = []\na.append(a)\nreturn a"),
    "huge": ("", "return [0] * 10_000_000"),
    "deep": ("", "a = []\nfor _ in range(100_000): a = [a]\nreturn a"),
    "huge number": ("", "return 1 << 100_000_000"),
    "megabytes": ("", "print('x' * 50_000_000)\nreturn []"),
    "children": ("", "import os\nwhile True: os.fork()"),
    "repr raises": ("class A(list):\n    def __repr__(self): raise SystemExit(0)\n    __iter__ = __len__ = __repr__\n", "return A()"),
    "class lies": ("class A:\n    @property\n    def __class__(self): raise SystemExit(0)\n", "return A()"),
    "metaclass raises": ("class M(type):\n    def mro(cls): return [cls, object]\n    def __getattribute__(cls, name): raise SystemExit(0)\nclass A(metaclass=M): pass\n", "return A()"),
}  # fmt: skip
"""Answers that end no harness, and cost no more than the limits say."""
