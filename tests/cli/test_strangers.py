"""Every command that reads a snapshot, on snapshots that somebody made to do harm to whoever reads them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.cli.commands import PANELS, load
from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.lake.schema import Column, table
from pipeline.snapshots.format.rows import TABLES
from pipeline.snapshots.format.untrusted import holds_names
from tests.cli.command import Driftline
from tests.snapshots.lakes import contents, demo_snapshot, edit_manifest, seal

NAME = "mine-2021-11-22"

SETTINGS = ("versicode-completion", "gitchameleon-problem", "codev-bench")
NO_MODEL = ("--model", "m", "--endpoint", "http://127.0.0.1:1/v1")
READERS: Mapping[str, Sequence[Sequence[str]]] = {
    "evaluate": [["{snapshot}", "--setting", setting, *NO_MODEL, "--out", "{out}/model"] for setting in SETTINGS],
    "prompts": [["{snapshot}", "--setting", setting, "--out", "{out}/prompts"] for setting in SETTINGS],
    "score": [["{snapshot}", "{predictions}", "--run", "--out", "{out}/scores"]],
    "compare-scores": [["{predictions}", "{predictions}", "--errata", "{snapshot}"]],
    "export": [["{snapshot}", "--format", format_, "--out", f"{{out}}/{format_}"] for format_ in ExportFormat],
    "report": [["{snapshot}", "--out", "{out}/report.html"]],
    "sql": [["from completions", "{snapshot}"], ["show tables", "{snapshot}", "--csv"]],
    "compare": [["{snapshot}", "{whole}"], ["{whole}", "{snapshot}"]],
    "verify": [["{snapshot}"]],
    "upload": [["{snapshot}", "file://{out}/share"]],
    "survive": [["{snapshot}"]],
    "publish": [["--profile", "mine"]],
    "clean": [["--dry-run"], []],
}
"""Arguments of every command that reads a snapshot."""

OTHERS = {
    *("refresh", "review", "drafts", "libraries", "diff", "history", "evolution"),  # the lake, or the index
    "validate",  # files of benchmarks and samples
    *("env", "doctor", "migrate", "status", "rerun", "airflow"),
}
"""Commands that read none; `refresh` publishes as `publish` does."""


def test_every_command_that_reads_a_snapshot_is_attacked_here() -> None:
    commands = {name for panel in PANELS.values() for name in panel}
    assert READERS.keys() | OTHERS == commands
    assert not READERS.keys() & OTHERS
    for name in OTHERS:
        command = load(name)
        below = getattr(command, "commands", {}).values()
        parameters = [parameter for one in (command, *below) for parameter in one.params]
        assert not [one.name for one in parameters if "folder of a snapshot" in (one.help or "").lower()], name
    assert all("folder of a snapshot" in load(name).params[0].help.lower() for name in ("verify", "score", "survive"))


@dataclass
class Watch:
    """What is written and removed outside of some folders, as Python's audit events tell."""

    inside: tuple[str, ...] = ()
    outside: list[str] = field(default_factory=list)
    is_on: bool = False

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on or event not in WRITING:
            return
        if event == "open" and not self._is_written(*arguments):
            return
        # A tree is removed by names below open folders.
        below = f"/proc/self/fd/{arguments[1]}" if event in BELOW_FOLDER and arguments[1] >= 0 else ""
        for path in arguments[: 2 if event in ("os.rename", "os.link", "shutil.move") else 1]:
            is_path = isinstance(path, str | bytes | os.PathLike)
            there = os.path.realpath(Path(below) / os.fsdecode(path)) + "/" if is_path else ""
            if there and not there.startswith(self.inside):
                self.outside.append(f"{event} {there}")

    @staticmethod
    def _is_written(path: Any, mode: Any, flags: int) -> bool:
        return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)) and not str(path).startswith("/dev/")


WRITING = {
    *("open", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod"),
    *("shutil.rmtree", "shutil.move", "shutil.copyfile", "sqlite3.connect"),
}
BELOW_FOLDER = {"os.remove", "os.rmdir"}
WATCH = Watch()


@pytest.fixture(scope="module", autouse=True)
def _audited() -> None:
    sys.addaudithook(WATCH.hear)


@contextmanager
def watched(*folders: Path) -> Iterator[list[str]]:
    """Watch a block that may write into some folders; hand out what it did elsewhere."""
    WATCH.inside, WATCH.outside, WATCH.is_on = tuple(f"{folder.resolve()}/" for folder in folders), [], True
    try:
        yield WATCH.outside
    finally:
        WATCH.is_on = False


@dataclass(frozen=True)
class Place:
    """A data folder with a snapshot in it and another, whole one, and what the user has beside both."""

    root: Path

    @property
    def snapshot(self) -> Path:
        return self.root / "data" / "snapshots" / "mine" / NAME

    @property
    def precious(self) -> Path:
        return self.root / "precious"

    @property
    def hostile(self) -> list[str]:
        """Names that lead elsewhere, or do something to a terminal."""
        up = [f"{'../' * number}precious/file" for number in (1, 2, 3, 5)]
        return [*up, str(self.precious), "..", "a\x00b", "\x1b]0;title\x07\x1b[2Jevil", "x" * 300, "a\\..\\b"]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    return demo_snapshot(folder)


@pytest.fixture
def place(published: Path, data: Path, tmp_path: Path, at_nothing: None, monkeypatch: pytest.MonkeyPatch) -> Place:
    found = Place(tmp_path)
    shutil.copytree(published, found.snapshot)
    (found.snapshot.parent / "latest").write_text(NAME)
    shutil.copytree(published, found.snapshot.parent / "mine-2021-01-01")
    shutil.copytree(published, found.precious / "file")
    for folder in ("out", "tmp", "here"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("DRIFTLINE_AIRFLOW_HOME", str(tmp_path / "data" / "airflow"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path / "here")
    return found


def columns_of(config: str, wanted: Callable[[Column, str], bool]) -> set[str]:
    declared = table(TABLES[config])
    return {
        one.name for one in declared.columns if one.type in ("string", "list[string]") and wanted(one, declared.name)
    }


def rewrite(
    snapshot: Path, make: Callable[[pa.DataType, int], pa.Array[Any]], wanted: Callable[[Column, str], bool]
) -> None:
    """Write what is made into some columns of every table, with hashes that fit."""
    for config in TABLES:
        path = snapshot / "data" / f"{config}.parquet"
        data = pq.read_table(path, partitioning=None)
        for name in columns_of(config, wanted) & {*data.column_names}:
            number = data.column_names.index(name)
            kind = data.schema.field(number)
            data = data.set_column(number, kind, make(kind.type, data.num_rows))
        pq.write_table(data, path)
    seal(snapshot)


def hostile_names(place: Place) -> None:
    rewrite(
        place.snapshot, _repeated(place.hostile), lambda one, of: holds_names(one.name, of) and one.name != "library"
    )


def hostile_libraries(place: Place) -> None:
    rewrite(place.snapshot, _repeated(place.hostile), lambda one, of: one.name == "library")


def hostile_texts(place: Place) -> None:
    rewrite(place.snapshot, _repeated(place.hostile), lambda one, of: not holds_names(one.name, of))


def no_texts(place: Place) -> None:
    """Half of a surrogate pair in every text."""

    def make(kind: pa.DataType, rows: int) -> pa.Array[Any]:
        values = pa.array([b"\xed\xa0\x80"] * rows, pa.binary()).view(pa.string())
        if not pa.types.is_list(kind):
            return values
        return pa.ListArray.from_arrays(pa.array(range(rows + 1), pa.int32()), values).cast(kind)

    rewrite(place.snapshot, make, lambda one, of: one.name != "library")


def _repeated(values: Sequence[str]) -> Callable[[pa.DataType, int], pa.Array[Any]]:
    def make(kind: pa.DataType, rows: int) -> pa.Array[Any]:
        chosen = [values[number % len(values)] for number in range(rows)]
        return pa.array([[one] for one in chosen] if pa.types.is_list(kind) else chosen, kind)

    return make


def in_manifest(key: str) -> Callable[[Place], None]:
    """Let the manifest name things that lead elsewhere, where the key is."""

    def change(place: Place) -> None:
        def edit(manifest: dict[str, Any]) -> None:
            if key == "files":
                for number, entry in enumerate(manifest["files"]):
                    entry["path"] = f"{'../' * (number % 6 + 1)}precious/file/{entry['path']}"
            elif key == "surrogates":
                manifest |= {"driftline": "\ud800", "rules": {"\udc80": "\x1b[2J"}}
                manifest["files"][0]["path"] = "\ud800"
            else:
                manifest[key] = place.hostile[2] if key == "profile" else dict.fromkeys(place.hostile, 1)

        edit_manifest(place.snapshot, edit)

    return change


def other_latest(place: Place) -> None:
    (place.snapshot.parent / "latest").write_text("../../../precious/file")


def linked(place: Place) -> None:
    shutil.rmtree(place.snapshot / "data")
    (place.snapshot / "data").symlink_to(place.precious / "file" / "data")


def damaged(place: Place) -> None:
    """Let no file with rows be the one that the manifest names."""
    for path in (place.snapshot / "data").iterdir():
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)


HARMS: Mapping[str, Callable[[Place], None]] = {
    "names": hostile_names,
    "libraries of rows": hostile_libraries,
    "texts": hostile_texts,
    "no texts": no_texts,
    "profile": in_manifest("profile"),
    "libraries": in_manifest("libraries"),
    "files": in_manifest("files"),
    "surrogates": in_manifest("surrogates"),
    "latest": other_latest,
    "linked": linked,
    "damaged": damaged,
}
REFUSED = HARMS.keys() - {"texts", "files", "libraries of rows"}
"""What no command takes; texts are rows, a table whose file has another name is none, nor are a library's rows those
of another."""


@pytest.mark.slow
@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("command", READERS)
def test_nothing_is_written_or_removed_elsewhere_and_what_was_changed_is_refused(
    driftline: Driftline, place: Place, command: str, harm: str
) -> None:
    predictions = place.root / "predictions.jsonl"
    predictions.write_text(json.dumps({"id": "x", "family": "problem", "completions": ["pass"]}) + "\n")
    HARMS[harm](place)
    before = contents(place.precious)
    named = {
        "snapshot": "mine" if harm == "latest" else place.snapshot,
        "whole": place.precious / "file",
        "out": place.root / "out",
    }
    for arguments in READERS[command]:
        given = [one.format(predictions=predictions, **named) for one in arguments]
        with watched(place.root / "out", place.root / "tmp", place.root / "data") as elsewhere:
            result = driftline(command, *given)
        assert elsewhere == []
        assert contents(place.precious) == before
        assert place.snapshot.is_dir()
        assert all(character.isprintable() or character in "\n\t" for character in result.text)
        if harm in REFUSED and command != "clean":
            assert result.status != 0, result.text
