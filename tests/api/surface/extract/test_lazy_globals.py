"""Names that a module gets from a function that it hands its `globals()`."""

import pytest

from tests.api.surface.trees import rows

HEAD = "from .imports import lazy_import\n__all__ = ['a', 'b']\n"


def test_a_mapping_of_names_to_modules_tells_them():
    call = "lazy_import(globals(), aliases={'a': '.x', 'b': '.y.z'}, deprecated_aliases={'old': '.x'})\n"
    found = rows({"pkg/__init__.py": HEAD + call, "pkg/x.py": "a = 1\nold = 1\n", "pkg/imports.py": ""})
    kinds = {path: str(row["kind"]) for path, row in found.items() if path.count(".") == 1}
    assert {"pkg.a": "attribute", "pkg.b": "lazy", "pkg.old": "alias"}.items() <= kinds.items()
    assert [found[path]["deprecation"] is not None for path in ("pkg.a", "pkg.old")] == [False, True]
    assert found["pkg"]["labels"] == []


@pytest.mark.parametrize(
    "call", ["f(globals())", "f(globals(), NAMES)", "f(globals(), {'a b': '.x'})", "f(globals(), {'a': 1})"]
)
def test_calls_without_literal_names_may_bind_any_name(call):
    found = rows({"pkg/__init__.py": f"from .imports import f\n{call}\n", "pkg/imports.py": ""})
    assert found["pkg"]["labels"] == ["stars:pkg"]
    assert "pkg.a" not in found


def test_entry_points_by_name_and_the_submodules_that_they_make():
    found = rows(
        {
            "pkg/__init__.py": "from pkg import _lazily\n_lazily.init(__name__, {'go': '._run:go', "
            "'place': {'Local': '._run:Place', 'part': '._run'}})\n",
            "pkg/_lazily.py": "",
            "pkg/_run.py": "class Place:\n    def join(self, other): ...\ndef go(to): ...\n",
        }
    )
    kinds = {path: str(row["kind"]) for path, row in found.items()}
    assert {"pkg.go": "function", "pkg.place": "module", "pkg.place.Local.join": "method"}.items() <= kinds.items()
    assert found["pkg.place.Local"]["canonical_path"] == "pkg._run.Place"


@pytest.mark.parametrize("call", ["run(__name__, {'a': 'b'})", "run(__name__, {'a': 'b:c', 'd e': 'f:g'})"])
def test_a_mapping_of_other_texts_gives_no_names(call):
    found = rows(f"from elsewhere import run\n{call}\n")
    assert set(found) == {"pkg", "pkg.run"}


def test_names_that_are_attached():
    # lazy_loader: scientific Python's SPEC 1
    attach = "__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules={'part'}, submod_attrs={'_x': ['f']})\n"
    found = rows(
        {
            "pkg/__init__.py": f"import lazy_loader\n{attach}",
            "pkg/part.py": "",
            "pkg/_x.py": "def f(): ...\n",
        }
    )
    assert {path: str(row["kind"]) for path, row in found.items()} == {
        "pkg": "module",
        "pkg.f": "function",
        "pkg.part": "module",
    }
    assert found["pkg"]["labels"] == []
