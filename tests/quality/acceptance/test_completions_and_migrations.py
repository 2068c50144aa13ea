"""Accepted rows have all columns; refused ones have a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.core.vocabularies.annotation import DecisionKind, Objection
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind, RejectReason, ReviewStatus
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.core.vocabularies.samples import Drafter, Evidence, Granularity, MigrationBasis, SnippetSource
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.execution.mutation.score import SCORED, MutationScore
from pipeline.families.completions_and_migrations.masks import MASKS
from pipeline.lake.ids import content_id
from pipeline.lake.rows import FlagRow, MigrationRow, OtherAnswerRow, ScoreRow, SymbolRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.llm.rules import DraftingRules
from pipeline.quality.acceptance.completions_and_migrations import acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.flags.reviews import reviewed_content
from tests.errors import raises
from tests.families.completions_and_migrations.rows import LIBRARY, change, symbol
from tests.families.problems.examples import MUTATION
from tests.quality.flags.world import EXECUTABLE_SOURCES, NEW, OLD, POST, RENAMED, World
from tests.quality.flags.world import world as shared_world

QUALITY = load(RULES / "quality.yaml", QualityRules)
DRAFTING = load(RULES / "drafting.yaml", DraftingRules)


def world() -> World:
    """The library, in which each completion is a task of its own: of equal or like ones one is published."""
    made = shared_world()
    rows = [row | {"masked_code": f"{row['masked_code']}# {row['version']}\n"} for row in made.completions]
    first = next(row["id"] for row in rows if row["version"] == "1.0")
    drafts = [row | {"text": f"{row['text']} Once."} if row["subject_id"] == first else row for row in made.drafts]
    return replace(made, completions=rows, drafts=drafts)


def accept(
    world: World,
    flags: list[FlagRow] | None = None,
    environments: list[Any] | None = None,
    reviews: list[Any] | None = None,
    scores: list[ScoreRow] | None = None,
    other_answers: list[OtherAnswerRow] | None = None,
    symbols: list[SymbolRow] | None = None,
) -> Output:
    """Run acceptance and check that what it publishes fits the declared tables."""
    output = acceptance_stage(
        {
            "completions": world.completions,
            "migrations": world.migrations,
            "block_completions": world.block_completions,
            "drafts": world.drafts,
            "flags": flags or [],
            "snippets": world.snippets,
            "releases": world.releases,
            "symbols": symbols or [],
            "verdicts": world.verdicts,
            "environments": environments or [],
            "changes": world.changes,
            "behaviours": [],
            "reviews": reviews or [],
            "mutation_scores": scores or [],
            "other_answers": other_answers or [],
        },
        QUALITY,
        EXECUTABLE_SOURCES,
        DRAFTING,
        MUTATION,
    )
    for name, rows in output.by_table.items():
        for row in rows:
            table(name).check(row)
    return output


def flag(instance: Any, kind: FlagKind) -> FlagRow:
    return {
        "id": content_id(instance["id"], kind),
        "library": LIBRARY,
        "instance_id": instance["id"],
        "kind": kind,
        "evidence": "",
    }


def published(output: Output, table: str, version: str) -> Any:
    (row,) = (row for row in output.by_table[table] if row["version"] == version)
    return row


def test_a_published_completion_carries_proof_licence_and_source() -> None:
    output = accept(world())
    row = published(output, "published_completions", "1.1")
    expected: dict[str, Any] = {
        "libevolutioneval_tag": "deprecated",
        "evidence": "executed",
        "neighbour_version": "2.0",
        "neighbour_outcome": "api_missing",
        "reference_outcome": "passed",
        "python": "3.9",
        "lock_id": "lock-1.1",
        "description": "Get the page of it.",
        "drafter": "offline",
        "licence": "MIT",
        "attribution": "Ada",
        "purl": "pkg:pypi/lib@1.0",
        "source_file": "lib/core.py",
        "source_line": 7,
        "flags": [],
        "review_status": "unflagged",
        "canary": QUALITY.canary,
    }
    assert {column: row[column] for column in expected} == expected
    assert output.units_in == output.units_out == 7


def test_a_completion_of_an_unchanged_api_is_not_discriminating() -> None:
    """Its program fails in the other release because of something else in it, which the prompt shows."""
    known = world()
    assert published(accept(known), "published_completions", "1.1")["discriminating"]
    known.completions[:] = [row | {"change_id": None} for row in known.completions]
    row = published(accept(known), "published_completions", "1.1")
    assert (row["neighbour_outcome"], row["discriminating"]) == ("api_missing", False)


@pytest.mark.parametrize(
    ("path", "columns", "discriminates"),
    [
        ("lib.fetch", {}, False),
        ("lib.load", {}, True),
        ("lib.fetch", {"core_token": "url"}, True),
        ("lib.fetch", {"granularity": Granularity.LINE}, True),
        ("new.fetch", {}, False),
        ("lib.sub.fetch", {}, False),
        ("lib.Page.fetch", {}, True),
    ],
    ids=[
        "the name",
        "another name",
        "an argument",
        "a line",
        "the name in another place",
        "the name in another module",
        "a method of the name",
    ],
)
def test_a_name_that_the_other_release_has_too_does_not_discriminate(
    path: str, columns: dict[str, Any], discriminates: bool
) -> None:
    """Its program fails there by its arguments, which the prompt shows."""
    known = world()
    known.completions[:] = [{**row, **columns} for row in known.completions]
    modules = [symbol(name, "1.1", kind=SymbolKind.MODULE) for name in ("lib", "lib.sub", "new")]
    there = [*modules, symbol("lib.Page", "1.1", kind=SymbolKind.CLASS), symbol(path, "2.0")]
    row = published(accept(known, symbols=there), "published_completions", "1.1")
    assert (row["neighbour_version"], row["discriminating"]) == ("2.0", discriminates)


NEW_NAMES: dict[str, tuple[ChangeKind, SymbolKind, str, str, bool]] = {
    "a function of the standard library": (ChangeKind.INTRODUCED, SymbolKind.FUNCTION, "lib.reduce", "lib.x", False),
    "a function of numpy": (ChangeKind.INTRODUCED, SymbolKind.FUNCTION, "lib.argmax", "lib.x", False),
    "a class of such a name": (ChangeKind.INTRODUCED, SymbolKind.CLASS, "lib.reduce", "lib.x", True),
    "a method of such a name": (ChangeKind.INTRODUCED, SymbolKind.METHOD, "lib.Page.reduce", "lib.x", True),
    "a renamed function": (ChangeKind.RENAMED, SymbolKind.FUNCTION, "lib.reduce", "lib.x", True),
    "a method, and a function there": (ChangeKind.INTRODUCED, SymbolKind.METHOD, "lib.Page.turn", "lib.turn", False),
    "a function, and a method there": (ChangeKind.INTRODUCED, SymbolKind.FUNCTION, "lib.turn", "lib.Page.turn", False),
    "a class, and a function there": (ChangeKind.INTRODUCED, SymbolKind.CLASS, "lib.Turn", "lib.Page.Turn", True),
    "a method, and no such name there": (ChangeKind.INTRODUCED, SymbolKind.METHOD, "lib.Page.turn", "lib.x", True),
}


@pytest.mark.parametrize("alias", [False, True], ids=["its own path", "a second path"])
@pytest.mark.parametrize("case", NEW_NAMES)
def test_a_new_name_that_is_known_anyway_does_not_discriminate(case: str, alias: bool) -> None:
    kind, what, path, there, discriminates = NEW_NAMES[case]
    name = path.rpartition(".")[2]
    came = change(kind, "lib.old" if kind == ChangeKind.RENAMED else path, "1.1", "2.0", new=path)
    known = world()
    columns: dict[str, Any] = {"path": path, "core_token": name, "answer": name, "change_id": came["id"]}
    known.completions[:] = [{**row, **columns} for row in known.completions if row["version"] == "2.0"]
    known.changes[:] = [came]
    known = known.but(migrations=[]).with_run(path, "2.0", Outcome.PASSED).with_run(path, "1.1", Outcome.API_MISSING)
    modules = [
        symbol("lib", "1.1", "2.0", kind=SymbolKind.MODULE),
        symbol("lib.Page", "1.1", "2.0", kind=SymbolKind.CLASS),
    ]
    here = symbol("lib.core.f" if alias else path, "2.0", canonical="lib.core.f", kind=what)
    second = symbol(path, "2.0", canonical="lib.core.f", kind=SymbolKind.ALIAS)
    symbols = [*modules, here, symbol(there, "1.1"), *([second] if alias else [])]
    row = published(accept(known, symbols=symbols), "published_completions", "2.0")
    assert (row["neighbour_version"], row["discriminating"]) == ("1.1", discriminates)


@pytest.mark.parametrize(
    ("kind", "text", "level", "source", "discriminates"),
    [
        (ChangeKind.INTRODUCED, "Load the pages at once.", Granularity.TOKEN, SnippetSource.DOCSTRING, False),
        (ChangeKind.INTRODUCED, "Bring them all in.", Granularity.TOKEN, SnippetSource.DOCSTRING, True),
        (ChangeKind.RENAMED, "Load the pages at once.", Granularity.TOKEN, SnippetSource.DOCSTRING, True),
        (ChangeKind.INTRODUCED, "Load the pages at once.", Granularity.LINE, SnippetSource.DOCSTRING, True),
        (ChangeKind.INTRODUCED, "Load the pages at once.", Granularity.LINE, SnippetSource.OWN_TEST, False),
        (ChangeKind.INTRODUCED, "Bring them all in.", Granularity.LINE, SnippetSource.OWN_TEST, True),
    ],
)
def test_a_new_name_that_the_description_spells_does_not_discriminate(
    kind: ChangeKind, text: str, level: Granularity, source: SnippetSource, discriminates: bool
) -> None:
    path, name = "lib.load_pages", "load_pages"
    came = change(kind, "lib.old" if kind == ChangeKind.RENAMED else path, "1.1", "2.0", new=path)
    known = world()
    columns: dict[str, Any] = {"path": path, "core_token": name, "answer": name, "change_id": came["id"]}
    columns["granularity"] = level
    known.completions[:] = [{**row, **columns} for row in known.completions if row["version"] == "2.0"]
    known.changes[:] = [came]
    known.snippets[:] = [row | {"source": source} for row in known.snippets]
    known.drafts[:] = [{**row, "text": text} for row in known.drafts]
    known = known.but(migrations=[]).with_run(path, "2.0", Outcome.PASSED).with_run(path, "1.1", Outcome.API_MISSING)
    row = published(accept(known, symbols=[symbol(path, "2.0")]), "published_completions", "2.0")
    assert (row["description"], row["discriminating"]) == (text, discriminates)


@pytest.mark.parametrize("is_its_neighbour", [True, False])
def test_a_completion_has_the_answers_of_its_neighbouring_release(is_its_neighbour: bool) -> None:
    known = world()
    instance = known.one("completions", "2.0")
    run: OtherAnswerRow = {
        "id": "run",
        "completion_id": instance["id"],
        "library": LIBRARY,
        "version": "2.0",
        "lock_id": "lock-2.0",
        "tried": 0,
        "passing": [],
        "neighbour_version": instance["previous_version"] if is_its_neighbour else None,
        "neighbour_answers": ["fetch"],
    }
    row = published(accept(known, other_answers=[run]), "published_completions", "2.0")
    assert row["neighbour_answers"] == (["fetch"] if is_its_neighbour else None)
    # nobody has run what a person wrote with other names
    edit = review(
        known, instance, [], DecisionKind.EDIT, edits=edits(masked_code=instance["masked_code"] + "# of it\n")
    )
    edited = published(accept(known, other_answers=[run], reviews=[edit]), "published_completions", "2.0")
    assert edited["neighbour_answers"] is None


def test_a_completion_with_which_another_name_passes_is_refused() -> None:
    known = world()
    instance = known.one("completions", "1.1")
    run: OtherAnswerRow = {
        "id": "run",
        "completion_id": instance["id"],
        "library": LIBRARY,
        "version": "1.1",
        "lock_id": "lock-1.1",
        "tried": 2,
        "passing": ["fetch"],
        "neighbour_version": None,
        "neighbour_answers": [],
    }
    output = accept(known, other_answers=[run])
    assert [(reject.key, reject.reason) for reject in output.rejects] == [
        (instance["id"], RejectReason.SEVERAL_ANSWERS)
    ]
    assert accept(known, other_answers=[{**run, "passing": []}]).rejects == []
    # nobody has run the code that a person wrote with other names
    edits_of_it = edits(masked_code=instance["masked_code"] + "# of it\n")
    edit = review(known, instance, [], DecisionKind.EDIT, edits=edits_of_it)
    rows = accept(known, other_answers=[run], reviews=[edit]).tables["published_completions"]
    assert instance["id"] in {row["id"] for row in rows}
    # a text that a person wrote tells the names apart
    described = review(known, instance, [], DecisionKind.EDIT, edits=edits(description="Get it once."))
    rows = accept(known, other_answers=[run], reviews=[described]).tables["published_completions"]
    assert instance["id"] in {row["id"] for row in rows}


@pytest.mark.parametrize(
    ("line", "output", "refused"),
    [
        ("x = lib.load(size=5, mean=22 / 5)", "load(size=5, mean=4.4)", True),
        ("x = load(size=5)", "load(size=5)", True),
        ("x = load(size=5)", "load(size=6)", False),
        ("x = load(size=1)", "load(size=True)", False),
        ("x = load(size=5)", "Load(size=5)", False),
        ("x = load(size=5)", "5", False),
        ("x = load(size=5)", "of load(", False),
    ],
)
@pytest.mark.parametrize("described", [False, True])
def test_a_completion_that_displays_its_own_call_needs_a_text(
    line: str, output: str, refused: bool, described: bool
) -> None:
    known = world()
    code = f"from lib import load\n{line}\nprint(x)  # {output}\n"
    columns: dict[str, Any] = {"code": code, "masked_code": code.replace("load", "[token-mask]")}
    known.completions[:] = [{**row, **columns} for row in known.completions if row["version"] == "2.0"]
    known.drafts[:] = known.drafts if described else []
    reasons = accept(known.but(migrations=[])).reasons
    assert reasons == ({RejectReason.UNKNOWABLE: 1} if refused and not described else {})


@pytest.mark.parametrize("level", [Granularity.TOKEN, Granularity.LINE, Granularity.BLOCK])
@pytest.mark.parametrize("source", [SnippetSource.DOCSTRING, SnippetSource.OWN_TEST, SnippetSource.CHANGE])
@pytest.mark.parametrize("described", [False, True])
def test_hidden_lines_of_a_test_need_a_text(level: Granularity, source: SnippetSource, described: bool) -> None:
    known = world()
    known.completions[:] = [{**row, "granularity": level} for row in known.completions if row["version"] == "2.0"]
    known.snippets[:] = [row | {"source": source} for row in known.snippets]
    known.drafts[:] = known.drafts if described else []
    is_refused = not described and level != Granularity.TOKEN and source != SnippetSource.DOCSTRING
    reasons = accept(known.but(migrations=[])).reasons
    assert reasons == ({RejectReason.UNKNOWABLE: 1} if is_refused else {})


TWO_CALLS = "from lib import fetch\nfetch([1, 2])\nfetch([1, 2], strict=True)\n"
ONE_CALL = "from lib import fetch\nfetch([1, 2], True)\n"
HIDES: dict[str, tuple[str, str, Granularity, SnippetSource, bool]] = {
    "the line without it": (TWO_CALLS, "fetch([1, 2])", Granularity.LINE, SnippetSource.DOCSTRING, False),
    "the line that gives it": (
        TWO_CALLS,
        "fetch([1, 2], strict=True)",
        Granularity.LINE,
        SnippetSource.DOCSTRING,
        True,
    ),
    "a block with both": (
        TWO_CALLS,
        "fetch([1, 2])\nfetch([1, 2], strict=True)",
        Granularity.BLOCK,
        SnippetSource.DOCSTRING,
        True,
    ),
    "the only use, by position": (ONE_CALL, "fetch([1, 2], True)", Granularity.LINE, SnippetSource.DOCSTRING, True),
    "one of two uses, by position": (
        f"{ONE_CALL}fetch([3])\n",
        "fetch([1, 2], True)",
        Granularity.LINE,
        SnippetSource.DOCSTRING,
        False,
    ),
    "a comparison with it": (
        TWO_CALLS.replace("fetch([1, 2])\n", "fetch([1, 2], strict == 1)\n"),
        "fetch([1, 2], strict == 1)",
        Granularity.LINE,
        SnippetSource.DOCSTRING,
        False,
    ),
    "the line that a run showed": (TWO_CALLS, "fetch([1, 2])", Granularity.LINE, SnippetSource.OWN_TEST, True),
    "a token, which is chosen for it": (ONE_CALL, "fetch", Granularity.TOKEN, SnippetSource.DOCSTRING, True),
}


@pytest.mark.parametrize("case", HIDES)
def test_a_completion_whose_answer_does_not_hold_what_changed_does_not_discriminate(case: str) -> None:
    code, answer, level, source, discriminates = HIDES[case]
    changed = change(ChangeKind.PARAMETER_ADDED_OPTIONAL, "lib.fetch", "1.0", "1.1", parameter="strict", breaking=False)
    shown = code if level == Granularity.TOKEN else code.replace(f"{answer}\n", f"{MASKS[level]}\n", 1)
    known = world()
    columns: dict[str, Any] = {
        "path": "lib.fetch",
        "change_id": changed["id"],
        "versicode_tag": "general",
        "libevolutioneval_tag": "modified",
        "granularity": level,
        "code": code,
        "masked_code": shown.replace("fetch", "[token-mask]"),
        "answer": answer,
    }
    known.completions[:] = [{**row, **columns} for row in known.completions if row["version"] == "1.1"]
    known.changes[:] = [changed]
    known.snippets[:] = [row | {"source": source} if row["id"] == OLD["id"] else row for row in known.snippets]
    known = known.but(migrations=[]).with_run(OLD["id"], "1.0", Outcome.SIGNATURE_MISMATCH)
    row = published(accept(known), "published_completions", "1.1")
    assert (row["neighbour_outcome"], row["discriminating"]) == ("signature_mismatch", discriminates)


def test_a_line_of_what_came_as_a_whole_hides_the_change() -> None:
    known = world()
    known.completions[:] = [row | {"granularity": Granularity.LINE} for row in known.completions]
    assert published(accept(known), "published_completions", "2.0")["discriminating"]


def test_of_completions_that_differ_in_the_code_around_the_one_that_shows_most_is_published() -> None:
    known = world()
    instance = known.one("completions", "1.1")
    longer: Any = {
        **instance,
        "id": "longer",
        "code": instance["code"] + "print(1)\n",
        "masked_code": instance["masked_code"] + "print(1)\n",
    }
    known.completions.append(longer)
    known.drafts.append(
        {**next(row for row in known.drafts if row["subject_id"] == instance["id"]), "subject_id": "longer"}
    )
    output = accept(known)
    assert [(reject.key, reject.reason) for reject in output.rejects] == [(instance["id"], RejectReason.NEAR_DUPLICATE)]


def test_of_lines_of_one_api_that_came_the_one_that_shows_most_is_published() -> None:
    known = world()
    line: Any = {**known.one("completions", "2.0"), "granularity": Granularity.LINE}
    shown = {"code": f"{line['code']}print(1)  # [1, 2]\n", "masked_code": f"{line['masked_code']}print(1)  # [1, 2]\n"}
    richer: Any = {**line, **shown, "id": "richer", "answer": f"x = {line['answer']}"}
    known.completions[:] = [line, richer]
    known.snippets[:] = [row | {"source": SnippetSource.OWN_TEST} for row in known.snippets]
    draft = next(row for row in known.drafts if row["subject_id"] == line["id"])
    known.drafts.append({**draft, "subject_id": "richer"})
    rejects = accept(known.but(migrations=[])).rejects
    assert [(reject.key, reject.reason) for reject in rejects] == [(line["id"], RejectReason.NEAR_DUPLICATE)]


@pytest.mark.parametrize("level", [Granularity.LINE, Granularity.BLOCK, Granularity.TOKEN])
def test_hidden_code_that_uses_two_apis_is_published_once_with_the_surest_label(level: Granularity) -> None:
    """Two names of one program are two questions, so that both are published."""
    known = world()
    row = known.one("completions", "2.0")
    shown = {"granularity": level, "masked_code": f"{MASKS[level]}\n# 2.0\n", "code": f"{row['answer']}\n# 2.0\n"}
    first: Any = {**row, **shown}
    unsure: Any = {**first, "id": "0", "path": "lib.other", "change_id": None, "libevolutioneval_tag": "unchanged"}
    known.completions[:] = [unsure, first]
    known.drafts.append({**next(each for each in known.drafts if each["subject_id"] == row["id"]), "subject_id": "0"})
    refused = [(reject.key, reject.reason) for reject in accept(known).rejects]
    assert refused == ([] if level == Granularity.TOKEN else [("0", RejectReason.NEAR_DUPLICATE)])


def test_a_line_is_refused_whose_call_the_visible_code_has() -> None:
    known = world()
    name = known.one("completions", "1.1")
    line: Any = {
        **name,
        "id": "line",
        "granularity": Granularity.LINE,
        "masked_code": f"{MASKS[Granularity.TOKEN]}(2)\n{MASKS[Granularity.LINE]}\n",
        "answer": f"{name['core_token']}(1)",
    }
    known.completions.append(line)
    known.drafts.append({**next(row for row in known.drafts if row["subject_id"] == name["id"]), "subject_id": "line"})
    output = accept(known)
    assert [(reject.key, reject.reason) for reject in output.rejects] == [("line", RejectReason.NEAR_DUPLICATE)]
    assert name["id"] in output.rejects[0].detail


def test_of_migrations_with_the_same_names_the_one_whose_checks_notice_most_is_published() -> None:
    known = world()
    instance = known.migrations[0]
    other: Any = {**instance, "id": "other", "target_outputs": instance["target_outputs"] + 1}
    known.migrations.append(other)
    output = accept(known)
    assert [(reject.key, reject.reason) for reject in output.rejects] == [(instance["id"], RejectReason.NEAR_DUPLICATE)]


def test_migrations_of_two_changes_of_an_api_are_two() -> None:
    known = world()
    first = known.migrations[0]
    other: Any = {**first, "id": "other", "change_id": None, "source_code": f"{first['source_code']}# other"}
    known.migrations.append(other)
    assert accept(known).rejects == []


def test_of_one_program_for_one_release_the_smallest_edit_is_published() -> None:
    known = world()
    first = known.migrations[0]
    longer: Any = {**first, "id": "longer", "change_id": None, "target_code": f"{first['target_code']}\nprint()"}
    known.migrations.append(longer)
    assert [(reject.key, reject.reason) for reject in accept(known).rejects] == [
        ("longer", RejectReason.NEAR_DUPLICATE)
    ]


def test_evidence_by_tag() -> None:
    output = accept(world())
    rows = {
        row["version"]: (row["libevolutioneval_tag"], row["evidence"]) for row in output.tables["published_completions"]
    }
    assert rows == {
        "1.0": ("unchanged", "static"),
        "1.1": ("deprecated", "executed"),
        "2.0": ("introduced", "executed"),
    }


def score_of_targets(migrations: list[MigrationRow], score: MutationScore) -> list[Any]:
    return [
        {"id": row["id"], "subject_id": row["target_snippet_id"], "library": LIBRARY, "version": row["target_version"],
         "lock_id": "lock", **score.columns}
        for row in migrations
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (MutationScore(4, 3), (4, 3, 0, 0.75)),
        (MutationScore(8, 8), (8, 8, 0, 1.0)),
        (MutationScore(), (0, 0, 0, None)),
        (None, (None, None, None, None)),
    ],
)
def test_a_published_migration_has_its_mutation_score(score: MutationScore | None, expected: tuple[Any, ...]) -> None:
    known = world()
    row = published(
        accept(known, scores=score_of_targets(known.migrations, score) if score else []), "published_migrations", "1.1"
    )
    assert tuple(row[column] for column in SCORED) == expected


def test_a_migration_whose_outputs_notice_too_few_mutants_is_refused() -> None:
    known = world()
    output = accept(known, scores=score_of_targets(known.migrations, MutationScore(100, 74)))
    assert output.tables["published_migrations"] == []
    weak = {reject.key for reject in output.rejects if reject.reason is RejectReason.WEAK_TESTS}
    assert weak == {row["id"] for row in known.migrations}


@pytest.mark.parametrize(
    ("score", "accepted"), [(MutationScore(2, 2), 2), (MutationScore(), 2), (MutationScore(2, 1), 1)]
)
def test_a_migration_is_refused_whose_outputs_do_not_notice_that_a_changed_argument_is_left_out(
    score: MutationScore, accepted: int
) -> None:
    known = world()
    instance = known.migrations[0]
    scores = score_of_targets(known.migrations, MutationScore(8, 8))
    scores.append({**scores[0], "id": "left out", "subject_id": instance["id"], **score.columns})
    output = accept(known, scores=scores)
    assert len(output.tables["published_migrations"]) == accepted
    refused = [] if accepted == len(known.migrations) else [(instance["id"], RejectReason.WEAK_TESTS)]
    assert [(reject.key, reject.reason) for reject in output.rejects] == refused
    # what a person edited was not run without it
    edit = review(known, instance, [], DecisionKind.EDIT, edits=edits(target_code=instance["target_code"] + "# x\n"))
    assert accept(known, scores=scores, reviews=[edit]).reasons.get(RejectReason.WEAK_TESTS) is None


def test_a_published_migration_carries_the_runs_of_both_sides() -> None:
    row = published(accept(world()), "published_migrations", "1.1")
    expected = {
        "reference_outcome": "passed",
        "source_in_target": "api_missing",
        "target_in_target": "passed",
        "target_in_source": "api_missing",
        "lock_id": "lock-1.1",
        "target_lock_id": "lock-2.0",
        "versions": ["2.0"],
        "discriminating": True,
        "evidence": "executed",
    }
    assert {column: row[column] for column in expected} == expected


SURVIVING = [None, Outcome.PASSED, Outcome.TIMED_OUT, Outcome.FLAKY, Outcome.SYNTAX_ERROR]


def surviving(basis: MigrationBasis, outcome: Outcome | None) -> World:
    """Migrations whose old code does not fail in the new release."""
    made = world()
    there = OLD["id"], "2.0"
    made = made.but(
        migrations=[row | {"basis": basis} for row in made.migrations],
        verdicts=[row for row in made.verdicts if (row["subject_id"], row["version"]) != there],
    )
    return made.with_run(*there, outcome) if outcome else made


@pytest.mark.parametrize("outcome", SURVIVING)
@pytest.mark.parametrize("basis", [MigrationBasis.EXAMPLE_CHANGED, MigrationBasis.REPLACEMENT])
def test_migrations_are_refused_where_the_old_code_does_not_fail(
    basis: MigrationBasis, outcome: Outcome | None
) -> None:
    output = accept(surviving(basis, outcome))
    assert [row["version"] for row in output.by_table["published_migrations"]] == ["2.0"]
    assert output.reasons == {"not_proven": 1}


@pytest.mark.parametrize(("basis", "count"), [(MigrationBasis.REPLACEMENT, 2), (MigrationBasis.DEPENDENT_CHANGED, 1)])
def test_where_others_are_mocked_only_the_api_itself_proves_a_migration(basis: MigrationBasis, count: int) -> None:
    output = accept(surviving(basis, Outcome.WRONG_EXCEPTION))
    assert len(output.by_table["published_migrations"]) == count


def test_a_downgrade_to_code_that_need_not_be_older_is_refused() -> None:
    made = surviving(MigrationBasis.REPLACEMENT, Outcome.PASSED).with_run(NEW["id"], "1.1", Outcome.PASSED)
    assert accept(made).by_table["published_migrations"] == []


def test_a_migration_is_refused_whose_answer_needs_no_name_of_the_library() -> None:
    made = world()
    output = accept(made.but(migrations=[row | {"target_code": "print(1)\n"} for row in made.migrations]))
    assert output.by_table["published_migrations"] == []
    assert output.reasons["no_check"] == len(made.migrations)


def test_a_block_of_another_language_carries_its_post() -> None:
    row = published(accept(world()), "published_block_completions", "2.0")
    expected: dict[str, Any] = {
        "masked_code": "import org.lib.[token-mask];\n\n[block-mask]\n",
        "core_token": "Page",
        "description": "Show a [API]",
        "source": "stack_overflow",
        "version_evidence": "text",
        "version_statement": "title: lib 2.0",
        "url": "https://example.org/a/2",
        "licence": "CC-BY-SA-4.0",
        "purl": None,
        "flags": [],
    }
    assert {column: row[column] for column in expected} == expected


def test_the_title_of_a_post_does_not_name_the_hidden_api() -> None:
    made = world()
    titled = [row | {"title": "Why is lib.Page empty? pages of lib"} for row in made.snippets]
    row = published(accept(made.but(snippets=titled)), "published_block_completions", "2.0")
    assert row["description"] == "Why is lib.[API] empty? [API] of lib"


def test_a_post_without_a_title_has_no_description() -> None:
    made = world()
    untitled = [row | {"title": None} for row in made.snippets]
    assert published(accept(made.but(snippets=untitled)), "published_block_completions", "2.0")["description"] is None


def part(world: World) -> World:
    """The same, whose new example is part of somebody's project, and is not run."""
    snippets = [row | {"source": SnippetSource.DOWNSTREAM} if row["id"] == NEW["id"] else row for row in world.snippets]
    return world.but(snippets=snippets, verdicts=[row for row in world.verdicts if row["subject_id"] != NEW["id"]])


def test_project_code_is_published_if_a_probe_passes() -> None:
    output = accept(part(world()))
    assert output.reasons == {"no_environment": 2}, "both migrations, whose sides must run"
    row = published(output, "published_completions", "2.0")
    seen = [row[column] for column in ("reference_outcome", "evidence", "neighbour_outcome", "lock_id", "python")]
    assert seen == [None, "executed", "api_missing", "lock-2.0", "3.9"]


@pytest.mark.parametrize(
    ("code", "masked_code", "level", "evidence"),
    [
        ("def f():\n    load(1)\n", "def f():\n    [line-mask]\n", "line", "static"),
        ("def f():\n    load(1)\nf()\n", "def f():\n    [line-mask]\nf()\n", "line", "executed"),
        ("def f():\n    a = 1\n    load(1)\n", "def f():\n    [block-mask]\n", "block", "static"),
        ("def f():\n    load(1)\n", "def f():\n    [token-mask](1)\n", "token", "static"),
        (
            "from lib import load\ndef f():\n    load(1)\n",
            "from lib import [token-mask]\ndef f():\n    [token-mask](1)\n",
            "token",
            "executed",
        ),
        (
            "from lib import load\ndef f():\n    load(1)\n",
            "from lib import [token-mask]\ndef f():\n    [line-mask]\n",
            "line",
            "static",
        ),
        ("load(1)\ndef f():\n    pass\n", "[line-mask]\ndef f():\n    pass\n", "line", "executed"),
    ],
)
def test_a_mask_where_nothing_runs_is_not_executed(code: str, masked_code: str, level: str, evidence: str) -> None:
    made = world()
    changed = {"code": code, "masked_code": masked_code, "granularity": level}
    rows = [row | changed if row["version"] == "2.0" else row for row in made.completions]
    assert published(accept(made.but(completions=rows)), "published_completions", "2.0")["evidence"] == evidence


@pytest.mark.parametrize(
    ("outcome", "detail"),
    [(Outcome.API_MISSING, "2.0: a probe of lib.load came out as api_missing"), (None, "lib.load cannot be probed")],
)
def test_project_code_is_refused_if_no_probe_passes(outcome: Outcome | None, detail: str) -> None:
    made = part(world())
    kept = [row for row in made.verdicts if (row["subject_id"], row["version"]) != ("lib.load", "2.0")]
    made = made.but(verdicts=kept)
    output = accept(made.with_run("lib.load", "2.0", outcome) if outcome else made)
    (instance,) = (row["id"] for row in made.completions if row["version"] == "2.0")
    (refused,) = (reject for reject in output.rejects if reject.key == instance)
    assert (refused.reason, refused.detail) == ("not_proven", detail)


REFUSALS: dict[str, tuple[Callable[[World], World], dict[str, int]]] = {
    # 1.1's completion and both migrations rest on the old snippet in 1.1.
    "a reference that fails": (lambda w: w.with_run(OLD["id"], "1.1", Outcome.FAILED_ASSERTION, "1 != 2"), {"not_proven": 3}),
    "a reference that was not run": (
        lambda w: w.but(verdicts=[row for row in w.verdicts if row["subject_id"] != NEW["id"]]),
        {"no_environment": 3},
    ),
    "an API that is there after its removal": (lambda w: w.with_run("lib.fetch", "2.0", Outcome.PASSED), {"label_refuted": 3}),
    "an API that was there before": (lambda w: w.with_run("lib.load", "1.1", Outcome.PASSED), {"label_refuted": 2}),
    "a licence off the list": (lambda w: w.but(snippets=[w.snippets[0], w.snippets[1] | {"licence": "GPL-3.0-only"}, POST]), {"licence": 3}),
    "no licence": (lambda w: w.but(snippets=[row | {"licence": None} for row in w.snippets]), {"licence": 6}),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_refused(case: str) -> None:
    spoil, reasons = REFUSALS[case]
    output = accept(spoil(world()))
    assert output.reasons == reasons
    assert output.units_out == 7 - sum(reasons.values())


def test_a_change_is_executed_where_probes_in_both_releases_agree_with_it() -> None:
    [row] = accept(world()).tables["published_changes"]
    assert (row["evidence"], row["old_outcome"], row["new_outcome"]) == ("executed", "passed", "api_missing")


def test_a_change_that_nobody_ran_keeps_its_evidence() -> None:
    [row] = accept(world().but(verdicts=[])).tables["published_changes"]
    assert (row["evidence"], row["old_outcome"], row["new_outcome"]) == ("static", None, None)


def test_a_removal_that_still_runs_is_no_removal_and_nothing_refers_to_it() -> None:
    output = accept(world().with_run("lib.fetch", "2.0", Outcome.PASSED))
    assert output.tables["published_changes"] == []
    assert {row["change_id"] for row in output.tables["published_completions"]} == {None}
    [reject] = [reject for reject in output.rejects if reject.key == RENAMED["id"]]
    assert (reject.reason, reject.detail) == ("label_refuted", "renamed: lib.fetch runs in 1.1 and in 2.0")


def test_the_detail_of_a_failing_reference_has_its_outcome() -> None:
    output = accept(world().with_run(OLD["id"], "1.1", Outcome.FAILED_ASSERTION, "1 != 2"))
    assert {reject.detail for reject in output.rejects} == {"1.1: failed_assertion: 1 != 2"}


def test_the_detail_of_a_missing_environment_has_the_cause() -> None:
    made = world()
    made = made.but(verdicts=[row for row in made.verdicts if row["version"] != "2.0"])
    environments = [{"version": "2.0", "outcome": EnvironmentOutcome.UNRESOLVABLE, "detail": "no wheel"}]
    assert {reject.detail for reject in accept(made, environments=environments).rejects} == {
        "2.0: unresolvable: no wheel"
    }


def test_flags_hold_back_by_the_rules_and_others_are_columns() -> None:
    made = world()
    held, carried = made.one("completions", "1.0"), made.one("completions", "1.1")
    assert FlagKind.RENAME_UNSURE in QUALITY.hold_back
    assert FlagKind.AUDIT not in QUALITY.hold_back
    output = accept(made, [flag(held, FlagKind.RENAME_UNSURE), flag(carried, FlagKind.AUDIT)])
    assert [(reject.key, reject.reason, reject.detail) for reject in output.rejects] == [
        (held["id"], "flagged", "rename_unsure")
    ]
    row = published(output, "published_completions", "1.1")
    assert (row["flags"], row["review_status"]) == ([FlagKind.AUDIT], "pending")


def test_a_licence_that_spdx_does_not_know_is_an_error_in_the_rules(tmp_path) -> None:
    (tmp_path / "quality.yaml").write_text((RULES / "quality.yaml").read_text().replace("- ISC", "- ISCC"))
    with raises(RuleError, "quality.yaml", "ISCC", code="rule_name_invalid"):
        load(tmp_path / "quality.yaml", QualityRules)


def review(world: World, instance: Any, flags: list[FlagRow], kind: DecisionKind, **columns: Any) -> Any:
    """A `reviews` row on an instance as it is."""
    draft = next((row["text"] for row in world.drafts if row["subject_id"] == instance["id"]), None)
    family = Family.MIGRATION if "target_version" in instance else Family.COMPLETION
    row = {
        "instance_id": instance["id"],
        "library": LIBRARY,
        "family": family,
        "content": reviewed_content(family, instance, draft),
        "flags": sorted({row["kind"] for row in flags}),
        "kind": kind,
        "objection": Objection.BAD_CODE if kind == DecisionKind.REJECT else None,
        "edits": [],
        "runs": [],
        "annotators": 1,
        **columns,
    }
    table("reviews").check(row)
    return row


def edits(**values: str) -> list[Any]:
    return [{"name": name, "value": value} for name, value in values.items()]


def edit_run(subject: str, version: str, outcome: Outcome) -> Any:
    """A run of edited code."""
    told = {"subject": subject, "version": version, "outcome": outcome, "python": "3.11", "lock_id": "lock"}
    return told | {"detail": None, "code": None, "statements": None, "executed": None}


def test_a_rejected_instance_is_refused_with_the_reason() -> None:
    made = world()
    instance = made.one("completions", "2.0")
    output = accept(made, reviews=[review(made, instance, [], DecisionKind.REJECT)])
    (refused,) = [reject for reject in output.rejects if reject.key == instance["id"]]
    assert (refused.reason, refused.detail) == (
        RejectReason.REVIEWED_OUT,
        "bad_code: the code is wrong, incomplete or of no use",
    )


def test_a_held_back_instance_is_published_once_accepted() -> None:
    made = world()
    instance = made.one("completions", "2.0")
    flags = [flag(instance, FlagKind.NO_DESCRIPTION)]
    assert {reject.reason for reject in accept(made, flags).rejects} == {RejectReason.FLAGGED}
    row = published(
        accept(made, flags, reviews=[review(made, instance, flags, DecisionKind.ACCEPT)]),
        "published_completions",
        "2.0",
    )
    assert (row["review_status"], row["flags"]) == (ReviewStatus.ACCEPTED, [FlagKind.NO_DESCRIPTION])


@pytest.mark.parametrize(
    ("kind", "change", "expected"),
    [
        (DecisionKind.REJECT, {"content": "what it was"}, (None, ReviewStatus.PENDING)),
        (DecisionKind.ACCEPT, {"content": "what it was"}, (None, ReviewStatus.PENDING)),
        (DecisionKind.ACCEPT, {"flags": []}, (None, ReviewStatus.PENDING)),
        (DecisionKind.REJECT, {"flags": []}, (RejectReason.REVIEWED_OUT, None)),
    ],
    ids=["rejected, other content", "accepted, other content", "accepted, a new flag", "rejected, a new flag"],
)
def test_a_decision_on_earlier_content_reopens_a_sample(
    kind: DecisionKind, change: Any, expected: tuple[RejectReason | None, ReviewStatus | None]
) -> None:
    made = world()
    instance = made.one("completions", "2.0")
    flags = [flag(instance, FlagKind.AUDIT)]
    output = accept(made, flags, reviews=[review(made, instance, flags, kind) | change])
    reason = next((reject.reason for reject in output.rejects if reject.key == instance["id"]), None)
    rows = [row for row in output.tables["published_completions"] if row["version"] == "2.0"]
    assert (reason, rows[0]["review_status"] if rows else None) == expected


def test_an_acceptance_does_not_publish_a_refuted_instance() -> None:
    made = world().with_run("lib.load", "1.1", Outcome.PASSED)
    instance = made.one("completions", "2.0")
    flags = [flag(instance, FlagKind.LABEL_CONTRADICTED)]
    output = accept(made, flags, reviews=[review(made, instance, flags, DecisionKind.ACCEPT)])
    assert {reject.reason for reject in output.rejects if reject.key == instance["id"]} == {RejectReason.LABEL_REFUTED}


def test_an_edited_completion_is_published_as_edited_by_the_runs_of_the_edit() -> None:
    made = world()
    instance = made.one("completions", "2.0")
    masked = instance["masked_code"] + "print(2)\n"
    changed = edits(masked_code=masked, description="Prints it twice.")
    runs = [edit_run(NEW["id"], "2.0", Outcome.PASSED)]
    edit = review(made, instance, [], DecisionKind.EDIT, edits=changed, runs=runs)
    broken = made.with_run(NEW["id"], "2.0", Outcome.WRONG_EXCEPTION)
    row = published(accept(broken, reviews=[edit]), "published_completions", "2.0")
    assert row["code"] == instance["code"] + "# 2.0\nprint(2)\n"
    assert (row["id"], row["masked_code"], row["lock_id"]) == (instance["id"], masked, "lock")
    assert (row["review_status"], row["drafter"], row["model"]) == (ReviewStatus.EDITED, Drafter.ANNOTATOR, None)
    assert row["description"] == "Prints it twice."
    failed = edit | {"runs": [edit_run(NEW["id"], "2.0", Outcome.WRONG_EXCEPTION)]}
    refused = accept(made, reviews=[failed]).rejects
    assert {reject.reason for reject in refused if reject.key == instance["id"]} == {RejectReason.NOT_PROVEN}


def test_an_edited_version_brings_its_release_with_it() -> None:
    made = world()
    instance = made.one("completions", "1.1")
    tags = edits(version="1.0", libevolutioneval_tag="unchanged")
    runs = [edit_run(OLD["id"], version, Outcome.PASSED) for version in ("0.9", "1.0")]
    edit = review(made, instance, [], DecisionKind.EDIT, edits=tags, runs=runs)
    rows = accept(made, reviews=[edit]).tables["published_completions"]
    (row,) = [row for row in rows if row["id"] == instance["id"]]
    release = next(release for release in made.releases if release["version"] == "1.0")
    assert (row["version"], row["previous_version"], row["release_time"]) == ("1.0", "0.9", release["release_time"])
    assert (row["evidence"], row["neighbour_version"]) == (Evidence.EXECUTED, "0.9")


def test_an_edit_is_right_in_no_release_but_those_of_its_own_runs() -> None:
    """What came out in further releases, came out of the code before the edit."""
    made = world().with_run(NEW["id"], "0.9", Outcome.PASSED)
    instance = made.one("completions", "2.0")
    own = [edit_run(NEW["id"], "2.0", Outcome.PASSED), edit_run(NEW["id"], "1.1", Outcome.API_MISSING)]
    masked = edits(masked_code=instance["masked_code"] + "print(2)\n")
    edit = review(made, instance, [], DecisionKind.EDIT, edits=masked, runs=own)
    kept = published(accept(made), "published_completions", "2.0")
    changed = published(accept(made, reviews=[edit]), "published_completions", "2.0")
    assert (kept["versions"], changed["versions"]) == (["0.9", "2.0"], ["2.0"])


def test_an_edited_migration_is_right_in_no_release_but_those_of_its_own_runs() -> None:
    made = world().with_run(NEW["id"], "0.9", Outcome.PASSED)
    instance = next(row for row in made.migrations if row["target_version"] == "2.0")
    runs = [
        edit_run(instance["snippet_id"], instance["version"], Outcome.PASSED),
        edit_run(instance["snippet_id"], "2.0", Outcome.API_MISSING),
        edit_run(instance["target_snippet_id"], instance["version"], Outcome.API_MISSING),
        edit_run(instance["target_snippet_id"], "2.0", Outcome.PASSED),
    ]
    code = edits(target_code=instance["target_code"] + "print(x)\n")
    edit = review(made, instance, [], DecisionKind.EDIT, edits=code, runs=runs)
    outputs = accept(made), accept(made, reviews=[edit])
    rows = [row for output in outputs for row in output.tables["published_migrations"] if row["id"] == instance["id"]]
    assert [row["versions"] for row in rows] == [["0.9", "2.0"], ["2.0"]]


@pytest.mark.parametrize(("column", "mutants"), [("source_code", 8), ("target_code", None)])
def test_target_code_that_a_person_edited_has_no_score(column: str, mutants: int | None) -> None:
    made = world()
    instance = next(row for row in made.migrations if row["target_version"] == "2.0")
    changed = edits(**{column: instance[column] + "print(x)\n"})
    runs = [
        edit_run(instance["snippet_id"], instance["version"], Outcome.PASSED),
        edit_run(instance["snippet_id"], "2.0", Outcome.API_MISSING),
        edit_run(instance["target_snippet_id"], "2.0", Outcome.PASSED),
    ]
    edit = review(made, instance, [], DecisionKind.EDIT, edits=changed, runs=runs)
    scores = score_of_targets(made.migrations, MutationScore(8, 7))
    rows = accept(made, reviews=[edit], scores=scores).tables["published_migrations"]
    (row,) = [row for row in rows if row["id"] == instance["id"]]
    assert (row["review_status"], row["mutants"]) == (ReviewStatus.EDITED, mutants)


def test_an_edited_migration_is_proven_by_its_own_runs() -> None:
    made = world()
    made = made.but(migrations=[row | {"basis": MigrationBasis.REPLACEMENT} for row in made.migrations])
    instance = next(row for row in made.migrations if row["target_version"] == "2.0")
    code = instance["source_code"] + "print(x)\n"
    source, target = instance["snippet_id"], instance["target_snippet_id"]
    runs = [
        edit_run(source, instance["version"], Outcome.PASSED),
        edit_run(source, "2.0", Outcome.PASSED),
        edit_run(target, "2.0", Outcome.PASSED),
    ]
    edit = review(made, instance, [], DecisionKind.EDIT, edits=edits(source_code=code), runs=runs)
    output = accept(made, reviews=[edit])
    assert instance["id"] not in {row["id"] for row in output.tables["published_migrations"]}
    detail = next(reject.detail for reject in output.rejects if reject.key == instance["id"])
    assert detail == "replacement: what it replaces came out as passed in 2.0"
