"""Masking is undone exactly, hides the name wherever it can be read, and refuses where it cannot."""

from __future__ import annotations

import ast
import csv
import inspect
import io
import itertools
import re
import shlex
import textwrap
import tokenize
import unicodedata
from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.completions_and_migrations.masks import MASKS, Masked, mask, readable, unmask
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import BrokenSource, Span, parse_source
from pipeline.lake.stage import Reject

MASKING = load(RULES / "masking.yaml", MaskingRules)
TOKEN, LINE, BLOCK = Granularity.TOKEN, Granularity.LINE, Granularity.BLOCK


def uses_of(code: str, names: tuple[str, ...]) -> list[Span]:
    """The spans of all names that are called in a program."""
    source = parse_source(code)
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            end = source.line_starts[(node.func.end_lineno or 0) - 1] + (node.func.end_col_offset or 0)
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name in names:
                found.append((end - len(name.encode()), end))
    return sorted(found)


def masked(
    code: str, level: Granularity, nth: int = 0, name: str = "fetch", others: tuple[str, ...] = ()
) -> Masked | Reject:
    """Mask around the nth call of a name."""
    use = uses_of(code, (name,))[nth]
    return mask(parse_source(code), use, uses_of(code, (name, *others)), level, MASKING)


TABLE = {
    "every identifier of the name": (
        TOKEN,
        "from lib import fetch\nx = fetch(1)\nprefetch = fetch(x, lib.fetch)\n",
        "from lib import [token-mask]\nx = [token-mask](1)\nprefetch = [token-mask](x, lib.[token-mask])\n",
        "fetch",
    ),
    "words of strings and comments, not parts of words": (
        TOKEN,
        'fetch(1)  # fetch it, prefetch not\nx = "to\\nfetch", f"{fetch(2)}", fetcher\n',
        '[token-mask](1)  # [token-mask] it, prefetch not\nx = "to\\n[token-mask]", f"{[token-mask](2)}", fetcher\n',
        "fetch",
    ),
    "words after any escape of a string": (
        TOKEN,
        'fetch("\\x20fetch \\u0020fetch \\U00000020fetch \\0fetch \\012fetch \\N{SPACE}fetch", r"\\fetch")\n',
        '[token-mask]("\\x20[token-mask] \\u0020[token-mask] \\U00000020[token-mask] \\0[token-mask] \\012[token-mask]'
        ' \\N{SPACE}[token-mask]", r"\\[token-mask]")\n',
        "fetch",
    ),
    "characters of several bytes before the use": (
        TOKEN,
        'é = "日本"; fetch("é")\n',
        'é = "日本"; [token-mask]("é")\n',
        "fetch",
    ),
    "a line keeps its indentation and comment": (
        LINE,
        "from lib import fetch\nif True:\n    x = fetch(1)  # one\n",
        "from lib import [token-mask]\nif True:\n    [line-mask]  # one\n",
        "x = fetch(1)",
    ),
    "a statement over several lines goes as a whole": (
        LINE,
        "x = [\n    fetch(1),\n    2,\n]\ny = 1\n",
        "[line-mask]\ny = 1\n",
        "x = [\n    fetch(1),\n    2,\n]",
    ),
    "the header of a compound statement": (LINE, "for x in fetch(1):\n    y = x\n", "[line-mask]\n    y = x\n", "for x in fetch(1):"),
    "a decorator": (LINE, "@fetch(1)\ndef f(): ...\n", "[line-mask]\ndef f(): ...\n", "@fetch(1)"),
    "two statements of one line": (LINE, "a = 1; b = fetch(a)\n", "[line-mask]\n", "a = 1; b = fetch(a)"),
    "no newline at the end": (LINE, "fetch(1)", "[line-mask]", "fetch(1)"),
    "the smallest compound statement": (
        BLOCK,
        "def f(a):\n    for x in a:\n        y = fetch(x)\n    return y\n",
        "def f(a):\n    [block-mask]\n    return y\n",
        "for x in a:\n        y = fetch(x)",
    ),
    "an elif belongs to its if": (
        BLOCK,
        "if a:\n    b = 1\nelif c:\n    fetch(c)\n",
        "[block-mask]\n",
        "if a:\n    b = 1\nelif c:\n    fetch(c)",
    ),
    "the head and docstring of a definition stay": (
        BLOCK,
        'import lib\n@lib.mark(1)\ndef f():\n    """Do it."""\n    a = 1\n    return fetch(a)\n',
        'import lib\n@lib.mark(1)\ndef f():\n    """Do it."""\n    [block-mask]\n',
        "a = 1\n    return fetch(a)",
    ),
    "flat code: from the first use to the last": (
        BLOCK,
        "from lib import fetch\na = 1\nb = fetch(a)\nc = b\nd = fetch(c)\ne = d\n",
        "from lib import [token-mask]\na = 1\n[block-mask]\ne = d\n",
        "b = fetch(a)\nc = b\nd = fetch(c)",
    ),
    "an import parts the run": (
        BLOCK,
        "a = fetch(0)\nimport os\nb = fetch(1)\nc = fetch(b)\n",
        "[block-mask]\nimport os\nb = [token-mask](1)\nc = [token-mask](b)\n",
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
def test_mask(case: str) -> None:
    level, code, expected, answer = TABLE[case]
    result = masked(code, level)
    if answer is None:
        assert isinstance(result, Reject)
        assert result.reason is RejectReason.NO_BLOCK
        return
    assert result == Masked(expected, answer)
    assert unmask(expected, level, answer, "fetch") == code


OTHERS = {
    "an argument of another call": "app.fetch(1)\nEnv(app, fetch=2)\n",
    "a keyword of a class": "class A(B, fetch=1): ...\napp.fetch(1)\n",
    "a parameter": "def f(fetch): ...\napp.fetch(1)\n",
    "a variable": "fetch = 3\napp.fetch(1)\n",
    "a variable of a loop": "for fetch in x: ...\napp.fetch(1)\n",
    "a variable of a comprehension": "x = [app.fetch(1) for fetch in y]\n",
}


@pytest.mark.parametrize("case", OTHERS)
def test_names_spelled_like_the_api_stay_unmasked_and_refuse_the_row(case: str) -> None:
    result = masked(OTHERS[case], TOKEN)
    assert isinstance(result, Reject)
    assert (result.reason, result.detail) == (RejectReason.LEAKS_ANSWER, "'fetch' is left to read")


def test_a_variable_that_is_the_api_is_masked() -> None:
    result = masked("fetch = lib.fetch\nfetch(1)\n", TOKEN)
    assert result == Masked("[token-mask] = lib.[token-mask]\n[token-mask](1)\n", "fetch")


def test_an_argument_of_the_api_is_masked_in_each_call() -> None:
    source = parse_source("f(1, fill=2)\nf(2, fill=3)\n")
    use = source.names["fill"][0]
    result = mask(source, use, [], TOKEN, MASKING)
    assert result == Masked("f(1, [token-mask]=2)\nf(2, [token-mask]=3)\n", "fill")


def test_a_run_after_an_import_is_masked_without_it() -> None:
    result = masked("a = fetch(0)\nimport os\nb = fetch(1)\nc = fetch(b)\n", BLOCK, nth=1)
    assert result == Masked("a = [token-mask](0)\nimport os\n[block-mask]\n", "b = fetch(1)\nc = fetch(b)")


def test_a_single_use_takes_the_other_uses_of_the_library_along() -> None:
    code = "from lib import fetch, send\nx = fetch(1)\ny = x\nsend(y)\n"
    assert masked(code, BLOCK, others=("send",)) == Masked(
        "from lib import [token-mask], send\n[block-mask]\n", "x = fetch(1)\ny = x\nsend(y)"
    )


REFUSED = {
    "in another case": (TOKEN, "import FETCH\nfetch(1)\n", RejectReason.LEAKS_ANSWER),
    "in a compatibility form": (TOKEN, "ｆetch = 1\nfetch(1)\n", RejectReason.LEAKS_ANSWER),
    "after an escape, in another case": (LINE, 'fetch(1)\nx = "\\tFetch"\n', RejectReason.LEAKS_ANSWER),
    "the text of a mask": (TOKEN, "fetch(1)  # [line-mask]\n", RejectReason.LEAKS_ANSWER),
    "one statement": (BLOCK, "a = 1\nfetch(1)\nb = 2\n", RejectReason.NO_BLOCK),
    "a block of one line": (BLOCK, "for a in b: fetch(a)\n", RejectReason.NO_BLOCK),
    "a block with an import": (BLOCK, "def f():\n    import os\n    fetch(1)\n", RejectReason.NO_BLOCK),
    "a long line": (LINE, "fetch(\n" + "    1,\n" * MASKING.line.max_lines + ")\n", RejectReason.NO_BLOCK),
    "a long block": (BLOCK, "def f():\n" + "    fetch(1)\n" * (MASKING.block.max_lines + 1), RejectReason.NO_BLOCK),
    "the head of a definition": (BLOCK, "@fetch(1)\ndef f():\n    a = 1\n    b = 2\n", RejectReason.NO_BLOCK),
    "a body of one statement": (BLOCK, "def f():\n    return fetch(1)\n", RejectReason.NO_BLOCK),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    level, code, reason = REFUSED[case]
    result = masked(code, level)
    assert isinstance(result, Reject)
    assert result.reason is reason


@pytest.mark.parametrize(
    ("name", "shown", "refused"),
    [
        ("read_gpickle", "lib.write_gpickle", True),
        ("write_gpickle", "lib.read_gpickle", True),
        ("read_gpickle", "# beside write_gpickle", True),
        ("add_edges_from", "lib.remove_edges_from", True),
        ("toJson", "from_json", True),
        ("MinSizeError", "MaxSizeError", True),
        ("max_size", "f(min_size=1)", True),
        ("read_gpickle", "lib.read_gml", False),
        ("read_gpickle", "lib.write_gml", False),
        ("read_gpickle", "lib.write_gpickle_file", False),
        ("read_to_end", "lib.write_from_end", False),
        ("jit_data", "jit_graph", False),
        ("to", "from_", False),
        ("get", "set", False),
    ],
)
@pytest.mark.parametrize("level", [TOKEN, LINE])
def test_the_opposite_of_a_hidden_name_gives_it_away(name: str, shown: str, refused: bool, level: Granularity) -> None:
    result = masked(f"{shown}\nlib.{name}(1)\n", level, name=name)
    assert isinstance(result, Reject) is refused
    if isinstance(result, Reject):
        assert result.reason is RejectReason.LEAKS_ANSWER


@pytest.mark.parametrize("head", ["def f(a: fetch(1)):", "async def f(a=fetch(1)):", "class F(fetch(1)):"])
def test_nobody_can_know_the_first_line_of_a_definition(head: str) -> None:
    result = masked(f"{head}\n    pass\n", LINE)
    assert isinstance(result, Reject)
    assert result.reason is RejectReason.NO_BLOCK
    assert isinstance(masked("classes = fetch(1)\n", LINE), Masked)


def test_the_opposite_within_a_masked_line_is_hidden() -> None:
    assert isinstance(masked("lib.read_a(lib.write_a(1))\n", LINE, name="read_a"), Masked)


def test_case_may_be_told_apart_by_rule() -> None:
    rules = MASKING.model_copy(update={"ignore_case": False})
    code = "import lib\nx = lib.Lib(1)\n"
    use = uses_of(code, ("Lib",))[0]
    assert mask(parse_source(code), use, [use], TOKEN, rules) == Masked("import lib\nx = lib.[token-mask](1)\n", "Lib")


@pytest.mark.parametrize("name", ["token", "mask", "line"])
def test_a_name_that_is_a_word_of_the_mask_is_no_leak(name: str) -> None:
    code = f"x = {name}(1)\ny = {name}(x)\n"
    result = masked(code, BLOCK, name=name)
    assert result == Masked("[block-mask]\n", code.rstrip("\n"))


@pytest.mark.parametrize("text", ["x = (", "a\rb", "\x00", "def f(:\n", "\ud800"])
def test_what_is_no_program_is_refused(text: str) -> None:
    with pytest.raises(BrokenSource):
        parse_source(text)


# Programs that use `fetch` in many ways, by hypothesis.

WORDS = st.sampled_from(["a", "é", "prefetch", "fetch_all", "x1", "日本", "match", "token"])
PLAIN = st.builds("{0} = {1}".format, WORDS, st.one_of(WORDS, st.integers().map(str)))
STRINGS = st.builds('{0} = {1}"to fetch or prefetch é {{2}}"'.format, WORDS, st.sampled_from(["", "f", "r", "b"])).map(
    lambda line: line.replace("é", "e") if ' b"' in line else line
)
# What stands before and after the name in a string; f-strings hold it as an expression too.
ESCAPES = st.sampled_from(
    ["", "\\n", "\\t", "\\x20", "\\u0020", "\\U00000020", "\\0", "\\12", "\\012", "\\\\", "/", "{a}", "_"]
)
ESCAPED = st.builds(
    '{0} = {1}"{2}fetch{3}"'.format,
    WORDS,
    st.sampled_from(["", "f", "r"]),
    ESCAPES,
    st.sampled_from(["", "\\n", "es", "()", ".py"]),
)
OTHER_CASES = st.sampled_from(["Fetch = 1", "x1 = 'FETCH'", "ｆetch = 2", "a = prefetch  # Fetch!", "FETCHES = 3"])
CALLS = st.builds(
    "{0} = {1}fetch({2}, k=fetch){3}".format,
    WORDS,
    st.sampled_from(["", "lib."]),
    WORDS,
    st.sampled_from(["", "  # fetch", "; y = 1", "  # é"]),
)
LONG = st.builds('{0} = [\n    fetch({1}),  # one\n\n  """\nfetch é\n""",\n]'.format, WORDS, WORDS)
IMPORTS = st.sampled_from(["import lib", "from lib import fetch", "from lib import (\n    fetch,\n    fetch as g,\n)"])
COMMENTS = st.sampled_from(["# to fetch é", "# nothing", ""])
SIMPLE = st.one_of(PLAIN, CALLS, CALLS, LONG, STRINGS, ESCAPED, OTHER_CASES, IMPORTS)


def indented(lines: list[str]) -> str:
    return "\n".join("    " + line for line in "\n".join(lines).split("\n"))


def compound(bodies: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(bodies, min_size=1, max_size=3).map(lambda lines: indented([*lines, "pass"]))
    headers = [
        "for a in fetch(1):",
        "if fetch(2):",
        "with fetch(3) as é:",
        "def f(a=fetch(4)):",
        "@fetch(5)\nclass C(fetch(6)):",
        "while a:",
    ]
    return st.one_of(
        st.builds("{0}\n{1}".format, st.sampled_from(headers), body),
        st.builds("if a:\n{0}\nelif fetch(7):\n{1}\nelse:\n{0}".format, body, body),
        st.builds("try:\n{0}\nexcept fetch(8):\n{1}".format, body, body),
        st.builds("match fetch(9):\n  case 1:\n{0}".format, body.map(lambda text: indented([text]))),
    )


STATEMENTS = st.recursive(SIMPLE, compound, max_leaves=6)
PROGRAMS = st.lists(st.one_of(STATEMENTS, COMMENTS), min_size=1, max_size=6).map("\n".join)


def words_in_view(masked_code: str) -> set[str]:
    """Every word that a reader of a masked program sees, as letters and as what strings come to, case and form aside."""
    text = masked_code
    for mask_text in MASKS.values():
        text = text.replace(mask_text, " 0 ")
    shown = [text, *string_values(text)]
    return {word for each in shown for word in re.findall(r"\w+", unicodedata.normalize("NFKC", each).casefold())}


def string_values(text: str) -> Iterator[str]:
    """The values of the strings of a program, of f-strings their parts; a mask may leave a body without its head."""
    flat = re.sub(r"(?m)^[ \t]+", "", text)
    for token in tokenize.generate_tokens(io.StringIO(flat).readline):
        if token.type == tokenize.STRING:
            for node in ast.walk(ast.parse(token.string, mode="eval")):
                if isinstance(node, ast.Constant):
                    yield node.value.decode() if isinstance(node.value, bytes) else str(node.value)


@settings(max_examples=150, deadline=None)
@given(PROGRAMS, st.sampled_from(["", "\n"]))
def test_masking_is_undone_exactly_and_every_occurrence_in_view_is_masked_or_refused(program: str, end: str) -> None:
    code = program + end
    uses = uses_of(code, ("fetch",))
    source = parse_source(code)
    for use in uses[:3]:
        for level in Granularity:
            result = mask(source, use, uses, level, MASKING)
            if isinstance(result, Reject):
                assert result.reason in (RejectReason.NO_BLOCK, RejectReason.LEAKS_ANSWER)
                continue
            assert unmask(result.masked_code, level, result.answer, "fetch") == code
            assert "fetch" not in words_in_view(result.masked_code)
            assert readable(result.masked_code, "fetch", ignore_case=True) is None
            assert level is TOKEN or result.masked_code.count(MASKS[level]) == 1
            assert "fetch" in result.answer


# Modules as they come with Python, long and with long strings, in which names stand in docstrings and comments too.
REAL = (textwrap, shlex, csv)


@pytest.mark.parametrize("module", REAL, ids=lambda module: module.__name__)
def test_every_call_of_a_real_module_is_masked_without_a_trace_or_refused(module: ModuleType) -> None:
    code = inspect.getsource(module)
    source = parse_source(code)
    names = sorted(
        {name for name in source.names if re.search(rf"\b{name}\(", code)} - {"if", "in", "or", "not", "and"}
    )
    made = 0
    for name in names[::2]:
        uses = uses_of(code, (name,))[:1]
        for use, level in itertools.product(uses, Granularity):
            result = mask(source, use, uses, level, MASKING)
            if isinstance(result, Masked):
                made += 1
                assert unmask(result.masked_code, level, result.answer, name) == code
                assert name.casefold() not in words_in_view(result.masked_code)
    assert made > 10


@settings(max_examples=100, deadline=None)
@given(PROGRAMS)
def test_logical_lines_hold_every_token_that_counts(program: str) -> None:
    source = parse_source(program)
    spans = source.logical_lines
    layout = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER}
    for token in source.tokens:
        if token.kind not in layout:
            assert sum(start <= token.span[0] and token.span[1] <= end for start, end in spans) == 1
