"""Which snippets of two releases are paired for migration, and what the rows say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.api.history.tags import Tags
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import MigrationBasis, VersionPattern
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.completions_and_migrations.migrations import both_directions, version_pattern
from pipeline.families.completions_and_migrations.pairs import Pair, Side, core_paths
from pipeline.families.completions_and_migrations.replacements import resolve
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.stage import instances_stage
from pipeline.lake.rows import ChangeRow, LifecycleRow, SnippetCheck, SnippetRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output, Reject
from tests.families.completions_and_migrations.rows import (
    CODEMODS,
    EXECUTABLE_SOURCES,
    TAGGING,
    change,
    life,
    releases,
    symbol,
    usages,
)
from tests.families.completions_and_migrations.rows import snippet as unchecked

MASKING = load(RULES / "masking.yaml", MaskingRules)
NAMES = {"fetch": "lib.fetch", "load": "lib.load", "send": "lib.send", "_load": "lib._load"}
LIVES = [life(path, "1.0.0", "2.0.0") for path in NAMES.values()]
CHANGED = [change(ChangeKind.KIND, NAMES[name], "1.1.0", "2.0.0") for name in ("fetch", "load")]


def snippet(
    code: str, path: str, first: str, last: str | None = None, outputs: Sequence[str | None] = ("7\n",), **columns: Any
) -> SnippetRow:
    """An example that states outputs."""
    checks: list[SnippetCheck] = [{"statement": code, "expected": output, "options": []} for output in outputs]
    row: SnippetRow = unchecked(code, path, first, last, checks=checks, **columns)
    return row


def run(
    snippets: Sequence[SnippetRow], changes: Sequence[ChangeRow] = CHANGED, lives: Sequence[LifecycleRow] = LIVES
) -> Output:
    """Run the stage over three releases; only migrations are of interest here."""
    found = [use for row in snippets for use in usages(row, NAMES)]
    symbols = [symbol(path, "1.0.0", "2.0.0") for path in NAMES.values()]
    output = instances_stage(
        {
            "releases": releases("1.0.0", "1.1.0", "2.0.0"),
            "snippets": snippets,
            "usages": found,
            "symbols": symbols,
            "changes": changes,
            "lifecycles": lives,
        },
        TAGGING,
        MASKING,
        {},
        CODEMODS,
        EXECUTABLE_SOURCES,
    )
    for row in output.tables["migrations"]:
        table("migrations").check(row)
    return output


REASONS = (*("no_partner", "same_code", "no_use", "duplicate", "over_quota", "other_output", "no_check", "unchanged"),)


def reasons(output: Output) -> list[str]:
    """The reasons for which pairs were refused."""
    return sorted(r.reason for r in output.rejects if r.reason in REASONS)


OLD = snippet("x = fetch(1, mode='a')\nprint(x)\n", "lib.fetch", "1.0.0", "1.1.0")
NEW = snippet("x = fetch(1, how='a')\nprint(x)\n", "lib.fetch", "2.0.0")


def test_a_changed_example_makes_an_upgrade_and_a_downgrade() -> None:
    made = {row["direction"]: row for row in run([OLD, NEW]).tables["migrations"]}
    up, down = made["old_to_new"], made["new_to_old"]
    assert (up["version"], up["target_version"], up["pattern"], up["basis"]) == (
        "1.1.0",
        "2.0.0",
        "minor_to_major",
        "example_changed",
    )
    assert (up["source_code"], up["target_code"]) == (OLD["code"], NEW["code"])
    assert (up["snippet_id"], up["target_snippet_id"]) == (OLD["id"], NEW["id"])
    assert (up["source_name"], up["target_name"], up["path"], up["target_path"]) == (
        "fetch",
        "fetch",
        "lib.fetch",
        "lib.fetch",
    )
    assert (down["version"], down["target_version"], down["pattern"]) == ("2.0.0", "1.1.0", "major_to_minor")
    assert (down["source_code"], down["target_code"]) == (NEW["code"], OLD["code"])
    assert down["previous_version"] == "1.1.0"
    assert up["target_release_time"] == down["release_time"]
    assert up["pair_id"] == down["pair_id"] not in (up["id"], down["id"])


def test_each_example_is_paired_with_the_most_similar_one() -> None:
    other_old = snippet("for item in load('file'):\n    print(item)\n", "lib.fetch", "1.0.0", "1.1.0")
    other_new = snippet("for item in load('path'):\n    print(item)\n", "lib.fetch", "2.0.0")
    made = run([other_new, OLD, NEW, other_old]).tables["migrations"]
    pairs = {(row["snippet_id"], row["target_snippet_id"]) for row in made if row["direction"] == "old_to_new"}
    assert pairs == {(OLD["id"], NEW["id"]), (other_old["id"], other_new["id"])}
    assert len({row["pair_id"] for row in made}) == 2


def test_an_api_that_lives_on_as_an_alias_is_paired_with_the_example_under_its_new_path() -> None:
    old = snippet("x = lib.fetch(1)\n", "lib.Info.fetch", "1.0.0", "1.1.0")
    new = snippet("x = lib.load(1)\n", "lib.Data.fetch", "2.0.0")
    symbols = [
        symbol("lib.Info", "2.0.0", canonical="lib.core.Data", kind=SymbolKind.ALIAS),
        symbol("lib.Data", "2.0.0", canonical="lib.core.Data", kind=SymbolKind.CLASS),
    ]
    found = [use for row in (old, new) for use in usages(row, NAMES)]
    output = instances_stage(
        {
            "releases": releases("1.0.0", "1.1.0", "2.0.0"),
            "snippets": [old, new],
            "usages": found,
            "symbols": symbols,
            "changes": [*CHANGED, change(ChangeKind.INTRODUCED, "lib.Data", "1.1.0", "2.0.0")],
            "lifecycles": LIVES,
        },
        TAGGING,
        MASKING,
        {},
        CODEMODS,
        EXECUTABLE_SOURCES,
    )
    assert {(row["source_name"], row["target_name"]) for row in output.tables["migrations"]} == {
        ("fetch", "load"),
        ("load", "fetch"),
    }


REFUSED = {
    "comments and layout": (
        snippet("x = fetch( 1, mode='a' )  # as before\nprint(x)\n", "lib.fetch", "2.0.0"),
        "same_code",
    ),
    "names of variables": (snippet("y = fetch(1, mode='a')\nprint(y)\n", "lib.fetch", "2.0.0"), "same_code"),
    "order of statements": (snippet("print(x)\nx = fetch(1, mode='a')\n", "lib.fetch", "2.0.0"), "same_code"),
    "another output": (
        snippet("x = fetch(1, how='a')\nprint(x)\n", "lib.fetch", "2.0.0", outputs=["8\n"]),
        "other_output",
    ),
    "one more output": (
        snippet("x = fetch(1, how='a')\nfetch(2)\nprint(x)\n", "lib.fetch", "2.0.0", outputs=["7\n", "7\n"]),
        "other_output",
    ),
    "one more statement": (
        snippet("x = fetch(1, how='a')\nprint(x)\nprint('done')\n", "lib.fetch", "2.0.0"),
        "unchanged",
    ),
    "an API that is as before": (
        snippet("x = fetch(1, mode='a')\nprint(x)\nsend(x)\n", "lib.fetch", "2.0.0"),
        "unchanged",
    ),
    "an entirely other example": (
        snippet("with open('z') as q:\n    w = [fetch(v) for v in q if v.strip().isdigit()]\n", "lib.fetch", "2.0.0"),
        "no_partner",
    ),
    "an example without the library": (snippet("x = 1, 'mode a'\nprint(x)\n", "lib.fetch", "2.0.0"), "no_use"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_migration(case: str) -> None:
    new, reason = REFUSED[case]
    output = run([OLD, new])
    assert reasons(output) == [reason]
    assert not output.tables["migrations"]


def test_an_example_without_a_partner() -> None:
    assert reasons(run([OLD])) == ["no_partner"]


def test_examples_without_stated_outputs_show_no_equivalence() -> None:
    without = [snippet(row["code"], "lib.fetch", row["version"], row["last_version"], [None]) for row in (OLD, NEW)]
    assert reasons(run(without)) == ["no_check"]


UNRELATED = {
    "no change": [],
    "an annotation": [change(ChangeKind.RETURNS, "lib.fetch", "1.1.0", "2.0.0")],
    "an earlier release": [change(ChangeKind.KIND, "lib.fetch", "1.0.0", "1.1.0")],
    "another API": [change(ChangeKind.KIND, "lib.send", "1.1.0", "2.0.0")],
}


@pytest.mark.parametrize("case", UNRELATED)
def test_an_edited_example_is_no_migration_without_a_change_of_its_api(case: str) -> None:
    assert reasons(run([OLD, NEW], UNRELATED[case])) == ["unchanged"]


def test_a_change_of_the_class_is_one_of_its_members() -> None:
    introduced = change(ChangeKind.INTRODUCED, "lib", "1.1.0", "2.0.0")
    assert len(run([OLD, NEW], [introduced]).tables["migrations"]) == 2


def test_releases_with_a_gap_between_are_not_paired() -> None:
    old, new = snippet("fetch(1)\n", "lib.fetch", "1.0.0"), snippet("fetch(2)\n", "lib.fetch", "2.0.0")
    rows = [*releases("1.0.0"), *releases("2.0.0", before="1.5.0")]
    found = [use for row in (old, new) for use in usages(row, NAMES)]
    output = instances_stage(
        {"releases": rows, "snippets": [old, new], "usages": found, "symbols": [], "changes": [], "lifecycles": LIVES},
        TAGGING,
        MASKING,
        {},
        CODEMODS,
        EXECUTABLE_SOURCES,
    )
    assert not output.tables["migrations"]


def test_a_rename_connects_the_examples_of_both_paths() -> None:
    old, new = snippet("x = fetch(1)\n", "lib.fetch", "1.0.0", "1.1.0"), snippet("x = load(1)\n", "lib.load", "2.0.0")
    renamed = change(ChangeKind.RENAMED, "lib.fetch", "1.1.0", "2.0.0", new="lib.load", confidence=0.8)
    lives = [
        life("lib.fetch", "1.0.0", "1.1.0", removed_in="2.0.0"),
        life("lib.load", "2.0.0", "2.0.0", introduced=True),
    ]
    made = {row["direction"]: row for row in run([old, new], [renamed], lives).tables["migrations"]}
    up, down = made["old_to_new"], made["new_to_old"]
    assert (up["source_name"], up["target_name"], up["basis"]) == ("fetch", "load", "renamed")
    assert (up["libevolutioneval_tag"], down["libevolutioneval_tag"]) == ("deprecated", "introduced")
    assert up["change_id"] == down["change_id"] == renamed["id"]


@pytest.mark.parametrize(
    ("old", "new", "directions"),
    [
        ("from lib import fetch\nx = fetch(1)\n", "load", {"old_to_new", "new_to_old"}),
        ("from lib import fetch as load\nx = fetch(1)\n", "load", {"new_to_old"}),
        ("from lib import fetch as other\nx = fetch(1)\n", "load", {"old_to_new", "new_to_old"}),
        ("from lib import fetch\nx = fetch(1)\n", "_load", {"new_to_old"}),
    ],
)
def test_the_target_name_is_no_alias_and_not_private(old: str, new: str, directions: set[str]) -> None:
    rows = [
        snippet(old, "lib.fetch", "1.0.0", "1.1.0"),
        snippet(f"from lib import {new}\nx = {new}(1)\n", f"lib.{new}", "2.0.0"),
    ]
    renamed = change(ChangeKind.RENAMED, "lib.fetch", "1.1.0", "2.0.0", new=f"lib.{new}", confidence=0.8)
    lives = [
        life("lib.fetch", "1.0.0", "1.1.0", removed_in="2.0.0"),
        life(f"lib.{new}", "2.0.0", "2.0.0", introduced=True),
    ]
    assert {row["direction"] for row in run(rows, [renamed], lives).tables["migrations"]} == directions


def _of_a_type(row: SnippetRow) -> SnippetRow:
    statements = [("x = A()", None), ("print(type(x).__name__)", "A\n")]
    checks: Any = [{"statement": each, "expected": expected, "options": []} for each, expected in statements]
    return {**row, "checks": checks}


def test_a_migration_that_displays_only_a_type_is_refused() -> None:
    lives = [life("lib.old.A", "1.0.0", "1.0.0"), life("lib.new.A", "2.0.0", "2.0.0")]
    history = History(releases("1.0.0", "2.0.0", before="0.9"), [], [], Tags(lives, TAGGING).at)
    old, new = (
        Side(_of_a_type(snippet(f"from {path} import A\n", f"{path}.A", version)), version, f"{path}.A")
        for path, version in (("lib.old", "1.0.0"), ("lib.new", "2.0.0"))
    )
    results = list(both_directions(Pair(old, new, MigrationBasis.RENAMED, 1.0, change_id="a"), history))
    assert [each.reason for each in results if isinstance(each, Reject)] == [RejectReason.NO_CHECK] * 2


@pytest.mark.parametrize(
    ("before", "directions"),
    [
        ("size = 3\nx = fetch({}=size)\n", {"new_to_old"}),
        ("length = 3\nx = fetch({}=length)\n", {"old_to_new"}),
        ("def f(size):\n    return fetch({}=size)\nx = f(3)\n", {"new_to_old"}),
        ("number = 3\nx = fetch({}=number)\n", {"old_to_new", "new_to_old"}),
        ("import size\nx = fetch({}=size.number)\n", {"old_to_new", "new_to_old"}),
    ],
)
def test_a_variable_with_the_new_name_of_a_parameter_refuses_a_migration(before: str, directions: set[str]) -> None:
    lives = [life("lib.fetch", "1.0.0", "2.0.0")]
    history = History(releases("1.0.0", "2.0.0", before="0.9"), [], [], Tags(lives, TAGGING).at)
    programs = (f"from lib import fetch\n{before.format(name)}" for name in ("length", "size"))
    versions = ("1.0.0", "2.0.0")
    old, new = (
        Side(snippet(program, "lib.fetch", version), version, "lib.fetch")
        for program, version in zip(programs, versions, strict=True)
    )
    results = list(both_directions(Pair(old, new, MigrationBasis.PARAMETERS, 1.0, change_id="a"), history))
    assert {each["direction"] for each in results if not isinstance(each, Reject)} == directions
    assert {each.reason for each in results if isinstance(each, Reject)} <= {RejectReason.LEAKS_ANSWER}


@pytest.mark.parametrize(
    ("more", "directions"),
    [
        ("print(x._rows)", {"new_to_old"}),
        ("print(x.rows)", {"old_to_new", "new_to_old"}),
        ("x._rows = 1\nprint(x._rows)", {"old_to_new", "new_to_old"}),
    ],
)
def test_a_private_attribute_that_the_source_does_not_have_is_no_target(more: str, directions: set[str]) -> None:
    lives = [life("lib.fetch", "1.0.0", "1.0.0"), life("lib.load", "2.0.0", "2.0.0")]
    history = History(releases("1.0.0", "2.0.0", before="0.9"), [], [], Tags(lives, TAGGING).at)
    old = Side(snippet("x = fetch(1)\nprint(x.rows)\n", "lib.fetch", "1.0.0"), "1.0.0", "lib.fetch")
    new = Side(snippet(f"x = load(1)\n{more}\n", "lib.load", "2.0.0"), "2.0.0", "lib.load")
    pair = Pair(old, new, MigrationBasis.TEST_CHANGED, 1.0, change_id="a")
    made = [each for each in both_directions(pair, history) if not isinstance(each, Reject)]
    assert {row["direction"] for row in made} == directions


@pytest.mark.parametrize("kind", [ChangeKind.REMOVED, ChangeKind.DEPRECATED])
def test_a_stated_replacement_connects_the_examples(kind: ChangeKind) -> None:
    old, new = (
        snippet("x = fetch(1)\n", "lib.fetch", "1.0.0", "1.1.0"),
        snippet("x = load(1)\n", "lib.load", "1.0.0", "2.0.0"),
    )
    stated = change(kind, "lib.fetch", "1.1.0", "2.0.0", replacement=":func:`load` instead")
    made = run([old, new], [stated]).tables["migrations"]
    assert {(row["basis"], row["source_name"], row["target_name"]) for row in made} == {
        ("replacement", "fetch", "load"),
        ("replacement", "load", "fetch"),
    }


def test_a_removal_takes_the_replacement_that_an_earlier_mark_stated() -> None:
    old, new = (
        snippet("x = fetch(1)\n", "lib.fetch", "1.0.0", "1.1.0"),
        snippet("x = load(1)\n", "lib.load", "1.0.0", "2.0.0"),
    )
    lives = [life("lib.fetch", "1.0.0", "1.1.0", removed_in="2.0.0", replacement="load"), LIVES[1]]
    output = run([old, new], [change(ChangeKind.REMOVED, "lib.fetch", "1.1.0", "2.0.0")], lives)
    assert len(output.tables["migrations"]) == 2


UNCONNECTED = {
    "the replacement is not in the library": ("other.thing", [OLD, NEW], "no_partner"),
    "no example of the replacement": ("send", [OLD], "no_partner"),
    "one example of both": ("load", [snippet("x = fetch(load(1))\n", "lib.fetch", "1.0.0", "2.0.0")], "same_code"),
}


@pytest.mark.parametrize("case", UNCONNECTED)
def test_a_replacement_without_examples(case: str) -> None:
    words, snippets, reason = UNCONNECTED[case]
    stated = change(ChangeKind.DEPRECATED, "lib.fetch", "1.1.0", "2.0.0", replacement=words)
    output = run(snippets, [stated])
    assert reason in reasons(output)
    assert not [row for row in output.tables["migrations"] if row["basis"] == "replacement"]


def test_the_same_pair_by_two_ways_is_there_once() -> None:
    twice = [change(ChangeKind.DEPRECATED, "lib.fetch", "1.1.0", "2.0.0", replacement="load")]
    twice.append(change(ChangeKind.RENAMED, "lib.fetch", "1.1.0", "2.0.0", new="lib.load"))
    old, new = snippet("x = fetch(1)\n", "lib.fetch", "1.0.0", "1.1.0"), snippet("x = load(1)\n", "lib.load", "2.0.0")
    output = run([old, new], twice)
    assert {row["basis"] for row in output.tables["migrations"]} == {"renamed"}
    assert reasons(output).count("duplicate") == 2


def test_of_many_pairs_the_most_alike_are_kept() -> None:
    # Each pair is told from the others by its digit, and the nth differs in n more words.
    olds = [snippet(f"x = fetch({str(n) * 30}, 'a')\nprint(x)\n", "lib.fetch", "1.0.0", "1.1.0") for n in range(5)]
    news = [snippet(f"x = fetch({str(n) * 30}, 'b{' more' * n}')\nprint(x)\n", "lib.fetch", "2.0.0") for n in range(5)]
    output = run([*olds, *news])
    kept = {row["snippet_id"] for row in output.tables["migrations"] if row["direction"] == "old_to_new"}
    assert MASKING.migration.max_per_paths_and_versions == 3
    assert kept == {row["id"] for row in olds[:3]}
    surplus = [reject for reject in output.rejects if "example_changed" in reject.key]
    assert [reject.reason for reject in surplus] == ["over_quota"] * 4


def test_order_of_the_input_does_not_matter() -> None:
    more = [snippet(f"x = fetch({n}, mode='a')\nprint(x)\n", "lib.fetch", "1.0.0", "1.1.0") for n in range(3)]
    more += [snippet(f"x = fetch({n}, how='a')\nprint(x)\n", "lib.fetch", "2.0.0") for n in range(3)]
    assert run(more) == run(more[::-1])


@pytest.mark.parametrize(
    ("version", "target", "pattern"),
    [
        ("1.0.0", "2.0.0", VersionPattern.MAJOR_TO_MAJOR),
        ("1.0", "1.3.1", VersionPattern.MAJOR_TO_MINOR),
        ("1.3.1", "2", VersionPattern.MINOR_TO_MAJOR),
        ("1.0.1", "1.0.2", VersionPattern.MINOR_TO_MINOR),
    ],
)
def test_version_pattern(version: str, target: str, pattern: VersionPattern) -> None:
    assert version_pattern(version, target) is pattern


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("lib.load", "lib.load"),
        ("load", "lib.load"),
        ("`load`", "lib.load"),
        (":func:`lib.load`", "lib.load"),
        (":py:meth:`Client.fetch`", "lib.Client.fetch"),
        ("load()", "lib.load"),
        ("fetch", "lib.Client.fetch"),
        ("lib.load.", "lib.load"),
        ("Client.get", None),
        ("nothing", None),
        ("", None),
    ],
)
def test_resolve(words: str, path: str | None) -> None:
    symbols = [
        symbol(name, "1.0") for name in ("lib.load", "lib.Client", "lib.Client.fetch", "lib.Client.get", "lib.fetch")
    ]
    history = History(releases("1.0"), symbols, [], lambda path, version: None)
    assert resolve(words, "lib.Client.get", "1.0", history) == path


@pytest.mark.parametrize(
    ("old", "new", "cores"),
    [
        ({"lib.a", "lib.b"}, {"lib.a", "lib.c"}, ("lib.a", "lib.a")),
        ({"lib.b", "lib.x"}, {"lib.c", "lib.x"}, ("lib.b", "lib.c")),
        ({"lib.b", "lib.b.m"}, {"lib.b", "lib.b.m", "lib.c"}, ("lib.b.m", "lib.b.m")),
        ({"lib.Old.a", "lib.Old.b"}, {"lib.New.a", "lib.New.b"}, ("lib.Old.a", "lib.New.a")),
        ({"lib.parse_thing"}, {"lib.Thing.a", "lib.Thing.parse"}, ("lib.parse_thing", "lib.Thing.parse")),
        ({"lib.Old", "lib.make"}, {"lib.New.a", "lib.New.make"}, ("lib.make", "lib.New.make")),
        ({"lib.b"}, set(), None),
        (set(), {"lib.b"}, None),
    ],
)
def test_core_paths(old: set[str], new: set[str], cores: tuple[str, str] | None) -> None:
    assert core_paths("lib.a", frozenset(old), frozenset(new)) == cores
