"""APIs on a page of MkDocs: what mkdocstrings wrote at an anchor, by parts.

Its sections of parameters are tables, lists, or tables in the manner of spaCy, by the site's `docstring_section_style`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from bs4 import Tag

from pipeline.api.surface.extract.directives import Directive, read_version
from pipeline.core.vocabularies.changes import DirectiveKind
from pipeline.corpus.documentation.content import Anchored, Content, Described, named_each
from pipeline.corpus.documentation.markup import children, classes, examples_in, folded, paragraphs
from pipeline.corpus.documentation.sphinx import PARAMETERS, RESULTS

_TITLE = "doc-section-title"
# mkdocstrings' spaCy style writes PARAMETER and RETURNS.
_PARAMETERS = PARAMETERS | {"parameter", "other parameter"}
_NAME = re.compile(r"^[\w.]+")
_LISTED = re.compile(r"\((?P<type>.*?)(?:,\s*default:\s*(?P<default>.*?))?\s*\)\s*–?\s*$")


def is_written_by_mkdocstrings(page: Tag) -> bool:
    """Return whether a page has APIs as mkdocstrings writes them."""
    return page.find(class_="doc-object") is not None


def read_object(heading: Tag) -> Anchored | None:
    """Return what a page says of the API at whose anchor an element stands; None where that is no API."""
    whole = heading.find_parent(class_="doc-object")
    if whole is None:
        return None
    body = whole.find(class_="doc-contents", recursive=False)
    return Anchored(_heading(whole, heading), Content() if body is None else _content(body))


def _heading(whole: Tag, heading: Tag) -> str:
    """Return what stands behind the name, in the heading or in a block of its own below it."""
    apart = whole.find(class_="doc-signature")
    own = apart if apart is not None and apart.find_parent(class_="doc-object") is whole else heading.find("code")
    after = _NAME.sub("", folded(own)) if own is not None else ""
    return after if after.startswith(("(", ":")) else ""


def _content(body: Tag) -> Content:
    content = Content()
    prose: list[Tag] = []
    section = ""
    for part in children(body):
        if "doc-children" in classes(part):
            continue
        section = _section(part) or section
        content = replace(content, examples=content.examples + examples_in(part))
        if part.name == "details":
            content = replace(content, directives=(*content.directives, *_deprecated(part)))
        elif section in _PARAMETERS:
            content = replace(content, parameters=(*content.parameters, *_parameters(part)))
        elif section in RESULTS:
            content = replace(content, returns=(*content.returns, *map(_result, _items(part))))
        elif not section:
            prose.append(part)
    return replace(content, description=paragraphs(prose))


def _section(part: Tag) -> str:
    title = part.find(class_=_TITLE)
    return folded(title).rstrip(":").lower() if title is not None else ""


def _items(part: Tag) -> list[Tag]:
    return list(part.find_all(class_="doc-section-item"))


def _parameters(part: Tag) -> Iterator[Described]:
    for item in _items(part):
        name = item.find("code")
        if name is not None:
            type_, default, mandatory = _facts(item)
            described = Described("", type_, default, mandatory, _description(item))
            yield from named_each(described, folded(name))


def _facts(item: Tag) -> tuple[str | None, str | None, bool | None]:
    """Return type, default, and whether it must be given, from the columns, the brackets or the labels of an item."""
    cells = item.find_all("td", recursive=False)
    if len(cells) > 2:
        default = folded(cells[3]) if len(cells) > 3 else ""
        required = default == "required"
        return folded(cells[1]) or None, None if required else default or None, required
    if cells:
        default_label = _labelled(item, "doc-param-default")
        return _labelled(item, "doc-param-annotation"), default_label, default_label is None
    line = (
        folded(item)
        .removesuffix(folded(description) if (description := _description_tag(item)) is not None else "")
        .strip()
    )
    listed = _LISTED.search(line)
    return (listed["type"] or None, listed["default"], listed["default"] is None) if listed else (None, None, None)


def _labelled(item: Tag, name: str) -> str | None:
    label = item.find(class_=name)
    code = label.find("code") if label is not None else None
    return folded(code) if code is not None else None


def _result(item: Tag) -> Described:
    """Read a result: a type, or a name and a type, before its description."""
    codes = [folded(code) for code in item.find_all("code") if code.find_parent(class_="doc-md-description") is None]
    name, type_ = (codes[0], codes[1]) if len(codes) > 1 else ("", codes[0] if codes else "")
    return Described(name, type_ or None, description=_description(item))


def _description_tag(item: Tag) -> Tag | None:
    return item.find(class_="doc-md-description")


def _description(item: Tag) -> str | None:
    description = _description_tag(item)
    return paragraphs(children(description)) or None if description is not None else None


def _deprecated(part: Tag) -> Iterator[Directive]:
    """Yield what a section `Deprecated:` of Google style says: `1.3: Use other.`"""
    paragraph = part.find("p")
    if "deprecated" in classes(part) and paragraph is not None:
        version, _, text = folded(paragraph).partition(":")
        since = version.strip() if read_version(version.strip()) else None
        yield Directive(DirectiveKind.DEPRECATED, since, text.strip() if since else folded(paragraph))
