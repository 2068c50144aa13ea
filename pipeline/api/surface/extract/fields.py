"""The fields of classes: slots, and those that parameters are made of in dataclasses (PEP 557), attrs, NamedTuple.

The annotated attributes of any other class are kept as fields too: whether it is a model of pydantic, say, can be
seen only from the files of its bases.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from pipeline.api.surface.parse.deep import TOO_DEEP
from pipeline.api.surface.parse.module_model import ALTERNATIVE, Definition, Field
from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.api.surface.parse.syntax import dotted, options, statements, text_of, written
from pipeline.core.syntax_trees import parse_python

_FIELD_CALLS = frozenset({"field", "Field", "ib", "attrib", "attr"})
_NO_FIELDS = frozenset({"model_config"})
_NO_FIELD_CALLS = frozenset({"PrivateAttr"})
_OF_ATTR_IB = frozenset({"attr.s", "attr.attrs", "attr.attributes"})
UNKNOWN = "..."


def read_slots(node: ast.ClassDef, definition: Definition) -> None:
    """Add the attributes that `__slots__` names and nothing else declares (data model, 3.3.2.4)."""
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=ast.Tuple(elts=names) | ast.List(elts=names)):
                for name in names:
                    if isinstance(name, ast.Constant) and isinstance(name.value, str):
                        slot = Definition(name.value, "attribute", labels=["instance-attribute"])
                        definition.members.setdefault(name.value, slot)


def read_fields(node: ast.ClassDef, definition: Definition, imports: Mapping[str, str], rules: SurfaceRules) -> None:
    """Fill in by which convention a class makes its parameters, if it does, and its own fields in order."""
    convention, arguments = _convention(node, imports, rules)
    if convention is not None and _is(arguments.get("init"), "False"):
        return
    definition.synthesised = convention
    for base in node.bases:
        if fields := named_fields(base, imports, rules):
            add_named_fields(definition, fields)
    keyword_only = _is(arguments.get("kw_only"), "True")
    for statement in _field_statements(node, convention, arguments):
        if _is_keyword_only_marker(statement):
            keyword_only = True
        elif (field := _field(statement, convention, keyword_only)) and ALTERNATIVE not in field.name:
            definition.fields.append(field)
    if convention == "attrs":
        _add_default_methods(node, definition)


def named_fields(value: ast.expr | None, imports: Mapping[str, str], rules: SurfaceRules) -> list[Field]:
    """Return the fields that `namedtuple("N", "a b")` or `NamedTuple("N", [("a", int)])` makes; none of other values.

    They are read from literals only.
    """
    if not isinstance(value, ast.Call) or _absolute(value.func, imports) not in rules.namedtuple_makers:
        return []
    arguments = options(value)
    listed = value.args[1] if len(value.args) > 1 else arguments.get("field_names", arguments.get("fields"))
    pairs = list(_named(listed))
    defaults = _defaults(arguments.get("defaults"), len(pairs))
    return [
        Field(name, annotation, default, False) for (name, annotation), default in zip(pairs, defaults, strict=True)
    ]


def add_named_fields(definition: Definition, fields: list[Field]) -> None:
    """Make a class out of fields that it has by position, as a named tuple has."""
    definition.synthesised = "namedtuple"
    definition.fields.extend(fields)
    for field in fields:
        labels = ["class-attribute", "instance-attribute"]
        definition.members.setdefault(
            field.name, Definition(field.name, "attribute", returns=field.annotation, labels=labels)
        )


def specified_fields(fields: Sequence[Field], specifiers: Collection[str]) -> list[Field]:
    """Return fields as the calls that declare them say, where their functions have one of these names (PEP 681)."""
    specified = (_specified(field, specifiers) for field in fields)
    return [field for field in specified if field is not None]


def _specified(field: Field, specifiers: Collection[str]) -> Field | None:
    if field.default is None or not any(f"{name}(" in field.default for name in specifiers):
        return field
    try:
        call = parse_python(field.default, mode="eval").body
    except (*TOO_DEEP, SyntaxError):
        return field
    if not isinstance(call, ast.Call) or _called_name(call) not in specifiers:
        return field
    arguments = options(call)
    if _is(arguments.get("init"), "False"):
        return None
    keyword_only = _is(arguments["kw_only"], "True") if "kw_only" in arguments else field.keyword_only
    name = text_of(arguments.get("alias")) or field.name
    return Field(name, field.annotation, _declared_default(call, arguments), keyword_only)


def _named(listed: ast.expr | None) -> Iterator[tuple[str, str | None]]:
    match listed:
        case ast.Constant(value=str(names)):
            yield from ((name, None) for name in names.replace(",", " ").split())
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for element in elements:
                match element:
                    case ast.Constant(value=str(name)):
                        yield name, None
                    case ast.Tuple(elts=[ast.Constant(value=str(name)), annotation]):
                        yield name, written(annotation)


def _defaults(defaults: ast.expr | None, count: int) -> list[str | None]:
    """Return the default of each field: those that are given belong to the last fields."""
    match defaults:
        case None:
            return [None] * count
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            texts: list[str | None] = [written(element) for element in elements]
        case ast.BinOp(
            left=ast.Tuple(elts=elements) | ast.List(elts=elements), op=ast.Mult(), right=ast.Constant(value=int(times))
        ):
            # fields are few, and a stranger may write any number
            texts = [*map(written, elements)] * min(times, count)
        case _:
            texts = [UNKNOWN] * count
    last = texts[-count:] if count else []
    return [None] * (count - len(last)) + last


def _convention(
    node: ast.ClassDef, imports: Mapping[str, str], rules: SurfaceRules
) -> tuple[str | None, dict[str, ast.expr]]:
    for decorator in node.decorator_list:
        path = _absolute(decorator.func if isinstance(decorator, ast.Call) else decorator, imports)
        if path in rules.dataclass_decorators:
            return "dataclass", options(decorator)
        if path in rules.attrs_decorators:
            arguments = options(decorator)
            auto = ast.Constant(value=path not in _OF_ATTR_IB)
            return "attrs", {"auto_attribs": auto} | arguments
    bases = [_absolute(base, imports) for base in node.bases]
    if "NamedTuple" in bases or not rules.namedtuple_makers.isdisjoint(bases):
        return "namedtuple", {}
    return None, {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}


def _absolute(node: ast.expr, imports: Mapping[str, str]) -> str:
    first, dot, rest = (dotted(node) or "").partition(".")
    return imports.get(first, first) + dot + rest


def _is(value: ast.expr | None, text: str) -> bool:
    return value is not None and written(value) == text


def _field_statements(node: ast.ClassDef, convention: str | None, arguments: dict[str, ast.expr]) -> list[ast.stmt]:
    """Return the statements that may declare fields; with attrs a bare annotation declares one only on demand."""
    body: list[ast.stmt] = [s for s in statements(node.body) if isinstance(s, ast.AnnAssign | ast.Assign)]
    if convention != "attrs":
        return body
    called = [s for s in body if _is_field_call(getattr(s, "value", None))]
    bare = any(isinstance(s, ast.Assign) for s in called)
    return body if _is(arguments["auto_attribs"], "True") and not bare else called


def _is_keyword_only_marker(statement: ast.stmt) -> bool:
    match statement:
        case ast.AnnAssign(annotation=annotation):
            return written(annotation).endswith("KW_ONLY")
    return False


def _field(statement: ast.stmt, convention: str | None, keyword_only: bool) -> Field | None:
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
            text = written(annotation)
            if "ClassVar" in text or (convention is None and not _is_model_field(name, value)):
                return None
            inside = _annotated_call(annotation) if convention is None and not _is_field_call(value) else None
            return _model_field(name, text, value, keyword_only, convention, inside)
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value) if convention == "attrs":
            return _model_field(name, None, value, keyword_only, convention, None) if _is_field_call(value) else None
    return None


def _is_model_field(name: str, value: ast.expr | None) -> bool:
    private = name.startswith("_") and name != "__root__"
    return not private and name not in _NO_FIELDS and _called_name(value) not in _NO_FIELD_CALLS


def _called_name(value: ast.expr | None) -> str | None:
    return (dotted(value.func) or "").rpartition(".")[2] if isinstance(value, ast.Call) else None


def _is_field_call(value: ast.expr | None) -> bool:
    return _called_name(value) in _FIELD_CALLS


def _annotated_call(annotation: ast.expr) -> ast.expr | None:
    """Return the `Field(…)` of `Annotated[int, Field(…)]` (PEP 593)."""
    match annotation:
        case ast.Subscript(slice=ast.Tuple(elts=[_, *details])):
            return next((detail for detail in details if _is_field_call(detail)), None)
    return None


def _model_field(
    name: str,
    annotation: str | None,
    value: ast.expr | None,
    keyword_only: bool,
    convention: str | None,
    inside: ast.expr | None,
) -> Field | None:
    call = inside if inside is not None else value
    # attrs strips the underscore of a private field for its parameter
    public_name = name.lstrip("_") if convention == "attrs" else name
    default = written(value) if value is not None else None
    if not _is_field_call(call) or convention == "namedtuple":
        default = None if default == UNKNOWN and convention is None else default
        return Field(public_name, annotation, default, keyword_only)
    assert isinstance(call, ast.Call)
    arguments = options(call)
    if _is(arguments.get("init"), "False"):
        return None
    if "kw_only" in arguments:
        keyword_only = _is(arguments["kw_only"], "True")
    if inside is None or value is None:
        default = _declared_default(call, arguments)
    alias = next((text for key in ("validation_alias", "alias") if (text := text_of(arguments.get(key)))), public_name)
    return Field(alias, annotation, default, keyword_only)


def _declared_default(call: ast.Call, arguments: dict[str, ast.expr]) -> str | None:
    default = arguments.get("default")
    if default is None and call.args:
        default = call.args[0]
    if default is not None:
        # pydantic's way to say that a field must be given
        return None if _is(default, "...") else written(default)
    factory = arguments.get("default_factory", arguments.get("factory"))
    match factory:
        case None:
            return None
        case ast.Lambda(body=body):
            return written(body)
    return f"{written(factory)}()"


def _add_default_methods(node: ast.ClassDef, definition: Definition) -> None:
    """Note which fields have a default that a method makes: `@x.default` in attrs."""
    methods = (s for s in node.body if isinstance(s, ast.FunctionDef))
    decorators = {dotted(decorator) for method in methods for decorator in method.decorator_list}
    for field in definition.fields:
        if {f"{field.name}.default", f"_{field.name}.default"} & decorators:
            field.default = UNKNOWN
