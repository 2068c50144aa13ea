"""Which blocks of a project become which scenes: drawn by their ids, within the quotas of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.scenes import Scene
from pipeline.families.scenes.candidates import Candidate
from pipeline.families.scenes.related import Alike, Definitions
from pipeline.families.scenes.rules import SceneRules
from pipeline.families.scenes.views import View, hidden_names, view
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ProjectFileRow, SceneRelated, TracedFunctionRow

_OF_A_BLOCK = (
    Scene.WHOLE_BLOCK,
    Scene.FUNCTION_EMPTY_BELOW,
    Scene.NOTHING_BELOW,
    Scene.PART_OF_BLOCK,
    Scene.COMPLETE_BLOCK,
)


@dataclass(frozen=True, slots=True)
class Planned:
    """A scene that is to be proven: a block, how the file is cut, and what it relies on elsewhere."""

    candidate: Candidate
    scene: Scene
    view: View
    related: Sequence[SceneRelated] = ()

    @property
    def id(self) -> str:
        """The id of its row, and the key of its reject."""
        return content_id("scene", self.candidate.function["project_id"], self.candidate.key, self.scene)

    @property
    def hidden(self) -> Sequence[str]:
        """The names that its middle needs and that stand only where nothing is shown: nobody could write it."""
        candidate = self.candidate
        return hidden_names(candidate.file["text"], candidate.block, self.view, candidate.extent)


def choose(
    candidates: Sequence[Candidate],
    files: Mapping[str, ProjectFileRow],
    functions: Iterable[TracedFunctionRow],
    rules: SceneRules,
) -> list[Planned]:
    """Draw blocks of a project for the scenes 1.1 to 2.2, for 3 and for 4, and return what is to be made of them.

    The order is that of a hash of project and block, so that another project, or another block, changes no draw.
    """
    order = sorted(range(len(candidates)), key=lambda number: _lot(candidates[number]))
    definitions = Definitions(functions, files, rules.related)
    alike = Alike(candidates, rules.related)

    def runs_other_files(number: int) -> list[SceneRelated]:
        return definitions.used_by(candidates[number])

    def is_like(number: int) -> list[SceneRelated]:
        return [like] if (like := alike.most_like(number)) else []

    planned = [*_of_blocks((candidates[number] for number in order), rules)]
    for scene, related in ((Scene.OTHER_FILES, runs_other_files), (Scene.SIMILAR_CODE, is_like)):
        if scene in rules.scenes:
            planned += _relying(candidates, order, scene, related, rules)
    return planned


def _lot(candidate: Candidate) -> str:
    return content_id("scene", candidate.function["project_id"], candidate.key)


def _of_blocks(candidates: Iterable[Candidate], rules: SceneRules) -> Iterator[Planned]:
    """Yield the scenes of the first blocks of each type, only a few of each function."""
    types: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    for candidate in candidates:
        block, function = candidate.block, candidate.function["id"]
        if types[block.type] >= rules.per_type or functions[function] >= rules.per_function:
            continue
        types[block.type] += 1
        functions[function] += 1
        for scene in _OF_A_BLOCK:
            cut = view(scene, block, candidate.extent[1], candidate.file["text"])
            if cut is None or scene not in rules.scenes:
                continue
            # Below a header that is there, `return 1` is written by whoever has read the branch above it.
            if scene != Scene.PART_OF_BLOCK or cut.middle[1] - cut.middle[0] >= rules.min_length:
                yield Planned(candidate, scene, cut)


def _relying(
    candidates: Sequence[Candidate],
    order: Iterable[int],
    scene: Scene,
    related_of: Callable[[int], list[SceneRelated]],
    rules: SceneRules,
) -> Iterator[Planned]:
    """Yield a scene of each of the first blocks, one of a function, that rely on other code of the project."""
    functions: set[str] = set()
    for number in order:
        candidate = candidates[number]
        if len(functions) >= rules.per_scene:
            return
        if candidate.function["id"] in functions:
            continue
        cut = view(scene, candidate.block, candidate.extent[1], candidate.file["text"])
        if cut and (related := related_of(number)):
            planned = Planned(candidate, scene, cut, related)
            # One that nobody could write does not count.
            if not planned.hidden:
                functions.add(candidate.function["id"])
            yield planned
