"""Conditions on the running Python, settled as that Python settles them."""

import ast

import pytest

from pipeline.api.surface.parse.conditions import settle_branches
from tests.api.surface.trees import SURFACE_RULES


def settled(source: str) -> str:
    tree = ast.parse(source)
    settle_branches(tree, SURFACE_RULES)
    return ast.unparse(tree)


@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        ("sys.version_info < (3, 8)", False),
        ("sys.version_info <= (3, 11)", False),
        ("sys.version_info > (3, 10)", True),
        ("sys.version_info >= (3, 8)", True),
        ("sys.version_info[:2] == (3, 11)", True),
        ("sys.version_info[0] != 2", True),
        ("sys.version_info.major == 2", False),
        ("not PY2", True),
        ("six.PY3", True),
        ("util.py3k", True),
        ("pandas.compat.PY37", True),
        ("not _PY_3_10_PLUS", False),
        ("py38", True),
        ("PY312", False),
        ("PY3_13_OR_NEWER", False),
        ("PY27", None),
        ("PY37_ONLY", None),
        ("HAS_PY37", None),
        ("0", False),
        ("sys.platform == 'linux'", None),
        ("sys.version_info >= MINIMUM", None),
        ("sys.version_info[0] == (3,)", None),
        ("sys.version_info is (3, 8)", None),
        ("not anything", None),
    ],
)
def test_conditions(condition, truth):
    result = settled(f"if {condition}:\n    a = 1\nelse:\n    a = 2\n")
    expected = {True: "a = 1", False: "a = 2", None: f"if {condition}:\n    a = 1\nelse:\n    a%otherwise = 2"}
    assert result == expected[truth]


@pytest.mark.parametrize(
    ("condition", "elsewhere"),
    [
        ("sys.platform == 'win32'", True),
        ("sys.platform in ('win32', 'cygwin')", True),
        ("sys.platform in {'win32', 'linux'}", False),
        ("sys.platform not in ('win32', 'cygwin')", False),
        ("sys.platform != 'win32'", False),
        ("sys.platform != 'linux'", True),
        ("sys.platform[:3] == 'win'", True),
        ("sys.platform.startswith('win')", True),
        ("sys.platform.startswith(('linux', 'darwin'))", False),
        ("os.name == 'nt'", True),
        ("os.name == 'posix'", False),
        ("platform.system() == 'Windows'", True),
        ("platform.system() != 'Windows'", False),
        ("platform.isWindows()", True),
        ("platform.isLinux()", False),
        ("platform.python_implementation() == 'PyPy'", True),
        ("platform.python_implementation() != 'CPython'", True),
        ("WIN", True),
        ("_compat.IS_WINDOWS", True),
        ("is_pypy()", True),
        ("WINDOW", False),
        ("winner", False),
        ("win", False),
        ("MACHINE", False),
        ("sys.platform == 'win32' and fast", True),
        ("sys.platform == 'win32' or fast", False),
        ("os.name == 'nt' or sys.platform == 'cygwin'", True),
        ("os.name == 'mac' or platform.system() == 'Darwin'", True),
        ("not WIN", False),
        ("not sys.platform.startswith('linux')", False),
    ],
)
def test_conditions_that_hold_on_other_machines(condition, elsewhere):
    body, orelse = ("a%otherwise", "a") if elsewhere else ("a", "a%otherwise")
    source = "if {}:\n    {} = 1\n    b = 1\nelse:\n    {} = 2\n    c = 2"
    assert settled(source.format(condition, "a", "a")) == source.format(condition, body, orelse)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("try:\n    import a\nexcept ImportError:\n    a = None", "try:\n    import a\nexcept ImportError:\n    "
         "a%otherwise = None"),
        ("try:\n    from x import a\nexcept ImportError:\n    from y import a\n", "try:\n    from x import a\n"
         "except ImportError:\n    from y import a as a%otherwise"),
        ("try:\n    a = 1\nexcept E:\n    with x:\n        a = 2", "try:\n    a = 1\nexcept E:\n    with x:\n        "
         "a%otherwise = 2"),
        ("a = 1\nif WIN:\n    a = b = 2\nif more:\n    a = 3", "a = 1\nif WIN:\n    a%otherwise = 2\n    b = 2\n"
         "if more:\n    a = 3"),
        ("a, (b, c) = 1, f()", "a = 1\nb = f()\nc = f()"),
        ("a = b = 1", "a = 1\nb = 1"),
        ("a, *b = x, y", "a = x\nb = [y]"),
        ("a, *b = f(), *g", "a = (f(), *g)\nb = (f(), *g)"),
        ("a = b = 1\ndel (a, b)\nc = 1", "del (a, b)\nc = 1"),
        ("for a in x:\n    b = 1\nwhile x:\n    c = 1", ""),
        ("try:\n    exec(x)\nexcept A:\n    a = b = 1\nexcept B:\n    a = 2", "try:\n    exec(x)\nexcept A:\n    "
         "a = 1\n    b%otherwise = 1\nexcept B:\n    a%otherwise = 2"),
        ("class C:\n    if TYPE_CHECKING:\n        a: ClassVar[int]\n        'about a'\n    else:\n        a = 1",
         "class C:\n    if TYPE_CHECKING:\n        a%otherwise: ClassVar[int]\n        'about a'\n    "
         "a: ClassVar[int] = 1\n    'about a'"),
    ],
)  # fmt: skip
def test_rewriting(source, expected):
    assert settled(source) == expected
