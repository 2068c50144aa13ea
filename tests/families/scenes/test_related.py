"""What blocks rely on elsewhere: definitions of other files that they ran, and blocks that are like them."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.scenes import BlockType
from pipeline.families.scenes.candidates import Candidate, candidates_of
from pipeline.families.scenes.related import Alike, Definitions
from pipeline.families.scenes.rules import SceneRules
from pipeline.lake.rows import TracedFunctionRow
from tests.families.scenes import rows as made

SHIPPED = load(RULES / "scenes.yaml", SceneRules)
RELATED = SHIPPED.related.model_copy(update={"run": 2, "min_tokens": 6})

LOOP = """\
def {name}({items}):
    told = []
    for item in {items}:
        item.start()
        item.wait(timeout={timeout})
        item.stop()
"""


def candidates(texts: dict[str, str], functions: list[TracedFunctionRow] | None = None) -> list[Candidate]:
    files = {row["path"]: row for row in made.files(texts)}
    return candidates_of(functions or made.functions(texts), files, SHIPPED)[0]


def loops(*texts: str) -> tuple[list[Candidate], list[int]]:
    found = candidates({f"shop/m{number}.py": text for number, text in enumerate(texts)})
    return found, [at for at, candidate in enumerate(found) if candidate.block.type == BlockType.FOR]


@pytest.mark.parametrize(
    ("other", "max_share", "like"),
    [
        (LOOP.format(name="g", items="jobs", timeout=2), 0.9, True),
        (LOOP.format(name="g", items="jobs", timeout=2), 0.5, False),
        (LOOP.format(name="g", items="items", timeout=1), 0.9, False),
        (
            LOOP.format(name="g", items="items", timeout=1) + "        item.more(1, 2, 3, [4, 5], {6: 7})\n" * 3,
            0.9,
            False,
        ),
        ("def g(x):\n    told = []\n    for y in x:\n        print(y, y + 1, y + 2)\n", 0.9, False),
    ],
    ids=["like", "too like", "the same", "holds it", "unlike"],
)
def test_a_like_block_is_neither_unlike_nor_a_copy(other: str, max_share: float, like: bool) -> None:
    found, (first, *_) = loops(LOOP.format(name="f", items="items", timeout=1), other)
    row = Alike(found, RELATED.model_copy(update={"max_share": max_share})).most_like(first)
    assert (row is not None) == like
    if row:
        assert (row["path"], row["namespace"]) == ("shop/m1.py", "shop.m1.g")
        assert row["code"].startswith("    for item in jobs:")
        assert RELATED.min_similarity <= (row["similarity"] or 0) < 1


def test_a_block_of_the_same_function_is_not_elsewhere() -> None:
    text = LOOP.format(name="f", items="items", timeout=1)
    found, numbers = loops(text + text[text.index("    for") :].replace("timeout=1", "timeout=2"))
    alike = Alike(found, RELATED)
    assert [alike.most_like(number) for number in numbers] == [None, None]


def used(function: TracedFunctionRow, known: list[Any]) -> list[list[str]]:
    files = {row["path"]: row for row in made.files()}
    (block,) = [
        candidate for candidate in candidates(made.FILES, [function]) if candidate.block.type == BlockType.FUNCTION
    ]
    return [[row["namespace"], row["code"].split("\n")[0]] for row in Definitions(known, files, RELATED).used_by(block)]


def test_definitions_are_shown_that_the_block_names_where_it_was_run() -> None:
    known = made.functions()
    function = next(row for row in known if row["name"] == "sum")
    total = ["shop.prices.total", "def total(prices):"]
    with_tax = ["shop.prices.with_tax", "def with_tax(price, rate=0.2):"]
    assert used(function, known) == [total, with_tax]
    assert used(function | {"executed_lines": [12, 14, 17]}, known) == [total]
    assert used(function | {"cross_file": ["shop.prices.unused", "shop.prices.with_tax"]}, known) == [with_tax]
    without = [row for row in known if row["path"] != "shop/prices.py"]
    assert used(function, without) == []


def test_a_definition_is_found_under_the_name_that_it_is_imported_by() -> None:
    texts = {
        "shop/prices.py": made.FILES["shop/prices.py"],
        "shop/use.py": "from .prices import total as _sum\n\n\ndef use(prices):\n    numbers = list(prices)\n    return _sum(numbers)\n",
    }
    files = {row["path"]: row for row in made.files(texts)}
    known = made.functions(texts)
    function = next(row for row in known if row["name"] == "use") | {"cross_file": ["shop.prices.total"]}
    blocks = {each.block.type: each for each in candidates(texts, [function])}
    definitions = Definitions(known, files, RELATED)
    assert [row["namespace"] for row in definitions.used_by(blocks[BlockType.FUNCTION])] == ["shop.prices.total"]


@pytest.mark.parametrize(
    ("namespace", "lines"),
    [
        ("shop.cart.Cart", ["@frozen", "class Cart:"]),
        ("shop.cart.Cart.add", ["    def add(self, price, number=1):", "        self.lines.append(price * number)"]),
        ("shop.cart.LIMIT", ["LIMIT = [", "    1,"]),
        ("shop.cart.absent", None),
        ("shop.other.Cart", None),
    ],
)
def test_what_is_shown_of_a_definition(namespace: str, lines: list[str] | None) -> None:
    cart = made.FILES["shop/cart.py"].replace("class", "@frozen\nclass") + "\nLIMIT = [\n    1,\n    2,\n]\n"
    texts = {"shop/cart.py": cart, "shop/use.py": "def use():\n    return Cart, add, LIMIT, absent\n"}
    files = {row["path"]: row for row in made.files(texts)}
    known = made.functions(texts)
    function = next(row for row in known if row["name"] == "use") | {"cross_file": [namespace]}
    body = next(each for each in candidates(texts, [function]) if each.block.type == BlockType.FUNCTION)
    rules = RELATED.model_copy(update={"max_lines": 2})
    assert [row["code"].split("\n") for row in Definitions(known, files, rules).used_by(body)] == (
        [lines] if lines else []
    )
