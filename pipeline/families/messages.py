"""The texts that tests of a project want, such as those of exceptions, and that a solver has to be told."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator

from pipeline.core.syntax_trees import parse_python

_UNKNOWN = "…"
_PERCENT = re.compile(r"%(?:\(\w+\))?[-#0 +]*\d*(?:\.\d+)?([sdrfi])")
_BRACES = re.compile(r"\{[^{}]*\}")
_PLACEHOLDERS = re.compile(f"{_PERCENT.pattern}|{_BRACES.pattern}")
_LETTERS = re.compile(r"[^\W\d_]")
_PATTERN = re.compile(r"\\.|\[[^\]]*\]|\{[^}]*\}|[$*+?()|^.]")
"""What of a pattern stands for no text of its own: what is between is looked for."""


def announced(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return a line for each error and warning that a function makes, with its text, in their order.

    Parameters that stand in a text stand there in braces; of anything else it has `…`.
    """
    texts = _Texts(node)
    lines: list[str] = []
    for part in ast.walk(node):
        error = part.exc if isinstance(part, ast.Raise) else None
        if isinstance(part, ast.Call) and _name(part.func) == "warn" and len(part.args) > 1:
            lines.append(_line("warns", _name(part.args[1]), texts.of(part.args[0])))
        elif isinstance(error, ast.Call) and _is_class(_name(error.func)):
            lines.append(_line("raises", _name(error.func), texts.of(error.args[0]) if error.args else None))
        elif isinstance(error, ast.Name) and _is_class(error.id):
            lines.append(_line("raises", error.id, None))
    return list(dict.fromkeys(line for line in lines if line))


def _line(role: str, name: str | None, text: str | None) -> str:
    if name is None:
        return ""
    is_text = text is not None and len(_LETTERS.findall(text)) > 1
    return f":{role} {name}: The text is {text!r}." if is_text else f":{role} {name}:"


def _is_class(name: str | None) -> bool:
    return name is not None and name[:1].isupper()


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


class _Texts:
    """Reads the texts that expressions of a function make."""

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = node.args
        listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self._parameters = {argument.arg for argument in [*listed, *filter(None, (arguments.vararg, arguments.kwarg))]}
        self._bound: dict[str, list[ast.expr]] = {}
        for part in ast.walk(node):
            if isinstance(part, ast.Assign) and len(part.targets) == 1 and isinstance(part.targets[0], ast.Name):
                self._bound.setdefault(part.targets[0].id, []).append(part.value)

    def of(self, node: ast.expr, depth: int = 3) -> str:
        """Return the text of an expression; a name that is bound once is what it is bound to."""
        match node:
            case ast.Constant(value=value):
                return str(value)
            case ast.JoinedStr(values=values):
                return "".join(self.of(value, depth) for value in values)
            case ast.FormattedValue(value=value, conversion=conversion):
                return self._placeholder(value, "!r" if conversion == ord("r") else "")
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.of(left, depth) + self.of(right, depth)
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                operands = iter(right.elts if isinstance(right, ast.Tuple) else [right])
                return _PERCENT.sub(lambda match: self._next(operands, match[1]), self.of(left, depth))
            case ast.Call(func=ast.Attribute(value=text, attr="format"), args=args, keywords=[]):
                arguments, template = iter(args), self.of(text, depth)
                return _BRACES.sub(lambda match: self._next(arguments, "r" if "!r" in match[0] else ""), template)
            case ast.Name(id=name) if depth and name not in self._parameters and len(self._bound.get(name, ())) == 1:
                return self.of(self._bound[name][0], depth - 1)
        return self._placeholder(node, "")

    def _next(self, values: Iterator[ast.expr], conversion: str) -> str:
        value = next(values, None)
        return self._placeholder(value, "!r" if conversion == "r" else "") if value is not None else _UNKNOWN

    def _placeholder(self, node: ast.expr, conversion: str) -> str:
        """Return what stands in a text for a value: a parameter, or an attribute of one, by its name."""
        head = node
        while isinstance(head, ast.Attribute):
            head = head.value
        is_parameter = isinstance(head, ast.Name) and head.id in self._parameters
        return f"{{{ast.unparse(node)}{conversion}}}" if is_parameter else _UNKNOWN


def unstated(text: str, lines: range, visible: str, tests: Iterable[str], min_letters: int) -> list[str]:
    """Return the texts in some lines of a file that tests want to see and that stand nowhere in what is visible.

    `tests` are the sources of tests. A text has `min_letters` letters, or a character that no keyboard has. The pattern
    of `pytest.raises(match=…)` wants a text of which it has a part: several words, or one that is a word there.
    """
    sources = list(tests)
    expected = {constant for source in sources for constant in _constants(source)}
    pieces = {piece.strip() for source in sources for pattern in _matched(source) for piece in _PATTERN.split(pattern)}
    parts = {piece for piece in pieces if len(_LETTERS.findall(piece)) >= min_letters}
    texts = []
    for constant in _constants(text, lines):
        core = constant.strip()
        is_text = len(_LETTERS.findall(core)) >= min_letters or not core.isascii()
        if not is_text or core in visible:
            continue
        is_matched = any(_has_part(core, part) for part in parts) and not _is_visible(visible, core)
        if is_matched or any(core in each or _is_part(each, core) for each in expected):
            texts.append(core)
    return list(dict.fromkeys(texts))


def _matched(source: str) -> Iterator[str]:
    """Yield the patterns that tests match errors and warnings with."""
    for node in ast.walk(_parsed(source)):
        match node:
            case ast.keyword(arg="match", value=ast.Constant(value=str(pattern))):
                yield pattern


def _has_part(text: str, part: str) -> bool:
    """Say whether a text has a part of a pattern; a single word is none of a longer word, as `set` of `offset`."""
    if len(part.split()) > 1:
        return part in text
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def _is_visible(visible: str, text: str) -> bool:
    """Say whether all of a text is visible but for what stands for values in it."""
    return all(part.strip() in visible for part in _PLACEHOLDERS.sub("\0", text).split("\0"))


def _is_part(expected: str, text: str) -> bool:
    """Say whether several words that a test has, or its pattern, are a part of a text of the code."""
    if len(expected.split()) < 2:
        return False
    # Patterns of strangers are not run: one can take for ever.
    return expected in text or all(piece.strip() in text for piece in _PATTERN.split(expected))


def _constants(source: str, lines: range | None = None) -> list[str]:
    """Return the string constants of code, or of some lines of it, but no docstrings."""
    return [value for line, value in _placed_constants(source) if lines is None or line in lines]


# Hundreds of scenes and tasks are in the same few files, and tested by the same few.
@functools.lru_cache(maxsize=64)
def _placed_constants(source: str) -> list[tuple[int, str]]:
    nodes = list(ast.walk(_parsed(source)))
    statements = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in statements]
    return [(node.lineno, node.value) for node in constants if isinstance(node.value, str)]


@functools.lru_cache(maxsize=16)
def _functions(source: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(_parsed(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


@functools.lru_cache(maxsize=16)
def _parsed(source: str) -> ast.Module:
    """Parse code; what this Python does not parse is empty."""
    try:
        return parse_python(source)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def sources_of_tests(text_of: Callable[[str], str | None], tests: Collection[str]) -> list[str]:
    """Return the sources of tests, pytest node ids, with their parameters and the constants of their files they name.

    `text_of` has files by path. What cannot be found is left out.
    """
    sources: list[str] = []
    for path in sorted({test.partition("::")[0] for test in tests}):
        names = {test.partition("[")[0].split("::")[-1] for test in tests if test.partition("::")[0] == path}
        text = text_of(path) or ""
        functions = [node for node in _functions(text) if node.name in names]
        used = {part.id for node in functions for part in ast.walk(node) if isinstance(part, ast.Name)}
        constants = [
            node
            for node in _parsed(text).body
            if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id in used for to in node.targets)
        ]
        sources += [ast.unparse(node) for node in [*constants, *functions]]
    return sources
