"""Paragraphs and blocks of code, in HTML and Markdown, whole and broken."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.corpus.stack_overflow.markup import Segment, markdown_to_html, read_html


def parts(body: str) -> list[tuple[str, str]]:
    return [("code" if segment.code else "text", segment.text) for segment in read_html(body)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", []),
        ("plain", [("text", "plain")]),
        ("<p>a <code>b</code> <em>c</em></p>", [("text", "a b c")]),
        ("<p>a</p><pre><code>b\n</code></pre><p>c</p>", [("text", "a"), ("code", "b"), ("text", "c")]),
        ("<pre><code>\n\n  if x &lt; 3:\n    y &amp;= 1\n\n</code></pre>", [("code", "  if x < 3:\n    y &= 1")]),
        ("<pre>without code</pre>", [("code", "without code")]),
        ("<pre><code>a\r\nb\rc</code></pre>", [("code", "a\nb\nc")]),
        ("<ul><li>a</li><li>b <pre><code>c</code></pre></li></ul>", [("text", "a"), ("text", "b"), ("code", "c")]),
        ("<blockquote><pre><code>a</code></pre></blockquote>", [("code", "a")]),
        ("<p>a<br>b</p>", [("text", "a\nb")]),
        ("<pre><code> \n </code></pre>", []),
        ("<pre><code>never closed\n  x", [("code", "never closed\n  x")]),
        ("<pre><code>never closed<p>text", [("code", "never closed"), ("text", "text")]),
        ("<pre><code>a<pre><code>b</code></pre>", [("code", "a"), ("code", "b")]),
        ("</pre></p>a</code>", [("text", "a")]),
        ("<p>a < b & c &nosuch;", [("text", "a < b & c &nosuch;")]),
        ("<![CDATA[x]]> y <![if IE]> <!doctype z>", [("text", "<![CDATA[x]]> y <![if IE]>")]),
        ("<p>a<!-- hidden 1.3 -->b</p>", [("text", "ab")]),
        ("<pre><code>a <b>bold</b> <span class='x'>s</span></code></pre>", [("code", "a bold s")]),
        ("<div class='snippet'><pre class='snippet-code-js lang-js'><code>f()</code></pre></div>", [("code", "f()")]),
    ],
)
def test_html(body: str, expected: list[tuple[str, str]]) -> None:
    assert parts(body) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("a `b`\n\n    c &lt; d\n", [("text", "a b"), ("code", "c < d")]),
        ("```python\nx = &quot;1&quot;\n```", [("code", 'x = "1"')]),
        ("~~~\nx\n~~~\ny", [("code", "x"), ("text", "y")]),
        ("```\nnever closed\n\nx", [("code", "never closed\n\nx")]),
        ("1. a\n\n       code\n\n2. b", [("text", "a"), ("code", "code"), ("text", "b")]),
        ("&gt; quoted\n&gt;\n&gt;     code", [("text", "quoted"), ("code", "code")]),
        ("&lt;pre&gt;a &amp;lt; b&lt;/pre&gt;", [("code", "a < b")]),
    ],
)
def test_markdown_as_the_api_escapes_it(markdown: str, expected: list[tuple[str, str]]) -> None:
    assert parts(markdown_to_html(markdown)) == expected


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ('<pre class="lang-py prettyprint-override"><code>x</code></pre>', "py"),
        ('<pre class="lang-c# s-code-block"><code>x</code></pre>', "c#"),
        ('<pre class="default s-code-block"><code class="hljs language-sql">x</code></pre>', "sql"),
        ('<pre class="snippet-code-html lang-html"><code>x</code></pre>', "html"),
        ("<!-- language: lang-py -->\n<pre><code>x</code></pre>", "py"),
        ("<!-- language-all: lang-js --><p>a</p><pre><code>x</code></pre>", "js"),
        ("<pre><code>x</code></pre>", None),
    ],
)
def test_the_language_hint_of_a_block(body: str, hint: str | None) -> None:
    assert [segment.hint for segment in read_html(body) if segment.code] == [hint]


def test_a_hint_in_a_comment_is_for_the_next_block() -> None:
    body = "<!-- language: lang-py --><pre><code>x</code></pre><pre><code>y</code></pre>"
    assert read_html(body) == [Segment("x", True, 1, "py"), Segment("y", True, 2, None)]


@given(st.text(st.sampled_from("<>/![]-&;#x\"'= \n\rabcdepr0CDAT") | st.characters()))
def test_any_text_is_read_and_lines_add_up(text: str) -> None:
    line = 1
    for segment in [*read_html(text)]:
        assert segment.line == line
        assert segment.text.strip()
        line += segment.text.count("\n") + 1


@given(
    st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<pre>", "</pre>", "<code>", "</code>", "<li>", "<!--", "-->", "x", "\n", "<![", "&lt;"]
        )
    )
)
def test_any_markup_is_read(pieces: list[str]) -> None:
    assert all(segment.text for segment in read_html("".join(pieces)))


@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1))
def test_code_comes_out_as_it_was_put_in(code: str) -> None:
    body = f"<p>a</p><pre><code>{html.escape(code)}\n</code></pre>"
    assert read_html(body)[-1] == Segment(code, True, 2)
