"""Which Python files of somebody's tree of files use a library, and for which of its releases they were written."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from posixpath import dirname
from typing import Annotated

import tree_sitter
import tree_sitter_python
from pydantic import Field, model_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.pins.matrix import Narrow, Published
from pipeline.corpus.pins.read import is_pin_file, read_pins
from pipeline.corpus.pins.statements import Pins
from pipeline.corpus.pins.version import ResolvedVersion, version_of
from pipeline.corpus.source_text import source_text
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject

_ROOTS = ("src", "lib")
_QUERY = """
(import_statement name: (dotted_name . (identifier) @top))
(import_statement name: (aliased_import name: (dotted_name . (identifier) @top)))
(import_from_statement module_name: (dotted_name . (identifier) @top))
"""


class OutOfScope(Rule):
    """What tells of a file that it is no example of how a library is used, and why.

    The pattern is searched for; `examples` are texts in which it must be found, `not_examples` those in which not.
    """

    pattern: re.Pattern[str]
    why: str
    examples: Annotated[tuple[str, ...], Field(min_length=1)]
    not_examples: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _examples_hold(self) -> OutOfScope:
        wrong = [text for text in self.examples if not self.pattern.search(text)]
        wrong += [text for text in self.not_examples if self.pattern.search(text)]
        if wrong:
            raise InputError(f"{self.pattern.pattern!r} is wrong about {wrong}", code="rule_example_wrong")
        return self


class PythonFileRules(Rule):
    """The rules of `curation_rules/python_files.yaml`; sizes in bytes."""

    max_file_bytes: int = Field(gt=0)
    head_lines: int = Field(ge=1)
    out_of_scope_paths: tuple[OutOfScope, ...]
    out_of_scope_heads: tuple[OutOfScope, ...]

    def out_of_scope(self, path: str, text: str) -> str | None:
        """Return why a file, by its path in the tree or its first lines, is no example; None if it may be."""
        head = "\n".join(text.split("\n", self.head_lines)[: self.head_lines])
        reasons = [rule.why for rule in self.out_of_scope_paths if rule.pattern.search(path)]
        reasons += [rule.why for rule in self.out_of_scope_heads if rule.pattern.search(head)]
        return reasons[0] if reasons else None


@dataclass(frozen=True)
class Target:
    """The library whose uses are looked for: its `releases` in the lake, and all that were `published`.

    `narrow` resolves it together with the other requirements of a project.
    """

    library: str
    releases: tuple[ReleaseRow, ...]
    published: Sequence[Published]
    narrow: Narrow | None = None

    @cached_property
    def names(self) -> frozenset[str]:
        """The top-level packages and modules of the library."""
        return frozenset(name for row in self.releases for name in row["import_names"])


def using(files: Mapping[str, bytes], target: Target, rules: PythonFileRules) -> dict[str, str | Reject]:
    """Return the text of each file that imports the library, or why it is refused, by path in order.

    The key of a reject is the path. Files that do not import the library are none of our business.
    """
    read = {path: _read(path, files[path], target.names, rules) for path in sorted(files) if path.endswith(".py")}
    return {path: text for path, text in read.items() if text is not None}


def pins_of(files: Mapping[str, bytes], rules: PythonFileRules) -> Pins:
    """Read what states versions; requirements among tests are there to be tested with."""
    return read_pins(
        {path: text for path, text in files.items() if is_pin_file(path) and not rules.out_of_scope(path, "")}
    )


def dated(paths: Sequence[str], pins: Pins, target: Target, as_of: datetime) -> dict[str, ResolvedVersion | Reject]:
    """Return for each file the release of the library that is stated for its folder, or why nobody can tell."""
    by_folder: dict[str, ResolvedVersion | Reject] = {}
    for path in paths:
        if dirname(path) not in by_folder:
            by_folder[dirname(path)] = version_of(
                target.library,
                pins.statements,
                target.releases,
                as_of,
                file=path,
                published=target.published,
                narrow=target.narrow,
            )
    return {path: by_folder[dirname(path)] for path in paths}


def _read(path: str, content: bytes, names: frozenset[str], rules: PythonFileRules) -> str | Reject | None:
    if not names or not import_line(names).search(content):
        return None
    if len(content) > rules.max_file_bytes:
        detail = f"{len(content)} bytes, the limit is {rules.max_file_bytes}"
        return Reject(path, RejectReason.TOO_LARGE, detail)
    text = source_text(content)
    if text is None:
        return Reject(path, RejectReason.UNREADABLE, "not in the encoding that it states (PEP 263), or no text")
    if not imports(text, names):
        return None
    why = _own_package(path, names) or rules.out_of_scope(path, text)
    return Reject(path, RejectReason.OUT_OF_SCOPE, why) if why else text


def _own_package(path: str, names: frozenset[str]) -> str | None:
    """Say so where a file stands in a package that is called as the library is: what it imports may be itself."""
    first, _, rest = path.partition("/")
    package = (rest.partition("/")[0] if first in _ROOTS else first).removesuffix(".py")
    return f"the tree has a package {package} of its own: a copy of the library" if package in names else None


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
    nodes = tree_sitter.QueryCursor(query).captures(tree.root_node).get("top", ())
    return any(node.text is not None and node.text.decode() in names for node in nodes)


@functools.cache
def _grammar() -> tuple[tree_sitter.Language, tree_sitter.Query]:
    language = tree_sitter.Language(tree_sitter_python.language())
    return language, tree_sitter.Query(language, _QUERY)
