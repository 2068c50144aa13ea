"""A task as the program of a problem: what is given, what is to be written, and the tests."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.families.problems.apis.needs import (
    api_helpers,
    has_contents,
    needs_api,
    needs_library,
    without_api,
    without_library,
)
from pipeline.families.problems.lifting import parameter
from pipeline.families.problems.rules import ProblemRules
from pipeline.families.problems.tasks import CaseOf, Task


@dataclass(frozen=True, slots=True)
class ProblemProgram:
    """A program in two parts, and what its function is called with."""

    starting_code: str
    solution: str
    function: str
    parameters: tuple[str, ...]
    functional: bool

    @property
    def signature(self) -> str:
        """The function with its parameters."""
        return f"{self.function}({', '.join(self.parameters)})"

    @property
    def program(self) -> str:
        """The whole program."""
        return self.starting_code + self.solution


def write(task: Task, hidden: Collection[str], rules: ProblemRules) -> ProblemProgram:
    """Write a task as a function of neutral name; nothing of what is given names anything of `hidden`.

    Imports that name it are part of the solution. In functional style the body of the function is to be written; in
    full style, where the function needs definitions of its own, the whole program but for imports and helpers.
    """
    names = parameter_names(task, hidden, rules)
    parted = [part for line in task.imports for part in _parts(line, hidden)]
    prepared = [line for line in parted if not _mentions(line, hidden)]
    hiding = [line for line in parted if _mentions(line, hidden)]
    body = [*task.body, f"return {task.returned}"]
    head = _head(task, names, rules)
    above = _blocks([_lines(prepared), *task.definitions])
    if not task.own:
        starting = _blocks([above, head]) if above else head
        return ProblemProgram(starting, _indented(_renamed([*hiding, *body], names)), rules.function, names, True)
    function = head + _indented(_renamed(body, names))
    solution = _blocks([_lines(hiding), *task.own, function])
    return ProblemProgram(above + "\n\n" if above else "", solution, rules.function, names, False)


def _head(task: Task, names: Sequence[str], rules: ProblemRules) -> str:
    """Return the head of the function, with the types that all stated cases agree on.

    Without them nobody can know whether a result is to be an iterator or a list of its items.
    """
    kinds = [_type_of(column) for column in zip(*(case.arguments for case in task.cases), strict=True)]
    parameters = [f"{name}: {kind}" if kind else name for name, kind in zip(names, kinds, strict=True)]
    values = [case.outcome.value for case in task.cases if case.outcome.raises is None]
    returned = f" -> {kind}" if (kind := _type_of(values)) else ""
    return f"def {rules.function}({', '.join(parameters)}){returned}:\n"


def _type_of(values: Iterable[str | None]) -> str | None:
    """Return the built-in type of literals that have one in common; None beside them has no type of its own."""
    kinds = {_literal_type(value) for value in values}
    return kinds.pop() if len(kinds) == 1 and not kinds & {None, "NoneType", "ellipsis"} else None


def _literal_type(source: str | None) -> str | None:
    try:
        return type(literal_eval(source)).__name__ if source is not None else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def other_program(task: Task, other: Task, rules: ProblemRules) -> str | None:
    """Return the whole program of another task of the same inputs; None where it takes more or fewer."""
    if len(other.variables) != len(task.variables):
        return None
    return write(replace(other, variables=task.variables, cases=task.cases), (), rules).program


def other_solution(written: ProblemProgram, other: Task, program: str) -> str | None:
    """Return what another task writes in place of the solution, of which `program` is the whole.

    In full style that is the whole itself. None where definitions of its own do not fit into the function.
    """
    if not written.functional:
        return program
    if other.own:
        return None
    body = [*other.imports, *other.definitions, *other.body, f"return {other.returned}"]
    return _indented(_renamed(body, written.parameters))


def parameter_names(task: Task, hidden: Collection[str], rules: ProblemRules) -> tuple[str, ...]:
    """Return a name for each parameter: that of its variable in the example, else one for the type of its value."""
    reserved = {*hidden, *_names_of(task), rules.function, *dir(builtins)}
    names: list[str] = []
    for variable, argument in zip(task.variables, task.cases[0].arguments, strict=True):
        base = variable if variable and variable not in reserved else name_for(argument, rules)
        number, name = 1, base
        while name in reserved or keyword.iskeyword(name):
            number += 1
            name = f"{base}_{number}"
        reserved.add(name)
        names.append(name)
    return tuple(names)


def name_for(argument: str, rules: ProblemRules) -> str:
    """Return the name that the rules give to values like this one."""
    kind = _literal_type(argument) or type(parse_python(argument, mode="eval").body).__name__
    return rules.names.get(kind, rules.other_name)


def call(written: ProblemProgram, case: CaseOf) -> str:
    """Return the call of the function for a case."""
    return f"{written.function}({', '.join(case.arguments)})"


def visible_test(task: Task, written: ProblemProgram, case: CaseOf) -> str:
    """Return the asserts of one case, to be run after the program."""
    return _lines([*task.argument_imports, *asserts(written, case)])


def hidden_tests(
    task: Task,
    written: ProblemProgram,
    documented: Sequence[CaseOf],
    recorded: Sequence[CaseOf],
    module: str,
    roots: Iterable[str],
    required: Sequence[str] = (),
    new_parameter: str | None = None,
) -> str:
    """Return a pytest module that tests the program, imported as `module`, with every case.

    Its last test is passed only by a program that fails where each use of the library, its modules `roots`, raises, or,
    of a problem about an API that has to be called, where calls of it do: the first of the paths `required`, or where
    calls of another of them do, each of which is right too. With a `new_parameter` only calls count that give it.
    """
    cases = [*((f"test_stated_{n}", case) for n, case in enumerate(documented, 1))]
    cases += [(f"test_recorded_{n}", case) for n, case in enumerate(recorded, 1)]
    tests = {name: asserts(written, case) for name, case in cases}
    values = [case for _, case in cases if not case.outcome.raises]
    helpers = api_helpers(len(required))
    if values:
        witness = next((case for case in values if has_contents(case.arguments)), values[0])
        arguments = ", ".join(witness.arguments)
        calls = [f"{helper}({arguments})" for helper in helpers]
        tests |= needs_api(*calls) if required else needs_library(f"without_library({arguments})")
    function = written.function
    texts = [
        without_api(function, module, path, reference=written.program, helper=helper, parameter=new_parameter)
        for path, helper in zip(required, helpers, strict=True)
    ]
    return pytest_module(
        task, written, tests, module, "\n".join(texts) if required else without_library(function, module, roots)
    )


def pytest_module(
    task: Task, written: ProblemProgram, tests: Mapping[str, Sequence[str]], module: str, helper: str = ""
) -> str:
    """Return a pytest module that imports a program as `module`; `tests` are statements by name."""
    raising = any(line.startswith("with pytest.") for lines in tests.values() for line in lines)
    imports = [*task.argument_imports, *(["import pytest"] if raising else [])]
    needed = sorted({*task.argument_names, written.function})
    head = _blocks([_lines(imports), f"from {module} import {', '.join(needed)}\n"], between="\n")
    return "\n\n".join(
        [
            head + ("\n" + helper if helper else ""),
            *(f"def {name}():\n{_indented(lines)}" for name, lines in tests.items()),
        ]
    )


def asserts(written: ProblemProgram, case: CaseOf) -> list[str]:
    """Return the statements that hold if the function does what a case says."""
    outcome, called = case.outcome, call(written, case)
    if outcome.raises is not None:
        return [f"with pytest.raises({outcome.raises}):\n    {called}"]
    if outcome.value in ("None", "True", "False"):
        return [f"assert {called} is {outcome.value}"]
    if outcome.value is not None:
        return [f"assert {called} == {outcome.value}"]
    return [f"assert repr({called}).split() == {outcome.representation!r}.split()"]


def _names_of(task: Task) -> set[str]:
    """Return every name that stands in the code of a task."""
    tree = parse_python("\n".join([*task.imports, *task.definitions, task.code]))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    aliases = [
        alias for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names
    ]
    return names | {alias.asname or alias.name.split(".")[0] for alias in aliases}


def _mentions(line: str, hidden: Iterable[str]) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", line) for name in hidden)


def _parts(line: str, hidden: Collection[str]) -> list[str]:
    """Return an import in two parts, where only some of the names that it brings are hidden."""
    node = parse_python(line).body[0]
    if not isinstance(node, ast.ImportFrom) or _mentions(node.module or "", hidden):
        return [line]
    named = [alias for alias in node.names if _mentions(ast.unparse(alias), hidden)]
    others = [alias for alias in node.names if alias not in named]
    return [ast.unparse(ast.ImportFrom(node.module, part, node.level)) for part in (others, named) if part]


def _renamed(statements: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return statements with the parameters under their names."""
    by_number = {parameter(number): name for number, name in enumerate(names)}
    trees = [parse_python(statement) for statement in statements]
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Name):
            node.id = by_number.get(node.id, node.id)
    return [ast.unparse(tree) for tree in trees]


def _indented(statements: Iterable[str]) -> str:
    return "".join(f"    {line}\n" if line else "\n" for text in statements for line in text.split("\n"))


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _blocks(blocks: Sequence[str], between: str = "\n\n") -> str:
    """Return blocks of code with blank lines between them."""
    return between.join(block if block.endswith("\n") else f"{block}\n" for block in blocks if block)
