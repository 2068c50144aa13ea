"""Comments that document assignments, as Sphinx reads them."""

import pytest

from tests.api.surface.trees import rows, surface


@pytest.mark.parametrize(
    ("source", "documented"),
    [
        ("#: Most tries.\nA = 1", {"A": "Most tries."}),
        ("#:Most tries.\nA = 1", {"A": "Most tries."}),
        ("#: Most tries,\n#: with the first one:\n#:\n#:   indented\nA = 1", {"A": "Most tries,\nwith the first one:\n\n  indented"}),
        ("A = 1  #: Most tries.", {"A": "Most tries."}),
        ("A = (\n    1,  #: not this\n    2,\n)  #: Both.", {"A": "Both."}),
        ("A = (1)  #: In brackets.\n", {"A": "In brackets."}),
        ("A: int  #: Most tries.\n", {"A": "Most tries."}),
        ("#: Above.\nA = 1  #: Behind.", {"A": "Behind."}),
        ("#: Comment.\nA = 1\n'''String.'''", {"A": "String."}),
        ("A = 'ä'  #: Grüße.", {"A": "Grüße."}),
        ("#: Both.\nA = B = 1", {"A": "Both.", "B": "Both."}),
        ("#: Both.\nA, B = 1, 2", {"A": "Both.", "B": "Both."}),
        ("#: First.\nA = 1; B = 2", {"A": "First.", "B": None}),
        ("#: One.\nA = 1\n#: Other.\nB = 2", {"A": "One.", "B": "Other."}),
        ("# Plain.\nA = 1  # plain", {"A": None}),
        ("#: Far.\n\nA = 1", {"A": None}),
        ("#: Far.\n# plain\nA = 1", {"A": None}),
        ("A = '#: not a comment'", {"A": None}),
        ("#:\nA = 1", {"A": None}),
        ("from typing import TypedDict\n#: Of all.\nA = TypedDict('A', {'a': int})", {"A.a": None}),
        ("def f(): ...\n#: Behind a function.\nA = 1", {"f": None, "A": "Behind a function."}),
        ("if f():\n    #: Under a condition.\n    A = 1", {"A": "Under a condition."}),
        ("class C:\n    #: Of a class.\n    a = 1\n    def m(self): ...\n    #: Later.\n    b = 2", {"C.a": "Of a class.", "C.b": "Later."}),
        ("class C:\n    def __init__(self):\n        #: Of an object.\n        self.a = 1\n        self.b = 2  #: Too.", {"C.a": "Of an object.", "C.b": "Too."}),
        ("class C:\n    #: Of the class.\n    a = None\n    def __init__(self):\n        self.a = 1", {"C.a": "Of the class."}),
        ("class C:\n    #: Of the class.\n    a = None\n    def __init__(self):\n        #: Own.\n        self.a = 1", {"C.a": "Own."}),
    ],
)  # fmt: skip
def test_comments_document_what_is_assigned(source: str, documented: dict[str, str | None]) -> None:
    read = surface(source)
    texts = {row["path"]: row["docstring"] for row in read.documents.values()}
    assert {name: texts.get(f"pkg.{name}") for name in documented} == documented
    assert read.symbols.keys() >= {f"pkg.{name}" for name in documented}


def test_directives_in_comments_mark_an_attribute() -> None:
    row = rows("#: Tries.\n#:\n#: .. deprecated:: 2.0\n#:    Use `B` instead.\nA = 1\nB = 1")["pkg.A"]
    assert (row["deprecation"]["since"], row["deprecation"]["replacement"]) == ("2.0", "B")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("B = 1\n#: One.\n#: Two.\nA = 1", 2),
        ("B = 1\n\nA = 1  #: One.", 3),
        (
            "class C:\n    def f(self): ...\n\n    def __init__(self):\n        #:\n        #: One.\n        self.a = 1\n",
            6,
        ),
    ],
)
def test_the_line_of_a_comment_is_that_of_its_text(source: str, line: int) -> None:
    assert [row["line"] for row in surface(source).documents.values()] == [line]
