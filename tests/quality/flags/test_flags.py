"""Each kind of flag is raised by its cause, not without, and not when it is switched off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.core.vocabularies.changes import Agreement, DirectiveKind, Same
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Direction, MigrationBasis, SnippetSource
from pipeline.core.vocabularies.scenes import BlockType
from pipeline.lake.rows import DirectiveRow, JudgementRow
from pipeline.lake.schema import table
from pipeline.llm.rules import DraftingRules
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.flags.flags import flags_stage, kinds_by_instance
from pipeline.quality.flags.rules import FlagRules
from tests.errors import raises
from tests.quality.flags.world import OLD, RENAMED, World, world

FLAGS = load(RULES / "flags.yaml", FlagRules)
QUIET = FLAGS.model_copy(update={"audit": FLAGS.audit.model_copy(update={"share": 0.0})})
FAILS = load(RULES / "quality.yaml", QualityRules).fails_in_target
DRAFTING = load(RULES / "drafting.yaml", DraftingRules)
FAMILIES = ("completions", "migrations", "block_completions")
LONG = {"code": "x = fetch(1)\n" * (FLAGS.too_long.max_lines + 1)}


def flags_of(world: World, rules: FlagRules = QUIET, directives: Sequence[DirectiveRow] = ()) -> list[Any]:
    """The flags that a library's instances get."""
    output = flags_stage(world.tables(directives=directives), rules, FAILS, DRAFTING)
    for row in output.tables["flags"]:
        table("flags").check(row)
    assert output.units_in == output.units_out == sum(len(world.tables()[name]) for name in FAMILIES)
    return list(output.tables["flags"])


def flagged(world: World, rules: FlagRules = QUIET) -> set[FlagKind]:
    """The kinds of flags that a library's instances get."""
    return {kind for kinds in kinds_by_instance(flags_of(world, rules)).values() for kind in kinds}


def clear() -> World:
    """The library without the post, whose version nothing but its text tells."""
    return world().but(block_completions=[])


def elsewhere(w: World) -> World:
    """The library with an example of another author that is as long as the other one, and almost the same."""
    one, other = w.completions[0], w.snippets[1]
    lines = [f"value_{n} = fetch({n}, {n})\n" for n in range(9)]
    codes = "".join(lines), "".join([*lines[:-1], "value_8 = fetch(0, 8)\n"])
    copied = [
        row | {"id": f"copy {n}", "code": code} for n, (row, code) in enumerate(zip((one, one), codes, strict=True))
    ]
    copied[1] |= {"snippet_id": "theirs"}
    theirs = other | {"id": "theirs", "origin": "github:somebody/else"}
    drafts = [*w.drafts, *(w.drafts[0] | {"subject_id": row["id"]} for row in copied)]
    return w.but(completions=[*w.completions, *copied], snippets=[*w.snippets, theirs], drafts=drafts)


def test_nothing_in_doubt_nothing_flagged() -> None:
    assert flagged(clear()) == set()


CAUSES: dict[FlagKind, Callable[[World], World]] = {
    FlagKind.LICENCE_UNCLEAR: lambda w: w.but(snippets=[w.snippets[0], w.snippets[1] | {"licence": None}]),
    FlagKind.DESCRIPTION_REDACTED: lambda w: w.but(drafts=[row | {"redacted": True} for row in w.drafts]),
    FlagKind.NO_DESCRIPTION: lambda w: w.but(drafts=w.drafts[1:]),
    FlagKind.LABEL_CONTRADICTED: lambda w: w.with_run("lib.fetch", "2.0", Outcome.PASSED),
    FlagKind.RENAME_UNSURE: lambda w: w.but(changes=[RENAMED | {"confidence": 0.89}]),
    FlagKind.NOT_DISCRIMINATING: lambda w: w.with_run(OLD["id"], "2.0", Outcome.PASSED),
    FlagKind.DRAFT_REJECTED: lambda w: w.but(
        refused_drafts=[{"subject_id": w.completions[0]["id"], "model": "m", "tries": 3, "problem": "it names the API"}]
    ),
    FlagKind.VERSION_WEAK: lambda w: w.but(block_completions=world().block_completions),
    FlagKind.ANSWER_LEAKS: lambda w: w.but(
        completions=[row | {"core_token": "fetchPage", "masked_code": "my_fetch_page = 1"} for row in w.completions]
    ),
    FlagKind.NEAR_DUPLICATE: elsewhere,
    FlagKind.FLAKY: lambda w: w.with_run(OLD["id"], "1.1", Outcome.FLAKY, "passed, then failed_assertion"),
    FlagKind.TOO_LONG: lambda w: w.but(completions=[row | LONG for row in w.completions]),
}


def test_a_flaky_run_in_a_release_that_a_row_is_not_about_raises_none() -> None:
    assert flagged(clear().with_run(OLD["id"], "7.0", Outcome.FLAKY, "passed, then failed_assertion")) == set()


@pytest.mark.parametrize("kind", CAUSES)
def test_each_cause_raises_its_flag_alone(kind: FlagKind) -> None:
    assert flagged(CAUSES[kind](clear())) == {kind}


@pytest.mark.parametrize("kind", CAUSES)
def test_each_kind_can_be_switched_off(kind: FlagKind) -> None:
    off = getattr(QUIET, kind).model_copy(update={"enabled": False})
    assert flagged(CAUSES[kind](clear()), QUIET.model_copy(update={kind.value: off})) == set()


def test_a_migration_shows_all_of_its_code_and_needs_no_description() -> None:
    completions = {row["id"] for row in clear().completions}
    described = [row for row in clear().drafts if row["subject_id"] in completions]
    assert 0 < len(described) < len(clear().drafts)
    assert flagged(clear().but(drafts=described)) == set()


@pytest.mark.parametrize(("source", "expected"), [("docstring", False), ("own_test", False), ("change", True)])
def test_a_program_written_from_a_change_needs_a_sentence_without_the_name(source: str, expected: bool) -> None:
    snippets = [row | {"source": source} for row in clear().snippets]
    redacted = [row | {"redacted": 1} for row in clear().drafts]
    off = QUIET.description_redacted.model_copy(update={"enabled": False})
    rules = QUIET.model_copy(update={"description_redacted": off})
    assert flagged(clear().but(snippets=snippets), rules) == set()
    flags = flagged(clear().but(snippets=snippets, drafts=redacted), rules)
    assert flags == ({FlagKind.NO_DESCRIPTION} if expected else set())


@pytest.mark.parametrize(
    ("of_argument", "tried", "passing", "code", "expected"),
    [
        (False, 8, [], "print([token-mask](1))  # [1, 22]", False),
        (False, 8, [], "print([token-mask](1))", True),
        (False, 7, [], "print([token-mask](1))  # [1, 22]", True),
        (False, 90, ["load"], "print([token-mask](1))  # [1, 22]", True),
        (False, 8, [], "print(Box.[token-mask]())  # ('read', 'write')", False),
        (False, 8, [], "print(Box.[token-mask])  # ('read', 'write')", True),
        (False, 8, [], "print(Box.[token-mask]())  # None", True),
        (False, 8, [], "print(Box(1).[token-mask]())  # <class 'Box'>", True),
        (False, 8, [], "print(Box.[token-mask]())  # Box([])", True),
        (True, 0, [], "print(f([token-mask]=1))  # 2", False),
        (True, 3, ["size"], "print(f([token-mask]=1))  # 2", True),
    ],
)
def test_a_name_that_runs_and_outputs_determine_needs_no_description(
    of_argument: bool, tried: int, passing: list[str], code: str, expected: bool
) -> None:
    undescribed, *others = (row | {"core_token": row["path"].rpartition(".")[2]} for row in clear().completions)
    undescribed |= {"core_token": "limit"} if of_argument else {}
    undescribed |= {"masked_code": code}
    drafts = [row for row in clear().drafts if row["subject_id"] != undescribed["id"]]
    world = clear().but(completions=[undescribed, *others], drafts=drafts)
    runs: Any = [{"completion_id": undescribed["id"], "tried": tried, "passing": passing}]
    flags = flags_stage(world.tables(other_answers=runs), QUIET, FAILS, DRAFTING).tables["flags"]
    assert {row["kind"] for row in flags} == ({FlagKind.NO_DESCRIPTION} if expected else set())


@pytest.mark.parametrize(
    ("core_token", "code", "expected"),
    [
        (None, "print([token-mask](1))  # 2", False),
        (None, "print([token-mask](1))", True),
        ("limit", "print(f([token-mask]=1))", False),
    ],
    ids=["an output", "none", "none of an argument"],
)
def test_a_test_without_a_description_shows_an_output(core_token: str | None, code: str, expected: bool) -> None:
    row = clear().completions[0]
    row = row | {"masked_code": code, "core_token": core_token or row["path"].rpartition(".")[2]}
    snippets = [each | {"source": SnippetSource.OWN_TEST} for each in clear().snippets]
    drafts = [each for each in clear().drafts if each["subject_id"] != row["id"]]
    world = clear().but(completions=[row, *clear().completions[1:]], drafts=drafts, snippets=snippets)
    assert flagged(world) == ({FlagKind.NO_DESCRIPTION} if expected else set())


def test_almost_the_same_code_of_one_author_is_not_flagged() -> None:
    theirs = elsewhere(clear())
    own = [row | {"origin": theirs.snippets[0]["origin"]} for row in theirs.snippets]
    assert flagged(theirs.but(snippets=own)) == set()


def test_a_short_name_is_a_common_word() -> None:
    leaking = [row | {"masked_code": "my_fetch = 1"} for row in clear().completions]
    assert flagged(clear().but(completions=leaking)) == set()


def of_family(table: str, row: Any, **others: Sequence[Any]) -> dict[FlagKind, str]:
    """The flags, with their evidence, that an instance of another family gets."""
    tables = clear().but(completions=[], migrations=[]).tables(**{table: [row]}, **others)
    output = flags_stage(tables, QUIET, FAILS, DRAFTING)
    assert (output.units_in, output.units_out) == (1, 1)
    return {FlagKind(flag["kind"]): flag["evidence"] for flag in output.tables["flags"]}


PROJECT = {"id": "p", "project": "shop", "version": "1.2", "licence": "MIT"}
TASK = {"id": "t", "library": "lib", "project_id": "p", "reference": "return 1\n", "version": "1.2"}
SCENE = TASK | {"middle": "pass\n", "block_type": BlockType.IF}
PROBLEM = {
    "id": "q",
    "library": "lib",
    "version": "1.1",
    "path": "lib.fetch",
    "snippet_id": OLD["id"],
    "change_id": None,
    "versicode_tag": "",
    "starting_code": "",
    "solution": "",
    "problem": "",
    "target_entity": "fetch",
}
DECIDES = {"problem_id": "q", "version": "2.0", "role": ProblemRun.REFERENCE_ELSEWHERE, "detail": None}


def test_tasks_and_scenes_of_a_project_are_looked_at() -> None:
    projects = [PROJECT]
    assert of_family("repository_tasks", TASK, projects=projects) == {}
    assert of_family("repository_tasks", TASK, projects=[PROJECT | {"licence": None}]) == {
        FlagKind.LICENCE_UNCLEAR: "no SPDX expression for shop 1.2"
    }
    long = TASK | {"reference": "x = 1\n" * 61}
    assert of_family("repository_tasks", long, projects=projects) == {FlagKind.TOO_LONG: "61 lines"}
    assert of_family("scenes", SCENE, projects=projects) == {}


def test_a_function_is_looked_at_with_the_runs_of_its_tests() -> None:
    row = PROBLEM | {"id": "f", "code": "x = 1\n", "description": "Say it.", "core_token": "fetch", "redacted": False}
    assert of_family("functions", row) == {}
    refused = [{"function_id": "f", "model": "m", "tries": 3, "problem": "the tests accept everything"}]
    ran = [
        {"function_id": "f", "version": "1.1", "role": "tests", "outcome": Outcome.FLAKY, "detail": "passed, then not"}
    ]
    assert of_family("functions", row | {"redacted": True}, refused_functions=refused, function_runs=ran) == {
        FlagKind.DESCRIPTION_REDACTED: "Say it.",
        FlagKind.DRAFT_REJECTED: "m, 3 tries: the tests accept everything",
        FlagKind.FLAKY: "tests in 1.1: passed, then not",
    }


@pytest.mark.parametrize(
    ("runs", "evidence"),
    [
        ([], "no code is known that is right for another version"),
        ([DECIDES | {"outcome": Outcome.PASSED}], "reference_elsewhere in 2.0: passed"),
        ([DECIDES | {"outcome": Outcome.API_MISSING}], None),
    ],
)
def test_a_problem_that_no_run_sets_apart_is_flagged(runs: list[Any], evidence: str | None) -> None:
    expected = {FlagKind.NOT_DISCRIMINATING: evidence} if evidence else {}
    assert of_family("problems", PROBLEM, problem_runs=runs) == expected


def test_a_problem_with_an_unstable_run_is_flagged() -> None:
    runs = [DECIDES | {"outcome": Outcome.FLAKY, "detail": "passed, then timed_out\nmore"}]
    flaky = of_family("problems", PROBLEM, problem_runs=runs)[FlagKind.FLAKY]
    assert flaky == "reference_elsewhere in 2.0: passed, then timed_out"


@pytest.mark.parametrize(
    ("table_name", "key", "kinds"),
    [("problem_runs", "problem_id", {FlagKind.NOT_DISCRIMINATING}), ("function_runs", "function_id", set())],
)
def test_a_run_in_a_release_that_a_row_is_not_about_raises_no_flag(
    table_name: str, key: str, kinds: set[FlagKind]
) -> None:
    row = PROBLEM | {"code": "x = 1\n", "description": "Say it.", "core_token": "fetch", "redacted": False}
    ran = {key: "q", "version": "7.0", "role": "other_release", "outcome": Outcome.FLAKY, "detail": "passed, then not"}
    assert of_family(table_name.replace("_runs", "s"), row, **{table_name: [ran]}).keys() == kinds


def test_a_rename_as_sure_as_the_rule_asks_is_not_flagged() -> None:
    sure = RENAMED | {"confidence": FLAGS.rename_unsure.below_confidence}
    assert flagged(clear().but(changes=[sure])) == set()


UNSURE = RENAMED | {"confidence": 0.7}


def said(same: Same) -> Any:
    return {"change_id": UNSURE["id"], "same": same, "model": "m", "reason": "Both read a page."}


def unsure(world: World, judgements: Sequence[JudgementRow], rules: FlagRules = QUIET) -> dict[str, str]:
    """The evidence of flags on unsure renames, by instance."""
    output = flags_stage(world.tables(judgements=judgements, refused_drafts=[]), rules, FAILS, DRAFTING)
    kind = FlagKind.RENAME_UNSURE
    return {row["instance_id"]: row["evidence"] for row in output.tables["flags"] if row["kind"] == kind}


@pytest.mark.parametrize("same", Same)
def test_a_judgement_is_evidence_of_a_flag_and_settles_it_only_by_the_rules(same: Same) -> None:
    made = clear().but(changes=[UNSURE])
    plain, told = unsure(made, []), unsure(made, [said(same)])
    assert told.keys() == plain.keys() != set()
    assert set(told.values()) == {
        f"{evidence}; one API, says m: {same}. Both read a page." for evidence in plain.values()
    }
    trusting = QUIET.rename_unsure.model_copy(update={"settled_by_model": True})
    left = unsure(made, [said(same)], QUIET.model_copy(update={"rename_unsure": trusting}))
    assert left == ({} if same is Same.YES else told)


@pytest.mark.parametrize(
    ("paths", "names"),
    [(("lib.fetch", "lib.load"), {Same.NO}), (("lib.fetch.a", "lib.load.a"), {Same.NO}),
     (("lib.fetch.a", "lib.load.b"), set()), (("lib.other", "lib.load"), set())],
    ids=["the API itself", "a member of both", "another member", "another API"],
)  # fmt: skip
def test_migrations_of_a_denied_rename_are_flagged_with_every_tag(paths: tuple[str, str], names: set[Same]) -> None:
    made = clear()
    up = {"path": paths[0], "target_path": paths[1], "change_id": None, "basis": MigrationBasis.RENAMED}
    row = made.one("migrations", "1.1") | up | {"direction": Direction.OLD_TO_NEW}
    back = row | {"id": "back", "path": paths[1], "target_path": paths[0], "direction": Direction.NEW_TO_OLD}
    resting = made.but(changes=[UNSURE], completions=[], migrations=[row, back])
    flagged = {same for same in Same if len(unsure(resting, [said(same)])) == 2}
    assert flagged == names
    assert all(unsure(resting, [said(same)]) == {} for same in set(Same) - names)
    other = [item | {"basis": MigrationBasis.EXAMPLE_CHANGED} for item in (row, back)]
    assert unsure(resting.but(migrations=other), [said(Same.NO)]) == {}


def test_the_audit_draws_its_share_by_id_and_the_same_again() -> None:
    made = clear()
    many = made.but(
        completions=[made.completions[0] | {"id": f"id{n}"} for n in range(2000)], migrations=[], drafts=[], verdicts=[]
    )
    rules = FLAGS.model_copy(
        update={
            "audit": FLAGS.audit.model_copy(update={"share": 0.1}),
            "no_description": FLAGS.no_description.model_copy(update={"enabled": False}),
        }
    )

    def drawn(world: World, rules: FlagRules) -> set[str]:
        output = flags_stage(world.tables(), rules, FAILS, DRAFTING)
        return {row["instance_id"] for row in output.tables["flags"]}

    first = drawn(many, rules)
    assert 140 < len(first) < 260
    assert drawn(many.but(completions=many.completions[::-1]), rules) == first
    other_seed = rules.model_copy(update={"audit": rules.audit.model_copy(update={"seed": "other"})})
    assert drawn(many, other_seed) != first


def test_a_flagged_instance_is_not_drawn() -> None:
    """Else the sample would not tell how much is wrong of what nobody looks at."""
    every = FLAGS.model_copy(update={"audit": FLAGS.audit.model_copy(update={"share": 1.0})})
    made = clear()
    result = flags_stage(made.tables(), every, FAILS, DRAFTING).tables["flags"]
    quiet = flags_stage(made.tables(), QUIET, FAILS, DRAFTING).tables["flags"]
    flagged = {row["instance_id"] for row in quiet}
    drawn = {row["instance_id"] for row in result if row["kind"] == FlagKind.AUDIT}
    without = flags_stage(made.but(drafts=[]).tables(), every, FAILS, DRAFTING).tables["flags"]
    undescribed = {row["instance_id"] for row in without if row["kind"] == FlagKind.NO_DESCRIPTION}
    assert undescribed
    assert not undescribed & {row["instance_id"] for row in without if row["kind"] == FlagKind.AUDIT}
    assert drawn
    assert not drawn & flagged


def directive(path: str, agreement: Agreement, first: str, last: str | None) -> DirectiveRow:
    """A `directives` row on the arrival of a path."""
    return {
        "path": path,
        "first_version": first,
        "last_version": last,
        "directive": DirectiveKind.VERSIONADDED,
        "parameter": "page",
        "attribute": None,
        "stated_version": "0.5",
        "found_version": "1.0",
        "agreement": agreement,
    }


@pytest.mark.parametrize(
    ("row", "versions"),
    [
        (directive("lib.fetch", Agreement.CONTRADICTS, "1.0", "1.1"), {"1.0", "1.1"}),
        (directive("lib.fetch", Agreement.CONTRADICTS, "1.1", "2.0"), {"1.1"}),
        (directive("lib.fetch", Agreement.NOT_FOUND, "1.0", "1.1"), set()),
        (directive("lib.other", Agreement.CONTRADICTS, "1.0", "1.1"), set()),
    ],
    ids=["contradicts", "in a later release", "is not found", "is about another API"],
)
def test_contradicting_documentation_flags_the_instances_of_its_versions(row: Any, versions: set[str]) -> None:
    made = clear()
    instances = {instance["id"]: instance["version"] for instance in [*made.completions, *made.migrations]}
    flags = [flag for flag in flags_of(made, directives=[row]) if flag["kind"] == FlagKind.DOCUMENTATION_DISAGREES]
    assert {instances[flag["instance_id"]] for flag in flags} == versions
    assert {flag["evidence"] for flag in flags} <= {
        "lib.fetch: the documentation states versionadded 0.5 of page, the comparison found 1.0"
    }
    off = QUIET.model_copy(update={"documentation_disagrees": FLAGS.audit.model_copy(update={"enabled": False})})
    assert flags_of(made, off, [row]) == []


def test_an_unknown_kind_in_the_rules_is_named(tmp_path) -> None:
    (tmp_path / "flags.yaml").write_text((RULES / "flags.yaml").read_text() + "licence_unclaer: {enabled: true}\n")
    with raises(RuleError, "flags.yaml", "licence_unclaer", code="rule_unknown_key"):
        load(tmp_path / "flags.yaml", FlagRules)
