"""What probes in both releases say of a change: descriptions are made of real objects, as the program makes them."""

from __future__ import annotations

import json
import linecache
import sys
from hashlib import sha256
from types import ModuleType
from typing import Any, cast

import pytest

from pipeline.core.vocabularies.changes import ChangeKind as Kind
from pipeline.core.vocabularies.changes import Reach
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Evidence
from pipeline.execution.environments.inside.inspect_program import below
from pipeline.execution.probe_result import ProbeResult
from pipeline.families.proof import Runs
from pipeline.lake.schema import table
from pipeline.lake.stage import Reject
from pipeline.quality.acceptance.changes import prove_changes
from tests.families.completions_and_migrations.rows import change, probe

HELD, REFUTED, UNDECIDED = Evidence.EXECUTED, RejectReason.LABEL_REFUTED, Evidence.STATIC
PREAMBLE = "import abc, contextlib, functools, inspect, typing\n"


def seen_in(source: str, version: str, path: str) -> Any:
    """The probe of a path in a release of `lib` whose only file has that source."""
    module = ModuleType("lib")
    sys.modules["lib"] = module
    try:
        # the file, of which only lines are read
        file = f"<{sha256(source.encode()).hexdigest()}>"
        linecache.cache[file] = (0, None, (PREAMBLE + source).splitlines(keepends=True), file)
        exec(compile(PREAMBLE + source, file, "exec"), module.__dict__)
        names = path.split(".")[1:]
        return probe(path, version, Outcome.PASSED) | {"observation": json.dumps(below(module, names))}
    except AttributeError:
        return probe(path, version, Outcome.API_MISSING)
    finally:
        del sys.modules["lib"]


def proven(before: str, after: str, kind: Kind, path: str = "lib.f", **columns: Any) -> Any | Reject:
    runs = Runs([seen_in(before, "1.0", path), seen_in(after, "2.0", path)])
    (result,) = prove_changes([change(kind, path, "1.0", "2.0", **columns)], runs)
    return result


def f(parameters: str, decorator: str = "") -> str:
    return f"{decorator}\ndef f({parameters}): pass\n"


WRAPPER = """
def handing(g):
    @functools.wraps(g)
    def wrapper(*args, **kwargs): return g(*args, **kwargs)
    return wrapper
"""
PARAMETERS = [
    # signatures, kind, parameter, old, new: what the probes say of it, and whether it breaks
    ("a", "a, b", Kind.PARAMETER_ADDED_REQUIRED, "b", None, "b", HELD, True),
    ("a", "a, b=1", Kind.PARAMETER_ADDED_REQUIRED, "b", None, "b", REFUTED, None),
    ("a", "a, b=1", Kind.PARAMETER_ADDED_OPTIONAL, "b", None, "b=1", HELD, False),
    ("a, b=1", "a, b=1", Kind.PARAMETER_ADDED_OPTIONAL, "b", None, "b=1", REFUTED, None),
    ("a", "a", Kind.PARAMETER_ADDED_OPTIONAL, "b", None, "b=1", REFUTED, None),
    ("a", "a, **more", Kind.PARAMETER_ADDED_OPTIONAL, "b", None, "b=1", UNDECIDED, None),
    ("a, **more", "a, b=1", Kind.PARAMETER_ADDED_OPTIONAL, "b", None, "b=1", UNDECIDED, None),
    ("a", "a, *args", Kind.PARAMETER_ADDED_OPTIONAL, "rest", None, "*rest", HELD, False),
    ("a, b=1", "a", Kind.PARAMETER_REMOVED, "b", "b=1", None, HELD, True),
    ("a, b=1", "a, b=1", Kind.PARAMETER_REMOVED, "b", "b=1", None, REFUTED, None),
    ("a", "a", Kind.PARAMETER_REMOVED, "b", "b=1", None, REFUTED, None),
    ("a, b=1", "a, **more", Kind.PARAMETER_REMOVED, "b", "b=1", None, UNDECIDED, None),
    ("a, *args", "a", Kind.PARAMETER_REMOVED, "args", "*args", None, HELD, True),
    ("a, b", "a, c", Kind.PARAMETER_RENAMED, "b", "b", "c", HELD, True),
    ("a, b, /", "a, c, /", Kind.PARAMETER_RENAMED, "b", "b", "c", HELD, False),
    ("a, b", "a, b, c", Kind.PARAMETER_RENAMED, "b", "b", "c", REFUTED, None),
    ("a, b", "a, c, **more", Kind.PARAMETER_RENAMED, "b", "b", "c", HELD, True),
    ("a, b=1", "a, c=1, **more", Kind.PARAMETER_RENAMED, "b", "b", "c", UNDECIDED, None),
    ("a, b=1", "b=1, *, a", Kind.PARAMETER_MOVED, "b", "position 2", "position 1", HELD, True),
    ("a, b", "b, a", Kind.PARAMETER_MOVED, "a", "position 1", "position 2", HELD, True),
    ("a, b", "a, b", Kind.PARAMETER_MOVED, "a", "position 1", "position 2", REFUTED, None),
    ("a", "*, a", Kind.PARAMETER_KIND, "a", "positional_or_keyword", "keyword_only", HELD, True),
    ("*, a", "a", Kind.PARAMETER_KIND, "a", "keyword_only", "positional_or_keyword", HELD, False),
    ("a", "a", Kind.PARAMETER_KIND, "a", "positional_or_keyword", "keyword_only", REFUTED, None),
    ("a=1", "a=2", Kind.PARAMETER_DEFAULT, "a", "1", "2", HELD, None),
    ("a=1 + 1", "a=2", Kind.PARAMETER_DEFAULT, "a", "1 + 1", "2", REFUTED, None),
    ("a=1", "a=True", Kind.PARAMETER_DEFAULT, "a", "1", "True", HELD, None),
    ("a=None", "a=bool", Kind.PARAMETER_DEFAULT, "a", "None", "bool", HELD, None),
    ("a=len", "a=bool", Kind.PARAMETER_DEFAULT, "a", "len", "bool", UNDECIDED, None),
    ("a=1", "a", Kind.PARAMETER_REQUIRED, "a", "1", None, HELD, True),
    ("a=1", "a=1", Kind.PARAMETER_REQUIRED, "a", "1", None, REFUTED, None),
    ("a", "a=1", Kind.PARAMETER_OPTIONAL, "a", None, "1", HELD, False),
    ("*args, **kwargs", "a", Kind.PARAMETER_REMOVED, "b", "b", None, UNDECIDED, None),
    ("a", "a, b", Kind.PARAMETER_TYPE, "a", "int", "str", UNDECIDED, None),
]


@pytest.mark.parametrize(("old", "new", "kind", "parameter", "was", "is_", "expected", "breaking"), PARAMETERS)
def test_parameters(
    old: str,
    new: str,
    kind: Kind,
    parameter: str,
    was: str | None,
    is_: str | None,
    expected: str,
    breaking: bool | None,
) -> None:
    claimed: dict[str, Any] = {
        "parameter": parameter,
        "old": was,
        "new": is_,
        "breaking": not breaking,
        "griffe_kind": "griffe's",
    }
    result = proven(f(old), f(new), kind, **claimed)
    if isinstance(result, Reject):
        assert result.reason == expected
        return
    table("published_changes").check(result)
    assert result["evidence"] == expected
    # what the probes show of it stands in place of what the comparison took it for
    assert result["breaking"] is (claimed["breaking"] if breaking is None else breaking)
    assert (result["griffe_kind"] is None) is (breaking is False)


def test_no_change_of_an_api_that_is_not_offered_is_breaking_whatever_runs_show() -> None:
    claimed: dict[str, Any] = {"parameter": "b", "old": None, "new": "b", "breaking": False, "griffe_kind": None}
    results = {
        reach: proven(f("a"), f("a, b"), Kind.PARAMETER_ADDED_REQUIRED, reach=reach, **claimed) for reach in Reach
    }
    assert all(isinstance(result, dict) and result["evidence"] == HELD for result in results.values())
    assert [reach for reach, result in results.items() if cast(Any, result)["breaking"]] == [
        Reach.LISTED,
        Reach.DOCUMENTED,
        Reach.USED,
    ]


CHANGING = WRAPPER.replace("return g(", "kwargs.pop('old', None); return g(")
BY_NAME = """
def by_name(g):
    names = list(inspect.signature(g).parameters)
    @functools.wraps(g)
    def wrapper(*args, **kwargs):
        kwargs.update(zip(names, args))
        return g(**kwargs)
    return wrapper
"""
UNREACHED = WRAPPER.replace("return g(", "raise ValueError; return g(")
LATER = WRAPPER.replace("def wrapper", "async def wrapper")


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [
        ("@functools.lru_cache", HELD),
        ("@contextlib.contextmanager", HELD),
        (WRAPPER + "@handing", HELD),
        (WRAPPER + "@handing\n@functools.lru_cache", HELD),
        (CHANGING.replace("old", "c") + "@handing", HELD),
        (CHANGING.replace("old", "b") + "@handing", UNDECIDED),
        (BY_NAME + "@by_name", HELD),
        (UNREACHED + "@handing", UNDECIDED),
        (LATER + "@handing", UNDECIDED),
        # a refusal by what is wrapped is an error in the wrapper, which may keep it or try again
        (
            WRAPPER.replace(
                "return g(*args, **kwargs)", "\n        try: return g(*args, **kwargs)\n        except TypeError: pass"
            )
            + "@handing",
            UNDECIDED,
        ),
        # `b` is known to a function within, to a variable of the module, to what the wrapper calls
        (
            WRAPPER.replace("**kwargs)\n", "**{k: v for k, v in kwargs.items() if k != 'b'})\n", 1) + "@handing",
            UNDECIDED,
        ),
        (
            "OLD = ('b',)"
            + WRAPPER.replace("return g(", "[kwargs.pop(old, 0) for old in OLD]; return g(")
            + "@handing",
            UNDECIDED,
        ),
        ("def fix(k): k.pop('b', 0)" + WRAPPER.replace("return g(", "fix(kwargs); return g(") + "@handing", UNDECIDED),
        # what the wrapper itself must not do in a trial
        (WRAPPER.replace("return g(", "import os; os._exit(1); return g(") + "@handing", UNDECIDED),
        (WRAPPER.replace("return g(", "import time; time.sleep(99); return g(") + "@handing", UNDECIDED),
        (WRAPPER.replace("return g(", "wrapper.__wrapped__; return g(") + "@handing", HELD),
        ("@functools.singledispatch", HELD),
    ],
)
def test_a_wrapper_of_the_library_may_take_other_arguments(decorator: str, expected: Evidence) -> None:
    result = proven(f("a, b=1", decorator), f("a", decorator), Kind.PARAMETER_REMOVED, parameter="b", old="b=1")
    assert isinstance(result, dict)
    assert result["evidence"] == expected


OPAQUE = WRAPPER.replace("return g(", "kwargs.pop('b', 0); args[-1].x; return g(")


@pytest.mark.parametrize(
    ("made", "path"),
    [
        ("class f:\n @classmethod\n @handing\n def m(cls, {}): pass", "lib.f.m"),
        ("class A:\n @handing\n def m(self, {}): pass\nf = A().m", "lib.f"),
        ("class A:\n @handing\n def __call__(self, {}): pass\nf = A()", "lib.f"),
        ("@handing\ndef g(x, {}): pass\nf = functools.partial(g, 1)", "lib.f"),
        ("class f:\n def __new__(cls, a, b=1): return object.__new__(cls)\n def __init__(self, {}): pass", "lib.f"),
        ("class f:\n def __new__(cls, {}): return object.__new__(cls)\n def __init__(self, a): pass", "lib.f"),
    ],
)
def test_a_signature_does_not_stand_for_what_runs_besides(made: str, path: str) -> None:
    claimed: dict[str, Any] = {"path": path, "parameter": "b", "old": "b=1"}
    old, new = (OPAQUE + made.format(parameters) for parameters in ("a, b=1", "a"))
    result = proven(old, new, Kind.PARAMETER_REMOVED, **claimed)
    assert isinstance(result, dict)
    assert result["evidence"] == UNDECIDED


@pytest.mark.parametrize(
    "new",
    [
        "def g(x, b=2): pass\ndef f(a, **kw): kw.setdefault('b', 1); return g(a, **kw)",
        "def g(x): pass\ndef f(a, **kw): kw.pop('b', 1); return g(a, **kw)",
        WRAPPER.replace("return g(", "kwargs.setdefault('b', 1); return g(") + f("a, b=2", "@handing"),
        WRAPPER.replace("return g(", "kwargs.setdefault('b', 1); return g(") + f("a, b", "@handing"),
    ],
)
def test_a_default_that_code_puts_in_is_not_decided(new: str) -> None:
    result = proven(f("a, b=1"), new, Kind.PARAMETER_DEFAULT, parameter="b", old="1", new="2")
    assert isinstance(result, dict)
    assert result["evidence"] == UNDECIDED


def test_what_a_wrapper_hands_on_to_keywords_of_any_name_is_not_decided() -> None:
    new = CHANGING.replace("pop('old', None)", "get('b')") + f("a, **more", "@handing")
    result = proven(f("a, b=1"), new, Kind.PARAMETER_REMOVED, parameter="b", old="b=1")
    assert isinstance(result, dict)
    assert result["evidence"] == UNDECIDED


def test_a_trial_changes_nothing_of_the_library() -> None:
    counting = """
N = 0
def handing(g):
    n = 0
    @functools.wraps(g)
    def wrapper(*args, **kwargs):
        global N
        nonlocal n
        N += 1; n += 1; wrapper.calls = n
        return g(*args, **kwargs)
    wrapper.counted = lambda: n
    return wrapper
"""
    module = ModuleType("lib")
    exec(PREAMBLE + counting + f("a", "@handing"), module.__dict__)
    assert below(module, ["f"])["accepts"] == [["a", "positional_or_keyword", False, None]]
    assert (module.N, module.f.counted(), hasattr(module.f, "calls")) == (0, 0, False)


def test_a_wrapper_may_take_by_position_what_it_hands_on_by_name() -> None:
    # seaborn 0.11.2: `_deprecate_positional_args` of a constructor, whose signature says that it takes names alone
    made = "class f:\n @by_name\n def __init__(self, a, *, b=1): raise SystemExit\n"
    plain = made.replace("@by_name", "")
    claimed = {"parameter": "b", "old": "positional_or_keyword", "new": "keyword_only"}
    result = proven(BY_NAME + made, plain, Kind.PARAMETER_KIND, **claimed)
    assert isinstance(result, dict)
    assert (result["evidence"], result["breaking"]) == (HELD, True)
    assert isinstance(proven(plain, plain, Kind.PARAMETER_KIND, **claimed), Reject)


CALLEE = "def g(x, y=1, *, z=2): pass\n"
BASE = "class A:\n def __init__(self, x=1, *, y=2): pass\n def m(self, x, y=1): pass\n"
SUB = f"{BASE}class f(A):\n def __init__(self, a, **kw): super().__init__({{}}**kw)\n"
HANDED_ON = [
    # sources, parameter that is claimed to be removed: the keyword binds in the old release and is refused in the new one
    ("def f(a, y=1): pass", CALLEE.replace("y=1, ", "") + "def f(a, **kw): return g(a, **kw)", "y", HELD),
    ("def f(a, y=1): pass", CALLEE + "def f(a, **kw): return g(a, **kw)", "y", REFUTED),
    (CALLEE + "def f(*args, **kw): return g(*args, **kw)", "def f(x, z=2): pass", "y", HELD),
    (CALLEE + "def f(a, **kw): return g(a, **kw)", "def f(a, z=2): pass", "y", HELD),
    # given by the function itself: a second one is refused
    (CALLEE + "def f(a, **kw): return g(a, **kw)", CALLEE + "def f(a, **kw): return g(a, y=1, **kw)", "y", HELD),
    (CALLEE + "def f(a, **kw): return g(a, **kw)", CALLEE + "def f(a, **kw): return g(a, 1, **kw)", "y", HELD),
    # taken out, put in, asked for
    ("def f(a, b=1): pass", CALLEE + "def f(a, **kw): kw.pop('b', 1); return g(a, **kw)", "b", REFUTED),
    ("def f(a, b=1): pass", CALLEE + "def f(a, **kw): kw['z'] = kw.get('y'); return g(a, **kw)", "b", HELD),
    ("def f(a, b=1): pass", CALLEE + "def f(a, **kw): kw.update(z=1); return g(a, **kw)", "b", UNDECIDED),
    ("def f(a, b=1): pass", CALLEE + "def f(a, **kw): print(kw); return g(a, **kw)", "b", UNDECIDED),
    ("def f(a, b=1): pass", "def f(a, **kw): pass", "b", UNDECIDED),
    ("def f(a, b=1): pass", CALLEE + "h = g\ndef f(a, **kw): return g(a, **kw) if a else h(a, **kw)", "b", UNDECIDED),
    ("def f(a, b=1): pass", "def f(a, g=len, **kw): return g(a, **kw)", "b", UNDECIDED),
    # taken out at times, or too late; refused by the function itself
    ("def f(a, b=1): pass", CALLEE + "def f(a, **kw):\n if a: kw.pop('b', 1)\n return g(a, **kw)", "b", UNDECIDED),
    ("def f(a, b=1): pass", CALLEE + "def f(a, **kw):\n if 'b' in kw: kw.pop('b')\n return g(a, **kw)", "b", REFUTED),
    ("def f(a, b=1): pass", CALLEE + "def f(a, **kw): g(a, **kw); kw.pop('b', 1)", "b", UNDECIDED),
    (
        "def f(a, y=1): pass",
        CALLEE + "def f(a, **kw):\n if 'y' in kw: raise TypeError\n return g(a, **kw)",
        "y",
        UNDECIDED,
    ),
    (
        "def f(a, b=1): pass",
        CALLEE + "def f(a, **kw):\n b = kw.pop('b', None)\n if b is not None: raise TypeError\n return g(a, **kw)",
        "b",
        UNDECIDED,
    ),
    (
        "def f(a, b=1): pass",
        CALLEE + "def f(a, **kw):\n kw.pop('b', None)\n if a < 0: raise ValueError\n return g(a, **kw)",
        "b",
        REFUTED,
    ),
    # not handed on by each way through the function, or without the error that refuses it
    ("def f(a, b=1): pass", CALLEE + "def f(a, **kw):\n if a: return\n return g(a, **kw)", "b", UNDECIDED),
    (
        "def f(a, b=1): pass",
        CALLEE + "def f(a, **kw):\n if a: return g(a, **kw)\n else: a = 2\n with catch_warnings(): return g(a, **kw)",
        "b",
        HELD,
    ),
    (
        "def f(a, b=1): pass",
        CALLEE + "def f(a, **kw):\n try: return g(a, **kw)\n except TypeError: pass",
        "b",
        UNDECIDED,
    ),
    (
        "def f(a, b=1): pass",
        CALLEE + "def f(a, **kw):\n try: return g(a, **kw)\n except KeyError: pass",
        "b",
        HELD,
    ),
    # bases, methods, classes
    (
        "class f:\n def __init__(self, y=1): pass",
        "class M(type):\n def __call__(cls, y=1): pass\nclass f(metaclass=M): pass",
        "y",
        REFUTED,
    ),
    (SUB.format(""), SUB.format("y=1, "), "y", HELD),
    (SUB.format(""), SUB.format(""), "y", REFUTED),
    (
        "class f:\n def __init__(self, b=1): pass",
        "class f:\n def __init__(self, **kw): super().__init__(**kw)",
        "b",
        HELD,
    ),
    ("def f(y): pass", f"{BASE}def f(**kw): return A(**kw)", "y", REFUTED),
    ("def f(b=1): pass", f"{BASE}def f(**kw): return A(**kw)", "b", HELD),
    # what a class states for itself does not hold for what its code takes
    (
        "class f:\n __signature__ = inspect.signature(lambda *, b=1: 0)\n def __init__(self, **kw): self.kw = kw",
        "class f:\n __signature__ = inspect.signature(lambda: 0)\n def __init__(self, **kw): self.kw = kw",
        "b",
        UNDECIDED,
    ),
]


@pytest.mark.parametrize(("old", "new", "parameter", "expected"), HANDED_ON)
def test_keywords_are_followed_to_where_they_are_handed_on(old: str, new: str, parameter: str, expected: str) -> None:
    result = proven(old, new, Kind.PARAMETER_REMOVED, parameter=parameter, old=f"{parameter}=1")
    assert (result.reason if isinstance(result, Reject) else result["evidence"]) == expected


def test_a_method_is_followed_on_the_class_that_it_is_taken_from() -> None:
    old = f"{BASE}class f(A):\n def n(self, **kw): return self.m(1, **kw)"
    claimed: dict[str, Any] = {"path": "lib.f.n", "parameter": "y", "old": "y=1"}
    held = proven(old, "class f:\n def n(self): pass", Kind.PARAMETER_REMOVED, **claimed)
    assert isinstance(held, dict)
    assert held["evidence"] == HELD
    assert isinstance(proven(old, old, Kind.PARAMETER_REMOVED, **claimed), Reject)


@pytest.mark.parametrize(
    "made",
    [
        # the first argument is no instance of the class
        "class f:\n @staticmethod\n def n(o, **kw): return o.m(**kw)\n",
        "class f:\n @staticmethod\n def n(cls, **kw): return cls(**kw)\n def __init__(self): pass\n",
        "class A:\n def o(self, **kw): return self.m(**kw)\nclass f:\n def n(self, **kw): return A.o(self.a, **kw)\n",
        "class f:\n def n(self, **kw):\n  self = kw\n  return self.m(**kw)\n",
    ],
)
def test_a_method_is_not_followed_on_what_may_be_of_another_class(made: str) -> None:
    old, new = "class f:\n def n(self, b=1): pass", f"{made} def m(self, y=1): pass"
    result = proven(old, new, Kind.PARAMETER_REMOVED, path="lib.f.n", parameter="b", old="b=1")
    assert isinstance(result, dict)
    assert result["evidence"] == UNDECIDED


def test_a_function_of_several_types_takes_what_all_of_them_take() -> None:
    new = "@functools.singledispatch\ndef f(a, c=1): pass\n@f.register(int)\ndef _(a, b=1): pass"
    result = proven(f("a, b=1"), new, Kind.PARAMETER_REMOVED, parameter="b", old="b=1")
    assert isinstance(result, dict)
    assert result["evidence"] == UNDECIDED


STATES = [
    ("f = 1", "f = 2", Kind.ATTRIBUTE_VALUE, "1", "2", HELD),
    ("f = 1 + 1", "f = 2", Kind.ATTRIBUTE_VALUE, "1 + 1", "2", REFUTED),
    ("f = [1]", "f = [2]", Kind.ATTRIBUTE_VALUE, "[1]", "[2]", UNDECIDED),
    ("f = [1]", "f = (1,)", Kind.ATTRIBUTE_VALUE, "[1]", "(1,)", HELD),
    ("class f: pass", "def f(): pass", Kind.KIND, "class", "function", HELD),
    ("def f(): pass", "def g(): pass\nf = g", Kind.KIND, "function", "attribute", REFUTED),
    ("class f: pass", "f = functools.partial(len)", Kind.KIND, "class", "function", UNDECIDED),
    ("def f(): pass", "async def f(): pass", Kind.ASYNC, "not async", "async", HELD),
    ("async def f(): pass", "async def f(): pass", Kind.ASYNC, "not async", "async", REFUTED),
    ("class A: pass\nclass f(A): pass", "class f: pass", Kind.BASES, "A", None, HELD),
    ("def f(): pass", "def f(): pass\nf.__deprecated__ = 'use g'", Kind.DEPRECATED, None, "use g", HELD),
    (
        "def f(): pass\nf.__deprecated__ = 'a'",
        "def f(): pass\nf.__deprecated__ = 'b'",
        Kind.DEPRECATED,
        None,
        "b",
        REFUTED,
    ),
    ("def f(): pass", "def f(): warn('use g')", Kind.DEPRECATED, None, "use g", UNDECIDED),
    ("def f(): pass", "", Kind.KIND, "function", "class", UNDECIDED),
]


@pytest.mark.parametrize(("old", "new", "kind", "was", "is_", "expected"), STATES)
def test_states(old: str, new: str, kind: Kind, was: str | None, is_: str | None, expected: str) -> None:
    result = proven(old, new, kind, old=was, new=is_)
    assert (result.reason if isinstance(result, Reject) else result["evidence"]) == expected


BASES = [
    ("class f(A): pass", "class f(B): pass", True),
    ("class f(A): pass", "class f(A, B): pass", False),
    ("class f(A): pass", "class C(A): pass\nclass f(C): pass", False),
    ("class f(_P, A): pass", "class f(A): pass", False),
    ("T = typing.TypeVar('T')\nclass f(A, typing.Generic[T]): pass", "class f(A): pass", False),
]


@pytest.mark.parametrize(("old", "new", "breaking"), BASES)
def test_a_removed_base_breaks_and_an_added_one_does_not(old: str, new: str, breaking: bool) -> None:
    above = "class A: pass\nclass B: pass\nclass _P: pass\n"
    result = proven(above + old, above + new, Kind.BASES, breaking=not breaking)
    assert isinstance(result, dict)
    assert (result["evidence"], result["breaking"]) == (HELD, breaking)


def test_a_base_written_in_another_way_is_the_same() -> None:
    # packaging 21.0: `with_metaclass(abc.ABCMeta, object)` became `metaclass=abc.ABCMeta`
    made = "def with_metaclass(meta, *bases): return meta('made', bases, {})\n"
    old, new = f"{made}f = with_metaclass(abc.ABCMeta, object)", "class f(metaclass=abc.ABCMeta): pass"
    result = proven(old, new, Kind.BASES, old="with_metaclass(abc.ABCMeta, object)")
    assert isinstance(result, Reject)
    assert result.detail == "bases: lib.f is class () in 1.0, class () in 2.0"


def test_both_findings_have_a_description() -> None:
    result = proven(f("a, b=1"), f("a, b=1, *, c=len"), Kind.PARAMETER_REMOVED, parameter="b", old="b=1")
    assert isinstance(result, Reject)
    words = "parameter_removed b: lib.f is function (a, b=1) in 1.0, function (a, b=1, *, c=…) in 2.0"
    assert result.detail == words


ARGS, KEYWORDS = ("args", "var_positional", False, None), ("kwargs", "var_keyword", False, None)
A = ("a", "positional_or_keyword", False, None)
PLACES = [
    # kind, in 1.0, in 2.0, the new path in 2.0
    (Kind.INTRODUCED, "", "f = 1", None, HELD),
    (Kind.INTRODUCED, "f = 1", "f = 1", None, REFUTED),
    (Kind.INTRODUCED, "", "", None, UNDECIDED),
    # pydantic 1.10.17: `pydantic.v1.errors` was what a star import bound, and became a module
    (Kind.INTRODUCED, "import json.tool as f", "import json.encoder as f", None, UNDECIDED),
    (Kind.INTRODUCED, "import json as f", "import json as f", None, REFUTED),
    (Kind.REMOVED, "f = 1", "", None, HELD),
    (Kind.REMOVED, "f = 1", "f = 1", None, REFUTED),
    (Kind.RENAMED, "f = 1", "", Outcome.PASSED, HELD),
    (Kind.RENAMED, "f = 1", "f = 1", Outcome.PASSED, REFUTED),
    (Kind.RENAMED, "f = 1", "", Outcome.API_MISSING, UNDECIDED),
    (Kind.MOVED, "f = 1", "", None, UNDECIDED),
]


@pytest.mark.parametrize(("kind", "old", "new", "after", "expected"), PLACES)
def test_places(kind: Kind, old: str, new: str, after: Outcome | None, expected: str) -> None:
    runs = [seen_in(old, "1.0", "lib.f"), seen_in(new, "2.0", "lib.f")]
    runs += [probe("lib.g", "2.0", after)] if after else []
    (result,) = prove_changes([change(kind, "lib.f", "1.0", "2.0", new="lib.g")], Runs(runs))
    assert (result.reason if isinstance(result, Reject) else result["evidence"]) == expected


def test_an_undecidable_change_has_no_outcomes() -> None:
    result = proven(f("a"), f("a"), Kind.RETURNS)
    assert isinstance(result, dict)
    assert (result["old_outcome"], result["new_outcome"], result["evidence"]) == (None, None, UNDECIDED)


@pytest.mark.parametrize(
    ("description", "reason"),
    [
        (ProbeResult("function"), "it has no signature that can be read"),
        (ProbeResult("function", (), wrappers=("lib.core",)), "a wrapper of lib.core may take other arguments"),
        (
            ProbeResult("function", (ARGS, KEYWORDS)),
            "it takes `*args` and `**kwargs`, and where they go cannot be followed",
        ),
        (ProbeResult("function", (KEYWORDS, ARGS, A)), "no function of Python can have its signature"),
        (ProbeResult("function", (A,), accepts=(A, A)), "no function of Python can have its signature"),
    ],
)
def test_what_cannot_be_called_says_why(description: ProbeResult, reason: str) -> None:
    assert description.callable_as() is None
    assert description.uncallable() == reason
