"""HTML of documentation pages: the main part of a page, plain text of elements, and blocks of code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import copy

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString
from bs4.filter import SoupStrainer

from pipeline.core.vocabularies.changes import DirectiveKind
from pipeline.corpus.snippets.names import parse

LINE = "data-line"
"""Attribute of a block of code that says on which line of the page it begins."""

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

PROMPTS = (">>> ", "In [")
"""How interactive code begins, of Python and of IPython."""

# Links to a heading or to the source, and numbers of lines, are no part of a text.
_ORNAMENTS = "a.headerlink, .viewcode-link, .linenos, button.copybtn, details.mkdocstrings-source"
_LANGUAGE = re.compile(r"(?:highlight|language)-([\w+#-]+)")
_NO_LANGUAGE = frozenset({"default"})
_FOREIGN = "data-foreign"
_STATEMENTS = frozenset(DirectiveKind)
_LISTS = ("ul", "ol")
_PARENTS = 4
_MAX_DEPTH = 120
_MAIN = (b'role="main"', b"<main", b"<article", b'class="body"')
_PRE = re.compile(rb"<pre[\s>]", re.IGNORECASE)


class NoPage(Exception):
    """What should be a page is no HTML, or nested so deeply that no person wrote it."""


def main_part(content: bytes) -> Tag:
    """Return the part of a page that has the text, without ornaments; the whole page where nothing marks it.

    Where markup is broken lxml takes of it what it can, as browsers do. Errors: NoPage.
    """
    strainer = SoupStrainer(attrs={"role": "main"})
    soup: Tag = BeautifulSoup(content, "lxml", parse_only=strainer)
    if soup.find(True) is None:
        whole = BeautifulSoup(content, "lxml")
        soup = whole.find("main") or whole.find("article") or whole.find("div", class_="body") or whole.body or whole
    if soup.find(True) is None:
        raise NoPage(f"no HTML, {len(content)} bytes")
    _check_depth(soup)
    _number(soup, content)
    for ornament in soup.select(_ORNAMENTS):
        ornament.extract()
    return soup


def _check_depth(main: Tag) -> None:
    depths = {id(main): 0}
    for tag in main.find_all(True):
        depths[id(tag)] = depth = depths[id(tag.parent)] + 1
        if depth > _MAX_DEPTH:
            raise NoPage(f"nested more than {_MAX_DEPTH} deep")


def _number(main: Tag, content: bytes) -> None:
    """Note at each block of code on which line of the page it begins, which lxml does not hand on."""
    start = next((at for mark in _MAIN if (at := content.find(mark)) >= 0), 0)
    line, before = content.count(b"\n", 0, start) + 1, start
    for match, pre in zip(_PRE.finditer(content, start), main.find_all("pre"), strict=False):
        line += content.count(b"\n", before, match.start())
        before = match.start()
        pre[LINE] = str(line)


def folded(tag: Tag) -> str:
    """Return the text of an element on one line."""
    return " ".join(tag.get_text().split())


def marked(tag: Tag) -> str:
    """Return the text of an element on one line, names in it marked as reStructuredText does."""
    tag = copy(tag)
    for name, mark in (("code", "``"), ("cite", "`"), ("em", "*")):
        for part in tag.find_all(name):
            part.insert(0, mark)
            part.append(mark)
    return folded(tag)


def classes(tag: Tag) -> list[str]:
    """Return the classes of an element."""
    names = tag.get("class")
    return list(names) if isinstance(names, list) else [names] if names else []


def children(tag: Tag) -> list[Tag]:
    """Return the elements right below an element."""
    return [child for child in tag.children if isinstance(child, Tag)]


def paragraphs(tags: Iterable[Tag]) -> str:
    """Return the prose of elements, paragraphs apart by a blank line, without their code and statements of versions."""
    return "\n\n".join(text for tag in tags for text in _prose(tag) if text)


def _prose(tag: Tag) -> Iterator[str]:
    if is_code(tag) or is_statement(tag) or tag.name in {"table", "script", "style"}:
        return
    if tag.name in _LISTS:
        yield "\n".join(f"- {paragraphs([item])}" for item in tag.find_all("li", recursive=False))
    elif tag.name == "dl":
        yield "\n".join(_definitions(tag))
    elif tag.name in {"div", "blockquote", "section", "details", "li", "dd"} and _has_blocks(tag):
        yield from (text for child in _with_text(tag) for text in _prose(child))
    else:
        yield folded(tag)


def _has_blocks(tag: Tag) -> bool:
    return tag.find(["p", "ul", "ol", "dl", "div", "pre"], recursive=False) is not None


def _with_text(tag: Tag) -> Iterator[Tag]:
    """Yield the elements below one, and text that stands between them as a paragraph."""
    for child in list(tag.children):
        if isinstance(child, Tag):
            yield child
        elif isinstance(child, NavigableString) and child.strip():
            wrapped = Tag(name="p")
            wrapped.string = str(child)
            yield wrapped


def _definitions(tag: Tag) -> Iterator[str]:
    for term, text in pairs(tag):
        definition = "" if text is None else paragraphs(children(text) or [text])
        yield f"- {folded(term)}: {definition}" if definition else f"- {folded(term)}"


def pairs(tag: Tag) -> Iterator[tuple[Tag, Tag | None]]:
    """Yield the terms of a definition list, each with its definition; terms that share one have the same."""
    entries: list[tuple[Tag, Tag | None]] = []
    following: Tag | None = None
    for child in reversed(children(tag)):
        if child.name == "dd":
            following = child
        elif child.name == "dt":
            entries.append((child, following))
    yield from reversed(entries)


def is_statement(tag: Tag) -> bool:
    """Return whether an element is a statement of a version, as Sphinx writes its directives."""
    return tag.name == "div" and not _STATEMENTS.isdisjoint(classes(tag))


def is_code(tag: Tag) -> bool:
    """Return whether an element is a block of code."""
    return tag.name == "pre" or (tag.name in {"div", "figure"} and tag.find("pre") is not None and not tag.find("p"))


def language_of(pre: Tag) -> str:
    """Return the language that the markup of a block of code states; nothing where it states none."""
    code = pre.find("code")
    around = [*([code] if code is not None else []), pre, *list(pre.parents)[:_PARENTS]]
    for tag in around:
        for name in classes(tag):
            if (match := _LANGUAGE.fullmatch(name)) and match[1] not in _NO_LANGUAGE:
                return match[1].lower()
    return ""


def code_of(pre: Tag) -> str:
    """Return the text of a block of code, prompts and outputs included."""
    return pre.get_text().replace("\r\n", "\n").strip("\n")


def examples_in(tag: Tag) -> tuple[str, ...]:
    """Return the blocks of code in an element, or that it is, but for those of languages that are not wanted."""
    blocks = [tag] if tag.name == "pre" else tag.find_all("pre")
    return tuple(text for block in blocks if is_example(block) and (text := code_of(block)))


def is_example(pre: Tag) -> bool:
    """Return whether a block of code is one that is wanted, and no signature."""
    is_signature = pre.find(class_="doc-signature") or pre.find_parent(class_="doc-signature")
    return _FOREIGN not in pre.attrs and not is_signature


def set_apart(main: Tag, languages: frozenset[str]) -> None:
    """Mark the blocks of code of a page that state another language than these, or none and are no Python."""
    for pre in main.find_all("pre"):
        language = language_of(pre)
        if language not in languages or (not language and not _is_python(code_of(pre))):
            pre[_FOREIGN] = ""


def _is_python(text: str) -> bool:
    return text.startswith(PROMPTS) or bool(parse(text))
