"""Which other APIs of a release the text of a completion describes as well as the hidden one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import cache

from pipeline.core.vocabularies.samples import DraftField
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import DocumentRow, LifecycleRow
from pipeline.llm.rules import DraftingRules
from pipeline.llm.writers import OfflineWriter, Request


class Descriptions:
    """The docstrings of a library and the replacements that it states, by path.

    `same` is the share of equal text (difflib's ratio, 0 to 1) from which on two descriptions say the same.
    """

    def __init__(
        self, documents: Iterable[DocumentRow], lifecycles: Iterable[LifecycleRow], drafting: DraftingRules, same: float
    ) -> None:
        self._same = same
        self._documents: Mapping[str, list[DocumentRow]] = defaultdict(list)
        for row in documents:
            self._documents[row["path"]].append(row)
        self._replacements = {
            row["path"]: re.findall(r"\w+", row["replacement"])[-1:] for row in lifecycles if row["replacement"]
        }
        writer = OfflineWriter(drafting)

        @cache
        def describe(docstring: str, hidden: str) -> str | None:
            written = writer.text(Request("", DraftField.DESCRIPTION, (hidden,), (docstring,), ""))
            return written.text if written else None

        self._describe = describe

    def alike(self, text: str, path: str, names: Iterable[str], version: str) -> Iterator[str]:
        """Yield the names beside an API whose own description is like its text, or of which one replaces the other."""
        place, _, hidden = path.rpartition(".")
        for name in names:
            other = f"{place}.{name}"
            replaces = name in self._replacements.get(path, ()) or hidden in self._replacements.get(other, ())
            if replaces or any(self._is_like(text, each) for each in self._texts(other, hidden, version)):
                yield name

    def _texts(self, path: str, hidden: str, version: str) -> Iterator[str]:
        """Yield what drafting makes of an API's docstring without its own name, and without the hidden one."""
        for row in holding_at(self._documents.get(path, ()), version):
            for name in (path.rpartition(".")[2], hidden):
                if text := self._describe(row["docstring"], name):
                    yield text

    def _is_like(self, text: str, other: str) -> bool:
        matcher = SequenceMatcher(None, text, other)
        # The first is an upper bound that costs little.
        return matcher.real_quick_ratio() >= self._same and matcher.ratio() >= self._same
