"""The statement of a problem: what is to be done, from the documentation, without the names of the core API."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.samples import DraftField
from pipeline.families.problems.lifting import parameter
from pipeline.families.problems.program import ProblemProgram, call
from pipeline.families.problems.rules import StatementRules
from pipeline.families.problems.tasks import CaseOf, Task
from pipeline.lake.ids import sha256_json
from pipeline.lake.rows import ApiDocumentDocumentedParameter, ApiDocumentRow
from pipeline.llm.names import find_names, redact
from pipeline.llm.rules import DraftingRules
from pipeline.llm.writers import OfflineWriter, Request, Text


@dataclass(frozen=True, slots=True)
class Source:
    """What a statement is written from: the core API by its name, docstrings, and its document at that version.

    `introduced_in` is that version where the tests want the core API because it is new, `required_in` where they want
    it for whatever reason.
    """

    library: str
    name: str
    hidden: tuple[str, ...]
    docstrings: tuple[str, ...]
    document: ApiDocumentRow | None
    introduced_in: str | None = None
    required_in: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, and a hash of what it was written from."""

    text: str
    written_from: str


def state(
    task: Task, written: ProblemProgram, example: CaseOf, source: Source, rules: StatementRules, drafting: DraftingRules
) -> Statement:
    """Write the statement of a task that `describe` has a sentence for; `example` is the case that it may show.

    Errors: ValueError where the documentation has no sentence that describes anything.
    """
    described = describe(source, drafting)
    if described is None:
        raise ValueError(f"nothing describes {source.name} of {source.library}")
    form = rules.functional if written.functional else rules.full
    task_text = form.format(signature=written.signature, library=source.library)
    if source.introduced_in is not None:
        task_text += " " + rules.introduced.format(library=source.library, version=source.introduced_in)
    elif source.required_in is not None:
        task_text += " " + rules.required.format(library=source.library, version=source.required_in)
    parameters = list(_parameters(task, written, source, rules, drafting))
    about = list(_result(written, example, source, rules, drafting))
    if any(drafting.placeholder in text for text in (described.text, *parameters)):
        placeholder = rules.placeholder.format(placeholder=drafting.placeholder, library=source.library)
        task_text = f"{placeholder}\n\n{task_text}"
    blocks = [described.text, task_text, "\n".join(parameters), " ".join(about)]
    facts = sha256_json([described.prompt_sha256, source.document, task_text, parameters, about])
    return Statement("\n\n".join(block for block in blocks if block), facts)


def describe(source: Source, drafting: DraftingRules) -> Text | None:
    """Write the first paragraph of a statement."""
    request = Request("", DraftField.DESCRIPTION, source.hidden, source.docstrings, "")
    return OfflineWriter(drafting).text(request)


def _parameters(
    task: Task, written: ProblemProgram, source: Source, rules: StatementRules, drafting: DraftingRules
) -> Iterator[str]:
    """Yield a line for each parameter that a statement describes."""
    for number, text in described_parameters(task, source, rules).items():
        redacted = redact(text, source.hidden, drafting)
        yield rules.parameter.format(name=written.parameters[number], description=redacted)


def described_parameters(task: Task, source: Source, rules: StatementRules) -> dict[int, str]:
    """Return what a statement says of parameters, by number.

    They are those that go to the core API as they are, and that its documentation describes.
    """
    described = {row["name"].lstrip("*"): row["description"] for row in _documented(source.document)}
    texts = {
        number: " ".join((described.get(name) or "").split())
        for number, name in sorted(_passed_on(task, source.name, list(described)).items())
    }
    return {number: text for number, text in texts.items() if 0 < len(text) <= rules.max_parameter_characters}


def _documented(document: ApiDocumentRow | None) -> Sequence[ApiDocumentDocumentedParameter]:
    rows = document["parameters"] if document else ()
    return [row for row in rows if row["name"] not in ("self", "cls")]


def _passed_on(task: Task, name: str, documented: Sequence[str]) -> dict[int, str]:
    """Return which of the core API's parameters our parameters become, by number."""
    numbers = {parameter(number): number for number in range(len(task.variables))}
    parameters: dict[int, str] = {}
    for node in ast.walk(ast.parse("\n".join([*task.body, task.returned]))):
        if not isinstance(node, ast.Call) or _last_name(node.func) != name:
            continue
        arguments = [*zip(documented, node.args, strict=False), *((k.arg, k.value) for k in node.keywords if k.arg)]
        for theirs, value in arguments:
            if isinstance(value, ast.Name) and value.id in numbers and theirs is not None:
                parameters.setdefault(numbers[value.id], theirs)
    return parameters


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _result(
    written: ProblemProgram, example_case: CaseOf, source: Source, rules: StatementRules, drafting: DraftingRules
) -> Iterator[str]:
    """Yield what comes out: the type of a literal, and the stated case as long as it names nothing hidden."""
    if example_case.outcome.value is not None and example_case.outcome.value != "None":
        yield rules.returns.format(type=type(ast.literal_eval(example_case.outcome.value)).__name__)
    # Blanks within a literal are part of the value.
    result = example_case.outcome.value or " ".join((example_case.outcome.representation or "").split())
    example = rules.example.format(call=call(written, example_case), result=result)
    if len(example) <= rules.max_example_characters and not find_names(example, source.hidden, drafting):
        yield example


def names_revealed(texts: Iterable[str], hidden: Sequence[str], drafting: DraftingRules) -> list[str]:
    """Return the hidden names as they can be read in texts that a solver sees; none is as it should be."""
    return sorted({text[start:end] for text in texts for start, end in find_names(text, hidden, drafting)})
