"""The registry of commands: each is imported when it is called, and the help of all imports none."""

from __future__ import annotations

import inspect
import re
import shutil
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

NAME = "driftline"

PANELS: Mapping[str, Mapping[str, str]] = {
    "Make snapshots": {
        "refresh": "refresh:refresh",
        "status": "status:show_status",
        "rerun": "status:rerun",
        "publish": "publish:publish",
        "review": "review:review",
        "drafts": "refresh:drafts",
        "libraries": "libraries:libraries",
        "survive": "survive:survive_snapshots",
    },
    "Use snapshots": {
        "evaluate": "scoring.evaluate:evaluate_model",
        "prompts": "scoring.prompts:write_prompts",
        "score": "scoring.score:score",
        "compare-scores": "scoring.compare_scores:compare_scores",
        "export": "export:export",
        "report": "report:write_report",
        "sql": "sql:sql",
        "compare": "compare:compare",
        "verify": "verify:verify",
        "upload": "upload:upload",
    },
    "Ask about a library": {
        "diff": "diff:diff",
        "history": "history:history",
        "evolution": "evolution:evolution",
    },
    "Run code in pinned environments": {
        "validate": "validate:validate",
        "env": "env:environments",
    },
    "Look after this machine": {
        "doctor": "machine:doctor",
        "clean": "machine:clean_up",
        "migrate": "machine:migrate",
        "airflow": "airflow:local_airflow",
    },
}
"""Module and function of each command, by panel of the help.

A module with an `app` is a group of commands, whose help is that of the function, its callback.
"""

_PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names}
_COMMAND = re.compile(rf"(?<![\w./-]){NAME} (?=(?:{'|'.join(_PANEL_OF)})\b)")


def program() -> str:
    """Return the command that starts this program: its name if it is on the PATH, else its relative path."""
    typed = Path(sys.argv[0])
    executable = shutil.which(NAME)
    if typed.name != NAME or typed.parent == Path() or (executable and typed.exists() and typed.samefile(executable)):
        return NAME
    here, path = Path.cwd(), typed.absolute()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def as_typed(message: str) -> str:
    """Return a message in which commands, such as `driftline doctor`, can be copied to this shell."""
    return _COMMAND.sub(lambda _: f"{program()} ", message)


class Commands(TyperGroup):
    """The commands of `PANELS`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order of the help."""
        return list(_PANEL_OF)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command for the help, which cannot be called."""
        if cmd_name not in _PANEL_OF:
            return None
        return TyperCommand(cmd_name, help=_docstring(cmd_name), rich_help_panel=_PANEL_OF[cmd_name])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that the first argument names, imported now."""
        self.commands = dict.fromkeys(_PANEL_OF, self)  # candidates for a misspelt name
        name, _, rest = super().resolve_command(ctx, args)
        return name, load(name) if name else None, rest


def load(name: str) -> Any:
    """Import a command, or a group of commands."""
    module_name, function = _place(name)
    module = import_module(f"pipeline.cli.{module_name}")
    whole = typer.Typer(rich_markup_mode="rich", add_completion=False)
    if group := getattr(module, "app", None):
        whole.add_typer(group, name=name)
    else:
        whole.command(name)(getattr(module, function))
    built: Any = get_command(whole)
    command = built.commands[name] if group else built
    _finish(command)
    return command


def _finish(command: Any) -> None:
    """Adapt the help of a command and its subcommands: commands for this shell, and choices in the text."""
    command.help = as_typed(command.help or "")
    for parameter in command.params:
        parameter.help = as_typed(parameter.help or "")
        choices = parameter.type_descriptor.choices
        if choices and parameter.metavar is None:
            # The column of types would break long words in the middle.
            parameter.metavar = parameter.opts[0].lstrip("-").upper()
            parameter.help += f" One of: {', '.join(map(str, choices))}."
    for child in getattr(command, "commands", {}).values():
        _finish(child)


def _docstring(name: str) -> str:
    """Read the docstring of a command without importing its module."""
    module, function = _place(name)
    text = Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    match = re.search(rf'^def {function}\(.*?^    """(.*?)"""', text, re.MULTILINE | re.DOTALL)
    return inspect.cleandoc(match[1]) if match else ""


def _place(name: str) -> tuple[str, str]:
    module, _, function = PANELS[_PANEL_OF[name]][name].partition(":")
    return module, function
