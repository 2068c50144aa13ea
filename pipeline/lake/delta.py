"""One Delta table of the lake: its data files by library and part, with commits that conflict and never mix rows."""

from __future__ import annotations

import errno
import json
import os
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from pipeline.core.errors import FatalError
from pipeline.core.places import is_local
from pipeline.lake.damage import set_folder_aside
from pipeline.lake.ids import sha256_bytes, sha256_file
from pipeline.lake.names import UnsafeName
from pipeline.lake.schema import Table

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from pyarrow.dataset import Dataset

_PROPERTIES = {
    # Loading a table replays the commits since its last checkpoint: 3 ms for 20 of them, 380 ms for 3,000.
    "delta.checkpointInterval": "20",
    # A pinned version needs its part of the log: `clean` removes what no run needs.
    "delta.enableExpiredLogCleanup": "false",
}
_STORE = {"max_retries": "1000", "retry_timeout": "120s"}
"""The time-out decides: 15 retries of object_store take 3 s where a connection is refused."""
_TRIES = 50
"""Each commit that is refused because of another library means that one of another process came first."""


class LakeProblem(StrEnum):
    """The code of an error of the lake."""

    CONFLICT = "conflict"
    DAMAGED_LOG = "damaged_log"
    NEWER_FORMAT = "newer_format"
    NO_BUCKET = "no_bucket"
    NOT_ALLOWED = "not_allowed"
    OLD_LAYOUT = "old_layout"
    UNREACHABLE = "unreachable"


_ADVICE = {
    LakeProblem.CONFLICT: "another process wrote these rows meanwhile: nothing was overwritten, run it again",
    LakeProblem.DAMAGED_LOG: "put the log back from a backup, or move the folder of the table away: its rows are made"
    " again by `driftline refresh`",
    LakeProblem.NEWER_FORMAT: "a newer program wrote this table: install the Driftline that did",
    LakeProblem.NO_BUCKET: "make the bucket, and mind the spelling of DRIFTLINE_LAKE",
    LakeProblem.NOT_ALLOWED: "give the user or the keys of this process (AWS_…) the right to list, read and write",
    LakeProblem.OLD_LAYOUT: "an older Driftline wrote this lake: run `driftline migrate` once",
    LakeProblem.UNREACHABLE: "see that the store answers, and that DRIFTLINE_LAKE and the variables of its client"
    " (AWS_…) are right; then try again",
}


_COLOUR = re.compile(r"\x1b\[\d*m")


class LakeError(FatalError):
    """The lake cannot be used; the message has the place, the cause and advice."""

    code: LakeProblem

    def __init__(self, code: LakeProblem, where: object, why: object = "") -> None:
        # delta-rs writes in colours, and appends a trace of its own where RUST_BACKTRACE is set
        detail = " ".join(re.split(r"\s+0: ", _COLOUR.sub("", str(why)))[0].split())[:500]
        super().__init__(f"{where}: {code}{f' ({detail})' if detail else ''}. What to do: {_ADVICE[code]}", code=code)


@contextmanager
def lake_errors(where: object) -> Iterator[None]:
    """Raise a LakeError for an error of a store or of the log of a table.

    Errors: LakeError; OSError for a full disk and other errors of this machine.
    """
    # 0.1 s to import
    from deltalake.exceptions import CommitFailedError, DeltaError

    try:
        yield
    except (LakeError, UnsafeName, FileNotFoundError):
        raise
    except CommitFailedError as error:
        raise LakeError(LakeProblem.CONFLICT, where, error) from None
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise LakeError(LakeProblem.NOT_ALLOWED, where, error) from error
            raise
        text = str(error)
        if "os error 28" in text:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(where)) from error
        raise LakeError(_problem(text, is_log=isinstance(error, DeltaError)), where, error) from error


def _problem(text: str, *, is_log: bool) -> LakeProblem:
    if re.search(r"NoSuchBucket", text):
        return LakeProblem.NO_BUCKET
    if re.search(r"privileges|AccessDenied|[Pp]ermission denied|Forbidden|InvalidAccessKeyId", text):
        return LakeProblem.NOT_ALLOWED
    if re.search(r"[Uu]nsupported.*(version|feature)", text):
        return LakeProblem.NEWER_FORMAT
    return LakeProblem.DAMAGED_LOG if is_log else LakeProblem.UNREACHABLE


NEVER = -1
"""The version of a table that does not exist yet."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file that the log of a table names: its path below the table, and its content."""

    path: str
    sha256: str
    size: int
    rows: int


@dataclass(frozen=True, slots=True)
class NewFile:
    """The bytes of a Parquet file to be committed, and its number of rows."""

    content: bytes
    rows: int


class DeltaPartitions:
    """The data files of a table by library and part, as of its opening or last refresh.

    A part is the value of the second partition column (`series`, `stage`). A table without one has one part per
    library. A table at a `version` is never written.
    """

    def __init__(self, folder: Path, declared: Table, version: int | None = None) -> None:
        self.folder = folder
        self._declared = declared
        self._pinned = version
        self._table: DeltaTable | None = None
        self._files: dict[str, dict[str, DataFile]] = {}
        self._open()

    @property
    def version(self) -> int | None:
        """The version of the table, None if it does not exist yet."""
        return None if self._table is None else self._table.version()

    def files(self, library: str) -> Mapping[str, DataFile]:
        """Return the files of a library by part."""
        return self._files.get(library, {})

    def libraries(self) -> list[str]:
        """Return the libraries with files, sorted."""
        return sorted(self._files)

    def dataset(self) -> Dataset:
        """Return the table as an Arrow data set, of which a query reads the columns and rows that it needs.

        Errors: LakeError; KeyError if the table does not exist.
        """
        # slow to import
        from pyarrow.fs import FileSystem, SubTreeFileSystem

        if self._table is None:
            raise KeyError(self._declared.name)
        with lake_errors(self.folder):
            # The default calls Python in Arrow's threads, which ends a process that ends while they read ahead.
            files, path = FileSystem.from_uri(str(self.folder if not is_local(self.folder) else self.folder.resolve()))
            data: Dataset = self._table.to_pyarrow_dataset(filesystem=SubTreeFileSystem(path, files))
            return data

    def refresh(self) -> None:
        """Read the new commits."""
        with lake_errors(self.folder):
            if self._pinned is None and self._has_news():
                self._update()

    def commit(self, library: str, changes: Mapping[str, NewFile | None]) -> None:
        """Replace parts of a library by new files, or by none, in one commit; equal content is not written again.

        Errors: LakeError, CONFLICT if another process has written to this library since the last refresh.
        """
        before = dict(self.files(library))
        new = {
            part: file for part, file in changes.items() if file is not None and not self._has(before.get(part), file)
        }
        gone = [part for part, file in changes.items() if part in before and (file is None or part in new)]
        if not new and not gone:
            return
        with lake_errors(self.folder):
            if self._table is None:
                self._create()
            self.refresh()
            self._must_have(library, before)
            self._evolve()
            added = {part: self._put(library, file) for part, file in new.items()}
            self._commit_retrying(library, added, {part: before[part] for part in gone})

    def _must_have(self, library: str, before: Mapping[str, DataFile]) -> None:
        if self.files(library) != before:
            raise LakeError(LakeProblem.CONFLICT, self.folder, f"library {library}")

    def _commit_retrying(self, library: str, added: Mapping[str, DataFile], gone: Mapping[str, DataFile]) -> None:
        """Commit, and once more if meanwhile files of other libraries were removed, which delta-rs refuses too.

        Errors: LakeError, CONFLICT; CommitFailedError.
        """
        from deltalake.exceptions import CommitFailedError

        assert self._table is not None
        before = dict(self.files(library))
        for number in range(_TRIES):
            version = self._table.version()
            try:
                self._commit(library, added, gone)
                break
            except CommitFailedError:
                self._update()
                self._must_have(library, before)
                if number == _TRIES - 1:
                    raise
        self._table.update_incremental()
        if self._table.version() == version + 1:
            rest = {part: file for part, file in before.items() if part not in gone}
            self._files[library] = rest | dict(added)
            if not self._files[library]:
                del self._files[library]
        else:
            self._index()

    def vacuum(self, days: float, versions: list[int]) -> int:
        """Remove files that neither the versions of the last days nor some others need; return the number of files.

        Commits stay while any of those other versions is needed.
        """
        if self._table is None:
            return 0
        with lake_errors(self.folder):
            gone = self._table.vacuum(
                retention_hours=int(days * 24),
                dry_run=False,
                enforce_retention_duration=False,
                full=True,
                keep_versions=versions,
            )
            if not versions:
                self._table.cleanup_metadata()
            self._update()
        return len(gone)

    def _has(self, before: DataFile | None, file: NewFile) -> bool:
        return before is not None and before.sha256 == sha256_bytes(file.content) and self.is_whole(before)

    def _open(self) -> None:
        if self._pinned == NEVER:
            return
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        hint = self.folder / "_delta_log" / "_last_checkpoint"
        if is_local(hint) and hint.is_dir():
            # reads ignore a damaged hint, but the next checkpoint could not be written
            set_folder_aside(hint)
        with lake_errors(self.folder):
            try:
                self._table = DeltaTable(str(self.folder), version=self._pinned, storage_options=self._options)
            except TableNotFoundError:
                return
            self._index()

    @property
    def _options(self) -> dict[str, str] | None:
        if is_local(self.folder):
            return None
        plain = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")
        return _STORE | ({"allow_http": "true"} if plain else {})

    def _has_news(self) -> bool:
        """Return whether the next commit exists: one request, where loading the table needs many."""
        return self._table is None or (self.folder / "_delta_log" / f"{self._table.version() + 1:020d}.json").exists()

    def _update(self) -> None:
        if self._table is None:
            self._open()
            return
        with lake_errors(self.folder):
            self._table.update_incremental()
            self._index()

    def _index(self) -> None:
        assert self._table is not None
        actions = pa.table(self._table.get_add_actions(flatten=True))
        columns = [f"partition.{name}" for name in self._declared.partitions]
        self._files = {}
        for path, size, rows, library, *part in zip(
            *(actions.column(name).to_pylist() for name in ("path", "size_bytes", "num_records", *columns)), strict=True
        ):
            sha256 = path.rpartition("/")[2].partition("-")[0]
            self._files.setdefault(library, {})[part[0] if part else "part"] = DataFile(path, sha256, size, rows)

    @property
    def _schema(self) -> pa.Schema:
        """The declared columns of the table, and the partition column `series`, which is not declared."""
        schema = self._declared.arrow()
        for name in self._declared.partitions:
            if name not in schema.names:
                schema = schema.append(pa.field(name, pa.string(), True, {"meaning": "major and minor number"}))
        return schema

    def _create(self) -> None:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError

        try:
            DeltaTable.create(
                str(self.folder),
                self._schema,
                partition_by=list(self._declared.partitions),
                name=self._declared.name,
                description=self._declared.meaning,
                configuration=_PROPERTIES,
                storage_options=self._options,
            )
        except DeltaError:
            # another process has created it meanwhile
            self._open()
            if self._table is None:
                raise
        self._open()

    def _evolve(self) -> None:
        """Set the declared columns of the table; files with other columns stay until their stage runs again."""
        from deltalake import Schema

        assert self._table is not None
        if self._table.schema() != Schema.from_arrow(self._schema):
            self._table.create_write_transaction(
                [], "overwrite", self._schema, list(self._declared.partitions), [("library", "=", "")]
            )
            self._update()

    def _put(self, library: str, file: NewFile) -> DataFile:
        """Write a file under a unique name: a file that a log names is never overwritten."""
        sha256 = sha256_bytes(file.content)
        folder = re.sub(r"[^\w.-]", "_", library)
        path = f"library={folder}/{sha256}-{uuid.uuid4().hex[:8]}.parquet"
        target = self.folder / path
        if is_local(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = target.with_name(f".{target.name}.tmp")
            try:
                temporary.write_bytes(file.content)
                temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)
        else:
            target.write_bytes(file.content)
        return DataFile(path, sha256, len(file.content), file.rows)

    def _commit(self, library: str, added: Mapping[str, DataFile], gone: Mapping[str, DataFile]) -> None:
        from deltalake import CommitProperties
        from deltalake.transaction import AddAction, RemoveAction, Transaction

        assert self._table is not None
        now = int(time.time() * 1000)
        first, *second = self._declared.partitions
        actions: list[AddAction | RemoveAction] = [
            AddAction(
                file.path,
                file.size,
                {first: library, **dict.fromkeys(second, part)},
                now,
                True,
                json.dumps({"numRecords": file.rows}),
            )
            for part, file in added.items()
        ]
        actions += [
            RemoveAction(file.path, True, now, file.size, {first: library, **dict.fromkeys(second, part)})
            for part, file in gone.items()
        ]
        # Two commits with the same name of a transaction conflict, even if they remove different files. Its number only
        # has to grow: to read the last one from the log takes 2 ms.
        transaction = Transaction(library, self._table.version() + 1)
        self._table.create_write_transaction(
            actions,
            "append",
            self._schema,
            list(self._declared.partitions),
            commit_properties=CommitProperties(app_transactions=[transaction]),
        )

    def is_whole(self, file: DataFile) -> bool:
        """Return whether a data file is as the log names it: by its sha256 if local, by its size in a store."""
        path = self.folder / file.path
        if is_local(path):
            return sha256_file(path) == file.sha256
        with lake_errors(path):
            try:
                return bool(path.stat().st_size == file.size)
            except FileNotFoundError:
                return False
