"""Completions made from documentation: the template, the versions, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.core.vocabularies.changes import ChangeKind, LibEvolutionEvalTag
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Access, Drafter
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.families.contexts.controlled import controlled_stage
from pipeline.families.contexts.rules import ContextRules
from pipeline.lake.rows import ChangeRow, SymbolRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.llm.writers import Improver, Request, Text, WriterResult
from tests.errors import raises
from tests.families.completions_and_migrations.rows import LIBRARY, TAGGING, change, life, releases, symbol
from tests.families.contexts.rows import CONTEXTS, WRITER, api_document, parameter

RELEASES = releases("1.0", "1.1", "2.0", before="0.9")
CLASS = {"kind": SymbolKind.CLASS}
METHOD = {"kind": SymbolKind.METHOD}


def run(
    documents: Sequence[Any],
    lives: Sequence[Any],
    changes: Sequence[ChangeRow] = (),
    writer: Improver = WRITER,
    symbols: Sequence[SymbolRow] = (symbol("lib.Box", "1.0", "2.0", **CLASS), symbol("lib.core.fetch", "1.0", "2.0")),
    **rules: Any,
) -> Output:
    chosen = CONTEXTS.controlled.model_copy(update=rules)
    output = controlled_stage(
        {"releases": RELEASES, "api_documents": documents, "symbols": symbols, "changes": changes, "lifecycles": lives},
        TAGGING,
        chosen,
        writer,
        ignore_case=True,
    )
    for row in output.tables["controlled_completions"]:
        table("controlled_completions").check(row)
    return output


def made(*arguments: Any, **rules: Any) -> list[Any]:
    return list(run(*arguments, **rules).tables["controlled_completions"])


def test_a_function_is_asked_for_by_what_its_document_says() -> None:
    parameters = [
        parameter("number"),
        parameter("size", mandatory=False),
        parameter("mode"),
        parameter("rest", mandatory=None),
    ]
    document = api_document(
        "lib.core.fetch", "Get a page of it. More.", "1.0", signature="(number, size=1, *, mode)", parameters=parameters
    )
    (row,) = made([document], [life("lib.core.fetch", "1.0", "2.0")])
    assert row == {
        "id": row["id"], "library": LIBRARY, "version": "1.1", "release_time": RELEASES[1]["release_time"],
        "previous_version": "1.0", "path": "lib.core.fetch", "kind": "function", "document_id": document["id"],
        "change_id": None, "versicode_tag": "general", "libevolutioneval_tag": "unchanged", "access": Access.DIRECT,
        "service": "lib.core", "description": "Get a page of it.", "redacted": False,
        "mandatory_arguments": ["number", "mode"], "hint": "lib.core.", "core_token": "fetch",
        "reference_call": "lib.core.fetch(number, mode=mode)", "left_context": (
            "import lib.core\n\n# Service: lib.core\n# Description: Get a page of it.\n"
            "# Arguments to pass: number, mode\nresult = "
        ),
    }  # fmt: skip


ON_ARGUMENTS: dict[str, tuple[list[str], str, str | None]] = {
    "of further arguments": (
        ["number", "*errors"],
        "If one of the errors is raised, the rest is left out.",
        "If one of the errors is raised, the rest is left out.",
    ),
    "of a mandatory argument": (["number", "mode"], "The mode is a letter. It is odd.", "The mode is a letter."),
    "of one that is named": (["number", "books"], "The books are old.", None),
    "of none": (["number", "*errors"], "Some are wrong.", None),
    "of one with a name of few letters": (["number", "a"], "It takes a page of it.", None),
    "with the name of the API": (["number", "*errors"], "To fetch despite of errors is odd.", None),
    "with the name of another": (["number", "*errors"], "All errors are raised as by fetch_all.", None),
    "of an example": (["number", "*errors"], "An example of errors is one.", None),
    "cut at an abbreviation": (["number", "*errors"], "All are taken, e.g. errors of it.", None),
    "of keywords": (["number", "**errors"], "All errors are passed on.", None),
}


@pytest.mark.parametrize("case", ON_ARGUMENTS)
def test_a_description_has_a_sentence_on_an_argument_that_the_first_one_leaves_out(case: str) -> None:
    names, further, addition = ON_ARGUMENTS[case]
    parameters = [parameter(name, mandatory=not name.startswith("*")) for name in names]
    first = "Get printed pages of long books for patient readers."
    document = api_document(
        "lib.fetch", f"{first} {further}", "1.0", signature=f"({', '.join(names)})", parameters=parameters
    )
    (row,) = made([document], [life("lib.fetch", "1.0", "2.0")])
    assert row["description"] == (f"{first} {addition}" if addition else first)
    assert f"# Description: {row['description']}\n" in row["left_context"]


def test_a_text_of_a_model_is_not_completed() -> None:
    text = "Deprecated since 1.0. If one of the errors is raised, the rest is left out."
    document = api_document("lib.fetch", text, "1.0", parameters=[parameter("*errors", mandatory=False)])
    (row,) = made([document], [life("lib.fetch", "1.0", "2.0")], writer=Asked("Get pages in one go."))
    assert row["description"] == "Get pages in one go."


def test_variadic_arguments_are_in_prompt_and_reference() -> None:
    parameters = [
        parameter("number"),
        parameter("*pages", mandatory=False),
        parameter("mode"),
        parameter("**options", mandatory=False),
    ]
    signature = "(number, *pages, mode, **options)"
    document = api_document("lib.fetch", "Get a page of it.", "1.0", signature=signature, parameters=parameters)
    (row,) = made([document], [life("lib.fetch", "1.0", "2.0")])
    assert row["mandatory_arguments"] == ["number", "mode"]
    assert "# Arguments to pass: number, *pages, mode\n" in row["left_context"]
    assert row["reference_call"] == "lib.fetch(number, *pages, mode=mode)"


def test_a_method_is_asked_for_on_an_object_of_its_class() -> None:
    document = api_document("lib.Box.take", "Return what is in it.", "1.0", signature="()", parameters=[], **METHOD)
    (row,) = made([document], [life("lib.Box.take", "1.0", "2.0")])
    assert (row["access"], row["hint"], row["reference_call"]) == (Access.INDIRECT, "instance.", "instance.take()")
    assert row["left_context"] == (
        "import lib\n\n\ndef use(instance: lib.Box):\n    # Service: lib.Box\n"
        "    # Description: Return what is in it.\n    # Arguments to pass: none\n    return "
    )


@pytest.mark.parametrize("label", ["classmethod", "staticmethod"])
def test_class_methods_are_called_on_the_class(label: str) -> None:
    document = api_document("lib.Box.unique", "Make one of other things.", "1.0", parameters=[], **METHOD)
    states = [
        symbol("lib.Box", "1.0", "2.0", **CLASS),
        symbol("lib.Box.unique", "1.0", "1.1", labels=[label], **METHOD),
        symbol("lib.Box.unique", "2.0", **METHOD),
    ]
    rows = made([document], [life("lib.Box.unique", "1.0", "2.0", modified=["2.0"])], symbols=states)
    calls = {row["version"]: (row["access"], row["hint"], row["reference_call"]) for row in rows}
    assert calls == {
        "1.1": (Access.DIRECT, "lib.Box.", "lib.Box.unique()"),
        "2.0": (Access.INDIRECT, "instance.", "instance.unique()"),
    }
    (first,) = [row for row in rows if row["version"] == "1.1"]
    assert first["left_context"] == (
        "import lib\n\n# Service: lib.Box\n# Description: Make one of other things.\n"
        "# Arguments to pass: none\nresult = "
    )


def test_an_api_is_asked_for_once_and_wherever_it_changes() -> None:
    documents = [
        api_document("lib.f", "Get a page of it.", "1.0", "1.1"),
        api_document("lib.f", "Get it all at once.", "2.0"),
    ]
    rows = made(documents, [life("lib.f", "1.0", "2.0", modified=["2.0"])])
    assert [(row["version"], row["libevolutioneval_tag"], row["description"]) for row in sorted(rows, key=lambda r: r["version"])] == [
        ("1.1", LibEvolutionEvalTag.UNCHANGED, "Get a page of it."),
        ("2.0", LibEvolutionEvalTag.MODIFIED, "Get it all at once."),
    ]  # fmt: skip


def test_what_comes_and_goes_has_its_change() -> None:
    documents = [
        api_document("lib.old", "Get a page of it.", "1.0", "1.1"),
        api_document("lib.new", "Get it all.", "2.0"),
    ]
    lives = [life("lib.old", "1.0", "1.1", removed_in="2.0"), life("lib.new", "2.0", "2.0", introduced=True)]
    changes = [
        change(ChangeKind.REMOVED, "lib.old", "1.1", "2.0"),
        change(ChangeKind.INTRODUCED, "lib.new", "1.1", "2.0"),
    ]
    rows = {row["path"]: row for row in made(documents, lives, changes)}
    assert {path: row["libevolutioneval_tag"] for path, row in rows.items()} == {
        "lib.old": "deprecated",
        "lib.new": "introduced",
    }
    assert [rows["lib.old"]["change_id"], rows["lib.new"]["change_id"]] == [row["id"] for row in changes]


def test_an_api_that_no_release_offers_has_no_completion() -> None:
    documents = [api_document("lib.cmp", "Compare two versions.", "1.0", "1.1")]
    removed = change(ChangeKind.REMOVED, "lib.cmp", "1.1", "2.0")
    lives = [life("lib.cmp", "1.0", "1.1", removed_in="2.0")]
    assert made(documents, lives, [removed])
    unlisted = removed | {"reach": "unlisted"}
    assert not made(documents, lives, [unlisted])
    assert made(documents, lives, [unlisted, removed | {"kind": ChangeKind.PARAMETER_TYPE, "id": "listed once"}])


REFUSED = {
    "the module is called alike": (
        api_document("lib.take.take", "Return what is in it.", "1.0"),
        RejectReason.LEAKS_ANSWER,
    ),
    "an argument is called alike": (
        api_document("lib.take", "Return what is in it.", "1.0", parameters=[parameter("take")]),
        RejectReason.LEAKS_ANSWER,
    ),
    "nothing is described": (api_document("lib.take", "Deprecated since 1.0.", "1.0"), RejectReason.NO_TEXT),
    "all its arguments are optional": (
        api_document("lib.take", "Return what is in it.", "1.0", parameters=[parameter("size", mandatory=False)]),
        RejectReason.TOO_SHORT,
    ),
    "nobody knows it": (api_document("lib.unknown", "Return what is in it.", "1.0"), RejectReason.UNRESOLVED_NAME),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_asked_for_is_refused(case: str) -> None:
    document, reason = REFUSED[case]
    output = run([document], [life(path, "1.0", "2.0") for path in ("lib.take", "lib.take.take")])
    assert [reject.reason for reject in output.rejects] == [reason]


@pytest.mark.parametrize(
    "document",
    [
        api_document("lib.Box.size", "How much is in it.", "1.0", signature=None, kind=SymbolKind.ATTRIBUTE),
        api_document("lib.Box.__len__", "How much is in it.", "1.0", **METHOD),
        api_document("lib.unseen", "Compiled and without a signature.", "1.0", signature=None),
    ],
    ids=lambda row: str(row["path"]),
)
def test_what_no_one_calls_by_name_is_no_candidate(document: Any) -> None:
    output = run([document], [life(document["path"], "1.0", "2.0")])
    assert (output.units_in, output.units_out) == (0, 0)


TWINS = {
    "the same sentence": ("lib.cut_all", "Cuts values from both ends. Returns a list.", ["number"], True),
    "in other lines": ("lib.cut_all", "Cuts values from\nboth ends.", ["number"], True),
    "further arguments": ("lib.cut_all", "Cuts values from both ends.", ["number", "*sizes"], False),
    "another argument": ("lib.cut_all", "Cuts values from both ends.", ["number", "size"], False),
    "another sentence": ("lib.cut_all", "Cuts values from one end.", ["number"], False),
    "another module": ("lib.core.cut_all", "Cuts values from both ends.", ["number"], False),
}


@pytest.mark.parametrize("case", TWINS)
def test_two_apis_that_are_described_alike_are_two_right_answers(case: str) -> None:
    path, text, arguments, twins = TWINS[case]
    documents = [
        api_document("lib.cut_iter", "Cuts values from both ends. Returns an iterator.", "1.0"),
        api_document(path, text, "1.0", parameters=[parameter(name) for name in arguments]),
    ]
    output = run(documents, [life(path, "1.0", "2.0"), life("lib.cut_iter", "1.0", "2.0")])
    assert (output.units_out, output.reasons) == ((0, {"several_answers": 2}) if twins else (2, {}))


def test_the_name_is_cut_out_where_every_sentence_has_it() -> None:
    (row,) = made(
        [api_document("lib.take", "Iterates all that take users want of it.", "1.0")], [life("lib.take", "1.0", "2.0")]
    )
    assert (row["description"], row["redacted"]) == ("Iterates all that [API] users want of it.", True)


def test_of_each_version_and_tag_so_many_are_kept_as_the_rules_say() -> None:
    names = [f"lib.f{letter}" for letter in "abcdef"]
    documents = [api_document(name, f"Get page {name[-1]} of it.", "1.0") for name in names]
    lives = [life(name, "1.0", "2.0", modified=["2.0"] * (number < 3)) for number, name in enumerate(names)]
    output = run(documents, lives, max_unchanged_per_version=2, max_changed_per_version=1)
    tags = sorted((row["version"], str(row["libevolutioneval_tag"])) for row in output.tables["controlled_completions"])
    assert tags == [("1.1", "unchanged"), ("1.1", "unchanged"), ("2.0", "modified")]
    assert output.reasons == {"over_quota": 6}
    again = run(documents[::-1], lives[::-1], max_unchanged_per_version=2, max_changed_per_version=1)
    assert again.tables == output.tables


def test_the_signature_of_a_site_need_not_be_python() -> None:
    document = api_document("lib.f", "Get a page of it.", "1.0", signature="(a[, b])", parameters=[parameter("a")])
    (row,) = made([document], [life("lib.f", "1.0", "2.0")])
    assert row["reference_call"] == "lib.f(a)"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{service}", "{servise}"),
        ("result = {hint}", "result = {hint}\n    # done"),
        ('"# {library}=={version}"', '"{library}=={version}"'),
        ('"# {library}=={version}"', '"# {version}"'),
    ],
)
def test_a_template_with_other_fields_is_an_error_that_names_the_file(tmp_path: Any, old: str, new: str) -> None:
    text = (RULES / "contexts.yaml").read_text()
    assert old in text
    path = tmp_path / "contexts.yaml"
    path.write_text(text.replace(old, new))
    with raises(RuleError, "contexts.yaml", code="rule_invalid"):
        load(path, ContextRules)


class Asked:
    """A writer that improves what is missing or redacted, and remembers what it was asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[str] = []

    def write(self, requests: Sequence[Request]) -> list[WriterResult]:
        return self.improve(requests, self.write_offline(requests))

    def write_offline(self, requests: Sequence[Request]) -> list[WriterResult]:
        return WRITER.write(requests)

    def improve(self, requests: Sequence[Request], written: Sequence[WriterResult]) -> list[WriterResult]:
        self.asked += [request.subject_id for request in requests]
        better = WriterResult(Text(self.text, False, Drafter.MODEL, "haiku", "0"))
        return [one if one.text and not one.text.redacted else better for one in written]


def of_library(**described: str) -> tuple[list[Any], list[Any]]:
    documents = [api_document(f"lib.{name}", text, "1.0") for name, text in described.items()]
    return documents, [life(f"lib.{name}", "1.0", "2.0") for name in described]


def test_a_model_is_asked_for_what_is_drawn_and_for_places_that_are_left() -> None:
    told = {name: f"Get page {name[-1]} of it." for name in ("fa", "fb", "fc")} | dict.fromkeys(
        ("take", "put", "drop"), "Deprecated."
    )
    for places, asked, rows in ((2, 2, 2), (4, 4, 4), (9, 6, 6)):
        writer = Asked("Get everything in one go.")
        output = run(*of_library(**told), writer=writer, max_unchanged_per_version=places)
        assert (len(writer.asked), output.units_out) == (asked, rows)
    offline = {row["id"] for row in made(*of_library(**told), max_unchanged_per_version=4)}
    online = {row["id"] for row in run(*of_library(**told), writer=writer, max_unchanged_per_version=4).tables["controlled_completions"]}  # fmt: skip
    assert offline < online, "a model adds rows"


def test_nobody_is_asked_for_what_leaks_however_it_is_described() -> None:
    document = api_document("lib.take", "Deprecated since 1.0.", "1.0", parameters=[parameter("take")])
    writer = Asked("Get everything in one go.")
    output = run([document], [life("lib.take", "1.0", "2.0")], writer=writer)
    assert (writer.asked, output.units_out) == ([], 0)


def test_what_was_drawn_stays_where_the_better_text_gives_the_name_away() -> None:
    documents, lives = of_library(take="Iterates all that take users want of it.")
    (offline,) = made(documents, lives)
    (row,) = run(documents, lives, writer=Asked("Call take on it all.")).tables["controlled_completions"]
    assert row == offline
