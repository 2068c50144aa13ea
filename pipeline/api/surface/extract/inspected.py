"""Compiled modules as records: what importing them showed, in the form that reading a source file has."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping
from typing import Any

from pipeline.api.surface.extract.written_signatures import declared
from pipeline.api.surface.parse.deep import TOO_DEEP
from pipeline.api.surface.parse.module_model import (
    UNSEEN_SIGNATURE,
    Definition,
    Exports,
    ModuleRecord,
    Parameter,
    parameter_row,
)
from pipeline.api.surface.parse.syntax import text_of
from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource, SourceKind

Description = Mapping[str, Any]

_UNTOLD = "..."
_KINDS = {kind.value: kind for kind in ParameterKind}
_MARKS = re.compile(r"\$(?:self|module|type|cls)\b(?:, */)?,? *")
_NOT_NONE = re.compile(r"\s+(?:not|or)\s+None$")
_UNREPRESENTABLE = re.compile(r"=\s*<[^<>]*>")
_NAME = re.compile(r"(?P<type>.*?)(?P<name>[A-Za-z_]\w*)$", re.S)
_AFTER = re.compile(r"\s*(?:->.*|:|--)?\s*", re.S)
_OPEN, _CLOSE = "([{", ")]}"


def record_of(name: str, file: str, description: Description) -> ModuleRecord:
    """Return the record of a module that was described by importing it; see `environments.inspect_store`.

    Names that it only imports are imports; a function whose signature cannot be told is marked so.
    """
    exports = description["exports"]
    members = description["members"]
    return ModuleRecord(
        name=name,
        file=file,
        is_package=file.rpartition("/")[2].startswith("__init__."),
        source=SourceKind.INSPECTED,
        definitions={
            member: _definition(member, details, of_class=False) for member, details in sorted(members.items())
        },
        exports=None if exports is None else Exports([("add", each) for each in exports], complete=True),
        docstring=_clean(description["doc"]),
    )


def _definition(name: str, description: Description, *, of_class: bool) -> Definition:
    if "target" in description:
        return Definition(name, "import", target=description["target"])
    docstring = _clean(description.get("doc"))
    if description["kind"] == "class":
        return _class(name, description, docstring)
    if description["kind"] in ("function", "method"):
        called, labels = _called(name, description)
        labels += [
            label for label in ("async" if "async" in description else None, description.get("binding")) if label
        ]
        if called is not None and of_class and "staticmethod" not in labels:
            first = "cls" if "classmethod" in labels else "self"
            called = [parameter_row(first, ParameterKind.POSITIONAL_ONLY), *called]
        return Definition(name, "function", called=called or [], labels=sorted(labels), docstring=docstring)
    kind = "property" if description["kind"] == "property" else "attribute"
    labels = [] if kind == "property" else ["class-attribute" if of_class else "module-attribute"]
    return Definition(name, kind, value=description.get("value"), labels=labels, docstring=docstring)


def _class(name: str, description: Description, docstring: str | None) -> Definition:
    """Return a class, whose parameters are those of an `__init__` that stands for whatever makes its objects."""
    members = {member: _definition(member, of, of_class=True) for member, of in description.get("members", {}).items()}
    called, labels = _called(name, description)
    own = [] if called is None else [parameter_row("self", ParameterKind.POSITIONAL_ONLY), *called]
    members["__init__"] = Definition("__init__", "function", called=own, labels=labels)
    bases = [base.removeprefix("builtins.") for base in description.get("bases", ())]
    return Definition(name, "class", bases=bases, labels=labels, docstring=docstring, members=members)


def _called(name: str, description: Description) -> tuple[list[Parameter] | None, list[str]]:
    """Return the parameters without self, and the label of a signature that cannot be told."""
    if "signature" in description:
        return [_inspected_parameter(*each) for each in description["signature"]], []
    texts = (description.get("text_signature"), *(description.get("doc") or "").strip().splitlines()[:1])
    signatures = (read_signature(text, name) for text in texts if text)
    parameters = next((each for each in signatures if each is not None), None)
    if parameters and parameters[0]["name"] in ("self", "cls"):
        parameters = parameters[1:]
    return parameters, [UNSEEN_SIGNATURE] if parameters is None else []


def _inspected_parameter(name: str, kind: str, has_default: bool, default: str | None) -> Parameter:
    """Return a parameter of `inspect.signature`; a default that is no literal is there, and not known."""
    text = (default or _UNTOLD) if has_default else None
    return parameter_row(name, _KINDS[kind], text)


def read_signature(line: str, name: str) -> list[Parameter] | None:
    """Read the first line of a docstring that starts with the signature, or a `__text_signature__`.

    Cython (`embedsignature`) writes `Class.name(self, double[:] a, int b=1, c=None) -> int`, with C types before the
    names or annotations behind them. None where the line is anything else.
    """
    match = re.match(rf"(?:[\w.]+\.)?{re.escape(name)}\(|\(", line)
    split = _split(_MARKS.sub("", line[match.end() :], count=1), ",", ")") if match else None
    if split is None or not _AFTER.fullmatch(split[1]):
        return None
    declared = [_UNREPRESENTABLE.sub(f"={_UNTOLD}", part.strip()) for part in split[0] if part.strip()]
    for written in (declared, [_annotated(part) for part in declared]):
        try:
            function = parse_python(f"def f({', '.join(written)}): pass").body[0]
        except (SyntaxError, ValueError, *TOO_DEEP):
            # a docstring may start with anything: what is no signature is none
            continue
        assert isinstance(function, ast.FunctionDef)
        return _parameters(function.args)
    return None


def _split(text: str, separator: str, end: str) -> tuple[list[str], str] | None:
    """Split at the separators that are in no bracket and no quotes, up to `end`; return parts and what follows."""
    depth, start, quote, parts = 0, 0, "", []
    for at, char in enumerate(text):
        if quote or char in "'\"":
            quote = "" if char == quote else quote or char
        elif not depth and char in (separator, end):
            parts.append(text[start:at])
            start = at + 1
            if char == end:
                return parts, text[start:]
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
    return None


def _annotated(part: str) -> str:
    """Turn `type name=default` into `name: "type" = default`."""
    split = _split(f"{part}\n", "=", "\n")
    declared, *default = split[0] if split else [part]
    match = _NAME.fullmatch(_NOT_NONE.sub("", declared.strip()))
    if match is None or not match["type"].strip("* "):
        return part
    return "=".join([f"{match['name']}: {match['type'].strip()!r}", *default])


def _parameters(arguments: ast.arguments) -> list[Parameter]:
    parameters = []
    for argument, kind, default in declared(arguments):
        written = None if default is None else ast.unparse(default)
        annotation = text_of(argument.annotation)
        if annotation is None and argument.annotation is not None:
            annotation = ast.unparse(argument.annotation)
        parameters.append(parameter_row(argument.arg, kind, written, annotation, ParameterSource.DOCSTRING))
    return parameters


def _clean(doc: str | None) -> str | None:
    return inspect.cleandoc(doc) if doc and doc.strip() else None
