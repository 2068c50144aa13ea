"""Cases that fail where an answer does not come to use a required name: in dead code it uses nothing."""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import takewhile
from typing import TYPE_CHECKING

from pipeline.corpus.usages.text import parse_program
from pipeline.evaluation.scores.marking.program import CONCLUDE, RUN
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.inside.program import RUNNERS
from pipeline.families.completions_and_migrations.required_names import RequiredNames

if TYPE_CHECKING:  # verifiers of exported tasks do not have it
    from pipeline.lake.rows import SnippetCheck

Lines = tuple[int, int]
_RAISED = "Traceback (most recent call last)"


def marked(
    case: Case, reference: Case, required: RequiredNames, lines: Lines | None = None, of_reference: Lines | None = None
) -> Case:
    """Return the case of an answer, which fails if it does not come to use what the reference uses for certain.

    It is the same run: statements mark where they use a name, and a last one looks at the marks. With `lines` only
    those of the program count, and those `of_reference` of the other.
    """
    checks: Sequence[SnippetCheck] = case.checks or [_silent(case.code)]
    certain = required.certain_in(_statements(reference), of_reference)
    is_runner = not case.checks and any(name in case.code for name in RUNNERS)
    if not certain or is_runner:  # what a script calls of a test runner counts only in a script
        return case
    names = {
        "reads": required.readings(case.code),
        "attributes": sorted(required.apis),
        "parameters": sorted(required.parameters),
        "imports": sorted(required.imports),
        "lines": lines,
    }
    # Imports that stand first are loaded beforehand by the server of an environment, if they are left as they are.
    first = len(list(takewhile(lambda check: _only_imports(check, names), checks)))
    last = _silent(f"{CONCLUDE}()\n")
    running: list[SnippetCheck] = [
        {"statement": f"{RUN}({check['statement']!r})\n", "expected": check["expected"], "options": check["options"]}
        for check in checks[first:]
    ]
    return replace(case, checks=[*checks[:first], _silent(_setup(sorted(certain), names)), *running, last])


def _statements(reference: Case) -> list[str]:
    """Return the statements of a reference that come to their end."""
    if not reference.checks:
        return [reference.code]
    return [check["statement"] for check in reference.checks if _RAISED not in (check["expected"] or "")]


def _silent(statement: str) -> SnippetCheck:
    return {"statement": statement, "expected": None, "options": []}


def _setup(required: Collection[str], names: object) -> str:
    install = f"install({json.dumps(required)}, json.loads({json.dumps(names)!r}))\n"
    return f"exec({_program() + install!r}, {{'__name__': 'driftline_marking'}})\n"


@functools.cache
def _program() -> str:
    # Not by a path: a verifier of an exported task reads it out of its archive.
    return files("pipeline.evaluation.scores.marking").joinpath("program.py").read_text(encoding="utf-8")


def _only_imports(check: SnippetCheck, names: Mapping[str, object]) -> bool:
    """Say whether a statement imports names that only what reads them uses."""
    tree = parse_program(check["statement"])
    imports = tree.body if tree else [None]
    return not names["imports"] and all(
        isinstance(node, ast.Import | ast.ImportFrom) and all(alias.name != "*" for alias in node.names)
        for node in imports
    )
