"""The prompts of a setting for the rows of a snapshot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

from pipeline.core.errors import InputError
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.prompts import NoPrompt, PromptInput
from pipeline.corpus.witnesses.scripts import OUTPUT
from pipeline.evaluation.prompts.code import UnreadableCode
from pipeline.evaluation.prompts.rows import Attempts, rows_of
from pipeline.evaluation.prompts.rules import PromptRules, columns_of
from pipeline.evaluation.views import ALL_ROWS, TaskView, no_row_after
from pipeline.families.all_families import BY_NAME
from pipeline.families.completions_and_migrations.masks import mask_in_output, readable
from pipeline.families.completions_and_migrations.required_names import required_names
from pipeline.lake.rows import AnyRow, PublishedMigrationRow
from pipeline.snapshots.format.reader import Snapshot


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt for a row, with its canary; `system` is None where the setting has no system prompt."""

    id: str
    family: Family
    setting: str
    system: str | None
    prompt: str
    canary: str

    def as_json(self) -> dict[str, Any]:
        """Return the line of a file of prompts."""
        system = {"system": self.system} if self.system is not None else {}
        named = {"id": self.id, "family": self.family, "setting": self.setting}
        return {**named, **system, "prompt": self.prompt, "canary": self.canary}


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
    view: TaskView = ALL_ROWS,
) -> Iterator[Prompt | Without]:
    """Yield the prompt of each row of a setting's family, or the reason why it has none, in the order of the snapshot.

    `attempts` are failed answers by id, for settings that include one; `ignore_case` is that of `masking.yaml`.

    Errors: those of the snapshot's `rows`; InputError for a row that the template cannot render, and at the end if the
    cutoff of the view leaves out all rows, of which there is at least one.
    """
    rule = rules.settings[setting]
    family = rules.templates[rule.template].family
    columns = _text_columns(rules, rule.template)
    declared, days, inside, outside = BY_NAME[family], set[date](), 0, 0
    for row_id, row in rows_of(snapshot, family, rule.inputs, attempts or {}):
        if not view.has(declared, row):
            outside += 1
            days |= {day for day in [declared.day_of(row)] if day}
            yield Without(row_id, NoPrompt.NOT_IN_VIEW, "")
            continue
        inside += 1
        yield _of_row(row_id, row, setting, rules, columns, ignore_case=ignore_case)
    if outside and not inside and view.cutoff:
        raise no_row_after(view, declared.table, days)


def _of_row(
    row_id: str, row: AnyRow, setting: str, rules: PromptRules, columns: list[str], *, ignore_case: bool
) -> Prompt | Without:
    rule = rules.settings[setting]
    template = rules.templates[rule.template]
    if row.get("documents") == []:
        return Without(row_id, NoPrompt.NO_DOCUMENT, "no document was retrieved for it, or none documents its APIs")
    if PromptInput.ATTEMPT in rule.inputs and row["attempt"] is None:
        return Without(row_id, NoPrompt.NO_ATTEMPT, "name a file with its failed answer and the trace")
    if template.hidden and (leak := leaking(row, template.hidden, columns, ignore_case=ignore_case)):
        return Without(row_id, NoPrompt.LEAKS_ANSWER, leak)
    if row.get("outputs"):
        if template.family is Family.MIGRATION:
            code, names = row["source_code"], _new_names(cast(PublishedMigrationRow, row), ignore_case=ignore_case)
            outputs = row["outputs"]
        else:
            code, names = row["masked_code"], {row["core_token"]}
            outputs = mask_in_output(row["outputs"], row["core_token"])
        row = {**row, "outputs": _displayed(outputs, code, names, ignore_case=ignore_case)}
    try:
        system, text = rules.render(setting, row)
    except UnreadableCode as error:
        return Without(row_id, NoPrompt.UNREADABLE, str(error))
    except ValueError as error:
        raise InputError(
            f"{template.family} {row_id}: {error}; correct it in curation_rules/prompts", code="prompt_not_rendered"
        ) from None
    return Prompt(row_id, template.family, setting, system, text, row["canary"])


def _displayed(outputs: str, code: str, names: Collection[str], *, ignore_case: bool) -> str:
    """Return outputs, or nothing if comments of the code have all of them, or if they have a name that is asked for."""
    in_comments = Counter(line.partition(OUTPUT)[2] for line in code.splitlines())
    if Counter(outputs.splitlines()) <= in_comments:
        return ""
    return "" if any(readable(outputs, name, ignore_case=ignore_case) for name in names) else outputs


def _new_names(row: PublishedMigrationRow, *, ignore_case: bool) -> set[str]:
    """Return the names that an answer to a migration must have and its source code does not show."""
    required = required_names(row["source_code"], row["target_code"], row["target_path"])
    names = {row["target_name"], *required.apis, *required.parameters}
    return {name for name in names if not readable(row["source_code"], name, ignore_case=ignore_case)}


def leaking(row: AnyRow, hidden: str, columns: list[str], *, ignore_case: bool) -> str | None:
    """Return the first column in a prompt that reveals a hidden name, and the spelling; None if none does.

    Retrieved documents are no columns: they may contain the answer.
    """
    for column in columns:
        spelling = readable(row[column] or "", row[hidden], ignore_case=ignore_case)
        if spelling is not None:
            return f"{spelling!r} occurs in {column}"
    return None


def _text_columns(rules: PromptRules, template: str) -> list[str]:
    """Return the columns with free text that a template uses; terms of a vocabulary reveal no name."""
    family = rules.templates[template].family
    declared = {column.name: column.type for column in columns_of(family)}
    return sorted(name for name in rules.columns(template) if declared[name] == "string")
