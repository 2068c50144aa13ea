"""What a text says of an API, by parts, whether it was read from a docstring or from a page, and the row of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from pipeline.api.surface.extract.directives import Directive
from pipeline.core.vocabularies.surface import ParameterKind, SymbolKind
from pipeline.corpus.prose import plain
from pipeline.lake.rows import ApiDocumentDocumentedParameter, ApiDocumentResult, ApiDocumentStatement, SymbolParameter

CALLABLE = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD})
STARS: dict[str, str] = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}

_UNKNOWN = "..."


@dataclass(frozen=True, slots=True)
class Described:
    """A parameter, or something returned, as a text describes it; `mandatory` is None where the text does not tell."""

    name: str
    type: str | None = None
    default: str | None = None
    mandatory: bool | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """What a text says: prose, parameters, what is returned, code as written, statements of versions, exceptions."""

    description: str = ""
    parameters: tuple[Described, ...] = ()
    returns: tuple[Described, ...] = ()
    examples: tuple[str, ...] = ()
    directives: tuple[Directive, ...] = ()
    raises: tuple[Described, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the text says nothing at all."""
        return self == Content()


@dataclass(frozen=True, slots=True)
class Anchored:
    """What a page says at an anchor: what stands behind the name (parameters, or an annotation), and the rest."""

    heading: str
    content: Content

    @property
    def signature(self) -> str | None:
        """How the API is called."""
        return self.heading if self.heading.startswith("(") else None

    @property
    def annotation(self) -> str | None:
        """The annotation of the result, or of an attribute."""
        text = self.heading.rpartition(")")[2].partition("-> ")[2] if self.signature else self.heading
        return text.removeprefix(":").partition(" = ")[0].strip() or None


class ContentColumns(TypedDict):
    """The columns that say what a text says of an API."""

    parameters: list[ApiDocumentDocumentedParameter]
    description: str
    returns: list[ApiDocumentResult]
    examples: list[str]
    directives: list[ApiDocumentStatement]


def content_columns(
    content: Content, signature_parameters: Sequence[SymbolParameter], annotation: str | None
) -> ContentColumns:
    """Return the columns that say what a text says of an API whose signature takes these parameters.

    `signature_parameters` are as in the table `symbols`; `annotation` is that of the result, or of an attribute.
    """
    return {
        "parameters": parameter_rows(content.parameters, signature_parameters),
        "description": content.description,
        "returns": _result_rows(content.returns, annotation),
        "examples": list(content.examples),
        "directives": [_statement(directive) for directive in content.directives],
    }


def parameter_rows(
    described: Sequence[Described], signature_parameters: Sequence[SymbolParameter]
) -> list[ApiDocumentDocumentedParameter]:
    """Put together what a signature and a text say of parameters: the signature's first, in its order."""
    by_name = {entry.name.lstrip("*"): entry for entry in described}
    rows = [
        _documented_parameter(parameter, by_name.pop(parameter["name"], None)) for parameter in signature_parameters
    ]
    return [*rows, *(_parameter_row(entry) for entry in by_name.values())]


def _documented_parameter(parameter: SymbolParameter, described: Described | None) -> ApiDocumentDocumentedParameter:
    described = described or Described("")
    default = described.default if parameter["default"] == _UNKNOWN else parameter["default"] or described.default
    return {
        "name": STARS.get(parameter["kind"], "") + parameter["name"],
        "type": described.type or parameter["annotation"],
        "mandatory": parameter["default"] is None and parameter["kind"] not in STARS,
        "default": default,
        "description": described.description,
    }


def _parameter_row(parameter: Described) -> ApiDocumentDocumentedParameter:
    mandatory = False if parameter.default is not None or parameter.name.startswith("*") else parameter.mandatory
    return {
        "name": parameter.name,
        "type": parameter.type,
        "mandatory": mandatory,
        "default": parameter.default,
        "description": parameter.description,
    }


def _result_rows(results: Sequence[Described], annotation: str | None) -> list[ApiDocumentResult]:
    if not results and annotation:
        results = [Described("", annotation)]
    elif len(results) == 1 and not results[0].type:
        results = [replace(results[0], type=annotation)]
    return [{"name": result.name or None, "type": result.type, "description": result.description} for result in results]


def _statement(directive: Directive) -> ApiDocumentStatement:
    return {
        "directive": directive.kind,
        "owner": directive.owner,
        "name": directive.name,
        "stated_version": directive.version_text,
        "text": plain(directive.text),
    }


def named_each(described: Described, names: str) -> Iterator[Described]:
    """Yield a description for each of the names that share it: `x, y : int`."""
    for name in names.replace("\\", "").split(","):
        bare = name.strip().strip("`'\" ")
        if bare.lstrip("*").isidentifier() and bare not in {"self", "cls"}:
            yield replace(described, name=bare)
