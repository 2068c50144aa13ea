"""The walk over a module says what griffe's visitor says, of small cases and of whole libraries."""

import ast
import importlib.util
import sysconfig
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.api.surface.griffe_bindings import facts_of_griffe, facts_of_walk

CASES = {
    "relative imports": "from . import part\nfrom .part import f as g\nfrom ..up import *\nimport a.b, c.d as e",
    "an import of oneself": "from pkg.mod import f as f\nfrom .. import x",
    "imports for checks only": "if TYPE_CHECKING:\n    import a\n    if x:\n        import b\n    import c\nimport d",
    "forward references": "def f(a: 'int | None', b: List['A'], c: Literal['x'], d: 'not one', e: ' A'='x'): ...",
    "literals": "from typing import Literal as L\ndef f(a: L['x', 'y'], b: L[List['x']] | 'z') -> L['r']: ...",
    "postponed annotations": "from __future__ import annotations\ndef f(a: 'int', b: ClassVar['x']) -> 'A': ...",
    "text below": "a = 1\n'''A.\n\n    Of a.\n'''\nclass C:\n    b: int\n    'B.'\n    c = d = 2\n    'C.'",
    "class variables": "class C:\n    a: ClassVar[int] = 1\n    b: 'ClassVar[str]'\n    c: t.ClassVar\n    d: ClassVar[A, B]",
    "set on the object": (
        "class C:\n    x: int\n    'X.'\n    def __init__(self):\n        self.x = self.y = 1\n        self.z: int = 2\n"
        "        'Z.'\n        if a:\n            self.w = self.x.y = 1\n        self.b[0] = 1\n"
        "        for i in j:\n            self.v = i\n        def g(self):\n            self.u = 1\n"
    ),
    "properties": (
        "class C:\n    @property\n    def a(self) -> int: 'A.'\n    @a.setter\n    def a(self, to): ...\n    @a.deleter\n"
        "    def a(self): ...\n    @functools.cached_property\n    def b(self): ...\n    @b.setter\n    def b(self, to): ..."
    ),
    "cached": "import functools\nfrom functools import *\nfrom functools import cache as c\n@c\ndef f(): ...\n"
    "@functools.lru_cache(maxsize=1)\nasync def g(): ...\nclass C:\n    @staticmethod\n    @c\n    def h(): ...",
    "overloads": "from typing import overload as o\n@o\ndef f(a: 'int'): ...\n@o\ndef f(*, a=1, **k) -> str: ...\ndef f(a): ...\n"
    "class C:\n    @o\n    def __init__(self, a): self.a = a\n    @o\n    @staticmethod\n    def g(a, /, b): ...",
    "the last binding wins": "def f(a: int) -> str:\n    'F.'\nf: bytes\nf = 1\nclass f(B[int], metaclass=M): ...\nf = g",
    "under conditions": "a = 1\nif b:\n    a = 2\n    c = 3\nelse:\n    'D.'\nwith d as e:\n    f = 1\nmatch g:\n    case 1:\n        h = 1",
    "brackets": "a = (b or c) and not (d if e else f)\ng = (-h) ** -i - (j - k)\nl = {**(m or n), **o}, (p,), q[r, :s, ::t], q[u,]",
    "rare expressions": "a = [b for c in d if e]\nf = lambda x, *y, z=1, **w: (x, y)\ng = f'{a!r:>{b}} x'\nh = i(j for k in l)\nm = (n := 1).o",
    "constants": "a = 1 .real, 1.5, ..., b'x', u'y', None, -1j, '''l\n'''\nb = f(*c, *d or e, **(g or h), i=(yield))",
}  # fmt: skip


@pytest.mark.parametrize("source", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("file", ["pkg/mod.py", "pkg/__init__.py"])
def test_a_walk_finds_what_griffe_finds(source, file):
    module = "pkg.mod" if file == "pkg/mod.py" else "pkg"
    assert list(facts_of_walk(module, Path(file), source).items()) == list(
        facts_of_griffe(module, Path(file), source).items()
    )


def test_what_takes_the_place_of_an_import_keeps_its_annotations():
    """griffe looks the names in an annotation up in the import that the function takes the place of, and gives up."""
    source = "from other import f\ndef f(a: List[int]): ...\n"
    file = Path("pkg.py")
    assert facts_of_griffe("pkg", file, source)["f"]["called"] == [("a", "positional_or_keyword", None, None)]
    assert facts_of_walk("pkg", file, source)["f"]["called"] == [("a", "positional_or_keyword", None, "List[int]")]


def imported_in(text: str) -> set[str]:
    """The names that imports of a module bind, wherever they stand."""
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {alias.asname or alias.name for node in imports for alias in node.names}


def set_in_targets(text: str) -> set[str]:
    """The attributes that an unpacking, a loop or a `with` sets on an object, which griffe does not read."""
    targets: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign):
            targets += [target for target in node.targets if isinstance(target, ast.Tuple | ast.List)]
        elif isinstance(node, ast.For | ast.AsyncFor):
            targets.append(node.target)
        elif isinstance(node, ast.With | ast.AsyncWith):
            targets += [item.optional_vars for item in node.items]
    parts = [part for target in targets if target is not None for part in ast.walk(target)]
    return {part.attr for part in parts if isinstance(part, ast.Attribute)}


def without_annotations(facts: dict[str, Any]) -> dict[str, Any]:
    if "called" not in facts:
        return facts
    return facts | {"annotation": None, "called": [(*parameter[:3], None) for parameter in facts["called"]]}


def differences(folder: str, step: int) -> tuple[list[tuple[str, set[str]]], int]:
    """Return the files of which the walk says something else, and how many were compared."""
    wrong: list[tuple[str, set[str]]] = []
    compared = 0
    # an interpreter's own folder holds whatever else a machine has installed for it
    files = (file for file in Path(folder).rglob("*.py") if "site-packages" not in file.relative_to(folder).parts)
    for file in sorted(files)[::step]:
        try:
            text = importlib.util.decode_source(file.read_bytes())
            ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        place = file.relative_to(folder)
        module = ".".join(place.with_suffix("").parts).removesuffix(".__init__")
        griffes, ours = facts_of_griffe(module, place, text), facts_of_walk(module, place, text)
        compared += 1
        apart = set_in_targets(text)
        for facts in (griffes, ours):
            for name in [name for name in facts if "." in name and name.rpartition(".")[2] in apart]:
                del facts[name]
        for name in imported_in(text) & griffes.keys() & ours.keys():
            # what takes the place of an import, see above
            griffes[name], ours[name] = without_annotations(griffes[name]), without_annotations(ours[name])
        if list(griffes.items()) != list(ours.items()):
            wrong.append((str(place), {name for name in griffes | ours if griffes.get(name) != ours.get(name)}))
    return wrong, compared


@pytest.mark.filterwarnings("ignore")
def test_a_sample_of_the_standard_library():
    wrong, compared = differences(sysconfig.get_paths()["stdlib"] + "/asyncio", 3)
    assert wrong == []
    assert compared > 8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("folder", "step", "least"), [("stdlib", 61, 25), ("purelib", 141, 50)])
def test_every_file_of_installed_libraries(folder, step, least):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong, compared = differences(sysconfig.get_paths()[folder], step)
    assert wrong == []
    assert compared >= least
