"""What can be said of a problem that a model wrote before any of it has run, in words that the model can use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.core.syntax_trees import parse_python
from pipeline.execution.validation.cases import MODULE
from pipeline.execution.validation.splitting import unparted
from pipeline.families.llm_code_checks import BadCode, names_of_tests, names_used, read_code
from pipeline.families.problems.drafted import Text, Unwritten
from pipeline.families.problems.selecting import passed_by
from pipeline.llm.names import find_names
from pipeline.llm.rules import DraftingRules
from pipeline.llm.tasks.forms import ProblemText
from pipeline.llm.tasks.rules import ProblemDraftRules


def text_of(form: ProblemText) -> Text:
    """Return an answer without blank lines around its pieces of code, so that they can be put together."""
    return Text(
        statement=form.statement.strip(),
        starting_code=_lines(form.starting_code),
        solution=_lines(form.solution),
        visible=_lines(form.visible_test),
        hidden=_lines(form.hidden_tests),
        other_solution=_lines(form.other_solution),
    )


@dataclass(frozen=True)
class Reader:
    """Reads problems; `function` is the name of what is to be written."""

    rules: ProblemDraftRules
    drafting: DraftingRules
    function: str

    def problem(self, request: Unwritten, text: Text) -> str | None:
        """Say what is wrong with a draft; None where nothing is."""
        try:
            return next(self._problems(request, text), None)
        except BadCode as error:
            return str(error)

    def _problems(self, request: Unwritten, text: Text) -> Iterator[str]:
        yield from self._of_statement(text)
        yield from self._of_programs(text)
        yield from self._of_tests(request, text)
        yield from self._of_names(request, text)
        if request.paths.isdisjoint(use.path for use in request.uses(text.program)):
            yield f"solution: it does not use {request.changed.path}"
        if names := request.also_decided_by([text.program, text.visible, text.hidden]):
            core, other = request.changed.path, request.changed.other_version
            yield f"{', '.join(names)}: changed in {other} too, and nothing but {core} may tell the releases apart"

    def _of_statement(self, text: Text) -> Iterator[str]:
        words, rules = len(text.statement.split()), self.rules
        if not rules.min_words <= words <= rules.max_words:
            yield f"statement: it has {words} words; {rules.min_words} to {rules.max_words} are wanted"
        if len(text.statement) > rules.max_characters:
            yield f"statement: it has {len(text.statement)} characters, at most {rules.max_characters} are taken"

    def _of_programs(self, text: Text) -> Iterator[str]:
        """Look at the shape: what is given ends with the head of a function, and what is written is its body."""
        start = self._tree("starting_code", text.starting_code, after="    pass\n")
        last = start.body[-1]
        if not isinstance(last, ast.FunctionDef) or last.name != self.function or len(last.body) != 1:
            yield f"starting_code: its last line must be the head of {self.function}, and nothing of its body"
        for name, body in _bodies(text):
            tree = self._tree(name, body, before=text.starting_code)
            if ast.dump(_headed(tree)) != ast.dump(_headed(start)):
                yield f"{name}: it must be the body of {self.function} alone, indented by four spaces"
            statements = sum(isinstance(node, ast.stmt) for node in ast.walk(tree.body[-1])) - 1
            if statements > self.rules.max_statements:
                yield f"{name}: it has {statements} statements, at most {self.rules.max_statements} are taken"

    def _of_tests(self, request: Unwritten, text: Text) -> Iterator[str]:
        """Look at the tests: so many, of the function, and none that asks the library itself."""
        visible, hidden = self._tree("visible_test", text.visible), self._tree("hidden_tests", text.hidden)
        if not any(isinstance(node, ast.Assert) for node in visible.body) or self.function not in names_used(visible):
            yield f"visible_test: it must assert what {self.function} gives, at the top and not in a function"
        imports = [node for node in hidden.body if isinstance(node, ast.ImportFrom) and node.module == MODULE]
        if not any(alias.name == self.function for node in imports for alias in node.names):
            yield f"hidden_tests: they must import the function: from {MODULE} import {self.function}"
        number = len(names_of_tests(hidden))
        if not self.rules.min_tests <= number <= self.rules.max_tests:
            yield f"hidden_tests: {number} test functions; {self.rules.min_tests} to {self.rules.max_tests} are wanted"
        if body := passed_by(text.hidden):
            yield f"hidden_tests: {body!r} passes them all, whatever {self.function} is to do: test other results too"
        for name, tests, module in (("visible_test", text.visible, None), ("hidden_tests", text.hidden, MODULE)):
            if problem := unparted(tests, module):
                yield f"{name}: {problem}"
        if (whole := text.tests(request.roots)) is None:
            yield f"hidden_tests: no test calls {self.function} in a plain statement with arguments that stand there"
        elif problem := unparted(whole, MODULE):
            yield f"hidden_tests: {problem}"
        used = {use.path for tests in (text.visible, text.hidden) for use in request.uses(tests)}
        if not request.paths.isdisjoint(used):
            yield f"the tests use {request.changed.path} themselves: only the solution may"

    def _of_names(self, request: Unwritten, text: Text) -> Iterator[str]:
        """Look for hidden names in all that a solver is shown, and for names that would ask which release it is."""
        modules = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, request.roots)))})\b")
        # The names of the library's modules everybody is told anyway.
        visible = {"statement": text.statement, "starting_code": modules.sub(" ", text.starting_code)}
        for name, words in (visible | {"visible_test": text.visible}).items():
            if names := find_names(words, request.changed.hidden, self.drafting):
                yield f"{name}: it gives a hidden name away: {words[slice(*names[0])]!r}"
        if spelling := request.spelling(text.statement):
            yield f"statement: these words together give {request.changed.name} away: {', '.join(spelling)}"
        pieces = {name: text.starting_code + body for name, body in _bodies(text)}
        pieces |= {"visible_test": text.visible, "hidden_tests": text.hidden}
        own = {name for path in request.paths for name in path.split(".")}
        for name, code in pieces.items():
            if foreign := sorted(names_used(parse_python(code)) & (self.rules.not_used - own)):
                yield f"{name}: it uses {', '.join(foreign)}, by which more than the program could be told apart"

    def _tree(self, name: str, piece: str, before: str = "", after: str = "") -> ast.Module:
        try:
            if len(piece) > self.rules.max_characters:
                raise BadCode(f"it has {len(piece)} characters, at most {self.rules.max_characters} are taken")
            tree = read_code(before + piece + after, 2 * self.rules.max_characters)
            if not tree.body:
                raise BadCode("there is no code in it")
        except BadCode as error:
            raise BadCode(f"{name}: {error}") from None
        return tree


def _bodies(text: Text) -> list[tuple[str, str]]:
    """Return what takes the place of the function's body, here and in the other version."""
    other = [("other_solution", text.other_solution)] if text.other_solution else []
    return [("solution", text.solution), *other]


def _headed(tree: ast.Module) -> ast.Module:
    """Return a program without the body of the function at its end."""
    last = tree.body[-1]
    if not isinstance(last, ast.FunctionDef):
        return tree
    head = ast.FunctionDef(last.name, last.args, [], last.decorator_list, last.returns)
    return ast.Module([*tree.body[:-1], head], [])


def _lines(code: str) -> str:
    stripped = code.rstrip().lstrip("\n")
    return f"{stripped}\n" if stripped.strip() else ""
