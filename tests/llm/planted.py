"""Every kind of draft, asked about crawled text in which an instruction is planted wherever a stranger writes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pipeline.core.vocabularies.drafts import DraftKind
from pipeline.core.vocabularies.functions import TestKind
from pipeline.core.vocabularies.samples import Drafter, DraftField, Improves
from pipeline.corpus.usages.api import Api
from pipeline.families.functions.llm_function import ModelFunctions
from pipeline.families.functions.llm_tests import ModelTests
from pipeline.families.functions.writers import Example, Untested
from pipeline.families.model_migrations.llm_code import ModelMigrations, Unmigrated
from pipeline.families.problems.llm_problem import ModelProblems
from pipeline.families.problems.llm_reading import Reader
from pipeline.families.rename_judgements.llm_judge import ModelJudge
from pipeline.families.repository_tasks.llm_requirement import ModelRequirements
from pipeline.families.repository_tasks.llm_specifications import Undocumented
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.judging import RunJudge
from pipeline.llm.tasks.description import DescriptionWriter
from pipeline.llm.tasks.rounds import Subject
from pipeline.llm.writers import OfflineWriter, Request
from pipeline.quality.all_rules import CurationRules
from tests.families.problems.changed_world import unwritten
from tests.families.problems.examples import example

RULES = CurationRules.read()
DRAFTS, DRAFTING, VALIDATION = RULES.drafts, RULES.drafting, RULES.validation
HIDDEN = "partition_all"
CODE = "from lib import partition_all\npartition_all(2, [1, 2, 3])"

Ask = Callable[[ModelDrafter, str], Sequence[Any]]
"""Asks a model for a draft with a text planted everywhere, and returns what was accepted: nothing, or a draft."""


class Nowhere:
    """Where nothing may run: what gets so far has got past the form, the names and the reading of code."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"it came to running: {name}")


NOWHERE: Any = Nowhere()
JUDGE = RunJudge(NOWHERE, VALIDATION, 0.9, ())


def comment(text: str) -> str:
    """A text as a comment of Python, whatever lines it has."""
    return "".join(f"# {line}\n" for line in text.splitlines() or [""])


def describe(field: DraftField) -> Ask:
    def ask(drafter: ModelDrafter, text: str) -> Sequence[Any]:
        rules = DRAFTS.description if field is DraftField.DESCRIPTION else DRAFTS.instruction
        every = rules.model_copy(update={"improves": frozenset(Improves)})
        writer = DescriptionWriter(OfflineWriter(DRAFTING), drafter, every, DRAFTING)
        code = f"{comment(text)}{CODE}\nx = {text!r}"
        request = Request("s", field, (HIDDEN, f"a{text}"), (f"It splits. {text}", text), code)
        return [item.text for item in writer.write([request]) if item.text and item.text.drafter is Drafter.MODEL]

    return ask


def require(drafter: ModelDrafter, text: str) -> Sequence[Any]:
    signature, body = f"def split(n, mark={text!r}):", f"    {text!r}\n    return {HIDDEN}(n, mark)"
    (node,) = ast.parse(f"{signature}\n{body}").body
    assert isinstance(node, ast.FunctionDef)
    function = Undocumented("s", f"shop.{text}", signature, body, text, node)
    said = ModelRequirements(drafter, DRAFTS.requirement, 4).require([function])
    return [item.requirement for item in said if item.requirement]


def make_function(drafter: ModelDrafter, text: str) -> Sequence[Any]:
    one = Example("s", text, text, f"lib.{HIDDEN}", comment(text) + CODE, (text,), (HIDDEN,), Api({}, ["lib"]), NOWHERE)
    writer = ModelFunctions(drafter, DRAFTS.task_function, DRAFTING, NOWHERE, VALIDATION)
    return [found for found in writer.write([one]) if not hasattr(found, "waiting")]


def make_tests(drafter: ModelDrafter, text: str) -> Sequence[Any]:
    one = Untested(
        id="s",
        library=text,
        version=text,
        path=f"lib.{HIDDEN}",
        environment=NOWHERE,
        module="function_x",
        function="split",
        program=f"{comment(text)}from lib import partition_all\n\n\ndef split(n, items):\n    return {HIDDEN}(n, items)\n",
        description=text,
        tests="",
        missing_kinds=tuple(TestKind),
        hidden=(HIDDEN,),
    )
    written = ModelTests(drafter, DRAFTS.function_tests, JUDGE).write([one])
    return [found for found in written if not hasattr(found, "waiting")]


def migrate(drafter: ModelDrafter, text: str) -> Sequence[Any]:
    snippet = example(">>> from lib import total\n>>> total([100, 23])\n123\n", "lib.total")
    data = {"code": comment(text) + CODE, "docstring": text, "trace": text, "here": {"names": [text]}}
    writer = ModelMigrations(drafter, DRAFTS.migrated_code, DRAFTING, lambda _, __: ())
    done = writer.write([Unmigrated("s", snippet, "1.1", "lib.total", True, data)], fails)
    return [attempt for attempt, _ in done if attempt]


def fails(attempts: Sequence[Any]) -> Sequence[str | None]:
    raise AssertionError(f"it came to running {len(attempts)} programs")


def make_problem(drafter: ModelDrafter, text: str) -> Sequence[Any]:
    asked = unwritten("lib.chop")
    facts = dict(asked.facts) | {"planted": text, "here": {"documentation": [text], "examples": [comment(text) + CODE]}}
    reader = Reader(DRAFTS.problem, DRAFTING, "solve")
    writer = ModelProblems(drafter, DRAFTS.problem, reader, JUDGE, NOWHERE)
    return [item.text for item in writer.write([replace(asked, facts=facts)], {}) if item.text]


def judge_rename(drafter: ModelDrafter, text: str) -> Sequence[Any]:
    side = {"path": f"lib.{text}", "signature": f"(x={text!r})", "docstring": text, "body": comment(text)}
    asked = Subject("s", {"library": text, "old_version": "1.0", "new_version": "1.1", "old": side, "new": side})
    return [item.form for item in ModelJudge(drafter, DRAFTS.rename_judgement).judge([asked]) if item.form]


ASK: dict[DraftKind, Ask] = {
    DraftKind.DESCRIPTION: describe(DraftField.DESCRIPTION),
    DraftKind.INSTRUCTION: describe(DraftField.QUERY),
    DraftKind.REQUIREMENT: require,
    DraftKind.TASK_FUNCTION: make_function,
    DraftKind.FUNCTION_TESTS: make_tests,
    DraftKind.MIGRATED_CODE: migrate,
    DraftKind.PROBLEM: make_problem,
    DraftKind.RENAME_JUDGEMENT: judge_rename,
}
"""A new kind of draft has its line here, or the tests fail."""
