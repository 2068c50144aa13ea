"""What a curator decides about the surface: scope, standard-library look-alikes, and how deprecation is read."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, field_validator, model_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule

# What a replacement looks like in a text: a dotted name, perhaps in quotes, stars or a Sphinx role, or with brackets.
_DOTTED = r"[~.]?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\))?"
_QUOTED = rf"(?::[\w:]+:)?[`'\"*]+{_DOTTED}(?:\([^)]*\))?[`'\"*]+"
_NAME = rf"(?:{_QUOTED}|{_DOTTED})"


def _compile(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return re.compile(value.replace("NAME", _NAME).replace("QUOTED", _QUOTED))


Regex = Annotated[re.Pattern[str], BeforeValidator(_compile), PlainSerializer(lambda p: p.pattern, return_type=str)]


class Example(Rule):
    """A text and what its pattern must read out of it: kept in the rule file, and checked when it is loaded."""

    text: str
    gives: str


class TextPattern(Rule):
    """A regular expression whose first group is what is looked for."""

    pattern: Regex
    examples: tuple[Example, ...]

    @model_validator(mode="after")
    def _examples_hold(self) -> TextPattern:
        for example in self.examples:
            result = self.find(example.text)
            if result != example.gives:
                raise InputError(f"{example.text!r} gives {result!r}, not {example.gives!r}", code="rule_example_wrong")
        return self

    def find(self, text: str) -> str | None:
        """Return the first group of the first match, without the quotes, roles and brackets around it."""
        match = self.pattern.search(text)
        return clean_name(match[1]) if match else None


def clean_name(text: str) -> str:
    """Return a name without Sphinx role, quotes, leading `~` or `.`, and call brackets."""
    bare = re.sub(r"^:[\w:]+:", "", text.strip()).strip("`'\"*")
    return bare.split("(")[0].lstrip("~.")


class Deprecations(Rule):
    """How marks of deprecation are recognised, in code and in words."""

    defaults: Regex
    decorators: Regex
    not_decorators: Regex
    copying_decorators: Regex
    warning_calls: Regex
    helper_calls: Regex
    call_words: tuple[str, ...]
    categories: Regex
    other_categories: Regex
    other_words: Regex
    replacement_keywords: frozenset[str]
    removal_keywords: frozenset[str]
    since: tuple[TextPattern, ...]
    removal: tuple[TextPattern, ...]
    replacement: tuple[TextPattern, ...]


class PrivateModules(Rule):
    """Modules that their documentation calls private, `but` for some, and where it does."""

    modules: Regex
    but: Regex | None = None
    source: str


def _any(patterns: Sequence[Regex], segments: Sequence[str]) -> bool:
    return any(pattern.fullmatch(segment) for segment in segments for pattern in patterns)


class SurfaceRules(Rule):
    """The rules of `curation_rules/surface.yaml`."""

    out_of_scope_segments: tuple[Regex, ...]
    out_of_scope_folders: tuple[Regex, ...]
    perhaps_tests: tuple[Regex, ...]
    private_modules: tuple[PrivateModules, ...]
    like_standard_library: frozenset[str]
    false_names: frozenset[str]
    true_names: frozenset[str]
    since_names: Regex
    python: tuple[int, int]
    value_length: int
    dataclass_decorators: frozenset[str]
    attrs_decorators: frozenset[str]
    namedtuple_makers: frozenset[str]
    model_bases: frozenset[str]
    root_model_bases: frozenset[str]
    transform_decorators: Regex
    machine_conditions: Regex
    elsewhere_conditions: Regex
    plain_bases: frozenset[str]
    property_decorators: Regex
    plain_decorators: Regex
    member_decorators: Regex
    typing_only_values: Regex
    deprecations: Deprecations

    @field_validator("value_length")
    @classmethod
    def _positive(cls, value: int) -> int:
        if value < 1:
            raise ValueError("must be at least 1")
        return value

    def in_scope(self, module: str, *, folder: bool = False) -> bool:
        """Return whether a module's dotted name has no segment that is out of scope; `folder` if it is a package."""
        cached = self._scope_cache.get((module, folder))
        if cached is None:
            segments = module.split(".")
            folders = segments if folder else segments[:-1]
            cached = not (_any(self.out_of_scope_segments, segments) or _any(self.out_of_scope_folders, folders))
            self._scope_cache[module, folder] = cached
        return cached

    def documented_as_private(self, module: str) -> bool:
        """Return whether the documentation of its library calls a module private that has no underscore (PEP 8)."""
        return any(
            private.modules.fullmatch(module) and not (private.but and private.but.fullmatch(module))
            for private in self.private_modules
        )

    def may_be_tests(self, module: str) -> bool:
        """Return whether what is in a module must tell if it is a module of tests."""
        cached = self._test_cache.get(module)
        if cached is None:
            cached = self._test_cache[module] = _any(self.perhaps_tests, module.split("."))
        return cached

    def calling(self, names: frozenset[str]) -> SurfaceRules:
        """Return the rules of a file in which these names, too, are what warns: `from warnings import warn as w`."""
        return self.model_copy(update={"deprecations": _calling(self.deprecations, names)}) if names else self

    @functools.cached_property
    def _scope_cache(self) -> dict[tuple[str, bool], bool]:
        """What was asked before: every release asks for the same names."""
        return {}

    @functools.cached_property
    def _test_cache(self) -> dict[str, bool]:
        return {}


@functools.lru_cache(maxsize=256)
def _calling(rules: Deprecations, names: frozenset[str]) -> Deprecations:
    calls = re.compile("|".join([rules.warning_calls.pattern, *(f"^{re.escape(name)}$" for name in sorted(names))]))
    return rules.model_copy(update={"warning_calls": calls, "call_words": (*rules.call_words, *sorted(names))})


def first_match(patterns: tuple[TextPattern, ...], text: str) -> str | None:
    """Return what the first pattern that matches finds in a text."""
    return next((match for pattern in patterns if (match := pattern.find(text))), None)
