"""A made-up library on disk, bound into the sandbox beside a bare interpreter, and short ways to run code against it."""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.execution.environments.resolution.interpreters import Interpreter, discover
from pipeline.execution.sandbox.environment import Environment, bare_environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases
from pipeline.lake.rows import SnippetCheck

LIBRARY = {
    "lib/__init__.py": """
import functools
from lib.shapes import Circle
class Box:
    def __init__(self, size): self.size = size
    def grow(self, by, *, twice=False): return self.size + by
    @property
    def volume(self): return self.size ** 3
    def broken(self): return len(1)
    def deep(self): return self.grow()
class Magic:
    def __getattr__(self, name): raise AttributeError(name)
def wrapped(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs): return function(*args, **kwargs)
    return wrapper
@wrapped
def save(path, *, mode="w"): return path
def needs_extra():
    import extra_that_nobody_has
def undefined_inside(): return not_defined_anywhere
def __getattr__(name):
    if name == "lazy": return 1
    if name == "leaving":
        import warnings
        warnings.warn("lib.leaving will go", FutureWarning, stacklevel=2)
        return 2
    raise AttributeError(name)
""",
    "lib/shapes.py": "class Circle:\n    radius = 1\n",
    "lib/moving.py": """
class Moved(ImportError): pass
def lookup(name):
    if name.startswith("__"): raise AttributeError(name)
    if name == "Extra": import extra_that_nobody_has
    if name == "Optional":
        try: import extra_that_nobody_has
        except ImportError as error: raise ImportError("install an extra") from error
    raise Moved(name + " has moved")
__getattr__ = lookup
def made():
    def lookup(): raise ImportError("install an extra")
    return lookup
needs = made()
""",
    "lib/broken.py": "import nothing_of_that_name\n",
    "lib/wrong.py": "x = (\n",
    "lib/old.py": "import warnings\nwarnings.warn('lib.old will go', DeprecationWarning, stacklevel=2)\n",
    "lib/described.py": """
import enum, functools, sys
LIMIT, PAIR, NAMES, LONG, WHERE = 3, (1, "a"), [1], "x" * 500, sys.prefix + "/data"
def plain(a, b=2, *args, c=object(), **kwargs): pass
partial = functools.partial(lambda a, b=2: b, 1)
async def later(): pass
@functools.lru_cache(maxsize=1)
def cached(x): pass
def counting(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs): return function(*args, **kwargs)
    return wrapper
@counting
def counted(): pass
def marked(): pass
marked.__deprecated__ = "use plain"
class Base:
    __slots__ = ("slot",)
    def __init__(self, size=1.5): pass
    def method(self, x): pass
    @classmethod
    def made(cls, x): pass
    @staticmethod
    def fixed(x): pass
    @functools.lru_cache(maxsize=1)
    def remembered(self, x): pass
    @property
    def area(self): raise SystemExit("a property was asked")
class Derived(Base): pass
Derived.__deprecated__ = "use Base"
class Below(Derived): pass
class Color(enum.Enum):
    RED = 1
class Pretender:
    @property
    def __class__(self): raise RuntimeError("outside of its context")
one, pretender = Base(), Pretender()
""",
    "lib/leaves.py": "import os\nos._exit(7)\n",
    "lib/waits.py": "import time\ntime.sleep(60)\n",
}


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return find_sandbox()


@pytest.fixture(scope="session")
def rules() -> ValidationRules:
    return load(RULES / "validation.yaml", ValidationRules).model_copy(
        update={"time_s": 5.0, "probe_time_s": 2.0, "memory_mib": 512}
    )


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("library")
    root.chmod(0o755)  # the sandboxed program is somebody else
    for name, source in LIBRARY.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    return root


@pytest.fixture(scope="session")
def environment(library: Path) -> Environment:
    return replace(bare_environment(), site_packages=library, folders=(*bare_environment().folders, library))


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment of its own with the made-up library and pytest installed, as a fork server needs it."""
    environment = empty_environment(tmp_path_factory.mktemp("installed"))
    site_packages = environment.site_packages
    for name, source in LIBRARY.items():
        path = site_packages / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    here = Path(sysconfig.get_path("purelib"))
    metadata = [path.name for path in here.glob("pluggy-*.dist-info")]
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", *metadata):
        shutil.copytree(here / name, site_packages / name)
    shutil.copy(here / "py.py", site_packages)
    return environment


def empty_environment(root: Path) -> Environment:
    """Make an environment without any package."""
    bare = bare_environment()
    root.chmod(0o755)
    (root / "bin").mkdir()
    (root / "pyvenv.cfg").write_text(f"home = {bare.python.parent}\ninclude-system-site-packages = false\n")
    (root / "bin" / "python").symlink_to(bare.python)
    site_packages = root / "lib" / f"python{bare.python_version}" / "site-packages"
    site_packages.mkdir(parents=True)
    return Environment("made", bare.python_version, root / "bin" / "python", site_packages, (*bare.folders, root))


def interpreters() -> tuple[Interpreter, ...]:
    """The oldest and the newest interpreter of this machine: what the harness must bear."""
    found = discover()
    return tuple(dict.fromkeys((found[0], found[-1])))


@pytest.fixture(params=interpreters(), ids=lambda interpreter: interpreter.python)
def old_and_new(request: pytest.FixtureRequest, environment: Environment, library: Path) -> Environment:
    found: Interpreter = request.param
    return replace(environment, python_version=found.python, python=found.path, folders=(found.prefix, library))


@pytest.fixture
def outcome_of(library: Path, sandbox: Sandbox, rules: ValidationRules) -> Callable[..., Result]:
    def run(
        environment: Environment,
        code: str = "",
        *,
        checks: Sequence[SnippetCheck] = (),
        preamble: str = "",
        test: str | None = None,
        **changed: Any,
    ) -> Result:
        path = f"import sys; sys.path.insert(0, {str(library)!r})\n"
        case = Case("case", path + preamble, code, checks, ("lib",), test)
        return run_cases(environment, [case], sandbox, rules.model_copy(update=changed))[0]

    return run


def check(statement: str, expected: str | None = None, *options: str) -> SnippetCheck:
    return {"statement": statement, "expected": expected, "options": list(options)}
