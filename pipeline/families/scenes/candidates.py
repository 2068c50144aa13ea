"""The blocks of a project that scenes can be made of, and the tests that run them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.scenes import BlockType
from pipeline.families.repository_tasks.drawing import draw_tests
from pipeline.families.scenes.blocks import Block, blocks_of
from pipeline.families.scenes.rules import SceneRules
from pipeline.families.scenes.source import SourceFile, Span
from pipeline.lake.guard import attempt, parted
from pipeline.lake.rows import LineCoverageRow, ProjectFileRow, TracedFunctionRow
from pipeline.lake.stage import Reject

_CLAUSES = frozenset({BlockType.ELIF, BlockType.ELSE, BlockType.EXCEPT, BlockType.FINALLY, BlockType.CASE})
"""Blocks whose header is looked at although the block is not run."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A block of a function that tests reach: rows of `project_files` and `traced_functions`, and its executed lines.

    `extent` is where the function stands, in characters, from the beginning of the line of its `def`.
    """

    file: ProjectFileRow
    function: TracedFunctionRow
    block: Block
    extent: Span
    executed: frozenset[int]

    @property
    def key(self) -> str:
        """What Codev-Bench calls the block."""
        return place(self.file["path"], *self.block.lines)


def place(path: str, first: int, last: int) -> str:
    """Return lines of a file as Codev-Bench writes them."""
    return f"{path}#L{first}-L{last}"


def candidates_of(
    functions: Iterable[TracedFunctionRow], files: Mapping[str, ProjectFileRow], rules: SceneRules
) -> tuple[list[Candidate], list[Reject]]:
    """Return the blocks of a project's traced functions that scenes can be made of; `files` are by path.

    Refused is a function of a file that is too long to be shown or does not parse as Python 3, and one without a block
    of the sizes that rules allow whose lines tests execute. No two blocks of a file have the same lines.
    """
    candidates: list[Candidate] = []
    rejects: list[Reject] = []
    grouped: dict[str, list[TracedFunctionRow]] = {}
    for function in sorted(functions, key=lambda row: (row["path"], row["signature_first_line"], row["id"])):
        grouped.setdefault(function["path"], []).append(function)
    for path, of_file in grouped.items():
        if refusal := _refuse(files[path], rules):
            rejects += [Reject(row["id"], *refusal) for row in of_file]
            continue
        results = attempt(path, list, _of_file(files[path], of_file, rules))
        if isinstance(results, Reject):
            rejects += [replace(results, key=row["id"]) for row in of_file]
            continue
        drawn, refused = parted(results)
        candidates += drawn
        rejects += refused
    return candidates, rejects


def _refuse(file: ProjectFileRow, rules: SceneRules) -> tuple[RejectReason, str] | None:
    if (length := len(file["text"])) > rules.max_file_length:
        return RejectReason.TOO_LONG, f"{file['path']} has {length} characters, rules show {rules.max_file_length}"
    return None


def _of_file(
    file: ProjectFileRow, functions: Sequence[TracedFunctionRow], rules: SceneRules
) -> Iterable[Candidate | Reject]:
    source = SourceFile(file["text"])
    if source.broken:
        detail = f"{file['path']} does not parse as Python 3"
        yield from (Reject(row["id"], RejectReason.UNPARSED_SOURCE, detail) for row in functions)
        return
    nodes = source.functions()
    spans: set[tuple[int, int]] = set()
    for function in functions:
        node = nodes.get(function["signature_first_line"])
        extent = source.extent(node) if node else (0, 0)
        drawn = 0
        for block in blocks_of(source, node) if node else ():
            executed = _executed(block, function)
            if executed and block.lines not in spans and _fits(block, file["text"], rules):
                spans.add(block.lines)
                drawn += 1
                yield Candidate(file, function, block, extent, executed)
        if not drawn:
            detail = f"{function['namespace']} has no block of the wanted size that tests run"
            yield Reject(function["id"], RejectReason.NO_BLOCK, detail)


def _executed(block: Block, function: TracedFunctionRow) -> frozenset[int]:
    return frozenset(function["executed_lines"]) & frozenset(_lines(block, function))


def _lines(block: Block, function: TracedFunctionRow) -> range:
    """Return the lines of which one must be executed where a block is run."""
    first, last = block.lines
    if block.type == BlockType.PARAMETERS:
        # No line of them is executed: whoever runs the function meets them.
        return range(function["signature_first_line"], function["body_last_line"] + 1)
    # The line of the header alone says that a condition was looked at.
    return range(first + 1 if block.type in _CLAUSES and last > first else first, last + 1)


def _fits(block: Block, text: str, rules: SceneRules) -> bool:
    code = text[block.span[0] : block.span[1]]
    if block.lines[1] - block.lines[0] >= rules.max_lines:
        return False
    return block.type == BlockType.PARAMETERS or len(code) >= rules.min_length


def tests_of(candidate: Candidate, line_coverage: Iterable[LineCoverageRow]) -> list[str]:
    """Return the tests that run a block, the most telling first; `line_coverage` are of its function."""
    reached = {row["test"]: row["lines"] for row in line_coverage}
    lines = _lines(candidate.block, candidate.function)
    return draw_tests(reached, lines, len(reached), candidate.function["name"])
