"""A made-up library of two releases, as the earlier stages see it: what came, what was renamed, what behaves otherwise."""

from __future__ import annotations

from typing import Any

from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.running import Outcome, VerdictRole
from tests.families.completions_and_migrations.rows import change, document, life, releases, symbol, verdict
from tests.families.problems.examples import example

RELEASES = releases("1.0", "1.1")
TAKE = example(
    ">>> from lib import take\n>>> take([1, 2, 3], 2)\n[1, 2]\n>>> take('abc', 1)\n'a'\n>>> take([1], -5)\n[99]\n",
    "lib.take",
)
SHOUT = example(">>> from lib import shout\n>>> shout('abc')\n'ABC!'\n>>> shout('')\n'!'\n", "lib.shout")
SAME = example(">>> import lib\n>>> lib.same('ab')\n['a', 'b']\n", "lib.same", "1.0", "1.1")
READ = example(">>> import lib\n>>> lib.read('1,2')\n['1', '2']\n", "lib.read")
READ_IT = example(">>> import lib\n>>> lib.read_it('1,2')\n['1', '2']\n", "lib.read_it", "1.0")
WRONG = example(">>> from lib import steady\n>>> steady(1)\n7\n", "lib.steady")
DRIFTING = example(">>> from lib import steady\n>>> n = 4\n>>> steady(n)\n4\n>>> steady(5)\n5\n", "lib.steady")
RENAMED = change(ChangeKind.RENAMED, "lib.read_it", "1.0", "1.1", new="lib.read", gitchameleon_category="name")
INTRODUCED = change(ChangeKind.INTRODUCED, "lib.take", "1.0", "1.1", gitchameleon_category="new_feature")
MODIFIED = change(
    ChangeKind.PARAMETER_ADDED_OPTIONAL, "lib.same", "1.0", "1.1", parameter="key",
    gitchameleon_category="argument_or_attribute",
)  # fmt: skip
TABLES: Any = {
    "releases": RELEASES,
    "snippets": [TAKE, SHOUT, SAME, READ, READ_IT, WRONG, DRIFTING],
    "rewrites": [],
    "symbols": [
        symbol("lib.take", "1.1"), symbol("lib.shout", "1.0", "1.1"), symbol("lib.same", "1.0", "1.1"),
        symbol("lib.read_it", "1.0"), symbol("lib.read", "1.1"), symbol("lib.steady", "1.1"),
    ],
    "changes": [RENAMED, INTRODUCED, MODIFIED],
    "lifecycles": [
        life("lib.take", "1.1", "1.1", introduced=True), life("lib.shout", "1.0", "1.1"),
        life("lib.same", "1.0", "1.1", modified=["1.1"]), life("lib.read_it", "1.0", "1.0", removed_in="1.1"),
        life("lib.read", "1.1", "1.1", introduced=True), life("lib.steady", "1.1", "1.1", introduced=True),
    ],
    "documents": [
        document("lib.take", "Return the first items.", "1.1"), document("lib.shout", "Make a text loud.", "1.0", "1.1"),
        document("lib.same", "Return the items in a list.", "1.0", "1.1"), document("lib.read", "Split up a text.", "1.1"),
        document("lib.steady", "Return the number itself.", "1.1"),
    ],
    "api_documents": [],
    "verdicts": [verdict(SHOUT["id"], "1.0", Outcome.FAILED_ASSERTION, VerdictRole.OTHER_VERSION)],
}  # fmt: skip

METHODS = {
    "1.0": "class Info:\n    @classmethod\n    def isvalid(cls, text): return text.startswith('<')\n",
    "1.1": "class Page:\n    @classmethod\n    def is_valid(cls, text): return text.startswith('<')\n\nInfo = Page\n",
}
OF_METHODS: Any = {
    "symbols": [
        symbol("lib.Info", "1.0", kind="class"),
        symbol("lib.Info.isvalid", "1.0", kind="method", labels=["classmethod"]),
        symbol("lib.Page", "1.1", kind="class"),
        symbol("lib.Page.is_valid", "1.1", kind="method", labels=["classmethod"]),
        symbol("lib.Info", "1.1", canonical="lib.Page", kind="alias"),
    ],
    "lifecycles": [
        life("lib.Info.isvalid", "1.0", "1.0", removed_in="1.1"),
        *(life(path, "1.1", "1.1", introduced=True) for path in ("lib.Page", "lib.Page.is_valid")),
    ],
    "changes": [change(ChangeKind.RENAMED, "lib.Info.isvalid", "1.0", "1.1", new="lib.Info.is_valid")],
    "documents": [document("lib.Page.is_valid", "Say whether a text is a page.", "1.1")],
    "verdicts": [],
}
