"""Modules of this package as one archive that any Python of our version runs, without anything to be installed."""

from __future__ import annotations

import ast
import io
import zipfile
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import pipeline
from pipeline.core.syntax_trees import parse_python

_ROOT = Path(pipeline.__file__).parent.parent
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@cache
def archive(program: str, *data: str) -> bytes:
    """Return an archive with a program, the modules that it imports at run time, and modules that it reads as data.

    Of a package in `data` all modules are meant.
    """
    paths = _closure(program)
    for path in map(_path, data):
        paths |= set(path.parent.glob("*.py")) if path.name == "__init__.py" else {path}
    names = {path.relative_to(_ROOT).as_posix(): path.read_bytes() for path in paths}
    names["__main__.py"] = f'import runpy\n\nrunpy.run_module("{program}", run_name="__main__")\n'.encode()
    packages = {parent for name in names for parent in Path(name).parents if parent != Path()}
    names |= {f"{package}/__init__.py": (_ROOT / package / "__init__.py").read_bytes() for package in packages}
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, content in sorted(names.items()):
            member = zipfile.ZipInfo(name, _NO_TIME)
            member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            file.writestr(member, content)
    return written.getvalue()


def _closure(program: str) -> set[Path]:
    paths: set[Path] = set()
    waiting = [program]
    while waiting:
        path = _path(waiting.pop())
        if path not in paths:
            paths.add(path)
            waiting += _imported(parse_python(path.read_bytes()).body)
    return paths


def _path(module: str) -> Path:
    path = _ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _imported(body: Collection[ast.stmt]) -> Iterator[str]:
    """Yield the modules of this package that statements import, but for those that only annotations use."""
    for node in (
        inner_node for statement in body if not _is_for_types(statement) for inner_node in ast.walk(statement)
    ):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == pipeline.__name__:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if _path(inner).is_file() else node.module


def _is_for_types(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"
