"""The statement of a problem: what is to be done, from the documentation, without the names of the core API."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.core.syntax_trees import literal_eval
from pipeline.families.passed_parameters import (
    NOTHING_PASSED,
    PassedParameters,
    conversion_text,
    parameter_texts,
    request_of,
)
from pipeline.families.problems.descriptions import completed
from pipeline.families.problems.program import ProblemProgram, call
from pipeline.families.problems.rules import StatementRules
from pipeline.families.problems.tasks import CaseOf
from pipeline.lake.ids import sha256_json
from pipeline.lake.rows import ApiDocumentRow
from pipeline.llm.names import find_names, redact
from pipeline.llm.rules import DraftingRules
from pipeline.llm.writers import OfflineWriter, Text


@dataclass(frozen=True, slots=True)
class Source:
    """What a statement is written from: the core API by its name, docstrings, and its document at that version.

    `required` is the sentence on what the tests want called, "" where any of the library will do. `passed` are the
    parameters that the solution passes; `apis` are names of other functions; `program` is the starting code with the
    solution.
    """

    library: str
    name: str
    hidden: tuple[str, ...]
    docstrings: tuple[str, ...]
    document: ApiDocumentRow | None
    required: str = ""
    passed: PassedParameters = NOTHING_PASSED
    apis: Collection[str] = ()
    program: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, and a hash of what it was written from."""

    text: str
    written_from: str


def state(
    written: ProblemProgram, example: CaseOf, source: Source, rules: StatementRules, drafting: DraftingRules
) -> Statement:
    """Write the statement of a task that `describe` has a sentence for; `example` is the case that it may show.

    Errors: ValueError where the documentation has no sentence that describes anything.
    """
    described = describe(source, drafting)
    if described is None:
        raise ValueError(f"nothing describes {source.name} of {source.library}")
    form = rules.functional if written.functional else rules.full
    task_text = f"{form.format(signature=written.signature, library=source.library)} {source.required}".rstrip()
    parameters = [
        rules.parameter.format(name=name, description=redact(text, source.hidden, drafting))
        for name, text in described_parameters(source, rules, drafting).items()
    ]
    about = list(_result(written, example, source, rules, drafting))
    if any(drafting.placeholder in text for text in (described.text, *parameters)):
        placeholder = rules.placeholder.format(placeholder=drafting.placeholder, library=source.library)
        task_text = f"{placeholder}\n\n{task_text}"
    hidden = source.hidden
    conversion = conversion_text(written.program, written.function, source.name, hidden, rules.conversion, drafting)
    first = f"{described.text} {conversion}".rstrip()
    blocks = [first, task_text, "\n".join(parameters), " ".join(about)]
    facts = sha256_json(
        [described.prompt_sha256, source.document, task_text, parameters, about, *filter(None, [conversion])]
    )
    return Statement("\n\n".join(block for block in blocks if block), facts)


def describe(source: Source, drafting: DraftingRules) -> Text | None:
    """Write the first paragraph of a statement."""
    facts = source.docstrings, "", source.document, source.passed, source.apis
    request = request_of("", source.hidden, *facts, drafting)
    text = OfflineWriter(drafting).text(request)
    return completed(text, request, source.program, drafting) if text is not None else None


def described_parameters(source: Source, rules: StatementRules, drafting: DraftingRules) -> dict[str, str]:
    """Return what a statement says of its parameters, by name.

    They are those that go to the core API as they are, and that its documentation describes.
    """
    texts = parameter_texts(source.document, source.passed, drafting)
    return {name: text for name, text in texts.items() if len(text) <= rules.max_parameter_characters}


def _result(
    written: ProblemProgram, example_case: CaseOf, source: Source, rules: StatementRules, drafting: DraftingRules
) -> Iterator[str]:
    """Yield what comes out: the type of a literal, and the stated case as long as it names nothing hidden."""
    if example_case.outcome.value is not None and example_case.outcome.value != "None":
        yield rules.returns.format(type=type(literal_eval(example_case.outcome.value)).__name__)
    # Blanks within a literal are part of the value.
    result = example_case.outcome.value or " ".join((example_case.outcome.representation or "").split())
    example = rules.example.format(call=call(written, example_case), result=result)
    if len(example) <= rules.max_example_characters and not find_names(example, source.hidden, drafting):
        yield example


def names_revealed(texts: Iterable[str], hidden: Sequence[str], drafting: DraftingRules) -> list[str]:
    """Return the hidden names as they can be read in texts that a solver sees; none is as it should be."""
    return sorted({text[start:end] for text in texts for start, end in find_names(text, hidden, drafting)})
