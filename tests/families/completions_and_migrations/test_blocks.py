"""Blocks of other languages: what is hidden, what is told to be the library's, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.samples import Language
from pipeline.families.completions_and_migrations.blocks import make_blocks
from pipeline.families.completions_and_migrations.foreign import LibraryNames, read_code
from pipeline.families.completions_and_migrations.rules import BlockRules
from pipeline.lake.rows import SnippetRow
from pipeline.lake.schema import table

RULES = BlockRules(min_statements=2, min_lines=2, max_lines=30)
LIBRARY = LibraryNames(("org.shapes", "Shapes.Drawing", "shapes", "@shapes/core"), frozenset({"Canvas"}))

JAVA = """\
import java.util.List;
import org.shapes.flat.Circle;

List<Circle> round = List.of(new Circle(2));
round.forEach(Circle::draw);
"""
LICENSED = """\
/*
 * Free.
 */
import org.shapes.flat.Circle;

new Circle(2).draw();
"""
JAVA_STAR = """\
import org.shapes.*;
public class Main {
    void draw() { new Canvas().show(); }
}
"""
CSHARP = """\
using System;
using Shapes.Drawing;

var canvas = new Canvas(3);
Console.WriteLine(canvas.Area);
"""
NAMED = """\
// draws
import other, { Canvas as Sheet } from 'other';
import { Circle as Round, draw } from '@shapes/core/flat';

const one = new Round(2);
draw(one);
"""
WHOLE = """\
import * as shapes from "shapes";
const two = 1 + 1;
shapes.circle(two).draw();
"""
REQUIRED = """\
const fs = require('fs');
const shapes = require('shapes');
const { draw, erase: clear } = require("shapes/flat");
fs.read();
shapes.circle(2);
draw();
"""
CALLED = """\
'use strict';
const shapes = require('shapes');
const sheet = shapes();
sheet.draw();
"""
NOT_CALLED = """\
import shapes from 'shapes';
render(shapes);
keep(shapes);
"""


@pytest.mark.parametrize(
    ("language", "code", "core", "first_of_body"),
    [
        (Language.JAVA, JAVA, "Circle", "List<Circle>"),
        (Language.JAVA, LICENSED, "Circle", "new Circle"),
        (Language.JAVA, JAVA_STAR, "Canvas", "public class"),
        (Language.CSHARP, CSHARP, "Canvas", "var canvas"),
        (Language.JAVASCRIPT, NAMED, "Round", "const one"),
        (Language.JAVASCRIPT, WHOLE, "circle", "const two"),
        (Language.JAVASCRIPT, REQUIRED, "circle", "fs.read"),
        (Language.JAVASCRIPT, CALLED, "shapes", "const sheet"),
        (Language.JAVASCRIPT, NOT_CALLED, None, "render"),
        (Language.JAVASCRIPT, "", None, ""),
        (Language.JAVA, "import org.shapes.flat.Circle;", None, ""),
    ],
)
def test_imports_are_told_from_what_uses_them(
    language: Language, code: str, core: str | None, first_of_body: str
) -> None:
    found = read_code(code, language, LIBRARY)
    assert found.head + found.body == code
    assert found.body.startswith(first_of_body)
    assert found.core == core


@given(st.sampled_from([Language.JAVA, Language.CSHARP, Language.JAVASCRIPT]), st.text(max_size=200))
def test_nothing_is_lost_whatever_the_text(language: Language, text: str) -> None:
    found = read_code(text, language, LIBRARY)
    assert found.head + found.body == text


def test_deep_nesting_is_no_recursion() -> None:
    code = "shapes(" * 5000 + ")" * 5000
    assert read_code(f"import {{ shapes }} from 'shapes';\n{code}", Language.JAVASCRIPT, LIBRARY).core == "shapes"


def snippet(code: str, language: Language = Language.JAVA) -> SnippetRow:
    return {"id": "s", "library": "shapes", "version": "2.1", "language": language, "code": code}


def test_the_core_token_is_hidden_in_the_imports_too() -> None:
    made = make_blocks([snippet(JAVA), snippet("import shapes\n", Language.PYTHON)], {"shapes": LIBRARY}, RULES)
    (row,) = made.rows
    table("block_completions").check(row)
    head = "import java.util.List;\nimport org.shapes.flat.[token-mask];\n\n"
    assert row["masked_code"] == f"{head}[block-mask]\n"
    assert row["masked_code"].replace("[token-mask]", row["core_token"]).replace("[block-mask]", row["answer"]) == JAVA
    assert made.rejects == []


@pytest.mark.parametrize(
    ("code", "libraries", "reason"),
    [
        (JAVA, {}, "unresolved_name"),
        ("import org.shapes.flat.Circle;\nnew Circle(2);\n", {"shapes": LIBRARY}, "no_block"),
        (JAVA + "next();\n" * 40, {"shapes": LIBRARY}, "too_long"),
        (JAVA + "// [block-mask]\n", {"shapes": LIBRARY}, "leaks_answer"),
        ("", {"shapes": LIBRARY}, "no_block"),
    ],
)
def test_what_is_refused(code: str, libraries: dict[str, LibraryNames], reason: str) -> None:
    made = make_blocks([snippet(code)], libraries, RULES)
    assert (made.rows, [reject.reason for reject in made.rejects]) == ([], [reason])
