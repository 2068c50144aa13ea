"""Pages as Sphinx wrote them over the years: (page, what is said at the anchor bag.f)."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pipeline.core.vocabularies.review import RejectReason
from tests.corpus.documentation.builders import NEW, NUMPYDOC, entry, parameter_values, read

ITEMS = """<ul class="simple">
<li><p><strong>n</strong> (<a class="reference external" href="#"><em>int</em></a>) – How many.</p></li>
<li><p><strong>safe</strong> (<em>Union</em><em>[</em><em>str</em><em>, </em><em>None</em><em>]</em>) – Whether to care – or not.</p><p>More.</p></li>
<li><p><strong>**kw</strong> – Rest.</p></li></ul>"""

OLD = """<html><body><div class="document"><div class="body">
<dl class="function">
<dt id="bag.f"><code class="descclassname">bag.</code><code class="descname">f</code><span class="sig-paren">(</span><em>n</em>, <em>safe='no'</em><span class="sig-paren">)</span><a class="headerlink" href="#bag.f">¶</a></dt>
<dd><p>Take n things.</p>
<table class="docutils field-list" frame="void" rules="none"><tbody valign="top">
<tr class="field-odd field"><th class="field-name">Parameters:</th><td class="field-body"><ul class="first simple"><li><strong>n</strong> (<em>int</em>) -- How many.</li></ul></td></tr>
<tr class="field-even field"><th class="field-name">Returns:</th><td class="field-body"><p class="first last">The number.</p></td></tr>
</tbody></table>
<div class="deprecated"><p><span class="versionmodified">Deprecated since version 3.0: </span>Use g.</p></div>
</dd></dl></div></div></body></html>"""


def test_a_page_of_today() -> None:
    result = read(NEW.replace("FIELDS", NUMPYDOC))
    (row,) = result.documents
    assert row["signature"] == "(n, *, safe='no') -> int"
    assert row["description"] == "Take n things.\n\nMore.\n\n- one\n- two"
    assert parameter_values(row) == [
        ("n", "int", True, None, "How many."),
        ("safe", None, False, "'no'", None),
        ("x", "{'a', 'b'}", False, "'a'", "Both."),
        ("y", "{'a', 'b'}", False, "'a'", "Both."),
    ]
    assert row["returns"] == [{"name": None, "type": "int", "description": "The number."}]
    assert row["examples"] == [">>> f(1)\n1", ">>> f(2)"]
    assert [(d["directive"], d["owner"], d["name"], d["stated_version"], d["text"]) for d in row["directives"]] == [
        ("versionadded", "parameter", "n", "1.3", ""),
        ("versionchanged", "parameter", "safe", "2.1", "The safe parameter is deprecated."),
    ]
    assert (row["kind"], row["url"]) == ("function", "https://bag.example/#bag.f")


def test_parameters_as_sphinx_itself_writes_them() -> None:
    (row,) = read(NEW.replace("FIELDS", ITEMS)).documents
    assert parameter_values(row) == [
        ("n", "int", True, None, "How many."),
        ("safe", "Union[str, None]", False, "'no'", "Whether to care – or not.\n\nMore."),
        ("**kw", None, False, None, "Rest."),
    ]


def test_a_page_of_sphinx_1() -> None:
    (row,) = read(OLD).documents
    assert row["signature"] == "(n, safe='no')"
    assert parameter_values(row) == [("n", "int", True, None, "How many."), ("safe", None, False, "'no'", None)]
    assert row["returns"] == [{"name": None, "type": None, "description": "The number."}]
    assert [(d["directive"], d["stated_version"], d["text"]) for d in row["directives"]] == [
        ("deprecated", "3.0", "Use g.")
    ]


def test_blocks_of_code_stand_below_their_api_or_heading() -> None:
    result = read(NEW.replace("FIELDS", ""))
    assert [(block.title, block.anchor, block.text) for block in result.blocks] == [
        ("bag.f", "bag.f", ">>> f(1)\n1\n\n>>> f(2)"),
        ("bag.f.member", "bag.f.member", "member()"),
    ]
    lines = NEW.replace("FIELDS", "").splitlines()
    assert ["<pre" in lines[block.line - 1] for block in result.blocks] == [True, True]


AROUND_CODE = [
    '<div class="admonition note"><p>Mind.</p>{}</div>',
    '<p class="rubric">Examples</p><ol><li><p>One:</p>{}</li></ol>',
    "<ul><li><p>One:</p>{}</li></ul>",
]


@pytest.mark.parametrize("around", AROUND_CODE)
def test_code_is_an_example_anywhere_in_a_description(around: str) -> None:
    code = '<div class="highlight-python"><pre>f(1)</pre></div>'
    page = (
        f'<main><dl><dt id="bag.f"><b class="descname">f</b></dt><dd><p>It.</p>{around.format(code)}</dd></dl></main>'
    )
    assert [row["examples"] for row in read(page).documents] == [["f(1)"]]


PROPERTIES = [
    ("<em>: </em><em>int</em>", "int"),
    ('<em class="property"><span class="p">:</span> <span>Optional[str]</span></em><em> = None</em>', "Optional[str]"),
    ("", None),
]


@pytest.mark.parametrize(("after", "type_"), PROPERTIES)
def test_an_attribute_has_its_annotation_as_result(after: str, type_: str | None) -> None:
    page = f'<main><dl><dt id="bag.x"><span class="descname">x</span>{after}</dt><dd><p>It.</p></dd></dl></main>'
    (row,) = read(page, entry("bag.x", "attribute")).documents
    assert row["signature"] is None
    assert [item["type"] for item in row["returns"]] == ([type_] if type_ else [])


SIGNATURES = [
    ("(a[, b])", "(a[, b])", [("a", True, None), ("b", False, None)]),
    ("(a, b=&lt;no_default&gt;)", "(a, b=<no_default>)", [("a", True, None), ("b", False, None)]),
    ("(self, a: int = 1) &#x2192; list[int]", "(self, a: int = 1) -> list[int]", [("a", False, "1")]),
    ("(", "(", []),
]


@pytest.mark.parametrize(("written", "signature", "parameters"), SIGNATURES)
def test_signatures(written: str, signature: str, parameters: list[tuple[str, bool, str | None]]) -> None:
    page = f'<main><dl><dt id="bag.f"><span class="descname">f</span>{written}</dt><dd><p>It.</p></dd></dl></main>'
    (row,) = read(page).documents
    assert row["signature"] == signature
    assert [(p["name"], p["mandatory"], p["default"]) for p in row["parameters"]] == parameters


MODULES = [
    '<section id="x"><span class="target" id="module-bag"></span><h1>Bag</h1><p>Holds things.</p><dl><dt id="bag.f"><b class="descname">f</b></dt></dl><p>Not it.</p></section>',
    '<section id="module-bag"><h1>Bag</h1><p>Holds things.</p><section id="y"><p>Not it.</p></section></section>',
]


@pytest.mark.parametrize("page", MODULES)
def test_a_module_is_described_by_its_section(page: str) -> None:
    (row,) = read(f"<main>{page}</main>", entry("bag", "module")).documents
    assert (row["kind"], row["description"]) == ("module", "Holds things.")


REFUSED = [
    ("<main><p>Nothing.</p></main>", RejectReason.VANISHED),
    ('<main><dl><dt id="bag.f"><b class="descname">f</b>(a)</dt><dd></dd></dl></main>', RejectReason.NO_TEXT),
    ('<main><dl><dt id="bag.f"><b class="descname">f</b>(a)</dt></dl></main>', RejectReason.NO_TEXT),
]


@pytest.mark.parametrize(("page", "reason"), REFUSED)
def test_an_api_without_text_on_the_page(page: str, reason: RejectReason) -> None:
    result = read(page)
    assert (result.documents, [refused.reason for refused in result.refused]) == ([], [reason])


BROKEN = [b"", b"\x00\xff\xfe", b"plain text", b"%PDF-1.4"]


@pytest.mark.parametrize("content", BROKEN)
def test_other_content_than_html_documents_no_api(content: bytes) -> None:
    result = read(content)
    assert result.documents == []
    assert result.unread is not None or [refused.reason for refused in result.refused] == [RejectReason.VANISHED]


@given(st.integers(0, len(NEW)), st.integers(0, 60), st.binary(max_size=12))
def test_broken_markup_is_read_as_far_as_possible(at: int, cut: int, garbage: bytes) -> None:
    page = NEW.replace("FIELDS", NUMPYDOC).encode()
    result = read(page[:at] + garbage + page[at + cut :])
    assert len(result.documents) + len(result.refused) == 1 or result.unread is not None


@pytest.mark.parametrize("nested", ["<div>", "<ul><li>", "<blockquote>", "<dl><dt>x</dt><dd>", "<b>"])
@pytest.mark.parametrize(("times", "readable"), [(50, True), (3000, False)])
def test_a_page_nested_beyond_reason_is_refused(nested: str, times: int, readable: bool) -> None:
    page = (
        f'<main><dl><dt id="bag.f"><b class="descname">f</b></dt><dd><p>It.</p>{nested * times}<p>x</p><pre>f(1)</pre>'
    )
    result = read(page)
    assert len(result.documents) == int(readable)
    assert result.unread is None if readable else (result.unread and result.unread.reason is RejectReason.UNREADABLE)
