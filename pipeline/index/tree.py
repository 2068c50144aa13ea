"""The sources of one release, as every later stage sees them, whatever archive they came in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_STUBS = "-stubs"


@dataclass(frozen=True, slots=True)
class SourceTree:
    """Python sources of a release, by what is in them: the bytes themselves are in the store of sources.

    `files` maps a path from the import root (`flask/app.py`) to the sha256 (hex) of its bytes, `.py` and `.pyi` only;
    `root` is what stands before that path inside the archive (`flask-2.3.0/src/`, or nothing in a wheel);
    `import_names` are the top-level packages and modules in scope; `compiled` are the paths from the import root of
    the extension modules (`.so`, `.pyd`) under them, with their full names (`numpy/core/_multiarray_umath.cpython-311-
    x86_64-linux-gnu.so`).
    """

    files: Mapping[str, str]
    root: str
    import_names: tuple[str, ...]
    compiled: tuple[str, ...] = ()


def without_stubs(path: str) -> str:
    """Return a path from the import root with the name of the package in place of that of its stubs (PEP 561)."""
    top, slash, rest = path.partition("/")
    return f"{top.removesuffix(_STUBS)}{slash}{rest}"
