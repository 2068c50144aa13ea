"""The rooms of the package stay small, and their `__init__.py` files are empty but for a docstring."""

from __future__ import annotations

import ast
from collections import Counter

from pipeline.core.settings import PROJECT

MOST_FILES = 25


def test_no_folder_has_too_many_files() -> None:
    files = Counter(path.parent.relative_to(PROJECT) for path in (PROJECT / "pipeline").rglob("*.py"))
    assert {str(folder): count for folder, count in files.items() if count > MOST_FILES} == {}


def test_only_packages_lie_beside_the_rooms() -> None:
    assert [path.name for path in (PROJECT / "pipeline").iterdir() if path.is_file()] == ["__init__.py"]


def test_packages_hold_a_docstring_and_nothing_else() -> None:
    for path in (PROJECT / "pipeline").rglob("__init__.py"):
        tree = ast.parse(path.read_text("utf-8"))
        assert len(tree.body) == 1, path
        assert ast.get_docstring(tree), path
