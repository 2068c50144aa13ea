"""Each kind of flag is raised by its cause, not without, and not when it is switched off."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from pipeline.lake import Row, table
from pipeline.review import FlagRules, flags_stage, kinds_by_instance
from pipeline.rules import RULES, RuleError, load
from pipeline.terms import Agreement, Direction, DirectiveKind, FlagKind, MigrationBasis, Outcome, Same
from tests.review.world import OLD, RENAMED, World, world

FLAGS = load(RULES / "flags.yaml", FlagRules)
QUIET = FLAGS.model_copy(update={"audit": FLAGS.audit.model_copy(update={"share": 0.0})})
LONG = {"code": "x = fetch(1)\n" * (FLAGS.too_long.max_lines + 1)}


def flags_of(world: World, rules: FlagRules = QUIET, directives: Sequence[Row] = ()) -> list[Row]:
    """The flags that a library's instances get."""
    output = flags_stage(
        world.completions,
        world.migrations,
        world.drafts,
        world.refused_drafts,
        world.releases,
        world.changes,
        world.verdicts,
        world.snippets,
        directives,
        rules,
    )
    for row in output.tables["flags"]:
        table("flags").check(row)
    assert output.seen == output.made == len(world.completions) + len(world.migrations)
    return list(output.tables["flags"])


def flagged(world: World, rules: FlagRules = QUIET) -> set[FlagKind]:
    """The kinds of flags that a library's instances get."""
    return {kind for kinds in kinds_by_instance(flags_of(world, rules)).values() for kind in kinds}


def test_nothing_in_doubt_nothing_flagged() -> None:
    assert flagged(world()) == set()


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
    FlagKind.TOO_LONG: lambda w: w.but(completions=[row | LONG for row in w.completions]),
}


@pytest.mark.parametrize("kind", CAUSES)
def test_each_cause_raises_its_flag_alone(kind: FlagKind) -> None:
    assert flagged(CAUSES[kind](world())) == {kind}


@pytest.mark.parametrize("kind", CAUSES)
def test_each_kind_can_be_switched_off(kind: FlagKind) -> None:
    off = getattr(QUIET, kind).model_copy(update={"enabled": False})
    assert flagged(CAUSES[kind](world()), QUIET.model_copy(update={kind.value: off})) == set()


def test_a_rename_as_sure_as_the_rule_asks_is_not_flagged() -> None:
    sure = RENAMED | {"confidence": FLAGS.rename_unsure.below_confidence}
    assert flagged(world().but(changes=[sure])) == set()


UNSURE = RENAMED | {"confidence": 0.7}


def said(same: Same) -> Row:
    return {"change_id": UNSURE["id"], "same": same, "model": "m", "reason": "Both read a page."}


def unsure(world: World, judgements: Sequence[Row], rules: FlagRules = QUIET) -> dict[str, str]:
    """The evidence of flags on unsure renames, by instance."""
    output = flags_stage(
        world.completions, world.migrations, world.drafts, [], world.releases, world.changes, world.verdicts,
        world.snippets, [], rules, judgements,
    )  # fmt: skip
    kind = FlagKind.RENAME_UNSURE
    return {row["instance_id"]: row["evidence"] for row in output.tables["flags"] if row["kind"] == kind}


@pytest.mark.parametrize("same", Same)
def test_what_a_model_says_of_a_guess_stands_in_the_flag_and_takes_it_away_only_where_rules_say_so(same: Same) -> None:
    made = world().but(changes=[UNSURE])
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
def test_where_a_model_says_no_migrations_that_rest_on_the_guess_are_flagged_whatever_their_tag_is(
    paths: tuple[str, str], names: set[Same]
) -> None:
    made = world()
    up = {"path": paths[0], "target_path": paths[1], "change_id": None, "basis": MigrationBasis.RENAMED}
    row = made.one("migrations", "1.1") | up | {"direction": Direction.OLD_TO_NEW}
    back = row | {"id": "back", "path": paths[1], "target_path": paths[0], "direction": Direction.NEW_TO_OLD}
    resting = made.but(changes=[UNSURE], completions=[], migrations=[row, back])
    flagged = {same for same in Same if len(unsure(resting, [said(same)])) == 2}
    assert flagged == names
    assert all(unsure(resting, [said(same)]) == {} for same in set(Same) - names)
    other = [one | {"basis": MigrationBasis.EXAMPLE_CHANGED} for one in (row, back)]
    assert unsure(resting.but(migrations=other), [said(Same.NO)]) == {}


def test_the_audit_draws_its_share_by_id_and_the_same_again() -> None:
    made = world()
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
        output = flags_stage(
            world.completions, [], [], [], world.releases, world.changes, [], world.snippets, [], rules
        )
        return {row["instance_id"] for row in output.tables["flags"]}

    first = drawn(many, rules)
    assert 140 < len(first) < 260
    assert drawn(many.but(completions=many.completions[::-1]), rules) == first
    other_seed = rules.model_copy(update={"audit": rules.audit.model_copy(update={"seed": "other"})})
    assert drawn(many, other_seed) != first


def directive(path: str, agreement: Agreement, first: str, last: str | None) -> Row:
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
def test_documentation_that_disagrees_flags_what_is_made_in_its_versions(row: Row, versions: set[str]) -> None:
    made = world()
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
    with pytest.raises(RuleError, match=r"flags\.yaml:\d+: licence_unclaer: unknown key"):
        load(tmp_path / "flags.yaml", FlagRules)
