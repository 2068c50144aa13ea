"""Every command explains itself, is documented, and ends bad input with a status and a sentence."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.cli.commands import PANELS, Commands, as_typed, load
from pipeline.core.build import build_version
from pipeline.core.rules.load import RULES
from pipeline.core.settings import PROJECT
from pipeline.core.vocabularies.annotation import QueueStatus
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from tests.cli.command import Driftline
from tests.index_server import Index

DRIFTLINE = Path(sys.executable).parent / "driftline"


def commands() -> Iterator[tuple[str, ...]]:
    """The words of every command, of those in groups too."""

    def below(command: object, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        children = getattr(command, "commands", None)
        if children is None or getattr(command, "invoke_without_command", False):
            yield words
        for name, child in (children or {}).items():
            yield from below(child, (*words, name))

    for names in PANELS.values():
        for name in names:
            yield from below(load(name), (name,))


COMMANDS = [pytest.param(words, id=" ".join(words)) for words in commands()]


def test_the_promised_commands_are_there() -> None:
    assert {" ".join(words) for words in commands()} >= {"refresh", "diff", "history", "verify", "doctor"}


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_has_help_with_an_example(
    driftline: Driftline, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    result = driftline(*words, "--help")
    assert result.status == 0
    assert f"Example: driftline {' '.join(words)}" in result.out


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_is_documented(words: tuple[str, ...]) -> None:
    pages = "".join(page.read_text("utf-8") for page in sorted((PROJECT / "docs").rglob("*.md")))
    assert re.search(rf"\bdriftline {' '.join(words)}\b", pages)


def test_the_version(driftline: Driftline) -> None:
    result = driftline("--version")
    assert (result.status, result.out) == (0, f"driftline {build_version()}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["diff", "flask"],
        ["diff", "flask", "1", "2", "3"],
        ["history", "flask"],
        ["verify"],
        ["refresh", "--sinse", "2020-01-01"],
        ["airflow", "up", "--port", "many"],
    ],
    ids=" ".join,
)
def test_bad_usage_ends_with_2(driftline: Driftline, arguments: list[str]) -> None:
    result = driftline(*arguments)
    assert result.status == 2
    assert "Usage: " in result.err
    assert "--help' for help" in result.err


@pytest.mark.parametrize(
    ("name", "value"),
    [("DRIFTLINE_WORKERS", "0"), ("DRIFTLINE_WORKERS", "two"), ("DRIFTLINE_TIMEOUT_S", "-1")],
)
def test_a_setting_that_cannot_be_used_is_named(
    driftline: Driftline, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    result = driftline("verify", "starter")
    assert result.status == 2
    assert f"error: {name}: Input should be" in result.err


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rule files of one's own."""
    folder = Path(shutil.copytree(RULES, tmp_path / "my rules"))
    monkeypatch.setenv("DRIFTLINE_RULES", str(folder))
    return folder


RULE_FILES = sorted(str(path.relative_to(RULES)) for path in RULES.rglob("*.yaml"))


READ_BY = {
    "libraries.yaml": ("libraries", "choose", "--check"),
    "retention.yaml": ("clean", "--dry-run"),
    "alerts.yaml": ("airflow", "alert"),
    "survival.yaml": ("survive", "starter"),
    "profiles/popular.yaml": ("refresh", "--profile", "popular", "--libraries", "demo"),
}
"""Commands that read a rule file which the refresh of the starter profile does not."""


def command_that_reads(file: str) -> tuple[str, ...]:
    """The command that has to find a mistake in a rule file: a refresh, but for what comes after publishing."""
    if file in READ_BY:
        return READ_BY[file]
    if file.startswith("prompts/"):
        return "prompts", "--list"
    return ("score", "starter", "answers.jsonl") if file == "scores.yaml" else ("refresh", "--libraries", "demo")


@pytest.mark.parametrize("file", RULE_FILES)
def test_a_typo_in_any_rule_file_stops_a_command_before_it_begins(
    driftline: Driftline, rules: Path, data: Path, file: str
) -> None:
    with (rules / file).open("a") as opened:
        opened.write("\nlibrareis: 1\n")
    line = len((rules / file).read_text().splitlines())
    result = driftline(*command_that_reads(file))
    assert result.status == 2
    assert f"{Path(file).name}:{line}: librareis: unknown key" in result.err
    assert not data.exists()


def test_an_example_of_a_rule_that_does_not_hold_stops_a_refresh_before_it_begins(
    driftline: Driftline, rules: Path, data: Path
) -> None:
    file = rules / "stack_overflow.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"I am using pandas 1.3", gives: "1.3"', '"I am using pandas 1.3", gives: "1.4"'))
    result = driftline("refresh", "--libraries", "demo")
    assert result.status == 2
    assert "'I am using pandas 1.3' gives '1.3', not '1.4'" in result.err
    assert not data.exists()


def test_rules_of_ones_own_make_profiles_of_ones_own(driftline: Driftline, rules: Path, data: Path) -> None:
    (rules / "profiles" / "mine.yaml").write_text("name: mine\nlibraries: [a]\n")
    result = driftline("refresh", "--profile", "nonesuch")
    assert result.status == 2
    assert "no profile 'nonesuch'" in result.err
    assert "there are mine, popular, starter" in result.err


def environment(index_url: str, data: Path) -> dict[str, str]:
    return os.environ | {"DRIFTLINE_INDEX_URL": index_url, "DRIFTLINE_DATA": str(data), "DRIFTLINE_WORKERS": "1"}


def test_interrupted_it_says_how_to_go_on(index: Index, tmp_path: Path) -> None:
    index.delays["/pypi/slow/json"] = 5
    process = subprocess.Popen(
        [DRIFTLINE, "history", "slow", "slow.api"],
        env=environment(index.simple, tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A job in the background of a shell, as these tests may be, inherits that SIGINT is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 100
    while not index.requests and time.monotonic() < deadline:
        time.sleep(0.05)
    index.delays.clear()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (130, "")
    assert "run the same command again to go on" in err
    assert "Traceback" not in err


def test_a_terminal_that_knows_ascii_only(at_demo: Index, tmp_path: Path) -> None:
    done = subprocess.run(
        [DRIFTLINE, "history", "demo", "demo.größe"],
        env=environment(at_demo.simple, tmp_path) | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "demo.gr\\xf6\\xdfe: no final release" in done.stdout
    assert "Traceback" not in done.stderr


def test_airflow_that_does_not_run(driftline: Driftline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_AIRFLOW_HOME", str(tmp_path / "airflow"))
    status, down = driftline("airflow", "status"), driftline("airflow", "down")
    assert (status.status, status.out) == (1, "No Airflow runs here.\n")
    assert (down.status, down.out) == (0, "There was no Airflow to end.\n")
    assert driftline("airflow", "refresh", "--since", "soon").status == 2
    assert not (tmp_path / "airflow").exists()


# `evaluate` asks a model each time it is called, so that it needs the client of models at its start.
EVERY_COMMAND = (
    "from pipeline.cli.commands import PANELS, load;"
    " [load(name) for names in PANELS.values() for name in names if name != 'evaluate']"
)


@pytest.mark.parametrize("start", [EVERY_COMMAND, "import pipeline.orchestration.resources"])
def test_the_start_imports_nothing_that_only_some_work_needs(start: str) -> None:
    """Every command and every task of Airflow starts: what is slow to import must not cost each of them its time."""
    slow = {"py7zr", "libcst", "pyarrow.dataset", "pandas", "anthropic", "fastapi", "matplotlib"}
    assert not slow & imported_by(start)


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_no_command(option: str) -> None:
    """Who asks what there is must not wait for what a command needs: Typer and a page of text, nothing else."""
    ended = f"import sys; sys.argv[1:] = ['{option}']\nfrom pipeline.cli.main import main\ntry: main()\nexcept SystemExit: pass"
    commands = {f"pipeline.cli.{place.partition(':')[0]}" for names in PANELS.values() for place in names.values()}
    assert not {"pipeline.core.settings", "pipeline.lake", *commands} & imported_by(ended)
    assert not {"pydantic", "requests", "duckdb", "pyarrow", "griffe"} & imported_by(ended)


def imported_by(code: str) -> set[str]:
    """The modules that are imported when some code has run."""
    script = f"{code}\nimport sys; print('modules:', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=PROJECT)
    return set(done.stdout.rpartition("modules:")[2].split())


def test_the_list_of_commands_says_of_each_what_its_own_help_says(driftline: Driftline) -> None:
    listed = Commands(name="driftline")
    for name in listed.list_commands(None):
        assert listed.get_command(None, name).help == inspect.getdoc(load(name).callback), name
    text = driftline("--help").out
    assert all(panel in text for panel in PANELS)


def test_a_command_that_is_misspelt(driftline: Driftline) -> None:
    result = driftline("hisotry")
    assert result.status == 2
    assert "Did you mean 'history'?" in result.err


@pytest.mark.parametrize(
    ("typed", "on_path", "expected"),
    [
        (".venv/bin/driftline", False, ".venv/bin/driftline"),
        ("{folder}/.venv/bin/driftline", False, ".venv/bin/driftline"),
        ("{folder}/.venv/bin/driftline", True, "driftline"),
        ("/elsewhere/bin/driftline", False, "/elsewhere/bin/driftline"),
        ("airflow", False, "driftline"),
    ],
)
def test_messages_name_the_program_as_its_user_types_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, on_path: bool, expected: str
) -> None:
    script = tmp_path / ".venv" / "bin" / "driftline"
    script.parent.mkdir(parents=True)
    script.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(script.parent) if on_path else "/nowhere")
    monkeypatch.setattr("sys.argv", [typed.format(folder=tmp_path)])
    told = as_typed(
        "run `driftline env list`, or driftline refresh --profile a; another driftline made /a/driftline diff"
    )
    assert (
        told
        == f"run `{expected} env list`, or {expected} refresh --profile a; another driftline made /a/driftline diff"
    )


def test_choices_in_help_are_never_broken_in_the_middle(driftline: Driftline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = set(re.split(r"[^a-z_]+", driftline("review", "export", "--help").out))
    assert {*FlagKind, *Family, *QueueStatus} <= words
