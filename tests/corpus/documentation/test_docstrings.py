"""Docstrings by parts, written as (docstring, what it says)."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import DirectiveKind, DirectiveOwner
from pipeline.corpus.documentation.content import Content, Described
from pipeline.corpus.documentation.docstrings import read_docstring, version_directives
from pipeline.corpus.documentation.prose import code_blocks, prose

NUMPY = """Take things out of the :class:`Bag`.

Longer, with ``code``.

.. versionadded:: 1.2

Parameters
----------
n : int, optional
    How many.

    .. versionchanged:: 1.3
        Zero is allowed.
safe, strict : {'yes', 'no'}, default 'yes'
    Whether to care.
*args
    More.

Returns
-------
taken : list of int
    The things.

See Also
--------
put : The other way.

Examples
--------
>>> bag.take(1)
[1]

In turn:

>>> bag.take(2)
[2, 3]
"""

GOOGLE = """Take things.

Args:
    n (int, optional): How many. Defaults to 1.
    safe: Whether
        to care.

Returns:
    list: The things.

Example:
    >>> bag.take(1)
    [1]
"""

SPHINX = """Take things.

:param n: how many
:type n: int
:param str safe: whether to care
:returns: the things
:rtype: list

.. code-block:: python

    bag.take(1)
"""

STYLES = [
    (NUMPY, Content(
        "Take things out of the Bag.\n\nLonger, with code.",
        (
            Described("n", "int", description="How many."),
            Described("safe", "'yes', 'no'", "'yes'", description="Whether to care."),
            Described("strict", "'yes', 'no'", "'yes'", description="Whether to care."),
            Described("*args", description="More."),
        ),
        (Described("taken", "list of int", description="The things."),),
        (">>> bag.take(1)\n[1]", ">>> bag.take(2)\n[2, 3]"),
    )),
    (GOOGLE, Content(
        "Take things.",
        (Described("n", "int", description="How many. Defaults to 1."), Described("safe", description="Whether to care.")),
        (Described("list", description="The things."),),
        (">>> bag.take(1)\n[1]",),
    )),
    (SPHINX, Content(
        "Take things.",
        (Described("n", "int", description="how many"), Described("safe", "str", description="whether to care")),
        (Described("", "list", description="the things"),),
        ("bag.take(1)",),
    )),
    ("Do.\n\nSee Also\n--------\ng : Other.\n\nExamples\n--------\n>>> f()\n1\n", Content("Do.", examples=(">>> f()\n1",))),
    ("Do.\n\n:returns: one", Content("Do.", returns=(Described("", description="one"),))),
    ("Do.\n\nArgs:\n\n   n: One\n     more.\n", Content("Do.", (Described("n", description="One more."),))),
    ("Do.\n\nExamples:\n    >>> f()\n    1\nArgs:\n    n: One.\nReturns:\n    int: Two.\n", Content(
        "Do.", (Described("n", description="One."),), (Described("int", description="Two."),), (">>> f()\n1",)
    )),
    ("Only prose,\non two lines.", Content("Only prose, on two lines.")),
    ("", Content()),
]  # fmt: skip


@pytest.mark.parametrize(("docstring", "expected"), STYLES)
def test_styles(docstring: str, expected: Content) -> None:
    assert read_docstring(docstring) == expected


PROSE = [
    ("One\nparagraph.\n\nAnother.", "One paragraph.\n\nAnother."),
    ("A list:\n\n* one\n  more\n* two", "A list:\n\n* one more\n* two"),
    ("Code::\n\n    f(1)\n\nGoes on.", "Code:\n\nGoes on."),
    ("Before.\n\n```python\nf(1)\n```\n\nAfter.", "Before.\n\nAfter."),
    ("Before.\n\n>>> f(1)\n2\n\nAfter.", "Before.\n\nAfter."),
    (".. note:: Mind\n    this.\n\nEnd.", "Mind this.\n\nEnd."),
    ("Text.\n\n.. versionadded:: 1.2\n    Words.\n\nEnd.", "Text.\n\nEnd."),
    ("Text.\n\n.. _target:\n\n.. [1] A book.\n\nEnd.", "Text.\n\nEnd."),
    ("Title\n=====\n\nText with `link <https://a.example>`_ and *stress*.", "Title\n\nText with link and stress."),
]


@pytest.mark.parametrize(("text", "expected"), PROSE)
def test_prose(text: str, expected: str) -> None:
    assert prose(text) == expected


CODE = [
    (">>> f(1)  # doctest: +SKIP\n1\n", (">>> f(1)  # doctest: +SKIP\n1",)),
    ("    >>> f(1)\n    1\n\n    Words.\n", (">>> f(1)\n1",)),
    ("Use::\n\n    x = 1\n    f(x)\n", ("x = 1\nf(x)",)),
    ("Shell::\n\n    $ pip install bag\n", ()),
    (".. code-block:: console\n\n    f\n", ()),
    ("```py\nf(1)\n```", ("f(1)",)),
    ("f(1) in prose", ()),
]


@pytest.mark.parametrize(("text", "expected"), CODE)
def test_blocks_of_code_are_as_written(text: str, expected: tuple[str, ...]) -> None:
    assert code_blocks(text) == expected


def test_statements_of_versions_are_those_of_the_table_directives() -> None:
    rules = load(RULES / "directives.yaml", DirectiveRules)
    result = version_directives(NUMPY, {"n", "safe"}, rules)
    assert [(item.kind, item.owner, item.name, item.version_text, item.text) for item in result] == [
        (DirectiveKind.VERSIONADDED, DirectiveOwner.API, None, "1.2", ""),
        (DirectiveKind.VERSIONCHANGED, DirectiveOwner.PARAMETER, "n", "1.3", "Zero is allowed."),
    ]


PIECES = st.sampled_from(
    [*NUMPY.splitlines(), *GOOGLE.splitlines(), *SPHINX.splitlines(), "", "```", "::", "    ", ">>> x", "    :param"]
)


@given(st.lists(PIECES, max_size=20).map("\n".join) | st.text(max_size=80))
def test_any_docstring_can_be_read(docstring: str) -> None:
    content = read_docstring(docstring)
    assert all(parameter.name.lstrip("*").isidentifier() for parameter in content.parameters)
    assert not any(block != block.strip("\n") for block in content.examples)
