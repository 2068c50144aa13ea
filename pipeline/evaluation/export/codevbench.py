"""Codev-Bench's files (2410.01353): editor scenes, one file a scene, and the projects' sources."""

from __future__ import annotations

import csv
import io
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pipeline.core.vocabularies.scenes import BlockType, Scene
from pipeline.evaluation.export.evocodebench import path_of
from pipeline.evaluation.export.format import Attached, Format, Further, Layout, Placed, Record, Result, Unpack
from pipeline.evaluation.export.projects import PROJECTS, SOURCES, Masked, Sources, folder_of
from pipeline.lake.rows import AnyRow, ProjectRow, PublishedSceneRow
from pipeline.snapshots.format.reader import Snapshot

METADATA = "metadatas"
_COMMANDS = "test_metadata_funcname_passed_called.jsonl"
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
    usage="sh evaluate.sh FOLDER-OF-THE-SCORER MODEL MODE",
    evaluate="""\
# Answers are in predicts/MODE/predictions/MODEL.jsonl: records of prompts/MODE.jsonl with response.
[ -d myenv ] || { python3 -m venv myenv && myenv/bin/pip install pytest pandas tqdm fuzzywuzzy; }
cp -r "$1/src" .
myenv/bin/python src/evaluate.py --method evaluate_prediction --model "$2" --mode "$3" --check-unittest
exec myenv/bin/python src/evaluate.py --method print_scores --model "$2"
""",
    notes=(
        f"below {SOURCES} each file with scenes has a copy of its project's source distribution; unit tests are pytest"
        f" node ids in the copy's own folder; {PROJECTS} has the lock of the environment they were run in",
        "in that file blank lines replace the blocks that its scenes hide; copies of it, bytecode and archives are"
        " left out; copies for other files have it whole. A scorer replaces the file before it runs a test",
        "tests run with test_prefix + response + test_suffix in the place of the file; evaluate.py runs prefix +"
        " response + suffix, which in scenes 1.2 and 1.3 is not the whole file",
        "in these two, cut a response at the end of its first block before test_suffix follows it, as `driftline score`"
        " does: the code that comes next is hidden, and models go on writing it",
        "block_type is one of the seven that evaluate.py counts, the nearest where there is no such one",
        "prepare.py writes the absolute paths of this place into the records, copies Source_Code to Source_Code_Copy"
        " and makes myenv with pytest-timeout in each folder; run it again after a move",
        "metadatas/<project>/test_metadata_funcname_passed_called.jsonl has did and run_command of each unit test;"
        " metadatas/test_file_cosine.output.csv names source and test files, without a cosine. Its columns are ours",
        "pytest.ini has the project's settings of pytest without addopts, so that plain pytest runs there",
        "references pass, except in scenes 1.2 and 1.3; empty answers fail, except in scene 2.2, whose middle is empty",
        "item_dids are the unit_test_ids; the benchmark's files _with_evidence are not made",
    ),
)


def codevbench(snapshot: Snapshot, unpack: Unpack) -> Iterator[Result]:
    """Yield the scenes of a snapshot as records, with the sources of their projects.

    Errors: Unreachable where the index that has the sources does not answer.
    """
    rows = snapshot.rows("scenes")
    sources = Sources(snapshot.rows("projects"), unpack)
    yield from sources.attached(_copies(rows, sources.projects), ["pytest-timeout"])
    exported = []
    for row in rows:
        project = sources.projects[row["project_id"]]
        if refusal := sources.refusal("scenes", row, folder_of(project, row["path"])):
            yield refusal
            continue
        record = scene_record(row, project)
        yield Placed(file_of(row["scene"]), record, "scenes", row, scene_row(record, row["scene"]))
        exported.append((folder_of(project, row["path"]), row))
    yield from _metadata(exported)


def _metadata(exported: Iterable[tuple[str, PublishedSceneRow]]) -> Iterator[Result]:
    """Yield the commands of the unit tests of each project, and the list of source and test files."""
    tests = sorted({(folder, test) for folder, row in exported for test in row["unit_test_ids"]})
    for folder, test in tests:
        command = f"cd {SOURCES}/{folder} && myenv/bin/python -m pytest {shlex.quote(test)}"
        yield Further(f"{METADATA}/{folder}/{_COMMANDS}", {"did": test, "run_command": command})
    files = {(folder, row["path"], test.split("::")[0]) for folder, row in exported for test in row["unit_test_ids"]}
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows([("project", "source_file", "test_file"), *sorted(files)])
    yield Attached(f"{METADATA}/test_file_cosine.output.csv", table.getvalue().encode())


def _copies(rows: Iterable[PublishedSceneRow], projects: Mapping[str, ProjectRow]) -> Iterator[Masked]:
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
    }


def prompt_of(row: PublishedSceneRow) -> str:
    """Return the fill-in-the-middle prompt of a scene; code that it relies on precedes the file."""
    related = "".join(f"<filename>{block['path']}{block['code']}" for block in row["related"])
    return f"{related}<filename>{row['path']}<fim_prefix>{row['prefix']}<fim_suffix>{row['suffix']}<fim_middle>"


def scene_row(record: Record, scene: str | None) -> AnyRow:
    """Return the columns of `published_scenes` that can be read from a record."""
    block_key = path_of(below_sources(record["block_key"]))
    prefix = record["prefix"]
    return {
        "scene": scene,
        "func_name": path_of(below_sources(record["func_name"])),
        "unit_test_ids": record["unit_test_ids"],
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
    results=codevbench,
    recognised_by=(frozenset({"block_key", "test_prefix"}),),
    in_projects=True,
)
