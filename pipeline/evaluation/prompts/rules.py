"""The rules of `curation_rules/prompts/`: a file for each benchmark, with its templates and its paper's settings."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from pipeline.core.rules.load import Rule, RuleError, load
from pipeline.core.settings import settings
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.prompts import Given
from pipeline.evaluation.prompts.templates import Templates
from pipeline.families.all_families import BY_NAME
from pipeline.lake.schema import Column, table

_ADDED: Mapping[Given, str] = {
    Given.BM25: "documents",
    Given.EMBEDDING: "documents",
    Given.DOCUMENTS: "documents",
    Given.ATTEMPT: "attempt",
}
"""What a template finds beside the columns where something is given: rows of `api_documents`, or an attempt."""

_ALWAYS = frozenset({"given", "limits"})


class Example(Rule):
    """A row, as far as the template looks at it, and what the template makes of it."""

    setting: str
    row: dict[str, Any]
    system: str | None = None
    prompt: str


class TemplateRule(Rule):
    """What is said of a row of a family; `hidden` is the column with a name that must not be readable in it."""

    family: Family
    hidden: str | None = None
    system: str | None = None
    prompt: str


class SettingRule(Rule):
    """A setting of a paper: a template and what is given."""

    meaning: str
    template: str
    given: tuple[Given, ...] = ()


class PromptRules(Rule):
    """The prompts of one benchmark.

    `limits` are characters that templates cut contexts to, `parts` what several templates include.
    """

    source: str = Field(description="the paper, and what of it is in its words")
    limits: dict[str, int] = Field(default_factory=dict)
    parts: dict[str, str] = Field(default_factory=dict)
    templates: dict[str, TemplateRule]
    settings: dict[str, SettingRule]
    examples: tuple[Example, ...] = Field(min_length=1)

    @functools.cached_property
    def texts(self) -> Templates:
        """The templates, those of systems as `NAME.system`."""
        systems = {f"{name}.system": rule.system for name, rule in self.templates.items() if rule.system}
        return Templates(self.parts | systems | {name: rule.prompt for name, rule in self.templates.items()})

    def columns(self, template: str) -> frozenset[str]:
        """Return the columns of its rows that a template looks at."""
        return self._asked(template) & _columns(self.templates[template].family)

    def _asked(self, template: str) -> frozenset[str]:
        system = self.texts.names_in(f"{template}.system") if self.templates[template].system else frozenset()
        return self.texts.names_in(template) | system

    def _added(self, template: str) -> set[str]:
        given = {one for setting in self.settings.values() if setting.template == template for one in setting.given}
        return {_ADDED[one] for one in given if one in _ADDED}

    @model_validator(mode="after")
    def _templates_are_known(self) -> PromptRules:
        if twice := sorted(self.parts.keys() & self.templates.keys()):
            raise ValueError(f"both a part and a template: {', '.join(twice)}; rename one of them")
        for name, setting in self.settings.items():
            if setting.template not in self.templates:
                there = ", ".join(sorted(self.templates))
                raise ValueError(f"setting {name}: no template {setting.template!r}; there are {there}")
        return self

    @model_validator(mode="after")
    def _names_are_known(self) -> PromptRules:
        for name, rule in self.templates.items():
            columns = _columns(rule.family)
            if unknown := sorted(self._asked(name) - columns - _ALWAYS - self._added(name)):
                raise ValueError(f"template {name}: {rule.family} rows have no {', '.join(unknown)}; correct the name")
            if rule.hidden is not None and rule.hidden not in columns:
                raise ValueError(f"template {name}: {rule.family} rows have no column {rule.hidden} to hide")
        return self

    @model_validator(mode="after")
    def _examples_hold(self) -> PromptRules:
        for example in self.examples:
            if example.setting not in self.settings:
                raise ValueError(f"example: no setting {example.setting!r}")
            system, prompt = self.render(example.setting, example.row)
            if (system, prompt) != (example.system or system, example.prompt):
                raise ValueError(f"example of {example.setting}: the template makes of it {prompt!r}")
        if lacking := self.templates.keys() - {self.settings[example.setting].template for example in self.examples}:
            raise ValueError(f"templates without an example: {', '.join(sorted(lacking))}; write one for each")
        return self

    def render(self, setting: str, values: Mapping[str, Any]) -> tuple[str | None, str]:
        """Return the system prompt, where there is one, and the prompt of a row in a setting.

        Errors: ValueError for a value that is asked for and not there; UnreadableCode.
        """
        rule = self.settings[setting]
        known = {**values, "given": rule.given, "limits": self.limits}
        system = self.templates[rule.template].system
        return (
            self.texts.render(f"{rule.template}.system", known) if system else None,
            self.texts.render(rule.template, known),
        )


def columns_of(family: Family) -> list[Column]:
    """Return the columns that a row of a family has in a prompt; one that is a view has those of what it shows, too."""
    declared = BY_NAME[family]
    shown = [BY_NAME[declared.view_of]] if declared.view_of else []
    return [column for each in (*shown, declared) for column in table(each.published).columns]


@functools.cache
def _columns(family: Family) -> frozenset[str]:
    return frozenset(column.name for column in columns_of(family))


def prompt_rules(folder: Path | None = None) -> dict[str, PromptRules]:
    """Read `prompts/` of a folder of rules, by default that of the settings: by setting, the rules it stands in.

    Errors: RuleError for what is wrong in a file, and for a setting that two files have.
    """
    found: dict[str, PromptRules] = {}
    for path in sorted(((folder or settings().rules) / "prompts").glob("*.yaml")):
        rules = load(path, PromptRules)
        if twice := sorted(found.keys() & rules.settings.keys()):
            raise RuleError(f"{path.name}: settings that another file has too: {', '.join(twice)}; rename them")
        found |= dict.fromkeys(rules.settings, rules)
    return found
