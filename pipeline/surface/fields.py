"""The fields of classes: slots, and those that parameters are made of in dataclasses (PEP 557), attrs, NamedTuple."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pipeline.surface.records import Definition, Field
from pipeline.surface.rules import SurfaceRules

_FIELD_CALLS = frozenset({"field", "Field", "ib", "attrib", "attr"})


def read_slots(node: ast.ClassDef, found: Definition) -> None:
    """Add the attributes that `__slots__` names and nothing else declares (data model, 3.3.2.4)."""
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=ast.Tuple(elts=names) | ast.List(elts=names)):
                for name in names:
                    if isinstance(name, ast.Constant) and isinstance(name.value, str):
                        slot = Definition(name.value, "attribute", labels=["instance-attribute"])
                        found.members.setdefault(name.value, slot)


def read_fields(node: ast.ClassDef, found: Definition, imports: Mapping[str, str], rules: SurfaceRules) -> None:
    """Fill in by which convention a class makes its parameters, and its own fields in order."""
    convention, options = _convention(node, imports, rules)
    if convention is None or options.get("init") == "False":
        return
    found.synthesised = convention
    keyword_only = options.get("kw_only") == "True"
    for statement in node.body:
        if _is_keyword_only_marker(statement):
            keyword_only = True
        elif made := _field(statement, convention, keyword_only):
            found.fields.append(made)


def _convention(
    node: ast.ClassDef, imports: Mapping[str, str], rules: SurfaceRules
) -> tuple[str | None, dict[str, str]]:
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        path = _absolute(called, imports)
        options = _options(decorator)
        if path in rules.dataclass_decorators:
            return "dataclass", options
        if path in rules.attrs_decorators:
            return "attrs", options
    if any(_absolute(base, imports) in {"typing.NamedTuple", "NamedTuple"} for base in node.bases):
        return "namedtuple", {}
    return None, {}


def _absolute(node: ast.expr, imports: Mapping[str, str]) -> str:
    first, dot, rest = ast.unparse(node).partition(".")
    return imports.get(first, first) + dot + rest


def _options(call: ast.expr) -> dict[str, str]:
    if not isinstance(call, ast.Call):
        return {}
    return {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg}


def _is_keyword_only_marker(statement: ast.stmt) -> bool:
    match statement:
        case ast.AnnAssign(annotation=annotation):
            return ast.unparse(annotation).endswith("KW_ONLY")
    return False


def _field(statement: ast.stmt, convention: str, keyword_only: bool) -> Field | None:
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
            written: str | None = ast.unparse(annotation)
            if "ClassVar" in ast.unparse(annotation):
                return None
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value) if _is_field_call(value):
            written = None
        case _:
            return None
    if written is None and convention != "attrs":
        return None
    return _made(name, written, value, keyword_only, convention)


def _is_field_call(value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call):
        return False
    return ast.unparse(value.func).rpartition(".")[2] in _FIELD_CALLS


def _made(
    name: str, annotation: str | None, value: ast.expr | None, keyword_only: bool, convention: str
) -> Field | None:
    default = ast.unparse(value) if value is not None else None
    shown = name
    if _is_field_call(value) and convention != "namedtuple":
        options = _options(value)  # type: ignore[arg-type]
        if options.get("init") == "False":
            return None
        keyword_only = options.get("kw_only", str(keyword_only)) == "True"
        default = options.get("default")
        if factory := options.get("default_factory", options.get("factory")):
            default = f"{factory}()"
        shown = options.get("alias", name).strip("'\"")
    # attrs strips the underscore of a private field for its parameter
    shown = shown.lstrip("_") if convention == "attrs" else shown
    return Field(shown, annotation, default, keyword_only)
