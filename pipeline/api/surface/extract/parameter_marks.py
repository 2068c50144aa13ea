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
from pipeline.api.surface.parse.rules import SurfaceRules, first_found
from pipeline.api.surface.parse.syntax import dotted, written
from pipeline.core.vocabularies.changes import DirectiveKind, DirectiveOwner
from pipeline.core.vocabularies.surface import ParameterDeprecation, ParameterKind

_VARIADIC = frozenset({ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD})
# what is said of a parameter is indented under it, or names it after the directive of the whole
_OF_A_NAME = re.compile(r"^(?:[ \t]+.*eprecated|\.\.[ \t].*eprecated.*[*`])", re.M)
_SUBJECT = re.compile(r"(?i)[`'\"]*(\w+)[`'\"]*\s+(?:(?:parameter|argument|keyword)\s+)?(?:is|was|has\s+been)\b")


def mark_told(
    parameters: Sequence[Parameter], docstring: str | None, rules: SurfaceRules, directives: DirectiveRules
) -> list[Parameter]:
    """Return the parameters, those marked that a docstring calls deprecated where it describes them."""
    if not docstring or "eprecated" not in docstring or not _OF_A_NAME.search(docstring):
        return list(parameters)
    return _marked(parameters, _told(docstring, {p["name"] for p in parameters}, rules, directives))


def mark_by_code(parameters: Sequence[Parameter], body: Body, rules: SurfaceRules) -> list[Parameter]:
    """Return the parameters, those marked whose default says so, or that the body warns of whenever they are given."""
    if body.told.isdisjoint(WARNS):
        return list(parameters)
    found = rules.deprecations.defaults
    defaults = {p["name"]: p["default"] for p in parameters if p["kind"] not in _VARIADIC and p["default"] is not None}
    by_default = {name: _mark(None, None, None) for name, default in defaults.items() if found.search(default)}
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


def _filled(known: ParameterMark | None, mark: ParameterMark) -> ParameterMark:
    if known is None or known["what"] == ParameterDeprecation.BY_POSITION:
        return mark
    return {
        "what": known["what"],
        "since": mark["since"] if known["since"] is None else known["since"],
        "removal": mark["removal"] if known["removal"] is None else known["removal"],
        "replacement": mark["replacement"] if known["replacement"] is None else known["replacement"],
    }


def _told(docstring: str, names: set[str], rules: SurfaceRules, directives: DirectiveRules) -> dict[str, ParameterMark]:
    """Return the marks that a docstring puts on parameters; what is about one value or another library is none."""
    said = [
        one
        for one in name_parameters(read_directives(docstring, directives), names, directives)
        if one.owner is DirectiveOwner.PARAMETER and one.name in names and not _of_another(one, names)
    ]
    gone = {one.name: one.stated for one in said if one.kind is DirectiveKind.VERSIONREMOVED}
    read = rules.deprecations
    marks: dict[str, ParameterMark] = {}
    for one in said:
        if one.kind is DirectiveKind.DEPRECATED and not directives.about_part(one.text):
            removal = gone.get(one.name) or first_found(read.removal, one.text)
            marks.setdefault(str(one.name), _mark(one.stated, removal, first_found(read.replacement, one.text)))
    return marks


def _of_another(said: Directive, names: Collection[str]) -> bool:
    """Return whether a text is about another parameter, as `random_state has been deprecated` stands under `rng`."""
    found = _SUBJECT.match(said.text)
    return found is not None and found[1] in names and found[1] != said.name


def _warned(
    body: Sequence[ast.stmt], defaults: Mapping[str, str], rules: SurfaceRules
) -> Iterator[tuple[str, ParameterMark]]:
    """Yield the parameters that a body warns of under an `if` that asks whether they are given, with their marks."""
    for statement in body:
        match statement:
            case ast.If(test=test, body=inner, orelse=orelse):
                for branch, names in ((inner, _given(test, defaults)), (orelse, _left_out(test, defaults))):
                    mark = warning_mark(branch, rules, {}) if names else None
                    if mark is not None and (_asks_value(test) or _mentions(mark, names)):
                        stated = mark["since"], mark["removal"], mark["replacement"] or _stands_for(branch, names)
                        yield from ((name, _mark(*stated)) for name in names)
                yield from _warned([s for s in orelse if isinstance(s, ast.If)], defaults, rules)
            case ast.With(body=inner) | ast.Try(body=inner):
                yield from _warned(inner, defaults, rules)


def _asks_value(test: ast.expr) -> bool:
    """Return whether a condition compares: what only asks for truth may be a switch for warnings of other things."""
    return not isinstance(test, ast.Name | ast.UnaryOp)


def _mentions(mark: Mark, names: Sequence[str]) -> bool:
    return all(re.search(rf"\b{name}\b", mark["message"] or "") for name in names)


def _stands_for(branch: Sequence[ast.stmt], names: Sequence[str]) -> str | None:
    """Return the name that is given the value of the parameter: `new = old`."""
    for statement in branch:
        match statement:
            case ast.Assign(targets=[ast.Name(id=new)], value=ast.Name(id=old)) if [old] == list(names):
                return new
    return None


def _given(test: ast.expr, defaults: Mapping[str, str]) -> list[str]:
    """Return the parameters of which a condition asks whether they are given, if it asks for nothing else."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            asked = [_given(value, defaults) for value in values]
            return list(dict.fromkeys(name for names in asked for name in names)) if all(asked) else []
        case ast.BoolOp(op=ast.And(), values=values):
            asked = [_given(value, defaults) for value in values]
            return asked[0] if all(names == asked[0] for names in asked) else []
        case ast.Compare(left=ast.Name(id=name), ops=[ast.IsNot() | ast.NotEq()], comparators=[value]):
            return [name] if _is_default(value, defaults.get(name)) else []
        case ast.Compare(left=ast.Name(id=name), ops=[ast.NotIn()], comparators=[ast.Tuple(elts=values)]):
            return [name] if any(_is_default(value, defaults.get(name)) for value in values) else []
        case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In()], comparators=[ast.Name()]):
            return [name] if name in defaults else []
        case ast.Name(id=name):
            return [name] if defaults.get(name) in {"None", "False"} else []
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _left_out(inner, defaults)
    return []


def _left_out(test: ast.expr, defaults: Mapping[str, str]) -> list[str]:
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
