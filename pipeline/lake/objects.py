"""Files by their sha256 in a store that fsspec can reach, and small keys beside them that are created once."""

from __future__ import annotations

import functools
import json
import os
import uuid
from collections.abc import Callable, Container, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import fsspec

from pipeline.core.errors import FatalError
from pipeline.lake.ids import sha256_file
from pipeline.lake.tables import replacing

AT_ONCE = 8
"""How many files are on their way at a time."""

SWEPT_AFTER = timedelta(days=7)
"""Objects that nothing has named for so long are swept; whoever wants one that is half as old sends it again before."""


class StoreError(FatalError):
    """The object store does not hold what it should, or cannot be used; the message says what to do."""


Args = ParamSpec("Args")
Result = TypeVar("Result")


def _told(
    work: Callable[Concatenate[ObjectStore, Args], Result],
) -> Callable[Concatenate[ObjectStore, Args], Result]:
    """Tell what is no OSError as a StoreError: clients of stores have errors of their own, as where nobody listens."""

    @functools.wraps(work)
    def told(self: ObjectStore, /, *args: Args.args, **kwargs: Args.kwargs) -> Result:
        try:
            return work(self, *args, **kwargs)
        except (OSError, StoreError):
            raise
        except Exception as error:
            raise StoreError(
                f"the object store {self.url} cannot be used: {type(error).__name__}: {error}. See that it answers, and"
                " that DRIFTLINE_STORE and the variables of its client (AWS_… for s3://) are right; then try again"
            ) from error

    return told


class ObjectStore:
    """An object store at an address such as `s3://bucket/prefix`, or a folder that several machines see (`file:///…`).

    Where its keys come from is the matter of its own client (for S3 the variables AWS_*).
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        """The file system and our root in it.

        What is listed must be what is there now, so nothing is remembered.
        """
        # a folder of this machine would be looked at for each file
        options = {"auto_mkdir": True} if self.url.startswith("file:") else {"use_listings_cache": False}
        files, root = fsspec.url_to_fs(self.url, **options)
        return files, root

    def path(self, key: str) -> str:
        """Return where a key is."""
        return f"{self._opened[1]}/{key}"

    @_told
    def create(self, key: str, value: Mapping[str, Any]) -> bool:
        """Write a key that nobody has written yet, and tell whether that was so; of several writers one wins."""
        files, content = self._opened[0], json.dumps(value).encode()
        try:
            if self.url.startswith("file:"):
                _create_file(Path(self.path(key)), content)
            else:
                files.pipe_file(self.path(key), content, mode="create")
        except FileExistsError:
            return False
        except OSError as error:
            if is_taken(error):
                return False
            raise
        return True

    @_told
    def write(self, key: str, value: Mapping[str, Any]) -> None:
        """Write a key, whether it is there or not."""
        self._opened[0].pipe_file(self.path(key), json.dumps(value).encode())

    @_told
    def read(self, key: str) -> dict[str, Any] | None:
        """Return what stands under a key, None where there is nothing, or only the beginning of something."""
        try:
            value = json.loads(self._opened[0].cat_file(self.path(key)))
        except (FileNotFoundError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    @_told
    def read_all(self, keys: Iterable[str]) -> list[dict[str, Any] | None]:
        """Return what stands under each of some keys, several at a time."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(self.read, keys))

    @_told
    def keys(self, prefix: str) -> list[str]:
        """Return the keys right below a prefix, without it, sorted."""
        files = self._opened[0]
        try:
            found = files.ls(self.path(prefix), detail=False, refresh=True)
        except FileNotFoundError:
            return []
        return sorted(name for path in found if (name := str(path).rstrip("/").rpartition("/")[2]))

    @_told
    def remove(self, keys: Iterable[str]) -> None:
        """Remove keys; one that is gone already is none to remove."""
        for key in keys:
            try:
                self._opened[0].rm_file(self.path(key))
            except FileNotFoundError:
                continue

    @_told
    def put(self, files: Mapping[str, Path]) -> None:
        """Keep files under their sha256; what the store has already is not sent again."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self._put, files.keys(), files.values()))

    def _put(self, sha256: str, path: Path) -> None:
        files, target = self._opened[0], self.path(_object(sha256))
        try:
            if datetime.now(UTC) - files.modified(target) < SWEPT_AFTER / 2:
                return
        except FileNotFoundError:
            pass
        if not self.url.startswith("file:"):
            files.put_file(str(path), target)
            return
        # an object of a store appears whole; a file does not
        on_its_way = f"{target}.{uuid.uuid4().hex}.tmp"
        files.put_file(str(path), on_its_way)
        files.mv(on_its_way, target)

    @_told
    def sweep(self, named: Container[str]) -> int:
        """Remove old objects that nothing names, and return how many they were."""
        files, now = self._opened[0], datetime.now(UTC)
        swept = 0
        for start in self.keys("objects"):
            for sha256 in self.keys(f"objects/{start}"):
                target = self.path(_object(sha256))
                if sha256 not in named and now - files.modified(target) > SWEPT_AFTER:
                    files.rm_file(target)
                    swept += 1
        return swept

    @_told
    def get(self, files: Mapping[Path, str]) -> None:
        """Fetch files by their sha256, each whole or not at all.

        Errors: StoreError for one that is not there, or is another.
        """
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self._get, files.keys(), files.values()))

    def _get(self, path: Path, sha256: str) -> None:
        with replacing(path) as temporary:
            try:
                self._opened[0].get_file(self.path(_object(sha256)), str(temporary))
            except FileNotFoundError:
                raise StoreError(f"{self.url} has no {_object(sha256)}, which {path.name} is: {_REPAIR}") from None
            if sha256_file(temporary) != sha256:
                raise StoreError(f"{self.url}: {_object(sha256)} is not what its name says: {_REPAIR}")


def _create_file(path: Path, content: bytes) -> None:
    """Write a file that is not there, whole and at once; fsspec looks first and then writes, so that two may win.

    Errors: FileExistsError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    on_its_way = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    on_its_way.write_bytes(content)
    try:
        os.link(on_its_way, path)
    finally:
        on_its_way.unlink()


_REPAIR = "put it back from a backup, or remove the heads of what names it, so that it is made again"


def _object(sha256: str) -> str:
    return f"objects/{sha256[:2]}/{sha256}"


def is_taken(error: OSError) -> bool:
    """Tell whether a server refused because the key is there (HTTP 412), or is being written by another (409)."""
    if isinstance(error, FileExistsError):
        return True
    response = getattr(error.__cause__, "response", None) or {}
    return response.get("Error", {}).get("Code") in {"PreconditionFailed", "ConditionalRequestConflict", "412", "409"}
