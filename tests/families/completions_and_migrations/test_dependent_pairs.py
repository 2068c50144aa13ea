"""Functions of dependents become migrations where a change of the library is all that lies between their forms."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pipeline.api.history.tags import Tags
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.families.completions_and_migrations.dependent_pairs import changed_dependents
from pipeline.families.completions_and_migrations.history import History
from pipeline.lake.stage import Output, Reject
from tests.families.completions_and_migrations.rows import TAGGING, change, releases, symbol, usages
from tests.families.completions_and_migrations.rows import snippet as unchecked
from tests.families.completions_and_migrations.test_migrations import MASKING, NAMES, run, snippet

HEAD = "from lib import fetch\n"
OLD = "def read(name):\n    rows = fetch(name)\n    return rows\n"
NEW = OLD.replace("fetch", "load")
OLD_EXAMPLE = snippet("x = fetch(1)\n", "lib.fetch", "1.0.0", "1.1.0")
NEW_EXAMPLE = snippet("x = load(1)\n", "lib.load", "2.0.0")
REMOVED_FOR_LOAD = change(ChangeKind.REMOVED, "lib.fetch", "1.1.0", "2.0.0", replacement=":func:`load` instead")
REMOVED = change(ChangeKind.REMOVED, "lib.fetch", "1.1.0", "2.0.0")


def form(version: str, code: str, **columns: Any) -> Any:
    """A function of the package `user` in its release for a release of the library."""
    preamble = f"from lib import {'load' if 'load' in code else 'fetch'}\n"
    own = {"preamble": preamble, "source": SnippetSource.DOWNSTREAM, "origin": "pypi:user", "example_of": []}
    place = {"place": f"pkg:pypi/user@{version}", "file": "user/core.py"}
    return {**unchecked(code, "", version), "path": None, **own, **place, **columns}


def pairs(old: str, new: str, changes: Any = (REMOVED,), **columns: Any) -> Output:
    return run([form("1.0.0", old), form("2.0.0", new, **columns)], changes)


def test_both_forms_are_a_migration_upwards() -> None:
    (up,) = pairs(OLD, NEW).tables["migrations"]
    assert (up["source_code"], up["target_code"]) == (HEAD + OLD, HEAD.replace("fetch", "load") + NEW)
    assert (up["source_name"], up["target_name"], up["basis"]) == ("fetch", "load", "dependent_changed")
    assert (up["version"], up["target_version"], up["change_id"]) == ("1.0.0", "2.0.0", REMOVED["id"])
    assert up["direction"] == "old_to_new"


def test_the_target_of_an_early_move_is_the_release_that_breaks() -> None:
    output = run([form("1.0.0", OLD), form("1.1.0", NEW)], [REMOVED])
    rows = [row for row in output.tables["migrations"] if row["direction"] == "old_to_new"]
    assert [(row["version"], row["target_version"]) for row in rows] == [("1.0.0", "2.0.0")]


@pytest.mark.parametrize(
    ("old", "new", "changes", "reason"),
    [
        (OLD, NEW, [], "unchanged"),
        (OLD, NEW, [change(ChangeKind.REMOVED, "lib.send", "1.1.0", "2.0.0")], "unchanged"),
        (OLD, NEW, [change(ChangeKind.REMOVED, "lib.fetch", "0.9", "1.0.0")], "unchanged"),
        (OLD, NEW, [change(ChangeKind.PARAMETER_REMOVED, "lib.fetch", "1.1.0", "2.0.0", parameter="a")], "unchanged"),
        (OLD, NEW.replace("return rows", "return list(rows)"), [REMOVED], "unchanged"),
        (OLD + "    textwidth(rows)\n", NEW + "    textwidth(rows)\n", [REMOVED], "broken_example"),
        (OLD, NEW.replace("    return", "    print(rows)\n    return"), [REMOVED], "unchanged"),
        (OLD, "def read(name):\n    load(1)\n" + "    load(load(name), load(name), load(name))\n" * 9, [REMOVED], "no_partner"),
    ],
)  # fmt: skip
def test_refused(old: str, new: str, changes: Any, reason: str) -> None:
    output = pairs(old, new, changes)
    key = f"{form('1.0.0', old)['id']} {form('2.0.0', new)['id']}"
    assert [row for row in output.tables["migrations"] if row["basis"] == "dependent_changed"] == []
    assert [str(reject.reason) for reject in output.rejects if reject.key == key] == [reason]


def test_what_leaves_the_library_has_no_partner() -> None:
    old = OLD.replace("return rows", "return load(rows)")
    output = pairs(
        old, NEW.replace("rows = load(name)", "rows = open(name)").replace("return rows", "return load(rows)")
    )
    assert [(str(reject.reason), reject.detail) for reject in output.rejects if " " in reject.key][:1] == [
        ("no_partner", "nothing of the library takes the place of lib.fetch")
    ]


def test_the_new_form_uses_nothing_that_the_target_lacks() -> None:
    symbols = [symbol(path, "1.0.0", "1.1.0") for path in ("lib.fetch", "lib.load")]
    history = History(releases("1.0.0", "1.1.0", "2.0.0"), symbols, [], Tags([], TAGGING).at)
    forms = [form("1.0.0", OLD), form("1.1.0", NEW)]
    uses = {row["id"]: usages(row, NAMES) for row in forms}
    (refused,) = changed_dependents(forms, uses, [REMOVED], history, MASKING.migration)
    assert isinstance(refused, Reject)
    assert (refused.reason, refused.detail) == ("no_partner", "2.0.0 has no lib.load, which the new form uses")


def test_a_fallback_for_the_other_release_is_no_answer_for_one() -> None:
    preamble = "try:\n    from lib import load\nexcept ImportError:\n    from lib import fetch as load\n"
    output = run([form("1.0.0", OLD), form("2.0.0", NEW, preamble=preamble)], [REMOVED])
    assert [row for row in output.tables["migrations"] if row["basis"] == "dependent_changed"] == []


TO_SEND = OLD.replace("rows = fetch(name)", "rows = send(fetch(name))")


@pytest.mark.parametrize(
    ("old", "new", "changes", "preamble", "refusal"),
    [
        # what came is not why the old form was left
        (OLD, OLD.replace("fetch(name)", "load(fetch(name))"), [change(ChangeKind.INTRODUCED, "lib.load", "1.1.0", "2.0.0")], "", "unchanged"),
        # nor is a break of what the new form uses
        (OLD, NEW, [change(ChangeKind.REMOVED, "lib.load", "2.0.0", "2.0.0")], "", "unchanged"),
        (OLD, NEW.replace("load(name)", "load(quote(name))"), [REMOVED], "from urllib.parse import quote\n", "other_cause"),
    ],
)  # fmt: skip
def test_what_is_no_migration(old: str, new: str, changes: Any, preamble: str, refusal: str) -> None:
    imported = preamble + "from lib import fetch, load\n"
    output = run(
        [form("1.0.0", old, preamble="from lib import fetch, load\n"), form("2.0.0", new, preamble=imported)], changes
    )
    assert [row for row in output.tables["migrations"] if row["basis"] == "dependent_changed"] == []
    reasons = [str(each.reason) for each in output.rejects if len(each.key.split()) == 2]
    assert reasons == [refusal]


def test_the_core_is_what_the_change_is_about() -> None:
    old, new = TO_SEND, OLD.replace("rows = fetch(name)", "rows = _load(load(name))")
    names = {"preamble": "from lib import _load, fetch, load, send\n"}
    output = run(
        [form("1.0.0", old, **names), form("2.0.0", new, **names)],
        [change(ChangeKind.REMOVED, "lib.send", "1.1.0", "2.0.0")],
    )
    (up,) = (row for row in output.tables["migrations"] if row["direction"] == "old_to_new")
    assert up["path"] == "lib.send"


def test_examples_have_their_own_quota() -> None:
    forms = [
        form(version, code, origin=f"pypi:user{number}", preamble=f"from lib import fetch, load\nX = {number}\n")
        for number in range(4)
        for version, code in (("1.0.0", OLD), ("2.0.0", NEW))
    ]
    output = run([*forms, OLD_EXAMPLE, NEW_EXAMPLE], [REMOVED_FOR_LOAD])
    counted = Counter(row["basis"] for row in output.tables["migrations"] if row["direction"] == "old_to_new")
    assert counted == {"dependent_changed": 3, "replacement": 1}
