"""The rules of `curation_rules/pins.yaml`: what names mean where no standard says so, and what is asked of uv."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Annotated

from packaging.utils import canonicalize_name
from pydantic import AfterValidator, model_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule, load
from pipeline.core.settings import settings


class AsideRule(Rule):
    """Words in the names of groups whose pins say nothing of the project's own code."""

    words: tuple[str, ...]
    examples: tuple[str, ...]
    not_examples: tuple[str, ...]

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """The words, each by itself."""
        return re.compile(rf"(?i)(?<![a-z])(?:{'|'.join(self.words)})(?![a-z])")

    @model_validator(mode="after")
    def _examples_hold(self) -> AsideRule:
        wrong = [name for name in self.examples if not self.matches(name)]
        wrong += [name for name in self.not_examples if self.matches(name)]
        if wrong:
            raise InputError(f"{' '.join(self.words)!r} is wrong about {wrong}", code="rule_example_wrong")
        return self

    def matches(self, group: str) -> bool:
        """Whether the name of a group has one of the words."""
        return self.pattern.search(group) is not None


class PinRules(Rule):
    """What the names of requirements files, of groups and of Conda's packages mean, and which libraries others cap."""

    project: frozenset[str]
    aside: AsideRule
    conda_names: dict[str, str]
    capped: frozenset[Annotated[str, AfterValidator(canonicalize_name)]]


def pin_rules(folder: Path | None = None) -> PinRules:
    """Read `pins.yaml` of a folder, by default that of the settings; each folder's once."""
    return _read((folder or settings().rules) / "pins.yaml")


@functools.cache
def _read(path: Path) -> PinRules:
    return load(path, PinRules)
