"""A site that MkDocs and mkdocstrings build here, in each of the three styles of sections."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config

from pipeline.corpus.documentation.inventory import Entry
from pipeline.corpus.documentation.pages import PageRead, read_page
from tests.corpus.documentation.builders import LANGUAGES, entry, parameter_values, rules

MODULE = '''
"""Bags of things."""


class Bag:
    """A bag.

    Args:
        things: What is in it.
        size: How many.
    """

    size: int = 3
    """Its size."""

    def __init__(self, things: list[int], size: int = 3) -> None:
        self.size = size

    def take(self, n: int = 1, *, safe: bool) -> list[int]:
        """Take things.

        Longer text with `code`.

        Args:
            n: How many, more than `0`.
            safe: Whether to care.

        Returns:
            The things.

        Examples:
            >>> Bag([1]).take()
            [1]

            In turn:

            ```python
            Bag([2]).take(n=2)
            ```

        Deprecated:
            1.3: Use other.
        """
        return []
'''


@pytest.fixture(scope="module", params=["table", "list", "spacy"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site."""
    root = tmp_path_factory.mktemp("mkdocs")
    (root / "docs").mkdir()
    (root / "bag.py").write_text(MODULE)
    (root / "docs" / "index.md").write_text(
        "# Bags\n\nUse it:\n\n```python\nimport bag\n```\n\n```console\n$ bag\n```\n"
    )
    (root / "docs" / "api.md").write_text("# API\n\n::: bag\n")
    options = {"docstring_section_style": request.param, "separate_signature": request.param != "table"}
    handlers = {"python": {"paths": [str(root)], "options": options | {"show_signature_annotations": True}}}
    plugins = ["search", {"mkdocstrings": {"handlers": handlers}}]
    (root / "mkdocs.yml").write_text(yaml.safe_dump({"site_name": "bags", "plugins": plugins}))
    build(load_config(str(root / "mkdocs.yml")))
    return root / "site"


def read(site: Path, page: str, *entries: Entry) -> PageRead:
    content = (site / page / "index.html").read_bytes()
    return read_page(page, content, entries, rules(), LANGUAGES, "#{}".format)


def test_a_method(site: Path) -> None:
    (row,) = read(site, "api/", entry("bag.Bag.take", "method")).documents
    assert row["signature"] == "(n: int = 1, *, safe: bool) -> list[int]"
    assert row["description"] == "Take things.\n\nLonger text with code."
    assert parameter_values(row) == [
        ("n", "int", False, "1", "How many, more than 0."),
        ("safe", "bool", True, None, "Whether to care."),
    ]
    assert row["returns"] == [{"name": None, "type": "list[int]", "description": "The things."}]
    assert row["examples"] == [">>> Bag([1]).take()\n[1]", "Bag([2]).take(n=2)"]
    assert [(d["directive"], d["stated_version"], d["text"]) for d in row["directives"]] == [
        ("deprecated", "1.3", "Use other.")
    ]


def test_a_class_an_attribute_and_a_module(site: Path) -> None:
    module = Entry("bag", "py", "module", "api/", "bag", "bag")
    result = read(site, "api/", module, entry("bag.Bag", "class"), entry("bag.Bag.size", "attribute"))
    rows = {row["path"]: row for row in result.documents}
    assert rows["bag"]["description"] == "Bags of things."
    assert rows["bag.Bag"]["description"] == "A bag."
    assert [row["name"] for row in rows["bag.Bag"]["parameters"]] == ["things", "size"]
    assert (rows["bag.Bag.size"]["description"], rows["bag.Bag.size"]["signature"]) == ("Its size.", None)
    assert rows["bag.Bag.size"]["returns"] == [{"name": None, "type": "int", "description": None}]


def test_blocks_of_code(site: Path) -> None:
    (block,) = read(site, "").blocks
    assert (block.title, block.anchor, block.text) == ("Bags", "bags", "import bag")
    assert [block.text for block in read(site, "api/").blocks] == [">>> Bag([1]).take()\n[1]", "Bag([2]).take(n=2)"]
