"""Rule files: YAML in `curation_rules/`, read into frozen, strict models; an error names file and line."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from pipeline.core.errors import CodedError, FatalError
from pipeline.core.settings import PROJECT
from pipeline.core.spelling import did_you_mean

RULES = PROJECT / "curation_rules"

Location = tuple[str | int, ...]


class Rule(BaseModel):
    """Base of every rule model: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class RuleError(FatalError, ValueError):
    """A rule file cannot be used; the message lists file, line, what is wrong and what to do."""


Model = TypeVar("Model", bound=BaseModel)


def load(path: Path, model: type[Model]) -> Model:
    """Read a rule file into its model.

    Errors: RuleError with every problem of the file, each with its line.
    """
    if not path.is_file():
        raise RuleError(f"{path.name}: no such rule file in {path.parent}", code="rule_file_missing")
    try:
        node, data = _read(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise RuleError(
            f"{path.name}: not UTF-8: {error.reason} at byte {error.start}; save it as UTF-8", code="rule_file_not_utf8"
        ) from None
    except yaml.YAMLError as error:
        raise RuleError(f"{path.name}{_not_yaml(error)}", code="rule_file_not_yaml") from None
    try:
        return model.model_validate(data if data is not None else {})
    except ValidationError as error:
        lines = [
            f"{path.name}:{_line(node, e['loc'])}: {'.'.join(map(str, e['loc'])) or 'file'}: {_explain(e, model)}"
            for e in error.errors()
        ]
        misspelt = any(e["type"] == "extra_forbidden" for e in error.errors())
        raise RuleError(
            "\n".join(lines), code="rule_unknown_key" if misspelt else _code_of_cause(error) or "rule_invalid"
        ) from None


@lru_cache(maxsize=256)
def _read(text: str) -> tuple[yaml.Node | None, object]:
    """Return what YAML says, with its nodes, which know their lines; models copy what they take of it.

    A refresh asks for every rule file many times, and reading YAML takes longer than most stages of a small library.
    """
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        return node, loader.construct_document(node) if node is not None else None
    finally:
        loader.dispose()


class _Loader(yaml.CSafeLoader):
    """SafeLoader that refuses the same key twice, which YAML would resolve silently to the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        keys: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in keys:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} twice", key_node.start_mark)
            keys.add(key)
        return super().construct_mapping(node, deep)


def _not_yaml(error: yaml.YAMLError) -> str:
    """Return line, column and words of a mistake, as one line that begins with where it is."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        return f": not YAML: {' '.join(str(error).split())}"
    begins = getattr(error, "context_mark", None)
    where = (
        f", {getattr(error, 'context', '')} of line {begins.line + 1}" if begins and begins.line != mark.line else ""
    )
    return f":{mark.line + 1}:{mark.column + 1}: not YAML: {getattr(error, 'problem', None) or 'unreadable'}{where}"


def _code_of_cause(invalid: ValidationError) -> str | None:
    causes = (error.get("ctx", {}).get("error") for error in invalid.errors())
    return next((cause.code for cause in causes if isinstance(cause, CodedError)), None)


def _explain(error: ErrorDetails, model: type[BaseModel]) -> str:
    if error["type"] != "extra_forbidden":
        return error["msg"]
    *way, key = error["loc"]
    return f"unknown key{did_you_mean(str(key), _keys(model, way))}: correct its spelling, or remove it"


def _keys(model: type[BaseModel], way: Sequence[str | int]) -> list[str]:
    """Return the keys of the models that a location leads to; an index or the key of a mapping leads no deeper."""
    owners = [model]
    for step in way:
        fields = [owner.model_fields[str(step)] for owner in owners if step in owner.model_fields]
        owners = [inner for field in fields for inner in _models_in(field.annotation)] or owners
    return [name for owner in owners for name in owner.model_fields]


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and not get_args(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


def _line(node: yaml.Node | None, location: Location) -> int:
    """Return the line, from 1, of the deepest node on the way to a location."""
    line = 1
    for step in location:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(step):
                    line, node = key.start_mark.line + 1, value
                    break
            else:
                return line
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            return line
    return line
