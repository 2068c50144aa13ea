"""The names that the `__getattr__` of a module answers (PEP 562): its body is followed for each name that it mentions.

A condition that compares the name with literals, or looks it up in a container of literals, is decided; of any other
both branches are followed. A loop over literals is followed round by round. A branch that ends in an exception answers
nothing. A class of that name, which a decorator makes a function (`caching_module_getattr` of Matplotlib), answers the
names of its members.

A function of the library may make it, `__getattr__ = migrated(__name__)`, and look up `module:name` (pydantic 2.0). The
function is followed for the modules and names of its mappings where it is written; `getattr_maker` says who made which.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from pipeline.api.surface.extract.deprecations import assigned_mark, decorator_mark, warning_mark
from pipeline.api.surface.extract.lazy_globals import is_attached
from pipeline.api.surface.parse.bodies import Bodies
from pipeline.api.surface.parse.keyword_scan import GETATTR
from pipeline.api.surface.parse.literal_values import (
    ABSOLUTE,
    OTHER_NAME,
    Literals,
    RaisedError,
    Values,
    keys_of,
    unresolved,
)
from pipeline.api.surface.parse.module_model import LazyName
from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.api.surface.parse.syntax import COMPOUND, Function, dotted, functions, statements, text_of

_GETATTR = "__getattr__"
_MOST_STEPS = 2000
"""Statements that are followed for one name: each undecided condition doubles the paths."""

_MOST_ROUNDS = 50
"""Rounds of a loop over literals that are followed one by one."""


def reads_getattr(bodies: Bodies) -> bool:
    """Return whether a module may have a `__getattr__`."""
    return GETATTR in bodies.keywords or _GETATTR in bodies.rest


def read_getattr(
    tree: ast.Module, bodies: Bodies, module: str, rules: SurfaceRules, *, is_package: bool
) -> tuple[dict[str, LazyName], bool, str | None]:
    """Return the names that a module's `__getattr__` answers, whether it may answer others, and who made what does."""
    if not reads_getattr(bodies):
        return {}, False, None
    makers = _calls_of_makers(tree)
    if any(_binds_getattr(statement) and not is_attached(statement) for statement in statements(tree.body)):
        return {}, True, makers.get(_GETATTR)
    for statement in statements(tree.body):
        if isinstance(statement, ast.ClassDef) and statement.name == _GETATTR and statement.decorator_list:
            return dict(_members(statement, rules)), False, None
    defined = (s for s in statements(tree.body) if isinstance(s, ast.FunctionDef) and s.name == _GETATTR)
    # `if TYPE_CHECKING: def __getattr__(name): ...` answers nothing
    function = next((f for f in defined if f.args.args and not bodies.of(f).is_empty), None)
    if function is None:
        return {}, False, None
    argument = function.args.args[0].arg
    literals = Literals(tree, module, is_package, argument, module)
    followed = _Follower(literals, bodies, bodies.statements(function), frozenset(makers))
    any_name = next(followed.answers(OTHER_NAME), None) is not None
    lazy = {
        name: answer
        for name in followed.mentioned()
        if (answer := followed.answer(name, rules, certain=any_name)) is not None
    }
    called = {node.func.id for node in followed.calls() if isinstance(node.func, ast.Name)} & makers.keys()
    getattr_maker = makers[min(called)] if len(called) == 1 and not any_name else None
    return lazy, any_name or bool(called), getattr_maker


def read_makers(
    tree: ast.Module, bodies: Bodies, module: str, rules: SurfaceRules, *, is_package: bool
) -> dict[str, dict[str, dict[str, LazyName]]]:
    """Return what functions that make a `__getattr__` have it answer: by function, module that it is made for and name.

    Such a function is given the name of a module, and returns a function within it. One that may answer any name, and
    one that has no mapping of `module:name` within this library, is left out.
    """
    top = re.escape(module.partition(".")[0])
    if not re.search(rf"""['"]{top}[\w.]*:\w+['"]""", bodies.rest):
        return {}
    makers: dict[str, dict[str, dict[str, LazyName]]] = {}
    for function in functions(tree.body):
        inner = _function_within(function, bodies) if function.args.args else None
        if inner is not None:
            literals = Literals(tree, module, is_package, inner.args.args[0].arg, module)
            parameter = function.args.args[0].arg
            if answers := _answers_by_module(_Follower(literals, bodies, inner.body), parameter, rules):
                makers[function.name] = answers
    return makers


def _function_within(function: Function, bodies: Bodies) -> ast.FunctionDef | None:
    """Return the function that another one makes and returns, if it is all that it returns."""
    match bodies.statements(function):
        case [*_, ast.FunctionDef(args=ast.arguments(args=[_])) as inner, ast.Return(value=ast.Name(id=name))]:
            return inner if inner.name == name else None
    return None


def _answers_by_module(followed: _Follower, parameter: str, rules: SurfaceRules) -> dict[str, dict[str, LazyName]]:
    answers: dict[str, dict[str, LazyName]] = {}
    for module, name in followed.mentioned_places():
        followed.literals.module_without = module
        followed.outer = {parameter: ast.Constant(module)}
        if next(followed.answers(OTHER_NAME), None) is not None:
            return {}
        answered = answers.setdefault(module, {})
        if (answer := followed.answer(name, rules, certain=False)) is not None:
            answered[name] = answer
    return answers


def _calls_of_makers(tree: ast.Module) -> dict[str, str]:
    """Return what makes each function that the module gets from a call with its own name, `f = make(__name__)`."""
    makers = {}
    for statement in statements(tree.body):
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=function, args=[ast.Name(id="__name__")], keywords=[]),
            ) if maker := dotted(function):
                makers[name] = maker
    return makers


def _members(class_: ast.ClassDef, rules: SurfaceRules) -> Iterator[tuple[str, LazyName]]:
    """Yield the members of a class that stands for a `__getattr__`, each with its mark of deprecation."""
    for statement in class_.body:
        match statement:
            case ast.FunctionDef(name=name, decorator_list=decorators) if not name.startswith("_"):
                yield name, LazyName(decorator_mark(decorators, rules))
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not name.startswith("_"):
                yield name, LazyName(assigned_mark(value, None, rules))


def _binds_getattr(statement: ast.stmt) -> bool:
    """Return whether a module gets its `__getattr__` from elsewhere: assigned, also in a tuple, or imported."""
    match statement:
        case ast.Assign(targets=targets):
            bound = (node for target in targets for node in ast.walk(target))
            return any(isinstance(node, ast.Name) and node.id == _GETATTR for node in bound)
        case ast.ImportFrom(names=names):
            return any((name.asname or name.name) == _GETATTR for name in names)
    return False


@dataclass(frozen=True, slots=True)
class _Path:
    """One way through the body: what local names stand for, and the statements that ran; `certain` if all decided.

    `noted` is False under an undecided condition: a warning there concerns one way of calling.
    """

    values: Mapping[str, ast.expr]
    executed: tuple[ast.stmt, ...] = ()
    certain: bool = True
    noted: bool = True
    value: ast.expr | None = None
    raises: bool = False

    def bind(self, target: ast.expr, value: ast.expr) -> _Path:
        """Return the path with a name, or the names of a tuple, bound to a value."""
        match target, value:
            case ast.Name(id=name), _:
                return replace(self, values={**self.values, name: value})
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) | ast.List(elts=values) if len(targets) == len(values):
                path = self
                for element, item in zip(targets, values, strict=True):
                    path = path.bind(element, item)
                return path
            case ast.Tuple(elts=targets), _:
                path = self
                for element in targets:
                    path = path.bind(element, unresolved())
                return path
        return self


@dataclass(slots=True)
class _Follower:
    """Follows the body of one `__getattr__`."""

    literals: Literals
    bodies: Bodies
    body: Sequence[ast.stmt]
    makers: frozenset[str] = frozenset()
    outer: Values = field(default_factory=dict)
    steps: int = 0

    def answer(self, name: str, rules: SurfaceRules, *, certain: bool) -> LazyName | None:
        """Return the answer for a name, or None; only one on which all conditions are decided if `certain`."""
        for path in self.answers(name):
            if path.certain or not certain:
                texts = {key: str(text_of(value)) for key, value in self.outer.items()}
                mark = warning_mark(path.executed, rules, {**texts, self.literals.argument: name})
                return LazyName(mark, self.target(path.value))
        return None

    def calls(self) -> Iterator[ast.Call]:
        """Yield the calls in the body."""
        nodes = (node for statement in self.body for node in ast.walk(statement))
        return (node for node in nodes if isinstance(node, ast.Call))

    def mentioned_places(self) -> list[tuple[str, str]]:
        """Return module and name of each `module:name` among the keys of the containers that the body names."""
        named = {node.id for statement in self.body for node in ast.walk(statement) if isinstance(node, ast.Name)}
        containers = [self.literals.containers.get(name) for name in sorted(named)]
        texts = [text_of(key) for container in containers if container is not None for key in keys_of(container)]
        parts = [text.partition(":") for text in dict.fromkeys(texts) if text is not None]
        return [(module, name) for module, _, name in parts if name.isidentifier()]

    def mentioned(self) -> list[str]:
        """Return the identifiers among the literals of the body, and of the containers that it names."""
        nodes = [node for statement in self.body for node in ast.walk(statement)]
        named = {node.id for node in nodes if isinstance(node, ast.Name)}
        texts: list[object] = [text for node in nodes if (text := text_of(node)) is not None]
        for name in sorted(named):
            container = self.literals.containers.get(name)
            if container is not None:
                keys = (key.elts if isinstance(key, ast.Tuple) else [key] for key in keys_of(container))
                texts += [key.value for key in chain.from_iterable(keys) if isinstance(key, ast.Constant)]
        members = [member for name in sorted(named) for member in self.literals.class_members.get(name, ())]
        # `INTENT_PERCEPTUAL` for the member `PERCEPTUAL` of an enum
        prefixes = [text for text in texts if isinstance(text, str) and text.endswith("_")]
        texts += [prefix + member for prefix in dict.fromkeys(prefixes) for member in members]
        return [text for text in dict.fromkeys(texts) if isinstance(text, str) and text.isidentifier()]

    def answers(self, name: str) -> Iterator[_Path]:
        """Yield the ways through the body on which a name is answered."""
        self.steps = 0
        start = _Path(
            {**self.outer, self.literals.argument: ast.Constant(name), "__name__": ast.Constant(self.literals.module)}
        )
        return (path for path in self._follow(self.body, start) if path.value is not None)

    def target(self, value: ast.expr | None) -> str | None:
        """Return the absolute path of what is answered, if it is a dotted name."""
        name = dotted(value) or ""
        if name.startswith(ABSOLUTE):
            return name.removeprefix(ABSOLUTE)
        first = name.partition(".")[0]
        return f"{self.literals.module}.{name}" if first and self.literals.bound(first) else None

    def _follow(self, body: Sequence[ast.stmt], path: _Path) -> Iterator[_Path]:
        """Yield where each way through a body ends: with a value, an exception, or behind it."""
        for place, statement in enumerate(body):
            self.steps += 1
            if self.steps > _MOST_STEPS:
                return
            try:
                ends = self._statement(statement, path)
            except RaisedError:
                yield replace(path, raises=True)
                return
            if isinstance(ends, _Path):
                path = ends
                if path.raises or path.value is not None:
                    yield path
                    return
                continue
            for end in ends:
                if end.raises or end.value is not None:
                    yield end
                else:
                    yield from self._follow(body[place + 1 :], end)
            return
        yield path

    def _statement(self, statement: ast.stmt, path: _Path) -> _Path | Iterator[_Path]:
        match statement:
            case ast.Return(value=value):
                return self._returned(value, path)
            case ast.Raise():
                return replace(path, raises=True)
            case _ if type(statement) in COMPOUND:
                return self._compound(statement, path)
            case ast.Import() | ast.ImportFrom():
                return self._imported(statement, path)
            case ast.Assign(targets=targets, value=value):
                result = self.literals.value(value, path.values)
                for target in targets:
                    path = path.bind(target, result)
                return _noted(path, ast.Assign(targets=targets, value=result))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return path.bind(target, self.literals.value(value, path.values))
            case ast.Expr(value=ast.Call() as call):
                if self._only_raises(call):
                    return replace(path, raises=True)
                filled = _Filled(self, path).visit(copy.deepcopy(call))
                assert isinstance(filled, ast.Call)
                return _noted(path, ast.Expr(value=filled))
        return path

    def _compound(self, statement: ast.stmt, path: _Path) -> Iterator[_Path]:
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                return self._branches(test, body, orelse, path)
            case ast.Match(subject=subject, cases=cases):
                return self._cases(self.literals.value(subject, path.values), cases, path)
            case ast.Try():
                return self._try(statement, path)
            case ast.With(body=body):
                return self._follow(body, path)
            case ast.For(target=target, iter=over, body=body, orelse=[]) if rounds := self._rounds(target, over, body):
                return self._in_rounds(body, rounds, path)
            case ast.For(target=target, body=body):
                # whether it runs at all is undecided
                inner = replace(path.bind(target, unresolved()), certain=False, noted=False)
                return _in_turn(self._follow(body, inner), path)
            case ast.While(body=body):
                return _in_turn(self._follow(body, replace(path, certain=False, noted=False)), path)
        return iter([path])

    def _rounds(self, target: ast.expr, over: ast.expr, body: Sequence[ast.stmt]) -> Sequence[Values]:
        """Return what the names of a loop over literals stand for in each round, where each round runs to its end."""
        if any(isinstance(inner, ast.Break | ast.Continue) for inner in statements(body)):
            return ()
        rounds = self.literals.rounds(target, over, self.literals.containers)
        return rounds if len(rounds) <= _MOST_ROUNDS else ()

    def _in_rounds(self, body: Sequence[ast.stmt], rounds: Sequence[Values], path: _Path) -> Iterator[_Path]:
        if not rounds:
            yield path
            return
        for end in self._follow(body, replace(path, values={**path.values, **rounds[0]})):
            if end.raises or end.value is not None:
                yield end
            else:
                yield from self._in_rounds(body, rounds[1:], end)

    def _returned(self, value: ast.expr | None, path: _Path) -> _Path:
        if isinstance(value, ast.Call):
            if self._only_raises(value):
                return replace(path, raises=True)
            # the name of a function that is returned from may say that it warns; what it is given is no message
            path = _noted(path, ast.Expr(value=ast.Call(func=value.func, args=[], keywords=[])))
        return replace(path, value=self.literals.value(value, path.values) if value is not None else ast.Constant(None))

    def _only_raises(self, call: ast.Call) -> bool:
        """Return whether a call is of a function that always ends in an exception, or that answers names elsewhere."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name in self.makers:
            return True
        for function in functions(self.literals.tree.body) if name else ():
            if function.name == name:
                body = self.bodies.statements(function)
                returns = any(isinstance(statement, ast.Return) for statement in statements(body))
                return bool(body) and isinstance(body[-1], ast.Raise) and not returns
        return False

    def _branches(
        self, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt], path: _Path
    ) -> Iterator[_Path]:
        truth = self.literals.truth(test, path.values)
        if truth is not None:
            return self._follow(body if truth else orelse, path)
        return self._either([body, orelse], path)

    def _either(self, bodies: Sequence[Sequence[ast.stmt]], path: _Path) -> Iterator[_Path]:
        """Follow branches of which one runs; where all others raise, what is in it always runs before an answer."""
        ending = [bool(body) and isinstance(body[-1], ast.Raise) for body in bodies]
        for body, ends in zip(bodies, ending, strict=True):
            if not ends:
                alone = ending.count(False) == 1
                undecided = replace(path, certain=False, noted=path.noted and alone)
                for end in self._follow(body, undecided):
                    yield replace(end, noted=path.noted)

    def _cases(self, subject: ast.expr, cases: Sequence[ast.match_case], path: _Path) -> Iterator[_Path]:
        for case in cases:
            fits = _fits(case.pattern, subject) if case.guard is None else None
            if fits is None:
                yield from self._either([case.body], replace(path, noted=False))
            elif fits:
                yield from self._follow(case.body, path)
                return
        yield path

    def _try(self, statement: ast.Try, path: _Path) -> Iterator[_Path]:
        for end in self._follow([*statement.body, *statement.orelse], path):
            if end.raises and statement.handlers:
                for handler in statement.handlers:
                    yield from self._follow(handler.body, replace(path, certain=path.certain and end.certain))
            else:
                yield end

    def _imported(self, statement: ast.Import | ast.ImportFrom, path: _Path) -> _Path:
        for alias in statement.names:
            if isinstance(statement, ast.Import):
                bound, target = alias.asname or alias.name.partition(".")[0], alias.name
                target = target if alias.asname else bound
            else:
                bound = alias.asname or alias.name
                source = self.literals.absolute("." * statement.level + (statement.module or ""))
                target = f"{source}.{alias.name}"
            path = path.bind(ast.Name(bound), ast.Name(ABSOLUTE + target))
        return path


class _Filled(ast.NodeTransformer):
    """Fills what literals tell into the arguments of a call, so that its message can be read."""

    def __init__(self, follower: _Follower, path: _Path) -> None:
        self._follower, self._path = follower, path

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the text that an f-string or an item of a mapping comes to; of anything else fill the parts."""
        if isinstance(node, ast.JoinedStr | ast.Subscript):
            try:
                result = self._follower.literals.value(node, self._path.values)
            except RaisedError:
                return node
            return result if isinstance(result, ast.JoinedStr) or text_of(result) is not None else node
        return self.generic_visit(node)


def _in_turn(ends: Iterator[_Path], behind: _Path) -> Iterator[_Path]:
    """Yield the answers inside a loop, then what follows it."""
    yield from (end for end in ends if end.value is not None)
    yield behind


def _noted(path: _Path, statement: ast.stmt) -> _Path:
    return replace(path, executed=(*path.executed, statement)) if path.noted else path


def _fits(pattern: ast.pattern, subject: ast.expr) -> bool | None:
    match pattern:
        case ast.MatchValue(value=ast.Constant(value=value)) if isinstance(subject, ast.Constant):
            return bool(value == subject.value)
        case ast.MatchOr(patterns=patterns):
            fits = [_fits(each, subject) for each in patterns]
            return True if True in fits else (None if None in fits else False)
        case ast.MatchAs(pattern=None):
            return True
    return None
