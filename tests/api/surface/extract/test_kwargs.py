"""Parameters behind `**kwargs`."""

import pytest

from pipeline.api.surface.extract.kwargs import described_names
from tests.api.surface.trees import rows

BODIES: dict[str, tuple[str, list[tuple[str, str | None]]]] = {
    "taken out with and without a default": (
        "a = kwargs.pop('a', 1)\nb = kwargs.pop('b')\nc = kwargs.get('c')\nd = kwargs['d']\n"
        "e = kwargs.setdefault('e', None)\nif 'f' in kwargs:\n    g(kwargs['f'])",
        [("a", "1"), ("b", None), ("c", "..."), ("d", None), ("e", "None"), ("f", "...")],
    ),
    "given a default and passed on": ("kwargs.setdefault('a', 1)\nreturn g(**kwargs)", []),
    "given a default and read": (
        "kwargs.setdefault('a', 1)\nkwargs.setdefault('b', 2)\nuse(kwargs['a'], kwargs.pop('b'))",
        [("a", "1"), ("b", "2")],
    ),
    "under a condition, or after one that may return": (
        "if x:\n    kwargs.pop('a')\ny = x and kwargs['b']\nz = [kwargs['c'] for _ in x]\nif x: return\nkwargs['d']",
        [(name, "...") for name in "abcd"],
    ),
    "asked first": ("if 'a' not in kwargs:\n    kwargs['a'] = 1\nuse(kwargs['a'])", [("a", "...")]),
    "set here": ("kwargs['a'] = 1\nuse(kwargs['a'], **kwargs)", []),
    "refused": ("if 'a' in kwargs:\n    raise TypeError('no a')", []),
    "passed on by itself": ("return g(a=1, b=kwargs.pop('b', 2), **kwargs) or kwargs.get('a')", [("b", "2")]),
    "of another dictionary": ("other.pop('a')\nkwargs = g(kwargs)\nkwargs.pop('b')", []),
    "in the signature already": ("kwargs.pop('known')", []),
    "no names": ("kwargs.pop(x)\nkwargs.get('not a name')\nkwargs.update(a=1)", []),
}


@pytest.mark.parametrize(("body", "expected"), BODIES.values(), ids=BODIES)
def test_what_a_body_takes(body, expected):
    lines = body.replace("\n", "\n    ")
    parameters = rows(f"def f(x, known, **kwargs):\n    {lines}\n")["pkg.f"]["parameters"]
    assert parameters[-1]["name"] == "kwargs"
    hidden = [p for p in parameters if p["known_from"] != "signature"]
    assert [(p["name"], p["default"]) for p in hidden] == expected
    assert {(str(p["kind"]), str(p["known_from"])) for p in hidden} <= {("keyword_only", "kwargs")}


NUMPY = '''"""Do.

Parameters
----------
known : int
    It.
a, b : str, optional
    They.
**kwargs
    Others.

Other Parameters
----------------
c
    It.

Returns
-------
d : int
"""'''
GOOGLE = '''"""Do.

Args:
    known (int): It.
    a: It.

Keyword Args:
    b (str): It.

Returns:
    c: It.
"""'''
SPHINX = '''"""Do.

:param known: It.
:param int a: It.
:keyword b: It.
:returns: c
"""'''


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        (NUMPY, ["known", "a", "b", "c"]),
        (GOOGLE, ["known", "a", "b"]),
        (SPHINX, ["known", "a", "b"]),
        ("Nothing.", []),
        (None, []),
    ],
)
def test_names_that_a_docstring_describes(docstring, expected):
    assert list(described_names(docstring and docstring.strip('"'))) == expected


@pytest.mark.parametrize("docstring", [NUMPY, GOOGLE, SPHINX], ids=["numpy", "google", "sphinx"])
def test_what_only_the_docstring_describes_is_a_parameter_where_kwargs_take_it(docstring):
    lines = docstring.replace("\n", "\n    ")
    found = rows(f"def f(known, **kwargs):\n    {lines}\n    return g(b=1, **kwargs)\ndef h(known):\n    {lines}\n")
    hidden = [(p["name"], p["default"], str(p["known_from"])) for p in found["pkg.f"]["parameters"]]
    assert hidden[1] == ("a", "...", "docstring")
    assert "b" not in {name for name, _, _ in hidden}
    assert [p["name"] for p in found["pkg.h"]["parameters"]] == ["known"]


def test_the_docstring_of_a_class_describes_the_parameters_of_its_constructor():
    source = "class C:\n    '''Do.\n\n    :param a: It.\n    '''\n    def __init__(self, **kwargs): ...\n"
    assert [p["name"] for p in rows(source)["pkg.C"]["parameters"]] == ["a", "kwargs"]


@pytest.mark.parametrize(
    ("signature", "described", "expected"),
    [
        # werkzeug 3.0: Headers.set
        ("_key, _value, **kw", ["key", "value", "other"], ["other"]),
        # structlog 21: JSONRenderer
        ("a, **dumps_kw", ["json_kw"], []),
        # matplotlib: pyplot.subplots describes both
        ("a, **fig_kw", ["subplot_kw", "**fig_kw"], ["subplot_kw"]),
        ("a, **fig_kw", ["subplot_kw", "fig_kw"], ["subplot_kw"]),
    ],
)
def test_what_a_docstring_calls_otherwise_than_the_signature_is_no_keyword(signature, described, expected):
    lines = "".join(f"\n    :param {name}: It." for name in described)
    found = rows(f"def f({signature}):\n    '''Do.\n{lines}\n    '''\n")["pkg.f"]["parameters"]
    assert [p["name"] for p in found if p["known_from"] == "docstring"] == expected


@pytest.mark.parametrize(
    ("body", "rest"),
    [
        ("if kwargs:\n    raise TypeError", []),
        ("x = kwargs.pop('a', 1)\nif len(kwargs) > 0:\n    raise TypeError", []),
        ("for name in names:\n    kwargs.pop(name)\nif kwargs:\n    raise TypeError", ["kwargs"]),
        ("known.take(kwargs)\nif kwargs:\n    raise TypeError", ["kwargs"]),
    ],
)
def test_refused_keywords_are_no_parameters(body: str, rest: list[str]) -> None:
    """Where names are taken that are not literal, they are open, and `**kwargs` stays."""
    lines = body.replace("\n", "\n    ")
    parameters = rows(f"def f(x, **kwargs):\n    {lines}\n")["pkg.f"]["parameters"]
    assert [row["name"] for row in parameters if row["kind"] == "var_keyword"] == rest


BASE = "class Base:\n    def __init__(self, a, b=1, *, c=2, **more): ...\n"
HANDED_ON: dict[str, tuple[str, list[tuple[str, str | None]]]] = {
    "all": ("super().__init__(**kw)", [("a", "..."), ("b", "1"), ("c", "2")]),
    "from a class that is named": ("super(Sub, self).__init__(**kw)", [("a", "..."), ("b", "1"), ("c", "2")]),
    "to a base that is named": ("Base.__init__(self, 1, **kw)", [("b", "1"), ("c", "2")]),
    "some given by the call": ("super().__init__(x, c=5, **kw)", [("b", "1")]),
    "under a condition": ("if x:\n            super().__init__(**kw)", [("a", "..."), ("b", "1"), ("c", "2")]),
    "to two": ("super().__init__(**kw)\n        other(**kw)", []),
    "another dictionary": ("kw = f(kw)\n        super().__init__(**kw)", []),
    "to another method": ("super().begin(**kw)", []),
    "to what is no base": ("Other.__init__(self, **kw)", []),
}


@pytest.mark.parametrize(("call", "expected"), HANDED_ON.values(), ids=HANDED_ON)
def test_what_a_constructor_passes_on_to_a_base(call: str, expected: list[tuple[str, str | None]]) -> None:
    source = f"{BASE}class Sub(Base):\n    def __init__(self, x=0, **kw):\n        {call}\n"
    own, *passed, rest = rows(source)["pkg.Sub"]["parameters"]
    assert (own["name"], rest["name"]) == ("x", "kw")
    assert [(p["name"], p["default"]) for p in passed] == expected
    assert {(str(p["kind"]), str(p["known_from"])) for p in passed} <= {("keyword_only", "passed_on")}


def test_what_is_passed_on_goes_through_several_bases_and_not_past_one_that_no_source_shows() -> None:
    middle = "class Middle(Base):\n    def __init__(self, m=0, **kw):\n        super().__init__(**kw)\n"
    low = "class Low(Middle):\n    def __init__(self, **kw):\n        super().__init__(**kw)\n"
    hidden = low.replace("Low(Middle)", "Hidden(there.Mixin, Middle)")
    read = rows(f"import there\n{BASE}{middle}{low}{hidden}")
    assert [p["name"] for p in read["pkg.Low"]["parameters"]] == ["m", "a", "b", "c", "kw"]
    assert [p["name"] for p in read["pkg.Hidden"]["parameters"]] == ["kw"]
