"""Which files use a library: a cheap look at the bytes, then a look at the syntax tree."""

from __future__ import annotations

import functools
import io
import re
import tokenize
from collections.abc import Set

import tree_sitter
import tree_sitter_python

_BREAKS = re.compile(r"\r\n?")
_QUERY = """
(import_statement name: (dotted_name . (identifier) @top))
(import_statement name: (aliased_import name: (dotted_name . (identifier) @top)))
(import_from_statement module_name: (dotted_name . (identifier) @top))
"""


@functools.lru_cache(maxsize=64)
def import_line(names: frozenset[str]) -> re.Pattern[bytes]:
    """Return a pattern of bytes that is in every file which imports one of some packages, and in few others."""
    alternatives = "|".join(map(re.escape, sorted(names)))
    # A line may go on behind a backslash.
    return re.compile(rf"\b(?:import|from)\b(?:\\\r?\n|[^\n])*?\b(?:{alternatives})\b".encode())


def imports(text: str, names: Set[str]) -> bool:
    """Tell whether Python source, of any version and even with errors, imports one of some top-level packages."""
    language, query = _grammar()
    tree = tree_sitter.Parser(language).parse(text.encode())
    found = tree_sitter.QueryCursor(query).captures(tree.root_node).get("top", ())
    return any(node.text is not None and node.text.decode() in names for node in found)


@functools.cache
def _grammar() -> tuple[tree_sitter.Language, tree_sitter.Query]:
    language = tree_sitter.Language(tree_sitter_python.language())
    return language, tree_sitter.Query(language, _QUERY)


def source_text(content: bytes) -> str | None:
    """Return Python source as text, lines ended by `\\n`, in the encoding that it states (PEP 263, 3120).

    None where it is not in that encoding, states one that there is not, or is no text.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        text = content.decode(encoding)
    except (SyntaxError, UnicodeError, LookupError):
        return None
    return None if "\0" in text else _BREAKS.sub("\n", text)
