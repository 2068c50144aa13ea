"""What a server may load for a case without the case noticing: what the case itself imports before anything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.execution.validation.leading_imports import leading_imports

SPECIFICATION: dict[str, Any] = {
    "preamble": "",
    "code": "",
    "statements": [],
    "import_names": ["lib"],
    "as_module": False,
    "module": "module",
    "test": None,
    "test_file": None,
    "tests": None,
    "clock_shift_s": 0,
}


@pytest.fixture
def site_packages(tmp_path: Path) -> Path:
    (tmp_path / "lib" / "deep").mkdir(parents=True)
    (tmp_path / "lib" / "sub.py").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("code", "imports"),
    [
        ("import lib", ("lib",)),
        ("import numpy as np\nimport lib.sub as s\ns.f()\nimport lib.deep", ("lib.sub",)),
        ("import lib\nimport lib.sub", ("lib.sub",)),
        ("from lib import sub, deep, name", ("lib:sub", "lib:deep")),
        ("from lib import name", ("lib",)),
        ("from lib.sub import name, other", ("lib.sub",)),
        ("from lib.sub import *", ("lib.sub",)),
        ("'a docstring'\nfrom __future__ import annotations\nx = [1, {'a': -2}]\ndef f(a): return lib\nimport lib", ("lib",)),
        ("import lib\nprint('a mark')\nimport lib.sub\nprint(lib)\nimport lib.deep", ("lib.sub",)),
        ("print(sorted(vars()))\nimport lib", None),
        ("import library", ()),
        ("print(undefined)", ()),
        ("name = 'lib'\n__import__(name)", None),
        ("import warnings\nwarnings.simplefilter('error')\nimport lib.sub", None),
        ("import sys\nloaded = list(sys.modules)\nimport lib.sub", None),
        ("def f(a=print()): pass\nimport lib", None),
        ("def f(a: print()): pass\nimport lib", None),
        ("@print\ndef f(): pass\nimport lib", None),
        ("class A: print()\nimport lib", None),
        ("try: import lib\nexcept ImportError: pass", None),
        ("from . import lib", None),
        ("print 'of Python 2'\nimport lib", None),
        ("x = " + "(" * 500 + ")" * 500 + "\nimport lib", None),
        ("x = '\0'\nimport lib", None),
    ],
)  # fmt: skip
def test_imports_before_anything_else(site_packages: Path, code: str, imports: tuple[str, ...]) -> None:
    assert leading_imports(SPECIFICATION | {"code": code}, site_packages) == imports


def test_statements_follow_the_preamble(site_packages: Path) -> None:
    statements = {"preamble": "import numpy\n", "statements": ["import lib.sub", "lib.sub.f()", "import lib.deep"]}
    assert leading_imports(SPECIFICATION | statements, site_packages) == ("lib.sub",)
    assert leading_imports(SPECIFICATION | statements | {"preamble": "print()\n"}, site_packages) is None


@pytest.mark.parametrize(
    ("preamble", "code", "imports"),
    [
        ("import lib.deep\nfrom solution import f\nfrom lib import sub", "import lib.other\ndef f(): pass", ("lib.deep", "lib.other", "lib:sub")),
        ("import solution\nimport lib.late", "import lib.sub\nx = f()", ("lib.sub",)),
        ("from solution import f", "print()\nimport lib", None),
        ("print()\nfrom solution import f", "import lib", None),
    ],
)  # fmt: skip
def test_a_module_under_test_is_imported_by_its_tests(
    site_packages: Path, preamble: str, code: str, imports: tuple[str, ...] | None
) -> None:
    module = {"as_module": True, "module": "solution", "code": code, "tests": {"preamble": preamble, "tests": []}}
    assert leading_imports(SPECIFICATION | module, site_packages) == imports
    assert leading_imports(SPECIFICATION | module | {"module": "lib"}, site_packages) is None
    assert leading_imports(SPECIFICATION | module | {"tests": None, "test": ""}, site_packages) == leading_imports(
        SPECIFICATION | {"code": code}, site_packages
    )


@pytest.mark.parametrize("own", [{"as_module": True}, {"test_file": "import solution"}, {"clock_shift_s": 86400}])
def test_where_the_process_of_the_case_decides_nothing_is_loaded(site_packages: Path, own: dict[str, Any]) -> None:
    assert leading_imports(SPECIFICATION | {"code": "import lib"} | own, site_packages) is None
