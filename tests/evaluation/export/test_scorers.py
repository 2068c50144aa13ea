"""Scorers of the five benchmarks, written from what is published of their formats alone, on exported rows."""

from __future__ import annotations

import ast
import json
import operator
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Granularity
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.export.beside import prepare
from pipeline.evaluation.export.folder import export
from pipeline.evaluation.export.format import Unpack
from pipeline.evaluation.export.libevolutioneval import imported_names
from pipeline.evaluation.export.programs import read_record
from pipeline.evaluation.export.projects import node_id, plain_settings, shell_word
from pipeline.evaluation.scores.api import api_f1
from pipeline.evaluation.scores.families import SCORERS
from tests.evaluation.export import stand_ins
from tests.evaluation.export.demo import SOURCE, task
from tests.evaluation.export.restore import records
from tests.evaluation.export.rows import completion, problem


@pytest.fixture
def exported(request: pytest.FixtureRequest, snapshot: Path, sources: Unpack, tmp_path: Path) -> Path:
    """The snapshot in a format."""
    export(snapshot, request.param, tmp_path / "out", sources)
    return tmp_path / "out"


def pytest_in(project: Path, tests: list[str]) -> bool:
    """Whether tests of a project pass, run in its own folder."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    bare = {"PATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=project, env=bare, capture_output=True, check=False).returncode == 0


VERSICODE = {
    "token_completion.json",
    "line_completion.json",
    "block_completion.json",
    "executable_token_completion.json",
    "executable_line_completion.json",
    "executable_block_completion.json",
    "migration_old_to_new.json",
    "migration_new_to_old.json",
}


@pytest.mark.parametrize("exported", [ExportFormat.VERSICODE], indirect=True)
def test_both_scorers_of_versicode(exported: Path) -> None:
    for file in VERSICODE:
        (record,) = stand_ins.versicode_records(exported / file)
        reference = stand_ins.versicode_reference(record)
        for answer, expected in ((reference, 1.0), ("", 0.0)):
            assert stand_ins.versicode_em(record, answer) == expected
            if record.get("granularity") != "token":
                assert stand_ins.versicode_match(record, answer, r"\w+") == expected
                assert stand_ins.versicode_match(record, answer, r"\w+|[^\w\s]") == expected
                # Of a block the published scorer may read the line of the import.
                if record.get("granularity") != "block":
                    assert stand_ins.versicode_cdc(record, answer) == expected
        if record.get("granularity") == "line":
            assert record["masked_code"].count("<mask>") == 1
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", record.get("time") or record["old_time"])


@pytest.mark.parametrize("exported", [ExportFormat.VERSICODE], indirect=True)
@pytest.mark.parametrize("granularity", Granularity)
def test_versicode_scores_corrupted_answers_as_driftline_does(granularity: Granularity, exported: Path) -> None:
    (record,) = stand_ins.versicode_records(exported / f"{granularity}_completion.json")
    row = completion(granularity)
    for answer in stand_ins.corruptions(stand_ins.versicode_reference(record)):
        ours = bool(SCORERS[Family.COMPLETION](row, answer)[Metric.EM])
        # The published scorer looks for the name in the whole program, ours in the block.
        agrees = operator.ge if granularity is Granularity.BLOCK else operator.eq
        assert agrees(stand_ins.versicode_em(record, answer), ours), answer


@pytest.mark.parametrize("exported", [ExportFormat.VERSICODE], indirect=True)
def test_the_fields_of_versicode(exported: Path) -> None:
    fields = (
        "dependency version time description code masked_code answer core_line type granularity source language task id"
    )
    for granularity, more in (("token", set()), ("line", {"masked_line", "core_token"}), ("block", {"core_token"})):
        (record,) = records(exported, f"{granularity}_completion.json")
        assert set(record) == set(fields.split()) | more
        assert (record["version"], record["time"], record["type"]) == ("==1.1", "2021-06-01", "deprecation")
        assert record["source"] == "downstream_application_code"
        assert record["core_line"] == "x = fetch(1, number=2)"
        assert "fetch" not in record["masked_code"]
    names = (
        "dependency old_version new_version old_time new_time old_code new_code old_name new_name description"
        " core_line edit_order type source language task id"
    )
    for direction in ("old_to_new", "new_to_old"):
        (record,) = records(exported, f"migration_{direction}.json")
        assert set(record) == set(names.split())
        assert record["old_name"] in record["old_code"]
        assert record["new_name"] in record["new_code"]
    assert json.loads((exported / "line_completion.json").read_text())["count"] == 1


@pytest.mark.parametrize("exported", [ExportFormat.VERSICODE], indirect=True)
@pytest.mark.parametrize(("direction", "side"), [("old_to_new", "new"), ("new_to_old", "old")])
def test_the_reference_of_a_migration_is_where_the_scorer_looks(direction: str, side: str, exported: Path) -> None:
    """The published scorer holds answers of new_to_old against old_code: the older version is old in both directions."""
    (record,) = records(exported, f"migration_{direction}.json")
    assert (record["old_version"], record["new_version"]) == ("==1.1", "==2.0")
    assert (record["old_name"], record["new_name"]) == ("fetch", "load")
    record["model_output_block_clear"] = str([record[f"{side}_code"]])
    path = exported / "answered.json"
    path.write_text(json.dumps({"data": [record]}))
    (answer,) = read_record(ExportFormat.VERSICODE, record, 1, path).answers
    assert (answer.version, answer.code) == (record[f"{side}_version"].removeprefix("=="), record[f"{side}_code"])


@pytest.mark.parametrize("exported", [ExportFormat.LIBEVOLUTIONEVAL], indirect=True)
def test_the_scorer_of_libevolutioneval(exported: Path) -> None:
    examples = stand_ins.libevolutioneval_records(exported)
    assert len(examples) == 2
    references = [record["target"] for record in examples]
    assert set(stand_ins.libevolutioneval_scores(examples, references).values()) == {1.0}
    assert set(stand_ins.libevolutioneval_scores(examples, [""] * len(examples)).values()) == {0.0}
    for record in examples:
        assert record["code_str"] + record["target"] == record["reference_call"]
        ast.parse(record["prompt"].replace("[token-mask]", "x") + record["target"])
        for answer in stand_ins.corruptions(record["target"]):
            scores = stand_ins.libevolutioneval_scores([record], [answer])
            ours = api_f1(answer, record["target"], record["code_str"])
            assert ours != 1.0 or scores["f1"] >= 0.5, answer
            assert scores["em"] < 1.0 or ours == 1.0, answer
    (document,) = records(exported, "data/package_apis/lib/v_1_1.jsonl")
    assert document == {
        "API_Call": "lib.fetch",
        "Signature": "lib.fetch(number)",
        "Detailed_Description": "Get the page of it.",
        "Parameters": {"number": "which page"},
    }


@pytest.mark.parametrize(
    ("imports", "names"),
    [
        ("import torch\nimport torch.nn as nn\n", ["torch", "torch.nn"]),
        ("from lib import [token-mask], other as x\nfrom . import y\n", ["lib", "lib.other", "y"]),
        ("import (", []),
    ],
)
def test_the_names_of_imports(imports: str, names: list[str]) -> None:
    assert imported_names(imports) == names


@pytest.mark.parametrize("exported", [ExportFormat.GITCHAMELEON], indirect=True)
def test_the_scorer_of_gitchameleon_and_the_other_pythons(exported: Path, tmp_path: Path) -> None:
    (record,) = records(exported, "problems.jsonl")
    assert records(exported, "ids.jsonl") == [{"example_id": "0", "id": problem()["id"]}]
    for place, (answer, passes) in enumerate(((record["solution"], True), ("", False), ("    return a + b\n", False))):
        work = tmp_path / str(place)
        assert stand_ins.gitchameleon_passes(exported, record, answer, work, pytest_in) is passes
    for place, answer in enumerate(stand_ins.corruptions(record["solution"])[::6]):
        passes = stand_ins.gitchameleon_passes(exported, record, answer, tmp_path / f"corrupted-{place}", pytest_in)
        assert passes == (answer.strip() == record["solution"].strip()), answer


@pytest.mark.parametrize("exported", [ExportFormat.GITCHAMELEON], indirect=True)
@pytest.mark.parametrize(("answer", "passes"), [(None, True), ("    return a + b\n", False)])
def test_gitchameleon(answer: str | None, passes: bool, exported: Path, tmp_path: Path) -> None:
    (record,) = records(exported, "problems.jsonl")
    solution = record["solution"] if answer is None else answer
    name = f"sample_{record['example_id']}"
    (tmp_path / f"{name}.py").write_text(record["starting_code"] + solution)
    shutil.copy(exported / "hidden_tests" / f"test_{name}.py", tmp_path)
    assert pytest_in(tmp_path, [f"test_{name}.py"]) is passes
    visible = subprocess.run(
        [sys.executable, "-c", record["starting_code"] + solution + record["test"]], capture_output=True, check=False
    )
    assert (visible.returncode == 0) is passes


@pytest.mark.parametrize("exported", [ExportFormat.GITCHAMELEON], indirect=True)
def test_the_fields_of_gitchameleon(exported: Path) -> None:
    (record,) = records(exported, "problems.jsonl")
    told = ("python_version", "release_date", "type_of_change", "functional", "webdev", "additional_dependencies")
    assert [record[name] for name in told] == [
        "3.9",
        "2021-06",
        "Semantics or Function Behavior change",
        1,
        0,
        "numpy==1.21.6 scipy==1.7.3",
    ]
    assert record["api_calls"] == ["max"]
    assert record["solution_api_call"] is True


@pytest.mark.parametrize("exported", [ExportFormat.EVOCODEBENCH], indirect=True)
@pytest.mark.parametrize(
    ("completion", "passes"),
    [
        (None, True),
        ("        self.count = min(self.count + number, 3)\n        return self.count\n", True),
        ("        raise NotImplementedError\n", False),
    ],
)
def test_evocodebench(completion: str | None, passes: bool, exported: Path) -> None:
    (record,) = records(exported, "data.jsonl")
    path = exported / "Source_Code" / record["completion_path"]
    project = exported / "Source_Code" / record["completion_path"].split("/")[0]
    first, last = record["body_position"]
    lines = path.read_text().splitlines(keepends=True)
    signature = "".join(lines[record["signature_position"][0] - 1 : record["signature_position"][1]])
    assert signature == "    def add(self, number: int) -> int:\n"
    assert "".join(lines[first - 1 : last]) == "        raise NotImplementedError\n\n"
    body = task()["reference"] if completion is None else completion
    path.write_text("".join(lines[: first - 1]) + body + "".join(lines[last:]))
    assert pytest_in(project, record["tests"]) is passes


@pytest.mark.parametrize("exported", [ExportFormat.EVOCODEBENCH], indirect=True)
def test_the_prompt_elements_of_evocodebench(exported: Path) -> None:
    (record,) = records(exported, "data.jsonl")
    (elements,) = records(exported, "prompt/prompt_elements.jsonl")
    assert set(elements) - set(record) == {
        "class_name",
        "function_name",
        "input_code",
        "contexts_above",
        "contexts_below",
    }
    assert elements["namespace"] == record["namespace"] == "demo.counting.Counter.add"
    assert record["dependency"]["intra_file"] == ["demo.counting.clip"]


@pytest.mark.parametrize("exported", [ExportFormat.CODEVBENCH], indirect=True)
@pytest.mark.parametrize(
    ("response", "passes"),
    [(None, True), ("    number = min(number, most)\n", True), ("    return -1\n", False)],
)
def test_codevbench(response: str | None, passes: bool, exported: Path) -> None:
    file = "prompts/prefix_suffix_full_complete_current_block_no_evidence.jsonl"
    (record,) = records(exported, file)
    path = exported / record["block_key"].partition("#")[0]
    project = exported / "Source_Code" / record["func_name"].removeprefix("Source_Code/").split("/")[0]
    assert record["block_type"] in {"METHOD", "IF", "FOR", "WHILE", "TRY", "CATCH", "STATEMENT"}
    middle = record["test_middle"] if response is None else response
    path.write_text(record["test_prefix"] + middle + record["test_suffix"])
    assert pytest_in(project, record["unit_test_ids"]) is passes


@pytest.mark.parametrize("exported", [ExportFormat.CODEVBENCH], indirect=True)
def test_the_prompts_of_codevbench(exported: Path) -> None:
    fields = (
        "func_name item_dids unit_test_ids block_key block_type prompt prefix suffix middle test_prefix test_suffix"
        " test_middle"
    )
    for path in sorted((exported / "prompts").iterdir()):
        (record,) = (json.loads(line) for line in path.read_text().splitlines())
        assert list(record) == fields.split()
        shown = f"<fim_prefix>{record['prefix']}<fim_suffix>{record['suffix']}<fim_middle>"
        assert record["prompt"] == f"<filename>demo/counting.py{shown}"
        masked = SOURCE.replace("    if number > most:\n        return most\n", "\n\n")
        assert (exported / record["block_key"].partition("#")[0]).read_text() == masked
        assert record["test_prefix"] + record["test_middle"] + record["test_suffix"] == SOURCE


def make_environments(exported: Path) -> None:
    """An environment of each project as prepare.py makes it: without the project, whose folder is on the path."""
    for project in (exported / "Source_Code").iterdir():
        programs = project / "myenv" / "bin"
        programs.mkdir(parents=True)
        bare = f"PYTHONPATH={project} PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 exec {sys.executable}"
        (programs / "pytest").write_text(f'#!/bin/sh\n{bare} -m pytest -p no:cacheprovider "$@"\n')
        (programs / "python").write_text(f'#!/bin/sh\n{bare} "$@"\n')
        for program in programs.iterdir():
            program.chmod(0o755)


@pytest.mark.parametrize("exported", [ExportFormat.EVOCODEBENCH], indirect=True)
def test_the_scorer_of_evocodebench(exported: Path) -> None:
    make_environments(exported)
    (record,) = records(exported, "data.jsonl")
    assert stand_ins.evocodebench_passes(exported, record, task()["reference"])
    assert not stand_ins.evocodebench_passes(exported, record, "")
    for answer in stand_ins.corruptions(task()["reference"])[::6]:
        passes = stand_ins.evocodebench_passes(exported, record, answer)
        assert passes == (answer.strip() == task()["reference"].strip()), answer


@pytest.mark.parametrize("exported", [ExportFormat.CODEVBENCH], indirect=True)
def test_the_scorer_of_codevbench(exported: Path) -> None:
    for _ in range(2):
        prepare.place(exported)
    shutil.copytree(exported / "Source_Code", exported / "Source_Code_Copy")
    make_environments(exported)
    for file in sorted((exported / "prompts").iterdir()):
        (record,) = records(exported, f"prompts/{file.name}")
        is_whole = record["suffix"] == record["test_suffix"]
        assert stand_ins.codevbench_passes(exported, record, record["middle"]) is is_whole
        if record["middle"]:
            assert not stand_ins.codevbench_passes(exported, record, "")
        for answer in stand_ins.corruptions(record["middle"])[::6] if is_whole and record["middle"] else ():
            passes = stand_ins.codevbench_passes(exported, record, answer)
            assert passes == (answer.strip() == record["middle"].strip()), answer


@pytest.mark.parametrize("exported", [ExportFormat.CODEVBENCH], indirect=True)
def test_a_project_is_imported_from_its_folder_with_what_its_build_makes(exported: Path, tmp_path: Path) -> None:
    (row,) = records(exported, "projects.jsonl")
    folder, built, site_packages = exported / "Source_Code" / row["folder"], tmp_path / "built", tmp_path / "site"
    site_packages.mkdir()
    for path in ("demo/_version.py", "demo/counting.py", "demo/old.py", "demo-1.0.dist-info/METADATA"):
        (built / path).parent.mkdir(parents=True, exist_ok=True)
        (built / path).write_text("x = 1\n")
    before = (folder / "demo" / "counting.py").read_text()
    prepare.adopt(row | {"hidden": ["demo/old.py"]}, folder, site_packages, built)
    assert (folder / "demo" / "_version.py").is_file()
    assert not (folder / "demo" / "old.py").exists()
    assert (folder / "demo" / "counting.py").read_text() == before
    assert sorted(path.name for path in site_packages.iterdir()) == ["demo-1.0.dist-info", "driftline-project.pth"]
    assert (site_packages / "driftline-project.pth").read_text() == f"{folder.resolve()}\n"


@pytest.mark.parametrize("test", ["t.py::test_a[1.0-x]", "t.py::test_a[300 Bytes]", "t.py::test_a[it's; $x]"])
def test_a_node_id_is_one_word_of_a_shell(test: str) -> None:
    word = shell_word(test)
    assert subprocess.run(f"printf %s {word}", shell=True, capture_output=True, check=True).stdout.decode() == test
    assert node_id(word) == test


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "[pytest]\n"),
        ({"tox.ini": b"[pytest]\naddopts = --cov\nmarkers =\n  slow: x\n"}, "[pytest]\nmarkers =\n    slow: x\n"),
        (
            {"pyproject.toml": b'[tool.pytest.ini_options]\naddopts = "-n 4"\nxfail_strict = true\ntestpaths = ["a"]'},
            "[pytest]\ntestpaths =\n    a\n",
        ),
        (
            {"pyproject.toml": b"[", "setup.cfg": b"[tool:pytest]\nlog_level = INFO\n"},
            "[pytest]\nlog_level =\n    INFO\n",
        ),
    ],
)
def test_the_settings_of_pytest_without_those_of_machines(files: dict[str, bytes], expected: str) -> None:
    assert plain_settings(files).decode() == expected
