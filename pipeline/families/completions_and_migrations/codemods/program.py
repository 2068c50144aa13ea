"""A snippet as a libcst tree whose nodes are found by their bytes, and the same snippet put together again."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from pipeline.core.syntax_trees import parse_python
from pipeline.corpus.usages.text import Program as Source
from pipeline.corpus.usages.text import source_of
from pipeline.families.completions_and_migrations.codemods.signatures import Unfit
from pipeline.lake.rows import SnippetCheck

Span = tuple[int, int]
"""First byte and the byte after the last, in the text of `source_of`."""

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


class Checked(Source):
    """A program and its statements, each with what it displays; without any it is taken as a whole."""

    checks: Sequence[SnippetCheck]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The parts of a snippet that are run: the preamble, and the code, or what each of its statements became."""

    preamble: str
    code: str
    statements: tuple[tuple[str, ...], ...]


class Program:
    """A parsed snippet: its chains of names by their bytes, and what its imports bind.

    `bound` is local name to dotted path; `modules` are the local names that stand for modules for certain,
    `used` the names that it uses or binds otherwise, `counts` how often it uses each.
    """

    def __init__(self, snippet: Checked) -> None:
        """Parse it. Errors: Unfit where libcst cannot, or where statements and code differ."""
        preamble = source_of({"preamble": snippet["preamble"], "code": ""})
        try:
            module = cst.parse_module(source_of(snippet))
            self.in_preamble = len(cst.parse_module(preamble).body)
            self.sizes = [_lines_of(check["statement"]) for check in snippet["checks"]]
        except (cst.ParserSyntaxError, SyntaxError, ValueError, RecursionError) as error:
            raise Unfit(f"cannot be parsed: {str(error).splitlines()[0]}") from None
        if self.sizes and sum(self.sizes) != len(module.body) - self.in_preamble:
            raise Unfit("its statements are not those of its code")
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        self.module = wrapper.module
        self._bytes = wrapper.resolve(ByteSpanPositionProvider)
        self._data = source_of(snippet).encode()
        reader = _Reader(self.span)
        self.module.visit(reader)
        self.chains: Mapping[Span, cst.BaseExpression] = reader.chains
        self.bound: Mapping[str, str] = reader.bound
        self.modules: Set[str] = reader.modules
        self.used: Set[str] = names_of(source_of(snippet))
        self.counts = Counter(
            node.id for node in ast.walk(parse_python(source_of(snippet))) if isinstance(node, ast.Name)
        )

    def span(self, node: cst.CSTNode) -> Span:
        """Return the bytes of a node, without parentheses around it."""
        place = self._bytes[node]
        return place.start, place.start + place.length

    def line(self, node: cst.CSTNode) -> int:
        """Return the line on which a node starts, from 1."""
        return self._data.count(b"\n", 0, self._bytes[node].start) + 1

    def put_together(self, bodies: Sequence[Sequence[Statement]], imports: Sequence[str]) -> Pieces:
        """Return the parts, given what each statement of the module became, and the imports that the preamble gains."""
        at = self.in_preamble
        head = self._text([node for body in bodies[:at] for node in body], first=True)
        head += "".join(f"{line}\n" for line in imports)
        groups = _groups(bodies[at:], self.sizes)
        if self.sizes:
            statements = tuple(tuple(self._text([node], first=False) for node in group) for group in groups)
            return Pieces(head, "".join(text for became in statements for text in became), statements)
        code = self._text([node for group in groups for node in group], first=not at)
        return Pieces(head, code + self._text(list(self.module.footer), first=False), ())

    def _text(self, nodes: Sequence[cst.CSTNode], *, first: bool) -> str:
        header = [*self.module.header] if first and nodes else []
        text = "".join(self.module.code_for_node(node) for node in (*header, *nodes))
        return text if not text or text.endswith("\n") else text + "\n"


def _lines_of(statement: str) -> int:
    """Return how many nodes libcst makes of a statement, which has one for all that a semicolon joins."""
    return len({node.lineno for node in parse_python(statement).body})


def _groups(bodies: Sequence[Sequence[Statement]], sizes: Sequence[int]) -> Iterator[list[Statement]]:
    """Yield what the statements of each check became; all of them where there are no checks."""
    start = 0
    for size in sizes or [len(bodies)]:
        yield [node for body in bodies[start : start + size] for node in body]
        start += size


class _Reader(cst.CSTVisitor):
    """Finds chains of names by their bytes, and what import statements bind.

    Relative imports and those of a star tell nothing.
    """

    def __init__(self, span: Callable[[cst.CSTNode], Span]) -> None:
        self.span = span
        self.chains: dict[Span, cst.BaseExpression] = {}
        self.bound: dict[str, str] = {}
        self.modules: set[str] = set()

    def visit_Name(self, node: cst.Name) -> None:  # noqa: N802 - libcst calls it so
        self.chains.setdefault(self.span(node), node)

    def visit_Attribute(self, node: cst.Attribute) -> None:  # noqa: N802 - libcst calls it so
        self.chains[self.span(node)] = node

    def visit_Import(self, node: cst.Import) -> None:  # noqa: N802 - libcst calls it so
        for alias in node.names:
            path = alias.evaluated_name
            root = path.partition(".")[0]
            self.bound[alias.evaluated_alias or root] = path if alias.evaluated_alias else root
            self.modules.add(alias.evaluated_alias or root)

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:  # noqa: N802 - libcst calls it so
        if node.relative or node.module is None or isinstance(node.names, cst.ImportStar):
            return
        module = dotted(node.module)
        for alias in node.names:
            self.bound[alias.evaluated_alias or alias.evaluated_name] = f"{module}.{alias.evaluated_name}"


def names_of(code: str) -> frozenset[str]:
    """Return the names that a program uses or binds, but those of its imports."""
    used_names: set[str] = set()
    for node in ast.walk(parse_python(code)):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                used_names.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                used_names.update(names)
    return frozenset(used_names)


def dotted(node: cst.BaseExpression) -> str:
    """Return a chain of names as text, without spaces and parentheses. Errors: Unfit where it is none."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        return f"{dotted(node.value)}.{node.attr.value}"
    raise Unfit("the chain does not start at a name")
