"""What a program of a change prints that other code hardly would: not what it is given, and not what others give."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from more_itertools import first

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.core.vocabularies.changes import WHOLE
from pipeline.core.vocabularies.samples import UsageForm
from pipeline.corpus.usages.api import Api
from pipeline.corpus.witnesses.changed_uses import ChangeSide, UsingProgram
from pipeline.corpus.witnesses.scripts import Line, line_of
from pipeline.corpus.witnesses.written import UNDECORATED
from pipeline.lake.rows import SymbolParameter

EMPTY = frozenset({"", "[]", "()", "{}", "set()", "None", "((),)", "[[]]"})
"""Outputs that a program may have for many reasons."""

LONGEST_OUTPUT = 120
"""Characters of an output that a comment may hold."""

_LITTLE = EMPTY | {"True", "False"}
"""Outputs by which a test hardly tells its API from others."""

_KIND = re.compile(
    r"<(built-in function|bound method|member|property|function|method|slot wrapper|attribute|(\w+\.)*cached_property) "
)
"""How texts begin that say what kind of thing is printed, and give its name."""

_EMPTY_OBJECT = re.compile(r"[\w.]+\((''|b''|\[\]|\(\)|\{\})?\)")
"""What an object prints that holds nothing: `Markup('')`."""

_OF_TYPE = re.compile(r"print\(type\(.*\)\.__name__\)$")
"""A line that prints of what type something is."""

_BEFORE = """
import signal
def _end(*_): raise TimeoutError
signal.signal(signal.SIGALRM, _end)
"""
_VARIANT = """
try:
    signal.setitimer(signal.ITIMER_REAL, {seconds})
    exec({text!r}, {{'__name__': '__main__'}})
except BaseException:
    pass
finally:
    signal.setitimer(signal.ITIMER_REAL, 0)
"""


def is_informative(text: str) -> bool:
    """Say whether an output is one short line that says more than yes, no or nothing."""
    return text.strip() not in _LITTLE and "\n" not in text and len(text) <= LONGEST_OUTPUT


def emptiness(code: str, path: str, printed: Iterable[str]) -> int:
    """Return how little a program shows of an API: 0 for a value, 1 for yes or no, 2 for less than that, 3 for blanks.

    Less is nothing, an object without a text, a value that the call was given, and what comes of empty values alone.
    """
    tree = parse_python(code)
    variables = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == path.rpartition(".")[2]]
    arguments = [each for call in calls for each in (*call.args, *(keyword.value for keyword in call.keywords))]
    values = {_text_of(variables.get(each.id, each) if isinstance(each, ast.Name) else each) for each in arguments}
    texts = {text.strip() for text in printed}
    if texts == {""}:
        return 3
    if (
        all(text in EMPTY or text.startswith("<") for text in texts)
        or texts <= values - _LITTLE
        or (values and values <= EMPTY)
    ):
        return 2
    return int(texts <= _LITTLE)


def rank(code: str, path: str, printed: Sequence[str]) -> tuple[int, int]:
    """Order programs by their length in dozens of lines, then by how little they show of the API."""
    return code.count("\n") // 12, emptiness(code, path, printed)


def is_presentable(program: UsingProgram, printed: Sequence[str]) -> bool:
    """Say whether what a program prints can stand in a row: of a written one a short value, no type, no descriptor."""
    text = "".join(printed).strip()
    is_long = len(text) > LONGEST_OUTPUT
    return program.test is not None or not (is_long or text.startswith("typing.") or _KIND.match(text))


def is_distinctive(side: ChangeSide, program: UsingProgram, printed: Sequence[str]) -> bool:
    """Say whether what a program prints at home says something of its API: more than nothing, or what it is given."""
    text = "".join(printed).strip()
    is_call = program.core.form is UsageForm.CALL
    is_written = program.test is None
    is_decorator = program.core.form is UsageForm.DECORATOR
    is_little = (is_call or is_decorator) and (text in EMPTY or _EMPTY_OBJECT.fullmatch(text))
    is_little = is_little or (is_decorator and text in UNDECORATED)
    if is_written and (is_little or _OF_TYPE.match(program.lines[-1].text)):
        return False
    if is_call and side.keyword is not None:
        return not all(_hands_back(program, side.keyword, each.strip()) for each in printed if each.strip())
    if not is_call or not (is_written or side.change["kind"] in WHOLE):
        return True
    return not {each.strip() for each in printed if each} <= _inputs(program)


def _hands_back(program: UsingProgram, keyword: str, text: str) -> bool:
    """Say whether a text is no more than what a call with an argument of that name is given.

    That is its only argument, or a tuple of arguments and of what says little: `(None, 'NaN')` of 'NaN'. One of
    several arguments was chosen by the call, and an attribute of what the call makes was kept by it.
    """
    place = first(number for number, uses in enumerate(program.uses) if program.core in uses)
    printed = _literal(text)
    nodes = list(ast.walk(program.lines[place].node))
    objects = [node.value for node in nodes if isinstance(node, ast.Attribute)]
    for call in nodes:
        if isinstance(call, ast.Call) and call not in objects and keyword in {each.arg for each in call.keywords}:
            values = (*call.args, *(each.value for each in call.keywords))
            arguments = {str(_literal(ast.unparse(value))) for value in values}
            parts = [str(part) for part in printed] if isinstance(printed, tuple) else []
            if (len(values) == 1 and text in arguments) or (
                arguments.intersection(parts) and arguments | _LITTLE >= set(parts)
            ):
                return True
    return False


def _text_of(node: ast.expr) -> str:
    """Return how the value of a literal is printed, else the source."""
    try:
        return str(literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ast.unparse(node)


def _literal(text: str) -> object:
    """Return what a text is as Python writes it, or the text itself."""
    try:
        return literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text


def _inputs(program: UsingProgram) -> set[str]:
    """Return the texts of what the use is given: the literals of its line, and of variables that this line needs."""
    place = first(number for number, uses in enumerate(program.uses) if program.core in uses)
    line = program.lines[place]
    variables = [
        other.node.value
        for other in program.lines[:place]
        if isinstance(other.node, ast.Assign) and other.binds & line.needs
    ]
    texts: set[str] = set()
    for node in (*ast.walk(line.node), *variables):
        if isinstance(node, ast.expr):
            try:
                texts.add(str(literal_eval(node)).strip())
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                continue
    return texts


def variants(side: ChangeSide, program: UsingProgram, api: Api, printed: Sequence[str], most: int) -> dict[str, str]:
    """Return programs that should print something else, by what is different in them.

    Of a parameter it is the call without the argument. In place of an API stands each of its arguments, and each of the
    functions, classes or methods beside it, those of like signature first. A test is taken as it is where its output
    says more than yes or no.
    """
    tree = _tree(program)
    names = _names_in(tree, side.path, api)
    if side.keyword is not None:
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) in names]
        for call in calls:
            call.keywords = [each for each in call.keywords if each.arg != side.keyword]
        text = ast.unparse(tree)
        return {f"without {side.keyword}": text} if text != ast.unparse(_tree(program)) else {}
    row = api.symbols.get(api.preferred(side.path))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) in names]
    if row is None or not calls or (program.test and not {each.strip() for each in printed} <= _LITTLE):
        return {}
    owner = side.path.rpartition(".")[0]
    required = _required(row["parameters"])
    others = {
        path.rpartition(".")[2]: each
        for path, each in ((path, api.symbols[api.preferred(path)]) for path in api.symbols)
        if path.rpartition(".")[0] == owner
        and each["kind"] == row["kind"]
        and each["canonical_path"] != row["canonical_path"]
        and not path.rpartition(".")[2].startswith("_")
    }
    ordered = sorted(others, key=lambda each: (_required(others[each]["parameters"]) != required, each))
    text, used = ast.unparse(tree), ast.unparse(calls[0])
    arguments = [ast.unparse(each) for each in (*calls[0].args, *(keyword.value for keyword in calls[0].keywords))]
    return {f"the argument {each}": text.replace(used, each, 1) for each in arguments} | {
        f"{other} in its place": _with(other, names, program) for other in ordered[:most]
    }


def _names_in(tree: ast.AST, path: str, api: Api) -> frozenset[str]:
    """Return by which names a program may call an API: those of its public paths, and what it imports them as."""
    names = {each.rpartition(".")[2] for each in (path, *api.paths_of(path))}
    aliases = [node for node in ast.walk(tree) if isinstance(node, ast.alias)]
    return frozenset(names | {alias.asname for alias in aliases if alias.asname and alias.name in names})


def _required(parameters: Iterable[SymbolParameter]) -> int:
    return sum(each["default"] is None for each in parameters)


def _tree(program: UsingProgram) -> ast.Module:
    return parse_python("\n".join(line.text for line in program.lines))


def _with(other: str, names: frozenset[str], program: UsingProgram) -> str:
    """Return a program with another name in place of those of one API, wherever they stand."""
    tree = _tree(program)
    nodes = list(ast.walk(tree))
    # What is imported by another name keeps that name.
    replaced = names - {node.asname for node in nodes if isinstance(node, ast.alias)}
    for node in nodes:
        for field in ("id", "attr", "name"):
            if isinstance(node, ast.Name | ast.Attribute | ast.alias) and getattr(node, field, None) in replaced:
                setattr(node, field, other)
    return ast.unparse(tree)


def script_of_variants(imports: Iterable[Line], texts: Iterable[str], seconds: float) -> tuple[Line, ...]:
    """Return a script that runs programs in turn, each in one statement, for so many seconds at most.

    `imports` come first: how long a library takes to be imported says nothing of a program.

    Of one that fails, or is ended, what it printed until then counts.
    """
    statements = parse_python(_BEFORE).body
    for text in texts:
        statements += parse_python(_VARIANT.format(seconds=seconds, text=text)).body
    return (*imports, *map(line_of, statements))


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def plain_code(code: str | None, path: str | None, api: Api | None) -> str:
    """Return a program without what does not change its meaning: prefixes of texts, arguments that are defaults,
    the base `object`.

    Two programs of one change with the same plain code show the same.
    """
    tree = parse_python(code or "")
    row = api.symbols.get(api.preferred(path or "")) if api else None
    defaults = {each["name"]: each["default"] for each in row["parameters"]} if row else {}
    names = _names_in(tree, path, api) if api and path else ()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.kind = None
        if isinstance(node, ast.ClassDef):
            node.bases = [each for each in node.bases if ast.unparse(each) != "object"]
        if isinstance(node, ast.Call) and _called(node) in names:
            node.keywords = [each for each in node.keywords if ast.unparse(each.value) != defaults.get(each.arg or "")]
    return ast.unparse(tree)
