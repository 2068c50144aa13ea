"""Sources and the uses in them, written as `line path form access`."""

from __future__ import annotations

import pytest

from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.find import scan
from tests.corpus.usages.rows import LIB, symbols_of

SYMBOLS = symbols_of(LIB)
API = Api(SYMBOLS, ["lib"])


def paths_in(source: str) -> list[str]:
    return [f"{use.line} {use.path} {use.form} {use.access}" for use in scan(source, API).uses]


def lost(source: str) -> list[str]:
    return [f"{chain.line} {chain.path}" for chain in scan(source, API).unresolved]


DIRECT = [
    ("import lib\nlib.make()", ["2 lib.make call direct"]),
    ("import lib as l\nl.make()", ["2 lib.make call direct"]),
    ("import lib.sub\nlib.sub.helper(1)", ["2 lib.sub.helper call direct"]),
    ("import lib.sub as s\ns.helper", ["2 lib.sub.helper attribute direct"]),
    ("from lib import make as m\nm()", ["2 lib.make call direct"]),
    ("from lib.sub import helper\nhelper(1)", ["2 lib.sub.helper call direct"]),
    ("from lib import (sub,\n  make)\nsub.helper(make)", ["3 lib.sub.helper call direct", "3 lib.make attribute direct"]),
    ("from lib import *\nmake(); sub.helper()", ["2 lib.make call direct", "2 lib.sub.helper call direct"]),
    ("from lib.sub import *\nThing(); make()", ["2 lib.sub.Thing call direct"]),
    ("from lib import *\nfrom other import *\nmake()", []),
    ("from lib import make\nf = make\nf()", ["2 lib.make attribute direct", "3 lib.make call direct"]),
    ("from . import make\nmake()", []),
    ("from library import make\nmake()", []),
    ("import lib\nlib.CONSTANT.real", ["2 lib.CONSTANT attribute direct"]),
    ("import lib\n@lib.shared\ndef f(): pass", ["2 lib.shared decorator direct"]),
    ("import lib\n@lib.make(b=1)\nclass A(lib.Base, metaclass=lib.Thing): pass",
     ["2 lib.make decorator direct", "3 lib.Base base direct", "3 lib.Thing attribute direct"]),
    ("from lib import Base\nclass A(Base[int]): pass", ["2 lib.Base base direct"]),
    ("import lib\nprint(f'{lib.make()!r:>{lib.CONSTANT}}')", ["2 lib.make call direct", "2 lib.CONSTANT attribute direct"]),
    ("import lib\nlib.Thing.plain", ["2 lib.Thing.plain attribute direct"]),
    ("import lib\nlib.Thing.inherited(1)", ["2 lib.Thing.inherited call direct"]),
    ("import lib\nlib", []),
    ("import lib\n'lib.make()'  # lib.make()", []),
    ("import lib\nx.lib.make(); make(lib=1)", []),
    ("if True:\n    import lib\nlib.make()", ["3 lib.make call direct"]),
    ("try:\n    import lib\nexcept ImportError:\n    lib = None\nlib.make()", ["5 lib.make call direct"]),
    ("try:\n    import lib\nexcept ImportError:\n    import other as lib\nlib.make()", ["5 lib.make call direct"]),
    ("try:\n    import other as lib\nexcept ImportError:\n    import lib\nlib.make()", []),
    ("import lib\nmatch x:\n    case lib.CONSTANT: pass\n    case lib.Thing(count=lib): pass",
     ["3 lib.CONSTANT attribute direct", "4 lib.Thing attribute direct"]),
]  # fmt: skip

SCOPES = [
    ("import lib\nlib = 1\nlib.make()", []),
    ("import lib\ndel lib\nlib.make()", []),
    ("import lib\nlib += 1\nlib.make()", []),
    ("from lib import make\ndef make(): pass\nmake()", []),
    ("from lib import make\nclass make: pass\nmake()", []),
    ("import lib\ndef f(lib): return lib.make()", []),
    ("import lib\ndef f(x=lib.make()): return lib.make()", ["2 lib.make call direct", "2 lib.make call direct"]),
    ("import lib\ndef f():\n    lib.make()\n    lib = 1", []),
    ("import lib\ndef f():\n    for lib in x: pass\n    return lib.make()", []),
    ("import lib\ndef f():\n    global lib\n    lib = 1\nlib.make()", []),
    ("import lib\ndef f():\n    global lib\n    lib.make()", ["4 lib.make call direct"]),
    ("import lib\ndef f():\n    def g():\n        nonlocal q\n        q.make()\n    q = lib", ["5 lib.make call direct"]),
    ("def f():\n    lib.make()\nimport lib", ["2 lib.make call direct"]),
    ("def f():\n    lib.make()\nimport lib\nlib = 1", []),
    ("import lib\nclass A:\n    lib = 1\n    x = lib.make()\n    def f(self): lib.make()", ["5 lib.make call direct"]),
    ("import lib\nclass A:\n    x = lib.make()\n    lib = 1", ["3 lib.make call direct"]),
    ("import lib\n[lib.make() for lib in x]\nlib.make()", ["3 lib.make call direct"]),
    ("import lib\n[lib for lib in lib.things()]", ["2 lib.things call direct"]),
    ("import lib\nclass A:\n    lib = 1\n    x = [lib.make() for i in lib.make()]", ["4 lib.make call direct"]),
    ("import lib\nlambda lib: lib.make()\nlambda: lib.make()", ["3 lib.make call direct"]),
    ("import lib\nf = lambda: lib.make()\nlib = 1", []),
    ("import lib\nfor lib in x: lib.make()\nlib.make()", []),
    ("import lib\nfor i in x:\n    lib.make()\n    lib = i", []),
    ("import lib\nwhile x:\n    lib.make()", ["3 lib.make call direct"]),
    ("import lib\nif x:\n    lib = 1\nlib.make()", []),
    ("import lib\nif x:\n    lib = 1\n    lib.make()\nelse:\n    lib.make()", ["6 lib.make call direct"]),
    ("import lib\nwith x as lib: lib.make()", []),
    ("import lib\ntry: pass\nexcept E as lib: lib.make()", []),
    ("import lib\nmatch x:\n    case [lib, *_]: lib.make()", []),
    ("import lib\n(lib := 1)\nlib.make()", []),
    ("import lib\n[(lib := i) for i in x]\nlib.make()", []),
    ("import lib\nlib, x = 1, 2\nlib.make()", []),
    ("import lib\nf = lib.make\nfor i in x:\n    f = lib.find\nf()", ["2 lib.make attribute direct", "4 lib.find attribute direct"]),
    ("import lib\nf = lib.make\ntry:\n    f = lib.find\n    f()\nexcept E:\n    f()",
     ["2 lib.make attribute direct", "4 lib.find attribute direct", "5 lib.find call direct"]),
    ("import lib\ndef f():\n    lib = 1\n    def g():\n        global lib\n        def h(): lib.make()", ["6 lib.make call direct"]),
    ("from lib import make\nasync def f():\n    await make()", ["3 lib.make call direct"]),
    ("import lib\ndef f(*lib, **make): lib.make()", []),
]  # fmt: skip

INDIRECT = [
    ("from lib import Thing\nx = Thing()\nx.plain()", ["2 lib.Thing call direct", "3 lib.Thing.plain call indirect"]),
    ("from lib import Thing\nThing().same().plain()", ["2 lib.Thing call direct", "2 lib.Thing.same call indirect", "2 lib.Thing.plain call indirect"]),
    ("import lib\nlib.make().other_of(deep=1).end()", ["2 lib.make call direct", "2 lib.Thing.other_of call indirect", "2 lib.Other.end call indirect"]),
    ("import lib\nlib.find(1).plain", ["2 lib.find call direct", "2 lib.Thing.plain attribute indirect"]),
    ("import lib\nlib.make().maybe().end()", ["2 lib.make call direct", "2 lib.Thing.maybe call indirect", "2 lib.Other.end call indirect"]),
    ("import lib\nlib.Other().thing.plain()", ["2 lib.Other call direct", "2 lib.Other.thing attribute indirect", "2 lib.Thing.plain call indirect"]),
    ("import lib\nlib.current.plain()", ["2 lib.current attribute direct", "2 lib.Thing.plain call indirect"]),
    ("import lib\nlib.Thing.build().plain()", ["2 lib.Thing.build call direct", "2 lib.Thing.plain call indirect"]),
    ("import lib.sub as s\ns.Thing().plain()", ["2 lib.sub.Thing call direct", "2 lib.Thing.plain call indirect"]),
    ("import lib\nfor x in lib.things(): x.plain()", ["2 lib.things call direct", "2 lib.Thing.plain call indirect"]),
    ("import lib\n[x.plain() for x in lib.things()]", ["2 lib.Thing.plain call indirect", "2 lib.things call direct"]),
    ("import lib\nwith lib.Thing() as x: x.plain()", ["2 lib.Thing call direct", "2 lib.Thing.plain call indirect"]),
    ("import lib\nwith lib.opened() as x: x.plain()", ["2 lib.opened call direct", "2 lib.Thing.plain call indirect"]),
    ("import lib\nif x := lib.find(1): x.plain()", ["2 lib.find call direct", "2 lib.Thing.plain call indirect"]),
    ("import lib\na, b = lib.Thing(), 1\na.plain(); b.plain()", ["2 lib.Thing call direct", "3 lib.Thing.plain call indirect"]),
    ("import lib\na = b = lib.Thing()\na.plain()", ["2 lib.Thing call direct", "3 lib.Thing.plain call indirect"]),
    ("from lib import Thing\ndef f(x: Thing, y: 'Thing | None', *z: Thing): x.plain(); y.plain(); z.plain()",
     ["2 lib.Thing attribute direct", "2 lib.Thing attribute direct", "2 lib.Thing.plain call indirect", "2 lib.Thing.plain call indirect"]),
    ("import lib\nx: lib.Thing\nx.plain()", ["2 lib.Thing attribute direct", "3 lib.Thing.plain call indirect"]),
    ("import lib\nx = lib.Thing()\nx = 1\nx.plain()", ["2 lib.Thing call direct"]),
    ("import lib\nx = None\nif y:\n    x = lib.Thing()\nx.plain()", ["4 lib.Thing call direct", "5 lib.Thing.plain call indirect"]),
    ("import lib\nx = lib.Thing() if y else lib.Other()\nx.plain()", ["2 lib.Thing call direct", "2 lib.Other call direct"]),
    ("import lib\nx = lib.find(1) or lib.make()\nx.plain()", ["2 lib.find call direct", "2 lib.make call direct", "3 lib.Thing.plain call indirect"]),
    ("import lib\nclass A:\n    def use(self): self.x.plain()\n    def __init__(self): self.x = lib.Thing()",
     ["3 lib.Thing.plain call indirect", "4 lib.Thing call direct"]),
    ("import lib\nclass A:\n    def __init__(self): self.x = lib.Thing(); self.x = 1\n    def use(self): self.x.plain()", ["3 lib.Thing call direct"]),
    ("import lib\nclass A:\n    def __init__(me): me.x = lib.Thing()\n    @staticmethod\n    def use(me): me.x.plain()", ["3 lib.Thing call direct"]),
    ("import lib\nx = lib.Thing()\n@x.plain\ndef f(): pass", ["2 lib.Thing call direct", "3 lib.Thing.plain decorator indirect"]),
    ("import lib\ndef f():\n    x.plain()\nx = lib.Thing()", ["3 lib.Thing.plain call indirect", "4 lib.Thing call direct"]),
    ("import lib\nx = lib.Thing()\nx.count = 3", ["2 lib.Thing call direct", "3 lib.Thing.count attribute indirect"]),
    ("import lib\nlib.make().plain().plain()", ["2 lib.make call direct", "2 lib.Thing.plain call indirect"]),
]  # fmt: skip

LOST = [
    ("import lib\nlib.gone()", ["2 lib.gone"]),
    ("from lib import gone\ngone()", ["2 lib.gone"]),
    ("import lib\nlib._impl.make()", ["2 lib._impl"]),
    ("import lib\nlib.sub.make.x", ["2 lib.sub.make"]),
    ("import lib\nlib.Thing().gone", ["2 lib.Thing.gone"]),
    ("import lib\nlib.Thing().__dict__", []),
    ("import lib\nlib.Wide().items()", []),
    ("import lib\nlib.make.__name__; lib.make().plain.gone", []),
    ("from lib import gone", []),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), DIRECT + SCOPES + INDIRECT)
def test_uses(source: str, expected: list[str]) -> None:
    assert paths_in(source) == expected
    assert lost(source) == []


@pytest.mark.parametrize(("source", "expected"), LOST)
def test_chains_that_lead_nowhere(source: str, expected: list[str]) -> None:
    assert lost(source) == expected


def test_positions_name_and_keywords_of_a_chain_over_lines() -> None:
    source = "import lib\nx = 'é'; (lib\n  .sub\n  .helper)(1, x=2, *y, **z)\n"
    (use,) = scan(source, API).uses
    data = source.encode()
    assert data[use.start_byte : use.end_byte].decode() == "lib\n  .sub\n  .helper"
    assert (data[use.name_start_byte : use.name_end_byte].decode(), use.name) == ("helper", "helper")
    assert (use.line, use.keywords) == (4, ("x",))


def test_the_name_of_an_aliased_use_is_its_token() -> None:
    (use,) = scan("from lib import make as m\nm()", API).uses
    assert (use.name, use.path) == ("m", "lib.make")


def test_curated_results_are_followed() -> None:
    source = "import lib\nlib.Thing().plain().end()\nlib.CONSTANT.end()"
    curated_api = Api(SYMBOLS, ["lib"], {"lib.*.plain": "lib.Other", "lib.CONSTANT": "lib.Other"})
    assert [use.path for use in scan(source, curated_api).uses if use.name == "end"] == ["lib.Other.end"] * 2


def test_results_of_special_methods_can_be_curated() -> None:
    returns = {
        "lib.Thing.__enter__": "lib.Other",
        "lib.Thing.__iter__": "lib.Other",
        "lib.Thing.__getitem__": "list[lib.Other]",
        "lib.Thing.__call__": "dict[str, lib.Other]",
    }
    source = """
import lib
with lib.Thing() as a: a.end()
for b in lib.Thing(): b.end()
lib.Thing()[0][1].end()
lib.Thing()()["k"].end()
"""
    uses = scan(source, Api(SYMBOLS, ["lib"], returns)).uses
    assert [use.line for use in uses if use.path == "lib.Other.end"] == [3, 4, 5, 6]


def test_extremely_nested_source_is_reported() -> None:
    result = scan("import lib\nlib.make(" + "(" * 500 + ")" * 500 + ")", API)
    assert result.too_deep
    assert [use.path for use in result.uses] == ["lib.make"]


def test_an_annotation_means_the_class_beside_it_where_two_have_the_name() -> None:
    files = {
        "lib/__init__.py": "",
        "lib/a.py": "class Node:\n    def end(self): ...\ndef make() -> Node: ...\n",
        "lib/b.py": "class Node:\n    def end(self): ...\ndef make() -> Node: ...\n",
        "lib/c.py": "def make() -> Node: ...\n",
    }
    source = "import lib\nlib.a.make().end(); lib.b.make().end(); lib.c.make().end()"
    ends = [use.path for use in scan(source, Api(symbols_of(files), ["lib"])).uses if use.name == "end"]
    assert ends == ["lib.a.Node.end", "lib.b.Node.end"]
