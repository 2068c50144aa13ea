"""Docstrings and the examples in them, written as (style, code, number of checks, line)."""

from __future__ import annotations

import inspect

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pipeline.core.vocabularies.samples import SnippetStyle
from pipeline.corpus.snippets.extract import extract
from pipeline.corpus.snippets.programs import Example
from pipeline.lake.rows import SnippetCheck

DOCTESTS = [
    ("Does.\n\n>>> f(1)\n2\n", [("doctest", "f(1)\n", 1, 2)]),
    (">>> x = 1\n>>> x\n1\n\nProse.\n\n>>> x + 1\n2\n", [("doctest", "x = 1\nx\nx + 1\n", 3, 0)]),
    (">>> for i in x:\n...     i\n...\n1\n>>> 2\n2", [("doctest", "for i in x:\n    i\n2\n", 2, 0)]),
    ("Examples\n--------\n>>> f(1)\n2\n\nNotes\n-----\nProse.", [("numpy", "f(1)\n", 1, 2)]),
    ("Args:\n    x: one\n\nExamples:\n    >>> f(1)\n    2\n\nProse.", [("google", "f(1)\n", 1, 4)]),
    ("Example:\n    >>> f(1)\n    2\n\n    >>> f(2)\n    3\n", [("google", "f(1)\nf(2)\n", 2, 1)]),
    (".. doctest::\n\n    >>> f(1)\n    2\n", [("doctest", "f(1)\n", 1, 2)]),
    ("For example::\n\n    >>> f(1)\n    2\n", [("doctest", "f(1)\n", 1, 2)]),
    ("```pycon\n>>> f(1)\n2\n```\n\nProse.", [("doctest", "f(1)\n", 1, 1)]),
    ("Notes\n-----\n>>> x = 1\n\nExamples\n--------\n>>> f(x)\n2", [("numpy", "x = 1\nf(x)\n", 2, 2)]),
    ("Notes\n-----\n>>> x = 1\n\nExamples\n--------\n>>> f(2)\n2",
     [("doctest", "x = 1\n", 1, 2), ("numpy", "f(2)\n", 1, 6)]),
    (">>> plot()  # doctest: +SKIP\n>>> f(1)\n2", [("doctest", "f(1)\n", 1, 0)]),
    (">>> plot()  # doctest: +SKIP\n", [("doctest", "", 0, 0)]),
    (">>>f(1)\n2\n", [("doctest", "f(1)\n", 0, 0)]),
    (">>> f(1)\n2\n\n>>>g(1)\n", [("doctest", "f(1)\n\ng(1)\n", 0, 0)]),
    (">>> f(1)\n2\n\n---\n\n>>> g(1)\n", [("doctest", "f(1)\ng(1)\n", 2, 0)]),
    (">>> print 1\n1\n", [("doctest", "print 1\n", 1, 0)]),
]  # fmt: skip

BLOCKS = [
    ("Use it::\n\n    import x\n    x.f()\n\nProse.", [("sphinx", "import x\nx.f()\n", 0, 2)]),
    (".. code-block:: python\n    :linenos:\n\n    f(1)\n", [("sphinx", "f(1)\n", 0, 3)]),
    (".. sourcecode:: python\n\n    f(1)\n", [("sphinx", "f(1)\n", 0, 2)]),
    (".. code::\n\n    f(1)\n", [("sphinx", "f(1)\n", 0, 2)]),
    (".. testcode:: group\n\n    f(1)\n\n.. testoutput::\n\n    2\n", [("sphinx", "f(1)\n", 0, 2)]),
    ("Text\n\n```python\nf(1)\n```\n", [("markdown", "f(1)\n", 0, 3)]),
    ("Text\n\n~~~ py\nf(1)\n~~~\n", [("markdown", "f(1)\n", 0, 3)]),
    ("Examples\n--------\nf(1)\ng(2)\n", [("numpy", "f(1)\ng(2)\n", 0, 2)]),
    ("Example:\n    f(1)\n\nReturns:\n    int: two\n", [("google", "f(1)\n", 0, 1)]),
    ("A::\n\n    x = f(1)\n\nB::\n\n    g(x)\n", [("sphinx", "x = f(1)\n\ng(x)\n", 0, 2)]),
    ("A::\n\n    x = f(1)\n\nB::\n\n    g(1)\n", [("sphinx", "x = f(1)\n", 0, 2), ("sphinx", "g(1)\n", 0, 6)]),
    ("- item::\n\n    f(1)\n\n    f(2)\n", [("sphinx", "f(1)\n\nf(2)\n", 0, 2)]),
    (".. code-block:: python\n\n    f(\n", [("sphinx", "f(\n", 0, 2)]),
]  # fmt: skip

NO_EXAMPLES = [
    "",
    "Only prose, f(1).",
    ".. code-block:: console\n\n    $ f(1)\n",
    ".. code-block:: html\n\n    <a href='f(1)'>\n",
    "```yaml\nkey: f(1)\n```",
    "Text::\n\n    key: value\n    other: value\n",
    'Text::\n\n    {"a": 1}\n',
    "Run::\n\n    $ pip install x\n",
    "Examples:\n    Call it with f(1) and see.\n",
    ".. note::\n\n    f(1)\n",
    "```python\nf(1)\n",
    "Parameters\n----------\nf(x)\n",
]


@pytest.mark.parametrize(("docstring", "expected"), DOCTESTS + BLOCKS)
def test_examples(docstring: str, expected: list[tuple[str, str, int, int]]) -> None:
    assert [(e.style, e.code, len(e.checks), e.line) for e in extract(docstring)] == expected


@pytest.mark.parametrize("docstring", NO_EXAMPLES)
def test_text_without_examples(docstring: str) -> None:
    assert extract(docstring) == []


def test_checks_equal_those_of_doctest() -> None:
    docstring = """
    >>> f(1)  # doctest: +ELLIPSIS, -NORMALIZE_WHITESPACE
    <f ...>
    >>> f(2)  # doctest: +NUMBER
    2
    >>> f(0)
    Traceback (most recent call last):
    ValueError: no
    >>> x = f(3)
    """
    (example,) = extract(inspect.cleandoc(docstring))
    assert [(c["expected"], c["options"]) for c in example.checks] == [
        ("<f ...>\n", ["-NORMALIZE_WHITESPACE", "ELLIPSIS"]),
        ("2\n", []),
        ("Traceback (most recent call last):\nValueError: no\n", []),
        (None, []),
    ]
    assert "".join(check["statement"] for check in example.checks) == example.code


def test_a_long_section_is_split_where_its_parts_are_independent() -> None:
    docstring = "\n\n".join(
        [
            "First:",
            ">>> import lib\n>>> x = lib.f(1)",
            "Second:",
            ">>> y = lib.g(2)",
            "Third, of the first:",
            ">>> x.end()",
            "Fourth, of the second:",
            ">>> y.end()",
        ]
    )
    assert [e.code for e in extract(docstring)] == ["import lib\nx = lib.f(1)\ny = lib.g(2)\nx.end()\ny.end()\n"]
    assert [e.code for e in extract(docstring, split_over=3)] == [
        "import lib\nx = lib.f(1)\nx.end()\n",
        "import lib\ny = lib.g(2)\ny.end()\n",
    ]


STATEMENTS = st.sampled_from(
    ["f(1)\n", "x = {'a': 'é'}\n", "for i in y:\n    g(i)\n", "print('''a\n b''')\n", "@d\ndef h():\n    return 1\n"]
)
OUTPUTS = st.none() | st.sampled_from(
    ["1\n", "[1,\n 2]\n", "<BLANKLINE>\nx\n", "Traceback (most recent call last):\nE: m\n"]
)
CHECKS = st.builds(lambda s, e: {"statement": s, "expected": e, "options": []}, STATEMENTS, OUTPUTS)


def rendered(example: Example, margin: str) -> str:
    lines: list[str] = []
    for check in example.checks:
        first, *more = check["statement"].splitlines()
        lines += [f"{margin}>>> {first}", *(f"{margin}... {line}" for line in more)]
        lines += [f"{margin}{line}" for line in (check["expected"] or "").splitlines()]
    return "\n".join(lines)


HEADS = {
    SnippetStyle.DOCTEST: ("Does something.\n\n", ""),
    SnippetStyle.NUMPY: ("Does.\n\nExamples\n--------\n", ""),
    SnippetStyle.GOOGLE: ("Does.\n\nArgs:\n    x: one\n\nExamples:\n", "    "),
}


@given(st.lists(CHECKS, min_size=1), st.sampled_from(sorted(HEADS)))
def test_an_example_comes_back_out_of_its_rendering(checks: list[SnippetCheck], style: SnippetStyle) -> None:
    head, margin = HEADS[style]
    code = "".join(str(check["statement"]) for check in checks)
    example = Example(style, code, tuple(checks), head.count("\n"))
    assert extract(head + rendered(example, margin), split_over=10_000) == [example]


@given(st.text(alphabet=">. :`~#=-\nabf()1'\"\\\t", max_size=120))
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    for example in extract(text):
        assert 0 <= example.line < len(text.expandtabs().splitlines())
