"""`driftline validate` on the files of benchmarks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import Driftline
from tests.evaluation.export.test_records import PROBLEM, TOKEN, write
from tests.execution.validation.demo import publish
from tests.index_server import Index


@pytest.fixture(autouse=True)
def _at_index(index: Index, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(index)
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    monkeypatch.setenv("DRIFTLINE_WORKERS", "1")
    monkeypatch.chdir(tmp_path)


def test_what_a_model_completed(driftline: Driftline, tmp_path: Path) -> None:
    record = TOKEN | {
        "dependency": "shape",
        "version": "==1.0",
        "code": "import shape\nshape.area(3)\n",
        "masked_code": "import shape\nshape.<mask>(3)\n",
        "answer": "area",
        "model_output_token_clear": "['area', 'volume']",
    }
    path = write(tmp_path / "token.json", record, {"dependency": "shape"}, whole=True)
    result = driftline("validate", path, "--out", "out", "--repeats", 1)
    assert result.status == 1
    assert "read as versicode, 2 answers" in result.err
    assert "record 2: version, code, masked_code, answer: missing" in result.err
    verdicts = [json.loads(line) for line in Path("out").read_text().splitlines()]
    assert [(one["id"], one["outcome"]) for one in verdicts] == [
        ("1#1", "passed"),
        ("1#2", "api_missing"),
        ("record 2", "bad_sample"),
    ]


def test_problems_and_answers_to_them(driftline: Driftline, tmp_path: Path) -> None:
    starting = "import shape\n\n\ndef size(x):\n"
    told = {"library": "shape", "version": "1.0", "starting_code": starting, "solution": "    return shape.area(x)\n"}
    test = {"test": "assert size(3)", "additional_dependencies": "", "python_version": ""}
    path = write(tmp_path / "problems.jsonl", PROBLEM | told | test)
    assert driftline("validate", path, "--out", "references", "--repeats", 1).status == 0
    answers = write(tmp_path / "a.jsonl", {"example_id": "7", "answer": f"{starting}    return 0\n"})
    result = driftline("validate", path, "--answers", answers, "--out", "answers", "--repeats", 1)
    assert result.status == 1
    assert "failed_assertion" in result.out


@pytest.mark.parametrize(
    ("record", "options", "words"),
    [
        (TOKEN, ("--answers", "x.json"), "versicode keeps answers in its records"),
        (TOKEN, ("--answers", "nowhere"), "--answers nowhere: no such file"),
        ({"namespace": "a", "completion_path": "b"}, (), "environments are in projects.jsonl"),
        ({"namespace": "a", "completion_path": "b"}, ("--coverage",), "runs in projects"),
        ({"id": 1}, ("--answers", "x.json"), "of no benchmark's format"),
        ({"id": 1}, ("--format", "humaneval"), "'humaneval'"),
    ],
)
def test_bad_usage(
    record: dict[str, str], options: tuple[str, ...], words: str, driftline: Driftline, tmp_path: Path
) -> None:
    path = write(tmp_path / "x.json", record, whole=record is TOKEN)
    result = driftline("validate", path, "--out", "out", *options)
    assert result.status == 2
    assert words in result.err
