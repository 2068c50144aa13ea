"""Which other names pass the run of a completion, run in the real sandbox."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.core.vocabularies.samples import Granularity
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource, SymbolKind
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.stage import Runner
from pipeline.families.completions_and_migrations.alike import Descriptions
from pipeline.families.completions_and_migrations.other_answers import names_of_same, neighbours, other_answers_stage
from pipeline.lake.rows import CompletionRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.llm.rules import DraftingRules
from pipeline.quality.acceptance.quality import QualityRules
from tests.families.completions_and_migrations.rows import document, life, releases, symbol
from tests.families.problems.examples import MUTATION, example
from tests.families.problems.stores import Closed, Store, bare_store, environment_row, store_of

LIB = """
import time
VERSION = "1.1"
def first(items, default=None): return next(iter(items), default)
def smallest(items): return min(items)
def largest(items): return max(items)
def wait(items): time.sleep(5)
def pair(one, other): return one
def joined(items, sep=",", end="", *, last=""): return sep.join(items) + end + last
class Box:
    def __init__(self, items): self.items = items
    def pop(self): return self.items[0]
    def peek(self): return self.items[0]
    def size(self): return len(self.items)
"""


def parameters(*names: str, **defaults: str) -> list[Any]:
    return [
        {
            "name": name,
            "kind": ParameterKind.POSITIONAL_OR_KEYWORD,
            "default": defaults.get(name),
            "annotation": None,
            "known_from": ParameterSource.SIGNATURE,
            "deprecation": None,
        }
        for name in (*names, *defaults)
    ]


SYMBOLS = [
    symbol("lib", "1.1", kind=SymbolKind.MODULE, parameters=[]),
    symbol("lib.VERSION", "1.1", kind=SymbolKind.ATTRIBUTE, parameters=[]),
    symbol("lib.first", "1.1", parameters=parameters("items", default="None")),
    symbol("lib.smallest", "1.1", parameters=parameters("items")),
    symbol("lib.largest", "1.1", parameters=parameters("items")),
    symbol("lib.wait", "1.1", parameters=parameters("items")),
    symbol("lib.pair", "1.1", parameters=parameters("one", "other")),
    symbol("lib.joined", "1.1", parameters=parameters("items", sep="','", end="''", last="''")),
    symbol("lib.Box", "1.1", kind=SymbolKind.CLASS, parameters=[]),
    *(symbol(f"lib.Box.{name}", "1.1", kind=SymbolKind.METHOD, parameters=[]) for name in ("pop", "peek", "size")),
    # it came later
    symbol("lib.least", "1.2", parameters=parameters("items")),
]


def completion(docstring: str, path: str, token: str, **columns: Any) -> tuple[Any, CompletionRow]:
    snippet = example(docstring, path, "1.1")
    code = snippet["preamble"] + snippet["code"]
    row: CompletionRow = {
        "id": f"completion of {token}: {docstring}",
        "library": "lib",
        "version": "1.1",
        "path": path,
        "snippet_id": snippet["id"],
        "change_id": "change",
        "granularity": Granularity.TOKEN,
        "code": code,
        "masked_code": code.replace(token, "[token-mask]"),
        "answer": token,
        "core_token": token,
    }
    return snippet, {**row, **columns}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return bare_store(LIB, tmp_path_factory.mktemp("lib"))


DRAFTING = load(RULES / "drafting.yaml", DraftingRules)
FAILS = load(RULES / "quality.yaml", QualityRules).fails_in_target


def tried(store: Store, *completions: tuple[Any, CompletionRow], text: str | None = None, **tables: Any) -> Output:
    rows = [row for _, row in completions]
    given: Any = {
        "releases": releases("1.0", "1.1"),
        "symbols": SYMBOLS,
        "snippets": [snippet for snippet, _ in completions],
        "completions": rows,
        "drafts": [{"subject_id": row["id"], "text": text, "redacted": False} for row in rows if text],
        "documents": [],
        "lifecycles": [],
        "changes": [],
        "verdicts": [{"subject_id": row["snippet_id"], "version": "1.1", "outcome": Outcome.PASSED} for row in rows],
        "environments": [environment_row(version, place) for version, place in store.environments.items()],
    }
    runner = Runner(cast(EnvironmentStore, store), find_sandbox(), load(RULES / "validation.yaml", ValidationRules))
    output = other_answers_stage(given | tables, MUTATION, DRAFTING, FAILS, runner)
    assert output.units_in == output.units_out + len(output.rejects)
    for row in output.tables["other_answers"]:
        table("other_answers").check(row)
    return output


FIRST_SAYS = ">>> import lib\n>>> lib.smallest([1, 2])\n1\n"
FIRST = completion(FIRST_SAYS, "lib.smallest", "smallest")


@pytest.mark.parametrize(
    ("docstring", "path", "token", "number", "passing"),
    [
        # `pair` takes no single list, `wait` takes too long, `least` is of another release
        (">>> import lib\n>>> lib.smallest([1, 2])\n1\n", "lib.smallest", "smallest", 6, ["first"]),
        (">>> import lib\n>>> lib.smallest([2, 1])\n1\n", "lib.smallest", "smallest", 6, []),
        (">>> from lib import pair\n>>> pair(3, other=4)\n3\n", "lib.pair", "pair", 2, []),
        (">>> import lib\n>>> lib.Box([5, 6]).pop()\n5\n", "lib.Box.pop", "pop", 2, ["peek"]),
        (">>> import lib\n>>> lib.joined('ab', end='.')\n'a,b.'\n", "lib.joined", "end", 3, ["last"]),
        (">>> import lib\n>>> lib.joined('ab', sep='.')\n'a.b'\n", "lib.joined", "sep", 3, []),
    ],
)
def test_names_that_pass(store: Store, docstring: str, path: str, token: str, number: int, passing: list[str]) -> None:
    (row,) = tried(store, completion(docstring, path, token)).tables["other_answers"]
    assert (row["tried"], row["passing"]) == (number, passing)


def test_a_call_of_another_library_of_the_same_name_excludes_no_name(store: Store) -> None:
    docstring = (
        ">>> import lib, types\n>>> other = types.SimpleNamespace(smallest=max)\n"
        ">>> _ = other.smallest(1, 2)\n>>> lib.smallest([1, 2])\n1\n"
    )
    snippet, row = completion(docstring, "lib.smallest", "smallest")
    row["masked_code"] = row["code"].replace("lib.smallest", "lib.[token-mask]")
    (tried_names,) = tried(store, (snippet, row)).tables["other_answers"]
    assert (tried_names["tried"], tried_names["passing"]) == (6, ["first"])


@pytest.mark.parametrize(
    ("path", "token", "columns", "text", "count"),
    [
        ("lib.smallest", "smallest", {}, "Find the least of the items.", 0),
        ("lib.smallest", "items", {}, "Find the least of the items.", 1),
        ("lib.smallest", "smallest", {"change_id": None}, None, 0),
        ("lib.smallest", "smallest", {"granularity": Granularity.LINE}, None, 0),
    ],
    ids=["a text tells it", "the text is on the function", "not about a change", "a line"],
)
def test_what_is_run(store: Store, path: str, token: str, columns: Any, text: str | None, count: int) -> None:
    row = completion(">>> import lib\n>>> lib.smallest(items=[1, 2])\n1\n", path, token, **columns)
    assert tried(store, row, text=text).units_in == count


@pytest.mark.parametrize(("source", "count"), [("own_test", 0), ("change", 1)])
def test_a_text_without_the_name_says_too_little_of_code_that_was_written_from_a_change(
    store: Store, source: str, count: int
) -> None:
    snippet, row = FIRST
    drafts = [{"subject_id": row["id"], "text": "Find the [API] of the items.", "redacted": True}]
    assert tried(store, (snippet | {"source": source}, row), drafts=drafts).units_in == count


OLD = """
def least(items): return min(items)
def greatest(items): return max(items)
def early(items): return min(items)
def late(items): return min(items)
def joined(items, ending=""): return ",".join(items) + ending
"""
NEW = """
import time
def smallest(items): return min(items)
def joined(items, end=""): return ",".join(items) + end
def __getattr__(name):
    if name == "early": return smallest
    if name == "late": time.sleep(5)
    raise AttributeError(name)
"""
OF_BOTH = [
    symbol("lib", "1.0", "1.1", kind=SymbolKind.MODULE, parameters=[]),
    *(symbol(f"lib.{name}", "1.0", parameters=parameters("items")) for name in ("least", "greatest", "early", "late")),
    symbol("lib.joined", "1.0", parameters=parameters("items", ending="''")),
    symbol("lib.smallest", "1.1", parameters=parameters("items")),
    symbol("lib.joined", "1.1", parameters=parameters("items", end="''")),
]
TEXT = "Find the item which stands before all others."
SAME_SAYS = ">>> import lib\n>>> lib.smallest([2, 2])\n2\n"
JOINED_SAYS = ">>> import lib\n>>> lib.joined('ab', end='.')\n'a,b.'\n"


@pytest.mark.parametrize(
    ("docstring", "token", "text", "versions", "expected"),
    [
        (FIRST_SAYS, "smallest", None, ("1.0", "1.1"), (["early"], "1.0", ["least"])),
        (SAME_SAYS, "smallest", None, ("1.0", "1.1"), (["early"], "1.0", ["greatest", "least"])),
        (SAME_SAYS, "smallest", TEXT, ("1.0", "1.1"), ([], "1.0", ["least"])),
        (JOINED_SAYS, "end", TEXT, ("1.0", "1.1"), ([], "1.0", ["ending"])),
        (FIRST_SAYS, "smallest", None, ("0.8", "0.9"), ([], None, [])),
        (FIRST_SAYS, "smallest", None, ("0.9", "1.1"), ([], None, [])),
    ],
    ids=[
        "names, one that is still here without being public, one that takes too long",
        "a name that gives the same by chance",
        "the name that a text describes",
        "a parameter",
        "the change is of other releases",
        "the release has no environment",
    ],
)
def test_names_that_are_right_on_the_other_side_of_the_change(
    tmp_path_factory: pytest.TempPathFactory,
    docstring: str,
    token: str,
    text: str | None,
    versions: tuple[str, str],
    expected: tuple[list[str], str | None, list[str]],
) -> None:
    store = store_of({"1.0": OLD, "1.1": NEW}, tmp_path_factory.mktemp)
    changes: Any = [{"id": "change", "old_version": versions[0], "new_version": versions[1]}]
    documents = [document("lib.least", TEXT, "1.0"), document("lib.greatest", "Find the last of all.", "1.0")]
    path = "lib.joined" if token == "end" else "lib.smallest"
    of_both = {"symbols": OF_BOTH, "changes": changes, "documents": documents}
    (row,) = tried(store, completion(docstring, path, token), text=text, **of_both).tables["other_answers"]
    assert (row["passing"], row["neighbour_version"], row["neighbour_answers"]) == expected


def test_names_that_this_release_has_too_take_no_room(tmp_path_factory: pytest.TempPathFactory) -> None:
    shared = [f"smallest_{number}" for number in range(MUTATION.other_names)]
    symbols = [
        *OF_BOTH,
        *(symbol(f"lib.{name}", "1.0", "1.1", parameters=parameters("one", "two")) for name in shared),
    ]
    store = store_of({"1.0": OLD, "1.1": NEW}, tmp_path_factory.mktemp)
    changes: Any = [{"id": "change", "old_version": "1.0", "new_version": "1.1"}]
    (row,) = tried(store, FIRST, symbols=symbols, changes=changes).tables["other_answers"]
    assert row["neighbour_answers"] == ["least"]


@pytest.mark.parametrize(
    ("documents", "replaced", "number", "passing"),
    [
        ([document("lib.first", TEXT, "1.1")], [], 1, ["first"]),
        ([document("lib.largest", TEXT, "1.1")], [], 1, []),
        ([document("lib.pair", TEXT, "1.1")], [], None, []),
        ([document("lib.first", TEXT, "1.0")], [], None, []),
        ([document("lib.first", "Find the item which stands before one other.", "1.1")], [], None, []),
        ([], [("lib.smallest", "lib.first")], 1, ["first"]),
        ([], [("lib.smallest", "`first()`")], 1, ["first"]),
        ([], [("lib.first", "lib.smallest"), ("lib.largest", "lib.first")], 1, ["first"]),
    ],
    ids=[
        "the same words",
        "the same words, but it gives another value",
        "the same words, but its signature does not take the call",
        "the same words in another release",
        "other words",
        "the replacement",
        "the replacement in other words",
        "what is replaced",
    ],
)
def test_of_described_names_those_are_tried_that_the_text_describes_as_well(
    store: Store, documents: list[Any], replaced: list[tuple[str, str]], number: int | None, passing: list[str]
) -> None:
    lives = [life(path, "1.1", "1.1", replacement=other) for path, other in replaced]
    rows = tried(store, FIRST, text=TEXT, documents=documents, lifecycles=lives).tables["other_answers"]
    assert [(row["tried"], row["passing"]) for row in rows] == ([] if number is None else [(number, passing)])


@pytest.mark.parametrize(
    ("name", "columns", "passing"),
    [
        ("first", {"canonical_path": "lib.smallest"}, ["first"]),
        ("largest", {"canonical_path": "lib.smallest"}, []),
        ("first", {"value": "smallest"}, ["first"]),
        ("first", {"value": "other"}, []),
        # the two below are of one value, but one that says little, and members of no enumeration
        ("first", {"value": "None"}, []),
    ],
    ids=["an alias", "an alias that gives another value", "its value", "another value", "a value of many"],
)
def test_names_of_the_same_object_are_tried_whatever_the_text_says(
    store: Store, name: str, columns: Any, passing: list[str]
) -> None:
    symbols = [row | (columns if row["path"] == f"lib.{name}" else {}) for row in SYMBOLS]
    if columns.get("value") == "None":
        symbols = [row | ({"value": "None"} if row["path"] == "lib.smallest" else {}) for row in symbols]
    rows = tried(store, FIRST, text="Find the least of the items.", symbols=symbols).tables["other_answers"]
    assert [name for row in rows for name in row["passing"]] == passing


def test_members_of_an_enumeration_of_one_value_are_the_same() -> None:
    symbols = {
        path: symbol(path, "1.1") | {"value": value, "bases": bases}
        for path, value, bases in [
            ("lib.ns", None, ["enum.IntFlag"]),
            ("lib.ns.PRESORT", "1 << 11", []),
            ("lib.ns.PS", "1 << 11", []),
            ("lib.ns.P", "PRESORT", []),
            ("lib.ns.REAL", "INT | SIGNED", []),
            ("lib.ns.LOCALE", "1 << next(_counter)", []),
            ("lib.ns.L", "1 << next(_counter)", []),
            ("lib.ns.ONE", "enum.auto()", []),
            ("lib.ns.TWO", "enum.auto()", []),
            ("lib.Plain", None, ["object"]),
            ("lib.Plain.PS", "1 << 11", []),
            ("lib.Plain.SIZE", "1 << 11", []),
        ]
    }
    assert names_of_same("lib.ns.PRESORT", symbols) == {"PS", "P"}
    assert names_of_same("lib.ns.P", symbols) == {"PRESORT"}
    assert names_of_same("lib.ns.LOCALE", symbols) == {"L"}
    assert names_of_same("lib.ns.ONE", symbols) == set()
    assert names_of_same("lib.Plain.PS", symbols) == set()


@pytest.mark.parametrize(
    ("text", "hidden", "docstring", "other", "is_alike"),
    [
        (
            "Strips values from the end of an iterable.",
            "rstrip_iter",
            "Strips values from the end of an iterable.",
            "rstrip",
            True,
        ),
        (
            "Strips values from the end of an iterable.",
            "rstrip",
            "Strips values from the beginning and end of an iterable.",
            "strip",
            False,
        ),
        # one name shows in the other's text
        (
            "Return the PageRank of the nodes.",
            "pagerank_numpy_arrays",
            "Return the PageRank of the nodes.",
            "pagerank",
            True,
        ),
        (
            "Return the [API] item of both merged lists.",
            "largest",
            "Return the smallest item of both merged lists.",
            "smallest",
            True,
        ),
        ("Find the largest item of all.", "largest", "", "larger", False),
    ],
)
def test_descriptions_are_alike_without_either_name(
    text: str, hidden: str, docstring: str, other: str, is_alike: bool
) -> None:
    descriptions = Descriptions([document(f"lib.{other}", docstring, "1.1")], [], DRAFTING, MUTATION.like_description)
    assert list(descriptions.alike(text, f"lib.{hidden}", [other], "1.1")) == [other] * is_alike


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (9, ["a_path", "cycle", "path", "paths", "pith"]),
        (3, ["a_path", "path", "paths"]),
        (2, ["a_path", "paths"]),  # of the same file, the most similar
        (1, ["a_path"]),
    ],
)
def test_of_many_names_the_likeliest_mistakes_are_tried(most: int, expected: list[str]) -> None:
    names = {"all_paths": "b.py", "paths": "b.py", "path": "b.py", "a_path": "b.py", "cycle": "c.py", "pith": "c.py"}
    symbols = {f"lib.{name}": symbol(f"lib.{name}", "1.1") | {"file": file} for name, file in names.items()}
    symbols["lib.inside.all_paths"] = symbol("lib.inside.all_paths", "1.1")
    assert neighbours("lib.all_paths", (), symbols, most) == expected


def test_no_name_is_tried_where_the_program_itself_takes_too_long(store: Store) -> None:
    slow = completion(
        ">>> import lib, time\n>>> time.sleep(2)\n>>> lib.smallest([1, 2])\n1\n", "lib.smallest", "smallest"
    )
    (row,) = tried(store, slow).tables["other_answers"]
    assert (row["tried"], row["passing"]) == (0, [])


def test_a_name_whose_signature_python_cannot_have_is_not_tried(store: Store) -> None:
    """`async` was a name of a parameter until Python 3.7, as in Celery 4.1."""
    symbols = [*SYMBOLS, symbol("lib.later", "1.1", parameters=parameters("async"))]
    (row,) = tried(store, FIRST, symbols=symbols).tables["other_answers"]
    assert row["tried"] == 6


def test_a_program_that_did_not_pass_is_not_run(store: Store) -> None:
    assert tried(store, FIRST, verdicts=[]).units_in == 0


def test_a_release_that_is_built_no_longer_is_not_run(store: Store) -> None:
    missing = {**environment_row("1.1", store.environments["1.1"]), "outcome": EnvironmentOutcome.BUILD_FAILED}
    assert tried(store, FIRST, environments=[missing]).units_in == 0


def test_completions_whose_environment_raises_are_rejects(store: Store) -> None:
    output = tried(Closed(store.environments), FIRST)
    assert [(reject.key, reject.reason) for reject in output.rejects] == [(FIRST[1]["id"], RejectReason.INTERNAL_ERROR)]


def test_a_completion_that_raises_is_a_reject_and_the_others_are_run(store: Store) -> None:
    snippet, row = completion(">>> import lib\n>>> lib.largest([1, 2])\n2\n", "lib.largest", "largest")
    output = tried(store, (snippet, {**row, "masked_code": None}), FIRST)
    assert [each["completion_id"] for each in output.tables["other_answers"]] == [FIRST[1]["id"]]
    assert [reject.reason for reject in output.rejects] == [RejectReason.INTERNAL_ERROR]
