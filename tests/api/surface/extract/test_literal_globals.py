"""Names that a module or class binds through its namespace, as far as literals tell them."""

import pytest

from tests.api.surface.trees import surface

CASES = {
    "a key": ("globals()['limit'] = 3\n", {"limit"}, set()),
    "keys of an update": ("globals().update({'low': 1, 'high': 2})\nvars().update(mid=3)\n", {"low", "high", "mid"}, set()),
    "a loop over literals": (
        "for n in ('warm', 'cold'):\n    globals()['is_' + n] = check(n)\n    globals()[f'{n}er'] = 1\ndel n\n",
        {"is_warm", "is_cold", "warmer", "colder"},
        set(),
    ),
    "a loop over pairs": ("for n, v in [('a', 1), ('b', 2)]:\n    globals()['v_%s' % n] = v\n", {"v_a", "v_b"}, set()),
    "a loop over a mapping that has a name": (
        "_ALL = {'a': 1, 'b': 2}\nfor n, v in _ALL.items():\n    globals()[n.upper()] = v\n",
        {"A", "B"},
        set(),
    ),
    "the module itself": ("import sys\nsetattr(sys.modules[__name__], 'limit', 3)\n", {"limit"}, set()),
    "the module by its name": ("import sys\nsetattr(sys.modules['pkg'], 'limit', 3)\n", {"limit"}, set()),
    "another module": ("import sys\nsetattr(sys.modules['json'], 'limit', 3)\n", set(), set()),
    "of the module, in a class": (
        "class C:\n    globals()['M'] = 1\n    for n in ('a', 'b'):\n        globals()[n] = 2\n    locals()['N'] = 1\n",
        {"C", "C.N", "M"} | {"a", "b"},
        set(),
    ),
    "in a class": ("class C:\n    vars().update({'M': 1})\n", {"C", "C.M"}, set()),
    "what may fail is there to be imported, and no more": (
        "for n in ['wide', 'wider']:\n    try:\n        globals()[n] = getattr(source, n)\n"
        "    except AttributeError:\n        pass\n",
        set(),
        {"wide", "wider"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "public", "importable_names"), CASES.values(), ids=CASES)
def test_bound_names(source, public, importable_names):
    found = surface(source)
    assert {path.removeprefix("pkg.") for path in found.symbols if path != "pkg"} == public
    assert {"pkg." + name for name in importable_names} <= set(found.importable_names)
    assert found.symbols["pkg"]["labels"] == []


@pytest.mark.parametrize(
    "source",
    [
        "for n in names():\n    globals()[n] = 1\n",
        "for n in ('a', 'b'):\n    globals()[make(n)] = 1\n",
        "globals().update(load())\n",
        "globals()[key] = 1\n",
        "for n in (1,):\n    globals()['x%c' % 1114112] = 1\n",
        "for n in (1,):\n    globals()['x%d' % 1e999] = 1\n",
        "for n in (1,):\n    globals()['x{:c}'.format(1114112)] = 1\n",
    ],
)
def test_names_that_are_no_literals_may_be_any(source):
    assert surface(source).symbols["pkg"]["labels"] == ["stars:pkg"]
