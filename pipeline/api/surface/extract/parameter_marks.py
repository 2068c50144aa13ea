"""Parameters that are deprecated: as the docstring says under them, as their default does, or as a warning does.

What a decorator of the library's own says of its parameters is read in `signature_decorators`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from pipeline.api.surface.extract.deprecations import warning_mark
from pipeline.api.surface.extract.directives import Directive, name_parameters, read_directives
from pipeline.api.surface.extract.kwargs import UNKNOWN
from pipeline.api.surface.parse.bodies import Body
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.api.surface.parse.keyword_scan import WARNS
from pipeline.api.surface.parse.module_model import Mark, Parameter, ParameterMark
from pipeline.api.surface.parse.rules import SurfaceRules, first_match
from pipeline.api.surface.parse.syntax import dotted, written
from pipeline.core.vocabularies.changes import DirectiveKind, DirectiveOwner
from pipeline.core.vocabularies.surface import ParameterDeprecation, ParameterKind

_VARIADIC = frozenset({ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD})
# what is said of a parameter is indented under it, or names it after the directive of the whole
_OF_A_NAME = re.compile(r"^(?:[ \t]+.*(?:eprecated|replaces)|\.\.[ \t].*eprecated.*[*`])", re.M)
_SUBJECT = re.compile(r"(?i)[`'\"]*(\w+)[`'\"]*\s+(?:(?:parameter|argument|keyword)\s+)?(?:is|was|has\s+been)\b")


def mark_by_docstring(
    parameters: Sequence[Parameter], docstring: str | None, rules: SurfaceRules, directives: DirectiveRules
) -> list[Parameter]:
    """Return the parameters, those marked that a docstring calls deprecated where it describes them."""
    is_marked = docstring is not None and ("eprecated" in docstring or "replaces" in docstring)
    if not docstring or not is_marked or not _OF_A_NAME.search(docstring):
        return list(parameters)
    return _marked(parameters, _documented_marks(docstring, {p["name"] for p in parameters}, rules, directives))


def mark_by_code(parameters: Sequence[Parameter], body: Body, rules: SurfaceRules) -> list[Parameter]:
    """Return the parameters, those marked whose default says so, or that the body warns of whenever they are given."""
    if body.keywords.isdisjoint(WARNS):
        return list(parameters)
    pattern = rules.deprecations.defaults
    defaults = {p["name"]: p["default"] for p in parameters if p["kind"] not in _VARIADIC and p["default"] is not None}
    by_default = {name: _mark(None, None, None) for name, default in defaults.items() if pattern.search(default)}
    if defaults and body.mentions(WARNS) and body.beginning_with_calls(rules.deprecations.call_words):
        parameters = _marked(parameters, dict(_warned(body.statements, defaults, rules)))
    return _marked(parameters, by_default) if by_default else list(parameters)


def _mark(since: str | None, removal: str | None, replacement: str | None) -> ParameterMark:
    return {
        "what": ParameterDeprecation.ENTIRELY,
        "since": since,
        "removal": removal,
        "replacement": replacement,
    }


def _marked(parameters: Sequence[Parameter], marks: Mapping[str, ParameterMark]) -> list[Parameter]:
    """Return the parameters with these marks; a mark that is there already stays, and what it leaves open is filled."""
    return [
        {**p, "deprecation": _filled(p["deprecation"], marks[p["name"]])} if p["name"] in marks else p
        for p in parameters
    ]


def _filled(existing: ParameterMark | None, mark: ParameterMark) -> ParameterMark:
    if existing is None or existing["what"] == ParameterDeprecation.BY_POSITION:
        return mark
    return {
        "what": existing["what"],
        "since": mark["since"] if existing["since"] is None else existing["since"],
        "removal": mark["removal"] if existing["removal"] is None else existing["removal"],
        "replacement": mark["replacement"] if existing["replacement"] is None else existing["replacement"],
    }


def _documented_marks(
    docstring: str, names: set[str], rules: SurfaceRules, directives: DirectiveRules
) -> dict[str, ParameterMark]:
    """Return the marks that a docstring puts on parameters; what is about one value or another library is none.

    Flask writes "``path`` replaces the ``filename`` parameter." under the release that brought `path`.
    """
    read_here = read_directives(docstring, directives)
    statements = [
        directive
        for directive in name_parameters(read_here, names, directives)
        if directive.owner is DirectiveOwner.PARAMETER and directive.name in names and not _of_another(directive, names)
    ]
    gone = {
        directive.name: directive.version_text
        for directive in statements
        if directive.kind is DirectiveKind.VERSIONREMOVED
    }
    read = rules.deprecations
    marks: dict[str, ParameterMark] = {}
    for directive in statements:
        if directive.kind is DirectiveKind.DEPRECATED and not directives.about_part(directive.text):
            removal = gone.get(directive.name) or first_match(read.removal, directive.text)
            marks.setdefault(
                str(directive.name),
                _mark(directive.version_text, removal, first_match(read.replacement, directive.text)),
            )
    for directive in read_here:
        replaced = directives.replaced_parameter.find(directive.text)
        replacement = first_match(read.replacement, directive.text)
        if directive.owner is DirectiveOwner.API and replaced in names and replacement in names - {replaced}:
            marks.setdefault(str(replaced), _mark(directive.version_text, None, replacement))
    return marks


def _of_another(directive: Directive, names: Collection[str]) -> bool:
    """Return whether a text is about another parameter, as `random_state has been deprecated` stands under `rng`."""
    match = _SUBJECT.match(directive.text)
    return match is not None and match[1] in names and match[1] != directive.name


def _warned(
    body: Sequence[ast.stmt], defaults: Mapping[str, str], rules: SurfaceRules
) -> Iterator[tuple[str, ParameterMark]]:
    """Yield the parameters that a body warns of under an `if` that asks whether they are given, with their marks."""
    for statement in body:
        match statement:
            case ast.If(test=test, body=inner, orelse=orelse):
                for branch, names in ((inner, _when_passed(test, defaults)), (orelse, _when_omitted(test, defaults))):
                    mark = warning_mark(branch, rules, {}) if names else None
                    if mark is not None and (_asks_value(test) or _mentions(mark, names)):
                        details = mark["since"], mark["removal"], mark["replacement"] or _alias_of(branch, names)
                        yield from ((name, _mark(*details)) for name in names)
                yield from _warned([s for s in orelse if isinstance(s, ast.If)], defaults, rules)
            case ast.With(body=inner) | ast.Try(body=inner):
                yield from _warned(inner, defaults, rules)


def _asks_value(test: ast.expr) -> bool:
    """Return whether a condition compares: what only asks for truth may be a switch for warnings of other things."""
    return not isinstance(test, ast.Name | ast.UnaryOp)


def _mentions(mark: Mark, names: Sequence[str]) -> bool:
    return all(re.search(rf"\b{name}\b", mark["message"] or "") for name in names)


def _alias_of(branch: Sequence[ast.stmt], names: Sequence[str]) -> str | None:
    """Return the name that is given the value of the parameter: `new = old`."""
    for statement in branch:
        match statement:
            case ast.Assign(targets=[ast.Name(id=new)], value=ast.Name(id=old)) if [old] == list(names):
                return new
    return None


def _when_passed(test: ast.expr, defaults: Mapping[str, str]) -> list[str]:
    """Return the parameters of which a condition asks whether they are given, if it asks for nothing else."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            tested = [_when_passed(value, defaults) for value in values]
            return list(dict.fromkeys(name for names in tested for name in names)) if all(tested) else []
        case ast.BoolOp(op=ast.And(), values=values):
            tested = [_when_passed(value, defaults) for value in values]
            return tested[0] if all(names == tested[0] for names in tested) else []
        case ast.Compare(left=ast.Name(id=name), ops=[ast.IsNot() | ast.NotEq()], comparators=[value]):
            return [name] if _is_default(value, defaults.get(name)) else []
        case ast.Compare(left=ast.Name(id=name), ops=[ast.NotIn()], comparators=[ast.Tuple(elts=values)]):
            return [name] if any(_is_default(value, defaults.get(name)) for value in values) else []
        case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In()], comparators=[ast.Name()]):
            return [name] if name in defaults else []
        case ast.Name(id=name):
            return [name] if defaults.get(name) in {"None", "False"} else []
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _when_omitted(inner, defaults)
    return []


def _when_omitted(test: ast.expr, defaults: Mapping[str, str]) -> list[str]:
    """Return the parameters of which a condition asks whether they are left out: else they are given."""
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is() | ast.Eq()], comparators=[value]):
            return [name] if _is_default(value, defaults.get(name)) else []
        case ast.Name(id=name):
            return [name] if defaults.get(name) == "True" else []
    return []


def _is_default(value: ast.expr, default: str | None) -> bool:
    """Return whether a value is the default of a parameter: as written, or a name (`lib.no_default`) by its last part.

    What is left out is None where only the body knows the default.
    """
    if default is None:
        return False
    text = written(value)
    name = dotted(value)
    return text == (default if default != UNKNOWN else "None") or (
        name is not None and name.rpartition(".")[2] == default.rpartition(".")[2]
    )
