"""What is found in a source: a use of a public path, or a chain that leads to none, and how it stands there."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.core.vocabularies.samples import Access, UsageForm
from pipeline.lake.ids import content_id
from pipeline.lake.rows import UsageRow


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a public API; positions are bytes of the source in UTF-8, the line counts from 1."""

    path: str
    name: str
    start_byte: int
    end_byte: int
    name_start_byte: int
    name_end_byte: int
    line: int
    access: Access
    form: UsageForm
    keywords: tuple[str, ...] = ()


def usage_row(use: Use, snippet_id: str, library: str, version: str) -> UsageRow:
    """Return the row of a use in a snippet."""
    return {
        "id": content_id(snippet_id, use.path, use.name_start_byte, use.end_byte),
        "snippet_id": snippet_id,
        "library": library,
        "version": version,
        "path": use.path,
        "name": use.name,
        "start_byte": use.start_byte,
        "end_byte": use.end_byte,
        "name_start_byte": use.name_start_byte,
        "name_end_byte": use.name_end_byte,
        "line": use.line,
        "access": use.access,
        "form": use.form,
        "keywords": list(use.keywords),
    }


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A chain that starts at the library and leads to no public path of the version; `path` is where it broke off."""

    chain: str
    path: str
    line: int
    start_byte: int


@dataclass(frozen=True, slots=True)
class UseForm:
    """How the chain as a whole stands in the code."""

    form: UsageForm = UsageForm.ATTRIBUTE
    keywords: tuple[str, ...] = ()


PLAIN = UseForm()
