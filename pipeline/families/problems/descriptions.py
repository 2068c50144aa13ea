"""Descriptions of code that tests run: what an offline one still needs."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.samples import Drafter
from pipeline.corpus.prose import sentences, split_sentences
from pipeline.llm.names import cut_names, without_parameters
from pipeline.llm.rules import DraftingRules
from pipeline.llm.writers import Request, Text

# `*args` and `**kwargs`, also in code, but no emphasis.
_STARRED = re.compile(r"(?<![\w*])\*{1,2}[^\W\d]\w*(?![\w*])")
_END = " .:;,"


def completed(text: Text, request: Request, program: str, drafting: DraftingRules) -> Text:
    """Return a description of a program as its task needs it: see `with_first_sentence` and `without_starred`."""
    text = with_first_sentence(text, request, drafting)
    return replace(text, text=without_starred(text.text, program, drafting))


def with_first_sentence(text: Text, request: Request, drafting: DraftingRules) -> Text:
    """Return a description that begins with the first sentence of its docstring, also where that says the hidden name.

    The writer prefers a later sentence that says nothing of the name, and that one alone does not describe the task.
    Acceptance refuses what spells the name then. Not restored is what describes nothing, or hides the name twice.
    """
    if text.drafter is not Drafter.OFFLINE or not request.docstrings:
        return text
    first, *others = sentences(request.docstrings[0], drafting.abbreviations) or [""]
    later = (without_parameters(each, request.omitted, drafting).rstrip(_END) for each in others)
    if not any(each and text.text.startswith(each) for each in later):
        return text
    first = without_parameters(first, request.omitted, drafting)
    is_sized = len(first) <= drafting.max_chars and len(first.split()) >= drafting.min_words
    if not is_sized or any(pattern.match(first) for pattern in drafting.not_a_description):
        return text
    cut = cut_names(first, request.hidden, drafting)
    if cut.count(drafting.placeholder) > 1 or cut.rstrip(_END) in text.text:
        return text
    restored = f"{cut[:1].upper()}{cut[1:].rstrip(_END)}. {text.text}"
    return replace(text, text=restored, redacted=text.redacted or drafting.placeholder in cut)


def without_starred(text: str, program: str, drafting: DraftingRules) -> str:
    """Return a description without the later sentences on `*args` or `**kwargs`, which no function of a program takes.

    Its first sentence stays: without that nothing says what is to be done.
    """
    functions = (node.args for node in ast.walk(parse_python(program)) if isinstance(node, ast.FunctionDef))
    if not _STARRED.search(text) or any(args.vararg or args.kwarg for args in functions):
        return text
    first, *others = split_sentences(text, drafting.abbreviations)
    return " ".join([first, *(each for each in others if not _STARRED.search(each))])


def is_reference(text: str, drafting: DraftingRules) -> bool:
    """Say whether a text only refers to something that it does not name: "Equivalent to [API], see it for details."."""
    parts = split_sentences(text, drafting.abbreviations)
    refers = all(any(pattern.match(part) for pattern in drafting.not_a_description) for part in parts)
    return drafting.placeholder in text and refers


def untrue_result(text: str, program: str, drafting: DraftingRules) -> str | None:
    """Say that a description names another type of the result than the program's function has; None where it does not.

    Documentation of an earlier Python calls bytes a str. What the program converts itself is not looked at.
    """
    functions = [node for node in parse_python(program).body if isinstance(node, ast.FunctionDef)]
    match functions[-1:]:
        case [ast.FunctionDef(returns=ast.Name(id=kind), body=[*_, ast.Return(value=value)])]:
            is_converted = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == kind
            types, after = ("|".join(words) for words in (drafting.result_types, drafting.not_after_placeholder))
            # Before a noun the type is not what comes out: "Returns a list item."
            pattern = rf"\breturns? an? ({types})(?=$|\s*[^\w\s]|\s+(?:{after})\b)"
            named = {word.casefold() for word in re.findall(pattern, text, re.IGNORECASE)}
            if named and not is_converted and kind not in {drafting.result_types[name] for name in named}:
                return f"the text says that it returns a {min(named)}, and it returns {kind}"
    return None
