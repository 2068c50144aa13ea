"""Which completion instances are made of snippets, in which versions, with which tags and changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind, LibEvolutionEvalTag, VersiCodeTag
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity, SnippetSource
from pipeline.core.vocabularies.surface import ParameterKind
from pipeline.families.completions_and_migrations.masks import unmask
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.stage import instances_stage
from pipeline.lake.rows import ChangeRow, LifecycleRow, SnippetCheck, SnippetRow, SymbolRow, WitnessRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from tests.families.completions_and_migrations.rows import (
    CODEMODS,
    EXECUTABLE_SOURCES,
    TAGGING,
    change,
    life,
    releases,
    snippet,
    symbol,
    usages,
)

RULES_FILE = load(RULES / "masking.yaml", MaskingRules)
TOKENS = RULES_FILE.model_copy(update={"granularities": (Granularity.TOKEN,)})
CODE = "x = fetch(1)\ny = fetch(x)\n"
PREAMBLE = "from lib import fetch\n"


def run(
    snippets: Sequence[SnippetRow],
    lives: Sequence[LifecycleRow],
    changes: Sequence[ChangeRow] = (),
    symbols: Sequence[SymbolRow] = (),
    names: dict[str, str] | None = None,
    rules: MaskingRules = TOKENS,
    versions: Sequence[str] = ("0.9", "1.0", "1.1", "2.0", "2.1"),
) -> Output:
    """Run the stage over snippets whose uses of `names` (name to path) are found in their text."""
    found = [use for row in snippets for use in usages(row, names or {"fetch": "lib.fetch"})]
    output = instances_stage(
        {
            "releases": releases(*versions),
            "snippets": snippets,
            "usages": found,
            "symbols": symbols,
            "changes": changes,
            "lifecycles": lives,
        },
        TAGGING,
        rules,
        {},
        CODEMODS,
        EXECUTABLE_SOURCES,
    )
    for name, rows in output.by_table.items():
        for row in rows:
            table(name).check(row)
    return output


def refused(output: Output) -> list[str]:
    """The reasons for which completion candidates were refused; that the examples of one release pair with none is not the point here."""
    return sorted(str(reject.reason) for reject in output.rejects if reject.reason != RejectReason.NO_PARTNER)


@pytest.mark.parametrize("raising", [0, 1], ids=["a later statement follows", "it is the last"])
def test_a_session_that_goes_on_after_an_exception_is_no_program(raising: int) -> None:
    raised = "Traceback (most recent call last):\nValueError: no\n"
    checks: list[SnippetCheck] = [
        {"statement": line, "expected": raised if number == raising else None, "options": []}
        for number, line in enumerate(CODE.splitlines(keepends=True))
    ]
    row = snippet(CODE, "lib.fetch", "1.0", preamble=PREAMBLE, checks=checks)
    output = run([row], [life("lib.fetch", "1.0", "2.1")])
    assert bool(output.tables["completions"]) is bool(raising)
    assert (RejectReason.BROKEN_EXAMPLE in refused(output)) is not bool(raising)


def test_one_instance_of_each_level_in_the_version_of_the_snippet() -> None:
    row = snippet(CODE, "lib.fetch", "1.0", "1.1", preamble=PREAMBLE)
    output = run([row], [life("lib.fetch", "1.0", "2.1")], rules=RULES_FILE)
    made = {instance["granularity"]: instance for instance in output.tables["completions"]}
    assert {level: (i["masked_code"], i["answer"]) for level, i in made.items()} == {
        "token": ("from lib import [token-mask]\nx = [token-mask](1)\ny = [token-mask](x)\n", "fetch"),
        "line": ("from lib import [token-mask]\n[line-mask]\ny = [token-mask](x)\n", "x = fetch(1)"),
    }
    for level, instance in made.items():
        assert instance["version"] == "1.0"
        assert instance["previous_version"] == "0.9"
        assert (instance["versicode_tag"], instance["libevolutioneval_tag"]) == ("general", "unchanged")
        assert instance["change_id"] is None
        assert (
            unmask(instance["masked_code"], Granularity(level), instance["answer"], instance["core_token"])
            == PREAMBLE + CODE
        )
    # the block is all of the program but its imports
    assert (output.units_out, refused(output)) == (2, [RejectReason.UNKNOWABLE])


@pytest.mark.parametrize(("example_of", "expected"), [(None, 1), (["lib.fetch", "lib.x"], 1), (["lib.x"], 0), ([], 0)])
def test_code_of_others_stands_for_the_apis_that_its_author_shows_nowhere_else(
    example_of: list[str] | None, expected: int
) -> None:
    row = snippet(CODE, "lib.fetch", "1.0", preamble=PREAMBLE, example_of=example_of)
    assert len(run([row], [life("lib.fetch", "1.0", "2.1")]).tables["completions"]) == expected


INTRODUCED = change(ChangeKind.INTRODUCED, "lib.fetch", "1.0", "1.1")
REMOVED = change(ChangeKind.REMOVED, "lib.fetch", "2.0", "2.1")
MODIFIED = change(ChangeKind.PARAMETER_RENAMED, "lib.fetch", "1.1", "2.0", parameter="a")
HARMLESS = change(ChangeKind.PARAMETER_ADDED_OPTIONAL, "lib.fetch", "1.1", "2.0", parameter="b", breaking=False)


def test_further_versions_of_a_run_are_those_where_the_api_comes_changes_or_goes() -> None:
    row = snippet(CODE, "lib.fetch", "1.1", "2.0", preamble=PREAMBLE)
    lives = [life("lib.fetch", "1.1", "2.0", introduced=True, removed_in="2.1", modified=["2.0"])]
    made = run([row], lives, [HARMLESS, REMOVED, MODIFIED, INTRODUCED]).tables["completions"]
    assert sorted((i["version"], i["libevolutioneval_tag"], i["versicode_tag"], i["change_id"]) for i in made) == [
        ("1.1", LibEvolutionEvalTag.INTRODUCED, VersiCodeTag.ADDITION, INTRODUCED["id"]),
        ("2.0", LibEvolutionEvalTag.DEPRECATED, VersiCodeTag.DEPRECATION, REMOVED["id"]),
    ]


def test_a_breaking_change_goes_before_a_harmless_one() -> None:
    row = snippet(CODE, "lib.fetch", "1.0", "2.1", preamble=PREAMBLE)
    made = run([row], [life("lib.fetch", "1.0", "2.1", modified=["2.0"])], [HARMLESS, MODIFIED]).tables["completions"]
    assert sorted((i["version"], i["change_id"]) for i in made) == [("1.0", None), ("2.0", MODIFIED["id"])]


def test_a_new_argument_in_an_example_is_masked() -> None:
    code = "a = [3]\nfetch(a)\nfetch(a, key=int)\nfetch(a, wanted=True)\n"
    row = snippet(code, "lib.fetch", "2.0", preamble=PREAMBLE)
    wanted = change(ChangeKind.PARAMETER_ADDED_OPTIONAL, "lib.fetch", "1.1", "2.0", parameter="wanted", breaking=False)
    lives = [life("lib.fetch", "1.0", "2.1", modified=["2.0"])]
    (made,) = run([row], lives, [HARMLESS, wanted]).tables["completions"]
    assert (made["answer"], made["change_id"]) == ("wanted", wanted["id"])
    assert made["masked_code"] == PREAMBLE + code.replace("wanted", "[token-mask]")


def test_a_new_argument_that_anybody_would_write_is_not_masked() -> None:
    code = "a = [3]\nfetch(a)\nfetch(a, encoding='a')\n"
    row = snippet(code, "lib.fetch", "2.0", preamble=PREAMBLE)
    lives = [life("lib.fetch", "1.0", "2.1", modified=["2.0"])]
    added = change(ChangeKind.PARAMETER_ADDED_OPTIONAL, "lib.fetch", "1.1", "2.0", parameter="encoding", breaking=False)
    assert [made["answer"] for made in run([row], lives, [added]).tables["completions"]] == ["fetch"]
    # What went may be its old name, which makes the new one worth knowing.
    went = change(ChangeKind.PARAMETER_REMOVED, "lib.fetch", "1.1", "2.0", parameter="charset")
    assert [made["answer"] for made in run([row], lives, [added, went]).tables["completions"]] == ["encoding"]


def test_a_default_that_changed_is_not_in_the_name_of_the_argument() -> None:
    row = snippet("fetch(3, strict=True)\n", "lib.fetch", "2.0", preamble=PREAMBLE)
    default = change(ChangeKind.PARAMETER_DEFAULT, "lib.fetch", "1.1", "2.0", parameter="strict")
    lives = [life("lib.fetch", "1.0", "2.1", modified=["2.0"])]
    assert [i["answer"] for i in run([row], lives, [default]).tables["completions"]] == ["fetch"]


def test_a_member_that_came_with_its_class_has_the_change_of_the_class() -> None:
    row = snippet("c.fetch(1)\n", "lib.Client", "1.1")
    arrived = change(ChangeKind.INTRODUCED, "lib.Client", "1.0", "1.1")
    lives = [life("lib.Client.fetch", "1.1", "2.1", introduced=True)]
    made = run([row], lives, [arrived], names={"fetch": "lib.Client.fetch"}).tables["completions"]
    assert [i["change_id"] for i in made] == [arrived["id"]]


def test_a_change_recorded_at_the_definition_is_found_from_another_public_path() -> None:
    row = snippet(CODE, "lib.fetch", "2.0", preamble=PREAMBLE)
    recorded = change(ChangeKind.PARAMETER_REMOVED, "lib.core.fetch", "1.1", "2.0", parameter="a")
    lives = [life("lib.fetch", "1.0", "2.1", modified=["2.0"])]
    symbols = [symbol("lib.fetch", "1.0", "2.1", canonical="lib.core.fetch")]
    made = run([row], lives, [recorded], symbols).tables["completions"]
    assert [i["change_id"] for i in made] == [recorded["id"]]


def test_a_change_recorded_at_the_preferred_path_is_found_from_where_the_definition_stands() -> None:
    row = snippet(CODE, "lib.core.fetch", "2.0", preamble="from lib.core import fetch\n")
    recorded = change(
        ChangeKind.PARAMETER_REMOVED, "lib.fetch", "1.1", "2.0", parameter="a", canonical_path="lib.core.fetch"
    )
    lives = [life("lib.core.fetch", "1.0", "2.1", modified=["2.0"])]
    made = run([row], lives, [recorded], names={"fetch": "lib.core.fetch"}).tables["completions"]
    assert [i["change_id"] for i in made] == [recorded["id"]]


def test_a_rename_introduces_its_new_path() -> None:
    row = snippet(CODE, "lib.fetch", "1.1", preamble=PREAMBLE)
    renamed = change(ChangeKind.RENAMED, "lib.get", "1.0", "1.1", new="lib.fetch")
    made = run([row], [life("lib.fetch", "1.1", "2.1", introduced=True)], [renamed]).tables["completions"]
    assert [i["change_id"] for i in made] == [renamed["id"]]


def test_an_api_under_another_name_is_noted_and_not_masked() -> None:
    row = snippet("from lib import fetch as get\nget(1)\n", "lib.fetch", "1.0")
    output = run([row], [life("lib.fetch", "1.0", "2.1")], names={"get": "lib.fetch"})
    assert (output.units_out, refused(output)) == (0, [])
    assert [(note.reason, note.detail) for note in output.notes] == [
        (RejectReason.UNFIT_NAME, "used as 'get' in line 2")
    ]


def test_an_api_that_is_not_public_in_the_version_is_refused() -> None:
    row = snippet(CODE, "lib.fetch", "1.0", preamble=PREAMBLE)
    output = run([row], [])
    assert refused(output) == ["unresolved_name"]


def test_more_than_the_quota_is_refused_and_the_apis_own_examples_go_first() -> None:
    own = [snippet(f"fetch({n})\n", "lib.fetch", "1.0") for n in range(2)]
    foreign = [snippet(f"fetch({n}, 1)\n", "lib.other", "1.0") for n in range(3)]
    output = run([*foreign, *own], [life("lib.fetch", "1.0", "2.1")])
    kept = {i["snippet_id"] for i in output.tables["completions"]}
    assert len(kept) == TOKENS.max_per_path_and_version == 3
    assert {row["id"] for row in own} <= kept
    assert refused(output) == ["over_quota"] * 2


def test_a_broken_snippet_is_one_reject() -> None:
    output = run([snippet("fetch(\n", "lib.fetch", "1.0")], [life("lib.fetch", "1.0", "2.1")])
    assert output.reasons == {"broken_example": 1}


def test_a_usage_beside_its_name_is_its_reject() -> None:
    row = snippet(CODE, "lib.fetch", "1.0")
    use = usages(row, {"fetch": "lib.fetch"})[0] | {"name_start_byte": 5}
    output = instances_stage(
        {
            "releases": releases("1.0"),
            "snippets": [row],
            "usages": [use],
            "symbols": [],
            "changes": [],
            "lifecycles": [life("lib.fetch", "1.0", "1.0")],
        },
        TAGGING,
        TOKENS,
        {},
        CODEMODS,
        EXECUTABLE_SOURCES,
    )
    (reject,) = output.rejects
    assert reject.reason == RejectReason.INTERNAL_ERROR
    assert "does not stand at bytes" in reject.detail


def test_order_of_the_input_does_not_matter() -> None:
    rows = [snippet(f"fetch({n})\n", "lib.fetch", "1.0", "2.1") for n in range(5)]
    lives = [life("lib.fetch", "1.0", "2.1", modified=["2.0"])]
    assert run(rows, lives, [MODIFIED, HARMLESS]) == run(rows[::-1], lives, [HARMLESS, MODIFIED])


def test_without_the_release_before_nobody_knows_what_is_new() -> None:
    row = snippet(CODE, "lib.fetch", "1.0", "1.1", preamble=PREAMBLE)
    lives = [life("lib.fetch", "1.0", "1.1")]
    whole_run = run([row], lives, versions=("1.0", "1.1"))
    assert [i["version"] for i in whole_run.tables["completions"]] == ["1.1"]
    only_first = run([snippet(CODE, "lib.fetch", "1.0", preamble=PREAMBLE)], lives, versions=("1.0", "1.1"))
    assert refused(only_first) == ["no_predecessor"]


def completions_of(
    kind: ChangeKind, code: str, fails_at: int = 0, displayed: str | None = None, **columns: Any
) -> list[Any]:
    """The completions of a test in 1.0 that shows a change of `lib.fetch` in 1.1, where a statement of it fails.

    The lake does not hold the release before 1.0: for the change that is not needed. The last line is `displayed`.
    """
    row = snippet(code, "lib.fetch", "1.0") | {"source": SnippetSource.OWN_TEST, "path": None}
    row["example_of"] = ["lib.fetch"]
    if displayed:
        outputs = [None] * (code.count("\n") - 1) + [displayed]
        row["checks"] = [
            {"statement": f"{line}\n", "expected": output, "options": []}
            for line, output in zip(code.splitlines(), outputs, strict=True)
        ]
    changed = change(kind, "lib.fetch", "1.0", "1.1", **columns)
    witness: WitnessRow = {"id": "w", "change_id": changed["id"], "old_snippet_id": row["id"], "new_snippet_id": None}
    witness |= {"old_fails_at": fails_at, "new_fails_at": None, "distinctive": True}
    name = columns.get("parameter", "size")
    found = [use | {"keywords": [name] if name in code else []} for use in usages(row, {"fetch": "lib.fetch"})]
    output = instances_stage(
        {
            "releases": releases("1.0", "1.1", before="0.9"),
            "snippets": [row],
            "usages": found,
            "symbols": [],
            "changes": [changed],
            "lifecycles": [life("lib.fetch", "0.9", "1.1")],
            "witnesses": [witness | {"old_version": "1.0", "new_version": "1.1"}],
        },
        TAGGING,
        RULES_FILE,
        {},
        CODEMODS,
        EXECUTABLE_SOURCES,
    )
    rows = list(output.tables["completions"])
    assert {row["change_id"] for row in rows} <= {changed["id"]}
    assert {row["previous_version"] for row in rows} <= {None}
    return rows


SHOWN: dict[str, tuple[ChangeKind, str, dict[str, str]]] = {
    "the name, of what went": (ChangeKind.REMOVED, "fetch(1)", {"token": "fetch"}),
    "the argument, of a parameter that went": (
        ChangeKind.PARAMETER_REMOVED,
        "fetch(1, size=0)",
        {"token": "size"},
    ),
    "the line alone, where an argument is given by position": (
        ChangeKind.PARAMETER_REMOVED,
        "fetch(1, 0)",
        {"line": "x = fetch(1, 0)"},
    ),
    "nothing, of what is taken in either release by name": (ChangeKind.PARAMETER_KIND, "fetch(1, 0)", {}),
    "nothing, where a variable has the name of the argument": (ChangeKind.PARAMETER_REMOVED, "fetch(1, size=size)", {}),
}


@pytest.mark.parametrize("case", SHOWN)
def test_completions_of_changed_tests_mask_the_difference(case: str) -> None:
    kind, call, expected = SHOWN[case]
    columns: dict[str, Any] = {} if kind is ChangeKind.REMOVED else {"parameter": "size"}
    rows = completions_of(kind, f"x = {call}\nprint(x)\n", **columns)
    assert {row["granularity"]: row["answer"] for row in rows} == expected
    assert {row["core_token"] for row in rows if row["granularity"] == "token"} <= {expected.get("token")}


LINES: dict[str, tuple[ChangeKind, str, str | None, int, list[str]]] = {
    "a call of several variables": (
        ChangeKind.REMOVED,
        "a = 5\nb = 7\nx = fetch(b, a)\nprint(x)  # 12\n",
        "12\n",
        2,
        ["fetch", "x = fetch(b, a)"],
    ),
    "an import that fails": (
        ChangeKind.REMOVED,
        "from lib import fetch\na = 5\nb = 7\nprint(fetch(b, a))  # 12\n",
        "12\n",
        0,
        ["fetch", "print(fetch(b, a))"],
    ),
    "another line that fails": (ChangeKind.REMOVED, "a = 5\nx = fetch(a, a)\nprint(x)  # 12\n", "12\n", 2, ["fetch"]),
    "too few arguments": (ChangeKind.REMOVED, "a = 5\nx = fetch(a)\nprint(x)  # 12\n", "12\n", 1, ["fetch"]),
    "an output that says little": (ChangeKind.REMOVED, "a = 5\nx = fetch(a, a)\nprint(x)\n", "True\n", 1, ["fetch"]),
    "a value that only the output shows": (
        ChangeKind.REMOVED,
        "a = 5\nx = fetch(a, 12)\nprint(x)  # 12\n",
        "12\n",
        1,
        ["fetch"],
    ),
    "an argument that went, which one may give otherwise": (
        ChangeKind.PARAMETER_REMOVED,
        "a = 5\nx = fetch(a, size=a)\nprint(x)  # 12\n",
        "12\n",
        1,
        ["size"],
    ),
}


@pytest.mark.parametrize("case", LINES)
def test_a_line_of_a_test_asks_for_the_call_of_what_came_or_went(case: str) -> None:
    kind, code, output, fails_at, expected = LINES[case]
    columns: dict[str, Any] = {} if kind is ChangeKind.REMOVED else {"parameter": "size"}
    rows = completions_of(kind, code, fails_at, displayed=output, **columns)
    assert sorted(row["answer"] for row in rows) == sorted(expected)


@pytest.mark.parametrize(
    ("kind", "parameter", "answers"),
    [
        (ChangeKind.PARAMETER_ADDED_OPTIONAL, "encoding", []),
        (ChangeKind.PARAMETER_ADDED_REQUIRED, "encoding", []),
        (ChangeKind.PARAMETER_ADDED_OPTIONAL, "fill", ["fill"]),
        (ChangeKind.PARAMETER_REMOVED, "encoding", ["encoding"]),
        (ChangeKind.PARAMETER_RENAMED, "encoding", ["encoding"]),
    ],
)
def test_a_test_of_a_new_argument_that_anybody_would_write_has_no_completion(
    kind: ChangeKind, parameter: str, answers: list[str]
) -> None:
    code = f"x = fetch(1, {parameter}=0)\nprint(x)\n"
    rows = completions_of(kind, code, parameter=parameter, new="charset")
    assert [row["answer"] for row in rows] == answers


@pytest.mark.parametrize(
    ("new", "expected"), [(ParameterKind.KEYWORD_ONLY, {}), (ParameterKind.POSITIONAL_ONLY, {"token": "size"})]
)
def test_the_name_of_an_argument_that_either_release_takes_is_no_difference(
    new: ParameterKind, expected: dict[str, str]
) -> None:
    """Another call of the program gives it by position, and fails in the other release."""
    kinds: dict[str, Any] = {"parameter": "size", "old": ParameterKind.POSITIONAL_OR_KEYWORD, "new": new}
    rows = completions_of(ChangeKind.PARAMETER_KIND, "x = fetch(1, 0)\nprint(fetch(1, size=0))\n", **kinds)
    assert {row["granularity"]: row["answer"] for row in rows} == expected


def test_line_masks_cover_the_failing_statement() -> None:
    code = "x = fetch(1, 0)\nprint(x)\n"
    columns = {"parameter": "size"}
    assert completions_of(ChangeKind.PARAMETER_REMOVED, code, 0, **columns)
    assert completions_of(ChangeKind.PARAMETER_REMOVED, code, 1, **columns) == []


def test_a_statement_with_several_uses_has_no_line_mask() -> None:
    alone = "if True:\n    x = fetch(1, 0)\nprint(x)\n"
    assert [row["answer"] for row in completions_of(ChangeKind.PARAMETER_REMOVED, alone, parameter="size")]
    both = "if True:\n    x = fetch(1)\n    x = fetch(1, 0)\nprint(x)\n"
    assert completions_of(ChangeKind.PARAMETER_REMOVED, both, parameter="size") == []
