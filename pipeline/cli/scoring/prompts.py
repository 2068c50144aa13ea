"""`driftline prompts`: the rows of a snapshot as prompts, in the setting of a paper."""

from __future__ import annotations

import json as json_text
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, notify, print_json, print_table, progress
from pipeline.cli.scoring.views import Cutoff, ViewName, view_of
from pipeline.cli.snapshots import SnapshotName, find_snapshot
from pipeline.core.errors import InputError
from pipeline.core.rules.load import load
from pipeline.core.settings import settings
from pipeline.core.spelling import did_you_mean
from pipeline.core.vocabularies.evaluation import View
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.prompts import NoPrompt, PromptInput
from pipeline.evaluation.prompts.make import Prompt, Without, prompts
from pipeline.evaluation.prompts.rows import Attempts, read_attempts
from pipeline.evaluation.prompts.rules import PromptRules, prompt_rules
from pipeline.evaluation.views import TaskView
from pipeline.families.all_families import BY_NAME
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.lake.tables import replacing
from pipeline.snapshots.format.reader import Snapshot


def _list(requested: bool) -> None:
    if requested:
        lines = [(name, _family(rules, name), rules.settings[name].meaning) for name, rules in prompt_rules().items()]
        print_table("settings", ("setting", "family", "meaning"), lines)
        raise typer.Exit


def write_prompts(
    snapshot: SnapshotName,
    setting: Annotated[str, typer.Option(help="Name of the setting; --list shows all.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="File of the prompts, JSON lines.", show_default=False)],
    attempts: Annotated[
        Path | None, typer.Option(help="Failed answers for self-debugging: JSON lines {id, solution, trace}.")
    ] = None,
    _: Annotated[
        bool, typer.Option("--list", help="List the settings and exit.", callback=_list, is_eager=True)
    ] = False,
    view: ViewName = View.DISCRIMINATING,
    cutoff: Cutoff = None,
    json: Json = False,
) -> None:
    """Write the prompts of a snapshot in one setting: lines {id, family, setting, system, prompt, canary}.

    Predictions for `driftline score` repeat id and family. Rows without a prompt are counted by reason. Ends with
    status 0, 1 if no row has a prompt, 2 for bad usage.

    Example: driftline prompts starter --setting versicode-completion --out prompts.jsonl
    """
    by_setting = prompt_rules()
    if setting not in by_setting:
        fail(setting_error(setting), BAD_USAGE)
    chosen, folder = view_of(view, cutoff), find_snapshot(snapshot)
    ignore_case = load(settings().rules / "masking.yaml", MaskingRules).ignore_case
    if attempts and PromptInput.ATTEMPT not in by_setting[setting].settings[setting].inputs:
        fail(
            f"{setting} shows no failed answers: leave out --attempts, or name a setting for self-debugging", BAD_USAGE
        )
    try:
        tried: Attempts = read_attempts(attempts) if attempts else {}
        results = prompts(
            Snapshot(folder),
            setting,
            by_setting[setting],
            ignore_case=ignore_case,
            attempts=tried,
            view=chosen,
        )
        with progress(f"writing prompts of {setting}"):
            counts, strangers = _write(out, results, tried)
    except ValueError as error:
        fail(error, BAD_USAGE)
    written = counts.pop("prompts", 0)
    if json:
        without = dict(sorted(counts.items()))
        fields = {"snapshot": str(folder), "setting": setting, "prompts": written, "without": without}
        print_json({**fields, "attempts_without_row": strangers})
    else:
        _report(out, written, counts, strangers, chosen)
        if not written and not counts:
            family = BY_NAME[Family(_family(by_setting[setting], setting))]
            notify(f"{folder.name} has no rows of {family.table}: {family.advice[0]}; {family.advice[1]}")
    raise typer.Exit(0 if written else PROBLEM)


def setting_error(setting: str) -> InputError:
    """Return the error about a setting that does not exist, with the nearest names."""
    near = did_you_mean(setting, prompt_rules())
    problem = f"{setting}: no such setting{near}; `driftline prompts --list` shows all"
    return InputError(problem, code="prompt_setting_unknown")


def _family(rules: PromptRules, setting: str) -> str:
    return rules.templates[rules.settings[setting].template].family


def _write(out: Path, results: Iterator[Prompt | Without], tried: Attempts) -> tuple[Counter[str], list[str]]:
    """Write the prompts; return counts of rows by result, and the ids of failed answers without a row."""
    counts: Counter[str] = Counter()
    strangers = dict.fromkeys(tried)
    with replacing(out) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for result in results:
            strangers.pop(result.id, None)
            counts["prompts" if isinstance(result, Prompt) else result.reason] += 1
            if isinstance(result, Prompt):
                file.write(json_text.dumps(result.as_json(), ensure_ascii=False) + "\n")
    return counts, list(strangers)


def _report(out: Path, written: int, without: Mapping[str, int], strangers: Sequence[str], view: TaskView) -> None:
    if strangers:
        notify(
            f"{len(strangers)} failed answers are left out: the snapshot has no such problem, first {strangers[0]!r}"
        )
    meanings = {str(reason): reason.meaning for reason in NoPrompt}
    for reason, rows in sorted(without.items()):
        notify(f"{rows} rows have no prompt, {reason}: {meanings[reason]}")
    if without.get(NoPrompt.NOT_IN_VIEW):
        notify(f"the view is {view}; --view {View.ALL} takes all rows")
    notify(f"{written} prompts in {out}")
