"""A cut-out test as a script: statements without pytest, in which assertions print what they looked at."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.own_tests.functions import Function, fixture_decorator, parameters
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.suite import dotted_name, root_name
from pipeline.corpus.snippets.names import bound_by, needed_by, needed_later_by
from pipeline.corpus.witnesses.scaffolding import without_scaffolding
from pipeline.lake.rows import OwnTestRow

_RAISING = frozenset({"raises"})
_WARNING = frozenset({"warns", "deprecated_call"})
_EQUAL = frozenset({"assert_equal", "assert_equals", "eq_"})
_ENDING = ast.Return | ast.Yield | ast.YieldFrom | ast.Await
_IMPORT = ast.Import | ast.ImportFrom


OF_RAISED = "type(error).__name__"
"""What a script prints of code of which the test says only that it raises something."""

OUTPUT = "  # "
"""What stands between a line of a witness and its output."""


@dataclass(frozen=True, slots=True)
class Line:
    """A statement of a script: its text, the names that it binds, needs and may change.

    `expectation` is what an assertion looks for, None for what is none: two assertions with one expectation test the
    same, as far as their texts say. `compares` says that the assertion names a value, so that only the values that
    were printed decide.
    """

    node: ast.stmt
    text: str
    binds: frozenset[str]
    needs: frozenset[str]
    changes: frozenset[str]
    expectation: str | None = None
    compares: bool = False

    @property
    def is_of_raised(self) -> bool:
        """Whether all that it prints is the name of an exception."""
        return isinstance(self.node, ast.Try) and OF_RAISED in self.text


def loose_script_of(test: OwnTestRow) -> tuple[list[Line], frozenset[str]]:
    """Return a test as lines without the fixtures that only pytest runs, and the names that these would bind.

    Whether a part of it does without them is for a run to say.

    Errors: Refused, where it is no function, or its names would not stand beside those of its module.
    """
    before = [each for each in parse_python(test["preamble"]).body if not _is_for_pytest(each)]
    *helpers, function = parse_python(test["code"]).body
    if not isinstance(function, ast.FunctionDef):
        raise Refused(RejectReason.NO_FIXTURE, "only pytest can run it")
    caught = frozenset(
        item.optional_vars.id
        for node in ast.walk(function)
        if isinstance(node, ast.With)
        for item in node.items
        if isinstance(item.optional_vars, ast.Name) and _of_pytest(item.context_expr) in _RAISING
    )
    body = [_OfCaught(caught).visit(statement) for statement in _unrolled(function.body)]
    ends = any(isinstance(node, _ENDING) for statement in body for node in _own(statement))
    if ends or any(isinstance(node, ast.Global | ast.Nonlocal) for each in body for node in ast.walk(each)):
        raise Refused(RejectReason.NAME_CONFLICT, "it returns, or binds names of its module")
    outer, body = without_scaffolding([*before, *helpers], _defaults(function) + body)
    _name_values(body)
    bound = {name for statement in outer if not isinstance(statement, _IMPORT) for name in bound_by(statement)}
    hidden = bound & {name for statement in body for name in bound_by(statement)}
    if hidden:
        raise Refused(RejectReason.NAME_CONFLICT, f"the test binds {sorted(hidden)[0]}, as its module does")
    everything = [*outer, *body]
    imports = [each for each in everything if isinstance(each, _IMPORT)]
    others = [each for each in everything if not isinstance(each, _IMPORT)]
    lines: list[Line] = []
    for statement in (*imports, *others):
        lines += _lines(statement, in_test=any(statement is each for each in body))
    unique = [
        line
        for number, line in enumerate(lines)
        if not isinstance(line.node, _IMPORT) or line.text not in {each.text for each in lines[:number]}
    ]
    return unique, frozenset(parameters(function))


def _is_for_pytest(statement: ast.stmt) -> bool:
    """Say whether a statement of a module is a fixture, or a word to pytest about the whole module."""
    if fixture_decorator(statement) is not None:
        return True
    value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    return value is not None and root_name(value) == "pytest"


def _name_values(body: Sequence[ast.stmt]) -> None:
    """Write values into assertions that compare with a variable of theirs: what a parametrised test expects.

    Otherwise nothing is printed but whether they are equal.
    """
    uses = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)]
    stored = Counter(node.id for node in uses if not isinstance(node.ctx, ast.Load))
    loaded = Counter(node.id for node in uses if isinstance(node.ctx, ast.Load))
    values = {
        target.id: statement.value
        for statement in body
        if isinstance(statement, ast.Assign) and _is_literal(statement.value)
        for target in statement.targets
        if isinstance(target, ast.Name) and stored[target.id] == 1
    }
    compared = [
        (node.test.comparators, 0)
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], ast.Eq)
    ]
    compared += [
        (node.args, 1)
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and dotted_name(node).rpartition(".")[2] in _EQUAL and len(node.args) > 1
    ]
    named = [(places, at, place) for places, at in compared if isinstance(place := places[at], ast.Name)]
    only_compared = Counter(place.id for _, _, place in named)
    for places, at, place in named:
        if place.id in values and loaded[place.id] == only_compared[place.id]:
            places[at] = values[place.id]


def _defaults(function: ast.FunctionDef) -> list[ast.stmt]:
    arguments = [*function.args.posonlyargs, *function.args.args]
    pairs = zip(arguments[len(arguments) - len(function.args.defaults) :], function.args.defaults, strict=True)
    return [ast.Assign([ast.Name(each.arg, ast.Store())], value, lineno=function.lineno) for each, value in pairs]


def _unrolled(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements without the contexts of pytest: code that warns stays, code that must fail shows how it does."""
    for statement in body:
        if isinstance(statement, ast.With) and len(statement.items) == 1:
            item = statement.items[0]
            name = _of_pytest(item.context_expr)
            if name in _RAISING:
                if isinstance(item.optional_vars, ast.Name):
                    yield _caught(statement, item.context_expr, item.optional_vars)
                elif (raising := _raising(statement, item.context_expr)) is not None:
                    yield raising
                continue
            if name in _WARNING:
                yield from _unrolled(statement.body)
                continue
        if isinstance(statement, ast.Expr) and _of_pytest(statement.value) in _RAISING:
            continue
        yield statement


def _caught(statement: ast.With, call: ast.expr, name: ast.Name) -> ast.stmt:
    """Return code that must fail as a statement that keeps its exception, since what follows looks at it."""
    assert isinstance(call, ast.Call)
    assignment = ast.Assign([ast.Name(name.id, ast.Store())], ast.Name("error", ast.Load()), lineno=statement.lineno)
    handler = ast.ExceptHandler(call.args[0] if call.args else None, "error", [assignment])
    return ast.Try([*_unrolled(statement.body)], [handler], [], [])


def _raising(statement: ast.With, call: ast.expr) -> ast.stmt | None:
    """Return code that must fail as a statement that asserts what it raises; None where that is no one class."""
    assert isinstance(call, ast.Call)
    raised = call.args[0] if call.args else None
    if not isinstance(raised, ast.Name | ast.Attribute):
        return None
    name = ast.Constant(raised.attr if isinstance(raised, ast.Attribute) else raised.id)
    test = ast.Compare(parse_python(OF_RAISED, mode="eval").body, [ast.Eq()], [name])
    handler = ast.ExceptHandler(raised, "error", [ast.Assert(test)])
    return ast.Try([*_unrolled(statement.body)], [handler], [], [])


class _OfCaught(ast.NodeTransformer):
    """Writes the exception itself where a test asks pytest for it: `caught` for `caught.value`."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        is_value = node.attr == "value" and isinstance(node.value, ast.Name) and node.value.id in self.names
        return node.value if is_value else node


def _of_pytest(node: ast.AST) -> str:
    first, _, name = dotted_name(node).rpartition(".")
    return name if isinstance(node, ast.Call) and first in ("pytest", "") else ""


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement that are not those of functions in it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _lines(statement: ast.stmt, in_test: bool) -> Iterator[Line]:
    if isinstance(statement, _IMPORT):
        for alias in statement.names:
            single = copy.copy(statement)
            single.names = [alias]
            yield line_of(single)
        return
    if not in_test:
        yield line_of(statement)
        return
    if (printed := _printed_check(statement)) is not None:
        yield line_of(*printed)
        return
    nested = _Nested()
    changed = nested.visit(copy.deepcopy(statement))
    assert isinstance(changed, ast.stmt)
    if nested.expectations:
        yield line_of(changed, " ".join(nested.expectations), False)
    else:
        yield line_of(statement)


def line_of(node: ast.stmt, expectation: str | None = None, compares: bool = False) -> Line:
    """Return a statement as a line of a script."""
    ast.fix_missing_locations(node)
    node = parse_python(ast.unparse(node)).body[0]
    is_import = isinstance(node, _IMPORT)
    needs = frozenset() if is_import else frozenset(needed_by(node) | needed_later_by(node))
    line = Line(
        node, ast.unparse(node), frozenset(bound_by(node)), needs, frozenset(_changed(node)), expectation, compares
    )
    # What fails leaves no name behind.
    return replace(line, binds=frozenset()) if line.is_of_raised else line


def values_behind(line: Line) -> list[Line]:
    """Return, for a line that prints only whether values are equal, of a class or there, those that print the values.

    Whether something is a class says no less than the class itself.
    """
    match line.node:
        case ast.Expr(ast.Call(func=ast.Name("print"), args=[printed])):
            pass
        case _:
            return []
    match printed:
        case ast.Compare(left, [ast.Eq()], [right]):
            values = [left, right]
        case ast.Compare(value, [ast.IsNot()], [ast.Constant(None)]):
            values = [value]
        case ast.Call(func=ast.Name("isinstance"), args=[value, kind]) if ast.unparse(kind) != "type":
            values = [value]
        case _:
            values = []
    return [line_of(_printing(each)) for each in values]


def rewritten(line: Line) -> Line:
    """Return a line with the text of its node, which was changed."""
    return line_of(copy.deepcopy(line.node), line.expectation, line.compares)


def silent_line(line: Line) -> Line:
    """Return a line that displays nothing at a prompt, where an expression shows its value."""
    return line_of(_silent_statement(copy.deepcopy(line.node)), line.expectation, line.compares)


def _changed(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose objects a statement may change: what it calls methods of, or hands to calls."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        # A decorator may register what it decorates.
        for decorator in node.decorator_list:
            yield root_name(decorator) or ""
        return
    for each in _own(node):
        if isinstance(each, ast.Attribute | ast.Subscript) and not isinstance(each.ctx, ast.Load):
            yield root_name(each) or ""
        elif isinstance(each, ast.Call):
            yield root_name(each.func) or ""
            for argument in (*each.args, *(keyword.value for keyword in each.keywords)):
                yield root_name(argument) or ""


class _Nested(ast.NodeTransformer):
    """Makes the assertions inside of a statement print."""

    def __init__(self) -> None:
        self.expectations: list[str] = []

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        printed = _printed_check(node)
        assert printed is not None
        self.expectations.append(printed[1])
        return printed[0]

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        printed = _printed_check(node)
        if printed is None:
            return node
        self.expectations.append(printed[1])
        return printed[0]

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        name = _of_pytest(node.items[0].context_expr) if len(node.items) == 1 else ""
        if name in _RAISING:
            return ast.Pass()
        self.generic_visit(node)
        if name in _WARNING:
            return node.body
        node.body = [_silent_statement(each) for each in node.body]
        return node


def _silent_statement(statement: ast.stmt) -> ast.stmt:
    """Return a statement of a block that displays nothing at a prompt either: there each expression shows its value."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(value, ast.Call) or dotted_name(value) == "print":
        return statement
    return ast.Assign([ast.Name("_", ast.Store())], value)


def _printed_check(statement: ast.stmt) -> tuple[ast.stmt, str, bool] | None:
    """Return the statement that prints what an assertion looks at, what it expects, and whether it names a value."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if dotted_name(call).rpartition(".")[2] not in _EQUAL or len(call.args) < 2:
            return None
        left, right = call.args[:2]
        return _of_equal(left, right)
    if not isinstance(statement, ast.Assert):
        return None
    test = statement.test
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = test.left, test.comparators[0]
        if isinstance(test.ops[0], ast.Eq):
            return _of_equal(left, right)
        if isinstance(test.ops[0], ast.Is) and isinstance(right, ast.Constant):
            return _of_equal(left, right)
    is_truth = isinstance(test, ast.Compare) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))
    is_truth = is_truth or dotted_name(test) in ("isinstance", "issubclass", "callable", "hasattr", "all", "any")
    value = test if is_truth else ast.Call(ast.Name("bool", ast.Load()), [test], [])
    return _printing(value), ast.unparse(test), False


def _of_equal(left: ast.expr, right: ast.expr) -> tuple[ast.stmt, str, bool]:
    if _is_literal(left) and not _is_literal(right):
        left, right = right, left
    if _is_literal(right):
        return _printing(left), ast.unparse(right), True
    return _printing(ast.Compare(left, [ast.Eq()], [right])), ast.unparse(right), False


def _enters_context(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    is_call = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
    return is_call and value.func.attr == "enter_context"  # type: ignore[union-attr]


def _is_literal(node: ast.expr) -> bool:
    try:
        literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _printing(value: ast.expr) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name("print", ast.Load()), [value], []))


def slice_to(lines: Sequence[Line], last: int, *, tight: bool = False) -> list[Line]:
    """Return the lines that one needs, itself included: those that bind its names, or may change what they stand for.

    Other assertions stay out, whatever they call. A tight slice takes modules and what they hold as never changed, and
    contexts of fixtures for needless: these act on no name.
    """
    of_imports = frozenset(name for line in lines if isinstance(line.node, _IMPORT) for name in line.binds)
    lasting = {"", *(of_imports if tight else ())}
    contexts = () if tight else (place for place, line in enumerate(lines[:last]) if _enters_context(line.node))
    chosen = {last, *contexts}
    names = {name for place in chosen for name in lines[place].needs}
    before = -1
    while before != len(chosen):
        before = len(chosen)
        for place in range(last - 1, -1, -1):
            line = lines[place]
            if place in chosen or (line.expectation is not None and not line.binds):
                continue
            if line.binds & names or line.changes & names - lasting:
                chosen.add(place)
                names |= line.needs
    return [lines[place] for place in sorted(chosen)]
