"""The test that only a program with the library passes, and functions that ignore a parameter, by worked examples."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.execution.validation.splitting import unparted
from pipeline.families.problems.apis.needs import (
    NEEDS_API,
    NEEDS_LIBRARY,
    ignoring,
    parameters_of,
    with_api_test,
    with_library_test,
    without_api,
    without_api_test,
)

HEAD = "from solution import solve\n"


def function(program: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {}
    exec(compile(program, "program", "exec"), namespace)
    solve: Callable[..., Any] = namespace["solve"]
    return solve


@pytest.mark.parametrize(("number", "expected"), [(0, [3, 4, 3]), (1, [3, 3, 5])])
def test_a_function_that_ignores_a_parameter_gives_what_it_gave_for_the_others(
    number: int, expected: list[int]
) -> None:
    solve = function(ignoring("def solve(a, b=2): return a + b\n", "solve", number))
    assert [solve(1), solve(1, b=3), solve(3)] == expected


def test_exceptions_and_objects_without_a_representation_count_too() -> None:
    solve = function(ignoring("def solve(a, b):\n    if b: raise ValueError(a)\n    return a\n", "solve", 1))
    with pytest.raises(ValueError, match="1"):
        solve(1, True)
    with pytest.raises(ValueError, match="1"):
        solve(1, False)
    box = "class Box:\n    def __init__(self, n): self.n = n\nsys.modules[__name__].Box = Box\n"
    numbered = function(ignoring(f"import sys\n__name__ = 'sys'\n{box}def solve(n, b): return n, b\n", "solve", 1))
    make = numbered.__globals__["Box"]
    assert [numbered(make(n), b)[1] for n, b in ((1, 1), (1, 2), (2, 3))] == [1, 1, 3]


def test_in_place_of_an_api_any_of_the_library_may_be_wanted() -> None:
    plain = f"{HEAD}\n\ndef test_a():\n    assert solve('b') == 1\n"
    wanting = with_api_test(plain, "solve", "solution", ["lib.f", "lib.g"])
    assert wanting is not None
    tests = without_api_test(wanting, "solve", "solution", ["lib"])
    names = [node.name for node in ast.parse(tests).body if isinstance(node, ast.FunctionDef)]
    assert [name for name in names if name.startswith("test")] == ["test_a", NEEDS_LIBRARY]
    assert NEEDS_API not in tests
    assert without_api_test(plain, "solve", "solution", ["lib"]) == plain


def test_parameters_in_their_order() -> None:
    (node,) = ast.parse("def solve(a, /, b, *rest, c=1, **named): pass").body
    assert isinstance(node, ast.FunctionDef)
    assert parameters_of(node) == ["a", "b", "rest", "c", "named"]


TESTS = {
    "in an assert": ("def test_a():\n    assert solve('b', sep=',') == 1\n", "without_library('b', sep=',')"),
    "after what it needs": ("def test_a():\n    x = 'b'\n    found = solve(x)\n    assert found == 1\n", "without_library(x)"),
    "not one that raises": (
        "import pytest\ndef test_a():\n    with pytest.raises(ValueError):\n        solve('a')\ndef test_b():\n    assert solve('b') == 1\n",
        "without_library('b')",
    ),
    "inside of another call": ("def test_a():\n    assert len(solve('b')) == 1\n", "without_library('b')"),
    "in a loop": ("def test_a():\n    for x, y in ((1, 2), (2, 3)):\n        assert solve(x) == y\n", None),
    "with names of a comprehension": ("def test_a():\n    assert [solve(x) for x in 'ab'] == [1, 2]\n", None),
    "with parameters": ("import pytest\n@pytest.mark.parametrize('x', [1])\ndef test_a(x):\n    assert solve(x) == 1\n", None),
}  # fmt: skip


@pytest.mark.parametrize("case", TESTS)
def test_the_first_call_for_a_value_is_made_without_the_library(case: str) -> None:
    tests, call = TESTS[case]
    made = with_library_test(HEAD + tests, "solve", "solution", ["lib"])
    if call is None:
        assert made is None
    else:
        assert made is not None
        assert f"with pytest.raises(Exception):\n        {call}\n" in made
        assert unparted(made, "solution") is None


@pytest.mark.parametrize(
    ("body", "passes"),
    [
        ("import fnmatch\n    return fnmatch.filter(names, p)", True),
        ("return [n for n in names if n[0] == p[0]]", False),
    ],
)
def test_only_a_program_that_needs_the_library_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, passes: bool
) -> None:
    (tmp_path / "plain_or_not.py").write_text(f"def solve(names, p):\n    {body}\n")
    monkeypatch.syspath_prepend(tmp_path)
    tests = "from plain_or_not import solve\ndef test_a():\n    assert solve(names=['ab', 'b'], p='a*') == ['ab']\n"
    namespace: dict[str, Any] = {}
    exec(compile(with_library_test(tests, "solve", "plain_or_not", ["fnmatch"]) or "", "tests", "exec"), namespace)
    namespace["test_a"]()
    if passes:
        namespace["test_needs_library"]()
    else:
        with pytest.raises(pytest.fail.Exception):
            namespace["test_needs_library"]()
    monkeypatch.delitem(sys.modules, "plain_or_not")


@pytest.mark.parametrize(
    ("values", "called"),
    [(["[]", "[2, 1]"], "[2, 1]"), (["''", "0", "'b'"], "'b'"), (["[]", "0"], "[]"), (["items"], "items")],
)
def test_the_call_without_the_api_is_one_that_has_something_to_do(values: list[str], called: str) -> None:
    """Of an empty list a body gives the same, or raises, whatever it uses."""
    tests = "".join(f"def test_{n}():\n    assert solve({value}) == 1\n" for n, value in enumerate(values))
    made = with_api_test(HEAD + tests, "solve", "solution", ["lib.new"])
    assert made is not None
    assert made.endswith(f"def test_needs_api():\n    with pytest.raises(Exception):\n        without_api({called})\n")
    assert unparted(made, "solution") is None


@pytest.mark.parametrize("import_inside", [True, False])
@pytest.mark.parametrize("first", ["test_a", "test_needs_library"])
def test_each_test_passes_whichever_runs_first(tmp_path: Path, import_inside: bool, first: str) -> None:
    """A reference that imports the library in its function has not loaded it before the first call."""
    (tmp_path / "onlylib.py").write_text("def double(n):\n    return 2 * n\n")
    loading = "import onlylib\n"
    body = f"    {loading}    return onlylib.double(n)\n"
    program = f"def solve(n):\n{body}" if import_inside else f"{loading}def solve(n):\n    return onlylib.double(n)\n"
    (tmp_path / "program.py").write_text(program)
    made = with_library_test(
        "from program import solve\ndef test_a():\n    assert solve(2) == 4\n", "solve", "program", ["onlylib"]
    )
    second = {"test_a": "test_needs_library", "test_needs_library": "test_a"}[first]
    # A process of its own: what a test leaves loaded is what this is about.
    (tmp_path / "ordered.py").write_text(
        f"{made}\n\n{first}()\n{second}()\nimport onlylib\nassert onlylib.double(3) == 6\n"
    )
    run = subprocess.run([sys.executable, "ordered.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr


NEWER = {
    "the new function": ("lib.new", "import lib\ndef solve(x):\n    return lib.new(x)\n", True),
    "under the path of its module": ("lib.new", "from lib.core import new as n\ndef solve(x):\n    return n(x)\n", True),
    "imported late": ("lib.new", "def solve(x):\n    from lib.late import again\n    return again(x)\n", True),
    "an older function": ("lib.new", "import lib\ndef solve(x):\n    return lib.old(x)\n", False),
    "an older function that calls it": ("lib.new", "import lib\ndef solve(x):\n    return lib.older(x)\n", False),
    "a class method": ("lib.Thing.made", "import lib\ndef solve(x):\n    return lib.Thing.made(x).x + 1\n", True),
    "what calls a class method": ("lib.Thing.made", "import lib\ndef solve(x):\n    return lib.making(x).x + 1\n", False),
    "plain Python": ("lib.new", "import lib\ndef solve(x):\n    return x + 1\n", False),
    "a method that is inherited": ("lib.core.Thing.shown", "import lib\ndef solve(x):\n    return lib.Thing(x).shown()\n", True),
    "a property": ("lib.Thing.plus", "import lib\ndef solve(x):\n    return lib.Thing(x).plus\n", True),
    "another way to a property": ("lib.Thing.plus", "import lib\ndef solve(x):\n    return lib.Thing(x).by_plus()\n", False),
    "another way to the same": ("lib.Thing.shown", "import lib\ndef solve(x):\n    return int(lib.Thing(x))\n", False),
    "a class": ("lib.Thing", "from lib import Thing\ndef solve(x):\n    return Thing(x).shown()\n", True),
    "a module that nothing imported": ("lib.late.again", "def solve(x):\n    return x + 1\n", False),
}  # fmt: skip


@pytest.mark.parametrize("case", NEWER)
def test_only_what_calls_the_new_api_fails_without_it(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, program, needed = NEWER[case]
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text("from lib.core import Thing, making, new, old, older\n")
    (tmp_path / "lib" / "core.py").write_text(
        "def new(x):\n    return x + 1\ndef old(x):\n    return x + 1\nclass Base:\n    def __init__(self, x):\n"
        "        self.x = x\n    def shown(self):\n        return self.x + 1\n    def __int__(self):\n"
        "        return self.x + 1\n    @property\n    def plus(self):\n        return self.x + 1\n"
        "    def by_plus(self):\n        return self.plus\nclass Thing(Base):\n    @classmethod\n    def made(cls, x):\n"
        "        return cls(x)\ndef older(x):\n    return new(x)\ndef making(x):\n    return Thing.made(x)\n"
    )
    (tmp_path / "lib" / "late.py").write_text("from lib.core import new as again\n")
    (tmp_path / "newer.py").write_text(program)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("lib", "lib.core", "lib.late", "newer"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    namespace: dict[str, Any] = {}
    exec(f"import newer\n{without_api('solve', 'newer', path)}", namespace)
    first = sys.modules["newer"].solve(1)
    if needed:
        with pytest.raises((LookupError, AttributeError)):
            namespace["without_api"](1)
    else:
        assert namespace["without_api"](1) == 2
    assert (sys.modules["newer"].solve(1), first) == (2, 2)
    for name in ("lib", "lib.core", "lib.late", "newer"):
        sys.modules.pop(name, None)


def test_of_a_compiled_class_nothing_raises_so_that_no_program_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "import datetime\ndef solve(day):\n    return datetime.date(2020, 1, day).isoformat()\n"
    (tmp_path / "dated.py").write_text(program)
    monkeypatch.syspath_prepend(tmp_path)
    namespace: dict[str, Any] = {}
    exec(f"import dated\n{without_api('solve', 'dated', 'datetime.date.isoformat')}", namespace)
    assert namespace["without_api"](1) is None
    assert namespace["dated"].solve(1) == "2020-01-01"
    sys.modules.pop("dated")


def test_attributes_of_instances_alone_are_not_removed_so_that_no_program_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "attributed.py").write_text("class Box:\n    def __init__(self, x):\n        self.held = x\n")
    (tmp_path / "reading.py").write_text("import attributed\ndef solve(x):\n    return attributed.Box(x).held\n")
    monkeypatch.syspath_prepend(tmp_path)
    namespace: dict[str, Any] = {}
    exec(f"import reading\n{without_api('solve', 'reading', 'attributed.Box.held')}", namespace)
    assert namespace["without_api"](1) is None
    for name in ("reading", "attributed"):
        sys.modules.pop(name)


USES = {
    "returned": ("return lib.new(x)", True),
    "an iterator of what it gives": ("return list(lib.many(x))", True),
    "asked for its truth": ("return 2 if lib.new(x) else 3", True),
    "negated": ("return not lib.new(x)", True),
    "in text": ("return f'{lib.new(x)}'", True),
    "in a list": ("return [lib.new(x)]", True),
    "thrown away": ("_ = lib.new(x)\n    return x[0] + 1", False),
    "a statement of its own": ("lib.new(x)\n    return x[0] + 1", False),
    "never read": ("y = [lib.new(x), 1]\n    return x[0] + y[1]", False),
}


def _needs(tmp_path: Path, body: str, path: str, reference: str, argument: str = "[1]") -> int:
    """Return the status of a process that runs the test of a program; other tests have loaded nothing there."""
    lib = "def new(x):\n    return x[0] + 1\ndef many(x):\n    yield x.pop() + 1\ndef note(x):\n    seen.append(x)\nseen = []\n"
    (tmp_path / "lib.py").write_text(lib)
    (tmp_path / "newer.py").write_text(f"import lib\ndef solve(x):\n    {body}\n")
    tests = f"from newer import solve\ndef test_a():\n    assert solve({argument}) == 2\n"
    made = with_api_test(tests, "solve", "newer", [path], f"import lib\ndef solve(x):\n    {reference}\n")
    (tmp_path / "ordered.py").write_text(f"{made}\n\ntest_needs_api()\n")
    return subprocess.run([sys.executable, "ordered.py"], cwd=tmp_path, capture_output=True, timeout=60).returncode


@pytest.mark.parametrize("case", USES)
def test_a_call_whose_value_is_thrown_away_is_no_use(tmp_path: Path, case: str) -> None:
    body, passes = USES[case]
    path = "lib.many" if "many" in body else "lib.new"
    assert (_needs(tmp_path, body, path, "return lib.new(x)") == 0) == passes


PARAMETER = {
    "given by its name": ("return lib.sort(x, presort=flag)", True),
    "given by its place": ("return lib.sort(x, flag)", True),
    "given in a mapping": ("return lib.sort(x, **{'presort': flag})", True),
    "given, and older releases caught": (
        "try:\n        return lib.sort(x, presort=flag)\n    except TypeError:\n        return sorted(x)", True,
    ),
    "a workaround": ("return lib.sort(sorted(x) if flag else x)", False),
    "a call that is thrown away": ("lib.sort(x, presort=flag)\n    return lib.sort(sorted(x))", False),
    "no call at all": ("return sorted(x)", False),
    "without a signature": ("return lib.sort(x, presort=flag)", True),
}  # fmt: skip


@pytest.mark.parametrize("case", PARAMETER)
def test_only_a_program_that_gives_the_new_parameter_needs_it(tmp_path: Path, case: str) -> None:
    body, passes = PARAMETER[case]
    lib = "def sort(x, presort=False):\n    return sorted(x)\n"
    unsigned = "sort.__signature__ = 'none that can be read'\n" if case == "without a signature" else ""
    (tmp_path / "lib.py").write_text(lib + unsigned)
    (tmp_path / "newer.py").write_text(f"import lib\ndef solve(x, flag):\n    {body}\n")
    helper = without_api("solve", "newer", "lib.sort", parameter="presort")
    test = "import newer\ntry:\n    without_api([2, 1], True)\nexcept LookupError:\n    raise SystemExit(0)\nraise SystemExit(1)\n"
    (tmp_path / "ordered.py").write_text(f"{helper}\n{test}")
    run = subprocess.run([sys.executable, "ordered.py"], cwd=tmp_path, capture_output=True, timeout=60)
    assert (run.returncode == 0) == passes, run.stderr.decode()


def test_a_value_that_the_reference_discards_is_not_required(tmp_path: Path) -> None:
    body = "lib.note(x)\n    return 2"
    assert _needs(tmp_path, body, "lib.note", body) == 0
    assert _needs(tmp_path, body, "lib.note", "return lib.note(x)") != 0


def test_what_cannot_be_copied_serves_for_one_call(tmp_path: Path) -> None:
    body, argument = "return next(x) + lib.seen.count(lib.note(x))", "(n for n in [1])"
    assert _needs(tmp_path, body, "lib.note", body, argument) == 0
