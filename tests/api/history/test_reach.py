"""How far an API reaches, and that only what reaches somebody breaks code."""

import pytest

from pipeline.api.history.reach import reach_of
from pipeline.core.vocabularies.changes import Reach
from tests.api.history.releases import changes, index

FILES = {
    "pkg/__init__.py": "from .frame import Frame\nfrom .json import dump_all\nLIMIT = 1\n",
    "pkg/json/__init__.py": "def dump_all():\n    'All.'\ndef loads():\n    'One.'\ndef bare(): ...\n",
    "pkg/frame.py": "'Frames.'\nclass Frame:\n    'A frame.'\n    size = 1\n    def mad(self): ...\n"
    "def help_frame():\n    'Help.'\nDEEP = 2\n@deprecated\ndef old(): ...\n",
    "pkg/tools.py": "def cut():\n    'Cut.'\ndef _hidden(): ...\ndef bare(): ...\nWIDTH = 3\n",
    "pkg/listed.py": "__all__ = ['NAMED']\nNAMED = 4\ndef left_out():\n    'Used by some.'\nclass Kept:\n    size = 1\n",
    "pkg/empty.py": "X = 1\n",
    "pkg/typed.pyi": "def stub() -> int: ...\n",
}
REACH = {
    "pkg": Reach.LISTED,
    "pkg.LIMIT": Reach.LISTED,
    "pkg.Frame.mad": Reach.LISTED,
    "pkg.frame.Frame.size": Reach.INTERNAL,
    "pkg.frame.help_frame": Reach.INTERNAL,
    "pkg.frame.DEEP": Reach.INTERNAL,
    "pkg.frame.old": Reach.DOCUMENTED,
    "pkg.json.loads": Reach.DOCUMENTED,
    "pkg.json.bare": Reach.INTERNAL,
    "pkg.tools.cut": Reach.DOCUMENTED,
    "pkg.tools.bare": Reach.INTERNAL,
    "pkg.tools.WIDTH": Reach.INTERNAL,
    "pkg.listed.NAMED": Reach.LISTED,
    "pkg.listed.left_out": Reach.UNLISTED,
    "pkg.listed.Kept.size": Reach.UNLISTED,
    "pkg.typed.stub": Reach.DOCUMENTED,
}


@pytest.mark.parametrize(("path", "reach"), REACH.items(), ids=REACH)
def test_reach_of_a_path(path: str, reach: Reach) -> None:
    assert reach_of(path, index(FILES)) is reach


def test_a_module_reaches_as_far_as_what_is_in_it() -> None:
    nested = {"pkg/__init__.py": "", "pkg/sub/__init__.py": ""} | {
        f"pkg/sub/{name.rpartition('/')[2]}": text for name, text in FILES.items() if name != "pkg/__init__.py"
    }
    read = index(nested)
    names = ("tools", "empty", "listed")
    assert [reach_of(f"pkg.sub.{name}", read) for name in names] == [Reach.DOCUMENTED, Reach.INTERNAL, Reach.LISTED]


def test_only_what_reaches_somebody_breaks() -> None:
    old = FILES | {"pkg/tools.py": FILES["pkg/tools.py"] + "def cut_more():\n    'More.'\n"}
    found = {row["path"]: row for row in changes(old, FILES | {"pkg/tools.py": "def _hidden(): ...\n"})}
    told = {path: (row["kind"], row["breaking"], row["reach"]) for path, row in found.items()}
    assert told == {
        "pkg.tools.bare": ("removed", False, Reach.INTERNAL),
        "pkg.tools.WIDTH": ("removed", False, Reach.INTERNAL),
        "pkg.tools.cut": ("removed", True, Reach.DOCUMENTED),
        "pkg.tools.cut_more": ("removed", True, Reach.DOCUMENTED),
    }


def test_an_unlisted_name_is_compared_and_does_not_break() -> None:
    old, new = (
        {"pkg/__init__.py": "", "pkg/tools.py": f"import os\n__all__ = ['cut']\ndef cut(): ...\n{text}"}
        for text in ("from json import loads\ndef sew(a, b): ...\ndef glue(): ...\n", "def sew(a): ...\n")
    )
    found = [(row["path"], row["kind"], row["parameter"], row["breaking"], row["reach"]) for row in changes(old, new)]
    assert found == [
        ("pkg.tools.glue", "removed", None, False, Reach.UNLISTED),
        ("pkg.tools.sew", "parameter_removed", "b", False, Reach.UNLISTED),
    ]


def test_a_change_stands_under_the_path_that_reaches_farthest() -> None:
    old = {
        "pkg/__init__.py": "from .core.generic import Frame\n",
        "pkg/core/__init__.py": "",
        "pkg/core/generic.py": "class NDFrame:\n    def mad(self, axis): ...\nclass Frame(NDFrame): ...\n",
    }
    new = old | {"pkg/core/generic.py": old["pkg/core/generic.py"].replace("axis", "axis, skipna=True")}
    assert [row["path"] for row in changes(old, new)] == ["pkg.Frame.mad"]


def test_an_import_name_with_dots_is_a_top_level_module() -> None:
    files = {"cloud/storage/__init__.py": "LIMIT = 1\n", "cloud/storage/blob.py": "SIZE = 1\n"}
    read = index(files)
    reaches = {
        path: reach_of(path, read) for path in ("cloud.storage", "cloud.storage.LIMIT", "cloud.storage.blob.SIZE")
    }
    assert reaches == {
        "cloud.storage": Reach.LISTED,
        "cloud.storage.LIMIT": Reach.LISTED,
        "cloud.storage.blob.SIZE": Reach.INTERNAL,
    }
