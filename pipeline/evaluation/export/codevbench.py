"""Codev-Bench's files (2410.01353): editor scenes, one file a scene, and the projects' sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pipeline.core.vocabularies.exports import Unsupported
from pipeline.core.vocabularies.scenes import BlockType, Scene
from pipeline.evaluation.export.evocodebench import path_of
from pipeline.evaluation.export.format import Format, Layout, Placed, Record, Refused, Result, Unpack
from pipeline.evaluation.export.projects import PROJECTS, SOURCES, Masked, Sources, folder_of
from pipeline.families.scenes.family import is_unnoticed
from pipeline.lake.rows import ProjectRow, PublishedSceneRow
from pipeline.lake.schema import Row
from pipeline.snapshots.format.reader import Snapshot

_FILES: dict[str, str] = {
    Scene.WHOLE_BLOCK: "prefix_suffix_full_complete_current_block_no_evidence",
    Scene.FUNCTION_EMPTY_BELOW: "prefix_full_suffix_func_empty_complete_current_block_no_evidence",
    Scene.NOTHING_BELOW: "prefix_full_suffix_empty_complete_current_block_no_evidence",
    Scene.PART_OF_BLOCK: "complete_current_header_inner_block_completion",
    Scene.COMPLETE_BLOCK: "complete_current_header_empty_completion",
    Scene.OTHER_FILES: "complete_block_of_other_files",
    Scene.SIMILAR_CODE: "complete_block_of_similar_code",
}
"""File names of the scenes; those of scenes 3 and 4, which the benchmark only announces, are our own."""

_EXACT = {
    "METHOD": BlockType.FUNCTION,
    "IF": BlockType.IF,
    "FOR": BlockType.FOR,
    "WHILE": BlockType.WHILE,
    "TRY": BlockType.TRY,
    "CATCH": BlockType.EXCEPT,
    "STATEMENT": BlockType.STATEMENT,
}
_TYPES: dict[str, str] = {str(block): name for name, block in _EXACT.items()} | {
    **dict.fromkeys((BlockType.ELIF, BlockType.ELSE, BlockType.MATCH, BlockType.CASE), "IF"),
    **dict.fromkeys((BlockType.PARAMETERS, BlockType.CLASS), "METHOD"),
    **dict.fromkeys((BlockType.WITH, BlockType.COMMENT), "STATEMENT"),
    BlockType.FINALLY: "TRY",
}
"""Types as the benchmark's scorer counts them; it stops at any other than these seven."""

_LAYOUT = Layout(
    families=("scenes",),
    configs=("scenes", "projects"),
    added={"discriminating": "whether a unit test fails where the block is empty; null where nothing was left out"},
    usage="sh evaluate.sh",
    evaluate='exec python3 "$@"\n',
    notes=(
        f"below {SOURCES} each file with scenes has a copy of its project's source distribution; unit tests are pytest"
        f" node ids in the copy's own folder; {PROJECTS} has the lock of the environment they were run in",
        "in that file blank lines replace the blocks that its scenes hide; copies of it, bytecode and archives are"
        " left out; copies for other files have it whole. A scorer replaces the file before it runs a test",
        "tests run with test_prefix + response + test_suffix in the place of the file; evaluate.py runs prefix +"
        " response + suffix, which in scenes 1.2 and 1.3 is not the whole file",
        "block_type is one of the seven that evaluate.py counts, the nearest where there is no such one",
        "metadatas/, from which evaluate.py takes the commands of unit tests, is not written: unit_test_ids name them",
        "item_dids are the unit_test_ids; the benchmark's files _with_evidence are not made",
    ),
)


def codevbench(snapshot: Snapshot, unpack: Unpack, *, unnoticed: bool = False) -> Iterator[Result]:
    """Yield the scenes of a snapshot as records, with the sources of their projects.

    Scenes whose tests do not notice an empty answer are refused unless `unnoticed`.

    Errors: Unreachable where the index that has the sources does not answer.
    """
    rows = snapshot.rows("scenes")
    sources = Sources(snapshot.rows("projects"), unpack)
    included = [row for row in rows if unnoticed or not is_unnoticed(row)]
    yield from (
        Refused("scenes", row["id"], Unsupported.NOT_DISCRIMINATING, Unsupported.NOT_DISCRIMINATING.meaning)
        for row in rows
        if not unnoticed and is_unnoticed(row)
    )
    yield from sources.attached(_copies(included, sources.projects))
    for row in included:
        project = sources.projects[row["project_id"]]
        if refusal := sources.refusal("scenes", row, folder_of(project, row["path"])):
            yield refusal
            continue
        record = scene_record(row, project)
        yield Placed(file_of(row["scene"]), record, "scenes", row, scene_row(record, row["scene"]))


def _copies(rows: Iterable[Row], projects: Mapping[str, ProjectRow]) -> Iterator[Masked]:
    """Yield a copy of a project for each file that has scenes, without the blocks that they hide."""
    spans: dict[tuple[str, str], set[tuple[int, int]]] = defaultdict(set)
    for row in rows:
        first = row["prefix"].count("\n") + 1
        if row["middle"]:
            spans[row["project_id"], row["path"]].add((first, first + row["middle"].removesuffix("\n").count("\n")))
        else:
            spans[row["project_id"], row["path"]] |= set()
    for (project_id, path), lines in spans.items():
        yield Masked(folder_of(projects[project_id], path), project_id, path, sorted(lines))


def file_of(scene: str) -> str:
    """Return the file of a scene."""
    return f"prompts/{_FILES[scene]}.jsonl"


def below_sources(path: str) -> str:
    """Return a path relative to the folder of the sources; the benchmark has absolute ones."""
    return path.rpartition(f"{SOURCES}/")[2] if path.startswith(("/", f"{SOURCES}/")) else path


def scene_record(row: PublishedSceneRow, project: ProjectRow) -> Record:
    """Return a scene as Codev-Bench has it."""
    folder = folder_of(project, row["path"])
    return {
        "func_name": f"{SOURCES}/{folder}/{row['func_name']}",
        "item_dids": row["unit_test_ids"],
        "unit_test_ids": row["unit_test_ids"],
        "block_key": f"{SOURCES}/{folder}/{row['block_key']}",
        "block_type": _TYPES[row["block_type"]],
        "prompt": prompt_of(row),
        "prefix": row["prefix"],
        "suffix": row["suffix"],
        "middle": row["middle"],
        "test_prefix": row["prefix"],
        "test_suffix": row["test_suffix"],
        "test_middle": row["middle"],
        "discriminating": row["discriminating"],
    }


def prompt_of(row: PublishedSceneRow) -> str:
    """Return the fill-in-the-middle prompt of a scene; code that it relies on precedes the file."""
    related = "".join(f"<filename>{block['path']}{block['code']}" for block in row["related"])
    return f"{related}<filename>{row['path']}<fim_prefix>{row['prefix']}<fim_suffix>{row['suffix']}<fim_middle>"


def scene_row(record: Record, scene: str | None) -> Row:
    """Return the columns of `published_scenes` that can be read from a record."""
    block_key = path_of(below_sources(record["block_key"]))
    prefix = record["prefix"]
    return {
        "scene": scene,
        "func_name": path_of(below_sources(record["func_name"])),
        "unit_test_ids": record["unit_test_ids"],
        "discriminating": record.get("discriminating"),
        "block_key": block_key,
        "block_type": _EXACT.get(record["block_type"]),
        "path": block_key.rpartition("#L")[0],
        "prefix": prefix,
        "suffix": record["suffix"],
        "middle": record["middle"],
        "test_suffix": record["test_suffix"],
        "middle_start": len(prefix),
        "middle_end": len(prefix) + len(record["middle"]),
    }


FORMAT = Format(
    layout=_LAYOUT,
    results=lambda snapshot, unpack, unnoticed: codevbench(snapshot, unpack, unnoticed=unnoticed),
    recognised_by=(frozenset({"block_key", "test_prefix"}),),
    in_projects=True,
)
