"""Two releases of a small library as source: its surface, changes and uses come out of the real stages."""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import sys
import types
from collections.abc import Mapping
from typing import Any

from pipeline.api.history.stage import lifecycle_stage
from pipeline.core.rules.load import RULES, load
from pipeline.corpus.usages.rules import UsageRules
from pipeline.corpus.usages.stage import usage_stage
from pipeline.families.completions_and_migrations.codemods.rules import CodemodRules
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.stage import instances_stage
from pipeline.lake.ids import content_id
from pipeline.lake.rows import SnippetCheck, SnippetRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from tests.corpus.usages.rows import surfaces
from tests.families.completions_and_migrations.rows import CODEMODS, EXECUTABLE_SOURCES, TAGGING, snippet

MASKING = load(RULES / "masking.yaml", MaskingRules)
USAGE = load(RULES / "usage.yaml", UsageRules)
Files = Mapping[str, str]


def module(source: str) -> dict[str, str]:
    """A library that is one module."""
    return {"lib.py": source}


def package(**modules: str) -> dict[str, str]:
    """A library that is a package, by its modules; `init` is what the package itself binds."""
    return {f"lib/{'__init__' if name == 'init' else name}.py": source for name, source in modules.items()}


def example(
    code: str, first: str, last: str | None = None, path: str = "lib", outputs: tuple[str, ...] = ()
) -> SnippetRow:
    """An example whose imports are its preamble; `outputs` are those that it states for its last statements."""
    lines = code.splitlines(keepends=True)
    body = ast.parse(code).body
    first_use = next(n for n, node in enumerate(body) if not isinstance(node, ast.Import | ast.ImportFrom))
    at = body[first_use - 1].end_lineno or 0
    preamble, rest = "".join(lines[:at]), "".join(lines[at:])
    parser = doctest.DocTestParser()
    statements = [each.source for each in parser.get_examples("".join(_prompted(rest)))] if outputs else []
    stated: tuple[str | None, ...] = (None,) * (len(statements) - len(outputs)) + outputs
    checks: list[SnippetCheck] = [
        {"statement": s, "expected": e, "options": []} for s, e in zip(statements, stated, strict=True)
    ]
    row: SnippetRow = snippet(rest, path, first, last, preamble)
    return {**row, "checks": checks, "id": content_id("lib", first, path, preamble, rest)}


def _prompted(code: str) -> list[str]:
    return [(">>> " if not line.startswith((" ", ")")) else "... ") + line for line in code.splitlines(keepends=True)]


Tables = dict[str, list[Any]]


def stages(old: Files, new: Files, *snippets: SnippetRow, rules: CodemodRules = CODEMODS) -> tuple[Tables, Output]:
    """Run the stages over the releases 1 (empty), 2 (old) and 3 (new): what instances reads, and makes."""
    return over({"1": dict.fromkeys(old, ""), "2": old, "3": new}, *snippets, rules=rules)


def over(history: Mapping[str, Files], *snippets: SnippetRow, rules: CodemodRules = CODEMODS) -> tuple[Tables, Output]:
    """Run the stages over a history: version to files."""
    releases, surface = surfaces(history)
    tables: Any = {"releases": releases, "snippets": list(snippets), "symbols": list(surface.tables["symbols"])}
    importable_names = list(surface.tables["importable_names"])
    lives = lifecycle_stage(
        {"releases": releases, "symbols": tables["symbols"], "importable_names": importable_names}, TAGGING
    ).by_table
    tables |= {name: list(rows) for name, rows in lives.items()}
    tables["usages"] = list(
        usage_stage({"releases": releases, "snippets": tables["snippets"], "symbols": tables["symbols"]}, USAGE).tables[
            "usages"
        ]
    )
    made = instances_stage(
        tables, tagging=TAGGING, rules=MASKING, foreign={}, codemods=rules, executable_sources=EXECUTABLE_SOURCES
    )
    for name in ("migrations", "rewrites"):
        for row in made.tables[name]:
            table(name).check(row)
    return tables, made


def instances(old: Files, new: Files, *snippets: SnippetRow, rules: CodemodRules = CODEMODS) -> Output:
    """Return what the stage of instances makes."""
    return stages(old, new, *snippets, rules=rules)[1]


def rewritten(old: Files, new: Files, *snippets: SnippetRow) -> list[Any]:
    """Return the rows of `rewrites` that come out."""
    return list(instances(old, new, *snippets).tables["rewrites"])


def run(files: Files, code: str) -> dict[str, Any]:
    """Run a program with a library that is only source, and return what it binds."""
    made: dict[str, types.ModuleType] = {}
    for name in sorted(files):
        dotted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        made[dotted] = types.ModuleType(dotted)
        made[dotted].__path__ = []
    before = dict(sys.modules)
    sys.modules.update(made)
    try:
        for name in sorted(files, key=lambda name: (name.endswith("__init__.py"), name)):
            dotted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            made[dotted].__package__ = dotted
            exec(compile(files[name], name, "exec"), made[dotted].__dict__)
            parent, _, last = dotted.rpartition(".")
            if parent:
                setattr(made[parent], last, made[dotted])
        namespace: dict[str, Any] = {"__name__": "case"}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, "<case>", "exec"), namespace)
        return namespace
    finally:
        for name in set(sys.modules) - set(before):
            del sys.modules[name]
