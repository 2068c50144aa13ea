"""The rows of a snapshot in every setting: who gets a prompt, who does not and why."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.core.errors import InputError
from pipeline.core.rules.load import load
from pipeline.core.vocabularies.evaluation import View
from pipeline.core.vocabularies.prompts import NoPrompt
from pipeline.core.vocabularies.samples import Direction, Granularity
from pipeline.core.vocabularies.scenes import Scene
from pipeline.evaluation.export.codevbench import prompt_of
from pipeline.evaluation.prompts.make import Prompt, Without, prompts
from pipeline.evaluation.prompts.rows import Attempt, read_attempts
from pipeline.evaluation.prompts.rules import PromptRules, prompt_rules
from pipeline.evaluation.views import task_view
from pipeline.snapshots.format.reader import Snapshot
from tests.errors import raises
from tests.evaluation.export.columns import filled
from tests.evaluation.export.demo import scene
from tests.evaluation.export.rows import completion, context, document, lake_tables, migration, problem, snapshot_of

RULES = prompt_rules()
ATTEMPT = {problem()["id"]: Attempt("    return a\n", "AssertionError")}


def made(snapshot: Path, setting: str, attempts: dict[str, Attempt] | None = None) -> list[Prompt | Without]:
    return list(prompts(Snapshot(snapshot), setting, RULES[setting], ignore_case=True, attempts=attempts))


def retrieval(rank: int, retriever: str, path: str, first: str) -> Any:
    columns = {"completion_id": "completion-token", "library": "lib", "retriever": retriever, "rank": rank}
    return filled("published_retrievals", **columns, document_id=f"{path} {first}", path=path)


TABLES = lake_tables() | {
    "published_retrievals": [
        retrieval(2, "bm25", "lib.fetch", "1.0"),
        retrieval(1, "bm25", "lib.load", "2.0"),
        retrieval(1, "embedding", "lib.fetch", "1.0"),
    ]
}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return snapshot_of(TABLES, tmp_path_factory.mktemp("snapshot"))


@pytest.mark.parametrize("setting", RULES)
def test_every_setting_says_what_came_of_each_row(snapshot: Path, setting: str) -> None:
    found = made(snapshot, setting, ATTEMPT)
    assert len({one.id for one in found}) == len(found) > 0
    for one in found:
        if isinstance(one, Without):
            assert (setting, one.reason) == ("gitchameleon-documents", NoPrompt.NO_DOCUMENT)
        else:
            assert one.prompt.strip()
            assert list(one.as_json())[:3] == ["id", "family", "setting"]
            assert one.as_json()["canary"] == one.canary


@pytest.mark.parametrize("setting", [name for name in RULES if name.startswith(("versicode-completion", "libevol"))])
def test_no_prompt_names_the_answer_but_in_documents(snapshot: Path, setting: str) -> None:
    for one in made(snapshot, setting):
        assert isinstance(one, Prompt)
        assert ("fetch" in one.prompt) == ("retrieval" in setting)


@pytest.mark.parametrize("setting", [name for name in RULES if name.startswith("versicode-completion")])
def test_version_and_imports_are_there_as_the_setting_says(snapshot: Path, setting: str) -> None:
    for one in made(snapshot, setting):
        assert isinstance(one, Prompt)
        assert ("1.1" in one.prompt) == ("without-version" not in setting)
        assert ("from lib import" in one.prompt) == (not setting.endswith("imports"))


def test_the_documents_of_the_retriever_come_best_first(snapshot: Path) -> None:
    (bm25,) = made(snapshot, "libevolutioneval-retrieval-bm25")
    (embedding,) = made(snapshot, "libevolutioneval-retrieval-embedding")
    assert isinstance(bm25, Prompt)
    assert isinstance(embedding, Prompt)
    assert bm25.prompt.index("# lib.load(number)") < bm25.prompt.index("# lib.fetch(number)")
    assert "lib.load" not in embedding.prompt


@pytest.mark.parametrize("is_empty", [True, False])
def test_only_a_cutoff_that_leaves_rows_out_is_too_late(tmp_path: Path, is_empty: bool) -> None:
    rows = [] if is_empty else [problem()]
    snapshot = Snapshot(snapshot_of(TABLES | {"published_problems": rows}, tmp_path))
    name = "gitchameleon-greedy"
    rendered = prompts(snapshot, name, RULES[name], ignore_case=True, view=task_view(View.POST_CUTOFF, "9999-12-31"))
    if is_empty:
        assert list(rendered) == []
    else:
        with raises(InputError, code="cutoff_after_rows"):
            list(rendered)


def test_a_problem_shows_the_documents_that_hold_at_its_version(tmp_path: Path) -> None:
    asked = problem() | {"documented_paths": ["lib.load", "lib.fetch"]}
    snapshot = snapshot_of(TABLES | {"published_problems": [asked]}, tmp_path)
    (one,) = made(snapshot, "gitchameleon-documents")
    assert isinstance(one, Prompt)
    assert "lib.load(number)\nGet a page of it.\n    number: which page\nBased on" in one.prompt


def test_self_debugging_shows_the_failed_answer_and_its_trace(snapshot: Path) -> None:
    (one,) = made(snapshot, "gitchameleon-self-debugging", ATTEMPT)
    assert isinstance(one, Prompt)
    assert "<Generated Solution>\n    return a\n</Generated Solution>\n<Trace>\nAssertionError\n</Trace>" in one.prompt
    (none,) = made(snapshot, "gitchameleon-self-debugging")
    assert isinstance(none, Without)
    assert none.reason is NoPrompt.NO_ATTEMPT


def test_a_scene_is_shown_as_its_export_has_it(tmp_path: Path) -> None:
    related = {
        "namespace": "demo.a",
        "path": "demo/a.py",
        "first_line": 1,
        "last_line": 1,
        "code": "X = 1\n",
        "similarity": None,
    }
    scenes = [scene(kind) for kind in (Scene.WHOLE_BLOCK, Scene.NOTHING_BELOW)] + [
        scene(Scene.OTHER_FILES) | {"related": [related]}
    ]
    snapshot = snapshot_of(TABLES | {"published_scenes": scenes}, tmp_path)
    found = {one.id: one.prompt for one in made(snapshot, "codevbench-fim") if isinstance(one, Prompt)}
    assert found == {row["id"]: prompt_of(row) for row in scenes}


DISPLAYED = "[1, 2]\n"
TWICE: list[Any] = [("fetch(1)", DISPLAYED, []), ("fetch(1)", DISPLAYED, [])]
OUTPUTS: dict[str, tuple[Granularity, Any, str]] = {
    "a line": (Granularity.LINE, {}, "[1, 2]"),
    "a block": (Granularity.BLOCK, {}, "[1, 2]"),
    "a name": (Granularity.TOKEN, {}, "[1, 2]"),
    "what a comment has": (Granularity.TOKEN, {"masked_code": "[token-mask](1)  # [1, 2]\n"}, ""),
    "what a comment has as a part": (Granularity.TOKEN, {"masked_code": "[token-mask](1)  # [1, 2], 3\n"}, "[1, 2]"),
    "what a comment has once": (
        Granularity.BLOCK, {"masked_code": "[token-mask](1)  # [1, 2]\n[block-mask]\n", "checks": TWICE}, "[1, 2]\n[1, 2]",
    ),
    "one line more than comments have": (
        Granularity.BLOCK,
        {"masked_code": "[token-mask](1)  # [1, 2]\n[block-mask]\n", "checks": [*TWICE[:1], ("fetch(2)", "3\n", [])]},
        "[1, 2]\n3",
    ),
    "what was not run": (Granularity.LINE, {"reference_outcome": None}, ""),
    "what represents an object of its name": (
        Granularity.LINE, {"checks": [("fetch(1)", "fetch(1)\n", []), *TWICE[:1]]}, "[token-mask](1)\n[1, 2]",
    ),
    "what represents a class of its name": (
        Granularity.TOKEN, {"checks": [("fetch(1)", "<class 'lib.fetch'>\n", [])]}, "<class 'lib.[token-mask]'>",
    ),
    "what has its name as a value": (Granularity.TOKEN, {"checks": [("fetch(1)", "{'fetch': 1}\n", [])]}, ""),
    "a mask that is cut off": (
        Granularity.TOKEN, {"checks": [("fetch(1)", "x\n" * 1000 + "fetch(1)\n", [])]}, ("x\n" * 1000).strip(),
    ),
    "what has the answer in a longer word": (
        Granularity.LINE, {"checks": [("fetch(1)", "a fetched\n", [])]}, "a fetched",
    ),
    "what names the answer in other letters": (Granularity.LINE, {"checks": [("fetch(1)", "Fetch\n", [])]}, ""),
    "what a masked comment has": (
        Granularity.TOKEN,
        {"masked_code": "[token-mask](1)  # [token-mask](1)\n", "checks": [("fetch(1)", "fetch(1)\n", [])]},
        "",
    ),
    "what no statement displays": (Granularity.LINE, {"checks": [("fetch(1)", None, [])]}, ""),
    "what is not looked at": (Granularity.LINE, {"checks": [("fetch(1)", DISPLAYED, ["SKIP"])]}, ""),
}  # fmt: skip


def displayed_in(prompt: str) -> str:
    """Return the outputs that a prompt shows."""
    return prompt.partition("\n\nRun as in an interactive session, the code displays")[2].partition(":\n")[2]


@pytest.mark.parametrize("case", OUTPUTS)
def test_prompts_show_the_outputs_of_the_program(tmp_path: Path, case: str) -> None:
    granularity, changed, shown = OUTPUTS[case]
    checks = changed.get("checks", [("fetch(1)", DISPLAYED, [])])
    keys = ("statement", "expected", "options")
    snippet = filled(
        "snippets", id="shown", library="lib", checks=[dict(zip(keys, each, strict=True)) for each in checks]
    )
    row = completion(granularity, snippet_id="shown") | {"reference_outcome": "passed"} | changed
    row.pop("checks", None)
    content = {
        "published_completions": [row],
        "published_contexts": [],
        "published_retrievals": [],
        "snippets": [snippet],
    }
    (one,) = made(snapshot_of(TABLES | content, tmp_path), "versicode-completion")
    assert isinstance(one, Prompt)
    assert displayed_in(one.prompt) == shown
    assert ("([token-mask] is the hidden name)" in one.prompt) == ("[token-mask]" in shown)
    assert ("displays" in one.prompt) == bool(shown)


OUTPUTS_OF_MIGRATIONS = {
    "an output": ("fetch(1)\n", "get(1)\n", "lib.get", DISPLAYED, True),
    "a comment has it": ("fetch(1)  # [1, 2]\n", "get(1)\n", "lib.get", DISPLAYED, False),
    "it names what is asked for": ("fetch(1)\n", "get(1)\n", "lib.get", "use get\n", False),
    "it names what both have": (
        "from lib import Old\nOld.build(1)\n", "from lib import New\nNew.build(1)\n", "lib.New.build", "build\n", True,
    ),
    "it names the new module": (
        "from lib import escape\nescape(1)\n", "from markup import escape\nescape(1)\n", "markup.escape",
        "<class 'markup.Text'>\n", False,
    ),
    "it names the new parameter": (
        "from lib import page\npage(size=2)\n", "from lib import page\npage(limit=2)\n", "lib.page",
        "{'limit': 2}\n", False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OUTPUTS_OF_MIGRATIONS)
def test_prompts_of_migrations_show_the_outputs_of_the_program(tmp_path: Path, case: str) -> None:
    source_code, target_code, target_path, displayed, is_shown = OUTPUTS_OF_MIGRATIONS[case]
    checks = [{"statement": "fetch(1)", "expected": displayed, "options": []}]
    row = migration(Direction.OLD_TO_NEW) | {
        "snippet_id": "shown",
        "source_code": source_code,
        "target_code": target_code,
        "target_path": target_path,
        "target_name": target_path.rpartition(".")[2],
        "reference_outcome": "passed",
    }
    snippet = filled("snippets", id="shown", library="lib", checks=checks)
    snapshot = snapshot_of(TABLES | {"published_migrations": [row], "snippets": [snippet]}, tmp_path)
    (one,) = made(snapshot, "versicode-migration")
    assert isinstance(one, Prompt)
    assert displayed_in(one.prompt) == (displayed.strip() if is_shown else "")
    assert ("displays" in one.prompt) == is_shown


LEAKS = {
    "in the description": ({"description": "Use Fetch to get it."}, "'Fetch' occurs in description"),
    "as the library": ({"library": "fetch"}, "'fetch' occurs in library"),
    "in the code": ({"masked_code": "x = [token-mask](1)  # fetch\n"}, "'fetch' occurs in masked_code"),
}


@pytest.mark.parametrize("case", LEAKS)
def test_a_row_that_shows_the_hidden_name_gets_no_prompt(tmp_path: Path, case: str) -> None:
    changed, detail = LEAKS[case]
    row = completion(Granularity.TOKEN) | changed
    snapshot = snapshot_of(
        TABLES | {"published_completions": [row], "published_contexts": [], "published_retrievals": []}, tmp_path
    )
    (one,) = made(snapshot, "versicode-completion")
    assert one == Without(row["id"], NoPrompt.LEAKS_ANSWER, detail)


def test_a_name_that_is_a_word_of_the_instruction_is_no_leak(tmp_path: Path) -> None:
    row = completion(Granularity.TOKEN, core_token="name", answer="name")
    snapshot = snapshot_of(
        TABLES | {"published_completions": [row], "published_contexts": [], "published_retrievals": []}, tmp_path
    )
    assert Counter(type(one) for one in made(snapshot, "versicode-completion")) == {Prompt: 1}


def test_code_that_cannot_be_parted_is_told(tmp_path: Path) -> None:
    row = completion(Granularity.TOKEN) | {"masked_code": "x = ([token-mask]\n"}
    snapshot = snapshot_of(
        TABLES | {"published_completions": [row], "published_contexts": [], "published_retrievals": []}, tmp_path
    )
    (one,) = made(snapshot, "versicode-completion-without-imports")
    assert isinstance(one, Without)
    assert one.reason is NoPrompt.UNREADABLE


def test_a_template_in_a_row_stays_text(tmp_path: Path) -> None:
    first = completion(Granularity.TOKEN) | {"description": "{{ core_token }}{% raw %}"}
    whole = context(first) | {"left_context": "x = '{{ canary }}' + "}
    docs = [document("lib.fetch", "1.0", None, "{{ 1 + 1 }}"), document("lib.load", "2.0", None, "")]
    changed = {"published_completions": [first], "published_contexts": [whole], "api_documents": docs}
    snapshot = snapshot_of(TABLES | changed, tmp_path)
    (one,) = made(snapshot, "versicode-completion")
    (other,) = made(snapshot, "libevolutioneval-retrieval-embedding")
    assert isinstance(one, Prompt)
    assert isinstance(other, Prompt)
    assert "What the code does: {{ core_token }}{% raw %}\n" in one.prompt
    assert "# {{ 1 + 1 }}\n" in other.prompt
    assert "'{{ canary }}'" in other.prompt


def test_a_value_that_a_template_cannot_use_is_told_with_its_row(snapshot: Path, tmp_path: Path) -> None:
    rule = {
        "source": "a test",
        "templates": {"one": {"family": "migration", "prompt": "{{ description | comment }}"}},
        "settings": {"first": {"meaning": "one", "template": "one"}},
        "examples": [{"setting": "first", "row": {"description": "Get it."}, "prompt": "# Get it."}],
    }
    (tmp_path / "paper.yaml").write_text(yaml.safe_dump(rule))
    rules = load(tmp_path / "paper.yaml", PromptRules)
    with raises(InputError, code="prompt_not_rendered"):
        list(prompts(Snapshot(snapshot), "first", rules, ignore_case=True))


BROKEN = {
    "no JSON": ('{"id": "a"\n', "a.jsonl:1", "trace_invalid"),
    "no solution": ('\n{"id": "a", "trace": "t"}\n', "a.jsonl:2", "trace_invalid"),
    "not text": ('{"id": "a", "solution": 1, "trace": "t"}\n', "a.jsonl:1", "trace_invalid"),
    "twice": ('{"id": "a", "solution": "s", "trace": "t"}\n' * 2, "a.jsonl:2", "trace_twice"),
    "a list": ("[]\n", "a.jsonl:1", "trace_invalid"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_failed_answers_that_cannot_be_read(tmp_path: Path, case: str) -> None:
    text, line, code = BROKEN[case]
    (tmp_path / "a.jsonl").write_text(text)
    with raises(InputError, line, code=code):
        read_attempts(tmp_path / "a.jsonl")


def test_failed_answers(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('\n{"id": "é", "solution": "s", "trace": "t", "more": 1}\n\n')
    assert read_attempts(tmp_path / "a.jsonl") == {"é": Attempt("s", "t")}
