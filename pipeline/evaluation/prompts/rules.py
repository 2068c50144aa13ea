"""The rules of `curation_rules/prompts/`: a file for each benchmark, with templates and the settings of its paper."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule, RuleError, load
from pipeline.core.settings import settings
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.prompts import PromptInput
from pipeline.evaluation.prompts.templates import Templates
from pipeline.families.all_families import BY_NAME
from pipeline.lake.schema import Column, table

_ADDED: Mapping[PromptInput, str] = {
    PromptInput.BM25: "documents",
    PromptInput.EMBEDDING: "documents",
    PromptInput.DOCUMENTS: "documents",
    PromptInput.OUTPUTS: "outputs",
    PromptInput.ATTEMPT: "attempt",
}
"""Names that inputs add to the columns of a row: documents are rows of `api_documents`."""

_ALWAYS = frozenset({"inputs", "limits"})


class Example(Rule):
    """The columns of a row that the template uses, and the expected prompt."""

    setting: str
    row: dict[str, Any]
    system: str | None = None
    prompt: str


class TemplateRule(Rule):
    """The prompt for a row of a family; `hidden` is the column with the name that the prompt must not reveal."""

    family: Family
    hidden: str | None = None
    system: str | None = None
    prompt: str


class SettingRule(Rule):
    """A setting of a paper: a template and its inputs."""

    meaning: str
    template: str
    inputs: tuple[PromptInput, ...] = ()


class PromptRules(Rule):
    """The prompts of one benchmark.

    `limits` are lengths of contexts in characters; templates include `parts`.
    """

    source: str = Field(description="the paper, and which texts are quoted from it")
    limits: dict[str, int] = Field(default_factory=dict)
    parts: dict[str, str] = Field(default_factory=dict)
    templates: dict[str, TemplateRule]
    settings: dict[str, SettingRule]
    examples: tuple[Example, ...] = Field(min_length=1)

    @functools.cached_property
    def texts(self) -> Templates:
        """The templates; system prompts are named `NAME.system`."""
        systems = {f"{name}.system": rule.system for name, rule in self.templates.items() if rule.system}
        return Templates(self.parts | systems | {name: rule.prompt for name, rule in self.templates.items()})

    def columns(self, template: str) -> frozenset[str]:
        """Return the columns of its rows that a template uses."""
        return self._names_used(template) & _columns(self.templates[template].family)

    def _names_used(self, template: str) -> frozenset[str]:
        system = self.texts.names_in(f"{template}.system") if self.templates[template].system else frozenset()
        return self.texts.names_in(template) | system

    def _added(self, template: str) -> set[str]:
        inputs = {item for setting in self.settings.values() if setting.template == template for item in setting.inputs}
        return {_ADDED[item] for item in inputs if item in _ADDED}

    @model_validator(mode="after")
    def _check_templates(self) -> PromptRules:
        if twice := sorted(self.parts.keys() & self.templates.keys()):
            raise InputError(
                f"both a part and a template: {', '.join(twice)}; rename one of them", code="rule_entry_twice"
            )
        for name, setting in self.settings.items():
            if setting.template not in self.templates:
                there = ", ".join(sorted(self.templates))
                raise InputError(
                    f"setting {name}: no template {setting.template!r}; there are {there}",
                    code="rule_reference_unknown",
                )
        return self

    @model_validator(mode="after")
    def _check_names(self) -> PromptRules:
        for name, rule in self.templates.items():
            columns = _columns(rule.family)
            if unknown := sorted(self._names_used(name) - columns - _ALWAYS - self._added(name)):
                raise InputError(
                    f"template {name}: {rule.family} rows have no {', '.join(unknown)}; correct the name",
                    code="rule_reference_unknown",
                )
            if rule.hidden is not None and rule.hidden not in columns:
                raise InputError(
                    f"template {name}: {rule.family} rows have no column {rule.hidden} to hide",
                    code="rule_reference_unknown",
                )
        return self

    @model_validator(mode="after")
    def _check_examples(self) -> PromptRules:
        for example in self.examples:
            if example.setting not in self.settings:
                raise InputError(f"example: no setting {example.setting!r}", code="rule_reference_unknown")
            system, prompt = self.render(example.setting, example.row)
            if (system, prompt) != (example.system or system, example.prompt):
                raise InputError(
                    f"example of {example.setting}: the template renders {prompt!r}", code="rule_example_wrong"
                )
        if untested := self.templates.keys() - {self.settings[example.setting].template for example in self.examples}:
            raise InputError(
                f"templates without an example: {', '.join(sorted(untested))}; write one for each",
                code="rule_entry_missing",
            )
        return self

    def render(self, setting: str, values: Mapping[str, Any]) -> tuple[str | None, str]:
        """Return the system prompt, where there is one, and the prompt of a row in a setting.

        Errors: ValueError for a missing value that the template uses; UnreadableCode.
        """
        rule = self.settings[setting]
        context = {**values, "inputs": rule.inputs, "limits": self.limits}
        system = self.templates[rule.template].system
        return (
            self.texts.render(f"{rule.template}.system", context) if system else None,
            self.texts.render(rule.template, context),
        )


def columns_of(family: Family) -> list[Column]:
    """Return the columns of a row of a family in a prompt; a view also has those of the viewed table."""
    declared = BY_NAME[family]
    viewed = [BY_NAME[declared.view_of]] if declared.view_of else []
    return [column for each in (*viewed, declared) for column in table(each.published).columns]


@functools.cache
def _columns(family: Family) -> frozenset[str]:
    return frozenset(column.name for column in columns_of(family))


def prompt_rules(folder: Path | None = None) -> dict[str, PromptRules]:
    """Return the prompt rules by setting from `prompts/` of a folder of rules, by default that of the settings.

    Errors: RuleError for an invalid file, and for a setting that two files have.
    """
    by_setting: dict[str, PromptRules] = {}
    for path in sorted(((folder or settings().rules) / "prompts").glob("*.yaml")):
        rules = load(path, PromptRules)
        if twice := sorted(by_setting.keys() & rules.settings.keys()):
            raise RuleError(
                f"{path.name}: settings that another file has too: {', '.join(twice)}; rename them",
                code="prompt_setting_twice",
            )
        by_setting |= dict.fromkeys(rules.settings, rules)
    return by_setting
