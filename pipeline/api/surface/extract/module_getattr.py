"""The names that the `__getattr__` of a module answers (PEP 562): its body is followed for each name that it mentions.

A condition that compares the name with literals, or looks it up in a container of literals, is decided; of any other
both branches are followed. A loop over literals is followed round by round. A branch that ends in an exception answers
nothing. A class of that name, which a decorator makes a function (`caching_module_getattr` of Matplotlib), answers the
names of its members.

A function of the library, the maker, may make it: `__getattr__ = migrated(__name__)`, as in pydantic 2.0. The maker is
followed in its own file, for the modules and names that its literals mention. A module records the name of its maker;
the resolver joins both.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from pipeline.api.surface.extract.deprecations import assigned_mark, decorator_mark, warning_mark
from pipeline.api.surface.extract.lazy_globals import is_attached
from pipeline.api.surface.parse.bodies import Bodies
from pipeline.api.surface.parse.keyword_scan import GETATTR, RAISES_ATTRIBUTE_ERROR
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
from pipeline.api.surface.parse.syntax import COMPOUND, dotted, functions, statements, text_of

_GETATTR = "__getattr__"
_MOST_STEPS = 2000
"""Statements that are followed for one name: each undecided condition doubles the paths."""

_MOST_PLACES = 5000
"""Names, counted once per module, that a maker is followed for."""

_MOST_NESTED = 3
"""Mappings inside each other whose keys are read: by module, by name, and one more."""

_MOST_ROUNDS = 50
"""Rounds of a loop over literals that are followed one by one."""


def reads_getattr(bodies: Bodies) -> bool:
    """Return whether a module may have a `__getattr__`."""
    return GETATTR in bodies.keywords or _GETATTR in bodies.rest


@dataclass(frozen=True, slots=True)
class GetattrAnswers:
    """The names that the `__getattr__` of a module answers.

    `answers_any` if it may answer others; `maker` is the function that then tells which, as the module names it.
    """

    names: dict[str, LazyName] = field(default_factory=dict)
    answers_any: bool = False
    maker: str | None = None


def read_getattr(
    tree: ast.Module, bodies: Bodies, module: str, rules: SurfaceRules, *, is_package: bool
) -> GetattrAnswers:
    """Return the names that a module's `__getattr__` answers, and the function that made it or answers the others."""
    if not reads_getattr(bodies):
        return GetattrAnswers()
    makers = _calls_of_makers(tree)
    if any(_binds_getattr(statement) and not is_attached(statement) for statement in statements(tree.body)):
        return GetattrAnswers(answers_any=True, maker=makers.get(_GETATTR))
    for statement in statements(tree.body):
        if isinstance(statement, ast.ClassDef) and statement.name == _GETATTR and statement.decorator_list:
            return GetattrAnswers(dict(_members(statement, rules)))
    defined = (s for s in statements(tree.body) if isinstance(s, ast.FunctionDef) and s.name == _GETATTR)
    # `if TYPE_CHECKING: def __getattr__(name): ...` answers nothing
    function = next((f for f in defined if f.args.args and not bodies.of(f).is_empty), None)
    if function is None:
        return GetattrAnswers()
    argument = function.args.args[0].arg
    literals = Literals(tree, module, is_package, argument, module)
    followed = _Follower(literals, bodies, bodies.statements(function), frozenset(makers))
    ends = list(followed.ends(OTHER_NAME))
    any_name = any(end.value is not None for end in ends)
    passed_to = {makers[end.maker] for end in ends if end.maker is not None}
    lazy = {
        name: answer
        for name in followed.mentioned()
        if (answer := followed.answer(name, rules, certain=any_name, passes=bool(passed_to))) is not None
    }
    maker = min(passed_to) if len(passed_to) == 1 and not any_name else None
    return GetattrAnswers(lazy, any_name or bool(passed_to), maker)


def read_makers(
    tree: ast.Module, bodies: Bodies, module: str, rules: SurfaceRules, *, is_package: bool
) -> dict[str, dict[str, dict[str, LazyName]]]:
    """Return the names that a `__getattr__` answers by the function that makes it, and by the module that gets it.

    Such a function takes the name of a module, and returns a function that raises AttributeError for other names. The
    empty name stands for all modules that it does not mention. A maker that may answer any name is left out.
    """
    if RAISES_ATTRIBUTE_ERROR not in bodies.keywords:
        return {}
    makers: dict[str, dict[str, dict[str, LazyName]]] = {}
    for function in statements(tree.body):
        if not isinstance(function, ast.FunctionDef) or not function.args.args:
            continue
        body = bodies.of(function)
        inner = _returned_function(body.statements) if RAISES_ATTRIBUTE_ERROR in body.keywords else None
        if inner is not None:
            literals = Literals(tree, module, is_package, inner.args.args[0].arg)
            parameter = function.args.args[0].arg
            if answers := _answers_by_module(literals, bodies, inner, parameter, rules):
                makers[function.name] = answers
    return makers


def _returned_function(body: Sequence[ast.stmt]) -> ast.FunctionDef | None:
    """Return the function of one argument that a body defines and returns at its end."""
    match body:
        case [*_, ast.FunctionDef(args=ast.arguments(args=[_])) as inner, ast.Return(value=ast.Name(id=name))]:
            return inner if inner.name == name else None
    return None


def _answers_by_module(
    literals: Literals, bodies: Bodies, inner: ast.FunctionDef, parameter: str, rules: SurfaceRules
) -> dict[str, dict[str, LazyName]]:
    """Return the names that a made function answers by module; none if it may answer any, or answers nothing."""
    answers: dict[str, dict[str, LazyName]] = {}
    for module, names in _Follower(literals, bodies, inner.body).mentioned_places().items():
        of_module = replace(literals, module_without=module)
        followed = _Follower(of_module, bodies, inner.body, outer={parameter: ast.Constant(module)})
        if next(followed.ends(OTHER_NAME), None) is not None:
            return {}
        answered = {name: followed.answer(name, rules, certain=False) for name in names}
        key = "" if module == OTHER_NAME else module
        answers[key] = {name: answer for name, answer in answered.items() if answer is not None}
    return answers if any(answers.values()) else {}


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

    `noted` is False under an undecided condition: a warning there concerns one way of calling. `name` is the name that
    is answered; `maker` is the function that it was passed to, which raises or answers in place of this one.
    """

    name: ast.Constant
    values: Mapping[str, ast.expr]
    executed: tuple[ast.stmt, ...] = ()
    certain: bool = True
    noted: bool = True
    value: ast.expr | None = None
    raises: bool = False
    maker: str | None = None

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

    def answer(self, name: str, rules: SurfaceRules, *, certain: bool, passes: bool = False) -> LazyName | None:
        """Return the answer for a name, or None; only one on which all conditions are decided if `certain`.

        `passes` if names that are not mentioned are passed to a maker: then one that is passed is the maker's.
        """
        for path in self.ends(name):
            by_maker = passes and path.value is None
            if path.certain or not (certain or by_maker):
                texts = {key: str(text_of(value)) for key, value in self.outer.items()}
                mark = warning_mark(path.executed, rules, {**texts, self.literals.argument: name})
                return LazyName(mark, self.target(path.value), by_maker)
        return None

    def mentioned_places(self) -> dict[str, list[str]]:
        """Return the names by module that the literals mention, as `module:name`, `module.name` or each alone.

        A name alone is tried in each module, and in `OTHER_NAME`, which stands for all other modules.
        """
        nodes = [node for statement in self.body for node in ast.walk(statement)]
        named = {node.id for node in nodes if isinstance(node, ast.Name)}
        keys = (self._texts_of_keys(self.literals.containers.get(name), _MOST_NESTED) for name in sorted(named))
        top = self.literals.module.partition(".")[0]
        places: dict[str, list[str]] = {OTHER_NAME: []}
        alone: list[str] = []
        for text in dict.fromkeys(chain(chain.from_iterable(keys), filter(None, map(text_of, nodes)))):
            if text.isidentifier():
                alone.append(text)
            if text.partition(".")[0].partition(":")[0] == top:
                module, _, name = text.rpartition(":" if ":" in text else ".")
                if module and name.isidentifier():
                    places.setdefault(module, []).append(name)
                if ":" not in text:
                    places.setdefault(text, [])
        if sum(map(len, places.values())) + len(places) * len(alone) > _MOST_PLACES:
            return {}
        return {module: list(dict.fromkeys([*names, *alone])) for module, names in places.items()}

    def _texts_of_keys(self, container: ast.expr | None, nested: int) -> Iterator[str]:
        """Yield the texts among the keys of a container, and among those of the mappings in it."""
        if container is None or not nested:
            return
        for key in keys_of(container):
            elements = key.elts if isinstance(key, ast.Tuple) else [key]
            yield from filter(None, map(text_of, elements))
        if isinstance(container, ast.Dict):
            for value in container.values:
                inner = self.literals.container(value)
                if isinstance(inner, ast.Dict):
                    yield from self._texts_of_keys(inner, nested - 1)

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

    def ends(self, name: str) -> Iterator[_Path]:
        """Yield the ways through the body on which a name is answered, or passed to a maker's function."""
        self.steps = 0
        constant = ast.Constant(name)
        own = {self.literals.argument: constant, "__name__": ast.Constant(self.literals.module)}
        start = _Path(constant, {**self.outer, **own})
        return (path for path in self._follow(self.body, start) if path.value is not None or path.maker is not None)

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
            if maker := self._maker_called(value, path):
                return replace(path, raises=True, maker=maker)
        return replace(path, value=self.literals.value(value, path.values) if value is not None else ast.Constant(None))

    def _maker_called(self, call: ast.Call, path: _Path) -> str | None:
        """Return the function of a maker that a call passes the name to, `made(name)`, if it does."""
        match call:
            case ast.Call(func=ast.Name(id=function), args=[ast.Name(id=argument)], keywords=[]) if (
                function in self.makers and function not in path.values
            ):
                return function if path.values.get(argument) is path.name else None
        return None

    def _only_raises(self, call: ast.Call) -> bool:
        """Return whether a call is of a function of the module that always ends in an exception."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
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
                before = replace(path, certain=path.certain and end.certain, maker=end.maker)
                for handler in statement.handlers:
                    yield from self._follow(handler.body, before)
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
    yield from (end for end in ends if end.value is not None or end.maker is not None)
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
