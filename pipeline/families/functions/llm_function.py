"""Task functions by a model, of examples that ran and state nothing that a test could compare."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.usages.find import scan
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases
from pipeline.families.functions.writers import Example, WrittenFunction
from pipeline.families.llm_code_checks import BadCode, read_code
from pipeline.families.llm_programs import incomplete, parameters_of, tidied
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.names import find_names
from pipeline.llm.rules import DraftingRules
from pipeline.llm.tasks.forms import TaskFunction
from pipeline.llm.tasks.prose import text_problem
from pipeline.llm.tasks.rounds import Drafted, Subject, draft
from pipeline.llm.tasks.rules import TaskFunctionRules
from pipeline.llm.writers import Refusal

# What may stand at the top level of a program that does nothing when it is imported.
_DECLARES = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class ModelFunctions:
    """Asks a model for functions, and takes those that use the core API in their body alone, and can be imported."""

    drafter: ModelDrafter
    rules: TaskFunctionRules
    drafting: DraftingRules
    sandbox: Sandbox
    validation: ValidationRules
    workers: int = 1

    def write(self, examples: Sequence[Example]) -> list[WrittenFunction | Refusal]:
        """Write the function of each example, in their order, or say why there is none."""
        by_id = {example.id: example for example in examples}

        def judge(drafts: Sequence[tuple[Subject, TaskFunction]]) -> list[str | None]:
            problems = {subject.id: self._problem(one, by_id[subject.id]) for subject, one in drafts}
            sound = {subject.id: _program(one) for subject, one in drafts if problems[subject.id] is None}
            problems |= self._run(sound, by_id)
            return [problems[subject.id] for subject, _ in drafts]

        subjects = [_subject(example) for example in examples]
        return [_written(one) for one in draft(subjects, TaskFunction, self.rules, self.drafter, judge)]

    def _problem(self, one: TaskFunction, example: Example) -> str | None:
        """Say what is wrong with a draft before anything of it has run; None where nothing is."""
        try:
            tree = read_code(one.code, self.rules.max_characters)
        except BadCode as error:
            return f"code: {error}"
        program = tidied(tree)
        problem = (
            _unfit(tree, one.function)
            or incomplete(program)
            or self._leak(program, one.function, example.hidden)
            or _unused(program, example)
        )
        if problem:
            return f"code: {problem}"
        problem = text_problem(one.description, example.hidden, self.drafting)
        return f"description: {problem}" if problem else None

    def _leak(self, program: str, function: str, hidden: Sequence[str]) -> str | None:
        shown = _without_body(program, function)
        if found := find_names(shown, hidden, self.drafting):
            text = shown[slice(*found[0])]
            return f"outside of imports and the body of the function it gives a hidden name away: {text!r}"
        return None

    def _run(self, programs: Mapping[str, str], examples: Mapping[str, Example]) -> dict[str, str | None]:
        """Import programs where their examples ran, and say how those ended that did not come to their end."""
        groups: dict[str, list[str]] = defaultdict(list)
        for name in programs:
            groups[examples[name].environment.lock_id].append(name)
        problems: dict[str, str | None] = {}
        for _, names in sorted(groups.items()):
            environment = examples[names[0]].environment
            cases = [Case(name, "", programs[name], import_names=sorted(examples[name].api.roots)) for name in names]
            for result in run_cases(environment, cases, self.sandbox, self.validation, self.workers):
                passed = result.outcome is Outcome.PASSED
                said = f"code: imported, it ends as {result.outcome}:\n{result.detail or ''}".strip()
                problems[result.id] = None if passed else said
        return problems


def _program(one: TaskFunction) -> str:
    return tidied(ast.parse(one.code))


def _top_level(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    return found[0] if len(found) == 1 else None


def _unfit(tree: ast.Module, name: str) -> str | None:
    """Say what keeps the function of a program from being a task."""
    if (function := _top_level(tree, name)) is None:
        return f"no function {name!r} stands at its top level"
    if other := next((node for node in tree.body if not isinstance(node, _DECLARES)), None):
        return f"when it is imported it runs {ast.unparse(other).splitlines()[0]!r}; only declare there"
    if not parameters_of(function):
        return f"{name} takes no parameter"
    if not any(node.value for node in ast.walk(function) if isinstance(node, ast.Return)):
        return f"{name} returns nothing"
    return None


def _without_body(program: str, name: str) -> str:
    """Return what a solver is shown of a program: neither imports nor the body of the function."""
    tree = ast.parse(program)
    tree.body = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            node.body = [ast.Pass()]
    return ast.unparse(tree)


def _unused(program: str, example: Example) -> str | None:
    """Say so if no function of a program uses the core API by its path and name."""
    name, lines = example.path.rpartition(".")[2], set(_lines_of_functions(program))
    uses = scan(program, example.api).uses
    if any(use.path == example.path and use.name == name and use.line in lines for use in uses):
        return None
    return f"no function of it uses {example.path} by that path and name"


def _lines_of_functions(program: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.FunctionDef):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _subject(example: Example) -> Subject:
    data = {
        "library": example.library,
        "version": example.version,
        "api": example.path,
        "code": example.code,
        "docstrings": list(example.docstrings),
        "hidden": list(example.hidden),
    }
    return Subject(example.id, data)


def _written(one: Drafted[TaskFunction]) -> WrittenFunction | Refusal:
    if one.form is None:
        assert one.refusal is not None
        return one.refusal
    program = _program(one.form)
    function = _top_level(ast.parse(program), one.form.function)
    assert function is not None
    return WrittenFunction(
        program=program,
        function=function.name,
        parameters=tuple(parameters_of(function)),
        description=" ".join(one.form.description.split()),
        model=one.model,
        prompt_sha256=one.prompt_sha256,
        tries=one.tries,
        tokens=one.tokens,
        nano_usd=one.nano_usd,
    )
