"""The sources of one release, as every later stage sees them, whatever archive they came in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceTree:
    """Python sources of a release.

    `files` maps a path from the import root (`flask/app.py`) to its bytes, `.py` and `.pyi` only; `root` is what
    stands before that path inside the archive (`flask-2.3.0/src/`, or nothing in a wheel); `import_names` are the
    top-level packages and modules in scope.
    """

    files: Mapping[str, bytes]
    root: str
    import_names: tuple[str, ...]
