"""In which releases programs run, in the real sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.stage import Runner, validation_stage
from pipeline.families.compatibilities.rules import CompatibilityRules
from pipeline.families.compatibilities.stage import _alike, compatibilities_stage
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.quality.acceptance.quality import QualityRules
from tests.families.completions_and_migrations.rows import releases
from tests.families.problems.examples import example
from tests.families.problems.stores import Store, bare_store, environment_row

LIBRARIES = {
    "1.0": "def fetch(number): return number\ndef fetch_all(number): return [number]\n",
    "1.1": "def fetch(number): return number\ndef fetch_all(number): return [number]\ndef load(number): return number\n",
    "1.2": "def load(number, again=1): return number * again\n",
    "1.10": "import time\ndef load(number, again=2): return number * again if number != 9 else time.sleep(60)\n",
}
RULES_OF_FAMILY = load(RULES / "compatibilities.yaml", CompatibilityRules)
FAILS = load(RULES / "quality.yaml", QualityRules).fails_in_target


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    environments = {}
    for version, code in LIBRARIES.items():
        (environment,) = bare_store(code, tmp_path_factory.mktemp("lib")).environments.values()
        environments[version] = replace(environment, lock_id=f"lock-{version}")
    return Store(environments)


CHANGE: dict[str, Any] = {"id": "change", "path": "lib.fetch", "new_version": "1.2"}
CHANGE["new"] = None
CHANGE["kind"] = ChangeKind.PARAMETER_DEFAULT


def program(code: str, path: str) -> Any:
    """A program of a test in 1.1."""
    return example(code, path, "1.1") | {"source": SnippetSource.OWN_TEST}


def tried(store: Store, *codes: str, paths: Sequence[str] = (), **tables: Any) -> Output:
    """The output for programs that show a change in 1.2, of `lib.fetch` unless `paths` say of what."""
    paths = paths or ["lib.fetch"] * len(codes)
    snippets = [program(code, path) for code, path in zip(codes, paths, strict=True)]
    witnesses = [
        {"change_id": "change", "old_snippet_id": row["id"], "old_path": path}
        | {"new_snippet_id": None, "new_path": None}
        for row, path in zip(snippets, paths, strict=True)
    ]
    rows: dict[str, Any] = {
        "releases": releases(*LIBRARIES),
        "snippets": snippets,
        "changes": [CHANGE],
        "behaviours": [],
        "witnesses": witnesses,
        "environments": [environment_row(version, store.environments[version]) for version in reversed(LIBRARIES)],
    }
    rows |= dict.fromkeys(("completions", "migrations", "symbols", "controlled_completions", "rewrites"), ()) | tables
    rules = load(RULES / "validation.yaml", ValidationRules).model_copy(update={"time_s": 3})
    runner = Runner(cast(EnvironmentStore, store), find_sandbox(), rules)
    rows |= validation_stage(cast(Any, {**rows, "changes": []}), runner).tables
    output = compatibilities_stage(cast(Any, rows), RULES_OF_FAMILY, FAILS)
    for row in output.tables["compatibilities"]:
        table("compatibilities").check(row)
    return output


FETCH = ">>> import lib\n>>> lib.fetch(1)\n1\n"


@pytest.mark.parametrize(
    ("code", "compatible", "asked"),
    [
        (FETCH, ["1.0", "1.1"], ["1.0", "1.1", "1.2", "1.10"]),
        (">>> import lib\n>>> lib.load(1)\n1\n", ["1.1", "1.2"], ["1.0", "1.1", "1.2", "1.10"]),
        (">>> import lib\n>>> lib.load(2, again=2)\n4\n", ["1.2", "1.10"], ["1.0", "1.1", "1.2", "1.10"]),
        # what takes too long says nothing of the library
        (">>> import lib\n>>> lib.load(9)\n9\n", ["1.1", "1.2"], ["1.0", "1.1", "1.2"]),
    ],
    ids=["removed", "with another result later", "a parameter that came", "a release in which it does not end"],
)
def test_the_answer_is_where_it_passes(store: Store, code: str, compatible: list[str], asked: list[str]) -> None:
    (row,) = tried(store, code).tables["compatibilities"]
    assert (row["compatible"], row["releases"], row["version"]) == (compatible, asked, "1.2")
    passed = [version for version, outcome in zip(asked, row["outcomes"], strict=True) if outcome == Outcome.PASSED]
    assert passed == compatible
    assert row["lock_id"] == environment_row(compatible[-1], store.environments[compatible[-1]])["lock_id"]


def test_a_program_of_no_listed_change_is_one_of_a_change_of_behaviour(store: Store) -> None:
    code = ">>> import lib\n>>> lib.load(2)\n2\n"
    witness = {"change_id": None, "new_version": "1.10", "old_snippet_id": program(code, "lib.load")["id"]}
    witness |= {"old_path": "lib.load", "new_snippet_id": None, "new_path": None}
    of_results = CHANGE | {"id": "results", "path": "lib.load", "canonical_path": "lib.load", "new_version": "1.10"}
    of_results |= {"kind": ChangeKind.BEHAVIOUR}
    (row,) = tried(store, code, paths=["lib.load"], witnesses=[witness], behaviours=[of_results]).tables[
        "compatibilities"
    ]
    assert (row["change_id"], row["path"], row["version"]) == ("results", "lib.load", "1.10")
    assert row["compatible"] == ["1.1", "1.2"]
    # Where running beside the same dependencies has not shown the change, there is none.
    output = tried(store, code, paths=["lib.load"], witnesses=[witness])
    assert (output.tables["compatibilities"], output.rejects) == ([], [])


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (">>> import lib\n>>> 1\n1\n", RejectReason.NOT_PROVEN),
        (">>> import lib\n>>> lib.nothing\n1\n", RejectReason.NOT_PROVEN),
        (">>> import lib\n>>> lib.fetch('1.10')\n'1.10'\n", RejectReason.LEAKS_ANSWER),
        (">>> import lib, warnings\n>>> lib.fetch(1)\n1\n", RejectReason.LEAKS_ANSWER),
        (">>> import lib\n>>> print(lib.fetch(''))\n<BLANKLINE>\n", RejectReason.NO_CHECK),
        (">>> import lib\n>>> print(type(lib.fetch).__name__)\nfunction\n", RejectReason.NO_CHECK),
        (">>> import lib\n>>> lib.fetch(1)\n1\n>>> lib._name\n2\n", RejectReason.UNFIT_NAME),
        (">>> import lib\n" + 24 * ">>> number = 1\n" + ">>> lib.fetch(1)\n1\n", RejectReason.TOO_LONG),
        (
            ">>> import lib\n>>> sorted(dir(lib))[-1] == 'load' and lib.load(2, again=1) == 2\nFalse\n",
            RejectReason.OTHER_CAUSE,
        ),
    ],
    ids=[
        "it passes everywhere",
        "it passes nowhere",
        "it names a release",
        "it speaks of warnings",
        "it prints a blank line",
        "it prints a type",
        "it has a private name of the library",
        "it is long",
        "it came back",
    ],
)
def test_what_is_refused(store: Store, code: str, reason: RejectReason) -> None:
    output = tried(store, code, FETCH)
    assert [row["compatible"] for row in output.tables["compatibilities"]] == [["1.0", "1.1"]]
    assert [reject.reason for reject in output.rejects] == [reason]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("strip", "rstrip_iter", True),
        ("to_tuple", "to_dict", False),
        ("JSONEncoder", "json_encoder", True),
        ("dft", "idft", True),
        ("dumps", "dump", True),
        ("dumps", "htmlsafe_dump", False),
        ("of", "by", False),
        ("flatten", "repeatfunc", False),
        ("is_sorted", "is_prime", False),
        ("iter_index", "iter_except", False),
        # a part of a word is another word
        ("send_file", "use_x_sendfile", False),
        ("date_and_delta", "abs_timedelta", False),
        ("at", "cat", False),
    ],
)
def test_like_names(one: str, other: str, expected: bool) -> None:
    assert _alike(one, other, RULES_OF_FAMILY.generic_words) is _alike(other, one, RULES_OF_FAMILY.generic_words)
    assert _alike(one, other, RULES_OF_FAMILY.generic_words) is expected


ALL = ">>> import lib\n>>> number = 1\n>>> lib.fetch_all(number)\n[1]\n"


@pytest.mark.parametrize(
    ("paths", "codes", "expected"),
    [
        (["lib.fetch", "lib.fetch_iter"], [FETCH, ALL], ["lib.fetch"]),
        (["lib.fetch_iter", "lib.fetch"], [ALL, FETCH], ["lib.fetch"]),
        (["lib.fetch", "lib.take_all"], [FETCH, ALL], ["lib.fetch", "lib.take_all"]),
        (["lib.fetch", "lib.Box.fetch_iter"], [FETCH, ALL], ["lib.Box.fetch_iter", "lib.fetch"]),
        # other releases
        (
            ["lib.fetch", "lib.fetch_iter"],
            [FETCH, ">>> import lib\n>>> lib.load(1)\n1\n"],
            ["lib.fetch", "lib.fetch_iter"],
        ),
        # programs on one API are for the acceptance to choose from
        (["lib.fetch", "lib.fetch"], [FETCH, ALL], ["lib.fetch", "lib.fetch"]),
        # what says little takes no other's place
        (
            ["lib.fetch", "lib.fetch_iter"],
            [">>> import lib\n>>> lib.fetch is None\nFalse\n", ALL],
            ["lib.fetch_iter"],
        ),
    ],
    ids=["the shorter", "in any order", "other names", "another class", "another answer", "one API", "trivia"],
)
def test_of_apis_with_like_names_in_one_release_the_shortest_program_is_a_row(
    store: Store, paths: list[str], codes: list[str], expected: list[str]
) -> None:
    output = tried(store, *codes, paths=paths)
    assert sorted(row["path"] for row in output.tables["compatibilities"]) == expected
    assert len(output.rejects) == len(paths) - len(expected)


def test_an_api_that_was_removed_and_restored_makes_a_row_if_changes_list_both(store: Store) -> None:
    code = ">>> import lib\n>>> sorted(dir(lib))[-1] == 'load' and lib.load(2, again=1) == 2\nFalse\n"
    went = CHANGE | {"id": "went", "kind": ChangeKind.REMOVED, "new_version": "1.1"}
    back = CHANGE | {"id": "back", "kind": ChangeKind.INTRODUCED, "new_version": "1.10"}
    for changes, compatible in (([CHANGE, went, back], [["1.0", "1.10"]]), ([CHANGE, went], [])):
        output = tried(store, code, changes=changes)
        assert [row["compatible"] for row in output.tables["compatibilities"]] == compatible


@pytest.mark.parametrize(
    ("kind", "code", "reason"),
    [
        (ChangeKind.REMOVED, ">>> import lib\n>>> lib.load(1)\n1\n", RejectReason.OTHER_CAUSE),
        (ChangeKind.KIND, FETCH, RejectReason.UNCHANGED),
        (ChangeKind.ATTRIBUTE_VALUE, FETCH, RejectReason.UNCHANGED),
    ],
    ids=["there with another result", "what kind of thing it is", "a value"],
)
def test_changes_that_make_no_row(store: Store, kind: ChangeKind, code: str, reason: RejectReason) -> None:
    output = tried(store, code, changes=[CHANGE | {"kind": kind}])
    assert [reject.reason for reject in output.rejects] == [reason]


def test_what_is_deprecated_at_once_is_asked_by_the_program_of_its_deprecation(store: Store) -> None:
    mark = CHANGE | {"id": "mark", "kind": ChangeKind.DEPRECATED}
    output = tried(store, FETCH, changes=[CHANGE, mark])
    assert [reject.reason for reject in output.rejects] == [RejectReason.OTHER_CAUSE]
    output = tried(store, FETCH, changes=[CHANGE | {"kind": ChangeKind.DEPRECATED}])
    assert [row["change_id"] for row in output.tables["compatibilities"]] == ["change"]
    output = tried(store, FETCH, changes=[CHANGE, mark | {"new_version": "1.1"}])
    assert [row["change_id"] for row in output.tables["compatibilities"]] == ["change"]


@pytest.mark.parametrize(
    ("text", "made"),
    [("`fetch` is now `_fetch`, a private member", 0), ("Use `fetch_all`.", 1), (None, 1)],
    ids=["private now", "another name", "no text"],
)
def test_what_a_deprecation_makes_private_is_not_asked(store: Store, text: str | None, made: int) -> None:
    output = tried(store, FETCH, changes=[CHANGE | {"kind": ChangeKind.DEPRECATED, "new": text}])
    assert len(output.tables["compatibilities"]) == made
    assert [reject.reason for reject in output.rejects] == [RejectReason.UNFIT_NAME] * (1 - made)


def test_the_filter_of_warnings_gives_nothing_away(store: Store) -> None:
    with_filter = f">>> import warnings\n>>> warnings.simplefilter('error')\n{FETCH}"
    asking = f">>> import warnings\n>>> bool(warnings.filters)\nTrue\n{FETCH}"
    output = tried(store, with_filter, asking)
    assert [row["compatible"] for row in output.tables["compatibilities"]] == [["1.0", "1.1"]]
    assert [reject.reason for reject in output.rejects] == [RejectReason.LEAKS_ANSWER]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (">>> import lib\n>>> for number in (1, 2):\n...     print(lib.fetch(number))\n1\n2\n", "1\n2\n"),
        (">>> import lib\n>>> given = lib.fetch(1)\n", ""),
    ],
)
def test_the_output_is_stated_whole(store: Store, code: str, expected: str) -> None:
    (row,) = tried(store, code).tables["compatibilities"]
    assert (row["output"], row["compatible"]) == (expected, ["1.0", "1.1"])


@pytest.mark.parametrize("text", ["lib.fetch(11.10)", "lib.fetch('1.10.1')", "lib.fetch('v1_10')"])
def test_other_numbers_name_no_release(store: Store, text: str) -> None:
    value = text.removeprefix("lib.fetch(").removesuffix(")")
    printed = repr(float(value)) if "." in value and "'" not in value else value
    output = tried(store, f">>> import lib\n>>> {text}\n{printed}\n")
    assert [row["compatible"] for row in output.tables["compatibilities"]] == [["1.0", "1.1"]]


def test_one_release_alone_asks_nothing(store: Store) -> None:
    environments = [environment_row("1.1", store.environments["1.1"])]
    missing = {**environment_row("1.2", store.environments["1.2"]), "outcome": EnvironmentOutcome.BUILD_FAILED}
    (reject,) = tried(store, FETCH, environments=[*environments, missing]).rejects
    assert reject.reason == RejectReason.NOT_PROVEN


def test_a_program_that_raises_is_a_reject_and_the_others_are_rows(store: Store) -> None:
    broken = program(">>> import lib\n>>> lib.load(1)\n1\n", "lib.load")
    del broken["library"]
    fine = program(FETCH, "lib.fetch")
    witnesses = [
        {"change_id": "change", "old_snippet_id": row["id"], "old_path": "lib.fetch"}
        | {"new_snippet_id": None, "new_path": None}
        for row in (broken, fine)
    ]
    output = tried(store, snippets=[broken, fine], witnesses=witnesses)
    assert [row["snippet_id"] for row in output.tables["compatibilities"]] == [fine["id"]]
    assert [reject.reason for reject in output.rejects] == [RejectReason.INTERNAL_ERROR]
