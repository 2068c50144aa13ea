"""`driftline validate` from samples to verdicts, and what it says of what it cannot use."""

from __future__ import annotations

import io
import json
import os
import threading
from pathlib import Path

import pytest

from tests.cli.command import Driftline
from tests.execution.validation.demo import publish, sample, write
from tests.index_server import Index


@pytest.fixture
def samples(index: Index, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three samples of the demo library, of which one fails, with the index as the setting."""
    publish(index)
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    monkeypatch.setenv("DRIFTLINE_WORKERS", "2")
    monkeypatch.chdir(tmp_path)
    return write(
        tmp_path / "samples.jsonl",
        sample("fine", note="x"),
        sample("wrong", test="assert result == 8, 'not 8'"),
        sample("new", version="2.0", code="import shape\nresult = shape.area(3, scale=1)"),
    )


def test_samples_and_what_did_not_pass(driftline: Driftline, samples: Path) -> None:
    result = driftline("validate", samples, "--out", "new/out.jsonl", "--repeats", 1)
    assert result.status == 1
    assert "1 did not pass" in result.out
    assert "wrong  failed_assertion  test: assert result == 8" in result.out
    assert "passed                 2" in result.out
    assert "3 now, in 2 environments" in result.err
    assert "'note' is no field of a sample and was ignored, in 1 of them" in result.err
    verdicts = [json.loads(line) for line in Path("new/out.jsonl").read_text().splitlines()]
    assert [verdict["id"] for verdict in verdicts] == ["fine", "wrong", "new"]
    assert {"id", "outcome", "python", "lock_id", "duration_s", "detail"} <= set(verdicts[0])


def test_a_program_reads_the_summary(driftline: Driftline, samples: Path) -> None:
    first = driftline("validate", samples, "--out", "out", "--only", "fine", "--only", "new", "--json")
    assert first.status == 0, first.text
    assert first.json["outcomes"] == {"passed": 2}
    again = driftline("validate", samples, "--out", "out", "--json")
    assert again.status == 1
    assert set(again.json) == {
        "samples",
        "outcomes",
        "kept",
        "environments",
        "seconds",
        "unknown_fields",
        "bisections",
    }
    assert (again.json["samples"], again.json["kept"], again.json["unknown_fields"]) == (3, 2, {"note": 1})


def test_a_range_of_releases(driftline: Driftline, samples: Path) -> None:
    result = driftline("validate", samples, "--out", "out", "--versions", ">=1.1,<=2.1", "--only", "new")
    assert result.status == 0, result.text  # a release where it does not work is an answer
    lines = [line.split() for line in result.out.splitlines()]
    assert ["1.1", "to", "1.2", "(2)", "signature_mismatch"] in lines
    assert ["2.0", "to", "2.1", "(2)", "passed"] in lines


def test_the_release_where_it_breaks(driftline: Driftline, samples: Path) -> None:
    arguments = ("validate", samples, "--out", "out", "--versions", ">=1", "--bisect", "--only", "new")
    assert "starts to work in 2.0, after 1.2" in driftline(*arguments).out
    (found,) = driftline(*arguments, "--json").json["bisections"]
    assert (found["line"], found["last"], found["first"], found["starts"]) == (3, "1.2", "2.0", True)
    assert found["outcomes"]["1.2"] == "signature_mismatch"


def test_samples_from_standard_input(driftline: Driftline, samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(samples.read_bytes())))
    assert driftline("validate", "-", "--out", "out", "--only", "fine", "--json").json["outcomes"] == {"passed": 1}


def test_samples_from_a_pipe(driftline: Driftline, samples: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(samples.read_bytes()))
    writer.start()
    result = driftline("validate", pipe, "--out", "out", "--only", "fine", "--json")
    writer.join()
    assert result.json["outcomes"] == {"passed": 1}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nothing.jsonl", "--out", "out"], "nothing.jsonl: no such file"),
        ([".", "--out", "out"], ". is a folder; name a file"),
        (["samples.jsonl", "--out", "."], ". is a folder; name a file"),
        (["samples.jsonl", "--out", "samples.jsonl"], "is the file of the samples; name another one"),
        (["samples.jsonl", "--out", "thesis"], "thesis: line 1 is no verdict of `driftline validate`"),
        (["samples.jsonl", "--out", "out", "--bisect"], "need a range: add --versions"),
        (["samples.jsonl", "--out", "out", "--versions", "new"], "--versions 'new' is no range by PEP 440"),
        (["samples.jsonl", "--out", "out", "--again", "--restart"], "give one of them"),
        (["samples.jsonl", "--out", "out", "--only", "nobody"], "has the id 'nobody'"),
        (["empty", "--out", "out"], "empty: no samples; write one JSON object on each line"),
        (["samples.jsonl"], "Missing option '--out'"),
        (["samples.jsonl", "--out", "out", "--process", "none"], "'none' is not one of"),
        (["samples.jsonl", "--out", "out", "--repeats", "0"], "greater than or equal to 1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_validated(driftline: Driftline, samples: Path, arguments: list[str], complaint: str) -> None:
    Path("thesis").write_text("precious\n")
    Path("empty").write_text("\n")
    before = samples.read_bytes()
    result = driftline("validate", *arguments)
    assert (result.status, result.out) == (2, "")
    assert complaint in " ".join(result.err.replace("│", " ").split())
    assert (Path("thesis").read_text(), samples.read_bytes()) == ("precious\n", before)
