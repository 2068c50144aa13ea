"""What came of building, kept beside the environments: who asks for the same again is told without the index."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from pipeline.environments.wanted import Wanted
from pipeline.lake import Row, content_id
from pipeline.terms import EnvironmentOutcome

_VERSION = 1
"""To be raised by whoever changes what is resolved or built for the same wish under the same rules."""


class Records:
    """Rows of `environments` in a folder, by what was wanted and by all that decides what comes of it (`basis`).

    Only what was built is kept: what failed may be tried again with more luck.
    """

    def __init__(self, folder: Path, basis: Any = None) -> None:
        self._folder = folder
        self._basis = content_id(_VERSION, basis)

    def find(self, wanted: Wanted) -> Row | None:
        """Return the row of what was built before, or None."""
        path = self._path(wanted)
        return _read(path) if path.is_file() else None

    def keep(self, wanted: Wanted, row: Row) -> None:
        """Keep the row of what was built."""
        if row["outcome"] == EnvironmentOutcome.BUILT:
            self._folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps(row | {"pins": wanted.pins, "tools": wanted.tools}, default=_plain)
            # Two threads may have built the same: each has a temporary name of its own.
            descriptor, temporary = tempfile.mkstemp(dir=self._folder)
            with os.fdopen(descriptor, "w") as file:
                file.write(text)
            Path(temporary).replace(self._path(wanted))

    def rows(self) -> Iterator[Row]:
        """Yield what was kept, under these and under other rules, with `pins` and `tools` as they were wanted."""
        for path in sorted(self._folder.glob("*.json")):
            yield _read(path, with_wish=True)

    def _path(self, wanted: Wanted) -> Path:
        return self._folder / f"{content_id(self._basis, asdict(wanted))}.json"


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _read(path: Path, with_wish: bool = False) -> Row:
    row: Row = json.loads(path.read_text())
    for place in (row, *row["attempts"]):
        place["cutoff"] = datetime.fromisoformat(place["cutoff"])
    if not with_wish:
        del row["pins"], row["tools"]
    return row
