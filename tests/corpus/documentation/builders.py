"""What the tests of documentation share: a page, how it is read, answers of Read the Docs, and a source over sites."""

from __future__ import annotations

import functools
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.documentation.inventory import Entry
from pipeline.corpus.documentation.pages import PageRead, read_page
from pipeline.corpus.documentation.rules import DocumentationRules, SiteRule
from pipeline.corpus.documentation.source import Documentation
from pipeline.index.http import Fetcher
from pipeline.index.release_selection import Period
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject
from tests.corpus.documentation.site_server import Pages, inventory

LANGUAGES = frozenset({"", "python", "pycon", "python3"})

FIRST = "/api/v3/projects/bag/versions/?active=true&built=true&limit=100"

NEW = """<html><body><nav><pre>menu</pre></nav><div role="main">
<section id="the-api"><h1>The API<a class="headerlink" href="#the-api">¶</a></h1>
<dl class="py function">
<dt class="sig sig-object py" id="bag.f">
<span class="sig-prename descclassname"><span class="pre">bag.</span></span><span class="sig-name descname"><span class="pre">f</span></span><span class="sig-paren">(</span><em class="sig-param"><span class="n"><span class="pre">n</span></span></em>, <em class="sig-param"><span class="o"><span class="pre">*</span></span></em>, <em class="sig-param"><span class="n"><span class="pre">safe</span></span><span class="o"><span class="pre">=</span></span><span class="default_value"><span class="pre">'no'</span></span></em><span class="sig-paren">)</span> <span class="sig-return"><span class="sig-return-icon">&#x2192;</span> <span class="sig-return-typehint"><span class="pre">int</span></span></span><a class="reference internal" href="_modules/bag.html"><span class="viewcode-link"><span class="pre">[source]</span></span></a><a class="headerlink" href="#bag.f">¶</a></dt>
<dd><p>Take <code class="docutils literal notranslate"><span class="pre">n</span></code> things.</p>
<p>More.</p>
<ul class="simple"><li><p>one</p></li><li><p>two</p></li></ul>
<dl class="field-list simple">
<dt class="field-odd">Parameters<span class="colon">:</span></dt>
<dd class="field-odd">FIELDS</dd>
<dt class="field-even">Returns<span class="colon">:</span></dt><dd class="field-even"><p>The number.</p></dd>
<dt class="field-odd">Return type<span class="colon">:</span></dt><dd class="field-odd"><p>int</p></dd>
</dl>
<div class="admonition seealso"><p class="admonition-title">See also</p><p>Others.</p></div>
<p class="rubric">Notes</p><p>A note.</p>
<p class="rubric">Examples</p><p>Words.</p>
<div class="doctest highlight-default notranslate"><div class="highlight"><pre><span></span><span class="gp">&gt;&gt;&gt; </span><span class="n">f</span><span class="p">(</span><span class="mi">1</span><span class="p">)</span>
<span class="go">1</span>
</pre></div></div>
<div class="highlight-console notranslate"><div class="highlight"><pre>$ bag</pre></div></div>
<div class="doctest highlight-default notranslate"><div class="highlight"><pre>&gt;&gt;&gt; f(2)</pre></div></div>
<div class="versionchanged">
<p><span class="versionmodified changed">Changed in version 2.1: </span>The <code class="docutils literal notranslate"><span class="pre">safe</span></code> parameter is deprecated.</p>
</div>
<dl class="py method"><dt class="sig sig-object py" id="bag.f.member"><span class="sig-name descname">member</span></dt><dd><p>Not of f.</p><div class="highlight-python"><div class="highlight"><pre>member()</pre></div></div></dd></dl>
</dd></dl>
</section></div></body></html>"""

NUMPYDOC = """<dl>
<dt><strong>n</strong><span class="classifier">int, optional</span></dt><dd><p>How many.</p>
<div class="versionadded"><p><span class="versionmodified added">New in version 1.3.</span></p></div></dd>
<dt><strong>x, y</strong><span class="classifier">{‘a’, ‘b’}, default ‘a’</span></dt><dd><p>Both.</p></dd></dl>"""

API = NEW.replace("FIELDS", NUMPYDOC)


@functools.cache
def rules() -> DirectiveRules:
    return load(RULES / "directives.yaml", DirectiveRules)


def entry(name: str, role: str = "function") -> Entry:
    return Entry(name, "py", role, "api.html", f"module-{name}" if role == "module" else name, name)


def read(page: str | bytes, *entries: Entry) -> PageRead:
    content = page.encode() if isinstance(page, str) else page
    return read_page(
        "api.html", content, entries or [entry("bag.f")], rules(), LANGUAGES, "https://bag.example/#{}".format
    )


def parameter_values(row: Any) -> list[tuple[object, ...]]:
    return [
        tuple(p[name] for name in ("name", "type", "mandatory", "default", "description")) for p in row["parameters"]
    ]


def version(slug: str, **more: Any) -> dict[str, Any]:
    return {
        "id": 1, "slug": slug, "verbose_name": slug, "identifier": "3a6b39", "ref": None, "built": True, "active": True,
        "hidden": False, "type": "tag", "downloads": {}, "_links": {},
        "urls": {"documentation": f"https://bag.example/en/{slug}/", "vcs": None},
    } | more  # fmt: skip


def listing(*results: dict[str, Any], following: str | None = None) -> dict[str, Any]:
    return {"count": len(results), "next": following, "previous": None, "results": list(results)}


def source(
    tmp_path: Path, *sites: dict[str, Any], api: str = "http://127.0.0.1:9/api/v3", **limits: int
) -> Documentation:
    defaults = load(RULES / "documentation.yaml", DocumentationRules)
    configured = defaults.model_copy(
        update={
            "sites": tuple(SiteRule(**{"library": "bag", **site}) for site in sites),
            "limits": defaults.limits.model_copy(update=limits),
        }
    )
    fetcher = Fetcher(timeout_s=5, retries=0)
    return Documentation.of(fetcher, configured, rules(), tmp_path / "cache", api)


GUIDE = '<main><section id="start"><h1>Start</h1><div class="highlight-python"><pre>import bag\nbag.f(1)\n</pre></div></section></main>'
ENTRIES = [
    "bag.f py:function 1 api.html#$ -",
    "bag.f.member py:method 1 api.html#$ -",
    "bag.gone py:function 1 api.html#$ -",
    "bag._core.f py:function -1 api.html#bag.f -",
    "other.g py:function 1 api.html#$ -",
    "guide std:doc -1 guide.html Start",
    "changes std:doc -1 changes.html Changes",
]


def release(number: str, day: int = 1) -> ReleaseRow:
    return {
        "library": "bag", "version": number, "release_time": datetime(2024, 1, day, tzinfo=UTC), "import_names": ["bag"],
        "licence": "MIT", "attribution": "Ada", "purl": f"pkg:pypi/bag@{number}",
    }  # fmt: skip


RELEASES = [release("1.0", 1), release("1.1", 2), release("2.0", 3)]


def folder(root: Path, entries: list[str] = ENTRIES, number: str = "1.0", **pages: str | bytes) -> Path:
    root.mkdir(parents=True)
    (root / "objects.inv").write_bytes(inventory(entries, number))
    for name, content in ({"api": API, "guide": GUIDE, "changes": GUIDE} | pages).items():
        (root / f"{name}.html").write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def find_samples(documentation: Documentation, period: Period | None = None) -> list[CodeSample | Reject]:
    return list(documentation.find("bag", RELEASES, period or Period()))


def reasons(things: list[Any]) -> Counter[RejectReason]:
    return Counter(thing.reason for thing in things if isinstance(thing, Reject))


def put_site(pages: Pages, at: str, number: str = "1.0") -> None:
    pages.put(f"{at}objects.inv", inventory(ENTRIES, number), Content_Type="application/octet-stream")
    pages.put(f"{at}api.html", API)
    pages.put(f"{at}guide.html", GUIDE)
