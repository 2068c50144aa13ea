"""JSON schemas of answers: what a curator wrote against what our model of the answer reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

# What the API takes of JSON schema and we use; limits such as maxLength it does not take.
_KEYWORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}
_UNIONS = ("anyOf", "oneOf")


def difference(sent: Schema, read: Schema) -> str | None:
    """Say where the schema that is sent has another structure than the one by which answers are read; None if nowhere.

    The structure is names, types, what is required, and closed sets; `read` is pydantic's, whose words and limits do
    not count. Of what is sent, keywords that the API does not take are told too.
    """
    return _foreign(sent, "answer") or _difference(sent, _plain(read, read.get("$defs", {})), "answer")


def _foreign(schema: Any, at: str) -> str | None:
    """Say which part of a schema is none that the API takes."""
    if not isinstance(schema, Mapping):
        return f"{at}: a schema is a mapping, and this is {schema!r}"
    if unknown := sorted(set(schema) - _KEYWORDS):
        return f"{at}: {', '.join(unknown)}: not taken by the API; say it in the description"
    parts = {f"{at}.{name}": part for name, part in (schema.get("properties") or {}).items()}
    parts |= {f"{at}[]": schema["items"]} if "items" in schema else {}
    parts |= {f"{at}|{number}": part for number, part in enumerate(schema.get("anyOf", ()))}
    return next((found for name, part in parts.items() if (found := _foreign(part, name))), None)


def _plain(schema: Schema, definitions: Mapping[str, Schema]) -> dict[str, Any]:
    """Return the structure of pydantic's schema, with its references followed, in the keywords that are sent."""
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "const" in schema or "enum" in schema:
        return {"enum": [schema["const"]] if "const" in schema else schema["enum"]}
    for union in _UNIONS:
        if union in schema:
            return {"anyOf": [_plain(part, definitions) for part in schema[union]]}
    plain: dict[str, Any] = {"type": schema.get("type")}
    if "items" in schema:
        plain["items"] = _plain(schema["items"], definitions)
    if schema.get("type") == "object":
        plain["properties"] = {name: _plain(part, definitions) for name, part in schema.get("properties", {}).items()}
        plain["required"] = schema.get("required", [])
        plain["additionalProperties"] = schema.get("additionalProperties", True)
    return plain


def _difference(sent: Schema, read: Schema, at: str) -> str | None:
    for keyword in ("type", "enum", "required", "additionalProperties"):
        said, meant = _unordered(sent.get(keyword)), _unordered(read.get(keyword))
        if said != meant:
            return f"{at}: {keyword} is {said!r}, and answers are read with {meant!r}"
    told_names, names = (sorted(schema.get("properties") or ()) for schema in (sent, read))
    if told_names != names:
        return f"{at}: the properties are {', '.join(told_names)}, and answers are read with {', '.join(names)}"
    if ("items" in sent) != ("items" in read) or len(sent.get("anyOf", ())) != len(read.get("anyOf", ())):
        return f"{at}: its items or alternatives are not those that answers are read with"
    pairs = [(sent["properties"][name], read["properties"][name], f"{at}.{name}") for name in names]
    pairs += [(sent["items"], read["items"], f"{at}[]")] if "items" in sent else []
    unions = zip(sent.get("anyOf", ()), read.get("anyOf", ()), strict=True)
    pairs += [(told, wanted, f"{at}|{number}") for number, (told, wanted) in enumerate(unions)]
    return next((found for told, wanted, where in pairs if (found := _difference(told, wanted, where))), None)


def _unordered(value: Any) -> Any:
    return sorted(value, key=str) if isinstance(value, list) else value
