"""Which parameters of the core API a program passes, and what a text may say of them there."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from pipeline.core.rules.load import Rule
from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.samples import DraftField
from pipeline.corpus.documentation.docstrings import read_docstring
from pipeline.corpus.prose import plain, split_sentences
from pipeline.lake.rows import ApiDocumentDocumentedParameter, ApiDocumentRow
from pipeline.llm.names import find_code_names, find_names, without_parameters
from pipeline.llm.rules import DraftingRules
from pipeline.llm.writers import Request

_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")
_MARKED = re.compile(r"(?<![\w*`:\\])(?:(`{1,2})([^`]+)\1|(\*{1,2})(?=\S)([^*`]+)(?<=\S)\3)(?![\w*`])")
"""Code and emphasis, but no role of Sphinx, and nothing that is escaped."""
_TYPE = re.compile(r"^[\w.]+: (?=\S)")


class ConversionRules(Rule):
    """The sentence on a function that returns the result of its API converted."""

    text: str
    results: dict[str, str] = Field(description="built-in function to how a text names its result")


@dataclass(frozen=True, slots=True)
class PassedParameters:
    """The documented parameters of an API in a program.

    `names` are the function's own parameters that are passed as they are, by the parameter of the API; `omitted` are
    the parameters of the API that no call passes.
    """

    names: Mapping[str, str]
    omitted: frozenset[str]


NOTHING_PASSED = PassedParameters({}, frozenset())


def documented_parameters(document: ApiDocumentRow | None) -> Sequence[ApiDocumentDocumentedParameter]:
    """Return the parameters that the documentation of an API has, without the object of a method."""
    rows = document["parameters"] if document else ()
    return [row for row in rows if row["name"] not in ("self", "cls")]


def passed_parameters(
    program: str, parameters: Sequence[str], name: str, document: ApiDocumentRow | None
) -> PassedParameters:
    """Return which parameters of the API `name` a program passes; `parameters` are those of its function.

    Nothing is omitted where arguments are unpacked, or where the API is not called by its name.
    """
    rows = documented_parameters(document)
    # What stands behind `*args` is given by its name alone.
    positional = [*itertools.takewhile(str.isidentifier, (row["name"] for row in rows))]
    calls = [node for node in ast.walk(parse_python(program)) if isinstance(node, ast.Call) and _is_call(node, name)]
    names: dict[str, str] = {}
    passed: set[str] = set()
    for call in calls:
        arguments = [*zip(positional, call.args, strict=False), *((k.arg or "", k.value) for k in call.keywords)]
        passed |= {theirs for theirs, _ in arguments}
        for theirs, value in arguments:
            if theirs and isinstance(value, ast.Name) and value.id in parameters:
                names.setdefault(theirs, value.id)
    certain = calls and not any(
        isinstance(part, ast.Starred) or getattr(part, "arg", "") is None
        for call in calls
        for part in (*call.args, *call.keywords)
    )
    omitted = {row["name"] for row in rows if row["name"] not in passed and not row["name"].startswith("*")}
    return PassedParameters(names, frozenset(omitted if certain else ()))


def conversion_text(
    program: str, function: str, name: str, hidden: Sequence[str], rules: ConversionRules, drafting: DraftingRules
) -> str:
    """Return a sentence on how `function` returns what calls of the API `name` give, "" where it does so as it is.

    Its documentation says what the API gives, say a generator, and a program may return a list of that.
    """
    tree = parse_python(program)
    results = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_call(node.value, name)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Return(value=ast.Call(func=ast.Name(id=conversion), args=[value], keywords=[])):
                is_result = isinstance(value, ast.Name) and value.id in results
                if conversion in rules.results and (is_result or _is_call(value, name)):
                    text = rules.text.format(function=function, result=rules.results[conversion])
                    return "" if find_names(text, hidden, drafting) else text
    return ""


def request_of(
    subject_id: str,
    hidden: tuple[str, ...],
    docstrings: Iterable[str],
    program: str,
    document: ApiDocumentRow | None,
    passed: PassedParameters,
    apis: Collection[str],
    rules: DraftingRules,
) -> Request:
    """Return the request for the text of a program that tests run; `apis` are names of the library's functions.

    Its docstrings have the parameters of the program's function in place of those of the API that these become.
    """
    docstrings = tuple(docstrings)
    words = {word for docstring in docstrings for word in re.findall(r"\w+", docstring)}
    results = " ".join(row["description"] or "" for row in (document["returns"] if document else ()))
    errors = [(row.name, row.description) for each in docstrings for row in read_docstring(each).raises]
    texts = [rules.returns.format(description=_TYPE.sub("", " ".join(results.split())))] if results.strip() else []
    texts += [rules.raises.format(name=name, description=" ".join(text.split())) for name, text in errors if text]
    return Request(
        subject_id,
        DraftField.DESCRIPTION,
        hidden,
        tuple(with_own_names(docstring, passed, rules) for docstring in docstrings),
        program,
        of_result=tuple(dict.fromkeys(plain(with_own_names(text, passed, rules)) for text in texts)),
        omitted=passed.omitted,
        others=frozenset(words.intersection(apis) - set(re.findall(r"\w+", program))),
    )


def with_own_names(text: str, passed: PassedParameters, rules: DraftingRules) -> str:
    """Return a text with a function's own parameters for those of the API that they become, as escaped code.

    Names of omitted parameters become escaped code too. A name that is no code in the text may be a word of English:
    it counts where it has an underscore or one letter, or stands beside a word such as "argument". Where omitted ones
    are items of an enumeration under a usual phrase, such as "keyword arguments", they are left out.
    """
    names = {**{name: name for name in passed.omitted}, **passed.names}

    def marked(match: re.Match[str]) -> str:
        mark, code = match[1] or match[3], match[2] or match[4]
        if code in names:
            return f"\\`{names[code]}\\`"
        own = _NAME.sub(lambda word: passed.names.get(word[0], word[0]), code) if "`" in mark else code
        return f"{mark}{own}{mark}"

    for name in sorted(passed.omitted & rules.parameter_phrases.keys()):
        text = _without_item(text, rules.parameter_phrases[name])
    text = _MARKED.sub(marked, text)
    for start, end in reversed(find_code_names(text, names.keys(), (), rules)):
        text = f"{text[:start]}\\`{names[text[start:end]]}\\`{text[end:]}"
    return text


def _without_item(text: str, phrase: str) -> str:
    """Return a text without an item of its enumerations: "a name, options, and flags" gives "a name and options"."""
    item = r"\s+".join(map(re.escape, phrase.split()))
    text = re.sub(rf",\s+{item},?(?=\s+and\b)", "", text)
    text = re.sub(rf",\s+((?:[\w*]+\s+)*[\w*]+),?\s+and\s+{item}\b", r" and \1", text)
    return re.sub(rf"\s+and\s+{item}(?=[,.])", "", text)


def parameter_texts(document: ApiDocumentRow | None, passed: PassedParameters, rules: DraftingRules) -> dict[str, str]:
    """Return what the documentation says of a function's own parameters, without what it says of omitted ones."""
    texts: dict[str, str] = {}
    for row in documented_parameters(document):
        if row["name"] not in passed.names or not row["description"]:
            continue
        text = plain(with_own_names(row["description"], passed, rules))
        parts = [without_parameters(part, passed.omitted, rules) for part in split_sentences(text, rules.abbreviations)]
        parts = [part for part in parts if part and not any(each.match(part) for each in rules.not_of_argument)]
        if parts:
            texts[passed.names[row["name"]]] = " ".join(parts)
    return texts


def _is_call(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and _last_name(node.func) == name


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
