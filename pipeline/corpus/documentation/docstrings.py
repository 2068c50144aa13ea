"""A docstring by parts: griffe's parsers of numpydoc, Google and Sphinx style tell description, parameters, results."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping

import griffe

from pipeline.api.surface.extract.directives import Directive, demote_later_additions, name_parameters, read_directives
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.corpus.documentation.content import Content, Described, named_each
from pipeline.corpus.documentation.prose import code_blocks, prose

_STYLES: list[griffe.Parser] = [griffe.Parser.numpy, griffe.Parser.google, griffe.Parser.sphinx]
# griffe does not take sections without items for signs of numpydoc, nor a field in the last line for one of Sphinx.
_MARKS = (
    (re.compile(r"^(?:Parameters|Returns|Examples?|Notes|See Also|References)[ \t]*\n-{3,}[ \t]*$", re.M), _STYLES[0]),
    (re.compile(r"^:(?:param|type|returns?|rtype|raises?)\b[^:\n]*:", re.M), _STYLES[2]),
)
# Napoleon reads a section of Google style whose items stand after a blank line, griffe does not.
_GOOGLE_GAP = re.compile(
    r"^((?:Args|Arguments|Parameters|Returns|Yields|Raises|Attributes):)[ \t]*\n[ \t]*\n(?=[ \t]+\S)", re.M
)
# Nor does griffe read one that follows a line without a blank one between.
_GOOGLE_TIGHT = re.compile(
    r"(?<=[^\n])\n(?=(?:Args|Arguments|Parameters|Returns|Yields|Raises|Attributes):[ \t]*\n[ \t]+\S)"
)
_OPTIONS = {"warnings": False}
_Kind = griffe.DocstringSectionKind
_PARAMETERS = {_Kind.parameters, _Kind.other_parameters}
_RESULTS = {_Kind.returns, _Kind.yields}

# many states of an API share their docstring
_directives = functools.lru_cache(maxsize=65536)(read_directives)


@functools.lru_cache(maxsize=65536)
def read_docstring(docstring: str) -> Content:
    """Return what a docstring, its indentation removed, says, but for statements of versions.

    The style is the one whose marks it has; a docstring without any is all description.
    """
    docstring = _GOOGLE_TIGHT.sub("\n\n", docstring)
    examples = code_blocks(docstring)
    sections = _sections(docstring)
    if sections is None:
        return Content(prose(docstring), examples=examples)
    texts = (section.value for section in sections if section.kind is _Kind.text)
    return Content(
        prose("\n\n".join(texts)),
        tuple(described for section in sections if section.kind in _PARAMETERS for described in _parameters(section)),
        tuple(_result(item) for section in sections if section.kind in _RESULTS for item in section.value),
        examples,
        raises=tuple(
            Described(str(item.annotation), description=_prose(item.description))
            for section in sections
            if section.kind is _Kind.raises
            for item in section.value
        ),
    )


@functools.lru_cache(maxsize=65536)
def texts_by_name(docstring: str) -> Mapping[str, str]:
    """Return what a docstring, its indentation removed, says of each parameter and attribute, by name."""
    sections = [each for each in _sections(docstring) or () if each.kind in {*_PARAMETERS, _Kind.attributes}]
    described = (item for section in sections for item in _parameters(section))
    return {item.name: item.description for item in described if item.description}


def _sections(docstring: str) -> list[griffe.DocstringSection] | None:
    """Return the sections of a docstring; None where it has no marks of a style."""
    docstring = _GOOGLE_TIGHT.sub("\n\n", _GOOGLE_GAP.sub(r"\1\n", docstring))
    style = _style(docstring)
    return griffe.Docstring(docstring, lineno=1).parse(style, **_OPTIONS) if style else None


def _style(docstring: str) -> griffe.Parser | None:
    """Return the style that griffe tells, or that of the first mark that it does not look for."""
    inferred = griffe.infer_docstring_style(griffe.Docstring(docstring, lineno=1), style_order=_STYLES)[0]
    return inferred or next((style for pattern, style in _MARKS if pattern.search(docstring)), None)


def version_directives(docstring: str, parameters: Collection[str], rules: DirectiveRules) -> tuple[Directive, ...]:
    """Return what a docstring states of versions, as the table `directives` has it."""
    read = _directives(docstring, rules)
    return tuple(dict.fromkeys(demote_later_additions(name_parameters(read, parameters, rules)))) if read else ()


def _parameters(section: griffe.DocstringSection) -> Iterator[Described]:
    for item in section.value:
        default = _text(item.value)
        described = Described("", _type(item.annotation), default, None, _prose(item.description))
        yield from named_each(described, item.name)


def _result(item: griffe.DocstringReturn | griffe.DocstringYield) -> Described:
    return Described(item.name or "", _type(item.annotation), description=_prose(item.description))


def _type(annotation: object) -> str | None:
    """Return a type as written, without markup: a field of Sphinx takes the paragraphs after it too."""
    text = _text(annotation)
    return " ".join(text.split("\n\n")[0].replace("`", "").split()) or None if text else None


def _text(value: object) -> str | None:
    return None if value is None else str(value).strip() or None


def _prose(text: str | None) -> str | None:
    return prose(text) or None if text else None
