"""What is there on some machines only."""

import pytest

from tests.api.surface.trees import rows

CASES: dict[str, tuple[str, set[str]]] = {
    "platform": ("if sys.platform == 'win32':\n    def f(): ...\n    class C: ...\ndef g(): ...", {"f", "C"}),
    "both branches": ("if os.name == 'nt':\n    def f(): ...\nelse:\n    def f(a): ...\n    g = 1", {"g"}),
    "an import that may fail": ("try:\n    import fast\n    def f(): ...\nexcept ImportError:\n    pass", {"f"}),
    "with a fallback": (
        "try:\n    import fast\n    def f(): ...\nexcept ImportError:\n    def f(): ...",
        set(),
    ),
    "a failure that is passed on": (
        "try:\n    import fast\n    def f(): ...\nexcept ImportError:\n    raise RuntimeError('install fast')",
        set(),
    ),
    "a flag of such an import": (
        "try:\n    import fast\nexcept ImportError:\n    fast = None\nif fast is not None:\n    def f(): ...",
        {"f"},
    ),
    "a flag by its name": ("if compat.HAS_FAST:\n    def f(): ...\nif is_fast_installed():\n    g = 1", {"f", "g"}),
    "other conditions": ("if DEBUG:\n    def f(): ...\nif sys.version_info >= (3, 8):\n    g = 1", set()),
    "defined elsewhere too": ("def f(): ...\nif sys.platform == 'win32':\n    def f(a): ...", set()),
    "nested": ("if sys.platform == 'win32':\n    if DEBUG:\n        def f(): ...\n    try:\n        g = 1\n"
               "    except E:\n        pass", {"f", "g"}),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES)
def test_conditional_definitions_of_modules(source, expected):
    found = rows("import os\nimport sys\n" + source)
    assert {path.removeprefix("pkg.") for path, row in found.items() if "conditional" in row["labels"]} == expected


def test_conditional_members():
    found = rows("class C:\n    if sys.platform == 'win32':\n        def f(self): ...\n    def g(self): ...\n")
    assert {path: "conditional" in row["labels"] for path, row in found.items() if path.startswith("pkg.C.")} == {
        "pkg.C.f": True,
        "pkg.C.g": False,
    }
