"""The reference pages of the documentation, made from the code: a hook of MkDocs (`mkdocs.yml`).

A page says `<!-- generated: NAME -->` where the text of `GENERATORS[NAME]` is to stand.
Source: https://www.mkdocs.org/user-guide/configuration/#hooks
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from pipeline.cli.commands import NAME, PANELS, load
from pipeline.core.settings import Settings
from pipeline.core.vocabularies.term import vocabularies as all_vocabularies
from pipeline.lake.schema import enum_of, table, table_names

PROJECT = Path(__file__).resolve().parent.parent
RULES = PROJECT / "curation_rules"
MARK = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join(lines + [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows])


def commands() -> str:
    """Return a section for every command, with its options as `--help` shows them."""
    names = [name for panel in PANELS.values() for name in panel]
    return "\n\n".join(section for name in names for section in _sections(load(name), None, f"{NAME} {name}"))


# Typer carries a copy of Click of its own, whose classes are private: hence Any.
def _sections(command: Any, parent: Any, name: str) -> Iterator[str]:
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    if hasattr(command, "list_commands"):
        for child in command.list_commands(context):
            yield from _sections(command.get_command(context, child), context, child)
        if not command.invoke_without_command:
            return
    text = re.sub(r"\[/?[a-z]+\]|[\b\f]", "", command.help or "")
    text = re.sub(r"^Example: (.*)$", r"```sh\n\1\n```", text, flags=re.MULTILINE).strip()
    yield f"## {context.command_path}\n\n{text}"
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    yield _table(("argument or option", "meaning"), [(f"`{record[0]}`", record[1]) for record in records if record])


def settings() -> str:
    """Return the environment variables that `Settings` reads."""
    rows = []
    for name, field in Settings.model_fields.items():
        default = "" if field.default is None else f" (default: `{field.default}`)"
        if isinstance(field.default, Path):
            default = f" (default: `{field.default.name}/`)"
        elif name == "workers":
            default = " (default: the number of cores)"
        rows.append((f"`DRIFTLINE_{name.upper()}`", f"{field.description}{default}"))
    return _table(("variable", "meaning"), rows)


def tables() -> str:
    """Return a section for every table, with its columns."""
    parts = []
    for name in table_names():
        declared = table(name)
        rows = []
        for column in declared.columns:
            kind = f"[{column.type}](vocabularies.md#{column.type.lower()})" if enum_of(column.type) else column.type
            rows.append((f"`{column.name}`", kind, column.meaning + (" (nullable)" if column.nullable else "")))
        key = ", ".join(f"`{column}`" for column in declared.key)
        parts.append(f"## {name}\n\n{declared.meaning} Key: {key}.\n\n{_table(('column', 'type', 'meaning'), rows)}")
    return "\n\n".join(parts)


def vocabularies() -> str:
    """Return a section for every closed vocabulary."""
    parts = []
    for enum in all_vocabularies().values():
        rows = [(f"`{member}`", member.meaning) for member in enum]
        meaning = inspect.cleandoc(enum.__dict__.get("__doc__") or "")
        parts.append(f"## {enum.__name__}\n\n{meaning}\n\n{_table(('value', 'meaning'), rows)}")
    return "\n\n".join(parts)


def rules() -> str:
    """Return a line for every rule file: the comment with which it begins."""
    rows = []
    for file in sorted(RULES.rglob("*.yaml")):
        lines = file.read_text("utf-8").splitlines()
        comment = []
        for line in lines:
            if not line.startswith("#"):
                break
            comment.append(line.lstrip("# "))
        rows.append((f"`{file.relative_to(RULES)}`", " ".join(comment)))
    return _table(("file", "what it sets"), rows)


def errors() -> str:
    """Return a section for every room, with the codes of its errors."""
    rooms = yaml.safe_load((PROJECT / "pipeline" / "core" / "error_codes.yaml").read_text("utf-8"))
    sections = ((room, [(f"`{code}`", cause) for code, cause in codes.items()]) for room, codes in rooms.items())
    return "\n\n".join(f"## {room}\n\n{_table(('code', 'cause'), rows)}" for room, rows in sections)


def contributing() -> str:
    """Return `CONTRIBUTING.md` without its heading; its links to other files at the top become plain text."""
    text = (PROJECT / "CONTRIBUTING.md").read_text("utf-8").partition("\n")[2]
    return re.sub(r"\[([^]]+)\]\([A-Z]+\.md\)", r"`\1`", text).replace("](docs/contributing/", "](").strip()


GENERATORS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "settings": settings,
    "tables": tables,
    "vocabularies": vocabularies,
    "rules": rules,
    "errors": errors,
    "contributing": contributing,
}


def on_page_markdown(markdown: str, **_: object) -> str:
    """Fill in what the code says; MkDocs calls this for every page. Errors: KeyError for an unknown name."""
    return MARK.sub(lambda match: GENERATORS[match[1]](), markdown)
