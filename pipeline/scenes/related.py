"""What a block relies on elsewhere in its project: definitions of other files that it ran, or a block like it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pipeline.lake import Row
from pipeline.scenes.blocks import Block
from pipeline.scenes.candidates import Candidate
from pipeline.scenes.rules import RelatedRules
from pipeline.scenes.source import identifiers, tokens


class Definitions:
    """The functions of a project that tests reach, by namespace, and the class of each `__init__`."""

    def __init__(self, functions: Iterable[Row], files: Mapping[str, Row], rules: RelatedRules) -> None:
        self._functions = {row["namespace"]: row for row in sorted(functions, key=lambda row: str(row["id"]))}
        self._files = files
        self._rules = rules

    def used_by(self, candidate: Candidate) -> list[Row]:
        """Return the definitions of other files that a block runs, most used first: rows of `related`.

        That the function runs them was traced; the block is taken to run those whose name it has in a line that tests
        execute. A class is named where its `__init__` is run. Special methods have no name to be found by.
        """
        names = Counter(
            name for node in candidate.block.nodes for name, line in identifiers(node) if line in candidate.executed
        )
        found = [
            (-names[_name_of(row)], namespace, row)
            for namespace in candidate.function["cross_file"]
            if (row := self._functions.get(namespace)) and names[_name_of(row)]
        ]
        related = [self._related(row) for _, _, row in sorted(found, key=lambda each: each[:2])]
        return [row for row in related if row][: self._rules.max_definitions]

    def _related(self, function: Row) -> Row | None:
        file = self._files.get(function["path"])
        first, last = function["signature_first_line"], function["body_last_line"]
        if file is None or last - first >= self._rules.max_lines:
            return None
        return _row(function["namespace"], file, first, last)


class Alike:
    """The blocks of a project by the runs of tokens that they are made of."""

    def __init__(self, candidates: Sequence[Candidate], rules: RelatedRules) -> None:
        self._rules = rules
        self._candidates = candidates
        self._runs = [_runs(candidate.block, rules) for candidate in candidates]
        self._holding: dict[tuple[str, ...], list[int]] = {}
        for number, runs in enumerate(self._runs):
            for run in runs:
                self._holding.setdefault(run, []).append(number)

    def most_like(self, number: int) -> Row | None:
        """Return the block of another function that is most like the one with that number, as a row of `related`.

        Likeness is the Jaccard index over runs of tokens. None where none is as like as the rules ask for, or where one
        is so like that nothing is left to be written.
        """
        shared = Counter(other for run in self._runs[number] for other in self._holding[run])
        here = self._candidates[number]
        scored = [
            (round(common / (len(self._runs[number]) + len(self._runs[other]) - common), 4), other)
            for other, common in shared.items()
            if self._candidates[other].function["id"] != here.function["id"]
        ]
        if not scored:
            return None
        similarity, other = min(scored, key=lambda pair: (-pair[0], self._candidates[pair[1]].key))
        if not self._rules.min_similarity <= similarity <= self._rules.max_similarity:
            return None
        like = self._candidates[other]
        first, last = like.block.lines
        return _row(like.function["namespace"], like.file, first, last, similarity)


def _name_of(function: Row) -> str:
    """Return the name by which code calls a function: that of its class if it makes the object."""
    return str(function["class_name"] if function["name"] in ("__init__", "__new__") else function["name"])


def _runs(block: Block, rules: RelatedRules) -> frozenset[tuple[str, ...]]:
    found = [token for node in block.nodes for token in tokens(node)]
    if len(found) < rules.min_tokens:
        return frozenset()
    return frozenset(tuple(found[at : at + rules.run]) for at in range(len(found) - rules.run + 1))


def _row(namespace: str, file: Row, first: int, last: int, similarity: float | None = None) -> Row:
    lines = file["text"].split("\n")[first - 1 : last]
    return {
        "namespace": namespace,
        "path": file["path"],
        "first_line": first,
        "last_line": last,
        "code": "\n".join(lines),
        "similarity": similarity,
    }
