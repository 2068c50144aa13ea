"""Source distributions that need nothing to be built: each brings its own build backend (PEP 517), which may be hostile."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.execution.environments.builds.builds import Builder
from pipeline.execution.environments.resolution.interpreters import Interpreter
from pipeline.execution.environments.resolution.pinned import read_lock
from tests.index_server import sdist

MAY = "2021-05-01T00:00:00Z"
JUNE = datetime(2021, 6, 1, tzinfo=UTC)
Builders = Callable[..., Builder]

PYPROJECT = '[build-system]\nrequires = [{requires}]\nbuild-backend = "backend"\nbackend-path = ["."]\n'
BACKEND = """
import os, zipfile

NAME, VERSION, REQUIRES = {name!r}, {version!r}, {depends!r}

def build_wheel(folder, config_settings=None, metadata_directory=None):
    said = {{}}
{body}
    name, info = "%s-%s-py3-none-any.whl" % (NAME, VERSION), "%s-%s.dist-info" % (NAME, VERSION)
    told = "Metadata-Version: 2.1\\nName: %s\\nVersion: %s\\n" % (NAME, VERSION)
    told += "".join("Requires-Dist: %s\\n" % line for line in REQUIRES)
    members = {{
        NAME + ".py": "said = %r\\n" % said,
        info + "/METADATA": told,
        info + "/WHEEL": "Wheel-Version: 1.0\\nGenerator: tests\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }}
    members[info + "/RECORD"] = "".join("%s,,\\n" % path for path in [*members, info + "/RECORD"])
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for path, text in members.items():
            archive.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), text)
    return name
"""


def source(
    name: str, version: str = "1.0", body: str = "", depends: tuple[str, ...] = (), requires: tuple[str, ...] = ()
) -> tuple[str, bytes]:
    """Make a source distribution; `body` runs in the build and may put things into `said`, which the module then has."""
    return sdist(name, version, files(name, version, body, depends, requires))


def files(
    name: str, version: str = "1.0", body: str = "", depends: tuple[str, ...] = (), requires: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return the files of such a source distribution."""
    indented = "".join(f"    {line}\n" for line in body.strip().splitlines())
    backend = BACKEND.format(name=name, version=version, depends=list(depends), body=indented)
    return {
        "pyproject.toml": PYPROJECT.format(requires=", ".join(f'"{each}"' for each in requires)),
        "backend.py": backend,
    }


def said_by(wheel: Path) -> dict[str, Any]:
    """Return what the build put into the module of its wheel."""
    names: dict[str, Any] = {}
    with zipfile.ZipFile(wheel) as archive:
        text = next(archive.read(name) for name in archive.namelist() if "/" not in name)
    exec(text, names)
    return dict(names["said"])


def built(builder: Builder, python: Interpreter, name: str = "lib") -> Path:
    lock = builder.lock([f"{name}==1.0"], python, JUNE)
    return builder.wheel(next(pin for pin in read_lock(lock) if pin.name == name), python)
