"""The request for the query of an in-line completion: the task of the expression, without name and arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from pipeline.core.vocabularies.samples import DraftField
from pipeline.families.contexts.rules import QueryRules
from pipeline.lake.ids import content_id
from pipeline.llm.writers import Request, Text


def query_request(
    name: str, expression: ast.expr, code: str, texts: Sequence[str], min_length: int, visible: str = ""
) -> Request:
    """Ask for the query for an expression that ends in the API `name`.

    Hidden are the name and the arguments: keywords, names, and strings of one word, if they have `min_length`
    characters (LibEvolutionEval, 2412.04478, appendix C). Words of the `visible` context are no secret: to cut them out
    would only spoil the sentence. `texts` tell what the API does, the most telling first.
    """
    words = set(re.findall(r"\w+", visible))
    arguments = {argument for argument in _arguments(expression) if len(argument) >= min_length} - words
    hidden = (name, *sorted(arguments - {name}))
    subject = content_id("query", code)
    return Request(subject, DraftField.QUERY, hidden, tuple(texts), code)


def is_too_vague(query: Text, rules: QueryRules) -> bool:
    """Say whether fewer content words than rules ask for are left of a query from which names were cut out."""
    # What stands for a name is not counted.
    words = re.findall(r"[^\W\d_]+", re.sub(r"\[\w+\]", " ", query.text))
    content = [word for word in words if len(word) >= rules.min_content_word_length]
    return query.redacted and len(content) < rules.min_content_words


def _arguments(expression: ast.expr) -> Iterator[str]:
    """Yield the words in arguments."""
    if not isinstance(expression, ast.Call):
        return
    arguments: list[ast.AST] = [*expression.args, *expression.keywords]
    for node in (inner for argument in arguments for inner in ast.walk(argument)):
        if isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isalnum():
            yield node.value
