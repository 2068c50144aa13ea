"""Which paths are public, what they are, and where their definition stands."""

import collections
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.api.surface.trees import kinds, rows

CASES: dict[str, tuple[dict[str, str] | str, dict[str, str]]] = {
    "names without underscore that are defined here": (
        "import os\nfrom typing import Any\nLIMIT = 3\n_hidden = 1\ndef f(): ...\nclass C: ...\n",
        {"pkg.LIMIT": "attribute", "pkg.f": "function", "pkg.C": "class"},
    ),
    "__all__ lists names, underscore or not, and others are unlisted": (
        "__all__ = ['_g']\n__all__ += ('h',)\ndef _g(): ...\ndef h(): ...\ndef other(): ...\n",
        {"pkg._g": "function", "pkg.h": "function", "pkg.other": "function"},
    ),
    "__all__ of other modules, extend, append, remove": (
        {
            "pkg/__init__.py": """
                from . import _a
                from ._a import *
                from ._b import __all__ as b_all
                from ._b import *
                __all__ = _a.__all__ + b_all
                __all__.extend(['c', 'd'])
                __all__.append('e')
                __all__.remove('d')
                c = d = e = 1
            """,
            "pkg/_a.py": "__all__ = ['a', 'a2']\na = 1\ndef a2(): ...\n",
            "pkg/_b.py": "__all__ = ['b']\ndef b(): ...\n",
        },
        {
            "pkg.a": "attribute",
            "pkg.a2": "function",
            "pkg.b": "function",
            "pkg.c": "attribute",
            "pkg.d": "attribute",
            "pkg.e": "attribute",
        },
    ),
    "an __all__ that cannot be read adds the rule for names": (
        "__all__ = [n for n in dir()]\ndef f(): ...\n",
        {"pkg.f": "function"},
    ),
    "annotated, wrapped, starred and named parts of __all__": (
        "__all__: list[str] = [*sorted(['f']), g.__name__] + list(('h',))\ndef f(): ...\ndef g(): ...\n"
        "def h(): ...\ndef i(): ...\n",
        {"pkg.f": "function", "pkg.g": "function", "pkg.h": "function", "pkg.i": "function"},
    ),
    "what a module may bind as it runs is believed to be there": (
        "__all__ = ['f', 'VERSION']\nglobals()['VERSION'] = 1\ndef f(): ...\n",
        {"pkg.VERSION": "attribute", "pkg.f": "function"},
    ),
    "modules that their documentation calls private, but for some, and what is re-exported from them": (
        {
            "pandas/__init__.py": "from pandas import core, compat\nfrom pandas.core.frame import DataFrame\n",
            "pandas/compat/__init__.py": "PY310 = True\n",
            "pandas/core/__init__.py": "def of_package(): ...\n",
            "pandas/core/frame.py": "class DataFrame:\n    def append(self): ...\ndef internal(): ...\n",
            "pandas/core/resample.py": "class Resampler: ...\n",
            "pandas/core_like.py": "def f(): ...\n",
            "pandas/util/__init__.py": "from pandas.util._hashing import hash_array\n",
            "pandas/util/_hashing.py": "def hash_array(): ...\n",
            "pandas/util/version.py": "class Version: ...\n",
        },
        {
            "pandas": "module",
            "pandas.DataFrame": "class",
            "pandas.DataFrame.append": "method",
            "pandas.core.resample": "module",
            "pandas.core.resample.Resampler": "class",
            "pandas.core_like": "module",
            "pandas.core_like.f": "function",
            "pandas.util": "module",
            "pandas.util.hash_array": "function",
        },
    ),
    "a single module": ({"pkg.py": "import pkg\ndef f(): ...\n"}, {"pkg.f": "function"}),
    "a public module under a second name": (
        {"pkg/__init__.py": "from . import a as b\n", "pkg/a.py": ""},
        {"pkg.a": "module", "pkg.b": "alias"},
    ),
    "a base that is shared, and a nested class that derives from its sibling": (
        """
        class Root:
            def m(self): ...
        class Left(Root):
            class Inner:
                def i(self): ...
            class Other(Inner): ...
        class Right(Root):
            def m(self): ...
        class Leaf(Left, Right): ...
        """,
        {
            "pkg.Leaf": "class",
            "pkg.Leaf.Inner": "alias",
            "pkg.Leaf.Other": "alias",
            "pkg.Leaf.m": "method",
            "pkg.Left": "class",
            "pkg.Left.Inner": "class",
            "pkg.Left.Inner.i": "method",
            "pkg.Left.Other": "class",
            "pkg.Left.Other.i": "method",
            "pkg.Left.m": "method",
            "pkg.Right": "class",
            "pkg.Right.m": "method",
            "pkg.Root": "class",
            "pkg.Root.m": "method",
        },
    ),
    "a class nested in one that it derives from comes to an end": (
        "class _Base:\n    class Meta:\n        x = 1\nclass C(_Base):\n    pass\nclass D:\n    class E: ...\n"
        "    class F(D): ...\n",
        {
            "pkg.C": "class",
            "pkg.C.Meta": "class",
            "pkg.C.Meta.x": "attribute",
            "pkg.D": "class",
            "pkg.D.E": "class",
            "pkg.D.F": "class",
            "pkg.D.F.E": "alias",
            "pkg.D.F.F": "alias",
        },
    ),
    "what __all__ lists in vain is not there (humanize 4.0.0 lists VERSION)": (
        "__all__ = ['f', 'VERSION']\ndef f(): ...\n",
        {"pkg.f": "function"},
    ),
    "re-exports of a package without __all__, from inside and from another distribution": (
        {
            "pkg/__init__.py": """
                import json
                import attr
                from typing import TYPE_CHECKING
                from markupsafe import Markup
                from ._impl import f, _g
                if TYPE_CHECKING:
                    from ._impl import Typed
            """,
            "pkg/_impl.py": "from markupsafe import escape\ndef f(): ...\ndef _g(): ...\nclass Typed: ...\n",
        },
        {"pkg.Markup": "external", "pkg.f": "function"},
    ),
    "an import in a plain module is not public": (
        {"pkg/__init__.py": "", "pkg/a.py": "def f(): ...\n", "pkg/b.py": "from .a import f\nfrom x import y\nf()\n"},
        {"pkg.a": "module", "pkg.a.f": "function", "pkg.b": "module"},
    ),
    "the shortest path is preferred, the others are aliases": (
        {"pkg/__init__.py": "from .a import C\n", "pkg/a.py": "class C:\n    def m(self): ...\n"},
        {"pkg.C": "class", "pkg.C.m": "method", "pkg.a": "module", "pkg.a.C": "alias"},
    ),
    "of paths of one length the definition's own is preferred": (
        {
            "pkg/__init__.py": "",
            "pkg/a/__init__.py": "from ..b import f\n",
            "pkg/b.py": "def f(): ...\n",
        },
        {"pkg.a": "module", "pkg.a.f": "alias", "pkg.b": "module", "pkg.b.f": "function"},
    ),
    "a second name for a function or class is an alias": (
        "def f(): ...\ng = f\nclass C:\n    def m(self): ...\n    n = m\n",
        {"pkg.f": "function", "pkg.g": "alias", "pkg.C": "class", "pkg.C.m": "method", "pkg.C.n": "alias"},
    ),
    "an import under its own name is passed on (fastapi.testclient, jax.random), other imports of a module are not": (
        {
            "pkg/__init__.py": "from ._a import f as f\nimport json as json\nimport os\n",
            "pkg/_a.py": "def f(): ...\ndef g(): ...\nh = 1\n",
            "pkg/part.py": """
                from other import T as T, U
                from ._a import f as f, g, h as i
                from typing import TYPE_CHECKING
                if TYPE_CHECKING:
                    from ._a import h as h
            """,
            "pkg/listing.py": "from ._a import f as f, g\n__all__ = ['g']\n",
        },
        {
            "pkg.f": "function",
            "pkg.json": "external",
            "pkg.part": "module",
            "pkg.part.T": "external",
            "pkg.part.f": "alias",
            "pkg.listing": "module",
            "pkg.listing.g": "function",
        },
    ),
    "a module that does nothing but import is there to be imported from (seaborn.objects), unless it tells what": (
        {
            "pkg/__init__.py": "",
            "pkg/_a.py": "def f(): ...\ndef g(): ...\n",
            "pkg/objects.py": """
                'Objects.'
                from __future__ import annotations
                import os
                from other import T
                from pkg._a import f, g as h
                from ._a import g as _g
            """,
            "pkg/told.py": "from ._a import f as f\nfrom ._a import g\n",
            "pkg/runs.py": "from ._a import f\nf()\n",
        },
        {
            "pkg.objects": "module",
            "pkg.objects.f": "function",
            "pkg.objects.h": "function",
            "pkg.told": "module",
            "pkg.told.f": "alias",
            "pkg.runs": "module",
        },
    ),
    "a name that is given itself is what it was, and passed on (langchain_core.output_parsers.json)": (
        {
            "pkg/__init__.py": "",
            "pkg/a.py": "from .b import f, g\nf = f\ndef h(): ...\nh = h\nprint = print\nLIMIT = 1\nLIMIT = LIMIT\n",
            "pkg/b.py": "def f(): ...\ndef g(): ...\n",
        },
        {
            "pkg.a": "module",
            "pkg.a.f": "alias",
            "pkg.a.h": "function",
            "pkg.a.print": "attribute",
            "pkg.a.LIMIT": "attribute",
            "pkg.b": "module",
            "pkg.b.f": "function",
            "pkg.b.g": "function",
        },
    ),
    "tests, vendored code, programs and private modules are out of scope": (
        {
            "pkg/__init__.py": "",
            "pkg/tests/test_a.py": "def test(): ...\n",
            "pkg/_vendor/six.py": "PY2 = 1\n",
            "pkg/vendor/x.py": "PY2 = 1\n",
            "pkg/_private.py": "def f(): ...\n",
            "pkg/__main__.py": "def main(): ...\n",
            "pkg/testing.py": "def client(): ...\n",
            "pkg/testsuite/__init__.py": "def suite(): ...\n",
            "pkg/test_suite.py": "def suite(): ...\n",
            "pkg/_tests/a.py": "def test(): ...\n",
            "pkg/unittests/a.py": "def test(): ...\n",
            "pkg/conftest.py": "def fixture(): ...\n",
        },
        {"pkg.testing": "module", "pkg.testing.client": "function"},
    ),
    "a submodule that is imported over another import": (
        {
            "pkg/__init__.py": """
                from __future__ import annotations
                from . import annotations
                __all__ = [*annotations.__all__]
                from .annotations import *
                log = 1
            """,
            "pkg/annotations.py": "__all__ = ['Note']\nclass Note: ...\n",
        },
        {"pkg.Note": "class", "pkg.annotations": "module", "pkg.annotations.Note": "alias", "pkg.log": "attribute"},
    ),
    "a submodule that a star brings back to its package": (
        {
            "pkg/__init__.py": "from .core import *\nfrom .shapes import *\n",
            "pkg/core.py": "class Base:\n    def m(self): ...\n",
            "pkg/shapes.py": "from . import core\nclass Circle(core.Base): ...\n",
        },
        {
            **{f"pkg.{name}": "class" for name in ("Base", "Circle")},
            **{f"pkg.{name}.m": "method" for name in ("Base", "Circle")},
            **{f"pkg.{name}": "module" for name in ("core", "shapes")},
            **{f"pkg.{name}": "alias" for name in ("core.Base", "shapes.Circle")},
        },
    ),
    "a star that brings back what its module has from here": (
        {
            "pkg/__init__.py": "from .reader import *\n",
            "pkg/reader/__init__.py": "from .api import *\nfrom .more import *\n__all__ = ['Base', 'More']\n",
            "pkg/reader/api.py": "class Base:\n    def m(self): ...\n",
            "pkg/reader/more.py": "from . import Base\nclass More(Base): ...\n",
        },
        {
            **{f"pkg.{name}": "class" for name in ("Base", "More")},
            **{f"pkg.{name}.m": "method" for name in ("Base", "More")},
            **{f"pkg.reader{name}": "module" for name in ("", ".api", ".more")},
            **{f"pkg.reader.{name}": "alias" for name in ("Base", "More", "api.Base", "more.More")},
        },
    ),
    "what is called like tests or documentation and is neither": (
        {
            "pkg/__init__.py": "from ._fast_test import fast\n",
            "pkg/_fast_test.py": "def fast(): ...\n",
            "pkg/doc.py": "def show(): ...\n",
            "pkg/docs/__init__.py": "def conf(): ...\n",
            "pkg/test/__init__.py": "",
            "pkg/test/client.py": "class Client:\n    def get(self): ...\n    def test(self): ...\n",
            "pkg/test/runner.py": "def test_match(test): ...\ndef run(): ...\ndef stop(): ...\n",
            "pkg/sub/test/__init__.py": "",
            "pkg/sub/test/help.py": "def helper(): ...\n",
            "pkg/sub/test/test_help.py": "def helper(): ...\n",
            "pkg/test/more.py": "class More:\n    def test_get(self): ...\n",
            "pkg/test/cases.py": "class Case:\n    def testGet(self): ...\n",
            "pkg/tests/util.py": "def helper(): ...\n",
            "pkg/sub/__init__.py": "",
            "pkg/more/__init__.py": "",
            "pkg/more/test.py": "def test_one(): ...\ndef helper(): ...\n",
        },
        {
            "pkg.fast": "function",
            **{f"pkg.{name}": "module" for name in ("doc", "more", "sub", "test", "test.client", "test.runner")},
            **{f"pkg.{name}": "function" for name in ("doc.show", "test.runner.test_match", "test.runner.run")},
            "pkg.test.runner.stop": "function",
            "pkg.test.client.Client": "class",
            **{f"pkg.test.client.Client.{name}": "method" for name in ("get", "test")},
        },
    ),
    "a package under the name of its file": (
        {
            "pkg/__init__.py": "def run(): ...\n",
            "pkg/api.py": "__all__ = ['run', 'go']\nfrom .__init__ import run\nfrom pkg.__init__ import run as go\n",
        },
        {"pkg.run": "function", "pkg.api": "module", "pkg.api.run": "alias", "pkg.api.go": "alias"},
    ),
    "inherited members, also from a private base in another file": (
        {
            "pkg/__init__.py": "from ._base import Base\nclass C(Base):\n    def own(self): ...\n",
            "pkg/_base.py": """
                class Root:
                    def far(self): ...
                class Base(Root):
                    x: int = 1
                    def near(self): ...
                    def _private(self): ...
                    def __len__(self): ...
            """,
        },
        {
            "pkg.Base": "class",
            "pkg.Base.far": "method",
            "pkg.Base.near": "method",
            "pkg.Base.x": "attribute",
            "pkg.C": "class",
            "pkg.C.far": "method",
            "pkg.C.near": "method",
            "pkg.C.own": "method",
            "pkg.C.x": "attribute",
        },
    ),
    "properties, also by decorators that griffe does not know, and attributes of instances": (
        """
        import abc
        class C:
            def __init__(self):
                self.made = 1
                self._hidden = 2
            @property
            def p(self): ...
            @lib.cached_property
            def q(self): ...
            @cache_readonly
            def s(self): ...
            @Memoized.memoized_attribute
            def t(self): ...
            @abc.abstractproperty
            def r(self): ...
            @r.setter
            def r(self, value): ...
        """,
        {
            "pkg.C": "class",
            "pkg.C.made": "attribute",
            "pkg.C.p": "property",
            "pkg.C.q": "property",
            "pkg.C.r": "property",
            "pkg.C.s": "property",
            "pkg.C.t": "property",
        },
    ),
    "a star import of a private module": (
        {"pkg/__init__.py": "from ._a import *\n", "pkg/_a.py": "import os\nX = 1\n_y = 2\ndef f(): ...\n"},
        {"pkg.X": "attribute", "pkg.f": "function"},
    ),
    "a private module that is public under another name": (
        {"pkg/__init__.py": "from . import _tools as tools\n", "pkg/_tools.py": "def f(): ...\n"},
        {"pkg.tools": "module", "pkg.tools.f": "function"},
    ),
    "a module that its own package imports, and a package above by a star import (networkx.bipartite)": (
        {
            "pkg/__init__.py": "from pkg.algorithms import *\n",
            "pkg/algorithms/__init__.py": "from pkg.algorithms import bipartite\nfrom pkg.algorithms.flow import *\n",
            "pkg/algorithms/bipartite.py": "def color(): ...\n",
            "pkg/algorithms/flow.py": "def cut(): ...\n",
        },
        {
            "pkg.algorithms": "module",
            "pkg.algorithms.bipartite": "module",
            "pkg.algorithms.bipartite.color": "function",
            "pkg.algorithms.cut": "alias",
            "pkg.algorithms.flow": "module",
            "pkg.algorithms.flow.cut": "alias",
            "pkg.bipartite": "alias",
            "pkg.cut": "function",
        },
    ),
    "compiled modules that the package imports, and what of itself it imports that is none": (
        {
            "pkg/__init__.py": """
                from typing import TYPE_CHECKING
                from . import speed, tests, _hidden, part
                from pkg import lightning, lightning2 as renamed
                if TYPE_CHECKING:
                    from . import typed
            """,
            "pkg/part.py": "",
        },
        {"pkg.lightning": "attribute", "pkg.part": "module", "pkg.renamed": "attribute", "pkg.speed": "attribute"},
    ),
    "a function hides the module of its name": (
        {"pkg/__init__.py": "from .run import run\n", "pkg/run.py": "def run(): ...\ndef walk(): ...\n"},
        {"pkg.run": "function", "pkg.run.run": "alias", "pkg.run.walk": "function"},
    ),
    "a module under another name, given above what hides it (sqlalchemy.orm.mapperlib) or below": (
        {
            "pkg/__init__.py": "from . import run as run_above\nfrom .run import run\nfrom . import run as run_below\n",
            "pkg/run.py": "def run(): ...\n",
        },
        {"pkg.run": "function", "pkg.run.run": "alias", "pkg.run_above": "alias", "pkg.run_below": "alias"},
    ),
    "what serves annotations only, loops and deleted names are no API": (
        """
        import typing as t
        T = t.TypeVar("T")
        Many = t.Union[int, str]
        Few: t.TypeAlias = "int"
        for name in "ab":
            scratch = name
        gone = 1
        del gone
        kept = 2
        """,
        {"pkg.kept": "attribute"},
    ),
    "what is deleted after a star import brought it is no API (numpy.Arrayterator)": (
        {
            "pkg/__init__.py": "from .m import *\ndel g\nfrom .n import *\ndel h, i\n"
            "def __getattr__(n):\n    if n == 'h':\n        return 1\n    raise AttributeError(n)\n",
            "pkg/m.py": "def f(): ...\ndef g(): ...\ndef h(): ...\n",
            "pkg/n.py": "def g(): ...\ndef i(): ...\n",
            "pkg/other.py": "from . import *\n",
        },
        {
            **dict.fromkeys(["pkg.f", "pkg.g", "pkg.m.g", "pkg.m.h", "pkg.n.i"], "function"),
            **dict.fromkeys(["pkg.m.f", "pkg.n.g", "pkg.other.f", "pkg.other.g"], "alias"),
            **dict.fromkeys(["pkg.m", "pkg.n", "pkg.other"], "module"),
            "pkg.h": "lazy",
        },
    ),
    "what only a handler or a program binds is no API, but on Python 3 the handler of a NameError runs": (
        """
        try:
            LIMIT = measure()
        except (OverflowError, OSError):
            is_64bits = guess()
            LIMIT = 1
        try:
            unicode
        except NameError:
            unicode = str
        if __name__ == "__main__":
            scratch = 1
        """,
        {"pkg.LIMIT": "attribute", "pkg.unicode": "attribute"},
    ),
    "unless __all__ lists it": (
        "__all__ = ['f']\ntry:\n    import fast\nexcept ImportError:\n    def f(slow): ...\n",
        {"pkg.f": "function"},
    ),
    "a name whose definition is compiled is there, but opaque": (
        {"pkg/__init__.py": "from ._speed import fast\n"},
        {"pkg.fast": "attribute"},
    ),
    "stubs stand for compiled modules, and add to sources": (
        {
            "pkg/__init__.py": "",
            "pkg/a.py": "def f(): ...\n",
            "pkg/a.pyi": "def f(): ...\ndef only_in_stub(): ...\n",
            "pkg/b.pyi": "from typing import overload\n@overload\ndef g(x: int) -> int: ...\n@overload\n"
            "def g(x: str) -> str: ...\n",
        },
        {
            "pkg.a": "module",
            "pkg.a.f": "function",
            "pkg.a.only_in_stub": "function",
            "pkg.b": "module",
            "pkg.b.g": "function",
        },
    ),
    "attributes that are put into a class below it": (
        "class C:\n    class D: ...\nC.x = 1\nC.D.y = C\nif PY_3:\n    setattr(C, 'z', 1)\n",
        {
            "pkg.C": "class",
            "pkg.C.D": "class",
            "pkg.C.D.y": "attribute",
            "pkg.C.x": "attribute",
            "pkg.C.z": "attribute",
        },
    ),
    "an __all__ that a loop or function adds to is not all (numpy.core.numeric)": (
        {
            "pkg/__init__.py": "from ._a import *\nfrom ._b import *\n",
            "pkg/_a.py": "__all__ = ['f']\ndef f(): ...\ndef g(): ...\nfor name in more():\n    __all__.append(name)\n",
            "pkg/_b.py": "__all__ = ['h']\ndef h(): ...\ndef i(): ...\ndef extend_all():\n    __all__.extend(['i'])\n",
        },
        {
            "pkg.f": "function",
            "pkg.g": "function",
            "pkg.h": "function",
            "pkg.i": "function",
            "pkg.extend_all": "function",
        },
    ),
    "a plain module passes on what it star-imports from inside (scipy.stats.mstats_basic)": (
        {
            "pkg/__init__.py": "",
            "pkg/facade.py": "from ._impl import *\nfrom ._impl import _hidden, other\nfrom json import *\n_n = 1\n",
            "pkg/_impl.py": "import os\ndef f(): ...\ndef other(): ...\ndef _hidden(): ...\n",
        },
        {"pkg.facade": "module", "pkg.facade.f": "function"},
    ),
    "of an __all__ that is made as it runs, imports are no part (scipy.stats._continuous_distns)": (
        {
            "pkg/__init__.py": "from ._impl import *\n",
            "pkg/_impl.py": """
                from . import _special as special
                from ._special import helper
                def f(): ...
                __all__ = names_of(globals()) + ['g']
                def g(): ...
            """,
            "pkg/_special.py": "def helper(): ...\n",
        },
        {"pkg.f": "function", "pkg.g": "function"},
    ),
    "a function that a star import of the module of its name brings, once more through a star (networkx.dispersion)": (
        {
            "pkg/__init__.py": "from pkg.part import *\n",
            "pkg/part/__init__.py": "from .run import *\n",
            "pkg/part/run.py": "__all__ = ['run']\ndef run(): ...\n",
        },
        {"pkg.part": "module", "pkg.part.run": "alias", "pkg.part.run.run": "alias", "pkg.run": "function"},
    ),
    "a star import brings no more than the __all__ of a module that has one (pydantic.v1.v1)": (
        {
            "pkg/__init__.py": "__all__ = ['f']\ndef f(): ...\ndef __getattr__(name):\n    return load(name)\n",
            "pkg/later.py": "from pkg import *\n__all__ = ['f', 'gone']\n",
        },
        {"pkg.f": "function", "pkg.later": "module", "pkg.later.f": "alias"},
    ),
    # tornado 5: `Future = asyncio.Future`, documented as tornado's
    "what a module assigns is its own, though the standard library made it": (
        """
        import asyncio, sys, time
        Future = asyncio.Future
        if sys.platform == "win32":
            preferred_clock = time.perf_counter
        else:
            preferred_clock = time.time
        """,
        {"pkg.Future": "attribute", "pkg.preferred_clock": "attribute"},
    ),
    # scipy.linalg.LinAlgError
    "a star import passes on what another library made if `__all__` lists it": (
        {
            "pkg/__init__.py": "from ._listing import *\nfrom ._other import *\n",
            "pkg/_listing.py": "from numpy.linalg import LinAlgError, norm\n__all__ = ['LinAlgError']\n",
            "pkg/_other.py": "from numpy import ndarray\ndef f(): ...\n",
        },
        {"pkg.LinAlgError": "external", "pkg.f": "function"},
    ),
    "a namespace package is shared: other parts of it are other libraries'": (
        {
            "space/part/__init__.py": """
                from space.common import Base, shared
                from space.part.impl import C as D
                from space.part.gone import lost
                from space import part
                """,
            "space/part/impl.py": """
                import space.part.bases
                from space.common import Base
                class C(Base, space.part.bases.Own):
                    def m(self): ...
                """,
            "space/part/bases.py": "class Own:\n    def n(self): ...\n",
        },
        {
            "space.part": "module",
            "space.part.D": "class",
            "space.part.D.m": "method",
            "space.part.D.n": "method",
            "space.part.bases": "module",
            "space.part.bases.Own": "class",
            "space.part.bases.Own.n": "method",
            "space.part.impl": "module",
            "space.part.impl.C": "alias",
            "space.part.lost": "attribute",
            "space.part.part": "alias",
        },
    ),
}


@pytest.mark.parametrize(("files", "expected"), CASES.values(), ids=CASES)
def test_public_paths(files, expected):
    assert kinds(files) == expected


def test_canonical_path_and_reason():
    found = rows(
        {
            "pkg/__init__.py": "from ._impl import C\nfrom markupsafe import Markup\n",
            "pkg/_impl.py": "class Base:\n    def m(self): ...\nclass C(Base): ...\n",
        }
    )
    told = {path: (row["canonical_path"], str(row["public_because"])) for path, row in found.items()}
    assert told == {
        "pkg": ("pkg", "root"),
        "pkg.C": ("pkg._impl.C", "reexport"),
        "pkg.C.m": ("pkg._impl.Base.m", "inherited"),
        "pkg.Markup": ("markupsafe.Markup", "reexport"),
    }


def test_names_that_all_does_not_list_are_unlisted_where_they_are_defined():
    found = rows(
        {
            "pkg/__init__.py": "from .a import f\n__all__ = ['f']\ndef own(): ...\n",
            "pkg/a.py": "import os\nfrom typing import TypeVar\nfrom .b import g\n__all__ = ['h']\nT = TypeVar('T')\n"
            "size = g\ndef f(): ...\ndef h(): ...\ndef _hidden(): ...\nclass C:\n    def m(self): ...\n",
            "pkg/b.py": "def g(): ...\n",
            "pkg/c/__init__.py": "from ..a import C\n__all__ = ['C']\n",
        }
    )
    told = {path: (str(row["kind"]), str(row["public_because"])) for path, row in found.items() if "." in path[4:]}
    assert found["pkg.own"]["public_because"] == "unlisted"
    assert told == {
        "pkg.a.f": ("alias", "unlisted"),
        "pkg.a.h": ("function", "dunder_all"),
        "pkg.a.C": ("alias", "unlisted"),
        "pkg.b.g": ("function", "name"),
        "pkg.c.C": ("class", "dunder_all"),
        "pkg.c.C.m": ("method", "name"),
    }


def test_lazy_names_of_module_getattr():
    found = rows(
        """
        import warnings
        _allowed: frozenset = frozenset(["B", "C", "not_moved"])
        _moved = {"B": "pkg._b", "C": "pkg._c", "not_allowed": "pkg._d"}
        def __getattr__(name):
            if name == "Markup":
                warnings.warn(f"'pkg.{name}' is deprecated. Use 'markupsafe.Markup' instead.", DeprecationWarning)
                return 1
            if name == "gone":
                raise ImportError("removed in 2.0")
            if name in {"x", "y"}:
                return 2
            if name == "or_a" or name == "or_b":
                return 3
            if name not in _allowed:
                raise AttributeError(name)
            return _moved[name]
        """
    )
    lazy = {path: row["deprecation"] for path, row in found.items() if row["kind"] == "lazy"}
    assert sorted(lazy) == [f"pkg.{name}" for name in ("B", "C", "Markup", "or_a", "or_b", "x", "y")]
    assert lazy["pkg.Markup"] == {
        "channel": "warning",
        "since": None,
        "removal": None,
        "message": "'pkg.Markup' is deprecated. Use 'markupsafe.Markup' instead.",
        "replacement": "markupsafe.Markup",
    }
    assert lazy["pkg.x"] is None


def test_lazy_names_that_a_helper_answers():
    # scipy.constants.codata since 1.12
    found = rows(
        """
        from scipy._lib.deprecation import _sub_module_deprecation
        __all__ = ["find", "k"]
        def __dir__():
            return __all__
        def __getattr__(name):
            return _sub_module_deprecation(sub_package="constants", all=__all__, attribute=name)
        """
    )
    assert {path: str(row["kind"]) for path, row in found.items()} == {
        "pkg": "module",
        "pkg.find": "lazy",
        "pkg.k": "lazy",
    }
    assert (found["pkg"]["labels"], found["pkg.k"]["labels"]) == ([], [])
    assert found["pkg.k"]["deprecation"]["channel"] == "warning"


@pytest.mark.parametrize(
    ("source", "parameters"),
    [
        ("try:\n    from fast import f\nexcept ImportError:\n    def f(slow): ...\n", None),
        ("try:\n    def f(real): ...\nexcept ImportError:\n    def f(fallback): ...\n", ["real"]),
        ("try:\n    from ._none import f\nexcept ImportError:\n    def f(fallback): ...\n", ["fallback"]),
        ("import sys\nif sys.version_info >= (3, 8):\n    def f(new): ...\nelse:\n    def f(old): ...\n", ["new"]),
        ("import sys\nif sys.version_info[0] == 2:\n    def f(old): ...\nelse:\n    def f(new): ...\n", ["new"]),
        ("if PY2:\n    def f(old): ...\nelse:\n    def f(new): ...\n", ["new"]),
        ("if unknown:\n    def f(first): ...\nelse:\n    def f(second): ...\n", ["first"]),
        ("import typing as t\nif t.TYPE_CHECKING:\n    def f(typed): ...\nelse:\n    def f(real): ...\n", ["real"]),
    ],
)
def test_conditional_definitions(source, parameters):
    row = rows(source)["pkg.f"]
    if parameters is None:
        assert (row["kind"], row["canonical_path"]) == ("external", "fast.f")
    else:
        assert [parameter["name"] for parameter in row["parameters"]] == parameters


def test_a_shared_base_comes_after_those_that_derive_from_it():
    files, _ = next(case for name, case in CASES.items() if name.startswith("a base that is shared"))
    assert rows(files)["pkg.Leaf.m"]["canonical_path"] == "pkg.Right.m"


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 4), max_size=3),
            st.sampled_from(["", "collections.OrderedDict", "dict"]),
            st.sets(st.sampled_from(["run", "bind", "last"])),
        ),
        min_size=4,
        max_size=8,
    )
)
@example([([], "", {"run"}), ([], "", {"run"}), ([0, 1], "", set()), ([2, 0], "", set())])
def test_members_are_those_that_python_finds(drawn):
    made: dict[str, type] = {}
    source = "import collections\n"
    for number, (bases, outside, methods) in enumerate(drawn):
        chosen = dict.fromkeys([*made][base % len(made)] for base in bases) if made else {}
        names = [*chosen, *[outside] * bool(outside)]
        body = "".join(f"    def {method}(self): ...\n" for method in sorted(methods)) + "    other = 1\n"
        scope: dict[str, Any] = {"collections": collections} | made
        with suppress(TypeError):  # bases that cannot be ordered
            exec(text := f"class C{number}({', '.join(names)}):\n{body}", scope)
            made[f"C{number}"], source = scope[f"C{number}"], source + text
    found = rows({"pkg.py": source})
    for name, class_ in made.items():
        for method in ("run", "bind", "last"):
            row = found.get(f"pkg.{name}.{method}")
            there = getattr(class_, method, None)
            assert (row and row["canonical_path"]) == (there and f"pkg.{there.__qualname__}")


def test_a_module_is_given_another_name_above_what_hides_it():
    found = rows(next(files for name, (files, _) in CASES.items() if "above what hides it" in name))
    assert {name: found[f"pkg.{name}"]["canonical_path"] for name in ("run_above", "run_below")} == {
        "run_above": "pkg.run",
        "run_below": "pkg.run.run",
    }
