"""Rows that a strict reader judged by hand, and the rules of today: which of them they would still make."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.samples import DraftField, Granularity
from pipeline.corpus.witnesses.deprecations import without_filter
from pipeline.families.compatibilities.rules import CompatibilityRules
from pipeline.families.compatibilities.stage import _private_name
from pipeline.families.completions_and_migrations.guessing import refuse_unknowable, unknowable
from pipeline.families.completions_and_migrations.masks import MASKS, Masked, unmask
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import parse_source
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.llm.names import spelling_words
from pipeline.llm.rules import DraftingRules
from pipeline.llm.writers import OfflineWriter, Request
from pipeline.quality.acceptance.quality import QualityRules

GUESSING = load(RULES / "masking.yaml", MaskingRules).guessing
DRAFTING = load(RULES / "drafting.yaml", DraftingRules)
WRITER = OfflineWriter(DRAFTING)
COMPATIBILITIES = load(RULES / "compatibilities.yaml", CompatibilityRules)
QUALITY = load(RULES / "quality.yaml", QualityRules)
REPOSITORY = load(RULES / "repository.yaml", RepositoryRules)
NAME = MASKS[Granularity.TOKEN]

JUDGED: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "rows.jsonl").read_text(encoding="utf-8").splitlines()
]


def accepts(family: str, row: Any) -> bool:
    """Return whether the rules of today make such a row."""
    if family == "repository_tasks":
        able = row["mutants"] - row["mutants_equivalent"]
        enough = row["tests"] >= REPOSITORY.min_tests and row["coverage"] >= REPOSITORY.min_coverage
        return bool(enough and able >= REPOSITORY.min_mutants)
    if family == "problems":
        decides = row["other_code"] != "reference_elsewhere" or row["other_outcome"] in QUALITY.same_code_fails
        is_described = _is_described(row["problem"].partition("\n\n")[0], row["core"])
        return row["evidence"] == "executed" and decides and is_described
    if family == "contexts":
        return not _unknown_of_context(row)
    if family == "compatibilities":
        code = without_filter(row["code"])
        is_short = len(code.strip().split("\n")) <= COMPATIBILITIES.max_lines
        return is_short and not COMPATIBILITIES.gives_away.search(code) and not _private_name(row["path"], code)
    if family == "controlled_completions":
        is_spelled = spelling_words(row["core_token"], row["description"], DRAFTING.spelled_name)
        return not is_spelled and _is_described(row["description"], row["core_token"])
    return _can_be_known(family, row) and _is_described(row["description"] or "", row["core_token"])


def _is_described(description: str, name: str) -> bool:
    """Say whether the sentence with the hidden name in it makes a description; a description of several is clean."""
    if WRITER.rules.placeholder not in description:
        return True
    docstring = description.replace(WRITER.rules.placeholder, name)
    return WRITER.text(Request("", DraftField.DESCRIPTION, (name,), (docstring,), "")) is not None


def _can_be_known(family: str, row: Any) -> bool:
    level = Granularity(row["granularity"])
    if level == Granularity.TOKEN:
        return True
    before = row["masked_code"].partition(MASKS[level])[0].replace(NAME, row["core_token"])
    start = len(before.encode())
    masked = Masked(row["masked_code"], row["answer"], (start, start + len(row["answer"].encode())))
    source = parse_source(unmask(row["masked_code"], level, row["answer"], row["core_token"]))
    description = row["description"] or "" if family == "functions" else ""
    return refuse_unknowable(source, masked, row["core_token"], level, GUESSING, description) is None


def _unknown_of_context(row: Any) -> list[str]:
    shown = row["imports"] + row["left_context"], row["right_context"]
    before, after = (text.replace(NAME, row["core_token"]) for text in shown)
    source = parse_source(before + row["reference_call"] + after)
    start = len((before + row["hint"]).encode())
    span = start, len((before + row["reference_call"]).encode())
    return unknowable(source, span, "\n".join((*shown, row["hint"])), row["core_token"], GUESSING, row["hint"])


def test_the_rules_make_and_refuse_what_they_did() -> None:
    found = {row["id"] + row["family"]: accepts(row["family"], row["row"]) for row in JUDGED}
    assert found == {row["id"] + row["family"]: row["accepted"] for row in JUDGED}


def test_what_the_rules_make_is_better_than_what_they_refuse() -> None:
    made = Counter(row["verdict"] for row in JUDGED if row["accepted"])
    refused = Counter(row["verdict"] for row in JUDGED if not row["accepted"])
    assert len(JUDGED) >= 200
    assert made["good"] >= 0.75 * made.total()
    assert made["unusable"] <= 0.03 * made.total()
    assert refused["good"] <= 0.25 * refused.total()
