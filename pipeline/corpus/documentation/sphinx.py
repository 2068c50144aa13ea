"""APIs on a page that Sphinx wrote: what stands at an anchor, by parts.

The markup is that of Sphinx 1.0 to 8: `dl` with a `dt` that has the name as id, fields in a list or a table, parameters
as numpydoc (definitions) or as Sphinx itself (items) writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import more_itertools
from bs4 import Tag

from pipeline.api.surface.extract.directives import Directive, read_version
from pipeline.core.vocabularies.changes import DirectiveKind, DirectiveOwner
from pipeline.corpus.documentation.content import Anchored, Content, Described, named_each
from pipeline.corpus.documentation.markup import (
    HEADINGS,
    children,
    classes,
    examples_in,
    folded,
    is_code,
    is_statement,
    marked,
    pairs,
    paragraphs,
)

PARAMETERS = frozenset(
    {"parameters", "other parameters", "keyword arguments", "keyword parameters", "arguments", "args"}
)
RESULTS = frozenset({"returns", "yields", "return", "yield"})

_CONTAINERS = frozenset({"section", "div", "blockquote"})
# Sphinx makes quotes typographic, which no type has.
_QUOTES = str.maketrans("‘’“”", "''\"\"")
_OPTIONAL = re.compile(r",?\s*\boptional\b\s*(?:,|$)")
_DEFAULT = re.compile(r",?\s*\bdefault(?:s to|\s*[:=]|\s+is)?\s*(.+)$")


def read_object(anchor: Tag) -> Anchored:
    """Return what a page says of the API at whose anchor an element stands."""
    if anchor.name != "dt":
        return Anchored("", _module(anchor))
    body = anchor.find_next_sibling("dd")
    return Anchored(_heading(anchor), Content() if body is None else _content(body))


def is_object(tag: Tag) -> bool:
    """Return whether an element describes an API of its own: a member inside the description of its class, say."""
    if tag.name != "dl":
        return False
    term = tag.find("dt", recursive=False)
    return term is not None and term.find(class_="descname") is not None


def _heading(term: Tag) -> str:
    """Return what stands behind the name: brackets with parameters, or `: annotation = value`."""
    name = term.find(class_="descname")
    after = "" if name is None else "".join(sibling.get_text() for sibling in name.next_siblings)
    text = " ".join(after.replace("→", " -> ").split())
    return text if text.startswith(("(", ":")) else ""


def _module(anchor: Tag) -> Content:
    """Return what a section says of the module whose anchor it has, up to the first API or section in it."""
    section = anchor if anchor.name in _CONTAINERS else anchor.parent
    content: list[Tag] = []
    for child in children(section) if section is not None else ():
        if is_object(child) or child.name == "section":
            break
        if child.name not in HEADINGS and child is not anchor:
            content.append(child)
    return _read(content)


def _content(body: Tag) -> Content:
    return _read(_parts(body))


def _parts(body: Tag) -> Iterator[Tag]:
    """Yield what a description is made of, without the descriptions of members."""
    for child in children(body):
        if is_object(child):
            continue
        if child.name in _CONTAINERS and not is_code(child) and not is_statement(child) and not _is_aside(child):
            yield from _parts(child)
        else:
            yield child


def _is_aside(tag: Tag) -> bool:
    names = classes(tag)
    return "admonition" in names or any(name.startswith("math") for name in names)


def _read(parts: Iterable[Tag]) -> Content:
    """Put a description together: prose stands before the first heading in it."""
    prose: list[Tag] = []
    content = Content()
    headed = False
    for part in parts:
        if part.name in HEADINGS or "rubric" in classes(part):
            headed = True
        elif is_statement(part):
            content = replace(content, directives=(*content.directives, *statement(part)))
        elif is_code(part):
            content = replace(content, examples=(*content.examples, *examples_in(part)))
        elif _is_fields(part):
            content = _with_fields(content, part)
        else:
            content = replace(content, examples=(*content.examples, *examples_in(part)))
            if not headed and "admonition" not in classes(part):
                prose.append(part)
    return replace(content, description=paragraphs(prose))


def _is_fields(tag: Tag) -> bool:
    return tag.name in {"dl", "table"} and "field-list" in classes(tag)


def _fields(tag: Tag) -> Iterator[tuple[str, Tag]]:
    """Yield the fields of a list by name: a definition list since Sphinx 2, a table before."""
    if tag.name == "dl":
        yield from ((_field_name(term), body) for term, body in pairs(tag) if body is not None)
        return
    for row in tag.find_all("tr"):
        head, body = row.find("th", recursive=False), row.find("td", recursive=False)
        if head is not None and body is not None:
            yield _field_name(head), body


def _field_name(tag: Tag) -> str:
    return folded(tag).rstrip(": ").lower()


def _with_fields(content: Content, tag: Tag) -> Content:
    parameters, returns = list(content.parameters), list(content.returns)
    directives = list(content.directives)
    for name, body in _fields(tag):
        if name in PARAMETERS:
            parameters += _parameters(body)
            directives += _parameter_statements(body)
        elif name in RESULTS:
            returns += _results(body)
        elif name == "return type":
            returns = _typed(returns, folded(body))
    return replace(content, parameters=tuple(parameters), returns=tuple(returns), directives=tuple(directives))


def _typed(returns: list[Described], type_: str) -> list[Described]:
    if not type_:
        return returns
    return [replace(returns[0], type=type_), *returns[1:]] if returns else [Described("", type_)]


def _items(body: Tag) -> Iterator[tuple[Tag, Tag | None]]:
    """Yield the parameters of a field: terms with definitions (numpydoc), or items and paragraphs without (Sphinx)."""
    for child in children(body):
        if child.name == "dl":
            yield from pairs(child)
        elif child.name in {"ul", "ol"}:
            yield from ((item, None) for item in child.find_all("li", recursive=False))
        elif child.name == "p":
            yield child, None
    if not children(body) or body.find(["dl", "ul", "ol", "p"], recursive=False) is None:
        yield body, None


def _parameters(body: Tag) -> Iterator[Described]:
    for term, text in _items(body):
        names, type_, description = _numpydoc(term, text) if text is not None or term.name == "dt" else _item(term)
        yield from named_each(_described(type_, description), names)


def _numpydoc(term: Tag, text: Tag | None) -> tuple[str, str, str]:
    names, type_ = _head(term)
    return names, type_, "" if text is None else paragraphs(children(text) or [text])


def _head(term: Tag) -> tuple[str, str]:
    """Return the names and the type of a term: `<strong>x</strong><span class="classifier">int</span>` or `x : int`."""
    classifier = term.find(class_="classifier")
    type_ = folded(classifier) if classifier is not None else ""
    strong = term.find("strong")
    whole = folded(term)
    if strong is None:
        head, _, after = whole.partition(" : ")
        return head.removesuffix(type_), type_ or after
    name = folded(strong)
    return name.partition(" : ")[0], type_ or whole.removeprefix(name).lstrip(" :")


def _item(item: Tag) -> tuple[str, str, str]:
    """Read `<strong>name</strong> (<em>type</em>) – text`."""
    strong = item.find(["strong", "code"])
    name = folded(strong) if strong is not None else ""
    inner = children(item)
    first = inner[0] if inner and inner[0].name == "p" else None
    line = folded(first if first is not None else item)
    head, dash, text = line.removeprefix(name).partition("–")
    if not dash:
        head, dash, text = line.removeprefix(name).partition(" -- ")
    more = paragraphs(inner[1:]) if first is not None else ""
    type_ = head.strip()
    type_ = type_[1:-1].strip() if type_.startswith("(") and type_.endswith(")") else ""
    return name, type_, "\n\n".join(part for part in (text.strip(), more) if part)


def _described(type_: str, description: str) -> Described:
    """Take `optional` and `default X` out of the type, where numpydoc has them."""
    optional = bool(_OPTIONAL.search(type_))
    bare = _OPTIONAL.sub(", ", type_.translate(_QUOTES)).strip(" ,")
    match = _DEFAULT.search(bare)
    default = match[1].strip() or None if match else None
    bare = bare[: match.start()] if match else bare
    mandatory = False if optional or default else None
    return Described("", bare.strip(" ,") or None, default, mandatory, description or None)


def _results(body: Tag) -> Iterator[Described]:
    for term, text in _items(body):
        if term.name != "dt":
            yield Described("", description=paragraphs([term]) or None)
            continue
        name, type_ = _head(term)
        if not type_ and term.find("strong") is None:
            name, type_ = "", name
        description = "" if text is None else paragraphs(children(text) or [text])
        yield Described(name, type_ or None, description=description or None)


def _parameter_statements(body: Tag) -> Iterator[Directive]:
    for term, text in _items(body):
        names = [parameter.name for parameter in _parameters_of(term, text)]
        for tag in (text if text is not None else term).find_all(is_statement):
            for directive in statement(tag):
                yield from (replace(directive, owner=DirectiveOwner.PARAMETER, name=name.lstrip("*")) for name in names)


def _parameters_of(term: Tag, text: Tag | None) -> list[Described]:
    names = _head(term)[0] if text is not None else _item(term)[0]
    return list(named_each(Described(""), names))


def statement(tag: Tag) -> Iterator[Directive]:
    """Yield what a statement says: `<span class="versionmodified">New in version 1.2: </span>text`."""
    kind = more_itertools.first(kind for kind in DirectiveKind if kind in classes(tag))
    label = tag.find(class_="versionmodified")
    label_text = folded(label) if label is not None else ""
    words = label_text.split() or folded(tag).split()
    version = next((bare for word in words if read_version(bare := word.strip(".,:;()"))), None)
    text = marked(tag).removeprefix(label_text).lstrip(" :")
    yield Directive(kind, version, text)
