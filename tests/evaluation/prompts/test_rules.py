"""The rule files of prompts hold together, and say where and what is wrong when they do not."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pipeline.core.rules.load import RuleError, load
from pipeline.core.vocabularies.families import Family
from pipeline.evaluation.prompts.rules import PromptRules, prompt_rules
from pipeline.evaluation.prompts.templates import comment, head, tail
from tests.errors import raises

RULE = {
    "source": "a paper",
    "limits": {"left": 10},
    "parts": {"end": "Say it."},
    "templates": {
        "one": {"family": "completion", "hidden": "core_token", "prompt": '{{ masked_code }}{% include "end" %}'},
        "two": {"family": "context", "prompt": '{% if "bm25" in inputs %}{{ documents[0].path }}{% endif %}{{ hint }}'},
    },
    "settings": {
        "first": {"meaning": "one", "template": "one"},
        "second": {"meaning": "two", "template": "two", "inputs": ["bm25"]},
    },
    "examples": [
        {"setting": "first", "row": {"masked_code": "x"}, "prompt": "xSay it."},
        {"setting": "second", "row": {"hint": "a.", "documents": [{"path": "a.b"}]}, "prompt": "a.ba."},
    ],
}


def written(folder: Path, **changed: object) -> Path:
    """The rule file, with some of its keys changed."""
    path = folder / "paper.yaml"
    path.write_text(yaml.safe_dump(RULE | changed, sort_keys=False))
    return path


def test_every_family_has_settings_and_every_template_an_example() -> None:
    rules = prompt_rules()
    families = {rule.templates[rule.settings[name].template].family for name, rule in rules.items()}
    assert families == set(Family)
    assert len(rules) >= 25


def test_a_file_that_holds(tmp_path: Path) -> None:
    rules = load(written(tmp_path), PromptRules)
    assert rules.render("first", {"masked_code": "y"}) == (None, "ySay it.")
    assert rules.columns("one") == {"masked_code"}


ONE, TWO = RULE["templates"]["one"], RULE["templates"]["two"]  # type: ignore[index]
WRONG: dict[str, tuple[dict[str, object], str]] = {
    "a column that is none": ({"templates": {"one": {**ONE, "prompt": "{{ masked }}"}, "two": TWO}}, "have no masked"),
    "a column of another family": ({"templates": {"one": {**ONE, "prompt": "{{ hint }}"}, "two": TWO}}, "have no hint"),
    "an input of no setting": ({"templates": {"one": {**ONE, "prompt": "{{ documents }}"}, "two": TWO}}, "have no documents"),
    "no template": ({"templates": {"one": {**ONE, "prompt": "{% if %}"}, "two": TWO}}, "template one"),
    "a part that is none": ({"parts": {}}, "template one"),
    "nothing to hide": ({"templates": {"one": {**ONE, "hidden": "name"}, "two": TWO}}, "no column name to hide"),
    "a template that is none": ({"settings": {"first": {"meaning": "one", "template": "three"}}}, "no template 'three'"),
    "an example that does not hold": (
        {"examples": [{"setting": "first", "row": {"masked_code": "x"}, "prompt": "y"}, RULE["examples"][1]]},  # type: ignore[index]
        "renders 'xSay it.'",
    ),
    "an example without a value": (
        {"examples": [{"setting": "first", "row": {}, "prompt": "y"}, RULE["examples"][1]]},  # type: ignore[index]
        "'masked_code' is undefined",
    ),
    "a template without an example": ({"examples": [RULE["examples"][1]]}, "without an example: one"),  # type: ignore[index]
    "a part called like a template": ({"parts": {"end": "Say it.", "one": "x"}}, "both a part and a template: one"),
    "a value that cannot be used so": (
        {"templates": {"one": {**ONE, "prompt": "{{ masked_code | tail('x') }}"}, "two": TWO}},
        "template one: ",
    ),
    "a filter that is none": ({"templates": {"one": {**ONE, "prompt": "{{ masked_code | shout }}"}, "two": TWO}}, "No filter named"),
    "a part in itself": (
        {"parts": {"end": "{% include 'more' %}", "more": "{% include 'end' %}"}},
        "template end includes itself: one -> end -> more -> end",
    ),
    "an unknown key": ({"setting": {}}, "unknown key"),
    "what nothing gives": (
        {"settings": {"first": {"meaning": "one", "template": "one", "inputs": ["luck"]}}},
        "settings.first.inputs.0",
    ),
    "a way out of the sandbox": (
        {"templates": {"one": {**ONE, "prompt": "{{ masked_code.__class__.__mro__ }}"}, "two": TWO}},
        "unsafe",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, case: str) -> None:
    changed, message = WRONG[case]
    with raises(RuleError, "paper.yaml") as error:
        load(written(tmp_path, **changed), PromptRules)
    assert message in str(error.value)


def test_a_setting_of_two_files_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    written(folder).rename(folder / "another.yaml")
    written(folder)
    with raises(RuleError, "paper.yaml", code="prompt_setting_twice"):
        prompt_rules(tmp_path)


def test_contexts_are_cut_between_lines() -> None:
    text = "one\ntwo\nthree\n"
    assert (tail(text, 100), tail(text, 8), tail(text, 7)) == (text, "three\n", "three\n")
    assert (head(text, 100), head(text, 9), head(text, 2)) == (text, "one\ntwo", "on")
    assert (tail("a = " + "b" * 9, 5), tail("one\n", 2)) == ("bbbbb", "e\n")


def test_comments_keep_their_paragraphs_together() -> None:
    assert comment("a\n\n  b\n") == "# a\n#\n#   b"
