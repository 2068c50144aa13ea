"""What of a module decides where names lead: its bindings, without the states of what they are bound to.

Most changes of a file are in bodies, signatures, docstrings and members of classes; what other modules import from it
stays the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from pipeline.api.surface.parse.module_model import Definition, ModuleRecord

_encode = msgspec.msgpack.Encoder().encode


def skeleton(record: ModuleRecord) -> str:
    """Return a hash of all that resolving names looks at in a module but for what is in its classes."""
    parts: list[Any] = [*head(record), _bindings(record.definitions.values())]
    return hashlib.blake2b(_encode(parts), digest_size=16).hexdigest()


def head(record: ModuleRecord) -> list[Any]:
    """Return what resolving names looks at in a module beside its bindings."""
    return [
        [record.name, record.is_package, record.source, record.stars, record.deleted, record.parts, record.exports],
        [record.dynamic, record.binds_more, record.answers_any, record.problem],
        [record.lazy, record.virtual_modules, record.getattr_maker, record.makers],
    ]


def _bindings(definitions: Iterable[Definition]) -> list[Any]:
    return [binding(definition) for definition in definitions]


def binding(definition: Definition) -> list[Any]:
    """Return what of a definition decides where its name leads."""
    kind = definition.kind
    if kind == "import":
        manner = [definition.plain_import, definition.passed_on]
        return [definition.name, kind, definition.target, definition.runtime, manner]
    if kind == "attribute":
        # `name = other` may be a second name of something; a docstring or annotation tells that it is not
        typed = [definition.returns, definition.docstring is not None]
        return [definition.name, kind, definition.runtime, definition.value, typed]
    return [definition.name, kind, definition.runtime]


def shape(definition: Definition) -> list[Any]:
    """Return what of a class decides where the names of its members lead; nothing of anything else."""
    if definition.kind != "class":
        return []
    members = definition.members.values()
    return [definition.bases, _bindings(members), [shape(member) for member in members if member.kind == "class"]]
