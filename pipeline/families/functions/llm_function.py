"""Task functions by a model, of examples that ran and state nothing that a test could compare."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.syntax_trees import parse_python
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

# Statements that may be at the top level of a program without effects on import.
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
        """Write the function of each example, in their order, or return a refusal."""
        by_id = {example.id: example for example in examples}

        def judge(drafts: Sequence[tuple[Subject, TaskFunction]]) -> list[str | None]:
            problems = {subject.id: self._problem(form, by_id[subject.id]) for subject, form in drafts}
            sound = {subject.id: _program(form) for subject, form in drafts if problems[subject.id] is None}
            problems |= self._run(sound, by_id)
            return [problems[subject.id] for subject, _ in drafts]

        subjects = [_subject(example) for example in examples]
        return [_written(form) for form in draft(subjects, TaskFunction, self.rules, self.drafter, judge)]

    def _problem(self, form: TaskFunction, example: Example) -> str | None:
        """Return the problem of a draft before it runs; None without one."""
        try:
            tree = read_code(form.code, self.rules.max_characters)
        except BadCode as error:
            return f"code: {error}"
        program = tidied(tree)
        problem = (
            _unfit(tree, form.function)
            or incomplete(program)
            or self._leak(program, form.function, example.hidden)
            or _unused(program, example)
        )
        if problem:
            return f"code: {problem}"
        problem = text_problem(form.description, example.hidden, self.drafting)
        if problem is None and (words := example.spelling(form.description)):
            problem = f"these words together give {example.path.rpartition('.')[2]} away: {', '.join(words)}"
        return f"description: {problem}" if problem else None

    def _leak(self, program: str, function: str, hidden: Sequence[str]) -> str | None:
        excerpt = _without_body(program, function)
        if nodes := find_names(excerpt, hidden, self.drafting):
            text = excerpt[slice(*nodes[0])]
            return f"outside of imports and the body of the function it gives a hidden name away: {text!r}"
        return None

    def _run(self, programs: Mapping[str, str], examples: Mapping[str, Example]) -> dict[str, str | None]:
        """Import programs in the environments of their examples, and return the failures."""
        groups: dict[str, list[str]] = defaultdict(list)
        for name in programs:
            groups[examples[name].environment.lock_id].append(name)
        problems: dict[str, str | None] = {}
        for _, names in sorted(groups.items()):
            environment = examples[names[0]].environment
            cases = [Case(name, "", programs[name], import_names=sorted(examples[name].api.roots)) for name in names]
            for result in run_cases(environment, cases, self.sandbox, self.validation, self.workers):
                passed = result.outcome is Outcome.PASSED
                detail = f"code: imported, it ends as {result.outcome}:\n{result.detail or ''}".strip()
                problems[result.id] = None if passed else detail
        return problems


def _program(form: TaskFunction) -> str:
    return tidied(parse_python(form.code))


def _top_level(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    nodes = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    return nodes[0] if len(nodes) == 1 else None


def _unfit(tree: ast.Module, name: str) -> str | None:
    """Return why the function of a program cannot be a task."""
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
    """Return the excerpt of a program for solvers, without imports and the body of the function."""
    tree = parse_python(program)
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
    for node in ast.walk(parse_python(program)):
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


def _written(form: Drafted[TaskFunction]) -> WrittenFunction | Refusal:
    if form.form is None:
        assert form.refusal is not None
        return form.refusal
    program = _program(form.form)
    function = _top_level(parse_python(program), form.form.function)
    assert function is not None
    return WrittenFunction(
        program=program,
        function=function.name,
        parameters=tuple(parameters_of(function)),
        description=" ".join(form.form.description.split()),
        model=form.model,
        prompt_sha256=form.prompt_sha256,
        tries=form.tries,
        tokens=form.tokens,
        nano_usd=form.nano_usd,
    )
