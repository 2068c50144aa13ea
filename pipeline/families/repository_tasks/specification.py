"""What a function is to do, and what it takes and returns, in words: from its own docstring and signature."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.syntax_trees import parse_python
from pipeline.corpus.documentation.content import Content, Described
from pipeline.corpus.documentation.docstrings import read_docstring
from pipeline.families.messages import announced

_QUOTES = '"""'
_ARGUMENTS = "Input-Output Arguments"
_EXAMPLES = "Examples:"
_PROMPT = ">>> "
_LEADS_TO_EXAMPLES = re.compile(r"\s*(for (example|instance)|examples?|e\.g\.)\s*(usage)?\s*[:.]*", re.IGNORECASE)
_DOCTEST_OPTION = re.compile(r"[ \t]*#[ \t]*doctest:.*")
_INDENT = "    "
_OWN = ("self", "cls")


@dataclass(frozen=True, slots=True)
class Requirement:
    """The two parts of EvoCodeBench's `requirement`."""

    functionality: str
    arguments: str


def requirement_of(docstring: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Requirement:
    """Return what a docstring says that a function does, and one line for each thing that it takes or returns.

    Its examples with prompts stand behind that: what a text introduces by a colon is often all that it says of a case.
    Of a parameter that the docstring does not describe the line says what the signature tells.
    """
    return _requirement(node, read_docstring(docstring))


def required(
    node: ast.FunctionDef | ast.AsyncFunctionDef, functionality: str, arguments: Mapping[str, str], returns: str
) -> Requirement:
    """Return a requirement of given words, in the form of one from a docstring; types are those of the signature.

    `arguments` describe parameters by name, without stars; `returns` is empty where nothing comes back.
    """
    parameters = tuple(Described(name, description=" ".join(text.split())) for name, text in arguments.items())
    results = (Described("", description=" ".join(returns.split())),) if returns.strip() else ()
    return _requirement(node, Content(functionality, parameters, results))


def parameter_names(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the names of the parameters without their stars, but not that of the object itself."""
    return [name.lstrip("*") for name, _, _ in _signature(node)]


def _requirement(node: ast.FunctionDef | ast.AsyncFunctionDef, content: Content) -> Requirement:
    raised = [f":raises {each.name}: {_sentence([each.description])}".rstrip() for each in content.raises]
    # Tests look at classes and texts of exceptions, which a docstring may leave out, and which nobody could guess.
    named = {f":raises {each.name}:" for each in content.raises}
    texts = [line for line in announced(node) if line not in named]
    lines = [*_parameters(node, content), *_results(node, content), *raised, *texts]
    # Code without a prompt may be the body itself ("roughly equivalent to").
    examples = [
        textwrap.indent(_DOCTEST_OPTION.sub("", example), _INDENT)
        for example in content.examples
        if example.startswith(_PROMPT)
    ]
    # Of an example that was cut out its prompt may be left, alone or with a comment, and what leads up to it.
    lines_outside_examples = [
        line
        for line in content.description.split("\n")
        if not line.strip() or (any(map(str.isalnum, line)) and not line.lstrip().startswith(_PROMPT))
        if not (examples and _LEADS_TO_EXAMPLES.fullmatch(line))
    ]
    functionality = re.sub(r"\n{3,}", "\n\n", "\n".join(lines_outside_examples)).strip()
    if functionality and examples:
        functionality = "\n\n".join((functionality, _EXAMPLES, *examples))
    return Requirement(functionality, "\n".join(lines))


def parsed(lines: Sequence[str]) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """Return the definition of a function that stands in some lines, however they are indented; its first line is 1.

    Errors: SyntaxError where there is none.
    """
    # Not dedented: a docstring may have lines that begin further to the left.
    is_indented = lines[0].startswith((" ", "\t"))
    node: ast.AST = parse_python("\n".join([*(["if True:"] if is_indented else []), *lines])).body[0]
    if is_indented and isinstance(node, ast.If):
        node = ast.increment_lineno(node.body[0], -1)
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        raise SyntaxError("no function stands there")
    return node


def input_code(signature: Sequence[str], indent: str, requirement: Requirement) -> str:
    """Return a signature with the requirement as its docstring, as the published benchmark prompts with it."""
    parts = [requirement.functionality]
    if requirement.arguments:
        parts += [_ARGUMENTS, requirement.arguments]
    lines = "\n".join(parts).replace("\\", "\\\\").replace(_QUOTES, '\\"\\"\\"')
    inside = "\n".join(f"{indent}{line}".rstrip() for line in lines.split("\n"))
    return "\n".join([*signature, f"{indent}{_QUOTES}", inside, f"{indent}{_QUOTES}"]) + "\n"


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef, content: Content) -> Iterator[str]:
    by_name = {parameter.name.lstrip("*"): parameter for parameter in content.parameters}
    for name, annotation, default in _signature(node):
        lines = by_name.get(name.lstrip("*"), Described(name))
        words = [lines.type or annotation, lines.description, f"Default {default}." if default is not None else None]
        yield f":param {name}: {_sentence(words)}".rstrip()


def _results(node: ast.FunctionDef | ast.AsyncFunctionDef, content: Content) -> Iterator[str]:
    annotation = ast.unparse(node.returns) if node.returns is not None else None
    for parameter in content.returns or ([Described("")] if annotation not in (None, "None") else []):
        yield f":return: {_sentence([parameter.type or annotation, parameter.description])}".rstrip()


def _sentence(words: Sequence[str | None]) -> str:
    return " ".join(" ".join(word.split()).rstrip(".") + "." for word in words if word and word.strip())


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield the parameters as (name with its stars, annotation, default), but not that of the object itself."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    named = list(zip(plain, defaults, [""] * len(plain), strict=True))
    if arguments.vararg:
        named.append((arguments.vararg, None, "*"))
    named += [
        (parameter, default, "") for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        named.append((arguments.kwarg, None, "**"))
    for parameter, default, stars in named:
        if parameter.arg not in _OWN:
            annotation = ast.unparse(parameter.annotation) if parameter.annotation is not None else None
            yield stars + parameter.arg, annotation, ast.unparse(default) if default is not None else None
