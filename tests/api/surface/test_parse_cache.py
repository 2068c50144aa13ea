"""Files read on several cores: by workers that remember functions, and end before they remember too many."""

import hashlib
import os
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import pytest

from pipeline.api.surface import parse_cache
from pipeline.api.surface.parse.sources import SourceFile
from pipeline.api.surface.parse_cache import Records
from tests.api.surface.trees import READING_RULES

VERSIONS = 5
PATHS = [f"pkg/part_{number}.py" for number in range(8)]


class Store:
    """The bytes of every version of the files, and which processes asked for which of them."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.bytes: dict[str, bytes] = {}
        self.files = [self._file(path, version) for version in range(VERSIONS) for path in PATHS]

    def _file(self, path: str, version: int) -> SourceFile:
        name = path.removesuffix(".py").replace("/", ".")
        content = f"def always(a): ...\n\ndef in_{version}(b, {name[4:]}=1): ...\n".encode()
        sha256 = hashlib.sha256(content).hexdigest()
        self.bytes[sha256] = content
        return SourceFile(name, path, sha256)

    def contents(self, wanted: Iterable[str]) -> dict[str, bytes]:
        """Give bytes, as the artifacts of a crawl do."""
        wanted = list(wanted)
        with self.log.open("a") as log:
            log.write("".join(f"{os.getpid()} {sha256}\n" for sha256 in wanted))
        return {sha256: self.bytes[sha256] for sha256 in wanted}

    def readers(self) -> list[tuple[str, str, int]]:
        """Return the process that read each file, by path and sha256, in the order of the log."""
        paths = {file.sha256: file.path for file in self.files}
        lines = [line.split() for line in self.log.read_text().splitlines()]
        return [(paths[sha256], sha256, int(pid)) for pid, sha256 in lines]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(parse_cache, "BATCH", VERSIONS)
    monkeypatch.setattr(parse_cache, "SHIFT", VERSIONS)
    return Store(tmp_path / "log")


def prepared(store: Store, tmp_path: Path, workers: int) -> tuple[Records, list[tuple[int, int]]]:
    records = Records(tmp_path / f"{workers}.sqlite", READING_RULES, store.contents, workers)
    told: list[tuple[int, int]] = []
    records.prepare(store.files, lambda done, total: told.append((done, total)))
    return records, told


def test_two_cores_read_what_one_reads(store: Store, tmp_path: Path) -> None:
    one, _ = prepared(store, tmp_path, workers=1)
    two, told = prepared(store, tmp_path, workers=2)
    found = two.load(store.files)
    assert found == one.load(store.files)
    assert [sorted(found[file.key].definitions) for file in store.files] == [
        ["always", f"in_{version}"] for version in range(VERSIONS) for _ in PATHS
    ]
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1] == (len(store.files), len(store.files))


def test_workers_end_after_so_many_files(store: Store, tmp_path: Path) -> None:
    prepared(store, tmp_path, workers=2)
    read = store.readers()
    assert sorted(sha256 for _, sha256, _ in read) == sorted(file.sha256 for file in store.files)
    shifts = len(PATHS) // 2
    assert shifts <= len({pid for _, _, pid in read} - {os.getpid()}) <= 2 * shifts


def test_all_versions_of_a_file_are_read_by_one_worker_in_their_order(store: Store, tmp_path: Path) -> None:
    prepared(store, tmp_path, workers=2)
    for path, read in groupby(sorted(store.readers(), key=lambda one: one[0]), key=lambda one: one[0]):
        shas, pids = zip(*[one[1:] for one in read], strict=True)
        assert list(shas) == [file.sha256 for file in store.files if file.path == path]
        assert len(set(pids)) == 1
