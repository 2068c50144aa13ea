"""Paths, commands, options, settings and make targets that the documents name exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from pipeline.cli.commands import PANELS, load
from pipeline.core import settings
from pipeline.core.settings import PROJECT, Settings
from tests.docs.pages import PAGES, code_lines, code_spans, name_of

FOLDERS = ("pipeline", "docs", "tests", "curation_rules", "schemas", "dags", "benchmarks", "deploy", ".ci")
PATH = re.compile(r"(?P<path>[\w.…*{},/-]+?)(?::\d+|::\w+)?/?")
FILE_NAME = re.compile(r"[\w-]+\.(?:py|yaml|toml|md|lock|cfg)")
PLACEHOLDER = re.compile(r"(?<![A-Za-z.])[A-Z][A-Z_]+(?![A-Za-z.]*\.md)(?=\.|/|$)")
EXAMPLES = re.compile(r"\b(forum|mine)\b")
"""A worked example or a user adds these, so they are not there."""
OF_OTHERS = {
    *("pyproject.toml", "setup.py", "setup.cfg", "poetry.lock", "uv.lock", "environment.yml", "ATTRIBUTION.md"),
    *("report.md", "task.toml", "dataset.toml", "instruction.md"),
}
"""Files in projects of others, and files that a command writes."""
COMMAND = re.compile(r"(?<![\w/.-])(?<!-n )(?:\.venv/bin/)?driftline ([a-z]+(?:-[a-z]+)*)(.*)")
SETTING = re.compile(r"\bDRIFTLINE_[A-Z_]+[A-Z]\b(?!_)")
TARGET = re.compile(r"(?:^|[;&] *)make ((?:[a-z]+|\.venv/\w+)(?: [a-z]+)*)(?= |$)")
ARGUMENTS = {name for panel in PANELS.values() for name in panel}


def by_page(found: Iterator[tuple[str, str]]) -> list[str]:
    return sorted({f"{page}: {name}" for page, name in found})


@cache
def file_names() -> set[str]:
    top = {path.name for path in PROJECT.iterdir()}
    return top | {path.name for folder in FOLDERS for path in (PROJECT / folder).rglob("*") if path.is_file()}


def exists(path: str) -> bool:
    """Say whether something is at a path below the project; `NAME`, `…` and `*` stand for anything, `{a,b}` for each."""
    if match := re.search(r"\{([^}]*)\}", path):
        return all(exists(path[: match.start()] + part + path[match.end() :]) for part in match[1].split(","))
    pattern = PLACEHOLDER.sub("*", path.replace("…", "*")).rstrip("/")
    return any(True for _ in PROJECT.glob(pattern))


def missing_paths(page: Path) -> Iterator[tuple[str, str]]:
    for span in code_spans(page):
        match = PATH.fullmatch(span)
        if not match or EXAMPLES.search(span):
            continue
        path = match["path"]
        if path.split("/")[0] in FOLDERS and "/" in path:
            if not exists(path):
                yield name_of(page), span
        elif FILE_NAME.fullmatch(path) and path not in OF_OTHERS and path not in file_names():
            yield name_of(page), span


def test_every_path_exists() -> None:
    assert by_page(pair for page in PAGES for pair in missing_paths(page)) == []


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("pipeline/core/settings.py", True),
        ("pipeline/core/", True),
        ("schemas/TABLE.yaml", True),
        ("pipeline/families/*/stage.py", True),
        ("pipeline/{core,lake}", True),
        ("pipeline/{core,gone}", False),
        ("pipeline/gone.py", False),
        ("families/NAME/gone.py", False),
    ],
)
def test_placeholders_stand_for_anything_and_names_do_not(path: str, there: bool) -> None:
    assert exists(path) == there


@cache
def options(name: str) -> set[str]:
    """The options of a command and of the commands below it."""
    found, commands = {"--help"}, [load(name)]
    while commands:
        command = commands.pop()
        found |= {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        commands += getattr(command, "commands", {}).values()
    return found


def unknown_commands(page: Path) -> Iterator[tuple[str, str]]:
    for line in code_lines(page):
        for name, rest in COMMAND.findall(line):
            if name not in ARGUMENTS:
                yield name_of(page), f"driftline {name}"
                continue
            used = re.findall(r"(?<=\s)--[a-z][a-z-]*", re.split(r"[|;#]|&&", rest)[0])
            yield from ((name_of(page), f"driftline {name} {option}") for option in used if option not in options(name))


def test_every_command_and_option_exists() -> None:
    assert by_page(pair for page in PAGES for pair in unknown_commands(page)) == []
    assert "--bisect" in options("validate")


def test_every_setting_exists() -> None:
    known = {f"DRIFTLINE_{name.upper()}" for name in Settings.model_fields} | settings._OTHERS
    named = ((name_of(page), name) for page in PAGES for name in SETTING.findall(page.read_text("utf-8")))
    assert by_page(pair for pair in named if pair[1] not in known) == []


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"^([\w./]+):", (PROJECT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = (
        (name_of(page), target)
        for page in PAGES
        for line in code_lines(page)
        for group in TARGET.findall(line)
        for target in group.split()
    )
    assert by_page(pair for pair in named if pair[1] not in targets) == []


OWN_SNAPSHOT = re.compile(r"snapshots/[\w-]+/[\w-]+-\d{4}-\d\d-\d\d")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_to_copy_names_no_snapshot_that_a_reader_lacks(page: Path) -> None:
    copied = [line for line in code_lines(page) if not line.startswith("$ ")]
    assert [line for line in copied if OWN_SNAPSHOT.search(line) and "s3://" not in line] == []
