"""What stands around an expression, and where the cursor stands in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.completions_and_migrations.masks import mask, readable
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import Source, Span, parse_source
from pipeline.families.contexts.expression import Expression, expression_at
from pipeline.families.contexts.inline import Inline, around, occurrences
from pipeline.lake.stage import Reject

MASKING = load(RULES / "masking.yaml", MaskingRules)
ROOTS = frozenset({"torch"})


def at(source: Source, name: str, number: int = 0) -> Span:
    """The place of a name, which stands there for the n-th time (from 0)."""
    start = -1
    for _ in range(number + 1):
        start = source.data.index(name.encode(), start + 1)
    return start, start + len(name.encode())


def find(code: str, name: str, number: int = 0) -> tuple[Source, Expression]:
    source = parse_source(code)
    expression = expression_at(source, at(source, name, number))
    assert expression is not None
    return source, expression


def inline(code: str, name: str, number: int = 0) -> Inline:
    """The contexts of a use, with the name masked as in the completion."""
    source, expression = find(code, name, number)
    masked = mask(source, at(source, name, number), [], Granularity.TOKEN, MASKING)
    assert not isinstance(masked, Reject)
    return around(source, expression, occurrences(masked.masked_code, name), ROOTS)


EXPRESSIONS = {
    "the paper's own": ("x = torch.solve(a, b)\n", "solve", "torch.", "torch.solve(a, b)"),
    "the first part only": ("torch.nn.functional.relu(x)\n", "relu", "torch.", "torch.nn.functional.relu(x)"),
    "not called": ("f(torch.float32)\n", "float32", "torch.", "torch.float32"),
    "imported by its name": ("y = solve(a)\n", "solve", "", "solve(a)"),
    "on what a call gave": ("torch.ones(2).mean().round()\n", "round", "torch.ones(2).mean().", "torch.ones(2).mean().round()"),
    "on an item": ("x[0].T.round(1)\n", "round", "x[0].", "x[0].T.round(1)"),
    "in brackets over lines": ("y = (\n  torch\n  .solve(\n    a)\n)\n", "solve", "torch\n  .", "torch\n  .solve(\n    a)"),
    "what is done with the result": ("torch.ones(2).round()\n", "ones", "torch.", "torch.ones(2)"),
    "a decorator": ("@torch.jit.script\ndef f(): pass\n", "script", "torch.", "torch.jit.script"),
    "a decorator that is called": ("@torch.no_grad()\ndef f(): pass\n", "no_grad", "torch.", "torch.no_grad()"),
    "a base": ("class A(torch.nn.Module): pass\n", "Module", "torch.", "torch.nn.Module"),
    "in an f-string": ("x = (f'é{y:{torch.ones(2)}}' 'b')\n", "ones", "torch.", "torch.ones(2)"),
    "in one of several lines": ("x = f\"\"\"a\n{y!r} {torch.ones(2)}\"\"\"\n", "ones", "torch.", "torch.ones(2)"),
    "beside other letters": ("é = 'ö' + torch.décode(ü)\n", "décode", "torch.", "torch.décode(ü)"),
}  # fmt: skip


@pytest.mark.parametrize("case", EXPRESSIONS)
def test_an_expression_goes_from_its_first_name_to_the_end_of_its_call(case: str) -> None:
    code, name, hint, whole = EXPRESSIONS[case]
    source, expression = find(code, name)
    assert source.text_of((expression.span[0], expression.cursor)) == hint
    assert source.text_of(expression.span) == whole


@pytest.mark.parametrize(
    ("code", "name"), [("from torch import solve\n", "solve"), ("f(solve=1)\n", "solve"), ("'solve'\n", "solve")]
)
def test_what_is_no_expression_has_none(code: str, name: str) -> None:
    source = parse_source(code)
    assert expression_at(source, at(source, name)) is None


IN_CLASS = """\
import torch
import numpy as np  # for data
from torch import nn

# Says what solve does.
def before(): pass


@register
class Test(torch.nn.Module):
    \"\"\"Uses solve.\"\"\"

    def one(self):  # type: () -> None
        # torch.solve is for this
        y = torch.solve(1)  # solved
        return y

    def two(self):
        return "#" + solve

def after(): pass
"""


def test_the_contexts_are_those_of_the_class_and_comments_are_left_out() -> None:
    found = inline(IN_CLASS, "solve", 3)
    assert found.in_class
    assert found.imports == "import torch\nfrom torch import nn\n"
    assert found.left == (
        "@register\nclass Test(torch.nn.Module):\n"
        '    """Uses [token-mask]."""\n\n    def one(self):\n        y = '
    )  # fmt: skip
    assert (found.hint, found.reference) == ("torch.", "torch.solve(1)")
    assert found.right == '\n        return y\n\n    def two(self):\n        return "#" + [token-mask]'
    assert found.masked_names == 2


@pytest.mark.parametrize("name", ["Module", "register"])
def test_what_stands_in_bases_and_decorators_is_not_in_the_class(name: str) -> None:
    found = inline(IN_CLASS, name)
    assert not found.in_class
    assert found.left.startswith("import numpy as np\n\ndef before()")


def test_a_class_in_a_class_is_shown_from_the_outer_one_on() -> None:
    found = inline("class A:\n    x = 1\n    class B:\n        y = torch.ones(1)\n    z = 2\nw = 3\n", "ones")
    assert found.left == "class A:\n    x = 1\n    class B:\n        y = "
    assert found.right == "\n    z = 2"


IMPORTS = {
    "of the library, wherever they stand": (
        "import os\nimport torch\nx = torch.ones(1)\nfrom torch import (\n    nn,\n)\n",
        "import torch\nfrom torch import (\n    nn,\n)\n",
        "import os\nx = ",
    ),
    "with a comment": ("import torch  # ones\ntorch.ones(1)\n", "import torch\n", ""),
    "of its modules": ("import torch.nn as n\ntorch.ones(1)\n", "import torch.nn as n\n", ""),
    "of others alone": ("import torchvision\nfrom .torch import a\ntorch.ones(1)\n", "", "import torchvision\nfrom .torch import a\n"),
    "not alone in the line": ("import torch; x = 1\ntorch.ones(1)\n", "", "import torch; x = 1\n"),
    "inside of something": ("try:\n    import torch\nexcept ImportError: pass\ntorch.ones(1)\n", "", "try:\n    import torch\nexcept ImportError: pass\n"),
    "of the name itself": ("from torch import ones\nones(1)\n", "import torch\nfrom torch import [token-mask]\n", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", IMPORTS)
def test_imports_stand_apart(case: str) -> None:
    code, imports, left = IMPORTS[case]
    found = inline(code, "ones", 1 if case.startswith(("with", "of the name")) else 0)
    assert (found.imports, found.left) == (imports, left)


@pytest.mark.parametrize(
    ("code", "hint", "reference"),
    [
        ("from torch import ones\nones(1)\n", "torch.", "torch.ones(1)"),
        ("from torch.nn import ones\nx = ones\n", "torch.nn.", "torch.nn.ones"),
        ("from torch.ones import ones\nones(1)\n", "", "ones(1)"),
        ("from torch import *\nones(1)\n", "", "ones(1)"),
        ("import torch\ntorch.ones(1)\n", "torch.", "torch.ones(1)"),
        ("from torch import ones\nones.ones(1)\n", "ones.", "ones.ones(1)"),
    ],
)
def test_an_expression_has_a_first_part(code: str, hint: str, reference: str) -> None:
    found = inline(code, "ones", code.count("ones") - 1)
    assert (found.hint, found.reference) == (hint, reference)


def test_a_library_may_live_in_a_package_of_many() -> None:
    source, expression = find(
        "from google import cloud\nfrom google.cloud import b\nimport google.auth\nb.get(1)\n", "get"
    )
    assert around(source, expression, [], frozenset({"google.cloud"})).imports == (
        "from google import cloud\nfrom google.cloud import b\n"
    )


WORDS = st.sampled_from(
    ["torch.solve(a)", "x = solve", "solve.y", "'solve'", "f(1)", "if solve: f('a solve')", "Solver()"]
)
LINES = st.lists(WORDS, max_size=6)


@given(LINES, LINES, st.booleans())
def test_contexts_put_together_are_the_program_and_the_name_is_nowhere_left(
    before: list[str], after: list[str], of_class: bool
) -> None:
    inner = "\n".join([*before, "zzz = torch.solve(1, 2)", *after])
    code = "class A:\n " + inner.replace("\n", "\n ") if of_class else inner
    source = parse_source(code)
    use = at(source, "zzz = torch.solve")
    use = use[1] - len("solve"), use[1]
    expression = expression_at(source, use)
    masked = mask(source, use, [], Granularity.TOKEN, MASKING)
    assert expression is not None
    if isinstance(masked, Reject):
        return
    found = around(source, expression, occurrences(masked.masked_code, "solve"), ROOTS)
    assert (found.left + found.reference + found.right).replace("[token-mask]", "solve") == code
    assert found.in_class == of_class
    for view in (found.imports, found.left, found.hint, found.right):
        assert readable(view, "solve", ignore_case=True) is None
