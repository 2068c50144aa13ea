"""The names that a module's `__getattr__` answers, where each leads, and whether it may answer others."""

from textwrap import indent
from typing import Any

import pytest

from tests.api.surface.trees import rows

PARTS = {
    "pkg/_shapes.py": "def disc(radius): ...\ndef ring(inner, outer): ...\n",
    "pkg/plane.py": "def tilt(by): ...\n",
}

# source of the module, and the kind of each name that it answers
CASES = {
    "a mapping of names that only explains what went": (
        "_WENT = {'cone': 'use disc', 'cube': 'no bodies'}\n"
        "def __getattr__(name):\n    if name in _WENT:\n        raise AttributeError(_WENT[name])\n"
        "    raise AttributeError(name)\n",
        {},
    ),
    "another exception, and a function that only raises": (
        "def _refuse(name):\n    raise AttributeError(name)\n"
        "def __getattr__(name):\n    if name == 'cone':\n        raise ImportError('gone')\n"
        "    if name in ('cube', 'ball'):\n        _refuse(name)\n    return _refuse(name)\n",
        {},
    ),
    "a mapping of names to modules": (
        "from importlib import import_module\n_AT = {'disc': '._shapes', 'tilt': 'pkg.plane'}\n"
        "def __getattr__(name):\n    try:\n        module = import_module(_AT[name], __name__)\n"
        "    except KeyError:\n        raise AttributeError(name) from None\n    return getattr(module, name)\n",
        {"disc": "function", "tilt": "function"},
    ),
    "places written as one text": (
        "import importlib\n_AT = {'round_shape': 'pkg._shapes:disc'}\n"
        "def __getattr__(name):\n    if name not in _AT:\n        raise AttributeError(name)\n"
        "    module, attribute = _AT[name].split(':')\n"
        "    return getattr(importlib.import_module(module), attribute)\n",
        {"round_shape": "function"},
    ),
    "a mapping made by keywords and asked by get": (
        "from . import _shapes\n_OLD = dict(circle=_shapes.disc)\n"
        "def __getattr__(name):\n    answer = _OLD.get(name)\n    if answer is not None:\n        return answer\n"
        "    raise AttributeError(name)\n",
        {"circle": "function"},
    ),
    "a mapping that is filled below": (
        "from . import _shapes\n_OLD = {}\n_OLD['circle'] = _shapes.disc\n"
        "_OLD.update({n: _shapes.ring for n in ['annulus']})\n"
        "def __getattr__(name):\n    if name in _OLD:\n        return _OLD[name]\n    raise AttributeError(name)\n",
        {"circle": "function", "annulus": "function"},
    ),
    "an import of its own": (
        "def __getattr__(name):\n    if name == 'shapes':\n        import pkg._shapes as shapes\n        return shapes\n"
        "    elif name == 'ring':\n        from ._shapes import ring\n        return ring\n    raise AttributeError(name)\n",
        {"shapes": "module", "ring": "function"},
    ),
    "match": (
        "def __getattr__(name):\n    match name:\n        case 'disc' | 'ring':\n            return make(name)\n"
        "        case 'cone':\n            raise AttributeError('gone')\n    raise AttributeError(name)\n",
        {"disc": "lazy", "ring": "lazy"},
    ),
    "members of enums below prefixes": (
        "from enum import IntEnum\nclass _Intent(IntEnum):\n    SOFT = 0\n    HARD = 1\n"
        "class _Way(IntEnum):\n    IN = 0\n"
        "def __getattr__(name):\n    for enum, prefix in {_Intent: 'INTENT_', _Way: 'WAY_'}.items():\n"
        "        if name.startswith(prefix):\n            name = name[len(prefix) :]\n"
        "            if name in enum.__members__:\n                return enum[name]\n"
        "    raise AttributeError(name)\n",
        {"INTENT_SOFT": "attribute", "INTENT_HARD": "attribute", "WAY_IN": "attribute"},
    ),
    "a loop over the modules of a tuple of literals": (
        "_AT = (('disc', 'pkg._shapes'), ('tilt', 'pkg.plane'))\nimport importlib\n"
        "def __getattr__(name):\n    for own, place in _AT:\n        if name == own:\n"
        "            return getattr(importlib.import_module(place), own)\n    raise AttributeError(name)\n",
        {"disc": "function", "tilt": "function"},
    ),
    "a class that a decorator makes a function": (
        "@_caching\nclass __getattr__:\n    disc = property(lambda self: 1)\n"
        "    @property\n    def ring(self):\n        return 2\n    def _own(self): ...\n",
        {"disc": "lazy", "ring": "lazy"},
    ),
    "below a condition of the module": (
        "try:\n    _SETUP\nexcept NameError:\n    _SETUP = False\nif _SETUP:\n    pass\nelse:\n"
        "    def __getattr__(name):\n        if name == 'disc':\n            from ._shapes import disc\n"
        "            return disc\n        raise AttributeError(name)\n",
        {"disc": "function"},
    ),
    "what leads out of the distribution": (
        "def __getattr__(name):\n    if name == 'Text':\n        import elsewhere\n        return elsewhere.Text\n"
        "    raise AttributeError(name)\n",
        {"Text": "lazy"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES)
def test_answered_names(source, expected):
    found = rows({"pkg/__init__.py": source, **PARTS})
    kinds = {path.removeprefix("pkg."): str(row["kind"]) for path, row in found.items() if path.count(".") == 1}
    assert {name: kind for name, kind in kinds.items() if name not in {"plane", "_OLD"}} == expected
    assert found["pkg"]["labels"] == []


@pytest.mark.parametrize(
    "body",
    [
        "return load(name)",
        "if name in NAMES:\n        return load(name)\n    raise AttributeError(name)",
        "for part in PARTS:\n        if hasattr(part, name):\n            return getattr(part, name)\n"
        "    raise AttributeError(name)",
        "if name == 'disc':\n        return 1\n    value = _FILLED.get(name)\n    return value",
    ],
    ids=["anything", "names of another module", "names of parts", "what a loop has filled"],
)
def test_what_may_be_answered_besides(body):
    filled = "_FILLED = {}\nfor part in PARTS:\n    _FILLED[part] = part\n"
    found = rows(f"from elsewhere import NAMES, PARTS\n{filled}def __getattr__(name):\n    {body}\n")
    assert found["pkg"]["labels"] == ["dynamic"]


def test_access_that_warns_has_a_mark_and_leads_to_the_definition():
    found = rows(
        {
            "pkg/__init__.py": "import warnings\nfrom importlib import import_module\n_AT = {'disc': 'pkg.shapes'}\n"
            "def __getattr__(name):\n    if name in _AT:\n"
            "        warnings.warn(f'{name!r} is now in {_AT[name]}', DeprecationWarning)\n"
            "        return getattr(import_module(_AT[name]), name)\n    raise AttributeError(name)\n",
            "pkg/shapes.py": "def disc(radius): ...\n",
        }
    )
    assert (found["pkg.disc"]["kind"], found["pkg.disc"]["canonical_path"]) == ("alias", "pkg.shapes.disc")
    assert found["pkg.disc"]["deprecation"]["message"] == "'disc' is now in pkg.shapes"
    assert found["pkg.shapes.disc"]["deprecation"] is None


MAKER = """
import sys, warnings
from .loading import import_string
MOVED = {'pkg:disc': 'pkg._shapes:disc', 'pkg.old:ring': 'pkg._shapes:ring'}
KEPT = {**{f'pkg.old:{name}': f'pkg.plane:{name}' for name in ('tilt',)}}
GONE = {'pkg:cone', 'pkg.old:cube'}
def migration(module):
    def wrapper(name):
        place = f'{module}:{name}'
        if place in MOVED.keys():
            warnings.warn(f'`{place}` has been moved to `{MOVED[place]}`.', DeprecationWarning)
            return import_string(MOVED[place])
        if place in KEPT:
            return import_string(KEPT[place])
        if place == 'pkg:ball' or place in GONE:
            raise ImportError(place)
        names = sys.modules[module].__dict__
        if name in names:
            return names[name]
        raise AttributeError(name)

    return wrapper
"""
MADE = "from ._migration import migration\n__getattr__ = migration(__name__)\n"
ASKED = (
    "from ._migration import migration\n_migrated = migration(__name__)\n"
    "def __getattr__(name):\n    if name == 'own':\n        return 1\n    return _migrated(name)\n"
)


def made(package: str, maker: str) -> dict[str, Any]:
    return rows({"pkg/__init__.py": package, "pkg/old.py": MADE, "pkg/_migration.py": maker, **PARTS})


@pytest.mark.parametrize(("package", "own"), [(MADE, set()), (ASKED, {"pkg.own"})], ids=["assigned", "asked"])
def test_a_function_of_another_file_makes_the_getattr(package: str, own: set[str]) -> None:
    found = made(package, MAKER)
    lazy = {path for path, row in found.items() if row["public_because"] == "getattr"}
    assert lazy == {"pkg.disc", "pkg.old.ring", "pkg.old.tilt"} | own
    assert {found[path]["canonical_path"] for path in lazy - own} == {
        "pkg._shapes.disc",
        "pkg._shapes.ring",
        "pkg.plane.tilt",
    }
    assert found["pkg.old.ring"]["deprecation"]["message"] == "`pkg.old:ring` has been moved to `pkg._shapes:ring`."
    assert found["pkg.old.tilt"]["deprecation"] is None
    assert not any("dynamic" in found[path]["labels"] for path in ("pkg", "pkg.old"))


@pytest.mark.parametrize("maker", [MAKER.replace("raise AttributeError(name)", "return load(name)"), ""])
def test_a_getattr_whose_maker_is_not_read_may_answer_any_name(maker: str) -> None:
    assert "dynamic" in made(MADE, maker)["pkg"]["labels"]


# mappings and body of a function made within `migration(module)`: `disc` in `pkg` and `ring` in `pkg.old` have moved
FORMS = {
    "module and name as a pair by name, none by default": (
        "MOVED = {'disc': ('pkg._shapes', 'disc'), 'ring': ('pkg._shapes', 'ring')}\n",
        "place, attribute = MOVED.get(name, (None, None))\n"
        "if place is None:\n    raise AttributeError(f'module {module!r} has no attribute {name!r}')\n"
        "return getattr(importlib.import_module(place), attribute)\n",
        {"pkg.disc", "pkg.ring", "pkg.old.disc", "pkg.old.ring"},
    ),
    "by module, then by name": (
        "MOVED = {'pkg': {'disc': '._shapes'}, 'pkg.old': {'ring': 'pkg._shapes'}}\n",
        "here = MOVED.get(module, {})\n"
        "if name not in here:\n    raise AttributeError(name)\n"
        "return getattr(importlib.import_module(here[name], module), name)\n",
        {"pkg.disc", "pkg.old.ring"},
    ),
    "a dotted name, with a branch for one module and one that refuses the others": (
        "MOVED = {'pkg.disc': 'pkg._shapes'}\n",
        "if f'{module}.{name}' in MOVED:\n"
        "    place = importlib.import_module(MOVED[module + '.' + name])\n"
        "elif module == 'pkg.old' and name == 'ring':\n    from . import _shapes as place\n"
        "else:\n    raise AttributeError(name)\n"
        "return getattr(place, name)\n",
        {"pkg.disc", "pkg.old.ring"},
    ),
    "the function of the standard library that imports by text": (
        "MOVED = {'disc': 'pkg._shapes:disc', 'ring': 'pkg._shapes:ring'}\n",
        "try:\n    return pkgutil.resolve_name(MOVED[name])\n"
        "except KeyError:\n    raise AttributeError(name) from None\n",
        {"pkg.disc", "pkg.ring", "pkg.old.disc", "pkg.old.ring"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("mappings", "body", "expected"), FORMS.values(), ids=FORMS)
def test_forms_of_makers(mappings: str, body: str, expected: set[str]) -> None:
    inner = f"    def __getattr__(name):\n{indent(body, ' ' * 8)}    return __getattr__\n"
    found = made(MADE, f"import importlib, pkgutil\n{mappings}def migration(module):\n{inner}")
    lazy = {path: row["canonical_path"] for path, row in found.items() if row["public_because"] == "getattr"}
    assert lazy == {path: f"pkg._shapes.{path.rpartition('.')[2]}" for path in expected}
    assert not any("dynamic" in found[path]["labels"] for path in ("pkg", "pkg.old"))


# the body of a `__getattr__` that calls a function made with the module's name, and does not answer by it
CALLS = {
    "it warns": "if name == 'old':\n        _made(name)\n        return _shapes.disc\n    raise AttributeError(name)",
    "it logs": "_made('asked for %s', name)\n    if name == 'old':\n        return _shapes.disc\n    raise AttributeError(name)",
    "its result is stored": (
        "if name == 'old':\n        text = _made(name)\n        print(text)\n        return _shapes.disc\n"
        "    raise AttributeError(name)"
    ),
    "it is a condition": "if name == 'old' and _made(name):\n        return _shapes.disc\n    raise AttributeError(name)",
    "it is not passed the name": "if name == 'old':\n        return _made('disc')\n    raise AttributeError(name)",
    "it makes one name": "if name == 'old':\n        return _made(name)\n    raise AttributeError(name)",
}  # fmt: skip


@pytest.mark.parametrize("body", CALLS.values(), ids=CALLS)
def test_a_call_of_a_made_function_that_does_not_answer_other_names(body: str) -> None:
    start = "from . import _shapes\nfrom .loading import make\n_made = make(__name__)\n"
    found = rows({"pkg/__init__.py": f"{start}def __getattr__(name):\n    {body}\n", **PARTS})
    assert found["pkg.old"]["canonical_path"] == ("pkg.old" if "return _made" in body else "pkg._shapes.disc")
    assert found["pkg"]["labels"] == []


@pytest.mark.parametrize(
    "body",
    [
        "result = _migrated(name)\n    return result",
        "return _migrated('disc')",
        "name = name.lower()\n    return _migrated(name)",
        "try:\n        return _migrated(name)\n    except AttributeError:\n        return load(name)",
    ],
    ids=["stored", "another name", "a changed name", "a default"],
)
def test_what_a_made_function_returns_is_not_all_that_is_answered(body: str) -> None:
    package = (
        f"from ._migration import migration\n_migrated = migration(__name__)\ndef __getattr__(name):\n    {body}\n"
    )
    assert "dynamic" in made(package, MAKER)["pkg"]["labels"]


def test_the_own_answers_of_a_module_come_before_its_makers() -> None:
    package = ASKED.replace("'own'", "'disc'").replace(
        "    return _migrated",
        "    if name == 'cone':\n        warnings.warn('no bodies', DeprecationWarning)\n    return _migrated",
    )
    found = made(f"import warnings\n{package}", MAKER)
    assert found["pkg.disc"]["canonical_path"] == "pkg.disc"
    assert "pkg.cone" not in found


def test_a_name_passed_to_a_maker_that_is_not_read_stays() -> None:
    package = ASKED.replace(
        "return 1", "warnings.warn('own is old', DeprecationWarning)\n        return _migrated(name)"
    )
    found = made(f"import warnings\n{package}", "")
    assert found["pkg.own"]["deprecation"]["message"] == "own is old"
    assert "dynamic" in found["pkg"]["labels"]


@pytest.mark.parametrize(
    "call", ["describe('pkg._shapes:disc')", "import_string('elsewhere:disc')", "import_string('pkg._shapes')"]
)
def test_a_text_is_a_place_only_within_the_library_and_where_it_is_imported(call: str) -> None:
    found = rows(
        {
            "pkg/__init__.py": f"def __getattr__(name):\n    if name == 'old':\n        return {call}\n"
            "    raise AttributeError(name)\n",
            **PARTS,
        }
    )
    assert (found["pkg.old"]["kind"], found["pkg.old"]["canonical_path"]) == ("lazy", "pkg.old")
