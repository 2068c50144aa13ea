"""The calls that objects accept by the probe, against calls that are made: what is decided is never false."""

from __future__ import annotations

import itertools
import json
import linecache
import sys
import warnings
from collections.abc import Callable
from hashlib import sha256
from types import ModuleType
from typing import Any

import pytest

from pipeline.execution.environments.inside.inspect_program import below
from pipeline.execution.probe_result import ProbeResult
from pipeline.quality.acceptance.calls import fits_by_name, fits_without, positions

PREAMBLE = "import contextlib, enum, functools, inspect, re\nfrom warnings import catch_warnings\n"
NAMES = ("a", "b", "c", "x", "y", "old", "odd", "B")
CALLEE = "def g(x, y=1): pass\n"
NEEDING = "def g(x, y): pass\n"
OPEN, CLOSED = "(x, **kw)", "(x, *, y=1)"


def forwarding(body: str, before: str = CALLEE, parameters: str = "x, **kw") -> str:
    """A function with that body."""
    lines = body.replace("\n", "\n ")
    return f"{before}def f({parameters}):\n {lines}\n"


def wrapping(body: str, before: str = "", parameters: str = "a, b=1", given: str = "*args, **kwargs") -> str:
    """A wrapped function whose wrapper has that body."""
    lines = body.replace("\n", "\n  ")
    return (
        f"{before}\ndef deco(g):\n @functools.wraps(g)\n def wrapper({given}):\n  {lines}\n return wrapper\n"
        f"@deco\ndef f({parameters}): pass\n"
    )


ROWS = [
    # source; keywords of the smallest call that is accepted, None if keywords alone are not;
    # the signature by the probe, None where it is not decided, ... for any that is true
    # a call that is made, and calls that may not be made
    (forwarding("return g(x, **kw)"), "x", CLOSED),
    (forwarding("if x: return g(x, **kw)\nreturn g(x, **kw)"), "x", CLOSED),
    (forwarding("with catch_warnings(): return g(x, **kw)"), "x", CLOSED),
    (
        forwarding(
            "with errstate(): return g(x, **kw)", CALLEE + "errstate = lambda: contextlib.suppress(TypeError)\n"
        ),
        "x",
        OPEN,
    ),
    (forwarding("while True:\n break\nreturn g(x, **kw)"), "x", CLOSED),
    (forwarding("for _ in (): g(x, **kw)"), "x", OPEN),
    (forwarding("while not x: g(x, **kw)"), "x", OPEN),
    (forwarding("if not x: g(x, **kw)"), "x", OPEN),
    (forwarding("return lambda: g(x, **kw)"), "x", OPEN),
    (forwarding("def inner(): return g(x, **kw)\nreturn inner"), "x", OPEN),
    (forwarding("return [g(x, **kw) for _ in ()]"), "x", OPEN),
    (forwarding("return (g(x, **kw) for _ in (1,))"), "x", OPEN),
    (forwarding("return not x and g(x, **kw)"), "x", OPEN),
    (forwarding("return None if x else g(x, **kw)"), "x", OPEN),
    (forwarding("if x: return\nreturn g(x, **kw)"), "x", OPEN),
    (forwarding("if x: return g(x, **kw)\nreturn h(x, **kw)", CALLEE + "def h(x, b=1): pass\n"), "x", OPEN),
    ("def g(x): yield\n" + forwarding("yield from g(x, **kw)", ""), "x", OPEN),
    # handlers and context managers that may keep the error
    (forwarding("try: return g(x, **kw)\nexcept TypeError: raise"), "x", CLOSED),
    (forwarding("try: return g(x, **kw)\nexcept TypeError: return 1"), "x", OPEN),
    (forwarding("try: return g(x, **kw)\nexcept (KeyError, TypeError): return 1"), "x", OPEN),
    (forwarding("try: return g(x, **kw)\nexcept E: return 1", CALLEE + "E = TypeError\n"), "x", OPEN),
    (forwarding("try: return g(x, **kw)\nexcept TypeError:\n if not x: raise"), "x", OPEN),
    (forwarding("try: return g(x, **kw)\nexcept TypeError: return g(x)"), "x", OPEN),
    (forwarding("try: return g(x, **kw)\nfinally: return 1"), "x", OPEN),
    (forwarding("with contextlib.suppress(TypeError): return g(x, **kw)"), "x", OPEN),
    # keywords that are taken out
    (forwarding("b = kw.pop('b', 1); return g(x, **kw)"), "x", "(x, *, y=1, b=...)"),
    (forwarding("b = kw.pop('b'); return g(x, **kw)"), "x b", "(x, *, y=1, b)"),
    (forwarding("del kw['b']; return g(x, **kw)"), "x b", "(x, *, y=1, b)"),
    (forwarding("b = kw['b']; return g(x)"), "x b", OPEN),
    (forwarding("b = kw['b']; return g(x, **kw)", "def g(x, b=1): pass\n"), "x b", OPEN),
    (forwarding("if not x: kw['b']\nreturn g(x, **kw)", "def g(x, b=1): pass\n"), "x", OPEN),
    (forwarding("try: b = kw.pop('b')\nfinally: pass\nreturn g(x, **kw)"), "x b", "(x, *, y=1, b)"),
    (forwarding("try: b = kw.pop('b')\nexcept KeyError: pass\nreturn g(x, **kw)"), "x", "(x, *, y=1, b=...)"),
    (forwarding("try: b = kw.pop('b')\nexcept ValueError: pass\nreturn g(x, **kw)"), "x b", OPEN),
    (forwarding("with contextlib.suppress(KeyError): kw.pop('b')\nreturn g(x, **kw)"), "x", OPEN),
    (forwarding("if 'b' in {'b'}: kw.pop('b')\nreturn g(x, **kw)"), "x b", OPEN),
    (forwarding("try: return g(x, b=kw.pop('b'), **kw)\nexcept KeyError: return 1"), "x", OPEN),
    (forwarding("k = kw\nk.pop('b', 0)\nreturn g(x, **kw)"), "x", OPEN),
    (forwarding("locals()['kw'].pop('b', 0)\nreturn g(x, **kw)"), "x", OPEN),
    # keywords that are put in
    (forwarding("kw['y'] = kw.pop('y', 2)\nreturn g(x, **kw)"), "x", "(x, *, y=...)"),
    (forwarding("kw['y'] = kw.pop('y')\nreturn g(x, **kw)"), "x y", OPEN),
    (forwarding("kw['y'] += 2\nreturn g(x, **kw)"), "x y", OPEN),
    (forwarding("if 'old' in kw: kw['y'] = kw.pop('old')\nreturn g(x, **kw)"), "x", "(x, *, y=..., old=...)"),
    (forwarding("if 'old' in kw: kw['y'] = kw.pop('old')\nreturn g(x, **kw)", NEEDING), "x y", OPEN),
    (forwarding("if 'y' in kw: kw['y'] = 2\nreturn g(x, **kw)", NEEDING), "x y", OPEN),
    (forwarding("if 'y' not in kw: kw['y'] = 2\nreturn g(x, **kw)", NEEDING), "x", "(x, *, y=...)"),
    # keywords that the function refuses
    (forwarding("if 'y' in kw: no()\nreturn g(x, **kw)", CALLEE + "def no(): raise TypeError\n"), "x", OPEN),
    (forwarding("y = kw.pop('y', 0)\nz = y\nif z: raise TypeError\nreturn g(x, **kw)"), "x", OPEN),
    (forwarding("o = {}\no['y'] = kw.pop('y', 0)\nif o['y']: raise TypeError\nreturn g(x, **kw)"), "x", OPEN),
    (forwarding("for _ in range(kw.get('y', 0)): raise TypeError\nreturn g(x, **kw)"), "x", OPEN),
    (forwarding("if 'y' not in kw: return g(x, **kw)\nraise TypeError"), "x", OPEN),
    (forwarding("if kw.get('y'):\n raise TypeError\nreturn g(x, **kw)"), "x", OPEN),
    # what a class, an instance or a signature states
    ("class M(type):\n def __call__(cls, x): pass\nclass f(metaclass=M):\n def __init__(self, a): pass", "x", "(x)"),
    ("class f(dict):\n def __init__(self, a): pass", "a", "(a)"),
    ("class f(ValueError):\n def __init__(self, a): pass", "a", "(a)"),
    ("class f(str):\n def __init__(self, a): pass", "", None),
    ("class f(Exception):\n def __new__(cls, *a): return Exception.__new__(cls)", "", None),
    ("class f:\n __signature__ = inspect.signature(len)\n def __init__(self, **kw): pass", "", "(**kw)"),
    ("def f(a, **kw): pass\nf.__signature__ = inspect.signature(len)", "a", "(a, **kw)"),
    (
        "class A:\n def __init__(self): self.m = dict\n def m(self, x): pass\n def n(self, **kw): return self.m(**kw)\n"
        "f = A().n",
        "",
        "(**kw)",
    ),
    (
        "class A:\n def m(self, x): pass\nclass B(A):\n def n(self, *args, **kw): return A.m(*args, **kw)\nf = B().n",
        None,
        "(self, /, x)",
    ),
    (
        "class A:\n def __getattribute__(self, n): return dict if n == 'm' else object.__getattribute__(self, n)\n"
        " def m(self, x): pass\n def n(self, **kw): return self.m(**kw)\nf = A().n",
        "",
        "(**kw)",
    ),
    (forwarding("return g(x, **kw)").replace("f(", "h(") + "f = functools.partial(h, 1)", "", None),
    (
        "class A:\n @functools.singledispatchmethod\n def n(self, x): pass\n"
        " @n.register(int)\n def _(self, x, b=1): pass\nf = A().n",
        "",
        None,
    ),
    (
        "class S(contextlib.ContextDecorator):\n def __enter__(self): pass\n def __exit__(self, *_): return True\n"
        "@S()\ndef f(a): pass",
        "a",
        None,
    ),
    # wrappers
    (wrapping("return g(*args, **kwargs)"), "a", "(a, b=1)"),
    (wrapping("try: return g(*args, **kwargs)\nexcept TypeError: return 1"), "a", None),
    (wrapping("try: return g(*args, **kwargs)\nexcept TypeError: return g(kwargs['a'])"), "a", None),
    (
        wrapping(
            "p = inspect.getfullargspec(g)\n"
            "return g(*args, **{k: v for k, v in kwargs.items() if p.varkw or k in p.args})"
        ),
        "a",
        ...,
    ),
    (wrapping("if 'a' in g.__code__.co_varnames: kwargs.pop('c', 0)\nreturn g(*args, **kwargs)"), "a", None),
    (
        wrapping("if 'old' in kwargs: kwargs['b'] = kwargs.pop('old')\nreturn g(*args, **kwargs)"),
        "a",
        "(a, b=1, *, old=...)",
    ),
    (
        wrapping(
            "for k, old in NEW.items(): kwargs.update({k: kwargs.pop(old)} if old in kwargs else {})\n"
            "return g(*args, **kwargs)",
            "NEW = {'b': 'old'}",
        ),
        "a",
        "(a, b=1, *, old=...)",
    ),
    (
        wrapping(
            "return g(*args, **fix(kwargs))", "def fix(k): return fix2(k)\ndef fix2(k): k.pop('old', 0); return k"
        ),
        "a",
        "(a, b=1, *, old=...)",
    ),
    (
        "class D:\n def __init__(self, old): self.old = old\n def fix(self, k): k.pop(self.old, 0); return k\n"
        " def __call__(self, g):\n  @functools.wraps(g)\n"
        "  def wrapper(*args, **kwargs): return g(*args, **self.fix(kwargs))\n  return wrapper\n"
        "@D('old')\ndef f(a, b=1): pass",
        "a",
        "(a, b=1, *, old=...)",
    ),
    (wrapping("return g(*args, **kwargs)", given="*args, odd=0, **kwargs"), "a", "(a, b=1, *, odd=...)"),
    (
        wrapping(
            "skip = {'o' + ending for ending in ('ld', 'dd')}\n"
            "return g(*args, **{k: v for k, v in kwargs.items() if k not in skip})"
        ),
        "a",
        ...,
    ),
    (wrapping("return g(*args, **{k.lower(): v for k, v in kwargs.items()})"), "a", None),
    (wrapping("return g(*args, **{k[:1].lower(): v for k, v in kwargs.items()})"), "a", None),
    (wrapping("return g(*args, **{re.sub('ld', '', k): v for k, v in kwargs.items()})"), "a", None),
    (wrapping("if isinstance(kwargs.get('a'), int): return 1\nreturn g(*args, **kwargs)"), "a", None),
    (wrapping("if type(kwargs.get('a')) is int: return 1\nreturn g(*args, **kwargs)"), "a", None),
    (
        wrapping(
            "kwargs = {k: v for k, v in kwargs.items() if not hasattr(D, k)}\nreturn g(*args, **kwargs)",
            "class D: odd = 1",
        ),
        "a",
        None,
    ),
    (
        wrapping(
            "kwargs = {k: v for k, v in kwargs.items() if k not in vars(D)}\nreturn g(*args, **kwargs)",
            "class D: odd = 1",
        ),
        "a",
        None,
    ),
    (
        wrapping(
            "for k in inspect.signature(h).parameters: kwargs.pop(k, 0)\nreturn g(*args, **kwargs)", "def h(old): pass"
        ),
        "a",
        "(a, b=1, *, old=...)",
    ),
    (
        "def h(old): pass\ndef deco(g):\n others = inspect.signature(h).parameters\n @functools.wraps(g)\n"
        " def wrapper(*args, **kwargs): return g(*args, **{k: kwargs[k] for k in kwargs if k not in others})\n"
        " return wrapper\n@deco\ndef f(a, b=1): pass",
        "a",
        "(a, b=1, *, old=...)",
    ),
    (wrapping("if kwargs.get('b') is not None: raise TypeError\nreturn g(*args, **kwargs)"), "a", None),
    (wrapping("if len(kwargs) + len(args) == 2: return 1\nreturn g(*args, **kwargs)"), "a", None),
    (wrapping("if kwargs.get('a') == 1: return 1\nreturn g(*args, **kwargs)"), "a", None),
    (wrapping("return g(*args[:2], **kwargs)"), "a", "(a, b=1, *args)"),
    (wrapping("return g(*args[1:], **kwargs)"), "a", None),
    (wrapping("if args: raise TypeError\nreturn g(**kwargs)"), "a", None),
    (wrapping("kwargs.setdefault('a', 1)\nreturn g(*args, **kwargs)"), "", "(*, a=..., b=1)"),
    (
        wrapping(
            "if 'b' in kwargs: kwargs['c'] = kwargs.pop('b')\nreturn g(*args, **kwargs)", parameters="a, b=1, c=2"
        ),
        "a",
        None,
    ),
    (wrapping("if SEEN: return 1\nSEEN.append(1)\nreturn g(*args, **kwargs)", "SEEN = []"), "a", None),
    (wrapping("return ALL['f'](*args, **kwargs)", "ALL = {}") + "ALL['f'] = f.__wrapped__", "a", None),
    (wrapping("return g(*args, **kwargs)", parameters="a, *args, b=1"), "a", "(a, *args, b=1)"),
    (wrapping("return g(*(args or [kwargs.pop('a')])[:1], **kwargs)", parameters="a, *args, b=1"), "a", ...),
    (
        wrapping("kwargs.pop('old', 0); return g(*args, **kwargs)").replace("f(", "h(") + "def f(**kw): return h(**kw)",
        "a",
        "(*, a, b=1, old=...)",
    ),
]


@pytest.mark.parametrize(("source", "smallest", "expected"), ROWS)
def test_no_verdict_on_calls_is_false(source: str, smallest: str | None, expected: Any) -> None:
    module = ModuleType("lib")
    sys.modules["lib"] = module
    file = f"<{sha256(source.encode()).hexdigest()}>"
    linecache.cache[file] = (0, None, (PREAMBLE + source).splitlines(keepends=True), file)
    exec(compile(PREAMBLE + source, file, "exec"), module.__dict__)
    signature = ProbeResult.read(json.dumps(below(module, ["f"]))).callable_as()
    del sys.modules["lib"]
    if expected is not ...:
        assert (None if signature is None else str(signature)) == expected
    if signature is None or smallest is None:
        return
    given = dict.fromkeys(smallest.split(), 1)
    assert is_accepted(module.f, given)
    for name in NAMES:
        without = {key: 1 for key in given if key != name}
        fits = fits_by_name(signature, name)
        assert fits is None or fits == is_accepted(module.f, given | {name: 1}), name
        if name in signature.parameters:
            assert fits_without(signature, name) == is_accepted(module.f, without), name
    for count, name in enumerate(positions(signature), 1):
        named = {key: 1 for key in given if key not in positions(signature)[:count]}
        assert is_accepted(module.f, named, count), name


def is_accepted(function: Callable[..., Any], given: dict[str, int], positional: int = 0) -> bool:
    """Whether a call is no error of binding."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*(1,) * positional, **given)
    except (TypeError, KeyError):
        return False
    return True


@pytest.mark.parametrize(("rounds", "is_known"), [(20, True), (4000, False)], ids=["few calls", "too many calls"])
def test_how_fast_a_machine_is_does_not_decide_what_is_accepted(
    rounds: int, is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count()
    monkeypatch.setattr("time.monotonic", lambda: next(clock) / 10_000)
    names = [f"name_{number}" for number in range(100)]
    made = wrapping(
        f"for name in {names}: kwargs.pop(name, 1)\nfor _ in range({rounds}): same(1)\nreturn g(*args, **kwargs)"
    )
    module = ModuleType("lib")
    exec(f"{PREAMBLE}def same(it): return it\n{made}", module.__dict__)
    assert ("accepts" in below(module, ["f"])) is is_known
