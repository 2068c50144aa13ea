"""The prompts of a setting, made of the rows of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.prompts import Given, NoPrompt
from pipeline.evaluation.prompts.code import UnreadableCode
from pipeline.evaluation.prompts.rows import Attempts, rows_of
from pipeline.evaluation.prompts.rules import PromptRules, columns_of
from pipeline.families.all_families import BY_NAME
from pipeline.families.completions_and_migrations.masks import readable
from pipeline.lake.schema import Row
from pipeline.snapshots.format.reader import Snapshot


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is given for a row; `system` where the setting has a system prompt.

    `canary` is the row's: whoever trains on it can be found out.
    """

    id: str
    family: Family
    setting: str
    system: str | None
    prompt: str
    canary: str
    is_unnoticed: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the line of a file of prompts, with a mark if its tests do not notice an empty answer."""
        system = {"system": self.system} if self.system is not None else {}
        named = {"id": self.id, "family": self.family, "setting": self.setting}
        marked = {"discriminating": False} if self.is_unnoticed else {}
        return {**named, **system, "prompt": self.prompt, "canary": self.canary, **marked}


@dataclass(frozen=True, slots=True)
class Without:
    """A row that has no prompt in a setting, and why."""

    id: str
    reason: NoPrompt
    detail: str


def prompts(
    snapshot: Snapshot,
    setting: str,
    rules: PromptRules,
    *,
    ignore_case: bool,
    attempts: Attempts | None = None,
    unnoticed: bool = False,
) -> Iterator[Prompt | Without]:
    """Yield the prompt of each row that a setting is for, or why it has none, in the order of the snapshot.

    `attempts` are failed answers by id, for the settings that show one; `ignore_case` is that of `masking.yaml`. Scenes
    whose tests do not notice an empty answer have one only if `unnoticed` takes them in.

    Errors: those of the snapshot's `rows`; ValueError for a row that the template cannot take.
    """
    rule = rules.settings[setting]
    family = rules.templates[rule.template].family
    shown = _shown(rules, rule.template)
    for row_id, row in rows_of(snapshot, family, rule.given, attempts or {}):
        if BY_NAME[family].unnoticed(row):
            reason = NoPrompt.NOT_DISCRIMINATING
            made = _of_row(row_id, row, setting, rules, shown, ignore_case=ignore_case) if unnoticed else None
            yield replace(made, is_unnoticed=True) if isinstance(made, Prompt) else made or Without(row_id, reason, "")
            continue
        yield _of_row(row_id, row, setting, rules, shown, ignore_case=ignore_case)


def _of_row(
    row_id: str, row: Row, setting: str, rules: PromptRules, shown: list[str], *, ignore_case: bool
) -> Prompt | Without:
    rule = rules.settings[setting]
    template = rules.templates[rule.template]
    if row.get("documents") == []:
        return Without(row_id, NoPrompt.NO_DOCUMENT, "nothing was found for it, or nothing bears on it")
    if Given.ATTEMPT in rule.given and row["attempt"] is None:
        return Without(row_id, NoPrompt.NO_ATTEMPT, "name a file with its failed answer and the trace")
    if template.hidden and (leak := leaking(row, template.hidden, shown, ignore_case=ignore_case)):
        return Without(row_id, NoPrompt.LEAKS_ANSWER, leak)
    try:
        system, text = rules.render(setting, row)
    except UnreadableCode as error:
        return Without(row_id, NoPrompt.UNREADABLE, str(error))
    except ValueError as error:
        raise ValueError(f"{template.family} {row_id}: {error}; correct it in curation_rules/prompts") from None
    return Prompt(row_id, template.family, setting, system, text, row["canary"])


def leaking(row: Mapping[str, Any], hidden: str, shown: list[str], *, ignore_case: bool) -> str | None:
    """Return in which of the columns that are shown a hidden name can be read, and how; None if in none.

    The documents that a retriever found are no columns: they are what the documentation has, answer and all.
    """
    for column in shown:
        found = readable(row[column] or "", row[hidden], ignore_case=ignore_case)
        if found is not None:
            return f"{found!r} is to be read in {column}"
    return None


def _shown(rules: PromptRules, template: str) -> list[str]:
    """Return the columns with texts that a template shows; a term of a vocabulary tells of no name."""
    family = rules.templates[template].family
    declared = {column.name: column.type for column in columns_of(family)}
    return sorted(name for name in rules.columns(template) if declared[name] == "string")
