"""What came of building, kept beside the environments: who asks for the same again is told without the index."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from pipeline.core.versions import cache_version
from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.lake.damage import read_state
from pipeline.lake.ids import content_id
from pipeline.lake.rows import EnvironmentRow

_REQUEST = frozenset({"pins", "tools"})
_COLUMNS = _REQUEST | {"library", "version", "outcome", "attempts"}


class RecordedRow(EnvironmentRow):
    """A row with what was wanted beside the release."""

    pins: list[str]
    tools: list[str]


class Records:
    """Rows of `environments` in a folder, by what was wanted and by all that decides what comes of it (`basis`).

    What was built stays right elsewhere; what could not be built holds for the `surroundings` in which that was so.
    """

    def __init__(self, folder: Path, basis: Any = None, surroundings: Any = None) -> None:
        self._folder = folder
        self._basis = content_id(cache_version("environment_records"), basis)
        self._surroundings = content_id(self._basis, surroundings)

    def find(self, request: EnvironmentRequest) -> EnvironmentRow | None:
        """Return the row of what was built before, or else of what could not be built, or None."""
        paths = (self._path(request, built) for built in (True, False))
        record = next((row for path in paths if (row := _read(path)) is not None), None)
        if record is None:
            return None
        return cast("EnvironmentRow", {name: value for name, value in record.items() if name not in _REQUEST})

    def keep(self, request: EnvironmentRequest, row: EnvironmentRow) -> None:
        """Keep the row of what was built, or of a failure that stands."""
        path = self._path(request, row["outcome"] == EnvironmentOutcome.BUILT)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({**row, "pins": (*request.pins, *request.undeclared), "tools": request.tools}, default=_plain)
        # Two threads may have built the same: each has a temporary name of its own.
        descriptor, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        Path(temporary).replace(path)

    def rows(self) -> Iterator[RecordedRow]:
        """Yield what was built, under these and under other rules, with `pins` and `tools` as they were wanted."""
        for path in sorted(self._folder.glob("*.json")):
            if (row := _read(path)) is not None:
                yield row

    def _path(self, request: EnvironmentRequest, built: bool) -> Path:
        wish = asdict(request)
        if built:
            return self._folder / f"{content_id(self._basis, wish)}.json"
        return self._folder / "failed" / f"{content_id(self._surroundings, wish)}.json"


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _read(path: Path) -> RecordedRow | None:
    """Return a row that was kept; None where there is none, or, with a line, where its file is damaged."""
    row = read_state(path, _COLUMNS)
    if row is None:
        return None
    for place in (row, *row["attempts"]):
        place["cutoff"] = datetime.fromisoformat(place["cutoff"])
    return cast("RecordedRow", row)
