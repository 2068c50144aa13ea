"""Names that a module gets from a function that it hands its `globals()`."""

import pytest

from tests.surface.trees import rows

HEAD = "from .imports import lazy_import\n__all__ = ['a', 'b']\n"


def test_a_mapping_of_names_to_modules_tells_them():
    call = "lazy_import(globals(), aliases={'a': '.x', 'b': '.y.z'}, deprecated_aliases={'old': '.x'})\n"
    found = rows({"pkg/__init__.py": HEAD + call, "pkg/x.py": "a = 1\nold = 1\n", "pkg/imports.py": ""})
    kinds = {path: str(row["kind"]) for path, row in found.items() if path.count(".") == 1}
    assert {"pkg.a": "lazy", "pkg.b": "lazy", "pkg.old": "lazy"}.items() <= kinds.items()
    assert [found[path]["deprecation"] is not None for path in ("pkg.a", "pkg.old")] == [False, True]
    assert found["pkg"]["labels"] == []


@pytest.mark.parametrize(
    "call", ["f(globals())", "f(globals(), NAMES)", "f(globals(), {'a b': '.x'})", "f(globals(), {'a': 1})"]
)
def test_what_does_not_tell_them_may_bind_any(call):
    found = rows({"pkg/__init__.py": f"from .imports import f\n{call}\n", "pkg/imports.py": ""})
    assert found["pkg"]["labels"] == ["stars:pkg"]
    assert "pkg.a" not in found
