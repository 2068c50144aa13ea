"""Constants that are nothing but themselves: defaults by which a function sees that an argument is not given."""

from __future__ import annotations

import re

from pipeline.api.surface.parse.conditional import CONDITIONAL
from pipeline.api.surface.parse.module_model import Definition, ModuleRecord
from pipeline.api.surface.resolve.dependency_keys import content_fact
from pipeline.api.surface.resolve.resolution import Resolution
from pipeline.api.surface.resolve.resolver import Distribution

_CALL = re.compile(r"((?:\w+\.)*\w+)\(\)")
_MEMBER = re.compile(r"((?:\w+\.)*\w+)\.\w+")


def is_sentinel(constant: Definition, module: ModuleRecord, distribution: Distribution) -> bool:
    """Return whether a constant is an object without content.

    It is `object()`, an instance of a class that has no public member and no base, or the one member of an enumeration
    (PEP 484, "Support for singleton types in unions").
    """
    value = constant.value or ""
    if CONDITIONAL in constant.labels:
        return False
    if value == "object()":
        return True
    if (call := _CALL.fullmatch(value)) is not None:
        class_ = _class(call[1], module, distribution)
        return class_ is not None and set(class_.bases) <= {"object"} and not any(map(_is_public, class_.members))
    if (member := _MEMBER.fullmatch(value)) is not None:
        class_ = _class(member[1], module, distribution)
        enumeration = class_ is not None and [base.rpartition(".")[2] for base in class_.bases] == ["Enum"]
        return class_ is not None and enumeration and sum(map(_is_public, class_.members)) == 1
    return False


def _class(name: str, module: ModuleRecord, distribution: Distribution) -> Definition | None:
    target: Resolution = distribution.within(module, name)
    if not target.is_class:
        return None
    distribution.trace.ask(content_fact(target))
    return target.definition


def _is_public(name: str) -> bool:
    return not name.startswith("_")
