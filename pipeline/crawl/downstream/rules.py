"""What a curator decides about dependents: which are taken, how much of them, and what of them is no example."""

from __future__ import annotations

import re
from typing import Annotated

from packaging.utils import canonicalize_name
from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, field_validator, model_validator

from pipeline.rules import Rule

Regex = Annotated[
    re.Pattern[str],
    BeforeValidator(lambda value: re.compile(value) if isinstance(value, str) else value),
    PlainSerializer(lambda pattern: pattern.pattern, return_type=str),
]
Name = Annotated[str, AfterValidator(lambda name: str(canonicalize_name(name)))]


class Pattern(Rule):
    """A regular expression that is searched for; `examples` are texts in which it must be found, or must not."""

    pattern: Regex
    examples: Annotated[tuple[str, ...], Field(min_length=1)]
    not_examples: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _examples_hold(self) -> Pattern:
        wrong = [text for text in self.examples if not self.pattern.search(text)]
        wrong += [text for text in self.not_examples if self.pattern.search(text)]
        if wrong:
            raise ValueError(f"{self.pattern.pattern!r} is wrong about {wrong}")
        return self


class OutOfScope(Pattern):
    """What tells of a file that it is no example of how the library is used, and why."""

    why: str


class DependentRules(Rule):
    """The rules of `curation_rules/dependents.yaml`; sizes in bytes."""

    dependents_per_library: int = Field(ge=0)
    releases_per_dependent: int = Field(ge=1)
    max_sdist_bytes: int = Field(gt=0)
    max_unpacked_bytes: int = Field(gt=0)
    max_ratio: int = Field(gt=0)
    max_file_bytes: int = Field(gt=0)
    out_of_scope_paths: tuple[OutOfScope, ...]
    out_of_scope_heads: tuple[OutOfScope, ...]
    head_lines: int = Field(ge=1)
    seeds: dict[Name, tuple[Name, ...]]

    @field_validator("seeds")
    @classmethod
    def _once(cls, seeds: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for library, names in seeds.items():
            if library in names or len(set(names)) < len(names):
                raise ValueError(f"{library}: names itself, or one dependent twice")
        return seeds

    def out_of_scope(self, path: str, text: str) -> str | None:
        """Return why a file, by its path in the distribution or its first lines, is no example; None if it may be."""
        head = "\n".join(text.split("\n", self.head_lines)[: self.head_lines])
        found = [rule.why for rule in self.out_of_scope_paths if rule.pattern.search(path)]
        found += [rule.why for rule in self.out_of_scope_heads if rule.pattern.search(head)]
        return found[0] if found else None
