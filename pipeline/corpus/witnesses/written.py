"""Programs written from a change that no test shows: its use, with objects of tests and values by name and type."""

from __future__ import annotations

import ast
import builtins
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from keyword import iskeyword

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.core.vocabularies.surface import ParameterKind, SymbolKind
from pipeline.corpus.own_tests.rules import WrittenRules
from pipeline.corpus.own_tests.suite import dotted_name
from pipeline.corpus.usages.api import Api
from pipeline.corpus.witnesses.changed_uses import ChangeSide, TestScripts, UsingProgram, uses_by_line
from pipeline.corpus.witnesses.scripts import Line, line_of
from pipeline.corpus.witnesses.values_of_tests import BY_POSITION, ValuesOfTests
from pipeline.lake.rows import SymbolParameter, SymbolState

_COLLECTING = frozenset({ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD})
_CALLED = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS})
_UNREAD = frozenset({SymbolKind.EXTERNAL, SymbolKind.LAZY})
"""Names of which nothing tells how they are called, or whether: they come from elsewhere, or when asked for."""
_ON_CLASS = frozenset({"classmethod", "staticmethod"})
_FILES = frozenset({"io.StringIO", "io.BytesIO"})
_FILE_OF = {"str": "TextIO", "bytes": "BinaryIO"}
"""The types of `typing` that stand for `IO[str]` and `IO[bytes]`."""
_ABSENT = frozenset({"None", "NoneType"})
_DECORATED_FUNCTION = "@{}\ndef joined(*parts):\n    return ' and '.join(map(str, parts))"
_DECORATED_METHOD = "class Example:\n    @{}\n    def value(self):\n        return 'some text'"
UNDECORATED = frozenset({"some text and other words", "some text"})
"""What programs with a decorator print if that leaves its function as it is."""
_TYPE_VARIABLE = re.compile(r"_?[A-Z]{1,2}\d?(_co|_contra)?|_T\w*|[A-Z]\w*T")


@dataclass(frozen=True, slots=True)
class ProgramWriter:
    """Writes the uses of an API that a change can break; whether one runs, and what it shows, is for runs to say."""

    scripts: TestScripts
    apis: Mapping[str, Api]
    values: ValuesOfTests
    rules: WrittenRules
    _classes_of: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _derived_of: dict[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    def programs(self, side: ChangeSide) -> list[UsingProgram]:
        """Return programs that print what the API at home is or gives, the likeliest first."""
        programs: dict[str, UsingProgram] = {}
        for before, expression in self._uses(side, self.apis[side.home]) if self.rules.programs else ():
            if (program := self._program(side, before, expression)) is not None:
                programs.setdefault(program.size[1], program)
            if len(programs) >= self.rules.programs:
                break
        return list(programs.values())

    def naming(self, side: ChangeSide) -> UsingProgram | None:
        """Return the program that only names the API, or the first thing in a module, and prints of what type it is."""
        api = self.apis[side.home]
        members = (path for path in sorted(api.symbols) if path.rpartition(".")[0] == side.path)
        path = next((path for path in members if not _last(path).startswith("_")), "")
        owner, _, name = (path if api.is_module(side.path) else side.path).rpartition(".")
        if api.is_class(owner):
            importing, class_name = _imported(owner, api)
            return self._program(side, [importing], f"type({class_name}.{name}).__name__")
        return self._program(side, [_import(owner, name)], f"type({name}).__name__") if owner else None

    def listed(self, side: ChangeSide, program: UsingProgram) -> UsingProgram | None:
        """Return a written program that prints the first things of an iterator, of which the other prints the place."""
        *before, printing = program.lines
        printed = _printed(printing)
        # A text has no items that say anything: those of the object that it represents may.
        things = printed.args[0] if isinstance(printed, ast.Call) and ast.unparse(printed.func) == "repr" else printed
        first_ones = f"list(islice({ast.unparse(things)}, {self.rules.items}))"
        return self._program(side, [_import("itertools", "islice"), *before], first_ones)

    def changed(self, side: ChangeSide, program: UsingProgram) -> Iterator[UsingProgram]:
        """Yield written programs that print what a call did to an argument, of calls that give nothing."""
        *before, printing = program.lines
        call = _printed(printing)
        if not isinstance(call, ast.Call):
            return
        for argument in (*call.args, *(each.value for each in call.keywords)):
            is_file = isinstance(argument, ast.Call) and ast.unparse(argument.func) in _FILES
            if is_file or isinstance(argument, ast.List | ast.Dict | ast.Set):
                making = _line(f"given = {ast.unparse(argument)}")
                calling = _replaced(call, argument, ast.Name("given", ast.Load()))
                result = "given.getvalue()" if is_file else "given"
                if written := self._program(side, [*before, making, _line(ast.unparse(calling))], result):
                    yield written

    def in_contexts(self, side: ChangeSide, program: UsingProgram) -> Iterator[UsingProgram]:
        """Yield a written program in the contexts that tests of the library enter most."""
        *before, printing = program.lines
        call = _printed(printing)
        for text, tests in self.values.contexts():
            if (needed := self.scripts.context(text, tests, side.home)) is None:
                continue
            names = {name for line in needed for name in line.binds}
            if any(line.binds & names and line.text not in {each.text for each in needed} for line in before):
                continue
            imports = [line for line in before if line.text not in {each.text for each in needed}]
            within = _line(f"with {text}:\n    given = {ast.unparse(call)}")
            if written := self._program(side, [*needed, *imports, within], "given"):
                yield written

    def _program(self, side: ChangeSide, before: Sequence[Line], expression: str) -> UsingProgram | None:
        """Return the program of these lines that prints an expression, with what it needs of the standard library."""
        api = self.apis[side.home]
        names = side.names(api)
        lines = (*before, _line(f"print({expression})"))
        bound = {name for line in lines for name in line.binds}
        needed = {name for line in lines for name in line.needs} - bound
        classes = self._classes(side.home)
        of_classes = [_import(classes[name].rpartition(".")[0], name) for name in sorted(needed & classes.keys())]
        modules = (needed & sys.stdlib_module_names - classes.keys()) | _modules(lines, needed, api)
        lines = (*(_line(f"import {module}") for module in sorted(modules)), *of_classes, *lines)
        lines = tuple(sorted(lines, key=lambda line: not isinstance(line.node, ast.Import | ast.ImportFrom)))
        uses = tuple(uses_by_line(lines, api))
        core = next((use for each in reversed(uses) for use in each if side.is_use(use, names)), None)
        if core is None or (side.parameter is not None and side.parameter not in core.keywords):
            return None
        program = UsingProgram(None, lines, uses, core)
        return self.scripts.by_position(program, side) if side.positional else program

    def _uses(self, side: ChangeSide, api: Api) -> Iterator[tuple[Sequence[Line], str]]:
        """Yield expressions that use the API, each with the lines that it needs."""
        row = api.symbols.get(api.preferred(side.path))
        owner, _, name = side.path.rpartition(".")
        if row is None or not owner:
            return
        if api.is_class(owner):
            yield from self._of_member(side, api, row, owner)
            return
        if row["kind"] == SymbolKind.MODULE:
            yield from self._of_module(side, api)
            return
        if not api.is_module(owner):
            return
        imported = _import(owner, name)
        if row["kind"] == SymbolKind.CLASS:
            yield from self._of_class(side, api, row, side.path)
        elif row["kind"] in _CALLED:
            for arguments in self._arguments(row, side.parameter, side.home):
                yield [imported], f"{name}({arguments})"
            if row["kind"] == SymbolKind.FUNCTION and side.parameter is None:
                yield from self._decorating(row, imported, name)
        else:
            if row["kind"] in _UNREAD:
                yield from (([imported], f"{name}({value})") for value in self.rules.values.get("Any", ()))
            yield [imported], name

    def _decorating(self, row: SymbolState, imported: Line, name: str) -> Iterator[tuple[Sequence[Line], str]]:
        """Yield uses of what takes one function: it decorates a function, and a method that is asked for as a value."""
        required = [each for each in row["parameters"] if each["default"] is None and each["kind"] not in _COLLECTING]
        if len(required) != 1 or required[0]["kind"] not in BY_POSITION:
            return
        types = type_names(required[0]["annotation"])
        if not types or any(_TYPE_VARIABLE.fullmatch(each) for each in types):
            types = [self.rules.type_of(required[0]["name"])]
        if "Callable" in types:
            yield [imported, _line(_DECORATED_FUNCTION.format(name))], "joined('some text', 'other words')"
            yield [imported, _line(_DECORATED_METHOD.format(name))], "Example().value"

    def _of_member(
        self, side: ChangeSide, api: Api, row: SymbolState, owner: str
    ) -> Iterator[tuple[Sequence[Line], str]]:
        name = side.path.rpartition(".")[2]
        parts = [name]
        if row["kind"] in _CALLED:
            parts = [f"{name}({arguments})" for arguments in self._arguments(row, side.parameter, side.home)]
        if row["kind"] == SymbolKind.ATTRIBUTE or not _ON_CLASS.isdisjoint(row["labels"]):
            importing, class_name = _imported(owner, api)
            yield from (([importing], f"{class_name}.{part}") for part in parts)
        yield from (
            (before, f"{variable}.{part}") for before, variable in self._objects(owner, side.home) for part in parts
        )

    def _of_module(self, side: ChangeSide, api: Api) -> Iterator[tuple[Sequence[Line], str]]:
        """Yield uses of the functions and classes in a module, imported from it."""
        held = {path: api.symbols.get(api.preferred(path), row) for path, row in api.symbols.items()}
        for path in sorted(held, key=lambda each: (held[each]["kind"] != SymbolKind.FUNCTION, each)):
            module, _, name = path.rpartition(".")
            if module != side.path or name.startswith("_"):
                continue
            if held[path]["kind"] == SymbolKind.FUNCTION:
                for arguments in self._arguments(held[path], None, side.home):
                    yield [_import(module, name)], f"{name}({arguments})"
                yield from self._decorating(held[path], _import(module, name), name)
            elif held[path]["kind"] == SymbolKind.CLASS:
                yield from self._of_class(side, api, held[path], path)

    def _of_class(
        self, side: ChangeSide, api: Api, row: SymbolState, path: str
    ) -> Iterator[tuple[Sequence[Line], str]]:
        """Yield decorations, then what members of an object give that can be asked for as they are, then the object."""
        importing, name = _imported(path, api)
        if side.parameter is None:
            yield from self._decorating(row, importing, name)
        members = [
            (member.rpartition(".")[2], each)
            for member, each in api.symbols.items()
            if member.rpartition(".")[0] == path
            and not member.rpartition(".")[2].startswith("_")
            and each["kind"] != SymbolKind.CLASS
        ]

        def order(pair: tuple[str, SymbolState]) -> tuple[bool, bool, str]:
            # The member of its name is what a parameter is for.
            return pair[0] != side.parameter, pair[1]["kind"] not in _CALLED, pair[0]

        for member, each in sorted(members, key=order):
            of_call = next(self._arguments(each, None, side.home), None)
            if each["kind"] in _CALLED and of_call is None:
                continue
            part = f"{member}({of_call})" if each["kind"] in _CALLED else member
            for arguments in self._arguments(row, side.parameter, side.home):
                yield [importing], f"{name}({arguments}).{part}"
        if side.parameter is None:
            by_name = [each for each in row["parameters"] if each["kind"] != ParameterKind.POSITIONAL_ONLY]
            optional = (each["name"] for each in by_name if each["default"] is not None and each["name"][:1] != "_")
            for keyword in dict.fromkeys((next(optional, None), None)):
                yield from (([importing], f"repr({name}({each}))") for each in self._arguments(row, keyword, side.home))

    def _objects(self, owner: str, version: str) -> Iterator[tuple[Sequence[Line], str]]:
        """Yield lines that make an object of a class, and the name that it has.

        They are those of tests, then by its signature, then of classes that are derived from it: it may be abstract.
        """
        yield from self.scripts.objects(owner, version)[: self.rules.objects]
        api, classes = self.apis[version], self._classes(version)
        for path in (owner, *(classes[name] for name in self._derived(version).get(_last(owner), ()))):
            row = api.symbols.get(api.preferred(path))
            if row is None:
                continue
            importing, name = _imported(path, api)
            variable = _last(path).lower()
            # PEP 8: a name that is taken gets an underscore behind it.
            variable += "_" if iskeyword(variable) or hasattr(builtins, variable) else ""
            for arguments in self._arguments(row, None, version):
                making = _line(f"{variable} = {name}({arguments})")
                yield [importing, making], variable

    def _classes(self, version: str) -> Mapping[str, str]:
        """Return the public classes of modules by name, each under its shortest path."""
        if version not in self._classes_of:
            api = self.apis[version]
            paths = [
                path
                for path in api.symbols
                if api.is_class(path) and api.is_module(path.rpartition(".")[0]) and not _last(path).startswith("_")
            ]
            # The shortest path comes last, and stays.
            ordered = sorted(paths, key=lambda path: (-path.count("."), path))
            self._classes_of[version] = {_last(path): path for path in ordered}
        return self._classes_of[version]

    def _derived(self, version: str) -> Mapping[str, Sequence[str]]:
        """Return the names of the public classes that name a class as their base, so many of each, by its name."""
        if version not in self._derived_of:
            derived: dict[str, list[str]] = {}
            for name, path in sorted(self._classes(version).items()):
                for base in self.apis[version].symbols[path]["bases"]:
                    derived.setdefault(_last(base.partition("[")[0]), []).append(name)
            self._derived_of[version] = {base: names[: self.rules.derived] for base, names in derived.items()}
        return self._derived_of[version]

    def _arguments(self, row: SymbolState, keyword: str | None, version: str, depth: int = 0) -> Iterator[str]:
        """Yield what a call requires, and the parameter in question by name; nothing where a value is not known."""
        choices: list[tuple[str, list[str]]] = []
        by_name = False
        for parameter in row["parameters"]:
            name, is_in_question = parameter["name"], parameter["name"] == keyword
            if parameter["kind"] in _COLLECTING or (parameter["default"] is not None and not is_in_question):
                continue
            # What follows an argument by name has to be one too.
            by_name = by_name or is_in_question or parameter["kind"] not in BY_POSITION
            values = self._values(parameter) or self._constructions(parameter, version, depth)
            choices.append((f"{name}=" if by_name else "", values))
        fillers = self.rules.values.get("str", ())
        turns = max((len(values) for _, values in choices), default=1)
        for turn in range(min(turns, self.rules.calls) if all(values for _, values in choices) else 0):
            before: Counter[tuple[str, ...]] = Counter()
            arguments: list[str] = []
            texts: set[str] = set()
            for head, values in choices:
                # Parameters of one type get different values, those of no type the same.
                place = turn if tuple(values) == self.rules.others else turn + before[tuple(values)]
                value = values[place % len(values)]
                if value in texts and value in fillers:
                    # A text that is given twice does not show which parameter takes it.
                    value = next((each for each in (*values, *fillers) if _is_text(each) and each not in texts), value)
                texts |= {value} if _is_text(value) else set()
                arguments.append(f"{head}{value}")
                before[tuple(values)] += 1
            yield ", ".join(arguments)

    def _constructions(self, parameter: SymbolParameter, version: str, depth: int) -> list[str]:
        """Return objects of the library that a parameter may take, as source: of classes that its annotation names.

        Behind them come those of derived classes, as a class may be abstract.
        """
        api, classes, derived = self.apis[version], self._classes(version), self._derived(version)
        calls: list[str] = []
        named = type_names(parameter["annotation"]) if depth < self.rules.nested else []
        for name in (*named, *(each for base in named for each in derived.get(base, ()))):
            row = api.symbols.get(api.preferred(classes[name])) if name in classes else None
            if row is not None:
                of_class = itertools.islice(self._arguments(row, None, version, depth + 1), 1)
                calls += [f"{name}({arguments})" for arguments in of_class]
        return calls

    def _values(self, parameter: SymbolParameter) -> list[str]:
        """Return values that a parameter may take, as source; none where it has a type of which no value is known.

        They are those of tests, of its name, of its annotation or default, else of any kind.
        """
        name, default = parameter["name"], parameter["default"]
        types = type_names(parameter["annotation"]) or [_type_of(default or "None"), self.rules.type_of(name)]
        types = [each for each in types if each and each not in _ABSENT]
        # Of what need not be given a value of any kind is hardly one that anybody would give.
        is_open = default is None and (not types or any(_TYPE_VARIABLE.fullmatch(each) for each in types))
        of_types = [value for each in types for value in self.rules.values.get(each, ())]
        # A name says more than that it is a text.
        named = self.rules.named.get(name, ()) if is_open or "str" in types else ()
        values = dict.fromkeys([*self.values.of(name), *named, *of_types] or (self.rules.others if is_open else ()))
        return [value for value in values if value != default]


def _is_text(value: str) -> bool:
    return value.startswith(("'", '"'))


def type_names(annotation: str | None) -> list[str]:
    """Return the names of the types that an annotation allows, without what they hold; none if it does not parse."""
    try:
        waiting = [parse_python(annotation or "", mode="eval").body]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names: list[str] = []
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.BinOp):
            waiting = [node.left, node.right, *waiting]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names += type_names(node.value)
        elif isinstance(node, ast.Subscript):
            outer = _last_name(node.value)
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            waiting = [*inner, *waiting] if outer in ("Union", "Optional", "Annotated") else waiting
            of_file = _FILE_OF.get(ast.unparse(node.slice)) if outer == "IO" else None
            names += [] if outer in ("Union", "Optional", "Annotated") else [of_file or outer]
        else:
            names.append(_last_name(node))
    return [name for name in names if name and name not in _ABSENT]


def _modules(lines: Sequence[Line], needed: set[str], api: Api) -> set[str]:
    """Return the modules of the library that lines need by their whole names."""
    chains = {dotted_name(node) for line in lines for node in ast.walk(line.node) if isinstance(node, ast.Attribute)}
    modules = set()
    for chain in chains:
        if chain.partition(".")[0] in needed & api.roots:
            parents = itertools.accumulate(chain.split("."), "{}.{}".format)
            modules.add(max(filter(api.is_module, parents), key=len))
    return {each for each in modules if not any(other.startswith(f"{each}.") for other in modules)}


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _line(text: str) -> Line:
    return line_of(parse_python(text).body[0])


def _printed(printing: Line) -> ast.expr:
    """Return what the last line of a written program prints."""
    assert isinstance(printing.node, ast.Expr)
    assert isinstance(printing.node.value, ast.Call)
    return printing.node.value.args[0]


def _replaced(call: ast.Call, old: ast.expr, new: ast.expr) -> ast.Call:
    args = [new if each is old else each for each in call.args]
    keywords = [ast.keyword(each.arg, new if each.value is old else each.value) for each in call.keywords]
    return ast.Call(call.func, args, keywords)


def _type_of(default: str) -> str:
    try:
        return type(literal_eval(default)).__name__
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ""


def _imported(path: str, api: Api) -> tuple[Line, str]:
    """Return the import that a class needs, and its name behind that: a class in a class is named by the outer one."""
    module, *names = path.rpartition(".")[::2]
    while api.is_class(module):
        module, outer = module.rpartition(".")[::2]
        names = [outer, *names]
    return _import(module, names[0]), ".".join(names)


def _import(module: str, name: str) -> Line:
    return _line(f"from {module} import {name}")
