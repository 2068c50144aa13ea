"""Compiled modules as records: what importing them showed, in the form that reading a source file has."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.api.surface.parse.deep import TOO_DEEP
from pipeline.api.surface.parse.module_model import UNSEEN_SIGNATURE, Definition, Exports, ModuleRecord, Parameter
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
        definitions={member: _definition(member, seen, of_class=False) for member, seen in sorted(members.items())},
        exports=None if exports is None else Exports([("add", each) for each in exports], complete=True),
        docstring=_clean(description["doc"]),
    )


def _definition(name: str, seen: Description, *, of_class: bool) -> Definition:
    if "target" in seen:
        return Definition(name, "import", target=seen["target"])
    docstring = _clean(seen.get("doc"))
    if seen["kind"] == "class":
        return _class(name, seen, docstring)
    if seen["kind"] in ("function", "method"):
        called, labels = _called(name, seen)
        labels += [label for label in ("async" if "async" in seen else None, seen.get("binding")) if label]
        if called is not None and of_class and "staticmethod" not in labels:
            called = [_parameter("cls" if "classmethod" in labels else "self", ParameterKind.POSITIONAL_ONLY), *called]
        return Definition(name, "function", called=called or [], labels=sorted(labels), docstring=docstring)
    kind = "property" if seen["kind"] == "property" else "attribute"
    labels = [] if kind == "property" else ["class-attribute" if of_class else "module-attribute"]
    return Definition(name, kind, value=seen.get("value"), labels=labels, docstring=docstring)


def _class(name: str, seen: Description, docstring: str | None) -> Definition:
    """Return a class, whose parameters are those of an `__init__` that stands for whatever makes its objects."""
    members = {member: _definition(member, of, of_class=True) for member, of in seen.get("members", {}).items()}
    called, labels = _called(name, seen)
    own = [] if called is None else [_parameter("self", ParameterKind.POSITIONAL_ONLY), *called]
    members["__init__"] = Definition("__init__", "function", called=own, labels=labels)
    bases = [base.removeprefix("builtins.") for base in seen.get("bases", ())]
    return Definition(name, "class", bases=bases, labels=labels, docstring=docstring, members=members)


def _called(name: str, seen: Description) -> tuple[list[Parameter] | None, list[str]]:
    """Return the parameters without self, and the label of a signature that cannot be told."""
    if "signature" in seen:
        return [_told(*each) for each in seen["signature"]], []
    texts = (seen.get("text_signature"), *(seen.get("doc") or "").strip().splitlines()[:1])
    found = (read_signature(text, name) for text in texts if text)
    parameters = next((each for each in found if each is not None), None)
    if parameters and parameters[0]["name"] in ("self", "cls"):
        parameters = parameters[1:]
    return parameters, [UNSEEN_SIGNATURE] if parameters is None else []


def _told(name: str, kind: str, has_default: bool, default: str | None) -> Parameter:
    """Return a parameter of `inspect.signature`; a default that is no literal is there, and not known."""
    given = (default or _UNTOLD) if has_default else None
    return _parameter(name, _KINDS[kind], given)


def _parameter(
    name: str,
    kind: ParameterKind,
    default: str | None = None,
    annotation: str | None = None,
    known_from: ParameterSource = ParameterSource.SIGNATURE,
) -> Parameter:
    return {
        "name": name,
        "kind": kind,
        "default": default,
        "annotation": annotation,
        "known_from": known_from,
        "deprecation": None,
    }


def read_signature(line: str, name: str) -> list[Parameter] | None:
    """Read the first line of a docstring that starts with the signature, or a `__text_signature__`.

    Cython (`embedsignature`) writes `Class.name(self, double[:] a, int b=1, c=None) -> int`, with C types before the
    names or annotations behind them. None where the line is anything else.
    """
    found = re.match(rf"(?:[\w.]+\.)?{re.escape(name)}\(|\(", line)
    split = _split(_MARKS.sub("", line[found.end() :], count=1), ",", ")") if found else None
    if split is None or not _AFTER.fullmatch(split[1]):
        return None
    given = [_UNREPRESENTABLE.sub(f"={_UNTOLD}", part.strip()) for part in split[0] if part.strip()]
    for written in (given, [_annotated(part) for part in given]):
        try:
            function = ast.parse(f"def f({', '.join(written)}): pass").body[0]
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
    found = _NAME.fullmatch(_NOT_NONE.sub("", declared.strip()))
    if found is None or not found["type"].strip("* "):
        return part
    return "=".join([f"{found['name']}: {found['type'].strip()!r}", *default])


def _parameters(arguments: ast.arguments) -> list[Parameter]:
    fixed = [*arguments.posonlyargs, *arguments.args]
    defaults: Sequence[ast.expr | None] = [*[None] * (len(fixed) - len(arguments.defaults)), *arguments.defaults]
    kinds = [ParameterKind.POSITIONAL_ONLY] * len(arguments.posonlyargs)
    kinds += [ParameterKind.POSITIONAL_OR_KEYWORD] * len(arguments.args)
    made = [_read(*each) for each in zip(fixed, kinds, defaults, strict=True)]
    made += [_read(arguments.vararg, ParameterKind.VAR_POSITIONAL, None)] if arguments.vararg else []
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    made += [_read(argument, ParameterKind.KEYWORD_ONLY, default) for argument, default in keywords]
    made += [_read(arguments.kwarg, ParameterKind.VAR_KEYWORD, None)] if arguments.kwarg else []
    return made


def _read(argument: ast.arg, kind: ParameterKind, default: ast.expr | None) -> Parameter:
    written = None if default is None else ast.unparse(default)
    annotation = argument.annotation
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        shown: str | None = annotation.value
    else:
        shown = None if annotation is None else ast.unparse(annotation)
    return _parameter(argument.arg, kind, written, shown, ParameterSource.DOCSTRING)


def _clean(doc: str | None) -> str | None:
    return inspect.cleandoc(doc) if doc and doc.strip() else None
