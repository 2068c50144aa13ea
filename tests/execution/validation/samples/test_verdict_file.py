"""The file of verdicts: whole after a kill, in order at the end, never over something else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.validation.samples.verdict_file import NoVerdicts, Verdict, VerdictFile, read_verdicts
from tests.errors import raises


def verdict(name: str, outcome: Outcome = Outcome.PASSED, **more: object) -> Verdict:
    return Verdict(name, outcome, key=f"key of {name}", **more)  # type: ignore[arg-type]


def test_verdicts_are_there_at_once_and_in_order_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new" / "out.jsonl"
    with VerdictFile(path) as file:
        file.append(verdict("b", Outcome.TIMED_OUT, detail="é\n…"))
        assert [one.id for one in read_verdicts(path)] == ["b"]
        file.append(verdict("a", coverage={"share": 0.5}))
        file.finish([("key of a", 1), ("key of nothing", 2), ("key of b", 3)])
    assert list(read_verdicts(path)) == [
        verdict("a", coverage={"share": 0.5}, attempts=[], added=[], line=1),
        verdict("b", Outcome.TIMED_OUT, detail="é\n…", attempts=[], added=[], line=3),
    ]
    assert [entry.name for entry in path.parent.iterdir()] == ["out.jsonl"]


def test_what_an_earlier_run_left(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with VerdictFile(path) as file:
        file.append(verdict("a"))
        file.append(verdict("b", Outcome.NO_ENVIRONMENT, transient=True))
    with path.open("ab") as raw:
        raw.write(b'{"id": "c", "outcome": "pas')  # killed while it wrote
    with VerdictFile(path) as file:
        assert file.outcomes == {"key of a": Outcome.PASSED}
        file.append(verdict("c"))
        file.finish([("key of a", 7), ("key of c", 8)])
    assert [(one.id, one.line) for one in read_verdicts(path)] == [("a", 7), ("c", 8)]
    with VerdictFile(path, forget=True) as file:
        assert file.outcomes == {}
        assert path.read_bytes() == b""


def test_the_last_verdict_of_a_key_counts(tmp_path: Path) -> None:
    with VerdictFile(tmp_path / "out") as file:
        file.append(verdict("a", Outcome.FLAKY))
        file.append(verdict("a", Outcome.PASSED))
    with VerdictFile(tmp_path / "out") as file:
        assert file.outcomes == {"key of a": Outcome.PASSED}
        file.finish([("key of a", 1)])
    assert [one.outcome for one in read_verdicts(tmp_path / "out")] == [Outcome.PASSED]


@pytest.mark.parametrize(
    "content",
    [
        b"my thesis\n",
        b"my thesis, one line without an end",
        b'{"id": "a", "library": "numpy", "code": "x"}',
        b'{"id": "a", "outcome": "great", "key": "k", "transient": false}\n',
        b"[]\n",
        b"\x00\xff\n",
    ],
)
@pytest.mark.parametrize("forget", [False, True])
def test_something_else_is_left_as_it_is(tmp_path: Path, content: bytes, forget: bool) -> None:
    path = tmp_path / "out"
    path.write_bytes(content)
    with raises(NoVerdicts, "line 1", "driftline validate", code="verdicts_unreadable"):
        VerdictFile(path, forget=forget)
    assert path.read_bytes() == content


def test_two_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with VerdictFile(path), raises(NoVerdicts, code="verdicts_in_use"):
        VerdictFile(path)
    with VerdictFile(path):
        pass


def test_a_killed_writer_leaves_what_it_wrote_and_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "out"
    program = (
        "import os, sys; from pathlib import Path\n"
        "from pipeline.execution.validation.samples.verdict_file import *; from pipeline.core.vocabularies.running import Outcome\n"
        "VerdictFile(Path(sys.argv[1])).append(Verdict('a', Outcome.PASSED, key='k')); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert done.returncode == -9
    with VerdictFile(path) as file:
        assert file.outcomes == {"k": Outcome.PASSED}


def test_half_of_a_surrogate_pair_is_escaped(tmp_path: Path) -> None:
    with VerdictFile(tmp_path / "out") as file:
        file.append(verdict("a", detail="\ud800"))
        file.finish([("key of a", 1)])
    assert [one.detail for one in read_verdicts(tmp_path / "out")] == ["\ud800"]
