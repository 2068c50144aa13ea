from __future__ import annotations

import functools
import inspect
import keyword
import sys
import typing

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.find import Scan, scan
from tests.corpus.usages.rows import LIB, symbols_of

SYMBOLS = symbols_of(LIB)
N = 3000
LINES = st.sampled_from(
    [
        "ALIAS.make()",
        "x = ALIAS.Thing(a=1)",
        "x.plain(); x.other_of().end()",
        "y = ALIAS",
        "y.sub.helper(x, k=ALIAS.CONSTANT)",
        "del x",
        "ALIAS.gone.there",
        "for x in ALIAS.things(): x.plain()",
        "z = [x.plain() for x in ALIAS.things() if ALIAS.find(x)]",
        "def f(p: ALIAS.Thing, q=ALIAS.make()): return p.plain(q, ALIAS)",
        "class C(ALIAS.Base): x = ALIAS.make(); m = lambda self: ALIAS.find(x)",
        "with ALIAS.opened() as x, ALIAS.Thing() as y: x.plain(y)",
        "x = None",
        "print(f'{ALIAS.make()} é {x}')",
        "global x",
        "ALIAS = ALIAS.make",
        "import lib as ALIAS",
        "from lib import *",
    ]
)
NESTED = st.recursive(
    st.lists(LINES, min_size=1, max_size=4),
    lambda inner: st.builds(
        lambda head, body, after: [head, *(f"    {line}" for line in body), *after],
        st.sampled_from(
            ["if x:", "while ALIAS.find(1):", "def g(self):", "class D:", "for i in x:", "async def h(x):"]
        ),
        inner,
        inner,
    ),
    max_leaves=6,
)
PROGRAMS = NESTED.map(lambda lines: "\n".join(["import lib as ALIAS", *lines, ""]))
RESERVED = {"lib", "x", "y", "z", "p", "q", "f", "g", "h", "i", "m", "k", "print", "self", "ALIAS"}
NAMES = st.from_regex(r"[a-zé_][a-zé_0-9]{0,6}", fullmatch=True).filter(
    lambda name: name not in RESERVED and not keyword.iskeyword(name) and f"lib.{name}" not in SYMBOLS
)


@functools.cache
def api() -> Api:
    return Api(SYMBOLS, ["lib"])


def chains_of(result: Scan, alias: str) -> list[tuple[str, ...]]:
    uses = [
        (u.path, u.form, u.access, str(u.line), "ALIAS" if u.name == alias else u.name, *u.keywords)
        for u in result.uses
    ]
    return uses + [(chain.path, str(chain.line)) for chain in result.unresolved]


@given(PROGRAMS)
def test_positions_give_the_name_and_end_the_chain(program: str) -> None:
    data = program.encode()
    for use in scan(program, api()).uses:
        assert data[use.name_start_byte : use.name_end_byte].decode() == use.name
        assert use.start_byte <= use.name_start_byte < use.name_end_byte == use.end_byte
        assert data[: use.name_start_byte].count(b"\n") + 1 == use.line
        assert use.path in api().symbols


@given(PROGRAMS, NAMES)
def test_uses_do_not_depend_on_the_alias_of_the_import(program: str, name: str) -> None:
    assert chains_of(scan(program, api()), "ALIAS") == chains_of(scan(program.replace("ALIAS", name), api()), name)


@given(PROGRAMS)
def test_another_library_is_not_scanned(program: str) -> None:
    result = scan(program, Api(SYMBOLS, ["other"]))
    assert (result.uses, result.unresolved) == ((), ())


@given(
    st.text()
    | PROGRAMS.flatmap(lambda p: st.builds(lambda a, b: p[:a] + p[b:], st.integers(0, 90), st.integers(0, 90)))
)
def test_nothing_is_too_broken_to_be_looked_at(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for use in scan(text, api()).uses:
        assert data[use.name_start_byte : use.name_end_byte].decode() == use.name


@pytest.mark.parametrize("module", [inspect, typing])
def test_large_modules_of_the_standard_library_are_walked(module: object) -> None:
    source = inspect.getsource(module)  # type: ignore[arg-type]
    calls = source.count("functools.partial(")
    symbol = symbols_of({"functools.py": "def partial(function): ..."})
    result = scan(source, Api(symbol, ["functools"]))
    assert not result.too_deep
    assert len([use for use in result.uses if use.path == "functools.partial" and use.form == "call"]) >= calls


@pytest.mark.parametrize(
    "deep",
    [
        "x = " + "(" * N + "1" + ")" * N,
        "x = " + "[" * N + "]" * N,
        "x = " + " + ".join(["lib.make()"] * N),
        "x = " + " or ".join(["lib.make()"] * N),
        "x = " + " and ".join(["isinstance(x, lib.Thing)"] * N),
        "x" + ".plain()" * N,
        "x" + ".plain" * N,
        "x = " + "not " * N + "y",
        "x = " + "lambda: " * N + "y",
        "(" * N + "x" + ",)" * N + " = y",
        "for " + "(" * N + "x" + ",)" * N + " in y: pass",
        "[x for " + "(" * N + "x" + ",)" * N + " in y]",
        "match y:\n    case " + "[" * N + "x" + "]" * N + ": pass",
        "\n".join("    " * i + "if x:" for i in range(N // 10)) + " pass",
        "\n".join("    " * i + f"def f{i}():" for i in range(N // 10)) + " return lib.Thing()",
        "\n".join(f"def f{i}(): return f{i + 1}()" for i in range(N))
        + f"\ndef f{N}(): return lib.Thing()\nf0().plain()",
        "x: " + "list[" * N + "lib.Thing" + "]" * N,
        "class A(A): x = A.x; A.x.y",
        "def f(x): x()\ndef g():\n    def h(): pass\n    f(h)",
        "def f(x): x.y = x.z()\ndef g():\n    class A: pass\n    f(A())",
        "class A(B): pass\nclass B(A): pass\nB().x",
    ],
    ids=range(21),
)
def test_deep_nesting_neither_crashes_nor_hides_the_rest(deep: str) -> None:
    result = scan(f"import lib\n{deep}\ndef after():\n    lib.find(1)\n", api())
    assert "lib.find" in [use.path for use in result.uses]


def test_time_grows_with_the_size_of_a_file() -> None:
    """Counted in steps of the interpreter and not in seconds, which other processes share."""
    part = "if x{0}:\n    x{0} = lib.make()\nelse:\n    x{0} = None\ndef f{0}(y):\n    return x{0}.same().other_of() or f{1}(y)\n"

    def steps(parts: int) -> int:
        source = "import lib\n" + "".join(part.format(i, i // 2) for i in range(parts))
        counted = 0

        def count(*_: object) -> None:
            nonlocal counted
            counted += 1

        api()
        sys.setprofile(count)
        try:
            scan(source, api())
        finally:
            sys.setprofile(None)
        return counted

    assert steps(400) < 2.2 * steps(200)
