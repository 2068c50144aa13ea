"""Records as bytes; what the definitions of two versions of a file have alike is unpacked once."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pyarrow as pa
from msgspec.structs import replace

from pipeline.api.surface.parse.module_model import Definition, ModuleRecord


class _Whole(msgspec.Struct, array_like=True):
    """A definition by its name: without its members, and those."""

    name: str
    own: Definition
    members: list[_Whole]


class _Packed(msgspec.Struct, array_like=True):
    """The same, as it stands in the bytes."""

    name: str
    own: msgspec.Raw
    members: list[_Packed]


_NOTHING = _Packed("", msgspec.Raw(), [])

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[ModuleRecord, list[_Packed]]).decode
_decode_own = msgspec.msgpack.Decoder(Definition).decode


def pack(record: ModuleRecord) -> bytes:
    """Return a record as bytes."""
    plain = _encode((replace(record, definitions={}), _whole(record.definitions)))
    return len(plain).to_bytes(4) + pa.compress(plain, codec="lz4_raw", asbytes=True)


def _whole(definitions: Mapping[str, Definition]) -> list[_Whole]:
    return [
        _Whole(name, replace(definition, members={}), _whole(definition.members))
        if definition.members
        else _Whole(name, definition, [])
        for name, definition in definitions.items()
    ]


class Unpacker:
    """Unpacks records, each definition that is equal in the last record of the same file as the very same object.

    So two releases are compared by identity, and nobody may change what comes out.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[list[_Packed], dict[str, Definition]]] = {}

    def unpack(self, packed: bytes) -> ModuleRecord:
        """Return the record that was packed."""
        size = int.from_bytes(packed[:4])
        record, parts = _decode(pa.decompress(packed[4:], decompressed_size=size, codec="lz4_raw", asbytes=True))
        record.definitions = _opened(parts, *self._last.get(record.file, ([], {})))
        self._last[record.file] = parts, record.definitions
        return record


def _opened(
    parts: list[_Packed], parts_before: list[_Packed], before: Mapping[str, Definition]
) -> dict[str, Definition]:
    """Return definitions by name, given those of before and what these were made from."""
    earlier = {part.name: part for part in parts_before}
    return {part.name: _definition(part, earlier.get(part.name, _NOTHING), before.get(part.name)) for part in parts}


def _definition(part: _Packed, part_before: _Packed, before: Definition | None) -> Definition:
    if before is not None and part == part_before:
        return before
    members = _opened(part.members, part_before.members, before.members if before is not None else {})
    if before is None or part.own != part_before.own:
        definition: Definition = _decode_own(part.own)
    else:
        definition = replace(before)
    definition.members = members
    return definition
