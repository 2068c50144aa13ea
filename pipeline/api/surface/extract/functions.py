"""A function turned into a definition: once for its text, and for what it depends on besides."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.api.surface.extract.deprecations import mark_of, marks_by_name, wrapper_mark
from pipeline.api.surface.extract.handed_on import CONSTRUCTORS, handed_on, hands_args_on, passed_kwargs
from pipeline.api.surface.extract.kwargs import hidden_parameters, refuses_rest
from pipeline.api.surface.extract.parameter_marks import mark_by_code, mark_by_docstring
from pipeline.api.surface.extract.signature_decorators import HelperRules, apply_helpers
from pipeline.api.surface.extract.unpacked_args import with_unpacked
from pipeline.api.surface.extract.uses import ONLY_RAISES, REFUSES, refuses
from pipeline.api.surface.extract.written_signatures import overload_text, written_parameters
from pipeline.api.surface.parse.bodies import Bodies, Body
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.api.surface.parse.module_model import ARGS_HANDED_ON, ASYNC_GENERATOR, Definition, Parameter
from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.api.surface.parse.scopes import Bound, Scope, annotation_text, reads_strings
from pipeline.api.surface.parse.syntax import Function, written
from pipeline.api.surface.sketches import line_hashes, sketch


@dataclass(slots=True)
class Visited:
    """What is known of a file beside its names: how it is read, its bodies, and the statements under a condition.

    `conditional` has their ids; `lines` takes the first lines of docstrings by dotted name, where they are not 1. What
    is imported from below `passes_on`, "pkg.", is there for others to import from here. `unread` takes the names of
    methods that were put aside. `patched` names the classes that are given members as the module runs, and what
    gives them.
    """

    rules: SurfaceRules
    helpers: HelperRules | None
    bodies: Bodies
    directives: DirectiveRules | None = None
    conditional: set[int] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    lines: dict[str, int] = field(default_factory=dict)
    passes_on: str | None = None
    is_stub: bool = False
    patched: Mapping[str, set[str]] = field(default_factory=dict)

    def note(self, name: str, described: tuple[str | None, int], before: int) -> None:
        """Note where the docstring of a name begins: in a line of a text before which the file has others."""
        docstring, line = described
        if docstring is not None and line + before != 1:
            self.lines[name] = line + before


@dataclass(slots=True)
class _Noting(Scope):
    """A scope that notes what it is asked: annotations depend on some of the names in them."""

    answers: dict[str, str] = field(default_factory=dict)

    def resolve(self, name: str) -> str:
        """Return the absolute path of a name that is used here."""
        answer = Scope.resolve(self, name)
        self.answers[name] = answer
        return answer


def read_function(bound: Bound, node: Function, labels: Sequence[str], body: Body, file: Visited) -> Definition:
    """Return the definition of a function; other files may have the same one, so it must not be changed."""
    scope = bound.scope
    assert scope is not None
    same = not bound.overloads and len(node.decorator_list) == len(body.node.decorator_list)
    besides = None if same else _besides(bound, node, body)
    manner = bound.runtime, file.is_stub, reads_strings(scope), file.rules.deprecations.call_words
    cached = body.read.setdefault((bound.name, *labels, besides, manner), [])
    for answers, definition in cached:
        if not answers or answers == {name: scope.resolve(name) for name in answers}:
            return definition
    noting = _Noting(scope.name, scope.path, scope.owner, scope.around, scope.bound)
    definition = _read(bound, node, labels, noting, body, file)
    cached.append((noting.answers, definition))
    return definition


def _besides(bound: Bound, node: Function, body: Body) -> Hashable:
    """Return what makes a function another one beside its text: other decorators, and overloads."""
    # decorators that are not written at the function come first
    added = node.decorator_list[: len(node.decorator_list) - len(body.node.decorator_list)]
    return tuple(map(written, added)), tuple(map(overload_text, bound.overloads))


def _read(bound: Bound, node: Function, labels: Sequence[str], scope: Scope, body: Body, file: Visited) -> Definition:
    docstring, _ = body.described
    warns = body.once(warnings_of, file.rules.deprecations.call_words)
    definition = Definition(
        bound.name,
        "function",
        runtime=bound.runtime,
        labels=list(labels),
        docstring=docstring,
        deprecation=mark_of(node.decorator_list, warns, docstring, file.rules),
        decorators=[written(decorator) for decorator in node.decorator_list],
        returns=annotation_text(node.returns, scope),
    )
    if warns and definition.deprecation is None:
        definition.warns_by = marks_by_name(warns, file.rules)
    if body.only_raises:
        definition.labels = sorted({*definition.labels, ONLY_RAISES, *([REFUSES] if refuses(body) else [])})
    if "property" in labels or _is_property(definition, file.rules):
        definition.kind = "property"
        return definition
    if "async" in labels and any(map(file.rules.plain_decorators.search, definition.decorators)):
        definition.labels = [label for label in definition.labels if label != "async"]
    if "async" in definition.labels and body.once(yields):
        definition.labels = sorted({*definition.labels, ASYNC_GENERATOR})
    called = with_unpacked(written_parameters(node, scope), body)
    if not file.is_stub and bound.runtime and not any(d.endswith("overload") for d in definition.decorators):
        # in a stub `...` is a default that is not told; here it is the value
        called = [p | {"default": "Ellipsis"} if p["default"] == "..." else p for p in called]
    if file.helpers is not None and node.decorator_list:
        called = apply_helpers(node.decorator_list, called, file.helpers)
    called = with_hidden(called, docstring, body)
    called = mark_by_code(called, body, file.rules)
    definition.called = with_documented_marks(called, docstring, file)
    definition.overloads = [overload_text(overload) for overload in bound.overloads]
    definition.sketch = _sketch(body)
    _fill_handed_on(definition, body)
    if "def " in body.text and body.beginning_with_calls(file.rules.deprecations.call_words):
        definition.deprecates = wrapper_mark(body.statements, file.rules)
    return definition


def _fill_handed_on(definition: Definition, body: Body) -> None:
    if body.once(hands_args_on):
        definition.labels = sorted({*definition.labels, ARGS_HANDED_ON})
    if body.node.args.kwarg is None:
        return
    if definition.name in CONSTRUCTORS:
        definition.passes_kwargs = body.once(passed_kwargs)
    definition.hands_on = body.once(handed_on)


def yields(body: Body) -> bool:
    """Return whether a function is a generator (PEP 255, PEP 525): it yields, and not in a function inside of it."""
    if not body.mentions(("yield",)):
        return False
    waiting: list[ast.AST] = list(body.statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
    return False


def warnings_of(body: Body, words: tuple[str, ...]) -> Sequence[ast.stmt]:
    """Return the statements of a body if it may call, whenever it runs, what has one of the words in its name."""
    return body.statements if body.calls(words) else ()


def with_hidden(called: list[Parameter], docstring: str | None, body: Body) -> list[Parameter]:
    """Return parameters with those behind `**kwargs`, which is the last."""
    if body.node.args.kwarg is None:
        return called
    names = frozenset([parameter["name"] for parameter in called])
    # `if kwargs: raise TypeError` leaves a caller no other names
    rest = [] if body.once(refuses_rest) else called[-1:]
    return [*called[:-1], *body.once(hidden_parameters, docstring, names), *rest]


def with_documented_marks(called: list[Parameter], docstring: str | None, file: Visited) -> list[Parameter]:
    """Return parameters, those marked that a docstring calls deprecated."""
    return called if file.directives is None else mark_by_docstring(called, docstring, file.rules, file.directives)


def _is_property(definition: Definition, rules: SurfaceRules) -> bool:
    """Return whether a decorator makes a property that griffe does not know, or adds a setter to such a one."""
    if not definition.decorators:
        return False
    accessors = {f"{definition.name}.{accessor}" for accessor in ("getter", "setter", "deleter")}
    return any(d in accessors or rules.property_decorators.search(d) for d in definition.decorators)


def _sketch(body: Body) -> list[int]:
    start, end = body.span
    return sketch(line_hashes(body.text[start:end].encode())) if start < end else []
