"""What a module says about its names in branches, and what it answers only as long as it does not bind it."""

import pytest

from pipeline.core.vocabularies.surface import PublicBecause
from tests.api.surface.trees import rows

PART = {"pkg/_part.py": "__all__ = ['a', 'b']\ndef a(): ...\ndef b(): ...\n"}

CASES: dict[str, tuple[dict[str, str] | str, set[str]]] = {
    "in the else of a flag of setup.py (scikit-learn 1.3.0)": (
        "try:\n    __SETUP__\nexcept NameError:\n    __SETUP__ = False\nif __SETUP__:\n    print('partial')\n"
        "else:\n    __all__ = ['f']\n    def f(): ...\ndef setup_module(): ...\n",
        {"pkg.f"},
    ),
    "in both branches: the first": (
        "if DEBUG:\n    __all__ = ['f']\nelse:\n    __all__ = ['g']\ndef f(): ...\ndef g(): ...\n",
        {"pkg.f"},
    ),
    "in an elif": ("if A:\n    pass\nelif B:\n    __all__ = ['f']\ndef f(): ...\ndef g(): ...\n", {"pkg.f"}),
    "in the else of TYPE_CHECKING": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    __all__ = ['f', 'g']\nelse:\n    __all__ = ['f']\n"
        "def f(): ...\ndef g(): ...\n",
        {"pkg.f"},
    ),
    "after a try that went well": (
        "try:\n    import fast\nexcept ImportError:\n    __all__ = ['slow']\nelse:\n    __all__ = ['f']\n"
        "def f(): ...\ndef slow(): ...\n",
        {"pkg.f"},
    ),
    "in a handler, which may not run": (
        "try:\n    import fast\nexcept ImportError:\n    __all__ = ['f']\ndef f(): ...\ndef g(): ...\n",
        {"pkg.f", "pkg.g"},
    ),
    "in any event": (
        "try:\n    import fast\nfinally:\n    __all__ = ['f']\ndef f(): ...\ndef g(): ...\n",
        {"pkg.f"},
    ),
    "added to itself": ("__all__ = ['f']\n__all__ = __all__ + ['g']\ndef f(): ...\ndef g(): ...\ndef h(): ...\n", {"pkg.f", "pkg.g"}),
    "a copy, and what is in a set that has a name": (
        {
            "pkg/__init__.py": "from . import _part\n_OWN = {'f'}\n__all__ = list(_OWN | set(_part.__all__[:]))\n"
            "from ._part import *\ndef f(): ...\ndef g(): ...\n",
            **PART,
        },
        {"pkg.a", "pkg.b", "pkg.f"},
    ),
    "added by a function that is given the module (numpy 1.26)": (
        {
            "pkg/__init__.py": "from . import _part\n__all__ = ['f']\ndef f(): ...\ndef g(): ...\n"
            "def _add(module):\n    for name in module.__all__:\n        __all__.append(name)\n"
            "from ._part import *\n_add(_part)\n",
            **PART,
        },
        {"pkg.a", "pkg.b", "pkg.f"},
    ),
    "a star takes no modules along where a part of the list is made as it runs (numpy 1.26)": (
        {
            "pkg/__init__.py": "from ._all import *\n",
            "pkg/_all/__init__.py": "from . import made\nfrom .made import *\n__all__ = ['f']\n__all__ += made.__all__\n"
            "def f(): ...\n",
            "pkg/_all/made.py": "__all__ = ['a']\nfor n in names():\n    __all__.append(n)\ndef a(): ...\ndef b(): ...\n",
        },
        {"pkg.a", "pkg.b", "pkg.f"},
    ),
    "imported as it is": (
        {"pkg/__init__.py": "from ._part import *\nfrom ._part import __all__, b as c\n", **PART},
        {"pkg.a", "pkg.b"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), CASES.values(), ids=CASES)
def test_exports(files, expected):
    """Names that are left out are in the surface as unlisted."""
    listed = {path for path, row in rows(files).items() if row["public_because"] != PublicBecause.UNLISTED}
    assert listed - {"pkg"} == expected


ANSWERS = "def __getattr__(name):\n    if name in {'a', 'late'}:\n        return load(name)\n    raise AttributeError\n"


def test_a_name_that_a_star_import_binds_is_never_asked_for():
    """scipy.misc 1.11.4 warns of names in its `__getattr__` that it star-imports."""
    found = rows({"pkg/__init__.py": f"from ._part import *\n{ANSWERS}", **PART})
    assert {path: (str(row["kind"]), row["canonical_path"]) for path, row in found.items() if path != "pkg"} == {
        "pkg.a": ("function", "pkg._part.a"),
        "pkg.b": ("function", "pkg._part.b"),
        "pkg.late": ("lazy", "pkg.late"),
    }


def test_a_name_that_type_checkers_alone_see_bound_is_answered():
    source = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ._part import a\n{ANSWERS}"
    row = rows({"pkg/__init__.py": source, **PART})["pkg.a"]
    assert (row["kind"], row["canonical_path"], row["public_because"]) == ("function", "pkg._part.a", "getattr")
