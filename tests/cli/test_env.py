"""`driftline env`: environments of releases, built, shown, handed on and taken away."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES
from tests.cli.command import Driftline
from tests.index_server import Index, wheel

MAY = "2021-05-01T00:00:00Z"


@pytest.fixture
def at_index(index: Index, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """An index of two libraries, and rules that ask for nothing else."""
    rules = tmp_path / "rules"
    rules.mkdir()
    for file in RULES.glob("*.yaml"):
        text = file.read_text()
        (rules / file.name).write_text(text[: text.index("\ngaps:")] + "\ngaps: []\n" if "\ngaps:" in text else text)
    monkeypatch.setenv("DRIFTLINE_RULES", str(rules))
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    index.add_wheel("lib", "1.0", {"lib.py": "answer = 42"}, MAY)
    index.add_wheel("dep", "2.0", {"dep.py": ""}, MAY)
    index.add_wheel("broken", "1.0", {"broken.py": "import libnothere"}, MAY)
    return index


def test_an_environment_from_building_to_taking_away(at_index: Index, driftline: Driftline, tmp_path: Path) -> None:
    built = driftline("env", "build", "Lib", "1.0", "--python", "3.10", "--with", "dep==2.0", "--json")
    assert built.status == 0, built.err
    assert (built.json["outcome"], built.json["python"], built.json["rung"]) == ("built", "3.10", "wheels")
    python = Path(built.json["path"], "bin", "python")
    assert subprocess.run([python, "-c", "import lib, dep; print(lib.answer)"], capture_output=True).stdout == b"42\n"
    lock_id = built.json["lock_id"]

    again = driftline("env", "build", "lib", "1.0", "--python", "3.10", "--with", "dep==2.0")
    assert again.out.splitlines() == [
        f"lib 1.0 on Python {built.json['python_full']}",
        "  as of   2022-01-02 (wheels)",
        f"  id      {lock_id}",
        f"  python  {python}",
    ]
    assert f"{lock_id[:12]}  3.10    lib 1.0 with dep==2.0" in driftline("env", "list").out
    assert driftline("env", "list", "--json").json[0]["lock_id"] == lock_id
    shown = driftline("env", "show", lock_id[:6])
    assert shown.out.startswith(f"lib 1.0 with dep==2.0 on Python {built.json['python_full']}\n")
    assert built.json["lock"] in shown.out

    exported = driftline("env", "export", lock_id)
    assert exported.out.endswith(built.json["lock"])
    assert driftline("env", "export", lock_id, "--out", tmp_path / "lock.txt").out == ""
    assert (tmp_path / "lock.txt").read_text() == exported.out

    swept = driftline("env", "gc", "--gib", "0", "--json").json
    assert swept["removed"] == [lock_id]
    assert not python.exists()
    assert "removed" in driftline("env", "list").out
    assert driftline("env", "show", lock_id, "--json").json[0]["path"] is None


def test_the_one_dependency_that_moved_is_named(at_index: Index, driftline: Driftline) -> None:
    at_index.add("needy", "1.0", wheel("needy", "1.0", {"needy.py": "import libnew"}, Requires_Dist="libnew"), MAY)
    at_index.add_wheel("libnew", "1.0", {"libnew.py": "import collections; collections.Mapping"}, MAY)
    at_index.add_wheel("libnew", "1.1", {"libnew.py": ""}, "2022-02-01T00:00:00Z")
    lines = driftline("env", "build", "needy", "1.0", "--python", "3.10").out.splitlines()
    assert lines[1] == "  as of   2022-01-02 (one_later)"
    assert "  moved   libnew 1.0 -> 1.1 (wheel of 2022-02-01); everything else is as of that day" in lines
    assert lines[-1].startswith("  tried   Python 3.10, one_later as of 2022-01-02, libnew 1.0 -> 1.1")


def test_what_cannot_be_built_says_what_was_tried(at_index: Index, driftline: Driftline) -> None:
    result = driftline("env", "build", "broken", "1.0", "--python", "3.9")
    assert result.status == 1
    assert result.out.startswith("broken 1.0: installed, but the library does not import (import_failed)\n")
    assert "  ModuleNotFoundError: No module named 'libnothere'" in result.out.splitlines()
    tried = [line.split()[3] for line in result.out.splitlines() if line.startswith("  tried   Python 3.9")]
    assert tried == ["wheels", "builds", "wheels_later", "builds_later"]
    assert driftline("env", "list", "--json").json == []


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("build", "lib", "9.9"), 1, "lib 9.9: the index has no such release; the nearest are 1.0"),
        (("build", "nowhere", "1.0"), 1, "the index does not know nowhere"),
        (("build", "lib", "one"), 2, "'one' is not a version by PEP 440"),
        (("build", "l i b", "1.0"), 2, "'l i b' is not a name that a package index can have"),
        (("build", "lib", "1.0", "--with", "dep 2.0"), 2, "not a requirement by PEP 508"),
        (("build", "lib", "1.0", "--python", "3"), 2, "--python 3: write it as X.Y, for example 3.9"),
        (("build", "lib", "1.0", "--python", "3.4"), 1, "Python 3.4 is not installed; here is 3."),
        (("build", "lib", "1.0", "--with", "dep==3.0", "--python", "3.9"), 1, "there is no version of dep==3.0"),
        (("build", "lib", "1.0", "--with", "lib==2.0", "--python", "3.9"), 1, "you require lib==1.0 and lib==2.0"),
        (("show", "abc"), 2, "abc: no environment has that id; `driftline env list` shows them all"),
        (("export", "abc"), 2, "abc: no environment has that id"),
        (("gc", "--gib", "-1"), 2, "Invalid value for '--gib'"),
    ],
)
def test_bad_questions(
    at_index: Index, driftline: Driftline, arguments: tuple[str, ...], status: int, said: str
) -> None:
    result = driftline("env", *arguments)
    assert (result.status, said in " ".join(result.text.split())) == (status, True), result.text


@pytest.mark.parametrize(
    ("library", "version", "said"),
    [
        ("lib", "9.9", "lib 9.9: the index has no such release; the nearest are 1.0"),
        ("nowhere", "1.0", "the index does not know nowhere"),
        ("bare", "1.0", "bare 1.0 has no file that can be installed"),
        ("bare", "2.0", "bare 2.0: the index has no such release; the nearest are 1.0"),
    ],
)
def test_what_the_index_lacks_is_said_once(
    at_index: Index, driftline: Driftline, library: str, version: str, said: str
) -> None:
    at_index.add("bare", "1.0", None, "")
    result = driftline("env", "build", library, version)
    assert (result.status, result.out) == (1, f"{said}\n")


def test_an_index_that_is_down(at_nothing: None, driftline: Driftline) -> None:
    result = driftline("env", "build", "lib", "1.0")
    assert result.status == 1
    assert "the package index did not answer" in result.err
