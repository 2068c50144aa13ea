"""Descriptions: plain sentences that say what code does and give no hidden name away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.samples import Drafter, DraftField
from pipeline.corpus.prose import plain, sentences
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.stage import instances_stage
from pipeline.lake.rows import SnippetRow
from pipeline.lake.schema import table
from pipeline.llm.names import cut_names, find_code_names, find_names, holds_words, redact, stem, without_parameters
from pipeline.llm.rules import DraftingRules
from pipeline.llm.stage import drafting_stage
from pipeline.llm.writers import OfflineWriter, Refusal, Request, Text, WriterResult
from tests.errors import raises
from tests.families.completions_and_migrations.rows import (
    CODEMODS,
    EXECUTABLE_SOURCES,
    TAGGING,
    change,
    document,
    life,
    releases,
    snippet,
    usages,
)

DRAFTING = load(RULES / "drafting.yaml", DraftingRules)

MARKUP = {
    "``code`` and `name`": "code and name",
    ":class:`~lib.core.Client` and :meth:`Client.get`": "Client and Client.get",
    ":func:`the text <lib.fetch>` of :py:data:`!X`": "the text of X",
    "`a site <https://example.org>`_ and `anchor`_": "a site and anchor",
    "*soft* and **loud** text [1]_, a * b * c": "soft and loud text, a * b * c",
    "an escaped \\`name\\` and `code`": "an escaped `name` and code",
    "takes \\*args and *args, **kwargs": "takes *args and *args, **kwargs",
    "[a page](https://example.org) of |version|": "a page of version",
    "over\ntwo   lines": "over two lines",
}


@pytest.mark.parametrize("text", MARKUP)
def test_plain(text: str) -> None:
    assert plain(text) == MARKUP[text]


DOCSTRINGS = {
    "first paragraph and the next": (
        "One thing. Two things!\nStill two?\n\nThree.",
        ["One thing.", "Two things!", "Still two?", "Three."],
    ),
    "abbreviations end nothing": (
        "Take a list, e.g. of names, i.e. strings, vs. bytes. Done.",
        ["Take a list, e.g. of names, i.e. strings, vs. bytes.", "Done."],
    ),
    "NumPy sections": ("Do it.\n\nParameters\n----------\nx : int\n    Not this.\n", ["Do it."]),
    "Google sections": ("Do it.\n\nArgs:\n    x: Not this.\n\nNot this either.", ["Do it."]),
    "Sphinx fields": ("Do it.\n\n:param x: Not this.\n:param int y: Not this.\n", ["Do it."]),
    "a field without an empty line before": ("Do it.\n:returns: Not this.\n", ["Do it."]),
    "epydoc fields": ("Do it.\n@param x: Not this.", ["Do it."]),
    "prompts": ("Do it::\n\n    >>> do()\n    Not this.\n\n>>> do()\nNot this.\n\nAfter it.", ["Do it::", "After it."]),
    "directives": (
        "Do it.\n\n.. versionadded:: 2.0\n   Not this.\n\n.. note:: Not this.\n\nMore.",
        ["Do it.", "More."],
    ),
    "fences": ("Do it.\n\n```python\nNot this.\n```\n\nMore.", ["Do it.", "More."]),
    "lists and tables": (
        "Do it.\n\n* Not this.\n- Not this.\n\n1. Not this.\n\n=====  ====\nNot    this\n\nMore.",
        ["Do it.", "More."],
    ),
    "an underlined title": ("The title\n=========\nDo it.", ["Do it."]),
    "nothing": ("", []),
}


@pytest.mark.parametrize("case", DOCSTRINGS)
def test_sentences(case: str) -> None:
    docstring, expected = DOCSTRINGS[case]
    assert sentences(docstring, DRAFTING.abbreviations) == expected


SPELLINGS = [
    ("split_at", "Uses split_at, SplitAt, split-at, split.at, Split At and splitAt", 6),
    ("split_at", "Split the list at each item", 0),
    ("split_at", "Split, at last", 0),
    ("SplitAt", "to split_at a point", 1),
    ("ipaddress", "an IP address, the ip_address, IPAddress", 3),
    ("IPAddress", "the ipaddress of it", 1),
    ("chunked", "in chunks, chunked, chunking, a chunk; chunky", 4),
    ("cache", "caching cached caches cache", 4),
    ("split", "splitting Splits split splitter", 4),
    ("copy", "copies copied copying copy", 4),
    ("get", "getting targets gets get_all", 1),  # too short to be inflected, but a word of another identifier
    ("all", "call the ball; All of them", 1),
    ("b64encode", "b64encode and base64 encode", 1),
    ("loads", "Deserialize a document (a load of it)", 1),
    ("Markup", "marks up text; mark-up and markup", 2),
    ("partial_ordering", "partial orderings, PartialOrderings; an ordering of parts, total_ordering", 2),
    ("atomic_save", "the AtomicSaver saves it at once", 1),
    ("_save", "It saves what was saved.", 2),
    ("sum_of_squares", "the sum of the squares; a sum of a list of squares", 1),
    ("to_tuple", "convert the object to a tuple, to the tuples", 2),
    ("a_list", "a list, the list, a the list", 2),
]


@pytest.mark.parametrize(("name", "text", "found"), SPELLINGS)
def test_a_name_is_detected_in_every_spelling(name: str, text: str, found: int) -> None:
    assert len(find_names(text, [name], DRAFTING)) == found


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("finalize_version", "Return the finalized version string.", ["finalized version"]),
        ("polynomialRoots", "Find polynomial's roots, that is polynomials-root.", ["polynomials-root"]),
        ("join_mappings", "Joined a mapping, joining, mappings are joined.", ["Joined a mapping"]),
        ("entry_of", "All entries of it, entry by entry.", ["entries of"]),
        ("is_valid", "It is a date, which valid ones are.", []),
    ],
)
def test_a_name_is_detected_in_other_forms_of_its_words(name: str, text: str, found: list[str]) -> None:
    assert [text[slice(*span)] for span in find_names(text, [name], DRAFTING)] == found


@pytest.mark.parametrize(
    ("name", "text", "held"),
    [
        ("DeclarativeBase", "Base class used for declarative class definitions.", True),
        ("polynomial_from_roots", "Compute a polynomial's coefficients by its roots.", True),
        ("polynomial_from_roots", "Compute a polynomial's coefficients of its terms.", False),
        ("is_first_of_all", "Say whether a date is the first one of a year.", False),
        ("jsonready_dump", "Write text that is ready for JSON readers.", True),
        ("jsonready_dump", "Write text that JSON readers accept.", False),
        ("parse_long_form", "Read a form that is long as a mapping.", True),
        ("parse_long_form", "Read a form as a mapping.", False),
        ("max_width", "The maximum width of a line.", True),
        ("max_width", "The maximum of a line.", False),
        ("add_edge", "Edges have an address.", False),
        ("row_sum", "A summary of each row.", False),
        ("dataframe", "A frame of data.", True),
    ],
)
def test_most_words_of_a_name_say_as_much_in_any_order(name: str, text: str, held: bool) -> None:
    assert holds_words(text, [name], DRAFTING) is held
    written = write(text, hidden=(name,))
    assert (written is None) is held
    statement = Request("id", DraftField.DESCRIPTION, (name,), (text,), "code", of_result=())
    said = OfflineWriter(DRAFTING).text(statement)
    assert said is not None
    assert said.text == text


def test_redact_leaves_the_rest() -> None:
    assert redact("Fetches, then fetch_all the URL.", ["fetch", "url"], DRAFTING) == "[API], then [API]_all the [API]."


@pytest.mark.parametrize(
    ("name", "text", "cut"),
    [
        (
            "is_valid",
            "Check if the string is a valid date of the calendar.",
            "Check if the string is a date of the calendar.",
        ),
        ("is_valid", "Check if a string is a valid date.", "Check if a string is a [API] date."),
        ("from_traceback", "Create a frame from the traceback *tb*.", "Create a frame from the [API] *tb*."),
        ("contains", "Whether the item is contained in this set.", "Whether the item is in this set."),
        ("adjacent", "Whether the item is adjacent to another.", "Whether the item is [API] to another."),
        ("metric", "Return a number with a metric SI unit appended.", "Return a number with an SI unit appended."),
        ("fetch", "Return a fetched union of pages and their words.", "Return a union of pages and their words."),
        ("the_a", "Return the a of it.", "Return the [API] of it."),
        ("split", "Split, then split_all the list.", "[API], then [API]_all the list."),
    ],
)
def test_what_is_cut_out_leaves_a_sentence(name: str, text: str, cut: str) -> None:
    assert cut_names(text, [name], DRAFTING) == cut


@given(st.from_regex(r"[a-z]{2,8}(_[a-z]{2,8}){0,2}", fullmatch=True), st.text(max_size=30), st.text(max_size=30))
def test_cut_text_has_no_names(name: str, before: str, after: str) -> None:
    text = cut_names(f"{before} {name} {after}", [name], DRAFTING)
    if name not in ("api",):
        assert not find_names(text.replace(DRAFTING.placeholder, ", , "), [name], DRAFTING)


@given(st.from_regex(r"[a-z]{2,8}(_[a-z]{2,8}){0,2}", fullmatch=True), st.text(max_size=30), st.text(max_size=30))
def test_redacted_text_has_no_names(name: str, before: str, after: str) -> None:
    text = redact(f"{before} {name} {after}", [name], DRAFTING)
    if name not in ("api",):
        assert not find_names(text.replace(DRAFTING.placeholder, ", , "), [name], DRAFTING)
    assert not re.search(rf"\b{name}\b", text)


@pytest.mark.parametrize(("word", "other"), [("one", "on"), ("use", "us"), ("class", "clause"), ("string", "strong")])
def test_other_words_have_other_stems(word: str, other: str) -> None:
    assert stem(word, DRAFTING.inflections) != stem(other, DRAFTING.inflections)


def write(*docstrings: str, hidden: tuple[str, ...] = ("fetch",)) -> Text | None:
    """Write a description of something that hides names."""
    return OfflineWriter(DRAFTING).text(Request("id", DraftField.DESCRIPTION, hidden, docstrings, "code"))


WRITTEN = {
    "the first sentence": (
        ["Get the whole page of an address.\n\nMore words of no use here."],
        "Get the whole page of an address.",
        False,
    ),
    "a later sentence where the first gives the name away": (
        ["Fetch the page.\n\nReads the whole answer into memory."],
        "Reads the whole answer into memory.",
        False,
    ),
    "a sentence of each docstring": (
        ["Get the page of an address.", "Send the form to it."],
        "Get the page of an address. Send the form to it.",
        False,
    ),
    "the same sentence once": (["Get the page of it."] * 2, "Get the page of it.", False),
    "only the docstring that does not give it away": (
        ["Fetches a page quickly.", "Send the form to it."],
        "Send the form to it.",
        False,
    ),
    "cut out where nothing else is there": (
        ["Get the whole page of an address as they fetch it."],
        "Get the whole page of an address as they [API] it.",
        True,
    ),
    "the predicate of a sentence about the name": (
        ["Same as in `other`, fetch returns the whole page."],
        "Returns the whole page.",
        False,
    ),
    "the name is used to do something": (["The fetch function is used to get a page."], "Get a page.", False),
    "what a noun with the name in it does": (
        ["A general page fetch that returns the whole of it to all. Has a cache."],
        "Returns the whole of it to all.",
        False,
    ),
    "the name is something": (["`fetch()` is a tool that gets pages."], "A tool that gets pages.", False),
    "an imperative is no predicate": (["Fetch a single page of it."], None, False),
    "a name before another noun": (
        ["Return the fetch order of all the printed pages."],
        "Return the [API] order of all the printed pages.",
        True,
    ),
    "a participle before a preposition needs no placeholder": (
        ["Return whether the page of it is fetched in the cache."],
        "Return whether the page of it is in the cache.",
        True,
    ),
    "an adjective behind an indefinite article needs no placeholder": (
        ["Read a page and return a fetch index of its words."],
        "Read a page and return an index of its words.",
        True,
    ),
    "what is said of a subject": (["Return True if the page of it is fetch and False otherwise."], None, False),
    "what is said of a subject, else": (["Return True if the page of it is fetch else False."], None, False),
    "what a program does": (["Subcommand: Gets a page of it."], None, False),
    "an adjective without which too little is left": (["Return a fetch order of all the pages."], None, False),
    "too little beside what is hidden, and the sentence behind it": (
        ["Returns the fetch value of the page.\n\nIf no address is found, the default is returned."],
        "Returns the [API] value of the page. If no address is found, the default is returned.",
        True,
    ),
    "a sentence that says little, and the one behind it": (
        ["Yield each of the pages from it.\n\nIf an error is raised, the iteration stops."],
        "Yield each of the pages from it. If an error is raised, the iteration stops.",
        False,
    ),
    "a sentence behind it with a word of the name": (
        ["Yield each of the pages from it.\n\nPrefetching may stop the iteration."],
        "Yield each of the pages from it.",
        False,
    ),
    "a sentence behind it that adds nothing": (
        ["Yield each of the pages from it.\n\nNew in version 2.0 of this library."],
        "Yield each of the pages from it.",
        False,
    ),
    "the error that is raised is not what it does": (
        ["Fetch the whole page.\n\nRaises KeyError if the address is absent."],
        None,
        False,
    ),
    "a name that is the noun": (["Return the next fetch of all the pages."], None, False),
    "no verb first": (["The fetch order of all the pages of it."], None, False),
    "the name twice": (["Get the page of an address as they fetch it, or fetch its parts."], None, False),
    "the verb is hidden": (["Fetch the whole page of an address at once."], None, False),
    "the object is hidden": (["Get the fetched of an address at once."], None, False),
    "too little beside what is hidden": (["Get it as they fetch."], None, False),
    "a later sentence about parameters": (
        ["Fetch the whole page.\n\nAddress and mode are passed to the server."],
        None,
        False,
    ),
    "a later sentence that begins with a verb": (
        ["Fetch the whole page.\n\nCounting bytes, reads to its end."],
        "Counting bytes, reads to its end.",
        False,
    ),
    "a deprecated API": (["This function is deprecated and gone soon."], None, False),
    "a colon becomes a full stop": (
        ["Get the page of an address::\n\n    x = 1\n"],
        "Get the page of an address.",
        False,
    ),
    "remarks describe nothing": (
        ["Deprecated since version 2.0 of it.\n\nIf there is none, fail loudly.", "See also the other function."],
        None,
        False,
    ),
    "a signature describes nothing": (
        ["fetch(address, mode) -> the page\n\nGet the page of it."],
        "Get the page of it.",
        False,
    ),
    "too short": (["Do it."], None, False),
    "too little left": (["Fetch a page."], None, False),
    "nothing": ([], None, False),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_offline_writer(case: str) -> None:
    docstrings, text, redacted = WRITTEN[case]
    written = write(*docstrings)
    assert (written and (written.text, written.redacted)) == (None if text is None else (text, redacted))


RESULTS = {
    "a later sentence on what comes out": (
        "Get the page of an address. It is old.\n\nIf there is none, None is returned.",
        (),
        "Get the page of an address. If there is none, None is returned.",
    ),
    "the sections on what comes out": (
        "Get the page of an address.",
        ("Returns: All of its words.", "Raises OSError: No server answers."),
        "Get the page of an address. Returns: All of its words. Raises OSError: No server answers.",
    ),
    "a section that only repeats it": (
        "Get the page of an address.",
        ("Returns: the page at the address.",),
        "Get the page of an address.",
    ),
    "a section with the name": (
        "Get the page of an address.",
        ("Returns: All words that were fetched.",),
        "Get the page of an address.",
    ),
    "a part on a parameter that is not passed": (
        r"Get the page of an address, or \`default\` if there is none.",
        (),
        "Get the page of an address.",
    ),
    "a sentence on a parameter that is not passed": (
        r"Get the page of an address.\n\nWith \`default\`, no error is raised.",
        (),
        "Get the page of an address.",
    ),
    "no sentence but one on a parameter that is not passed": (r"Get the \`default\` page of an address.", (), None),
    "a sentence on a parameter that is passed": (
        "Get the page of an address.\n\nThe server is asked \\`times\\` times.",
        (),
        "Get the page of an address. The server is asked `times` times.",
    ),
    "the sentence that compares it with another API is the last choice": (
        "The opposite of `send_page`. Returns True if a page is there.",
        (),
        "Returns True if a page is there.",
    ),
    "there is but a sentence that names another API": (
        "Calls send_page for each of the addresses.",
        (),
        "Calls send_page for each of the addresses.",
    ),
    "likeness says nothing of what comes out": (
        "Get the page of an address.\n\nSimilar to open in that it returns text.",
        (),
        "Get the page of an address.",
    ),
}


@pytest.mark.parametrize("case", RESULTS)
def test_descriptions_leave_out_parameters_that_are_not_passed(case: str) -> None:
    docstring, of_result, expected = RESULTS[case]
    request = Request("id", DraftField.DESCRIPTION, ("fetch",), (docstring.replace(r"\n", "\n"),), "code")
    asked = replace(request, of_result=of_result, omitted=frozenset({"default"}), others=frozenset({"send_page"}))
    written = OfflineWriter(DRAFTING).text(asked)
    assert (written and written.text) == expected


def test_without_asking_for_results_the_text_and_its_hash_stay() -> None:
    docstring = "Get the whole page of an address.\n\nIf there is none, None is returned."
    request = Request("id", DraftField.DESCRIPTION, ("fetch",), (docstring,), "code")
    written = [OfflineWriter(DRAFTING).text(each) for each in (request, replace(request, of_result=()))]
    assert [text.text for text in written if text] == [
        "Get the whole page of an address.",
        docstring.replace("\n\n", " "),
    ]
    assert len({text.prompt_sha256 for text in written if text}) == 2


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Return the first item.", "Return the first item."),
        ("Return the first item, or `default` if there is none.", "Return the first item."),
        ("Are all equal to one another, or optionally a value, `ref`.", "Are all equal to one another."),
        ("Yield each place in it, beginning at `key`.", "Yield each place in it."),
        ("For infinite iterators, setting `key` has no effect.", ""),
        ("Split it (at `sep`) into words.", "Split it into words."),
        ("Return the item as found by `key`.", ""),
        ("If `default` is given, return it, or raise an error.", ""),
        ("Keep it, unless `key` is set, or `default`.", "Keep it."),
    ],
)
def test_a_sentence_goes_without_its_part_on_a_parameter(text: str, cut: str) -> None:
    assert without_parameters(text, {"default", "key", "ref", "sep"}, DRAFTING) == cut


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("the value of the argument word", ["word"]),
        ("the word parameter of it", ["word"]),
        ("a word of strip_value", ["strip_value"]),
        ("a code of it", ["code"]),
        ("the word of it", []),
        ("a list of one-argument word", []),
        ("depending on the value of word", ["word"]),
        ("the n of a list", ["n"]),
        ("self.n and `n` and n_1", []),
    ],
)
def test_parameter_names_are_no_plain_words(text: str, named: list[str]) -> None:
    spans = find_code_names(text, {"word", "strip_value", "code", "n", "a"}, {"code"}, DRAFTING)
    assert [text[start:end] for start, end in spans] == named


def test_the_input_is_in_the_hash() -> None:
    one, other = write("Get the page of it."), write("Get the page of it.", hidden=("load",))
    assert one is not None
    assert other is not None
    assert one.text == other.text
    assert one.prompt_sha256 != other.prompt_sha256


def test_what_decides_the_text_is_in_the_hash() -> None:
    request = Request("id", DraftField.DESCRIPTION, ("most",), ("Get the page of it.",), "code")
    others = [
        replace(request, of_argument=("How many bytes are read.",)),
        replace(request, of_argument=("How many pages are read.",)),
        replace(request, fallback="Rewrite the code."),
        replace(request, fallback="Rewrite it."),
    ]
    written = [OfflineWriter(DRAFTING).text(each) for each in (request, *others)]
    assert len({text.prompt_sha256 for text in written if text}) == len(written)


def made_of(*snippets: SnippetRow) -> tuple[list[Any], list[Any]]:
    """Completions and migrations of snippets that use lib.fetch and lib.send."""
    result = [use for row in snippets for use in usages(row, {"fetch": "lib.fetch", "send": "lib.send"})]
    lives = [life("lib.fetch", "1.0", "2.0"), life("lib.send", "1.0", "2.0")]
    rules = load(RULES / "masking.yaml", MaskingRules).model_copy(update={"granularities": ("token",)})
    output = instances_stage(
        {
            "releases": releases("0.9", "1.0", "2.0"),
            "snippets": snippets,
            "usages": result,
            "symbols": [],
            "changes": [change(ChangeKind.KIND, "lib.fetch", "1.0", "2.0")],
            "lifecycles": lives,
        },
        TAGGING,
        rules,
        {},
        CODEMODS,
        EXECUTABLE_SOURCES,
    )
    return list(output.tables["completions"]), list(output.tables["migrations"])


STATED = [{"statement": "x", "expected": "7\n", "options": []}]
OLD = snippet("x = fetch(1, a=2)\n", "lib.fetch", "1.0", checks=STATED)
NEW = snippet("x = fetch(1, b=2)\n", "lib.fetch", "2.0", checks=STATED)
DOCUMENTS = [
    document("lib.fetch", "Fetch it quickly.\n\nReads the page of an address.", "1.0"),
    document("lib.fetch", "Reads the whole page of an address.", "2.0"),
    document("lib.send", "Send what was read elsewhere.", "1.0", "2.0"),
]


def test_every_instance_gets_a_draft_of_its_version() -> None:
    completions, migrations = made_of(OLD, NEW)
    output = drafting_stage(
        {"completions": completions, "migrations": migrations, "snippets": [OLD, NEW], "documents": DOCUMENTS}, DRAFTING
    )
    texts = {row["subject_id"]: row["text"] for row in output.tables["drafts"]}
    for row in output.tables["drafts"]:
        table("drafts").check(row)
    assert {(row["version"], texts[row["id"]]) for row in completions} == {
        ("1.0", "Reads the page of an address."),
        ("2.0", "Reads the whole page of an address."),
    }
    # Both directions share the description; the new side's sentence says nearly the same.
    assert {texts[row["id"]] for row in migrations} == {"Reads the page of an address."}
    assert (output.units_in, output.units_out) == (4, 4)


@pytest.mark.parametrize("docstring", ["Reads with b, and with a.", "Deprecated.", "Reads what fetch gives at once."])
def test_a_migration_without_a_sentence_free_of_names_says_what_to_do(docstring: str) -> None:
    """Neither the new parameter nor a hole in its place: the source code tells the rest."""
    _, migrations = made_of(OLD, NEW)
    tables: Any = {"completions": [], "migrations": migrations, "snippets": [OLD, NEW]}
    output = drafting_stage(tables | {"documents": [document("lib.fetch", docstring, "1.0", "2.0")]}, DRAFTING)
    assert {(row["text"], row["redacted"]) for row in output.tables["drafts"]} == {
        (f"The code uses `fetch` as lib {one} has it. Make it give the same with lib {other}.", False)
        for one, other in (("1.0", "2.0"), ("2.0", "1.0"))
    }


def test_a_new_parameter_is_hidden_though_an_attribute_has_its_name() -> None:
    sides = [
        snippet(f"x = fetch(1, {name}=fetch.b)\n", "lib.fetch", version, checks=STATED)
        for name, version in (("a", "1.0"), ("b", "2.0"))
    ]
    _, migrations = made_of(*sides)
    tables: Any = {"completions": [], "migrations": migrations, "snippets": sides}
    output = drafting_stage(tables | {"documents": [document("lib.fetch", "Reads with b.", "1.0", "2.0")]}, DRAFTING)
    texts = {row["subject_id"]: row["text"] for row in output.tables["drafts"]}
    assert [texts[row["id"]] == "Reads with b." for row in migrations if row["target_version"] == "2.0"] == [False]


@pytest.mark.parametrize(
    ("path", "other", "name"),
    [
        ("lib.Page.build", "lib.Leaf.build", "Page"),
        ("lib.fetch", "lib.load", "fetch"),
        ("lib.fetch", "lib.fetch", "fetch"),
        ("lib.fetch", "other.fetch", "fetch"),
        ("lib.core.fetch", "lib.fetch", "core"),
    ],
)
def test_the_text_of_a_migration_without_one_names_what_differs(path: str, other: str, name: str) -> None:
    _, migrations = made_of(OLD, NEW)
    moved = [row | {"path": path, "target_path": other} for row in migrations]
    output = drafting_stage({"completions": [], "migrations": moved, "snippets": [OLD, NEW], "documents": []}, DRAFTING)
    assert {row["text"].partition(" as lib ")[0] for row in output.tables["drafts"]} == {f"The code uses `{name}`"}


def test_the_core_api_is_described_not_the_one_that_the_example_documents() -> None:
    both = snippet("send(fetch(1))\n", "lib.fetch", "2.0")
    completions, _ = made_of(both)
    output = drafting_stage(
        {"completions": completions, "migrations": [], "snippets": [both], "documents": DOCUMENTS}, DRAFTING
    )
    texts = {row["subject_id"]: row["text"] for row in output.tables["drafts"]}
    assert {row["path"]: texts.get(row["id"]) for row in completions} == {
        "lib.fetch": "Reads the whole page of an address.",
        "lib.send": None,  # its own only sentence gives the name away
    }


@pytest.mark.parametrize(
    ("path", "name", "documented", "expected"),
    [
        (
            "lib.fetch",
            "most",
            document("lib.fetch", "Reads the page of an address.\n\n:param most: How many bytes are read.", "1.0"),
            "Reads the page of an address. How many bytes are read.",
        ),
        (
            "lib.fetch",
            "most",
            document(
                "lib.fetch",
                "Reads the page of an address.\n\n:param most: if given, remaining paragraphs are ignored.",
                "1.0",
            ),
            "Reads the page of an address. If given, remaining paragraphs are ignored.",
        ),
        (
            "lib.fetch",
            "most",
            document(
                "lib.fetch",
                "Reads most of a page.\n\nLike read(most). If ``most`` is given, remaining paragraphs are ignored.",
                "1.0",
            ),
            "If [API] is given, remaining paragraphs are ignored.",
        ),
        *(
            (
                "lib.fetch",
                "size",
                document(
                    "lib.fetch",
                    f"Reads a size of bytes.\n\n{quoted} The largest part of a page (size) is counted in bytes.",
                    "1.0",
                ),
                "The largest part of a page ([API]) is counted in bytes.",
            )
            for quoted in (
                "Each page comes from ``iter(func, size)`` here.",
                "Each page comes from fetch(len(page), (1, 2), size=size) here.",
                "Each page comes from page.size here.",
            )
        ),
        (
            "lib.fetch",
            "key",
            document("lib.fetch", "Reads by key.\n\nPages are ordered by key(page) of each address.", "1.0"),
            "Pages are ordered by [API](page) of each address.",
        ),
        (
            "lib.Page.size",
            "size",
            document("lib.Page", "Holds a page.\n\nAttributes:\n    size: Number of bytes of the text.", "1.0"),
            "Number of bytes of the text.",
        ),
        ("lib.Page.size", "size", document("lib.Page", "Holds a page of some text.", "1.0"), None),
    ],
)
def test_an_argument_or_member_is_described_by_its_part_of_a_docstring(
    path: str, name: str, documented: Any, expected: str | None
) -> None:
    completions = [row | {"path": path, "core_token": name} for row in made_of(OLD)[0]]
    output = drafting_stage(
        {"completions": completions, "migrations": [], "snippets": [OLD], "documents": [documented]}, DRAFTING
    )
    assert [row["text"] for row in output.tables["drafts"]] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("docstring", "reasons"),
    [
        ("Returns the value of the post timeout of a printed page.", {"no_text": 1}),
        ("Returns the value of the post timeout of a printed page, if any.", {}),
        ("Returns the value of another timeout of a printed page.", {}),
    ],
)
def test_what_describes_two_apis_without_their_names_is_no_text(docstring: str, reasons: dict[str, int]) -> None:
    completions, _ = made_of(OLD)
    own = document("lib.fetch", "Returns the value of the fetch timeout of a printed page.", "1.0")
    output = drafting_stage(
        {
            "completions": completions,
            "migrations": [],
            "snippets": [OLD],
            "documents": [own, document("lib.post", docstring, "1.0")],
        },
        DRAFTING,
    )
    assert output.reasons == reasons
    assert [row["redacted"] for row in output.tables["drafts"]] == [True] * (not reasons)


@pytest.mark.parametrize(
    "docstring",
    ["Cleans a text by the following procedures:", "Reads a page as described below.", "Sends data as follows:"],
)
def test_what_breaks_off_describes_nothing(docstring: str) -> None:
    assert OfflineWriter(DRAFTING).text(Request("1", DraftField.DESCRIPTION, ("fetch",), (docstring,), "")) is None


@pytest.mark.parametrize(
    ("docstring", "text"),
    [
        ("A near-mirror of is_iterable. Returns the scalars alone.", "Returns the scalars alone."),
        ("A near-mirror of :func:`is_iterable`.", None),
        ("The complement of unique().", None),
        ("Opposite of is_scalar.", None),
        ("Works like get_all.", None),
        ("Same as `get_all()`.", None),
        ("Same as get_all, but as a list of pairs.", "Same as get_all, but as a list of pairs."),
        ("Inverse of zip.", "Inverse of zip."),
    ],
)
def test_another_name_alone_describes_nothing(docstring: str, text: str | None) -> None:
    written = OfflineWriter(DRAFTING).text(Request("1", DraftField.DESCRIPTION, ("fetch",), (docstring,), ""))
    assert (written.text if isinstance(written, Text) else None) == text


def test_no_docstring_is_a_reject() -> None:
    completions, _ = made_of(OLD)
    output = drafting_stage(
        {"completions": completions, "migrations": [], "snippets": [OLD], "documents": []}, DRAFTING
    )
    assert output.reasons == {"no_text": 1}


def test_another_writer_has_the_interface_of_the_offline_one() -> None:
    class Model:
        def write(self, requests: Sequence[Request]) -> list[WriterResult]:
            texts = [f"about {len(request.docstrings)}" for request in requests]
            return [WriterResult(Text(text, False, Drafter.MODEL, "model-1", "0" * 64, 9, 7)) for text in texts]

    completions, _ = made_of(OLD)
    output = drafting_stage(
        {"completions": completions, "migrations": [], "snippets": [OLD], "documents": DOCUMENTS}, DRAFTING, Model()
    )
    (row,) = output.tables["drafts"]
    assert (row["text"], row["model"], row["tokens"], row["nano_usd"]) == ("about 1", "model-1", 9, 7)
    table("drafts").check(row)


@pytest.mark.parametrize(
    ("docstring", "waiting", "reasons", "noted", "refused"),
    [
        ("", True, {"draft_waiting": 1}, [], 0),
        ("", False, {"no_text": 1}, ["draft_refused"], 1),
        ("Send all that the fetch page holds to another one.", True, {}, ["draft_waiting"], 0),
        ("Send all that the fetch page holds to another one.", False, {}, ["draft_refused"], 1),
    ],
)
def test_a_missing_answer_is_an_error(docstring, waiting, reasons, noted, refused) -> None:
    class Silent:
        def write(self, requests: Sequence[Request]) -> list[WriterResult]:
            refusal = Refusal("it is not there", waiting, "model-1", "0" * 64, 2, 90, 70)
            return [WriterResult(item.text, refusal) for item in OfflineWriter(DRAFTING).write(requests)]

    completions, _ = made_of(OLD)
    documents = [document("lib.fetch", docstring, "1.0")] if docstring else []
    output = drafting_stage(
        {"completions": completions, "migrations": [], "snippets": [OLD], "documents": documents}, DRAFTING, Silent()
    )
    assert output.reasons == reasons
    assert [note.reason for note in output.notes] == noted
    assert [row["problem"] for row in output.tables["refused_drafts"]] == ["it is not there"] * refused
    for row in output.tables["refused_drafts"]:
        table("refused_drafts").check(row)


def test_a_broken_pattern_in_the_rules_is_named(tmp_path) -> None:
    text = (RULES / "drafting.yaml").read_text().replace("deprecated\\b", "(deprecated")
    (tmp_path / "drafting.yaml").write_text(text)
    with raises(RuleError, "drafting.yaml", "not_a_description.0", code="rule_invalid"):
        load(tmp_path / "drafting.yaml", DraftingRules)
