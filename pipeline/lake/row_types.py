"""Writes `rows.py`, the types of the rows, from `schemas/`: `python -m pipeline.lake.row_types`, or `make rows`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pipeline.core.settings import PROJECT
from pipeline.lake.schema import SCHEMAS, Column, Table, enum_of, shared_columns, table, table_names

ROWS = PROJECT / "pipeline" / "lake" / "rows.py"

_SCALARS = {"string": "str", "int64": "int", "float64": "float", "bool": "bool", "timestamp": "datetime"}
_OF_RUN = frozenset({"library", "first_version", "last_version"})
"""What a row has beyond a state that holds over a run of releases."""

_START = '''"""The types of the rows of every table, made from `schemas/` by `make rows`: change those, not this file.

A term of a vocabulary is a `str` here: what was read from disk is plain text, and every `Term` is one. The rows of a
library are in `Tables` by the names of their tables: a stage gets those that it reads, and gives those that it writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict, TypeVar, overload

import pyarrow.compute as pc

AnyRow = Mapping[str, Any]
"""A row of whichever table: for what treats all tables alike."""

R = TypeVar("R", bound=AnyRow)
"""Rows of one table, whichever that is."""
'''
_PUBLISHED = "published_"
_READ = (
    "read",
    "name",
    ", library: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None",
)
_ROWS = (
    "rows",
    "config",
    ', columns: Iterable[str] | None = None, where: pc.Expression | None = None, split: str = "data"',
)
_GET = ("__getitem__", "config", "")
_READS = '''

class TypedReads:
    """What reads the tables of a library by their names."""

'''
_READ_ANY = '''
        """Return the rows of a library in a table in the order of its key, all of them or those that a filter takes.

        Rows that are read in some `columns` have no others, whatever their type says.
        """
        return self._read(name, library, where, columns)

    def _read(self, name: str, library: str, where: pc.Expression | None, columns: Sequence[str] | None) -> list[Any]:
        raise NotImplementedError


class TypedSnapshot:
    """What reads the tables of a snapshot by the names of their configurations."""

'''
_ROWS_ANY = '''
        """Return the rows of a table in the order of its key: all columns or some, all rows or those of a filter.

        Rows that are read in some `columns` have no others, whatever their type says. A value that is not in its
        vocabulary today is an error.
        """
        return self._rows(config, columns, where, split)

    def _rows(
        self, config: str, columns: Iterable[str] | None, where: pc.Expression | None, split: str
    ) -> list[Any]:
        raise NotImplementedError


class Configurations(Mapping[str, Sequence[AnyRow]]):
    """The rows of a snapshot by configuration."""

'''
_GET_ANY = '''
        """Return the rows of a configuration."""
        return self._rows_of(config)

    def _rows_of(self, config: str) -> Sequence[Any]:
        raise NotImplementedError
'''


def row_types() -> str:
    """Return the text of `rows.py`.

    Rows of a table that extends another have its type too, so that readers may take either. Columns shared by several
    tables have a type of their own. So has the state of a row that has a first and a last version.
    """
    tables = {name: table(name) for name in table_names()}
    shared = {path.stem[1:]: shared_columns(path.name) for path in sorted(SCHEMAS.glob("_*.yaml"))}
    parts = [_START]
    parts += [
        _class(_camel(name), f"What several tables have in common: `_{name}.yaml`.", columns, "", {})
        for name, columns in shared.items()
    ]
    for declared in sorted(tables.values(), key=lambda each: (each.extends is not None, each.name)):
        parts += _of_table(declared, shared)
    fields = [f"    {name}: Sequence[{row_name(name)}]" for name in tables]
    parts.append(
        "\n".join(["class Tables(TypedDict, total=False):", '    """Rows of a library by table."""', "", *fields])
    )
    configurations = {name.removeprefix(_PUBLISHED): name for name in tables if f"{_PUBLISHED}{name}" not in tables}
    of_tables = {name: row_name(name) for name in tables}
    groups: dict[str, list[str]] = {}
    for name, declared in tables.items():
        if declared.extends and not name.startswith(_PUBLISHED):
            groups.setdefault(declared.extends, [declared.extends]).append(name)
    of_groups = {'", "'.join(names): row_name(base) for base, names in sorted(groups.items())}
    of_configurations = {config: row_name(name) for config, name in sorted(configurations.items())}
    return (
        "\n\n".join(parts)
        + "\n"
        + _READS
        + _overloads(_READ, {**of_tables, **of_groups}, "list[{}]")
        + _READ_ANY
        + _overloads(_ROWS, {**of_configurations, **of_groups}, "list[{}]")
        + _ROWS_ANY
        + _overloads(_GET, of_configurations, "Sequence[{}]")
        + _GET_ANY
    )


def _overloads(method: tuple[str, str, str], rows: Mapping[str, str], result: str) -> str:
    """Return the overloads of a method by the name of what is read, and the beginning of the method itself."""
    called, name, others = method
    lines = [
        f"    @overload\n    def {called}(self, {name}: {typed}{others}) -> {result.format(row)}: ...\n"
        for typed, row in [*((f'Literal["{key}"]', row) for key, row in rows.items()), ("str", "AnyRow")]
    ]
    return "".join(lines) + f"    def {called}(self, {name}: str{others}) -> {result.format('Any')}:"


def row_name(name: str) -> str:
    """Return the name of the type of a table's rows: `PublishedChangeRow` of `published_changes`."""
    if name == "errata":
        return "ErratumRow"
    single = re.sub(r"ies$", "y", name) if name.endswith("ies") else re.sub(r"((?<=ch|ss)e)?s$", "", name)
    return f"{_camel(single)}Row"


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _of_table(declared: Table, shared: Mapping[str, Sequence[Column]]) -> Iterator[str]:
    """Yield the types of a table's structs and of its rows."""
    base = table(declared.extends) if declared.extends else None
    types = {name: columns for name, columns in declared.types.items() if base is None or name not in base.types}
    structs = {name: row_name(_owner(declared, name)).removesuffix("Row") + _camel(name) for name in declared.types}
    for name, columns in types.items():
        yield _class(structs[name], f"A struct of the table `{declared.name}`.", columns, "", structs)
    common = base.columns if base else shared[f"{declared.head}_head"] if declared.head else ()
    head = row_name(base.name) if base else _camel(f"{declared.head}_head") if declared.head else ""
    if {"first_version", "last_version"} < {column.name for column in declared.columns} and not base:
        head = row_name(declared.name).removesuffix("Row") + "State"
        common = [column for column in declared.columns if column.name not in _OF_RUN]
        meaning = f"A row of `{declared.name}` before it is known in which releases it holds."
        yield _class(head, meaning, common, "", structs)
    yield _class(row_name(declared.name), declared.meaning, declared.columns, head, structs, common)


def _owner(declared: Table, struct: str) -> str:
    """Return the table that declares a struct, which those that extend it have too."""
    while declared.extends and struct in table(declared.extends).types:
        declared = table(declared.extends)
    return declared.name


def _class(
    name: str,
    meaning: str,
    columns: Sequence[Column],
    base: str,
    structs: dict[str, str],
    common: Sequence[Column] = (),
) -> str:
    own = [column for column in columns if column.name not in {inherited.name for inherited in common}]
    lines = [f"    {column.name}: {_type(column, structs)}{_vocabulary(column)}" for column in own]
    return "\n".join([f"class {name}({base or 'TypedDict'}):", f'    """{" ".join(meaning.split())}"""', "", *lines])


def _type(column: Column, structs: dict[str, str]) -> str:
    inner = re.sub(r"^list\[(.*)\]$", r"\1", column.type)
    text = "str" if enum_of(inner) else structs.get(inner) or _SCALARS[inner]
    text = text if inner == column.type else f"Sequence[{text}]"
    return f"{text} | None" if column.nullable else text


def _vocabulary(column: Column) -> str:
    inner = re.sub(r"^list\[(.*)\]$", r"\1", column.type)
    return f"  # {inner}" if enum_of(inner) else ""


if __name__ == "__main__":
    ROWS.write_text(row_types())
