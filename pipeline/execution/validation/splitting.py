"""Tests parted into inputs, which the process of an answer gets, and expectations, which it never has.

Read from the text of tests: test functions of plain asserts that compare what the code gives with constants, blocks
that must raise or warn, and statements between them that prepare inputs. Loops and parameters over constants are
written out. Whatever else a test does cannot be parted, since its expectation would have to run beside the answer.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from pipeline.core.syntax_trees import parse_python
from pipeline.execution.validation.constants import NotConstant, constant

_MOST_STEPS = 2000
_RELATIONS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "in": "contains", "not in": "lacks"}
_FUNCTIONS = frozenset(
    {
        *(
            "abs",
            "bool",
            "dict",
            "float",
            "frozenset",
            "int",
            "len",
            "list",
            "max",
            "min",
            "next",
            "repr",
            "round",
            "set",
        ),
        *("sorted", "str", "sum", "tuple", "type"),
    }
)


class NotParted(ValueError):
    """Tests cannot be parted into inputs and expectations; the message says at which statement."""


@dataclass(frozen=True, slots=True)
class Step:
    """A piece of a test: how it is run, its source, and what must come of it.

    `kind` is `run` for statements, `value` for an expression whose value counts, `warned` for statements whose warnings
    do. `relation` compares the observation with the constant whose source is `operand`; "" asks for no exception alone.
    """

    kind: str
    source: str
    relation: str = ""
    operand: str = ""


@dataclass(frozen=True, slots=True)
class Parted:
    """Tests in parts: what they have in common, and the steps of each by its name."""

    preamble: str
    tests: tuple[tuple[str, tuple[Step, ...]], ...]


def part(source: str, module: str | None) -> Parted:
    """Part a pytest module that tests a program imported as `module`, or asserts that run after a script if None.

    Errors: NotParted.
    """
    try:
        tree = parse_python(source)
        if module is not None:
            return _module(tree, module)
        steps, _ = _Test({}, {}, "").of_body(tree.body)
        return Parted("", (("test", steps),))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise error if isinstance(error, NotParted) else NotParted(str(error)) from None


def unparted(source: str, module: str | None) -> str | None:
    """Return why tests cannot be parted, in words that whoever writes them can use; None where they can."""
    try:
        part(source, module)
    except NotParted as error:
        return str(error)
    return None


def _module(tree: ast.Module, module: str) -> Parted:
    preamble: list[ast.stmt] = []
    tests: dict[str, ast.FunctionDef] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            tests[node.name] = node
        elif isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom | ast.Assign) and not _has_assert(node):
            preamble += [] if _is_pytest(node) else [node]
        elif not _is_text(node):
            _refuse(node)
    common = {name: node.value for node in preamble if isinstance(node, ast.Assign) for name in _names_set(node)}
    foreign = _imported(preamble, module)
    parts = [(name, *_Test(common, foreign, module).of(node)) for name, node in tests.items()]
    if not parts:
        raise NotParted("there is no test function")
    used = {name for _, _, names in parts for name in names}
    used |= {name for node in preamble if isinstance(node, ast.FunctionDef) for name in _loads(node)}
    needed = [node for node in preamble if not isinstance(node, ast.Assign) or used & _names_set(node)]
    source = "".join(f"{ast.unparse(node)}\n" for node in needed)
    return Parted(source, tuple((name, steps) for name, steps, _ in parts))


def _imported(body: Sequence[ast.stmt], module: str) -> dict[str, str]:
    """Return names that come from elsewhere than the module under test, with the dotted names that they stand for.

    A call of these is no call of the code.
    """
    origins = {node.name: node.name for node in body if isinstance(node, ast.FunctionDef)}
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module != module:
            origins |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names = [alias for alias in node.names if alias.name != module]
            origins |= {alias.asname or alias.name.split(".")[0]: alias.name for alias in names}
    return origins


class _Test:
    """The reading of one test: its steps, constants that its names stand for by now, and names that steps look up."""

    def __init__(self, constants: Mapping[str, ast.expr], foreign: Mapping[str, str], module: str) -> None:
        self._constants = dict(constants)
        self._foreign = dict(foreign)
        self._module = module
        self._steps: list[Step | ast.Assign] = []
        self._used: set[str] = set()

    def of(self, function: ast.FunctionDef) -> tuple[tuple[Step, ...], set[str]]:
        """Read a test function; return its steps, and the names that they look up."""
        names = [argument.arg for argument in function.args.args]
        rows: list[list[ast.stmt]] = [[]]
        for decorator in function.decorator_list:
            rows = [[*before, *more] for more in self._parameters(decorator) for before in rows]
        bound = {name for row in rows for statement in row for name in _names_set(statement)}
        if set(names) != bound or function.args.kwonlyargs or function.args.vararg or function.args.kwarg:
            _refuse(function, "it takes fixtures")
        return self.of_body([each for row in rows for each in [*row, *function.body]])

    def of_body(self, body: Sequence[ast.stmt]) -> tuple[tuple[Step, ...], set[str]]:
        """Read statements as a test."""
        for statement in body:
            self._read(statement)
        # A constant that steps never look up stands for an expectation, and stays out of the process.
        needed = [step for step in self._steps if isinstance(step, Step) or self._used & _names_set(step)]
        steps = tuple(step if isinstance(step, Step) else Step("run", ast.unparse(step)) for step in needed)
        if not any(step.relation for step in steps):
            raise NotParted("a test states nothing")
        return steps, self._used

    def _parameters(self, decorator: ast.expr) -> Iterator[list[ast.stmt]]:
        match decorator:
            case ast.Call(func, [ast.Constant(str(names)), values], []) if (
                ast.unparse(func) == "pytest.mark.parametrize"
            ):
                target: ast.expr = parse_python(f"({names.strip().rstrip(',')})", mode="eval").body
                yield from (_bound(target, row) for row in self._rows(values))
            case _:
                _refuse(decorator)

    def _rows(self, node: ast.expr) -> list[ast.expr]:
        values = self._constants.get(node.id, node) if isinstance(node, ast.Name) else node
        if not isinstance(values, ast.List | ast.Tuple) or any(isinstance(row, ast.Starred) for row in values.elts):
            _refuse(node)
        return list(values.elts)

    def _read(self, statement: ast.stmt) -> None:
        if len(self._steps) > _MOST_STEPS:
            _refuse(statement, "it is too long")
        match statement:
            case ast.Assert(test):
                self._assert(test, statement)
            case ast.With([ast.withitem(ast.Call() as manager, None)], body) if _is_named(manager.func, "pytest"):
                self._must(manager, body, statement)
            case ast.For(target, values, body, []) if _has_assert(statement):
                for row in self._rows(values):
                    for each in [*_bound(target, row), *body]:
                        self._read(each)
            case ast.Assign([ast.Name(name) as target], value) if _is_constant(literal := self._written_out(value)):
                self._constants[name] = literal
                self._steps.append(ast.Assign([target], literal, lineno=0))
            case _ if not (_is_text(statement) or _is_pytest(statement)):
                self._prepare(statement)

    def _prepare(self, statement: ast.stmt) -> None:
        if _has_assert(statement) or "pytest" in _loads(statement):
            _refuse(statement)
        for name in _names_set(statement):
            self._constants.pop(name, None)
        self._foreign |= dict.fromkeys(_names_set(statement), "") | _imported([statement], self._module)
        self._add(Step("run", ast.unparse(statement)), statement)

    def _add(self, step: Step, node: ast.AST) -> None:
        self._steps.append(step)
        self._used |= _loads(node)

    def _assert(self, test: ast.expr, statement: ast.stmt) -> None:
        match test:
            case ast.BoolOp(ast.And(), values):
                for value in values:
                    self._assert(value, statement)
            case ast.UnaryOp(ast.Not(), value):
                self._value(value, "truth", "False", statement)
            case ast.Call(ast.Name("isinstance"), [value, kinds], []):
                self._value(value, "type", repr(_class_names(kinds)), statement)
            case ast.Compare(ast.Call(ast.Name("type"), [value], []), [ast.Is() | ast.Eq()], [ast.Name(kind)]):
                self._value(value, "type", repr((kind,)), statement)
            case ast.Compare(left, [operator], [right]):
                relation = _RELATIONS[type(operator)]
                if (operand := self._operand(right)) is not None:
                    self._value(left, relation, operand, statement)
                elif (operand := self._operand(left)) is not None:
                    self._value(right, _TURNED.get(relation, relation), operand, statement)
                else:
                    _refuse(statement)
            case _:
                self._value(test, "truth", "True", statement)

    def _written_out(self, node: ast.expr) -> ast.expr:
        copied = parse_python(ast.unparse(node), mode="eval").body
        written_out: ast.expr = _WrittenOut(self._constants).visit(copied)
        return written_out

    def _operand(self, node: ast.expr) -> str | None:
        """Return the source of a constant, with the names that stand for constants written out; None for another."""
        written_out = self._written_out(node)
        match written_out:
            case ast.Call(func, [value], keywords) if ast.unparse(func) == "pytest.approx":
                options = {keyword.arg: keyword.value for keyword in keywords}
                tolerances = [options.pop(name, ast.Constant(None)) for name in ("rel", "abs")]
                if options or not all(map(_is_constant, [value, *tolerances])):
                    return None
                written_out = ast.Call(ast.Name("approx"), [value, *tolerances], [])
            case _ if not _is_constant(written_out):
                return None
        return ast.unparse(written_out)

    def _value(self, node: ast.expr, relation: str, operand: str, statement: ast.stmt) -> None:
        """Add an expression whose value is compared: what the code gives, looked at without anything expected."""
        if not _is_observation(node, operand in ("True", "False"), self._foreign):
            _refuse(statement)
        self._add(Step("value", ast.unparse(node), relation, operand), node)

    def _must(self, manager: ast.Call, body: Sequence[ast.stmt], statement: ast.stmt) -> None:
        check = ast.unparse(manager.func).removeprefix("pytest.")
        if check not in ("raises", "warns") or manager.keywords or len(manager.args) != 1 or _has_assert(statement):
            _refuse(statement)
        kind = "run" if check == "raises" else "warned"
        classes = tuple(self._foreign.get(name) or name for name in _class_names(manager.args[0]))
        step = Step(kind, ast.unparse(ast.Module(list(body), [])), check, repr(classes))
        for each in body:
            self._used |= _loads(each)
        self._steps.append(step)


class _WrittenOut(ast.NodeTransformer):
    """Writes constants for the names that stand for them."""

    def __init__(self, constants: Mapping[str, ast.expr]) -> None:
        self._constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._constants.get(node.id, node)


def _is_observation(node: ast.expr, plain: bool, foreign: Container[str]) -> bool:
    """Say whether an expression only looks at what the code gives, so that no constant in it tells what is expected.

    A call of a name of the code, none of the `foreign` ones, may be given anything. A `plain` one, of which only the
    truth counts, has constants nowhere else: `f(x).startswith("a")` would hand over what `f(x)` begins with.
    """
    match node:
        case ast.Name(name):
            return not hasattr(builtins, name)
        case ast.Call(ast.Name(name), arguments, keywords) if hasattr(builtins, name):
            values = [*arguments, *(keyword.value for keyword in keywords)]
            others = (value for value in values[1:])
            return (
                name in _FUNCTIONS
                and bool(values)
                and _is_observation(values[0], plain, foreign)
                and all(isinstance(each, ast.Constant) and not plain for each in others)
            )
        case ast.Call(ast.Name(name), _, _):
            return not (plain and name in foreign)
        case ast.Call(ast.Attribute(ast.Name(), _), _, _) if not plain:
            return True
        case ast.Call(ast.Attribute(value, _), arguments, keywords):
            extra = [*arguments, *(keyword.value for keyword in keywords)]
            whole = _is_observation(value, plain, foreign)
            return whole and not (plain and extra) and all(map(_is_constant, extra))
        case ast.Attribute(value, _):
            return _is_observation(value, plain, foreign)
        case ast.Subscript(value, index):
            return _is_observation(value, plain, foreign) and _is_constant(index)
        case ast.ListComp(element, [ast.comprehension(ast.Name(), source, [], 0)]):
            return _is_observation(source, plain, foreign) and _is_observation(element, True, foreign)
        case _:
            return False


def _bound(target: ast.expr, value: ast.expr) -> list[ast.stmt]:
    """Return the assignments that bind a target, of names, to a value."""
    match target, value:
        case ast.Name(name), _:
            return [ast.Assign([ast.Name(name, ast.Store())], value, lineno=0)]
        case ast.Tuple(names) | ast.List(names), ast.Tuple(values) | ast.List(values) if len(names) == len(values):
            return [each for name, part in zip(names, values, strict=True) for each in _bound(name, part)]
    return _refuse(target)


def _class_names(node: ast.expr) -> tuple[str, ...]:
    """Return the names of classes, as they are written."""
    classes = node.elts if isinstance(node, ast.Tuple) else [node]
    if not all(isinstance(each, ast.Name | ast.Attribute) for each in classes):
        _refuse(node)
    return tuple(ast.unparse(each) for each in classes)


def _is_constant(node: ast.expr) -> bool:
    try:
        constant(node)
    except NotConstant:
        return False
    return True


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_named(node: ast.expr, module: str) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == module


def _is_pytest(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0] == "pytest"
    return isinstance(node, ast.Import) and all(alias.name.split(".")[0] == "pytest" for alias in node.names)


def _has_assert(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Assert) for each in ast.walk(node))


def _loads(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def _names_set(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _refuse(node: ast.AST, why: str = "its expectation is no constant beside a value of the code") -> NoReturn:
    raise NotParted(f"`{ast.unparse(node).splitlines()[0][:200]}`: {why}")
