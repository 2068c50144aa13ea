"""Source distributions that need nothing to be built: each brings its own build backend (PEP 517), which may be hostile."""

from __future__ import annotations

from tests.index_server import sdist

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
