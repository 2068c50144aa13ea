"""The examples in installed libraries' own docstrings: what is found without running, against what really ran."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from pipeline.api.surface.reader import Surface
from pipeline.api.surface.stage import surface_stage
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.samples import UsageForm
from pipeline.corpus.python_files import PythonFileRules
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.corpus.snippets.stage import snippets_stage
from pipeline.corpus.usages.rules import UsageRules
from pipeline.corpus.usages.stage import usage_stage
from pipeline.corpus.usages.text import source_of
from tests.api.surface.trees import surface
from tests.corpus.usages.rows import release


def installed(name: str) -> Surface:
    spec = importlib.util.find_spec(name)
    assert spec
    assert spec.origin
    folder = Path(spec.origin).parent
    files = {f"{name}/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*.py")}
    return surface(files)


def ran(source: str, name: str) -> tuple[set[str], set[str]]:
    """Run a program and return the last names of the functions it called itself, and of the generators that ran.

    The body of a generator runs when somebody iterates, so that its caller is not the one who called the function.
    """
    called: set[str] = set()
    generated: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        caller = frame.f_back
        by_program = caller is not None and caller.f_code.co_filename == "<example>"
        if event == "call" and (by_program or frame.f_code.co_flags & inspect.CO_GENERATOR):
            module = str(frame.f_globals.get("__name__", ""))
            path = frame.f_code.co_qualname.removesuffix(".__init__").removesuffix(".__new__")
            if module.partition(".")[0] == name and "<" not in path:
                (called if by_program else generated).add(path.rpartition(".")[2])

    code = compile(source, "<example>", "exec")
    with contextlib.redirect_stdout(io.StringIO()):
        sys.setprofile(note)
        try:
            exec(code, {"__name__": "__main__"})
        finally:
            sys.setprofile(None)
    return called, generated


def examples(name: str) -> Iterator[tuple[str, str, list[Any], set[str]]]:
    """Yield each example that states no exception, with its uses and the names that are public."""
    rows = [release("1", None, (name,))]
    read = surface_stage({"releases": rows}, lambda _: installed(name)).tables
    symbols = read["symbols"]
    files = load(RULES / "python_files.yaml", PythonFileRules)
    output = snippets_stage(
        {"releases": rows, "documents": read["documents"], "symbols": symbols, "code_samples": []},
        load(RULES / "snippets.yaml", SnippetRules),
        files,
        (),
        load(RULES / "usage.yaml", UsageRules),
    )
    snippets = output.tables["snippets"]
    usages = usage_stage(
        {"releases": rows, "snippets": snippets, "symbols": symbols}, load(RULES / "usage.yaml", UsageRules)
    ).tables["usages"]
    public = {row["path"].rpartition(".")[2] for row in symbols}
    for snippet in snippets:
        if snippet["checks"] and "Traceback" not in "".join(c["expected"] or "" for c in snippet["checks"]):
            own = [usage for usage in usages if usage["snippet_id"] == snippet["id"]]
            yield str(snippet["path"]), source_of(snippet), own, public


@pytest.mark.parametrize(("name", "at_least"), [("packaging", 20), ("markupsafe", 3)])
def test_scanned_calls_are_the_executed_calls(name: str, at_least: int) -> None:
    compared = 0
    for path, source, usages, public in examples(name):
        called, generated = ran(source, name)
        result = {usage["path"].rpartition(".")[2] for usage in usages if usage["form"] == UsageForm.CALL}
        named = {usage["path"].rpartition(".")[2] for usage in usages}
        special = {last for last in called if last.startswith("_")}
        assert result <= called | generated, f"{path}: found calls that were not made\n{source}"
        assert (called & public) - special <= named, f"{path}: calls were made that were not found\n{source}"
        compared += bool(result)
    assert compared >= at_least
