"""Templates of prompts: Jinja in a sandbox, in which undefined names are errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import DictLoader, StrictUndefined, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pipeline.evaluation.prompts.code import without_imports


def comment(text: str) -> str:
    """Return a text as lines of comments, empty lines included."""
    return "\n".join(f"# {line}".rstrip() for line in text.splitlines())


def tail(text: str, characters: int) -> str:
    """Return the last lines of a text with at most so many characters, or the end of its last line."""
    if len(text) <= characters:
        return text
    cut = text[len(text) - characters :]
    return cut.partition("\n")[2] or cut


def head(text: str, characters: int) -> str:
    """Return the first lines of a text with at most so many characters, or the beginning of its first line."""
    if len(text) <= characters:
        return text
    cut = text[:characters]
    return cut.rpartition("\n")[0] or cut


class Templates:
    """The templates of one rule file by name; each may include the others.

    Errors: ValueError for an invalid template.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._environment = ImmutableSandboxedEnvironment(
            loader=DictLoader(dict(texts)),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            auto_reload=False,
            autoescape=False,
        )
        self._environment.filters |= {
            "comment": comment,
            "tail": tail,
            "head": head,
            "without_imports": without_imports,
        }
        self._texts = texts

    def names_in(self, name: str) -> frozenset[str]:
        """Return the undeclared names of a template and of all templates that it includes."""
        return self._names_in(name, ())

    def _names_in(self, name: str, within: tuple[str, ...]) -> frozenset[str]:
        if name in within:
            raise ValueError(f"template {name} includes itself: {' -> '.join((*within, name))}")
        try:
            tree = self._environment.parse(self._texts[name])
            names = meta.find_undeclared_variables(tree)
        except TemplateError as error:
            raise ValueError(f"template {name}: {error}") from None
        included = [other for other in meta.find_referenced_templates(tree) if other]
        if unknown := sorted(set(included) - self._texts.keys()):
            raise ValueError(f"template {name} includes {', '.join(unknown)}, which is no part of the file")
        return frozenset(names).union(*(self._names_in(other, (*within, name)) for other in included))

    def render(self, name: str, values: Mapping[str, Any]) -> str:
        """Fill a template.

        Errors: ValueError for a missing value, or one of the wrong kind; UnreadableCode.
        """
        try:
            return self._environment.get_template(name).render(values)
        except (TemplateError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
            raise ValueError(f"template {name}: {error}") from None
