"""Marks of deprecation, from three channels that hardly overlap: decorator, warning, docstring directive."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from pipeline.api.surface.parse.module_model import Mark
from pipeline.api.surface.parse.rules import SurfaceRules, clean_name, first_match
from pipeline.api.surface.parse.syntax import dotted, written
from pipeline.core.vocabularies.surface import DeprecationChannel

UNTOLD = "…"
"""What a message has instead of what an f-string fills in as it runs."""

_WRAPPERS = frozenset({"property", "staticmethod", "classmethod", "cached_property"})
_VERSION = re.compile(r"^v?\d+(\.\w+)*$")
# `.. deprecated:: 17.4.0 *convert*` at the docstring's own indentation is about that parameter
_OF_PARAMETER = re.compile(
    r"\*\w+\*(?:\s|$)"
    # "It is now deprecated to pass the instance using the keyword argument *inst*", "The `a` argument is …"
    r"|(?:(?:It is (?:now )?deprecated to (?:pass|give|set|use)|Passing|Giving|Setting)\b|The\s+[*`]*\w+[*`]*\s)"
    r"(?:(?!\.\s).)*?\b(?:argument|parameter|keyword)s?\b",
    re.I,
)
_DIRECTIVE = re.compile(
    r"^\.\.[ \t]+deprecated::[ \t]*(?P<head>[^\n]*)\n?(?P<body>(?:[ \t]+[^\n]*\n?|[ \t]*\n)*)", re.M
)
_STATEMENT = re.compile(r"^(?:\*\*)?deprecated(?:\*\*)?(?::|\s+(?:since|in|as of)\s)[^\n]*", re.M | re.I)


def mark_of(
    decorators: Sequence[ast.expr], body: Sequence[ast.stmt], docstring: str | None, rules: SurfaceRules
) -> Mark | None:
    """Return the mark of deprecation of a definition: a decorator's, else a warning's, else the docstring's.

    What the first channel leaves open (since, removal, replacement) is filled from the next ones.
    """
    marks = [decorator_mark(decorators, rules), warning_mark(body, rules, {}), directive_mark(docstring, rules)]
    present = [mark for mark in marks if mark]
    if not present:
        return None
    return {
        "channel": present[0]["channel"],
        "since": next((mark["since"] for mark in present if mark["since"]), None),
        "removal": next((mark["removal"] for mark in present if mark["removal"]), None),
        "message": next((mark["message"] for mark in present if mark["message"]), None),
        "replacement": next((mark["replacement"] for mark in present if mark["replacement"]), None),
    }


def decorator_mark(decorators: Sequence[ast.expr], rules: SurfaceRules) -> Mark | None:
    """Return the mark that a decorator such as `@deprecated("use x instead", version="2.0")` gives."""
    patterns = rules.deprecations
    for decorator in decorators:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = _last_name(called)
        if name and patterns.decorators.search(name) and not patterns.not_decorators.search(name):
            removal = _keyword_text(decorator, patterns.removal_keywords)
            texts = [text for text in _texts_of(decorator) if text != removal]
            since = next((text for text in texts if _VERSION.match(text)), None)
            message = " ".join(text for text in texts if not _VERSION.match(text))
            mark = _mark(DeprecationChannel.DECORATOR, message, rules, since)
            replacement = _keyword_text(decorator, patterns.replacement_keywords)
            name = clean_name(replacement) if replacement else None
            return {
                **mark,
                "replacement": name or mark["replacement"],
                "removal": removal or mark["removal"],
            }
    return None


def assigned_mark(value: ast.expr, docstring: str | None, rules: SurfaceRules) -> Mark | None:
    """Return the mark of `old = deprecated(new)`, also as `deprecated("1.2")(new)` or inside `property(…)`."""
    return decorator_mark(list(_makers(value)), rules) or directive_mark(docstring, rules)


def _makers(value: ast.expr) -> Iterator[ast.expr]:
    """Yield the calls that make a value out of another one, the outer ones first."""
    while isinstance(value, ast.Call):
        yield value
        if isinstance(value.func, ast.Call):
            value = value.func
        elif value.args and _last_name(value.func) in _WRAPPERS:
            value = value.args[0]
        else:
            return


def _keyword_text(decorator: ast.expr, names: Collection[str]) -> str | None:
    """Return the text of the first keyword argument of one of these names."""
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    texts = (_text(k.value, {}) for k in keywords if k.arg in names)
    return next((text for text in texts if text), None)


def _texts_of(decorator: ast.expr) -> Iterator[str]:
    if isinstance(decorator, ast.Call):
        for value in [*decorator.args, *(k.value for k in decorator.keywords)]:
            text = _text(value, {})
            if text is not None:
                yield text


def warning_mark(body: Sequence[ast.stmt], rules: SurfaceRules, constants: Mapping[str, str]) -> Mark | None:
    """Return the mark of a warning that always runs; `constants` gives the values of names that messages mention.

    A warning behind an `if` concerns one way of calling, not the API, and is not taken.
    """
    for call in _unconditional_calls(body):
        name = written(call.func)
        warns, helps = rules.deprecations.warning_calls.search(name), rules.deprecations.helper_calls.search(name)
        if not warns and not helps:
            continue
        named = {**_messages(body, constants), **constants}
        arguments = [*call.args, *(k.value for k in call.keywords)]
        message = next((text for a in arguments if (text := _text(a, named)) is not None), "")
        if helps or _category_fits(arguments, message, rules):
            return _mark(DeprecationChannel.WARNING, message, rules, None)
    return None


def complete_message(mark: Mark) -> str | None:
    """Return the message of a mark that others have, None where a piece of it is about what they are."""
    return None if UNTOLD in (mark["message"] or "") else mark["message"]


def marks_by_name(body: Sequence[ast.stmt], rules: SurfaceRules) -> list[tuple[str, Mark]]:
    """Return the marks that a body gives if a name means what the library defines elsewhere.

    Either a category of its own, of a warning that always runs; or a function of its own that warns.
    """
    marks: list[tuple[str, Mark]] = []
    named = _messages(body, {})
    for call in _unconditional_calls(body):
        name = dotted(call.func)
        if name is None:
            continue
        values = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in {"message", "category"})]
        message = next((text for value in values if " " in (text := _text(value, named) or "")), "")
        mark = _mark(DeprecationChannel.WARNING, message, rules, None)
        if rules.deprecations.warning_calls.search(name):
            classes = (dotted(value.func if isinstance(value, ast.Call) else value) for value in values)
            marks += [
                (category, mark) for category in classes if category and category.rpartition(".")[2][:1].isupper()
            ]
        elif any(word in name for word in rules.deprecations.call_words):
            marks.append((name, mark))
    return marks


def wrapper_mark(body: Sequence[ast.stmt], rules: SurfaceRules) -> Mark | None:
    """Return the mark that a decorator gives: it returns a function of its own that warns whenever it is called.

    A decorator that is called first returns such a decorator.
    """
    returned = {s.value.id for s in body if isinstance(s, ast.Return) and isinstance(s.value, ast.Name)}
    for inner in body:
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and inner.name in returned:
            mark = warning_mark(inner.body, rules, {}) or wrapper_mark(inner.body, rules)
            if mark is not None:
                return mark | {"channel": DeprecationChannel.DECORATOR, "message": complete_message(mark)}
    return None


def _messages(body: Sequence[ast.stmt], constants: Mapping[str, str]) -> dict[str, str]:
    """Return the texts that a body gives names to: `msg = "…"` before `warn(msg)`."""
    named: dict[str, str] = {}
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (text := _text(value, constants)) is not None:
                named[name] = text
    return named


def _unconditional_calls(body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Call() as call):
                yield call
            case ast.Try(body=[ast.Import() | ast.ImportFrom(), *_]):
                # `try: import ujson` asks whether something is there
                continue
            case ast.With(body=inner) | ast.Try(body=inner):
                yield from _unconditional_calls(inner)
            case ast.Return() | ast.Raise():
                return


def _category_fits(arguments: Sequence[ast.expr], message: str, rules: SurfaceRules) -> bool:
    read = rules.deprecations
    names = [name for a in arguments if (name := _last_name(a.func if isinstance(a, ast.Call) else a))]
    if any(read.categories.search(name) for name in names):
        return True
    return bool(read.other_words.search(message)) and any(read.other_categories.search(name) for name in names)


def read_advice(body: Sequence[ast.stmt], rules: SurfaceRules) -> dict[str, str]:
    """Return what to use instead of names, where a module has a mapping from names to such sentences.

    The `__getattr__` of the module, or of one that imports the mapping, tells them (`__expired_attributes__` of NumPy
    2.0): of names that are there still nobody asks for it.
    """
    advice: dict[str, str] = {}
    for statement in body:
        match statement:
            case (
                ast.Assign(value=ast.Dict(keys=keys, values=values))
                | ast.AnnAssign(value=ast.Dict(keys=keys, values=values))
            ):
                for key, value in zip(keys, values, strict=True):
                    match key, value:
                        case ast.Constant(value=str(name)), ast.Constant(value=str(text)) if name.isidentifier():
                            if " " in text and (other := first_match(rules.deprecations.replacement, text)):
                                advice[name] = other
    return advice


def directive_mark(docstring: str | None, rules: SurfaceRules) -> Mark | None:
    """Return the mark of a `.. deprecated:: 2.1` directive, or of a line `Deprecated since 2.1: …`.

    Only at the docstring's own indentation: deeper ones are about a parameter.
    """
    if not docstring or "eprecated" not in docstring:
        return None
    if match := _DIRECTIVE.search(docstring):
        version, _, rest = match["head"].strip().partition(" ")
        if not _VERSION.match(version):
            version, rest = "", match["head"]
        body = re.split(r"\n[ \t]*\n(?=\S)", match["body"])[0]
        text = " ".join(f"{rest} {inspect.cleandoc(body)}".split())
        if _OF_PARAMETER.match(text):
            return None
        return _mark(DeprecationChannel.DIRECTIVE, text, rules, version or None)
    if match := _STATEMENT.search(docstring):
        return _mark(DeprecationChannel.DIRECTIVE, " ".join(match[0].split()), rules, None)
    return None


def _mark(channel: DeprecationChannel, message: str, rules: SurfaceRules, since: str | None) -> Mark:
    read = rules.deprecations
    return {
        "channel": channel,
        "since": since or first_match(read.since, message),
        "removal": first_match(read.removal, message),
        "message": message or None,
        "replacement": first_match(read.replacement, message),
    }


def _last_name(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


def _text(node: ast.expr, constants: Mapping[str, str]) -> str | None:
    """Return the text of a string expression; what an f-string fills in is known or left out."""
    match node:
        case ast.Constant(value=str(text)):
            return " ".join(text.split())
        case ast.Name(id=name):
            return constants.get(name)
        case ast.JoinedStr(values=values):
            return " ".join("".join(_piece(value, constants) for value in values).split())
        case ast.BinOp(left=left, op=ast.Mod() | ast.Add()):
            return _text(left, constants)
        case ast.Call(func=ast.Attribute(value=owner, attr="format" | "strip")):
            return _text(owner, constants)
        case ast.Call(func=func, args=[first, *_]) if (_last_name(func) or "").endswith("Warning"):
            return _text(first, constants)
    return None


def _piece(value: ast.expr, constants: Mapping[str, str]) -> str:
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(value=ast.Name(id=name)) if name in constants:
            return constants[name]
        case ast.FormattedValue():
            return UNTOLD
    return ""
