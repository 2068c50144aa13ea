"""A made-up library of two releases whose changes no example decides, and what a good model writes about them."""

from __future__ import annotations

from typing import Any

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.corpus.usages.rules import UsageRules
from pipeline.families.problems.changed import change_context, changed_apis
from pipeline.families.problems.drafted import Unwritten
from pipeline.families.problems.library import Library
from pipeline.lake.rows import SnippetRow
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.tasks.rules import draft_rules
from tests.families.completions_and_migrations.rows import TAGGING, change, document, life, releases, symbol
from tests.families.problems.world import TAKE

SOURCES = {
    "1.0": """
def glue_up(parts, mark): return mark.join(parts)
def narrow(text, width, fill=" "): return text[:width].ljust(width, fill)
""",
    "1.1": """
def fuse(parts, mark): return mark.join(parts)
def narrow(text, width): return text[:width].ljust(width)
def chop(items, size): return [items[at:at + size] for at in range(0, len(items), size)]
""",
}
RENAMED = change(
    ChangeKind.RENAMED, "lib.glue_up", "1.0", "1.1", new="lib.fuse", gitchameleon_category="name"
)  # fmt: skip
INTRODUCED = change(
    ChangeKind.INTRODUCED, "lib.chop", "1.0", "1.1", breaking=False, gitchameleon_category="new_feature"
)  # fmt: skip
NARROWED = change(
    ChangeKind.PARAMETER_REMOVED, "lib.narrow", "1.0", "1.1", parameter="fill",
    gitchameleon_category="argument_or_attribute",
)  # fmt: skip
ANNOTATED = change(ChangeKind.RETURNS, "lib.narrow", "1.0", "1.1", gitchameleon_category="argument_or_attribute")
TABLES: Any = {
    "releases": releases("1.0", "1.1"),
    "snippets": [TAKE | {"path": "lib.chop"}],
    "rewrites": [],
    "symbols": [
        symbol("lib.glue_up", "1.0"), symbol("lib.fuse", "1.1"), symbol("lib.chop", "1.1"),
        symbol("lib.narrow", "1.0", "1.1"),
    ],
    "changes": [RENAMED, INTRODUCED, NARROWED, ANNOTATED],
    "lifecycles": [
        life("lib.glue_up", "1.0", "1.0", removed_in="1.1"), life("lib.fuse", "1.1", "1.1", introduced=True),
        life("lib.chop", "1.1", "1.1", introduced=True), life("lib.narrow", "1.0", "1.1", modified=["1.1"]),
    ],
    "documents": [
        document("lib.glue_up", "Put texts together.", "1.0"), document("lib.fuse", "Put texts together.", "1.1"),
        document("lib.chop", "Part items into lists of a size.", "1.1"),
        document("lib.narrow", "Cut a text.", "1.0", "1.1"),
    ],
    "api_documents": [],
    "verdicts": [],
}  # fmt: skip
KIND = draft_rules(RULES, load(RULES / "models.yaml", ModelRules)).problem
USAGE = load(RULES / "usage.yaml", UsageRules)

GOOD: dict[str, dict[str, Any]] = {
    "lib.chop": {
        "statement": "With lib, part items into lists of a given length, of which the last may be shorter.",
        "starting_code": "def solve(items, length):\n",
        "solution": "    from lib import chop\n    return chop(items, length)\n",
        "visible_test": "assert solve([1, 2, 3], 2) == [[1, 2], [3]]\n",
        "hidden_tests": (
            "from solution import solve\n\n\ndef test_type():\n    assert isinstance(solve([1], 1), list)\n\n\n"
            "def test_parts():\n    assert solve([1, 2, 3], 2) == [[1, 2], [3]]\n\n\n"
            "def test_nothing():\n    assert solve([], 3) == []\n\n\n"
            "def test_whole():\n    assert solve([1, 2, 3], 3) == [[1, 2, 3]]\n\n\n"
            "def test_fewer():\n    assert solve([1, 2], 2) == [[1, 2]]\n"
        ),
        "other_solution": "",
    },
    "lib.fuse": {
        "statement": "With lib, put texts together into one, with a mark between each two of them.",
        "starting_code": "def solve(texts, mark):",
        "solution": "    from lib import fuse\n    return fuse(texts, mark)",
        "visible_test": "assert solve(['a', 'b'], '-') == 'a-b'",
        "hidden_tests": (
            "from solution import solve\ndef test_two():\n    assert solve(['a', 'b'], '-') == 'a-b'\n"
            "def test_one():\n    assert solve(['a'], '-') == 'a'\ndef test_none():\n    assert solve([], '-') == ''\n"
            "def test_mark():\n    assert solve(['a', 'b'], '') == 'ab'\n"
        ),
        "other_solution": "    from lib import glue_up\n    return glue_up(texts, mark)",
    },
    "lib.narrow": {
        "statement": "With lib, cut a text to a width, and put stars after one that is too short for it.",
        "starting_code": "import lib\n\n\ndef solve(text, width):\n",
        "solution": "    return lib.narrow(text, width, fill='*')\n",
        "visible_test": "assert solve('ab', 3) == 'ab*'\n",
        "hidden_tests": (
            "from solution import solve\ndef test_short():\n    assert solve('ab', 4) == 'ab**'\n"
            "def test_long():\n    assert solve('abc', 2) == 'ab'\ndef test_empty():\n    assert solve('', 1) == '*'\n"
            "def test_wide():\n    assert solve('ab', 3) == 'ab*'\ndef test_other():\n    assert solve('c', 4) == 'c***'\n"
        ),
        "other_solution": "",
    },
}
"""By path of the core API."""


def library() -> Library:
    others = {name: rows for name, rows in TABLES.items() if name not in ("snippets", "rewrites")}
    return Library(**others, tagging=TAGGING, usage=USAGE)


def unwritten(path: str, snippets: list[SnippetRow] | None = None) -> Unwritten:
    """What a model is asked for about the change of a path."""
    known = library()
    changed, _ = changed_apis([RENAMED, INTRODUCED, NARROWED], known, KIND)
    (one,) = [each for each in changed if each.path == path]
    return Unwritten(one, change_context(one, known, snippets or TABLES["snippets"], "solve", KIND), known)
