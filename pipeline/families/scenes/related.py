"""What a block relies on elsewhere in its project: definitions of other files that it ran, or a block like it."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pipeline.core.syntax_trees import parse_python
from pipeline.families.scenes.blocks import Block
from pipeline.families.scenes.candidates import Candidate
from pipeline.families.scenes.rules import RelatedRules
from pipeline.families.scenes.source import SourceFile, Span, identifiers, tokens
from pipeline.lake.rows import ProjectFileRow, SceneRelated, TracedFunctionRow


class Definitions:
    """The definitions of a project in the files that hold functions which tests reach, by namespace."""

    def __init__(
        self, functions: Iterable[TracedFunctionRow], files: Mapping[str, ProjectFileRow], rules: RelatedRules
    ) -> None:
        self._files = {_module_of(row): files[row["path"]] for row in functions}
        self._places: dict[str, Mapping[str, Span]] = {}
        self._rules = rules

    def used_by(self, candidate: Candidate) -> list[SceneRelated]:
        """Return the definitions of other files that a block uses, most used first: rows of `related`.

        The function was seen to use them as it ran; the block is taken to use those that it names in a line that tests
        execute, by the name under which the file imports them.
        """
        imported = imported_as(candidate.file["text"])
        named = Counter(
            imported.get(name, name)
            for node in candidate.block.nodes
            for name, line in identifiers(node)
            if line in candidate.executed
        )
        used = [name for name in candidate.function["cross_file"] if named[_last(name)]]
        matches = [self._find(name) for name in sorted(used, key=lambda name: (-named[_last(name)], name))]
        return [row for row in matches if row][: self._rules.max_definitions]

    def _find(self, namespace: str) -> SceneRelated | None:
        """Return the lines of a definition, the first ones of a long one; None where its file is not at hand."""
        parts = namespace.split(".")
        for depth in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:depth])
            if module in self._files:
                file = self._files[module]
                if module not in self._places:
                    self._places[module] = SourceFile(file["text"]).definitions()
                if (place := self._places[module].get(".".join(parts[depth:]))) is None:
                    return None
                return _row(namespace, file, place[0], min(place[1], place[0] + self._rules.max_lines - 1))
        return None


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

    def most_like(self, number: int) -> SceneRelated | None:
        """Return the block of another function that is most like the one with that number, as a row of `related`.

        Likeness is the Jaccard index over runs of tokens. None where no block is as like as the rules ask for, or where
        one holds so much of this one that nothing is left to be written.
        """
        own, here = self._runs[number], self._candidates[number]
        shared = Counter(other for run in own for other in self._holding[run])
        others = [other for other in shared if self._candidates[other].function["id"] != here.function["id"]]
        if not others or max(shared[other] for other in others) > self._rules.max_share * len(own):
            return None
        scores = {other: shared[other] / (len(own) + len(self._runs[other]) - shared[other]) for other in others}
        best = min(others, key=lambda other: (-scores[other], self._candidates[other].key))
        if scores[best] < self._rules.min_similarity:
            return None
        like = self._candidates[best]
        return _row(like.function["namespace"], like.file, *like.block.lines, round(scores[best], 4))


@functools.lru_cache(maxsize=64)
def imported_as(text: str) -> Mapping[str, str]:
    """Return the names that a file imports under another one, by that: `from x import y as z`, anywhere in it."""
    imports = (node for node in ast.walk(parse_python(text)) if isinstance(node, ast.ImportFrom))
    return {each.asname: each.name for node in imports for each in node.names if each.asname}


def _last(namespace: str) -> str:
    return namespace.rpartition(".")[2]


def _module_of(function: TracedFunctionRow) -> str:
    """Return the module of a traced function, whose namespace is that of module, class and name."""
    ends = [function["name"], *([function["class_name"]] if function["class_name"] else [])]
    namespace = str(function["namespace"])
    for end in ends:
        namespace = namespace.removesuffix(f".{end}")
    return namespace


def _runs(block: Block, rules: RelatedRules) -> frozenset[tuple[str, ...]]:
    matches = [token for node in block.nodes for token in tokens(node)]
    if len(matches) < rules.min_tokens:
        return frozenset()
    return frozenset(tuple(matches[at : at + rules.run]) for at in range(len(matches) - rules.run + 1))


def _row(namespace: str, file: ProjectFileRow, first: int, last: int, similarity: float | None = None) -> SceneRelated:
    lines = file["text"].split("\n")[first - 1 : last]
    return {
        "namespace": namespace,
        "path": file["path"],
        "first_line": first,
        "last_line": last,
        "code": "\n".join(lines),
        "similarity": similarity,
    }
