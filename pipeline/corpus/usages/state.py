"""The state of a walk over one source: the scope of the moment, what was noted, and what waits to be run."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.scopes import Names, Scope, ScopeKind, names_of
from pipeline.corpus.usages.syntax import Node, Source
from pipeline.corpus.usages.uses import PLAIN, Unresolved, Use, UseForm
from pipeline.corpus.usages.values import UNKNOWN, Value

# Deeper trees are generated data, not code that anyone reads; the recursion of the finder stays far below
# Python's own limit.
MAX_DEPTH = 120

Evaluate = Callable[["State", Node, UseForm], Value]
Perform = Callable[["State", Node], None]


@dataclass(slots=True)
class FunctionInfo:
    """A function of the source; `where` is the scope it stands in, `owner` the class whose method it is, or 0."""

    node: Node
    where: Scope
    parameters: dict[str, Value]
    names: Names
    owner: int
    decorators: tuple[str, ...] = ()
    annotated: Value = UNKNOWN
    result: Value | None = None
    busy: bool = False

    def is_a(self, *decorators: str) -> bool:
        """Tell whether it has one of these decorators, by their last name."""
        return any(path.rpartition(".")[2] in decorators for path in self.decorators)


@dataclass(slots=True)
class ClassInfo:
    """A class of the source; `attributes` is what its methods assign to attributes of their first parameter."""

    scope: Scope
    bases: list[Value]
    methods: list[int] = field(default_factory=list)
    attributes: dict[str, Value] = field(default_factory=dict)
    learned: bool = False


Passed = dict[int, dict[str, Value]]
"""What calls in the source give the parameters of its functions, by where the functions start."""


class State:
    """Evaluates expressions and performs statements in the scope of the moment, and notes uses while `recording`."""

    def __init__(
        self,
        api: Api,
        source: Source,
        expressions: dict[str, Evaluate],
        statements: dict[str, Perform],
        passed: Passed,
    ) -> None:
        self.api = api
        self.source = source
        self.expressions = expressions
        self.statements = statements
        self.passed = passed
        """Arguments of calls that an earlier walk recorded; `call_arguments` are those of this walk."""
        self.call_arguments: Passed = {}
        self.scope = Scope(ScopeKind.MODULE)
        self.recording = True
        self.too_deep = False
        self.ended = False
        """Whether the branch that is run has left by return, raise, break or continue."""
        self.depth = 0
        self.returned: list[Value] = []
        self.uses: list[Use] = []
        self.unresolved: list[Unresolved] = []
        self.waiting: deque[Callable[[], None]] = deque()
        self.functions: dict[int, FunctionInfo] = {}
        self.classes: dict[int, ClassInfo] = {}
        self.fixtures: dict[str, Value] = {}
        self.starred: set[str] = set()
        self._names: dict[int, Names] = {}

    def names_of(self, body: Node) -> Names:
        """Return what the statements below a node bind and declare in its own scope; each is walked once."""
        if id(body) not in self._names:
            self._names[id(body)] = names_of(body.binders)
        return self._names[id(body)]

    def bound_in(self, node: Node) -> set[str]:
        """Return the names that the statements below a node bind in the scope of the moment."""
        scope = self.scope
        while scope.kind is ScopeKind.COMPREHENSION and scope.parent:
            scope = scope.parent
        first = bisect_left(scope.binders, node.start, key=lambda binder: binder.start)
        last = bisect_left(scope.binders, node.end, key=lambda binder: binder.start)
        return names_of(scope.binders[first:last]).bound

    def value(self, node: Node | None, place: UseForm = PLAIN) -> Value:
        """Evaluate an expression; `place` tells how it stands in the code around it."""
        if node is None:
            return UNKNOWN
        if self.depth >= MAX_DEPTH:
            self.too_deep |= self.recording
            return UNKNOWN
        self.depth += 1
        if evaluate := self.expressions.get(node.type):
            result = evaluate(self, node, place)
        else:
            result = UNKNOWN
            for child in node.children:
                self.value(child)
        self.depth -= 1
        return result

    def perform(self, node: Node | None) -> None:
        """Perform a statement; what is none of its own kind is evaluated for what is inside it."""
        if node is None:
            return
        if self.depth >= MAX_DEPTH:
            self.too_deep |= self.recording
            return
        self.depth += 1
        if perform := self.statements.get(node.type):
            perform(self, node)
        else:
            self.value(node)
        self.depth -= 1
