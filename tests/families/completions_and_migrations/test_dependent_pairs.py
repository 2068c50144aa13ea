"""Functions of dependents become migrations where a change of the library is all that lies between their forms."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.lake.stage import Output
from tests.families.completions_and_migrations.rows import change
from tests.families.completions_and_migrations.rows import snippet as unchecked
from tests.families.completions_and_migrations.test_migrations import run

HEAD = "from lib import fetch\n"
OLD = "def read(name):\n    rows = fetch(name)\n    return rows\n"
NEW = OLD.replace("fetch", "load")
REMOVED = change(ChangeKind.REMOVED, "lib.fetch", "1.1.0", "2.0.0")


def form(version: str, code: str, **columns: Any) -> Any:
    """A function of the package `user` in its release for a release of the library."""
    preamble = f"from lib import {'load' if 'load' in code else 'fetch'}\n"
    own = {"preamble": preamble, "source": SnippetSource.DOWNSTREAM, "origin": "pypi:user", "example_of": []}
    place = {"place": f"pkg:pypi/user@{version}", "file": "user/core.py"}
    return {**unchecked(code, "", version), "path": None, **own, **place, **columns}


def pairs(old: str, new: str, changes: Any = (REMOVED,), **columns: Any) -> Output:
    return run([form("1.0.0", old), form("2.0.0", new, **columns)], changes)


def test_both_forms_are_a_migration_in_both_directions() -> None:
    rows = {row["direction"]: row for row in pairs(OLD, NEW).tables["migrations"]}
    up, down = rows["old_to_new"], rows["new_to_old"]
    assert (up["source_code"], up["target_code"]) == (HEAD + OLD, HEAD.replace("fetch", "load") + NEW)
    assert (up["source_name"], up["target_name"], up["basis"]) == ("fetch", "load", "dependent_changed")
    assert (up["version"], up["target_version"], up["change_id"]) == ("1.0.0", "2.0.0", REMOVED["id"])
    assert (down["source_code"], down["change_id"]) == (up["target_code"], REMOVED["id"])


def test_who_moved_early_is_asked_for_the_release_that_breaks() -> None:
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
        (OLD, NEW.replace("    return", "    print(rows)\n    return"), [REMOVED], "unchanged"),
        (OLD, OLD.replace("fetch(name)", "open(name)") + "\n\nfetch\n", [REMOVED], None),
        (OLD, "def read(name):\n    load(1)\n" + "    load(load(name), load(name), load(name))\n" * 9, [REMOVED], "no_partner"),
    ],
)  # fmt: skip
def test_refused(old: str, new: str, changes: Any, reason: str | None) -> None:
    output = pairs(old, new, changes)
    key = f"{form('1.0.0', old)['id']} {form('2.0.0', new)['id']}"
    assert [row for row in output.tables["migrations"] if row["basis"] == "dependent_changed"] == []
    assert [str(reject.reason) for reject in output.rejects if reject.key == key] == [reason] * bool(reason)


def test_what_leaves_the_library_has_no_partner() -> None:
    old = OLD.replace("return rows", "return load(rows)")
    output = pairs(
        old, NEW.replace("rows = load(name)", "rows = open(name)").replace("return rows", "return load(rows)")
    )
    assert [(str(reject.reason), reject.detail) for reject in output.rejects if " " in reject.key][:1] == [
        ("no_partner", "nothing of the library takes the place of lib.fetch")
    ]


QUOTE = "try:\n    from urllib.parse import quote\nexcept ImportError:\n    from urllib import quote\n"


def test_lines_with_what_is_imported_otherwise_belong_to_the_change() -> None:
    old = OLD.replace("return rows", "return quote(rows)")
    new = NEW.replace("return rows", "return quote(rows, '')")
    output = run(
        [
            form("1.0.0", old, preamble="from lib import fetch\nfrom werk import quote\n"),
            form("2.0.0", new, preamble=f"from lib import load\n{QUOTE}"),
        ],
        [REMOVED],
    )
    assert {row["basis"] for row in output.tables["migrations"]} == {"dependent_changed"}
