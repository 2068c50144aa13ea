"""Code in Java, C# and JavaScript: what it imports, and the first name in it that is the library's."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

import tree_sitter_c_sharp
import tree_sitter_java
import tree_sitter_javascript
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from pipeline.core.vocabularies.samples import Language

_GRAMMARS: Mapping[str, ModuleType] = {
    Language.JAVA: tree_sitter_java,
    Language.CSHARP: tree_sitter_c_sharp,
    Language.JAVASCRIPT: tree_sitter_javascript,
}
_IMPORTS = frozenset({"import_declaration", "package_declaration", "using_directive", "import_statement"})
_NAMES = frozenset({"identifier", "type_identifier", "property_identifier"})
_COMMENTS = frozenset({"comment", "line_comment", "block_comment"})


@dataclass(frozen=True, slots=True)
class LibraryNames:
    """How code shows that it uses a library: the packages that it imports from, and names of its API.

    The names are for C#, whose `using` brings a namespace without naming what is in it, and for `import x.*`.
    """

    packages: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()

    def holds(self, package: str) -> bool:
        """Return whether a package or module is the library's, or lies in one that is."""
        return any(package == own or package.startswith((f"{own}.", f"{own}/")) for own in self.packages)


@dataclass(frozen=True, slots=True)
class Code:
    """Parsed code: `head` are the imports that it begins with, `body` is what follows, both with its layout.

    `core` is the first name of the library in the body, None where nothing ties a name to it.
    """

    head: str
    body: str
    core: str | None


def read_code(code: str, language: str, library: LibraryNames) -> Code:
    """Split code into imports and the rest, and find what it uses of a library.

    `language` is one of Language but Python. Code that is not of it gives nonsense, and no error.
    """
    data = code.encode()
    root = _parser(language).parse(data).root_node
    rest = [node for node in root.children if not _is_head(node) and node.type not in _COMMENTS]
    start = rest[0].start_byte if rest else len(data)
    start = len(data[:start].rstrip(b" \t")) if rest else start
    named, wholes = _imported(root, library)
    core = next(_uses(root, start, named | library.names, wholes), None)
    return Code(data[:start].decode(), data[start:].decode(), core)


@functools.cache
def _parser(language: str) -> Parser:
    return Parser(Grammar(_GRAMMARS[language].language()))


def _is_head(node: Node) -> bool:
    if node.type in _IMPORTS:
        return True
    if node.type == "expression_statement":
        # A string alone is a directive: 'use strict'.
        return [child.type for child in node.named_children] == ["string"]
    return node.type in ("lexical_declaration", "variable_declaration") and any(
        _required(child) for child in node.named_children
    )


def _required(declarator: Node) -> str | None:
    """Return the module that `x = require("module")` names."""
    value = declarator.child_by_field_name("value")
    function = value.child_by_field_name("function") if value and value.type == "call_expression" else None
    arguments = value.child_by_field_name("arguments") if value and function and _text(function) == "require" else None
    return _text(arguments).strip("()\"'` ") if arguments else None


def _imported(root: Node, library: LibraryNames) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that are imported from a library: single ones, and such as stand for all of it."""
    named: set[str] = set()
    wholes: set[str] = set()
    for node in _walk(root):
        if node.type == "import_declaration":
            package, _, name = _dotted(node).rpartition(".")
            if library.holds(package) and not any(child.type == "asterisk" for child in node.children):
                named.add(name)
        elif node.type == "import_statement":
            source = node.child_by_field_name("source")
            if source and library.holds(_text(source).strip("\"'`")):
                _bound_by(node, named, wholes)
        elif node.type == "variable_declarator" and (module := _required(node)) and library.holds(module):
            bound = node.child_by_field_name("name")
            if bound and bound.type == "identifier":
                wholes.add(_text(bound))
            elif bound:
                named |= {_text(each).partition(":")[0].strip() for each in bound.named_children}
    return frozenset(named), frozenset(wholes)


def _dotted(declaration: Node) -> str:
    return next((_text(node) for node in declaration.named_children if node.type == "scoped_identifier"), "")


def _bound_by(statement: Node, named: set[str], wholes: set[str]) -> None:
    """Add what `import whole, * as whole, { named } from …` binds."""
    for node in _walk(statement):
        if node.type == "import_specifier":
            name = node.child_by_field_name("alias") or node.child_by_field_name("name")
            named.update([_text(name)] if name else [])
        elif node.type in ("namespace_import", "import_clause"):
            wholes |= {_text(child) for child in node.named_children if child.type == "identifier"}


def _uses(root: Node, start: int, named: frozenset[str], wholes: frozenset[str]) -> Iterator[str]:
    """Yield the library's names below the imports, in their order."""
    for node in _walk(root):
        if node.type not in _NAMES or node.start_byte < start:
            continue
        text = _text(node)
        if text in named:
            yield text
        elif text in wholes and (used := _used_of(node)):
            yield used


def _used_of(node: Node) -> str | None:
    """Return the name that is taken of a whole library, or its own where it is called: only JavaScript binds one."""
    parent = node.parent
    if parent is None:
        return None
    if parent.type == "call_expression" and parent.child_by_field_name("function") == node:
        return _text(node)
    if parent.type != "member_expression" or parent.child_by_field_name("object") != node:
        return None
    member = parent.child_by_field_name("property")
    return _text(member) if member else None


def _walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it in the order of the text; no recursion, since posts nest as deep as they like."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def _text(node: Node) -> str:
    return (node.text or b"").decode()
