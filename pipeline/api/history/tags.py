"""The tags of VersiCode and LibEvolutionEval for a path at a version, from its lives."""

from __future__ import annotations

from collections.abc import Iterable

from more_itertools import first
from packaging.version import Version

from pipeline.api.history.rules import LifecycleRules
from pipeline.core.vocabularies.changes import LibEvolutionEvalTag, VersiCodeTag
from pipeline.lake.intervals import holds_at
from pipeline.lake.rows import LifecycleRow

Pair = tuple[VersiCodeTag, LibEvolutionEvalTag]

_VERSICODE = {
    LibEvolutionEvalTag.INTRODUCED: VersiCodeTag.ADDITION,
    LibEvolutionEvalTag.DEPRECATED: VersiCodeTag.DEPRECATION,
    LibEvolutionEvalTag.MODIFIED: VersiCodeTag.GENERAL,
    LibEvolutionEvalTag.UNCHANGED: VersiCodeTag.GENERAL,
}


class Tags:
    """The lives of a library's public paths, made ready for many questions."""

    def __init__(self, lifecycles: Iterable[LifecycleRow], rules: LifecycleRules) -> None:
        self._lifetimes: dict[str, list[LifecycleRow]] = {}
        self._precedence = rules.precedence
        for life in lifecycles:
            self._lifetimes.setdefault(life["path"], []).append(life)

    def at(self, path: str, version: str) -> Pair | None:
        """Return both tags of a path at a version, or None where the path is not alive.

        Which one a version gets where several fit is the rules' `precedence`.
        """
        life = self._life(path, Version(version))
        if life is None:
            return None
        fitting = {LibEvolutionEvalTag.UNCHANGED}
        if life["introduced_in"] == version:
            fitting.add(LibEvolutionEvalTag.INTRODUCED)
        if life["removed_in"] is not None and life["last_version"] == version:
            fitting.add(LibEvolutionEvalTag.DEPRECATED)
        if version in life["modified_in"]:
            fitting.add(LibEvolutionEvalTag.MODIFIED)
        tag = first(tag for tag in self._precedence if tag in fitting)
        return _VERSICODE[tag], tag

    def _life(self, path: str, version: Version) -> LifecycleRow | None:
        return next((life for life in self._lifetimes.get(path, ()) if holds_at(life, version)), None)
