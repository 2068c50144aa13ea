"""Programs of a record to run: the reference, or answers of a model."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.core.vocabularies.samples import Direction, Granularity, Language
from pipeline.evaluation.export import gitchameleon, libevolutioneval, versicode
from pipeline.evaluation.export.codevbench import below_sources
from pipeline.evaluation.export.format import Record
from pipeline.evaluation.export.masks import MASK, filled, is_masked
from pipeline.evaluation.export.records import Fields, RecordError, answers_in, checked, numbered

_COMPLETION: Fields = {"dependency": str, "version": str, "code": str, "masked_code": str, "answer": str}
_OF_COMPLETION: Fields = {"id": (str, int)} | dict.fromkeys(("core_token", "masked_line", "description", "time"), str)
_MIGRATION: Fields = dict.fromkeys(
    ("dependency", "old_version", "new_version", "old_code", "new_code", "old_name", "new_name"), str
)
_COMPATIBILITY: Fields = {"dependency": str, "code": str, "output": str, "releases": list, "answer": list}
_IN_LINE: Fields = dict.fromkeys(("prompt", "code_str", "reference_call"), str)
_OF_IN_LINE: Fields = {"id": (str, int), "imports": (str, list)} | dict.fromkeys(
    ("right_context", "version", "library", "api"), str
)
_PROBLEM: Fields = {"example_id": (str, int)} | dict.fromkeys(("library", "version", "starting_code", "solution"), str)
_OF_PROBLEM: Fields = {
    **dict.fromkeys(("additional_dependencies", "answer"), (str, list)),
    **dict.fromkeys(("python_version", "test"), str),
}
TASK: Fields = {"namespace": str, "completion_path": str, "body_position": list, "tests": list}
SCENE: Fields = {"block_key": str, "test_prefix": str, "test_suffix": str, "test_middle": str, "unit_test_ids": list}

_PROJECT = re.compile(r"(.+?)-(\d[\w.!+]*)(?:-[0-9a-f]{12})?")
"""The folder of a release of a project: name, version, and hash of the copy where there are several."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a record with the other fields of a sample; `code` is None where it runs in a project."""

    name: str
    library: str
    version: str | None = None
    code: str | None = None
    python: str | None = None
    extra_dependencies: tuple[str, ...] = ()
    test: str | None = None
    test_file: str | None = None
    module: str | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A record: its programs with the reference, and answers of a model."""

    programs: tuple[Program, ...]
    answers: tuple[Program, ...] = ()


def read_record(export_format: ExportFormat, record: Record, number: int, path: Path) -> Read:
    """Read a record of a file in a format, with the hidden tests beside the file.

    Errors: RecordError.
    """
    match export_format:
        case ExportFormat.VERSICODE if "old_code" in record:
            return _migration(record, number, path)
        case ExportFormat.VERSICODE if "releases" in record:
            return _compatibility(record, number)
        case ExportFormat.VERSICODE:
            return _completion(record, number, path)
        case ExportFormat.LIBEVOLUTIONEVAL:
            return _in_line(record, number, path)
        case ExportFormat.GITCHAMELEON:
            return _problem(record, path)
        case ExportFormat.EVOCODEBENCH:
            checked(record, TASK, {})
            return Read((_in_project(record["namespace"], record["completion_path"]),))
        case ExportFormat.CODEVBENCH:
            checked(record, SCENE, {})
            return Read((_in_project(record["block_key"], below_sources(record["block_key"])),))
        case ExportFormat.HARBOR:
            raise RecordError(
                "a task of Harbor is a folder, which Harbor runs; it is written, and not read", code="record_of_harbor"
            )


def _completion(record: Record, number: int, path: Path) -> Read:
    checked(record, _COMPLETION, _OF_COMPLETION)
    if record.get("language", Language.PYTHON) != Language.PYTHON:
        raise RecordError(
            f"language: {record['language']!r:.40}; only Python is run, so leave the record out",
            code="record_not_python",
        )
    granularity = str(record.get("granularity") or _granularity_of(path))
    if granularity not in set(Granularity):
        raise RecordError(
            f"granularity: {granularity!r:.40}; give {', '.join(Granularity)}", code="record_value_invalid"
        )
    columns = versicode.completion_row(record | {"granularity": granularity})
    name = _name(record, number)
    reference = Program(name, columns["library"], columns["version"], record["code"])
    answers = [
        replace(
            reference,
            name=f"{name}#{at}",
            code=filled(record["masked_code"], answer, columns["core_token"], granularity, record["code"]),
        )
        for at, answer in enumerate(_outputs(record, granularity), 1)
    ]
    if answers and not is_masked(record["masked_code"]):
        raise RecordError(
            f"masked_code: holds no {MASK}, so no completion can be inserted; mark its place",
            code="record_without_mask",
        )
    return Read((reference,), tuple(answers))


def _compatibility(record: Record, number: int) -> Read:
    checked(record, _COMPATIBILITY, {"id": (str, int)})
    if not record["answer"]:
        raise RecordError("answer: no release, so there is none to run it in; name one", code="record_value_invalid")
    newest = str(record["answer"][-1])
    return Read((Program(_name(record, number), record["dependency"], newest, record["code"]),))


def _granularity_of(path: Path) -> str:
    """Return the granularity in the name of a file, as the released files have it."""
    granularities = [granularity for granularity in Granularity if granularity in path.name]
    if not granularities:
        raise RecordError("granularity: missing; give token, line or block", code="record_field_missing")
    return granularities[0]


def _outputs(record: Record, granularity: str) -> list[str]:
    """Return a model's outputs: a list, or a text that evaluates to one."""
    field = f"model_output_{granularity}_clear"
    value: Any = record.get(field)
    if value is None:
        return []
    try:
        outputs = literal_eval(value) if isinstance(value, str) else value
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        outputs = None
    if not isinstance(outputs, list) or not all(isinstance(output, str) for output in outputs):
        raise RecordError(
            f"{field}: {value!r:.60} is no list of texts; write one, as Python does", code="record_value_invalid"
        )
    return outputs


def _migration(record: Record, number: int, path: Path) -> Read:
    """Read a migration; its direction is in the record, or in the name of the file."""
    checked(record, _MIGRATION, {"id": (str, int)})
    recorded = (
        record.get("edit_order")
        or record.get("direction")
        or (Direction.NEW_TO_OLD if Direction.NEW_TO_OLD in path.name else None)
    )
    direction = str(recorded or Direction.OLD_TO_NEW)
    if direction not in set(Direction):
        raise RecordError(f"edit_order: {direction!r:.40}; give {', '.join(Direction)}", code="record_value_invalid")
    name, library = _name(record, number), record["dependency"]
    old = Program(f"{name}/old", library, versicode.bare_version(record["old_version"]), record["old_code"])
    new = Program(f"{name}/new", library, versicode.bare_version(record["new_version"]), record["new_code"])
    outputs = enumerate(_outputs(record, Granularity.BLOCK), 1)
    target = new if direction == Direction.OLD_TO_NEW else old
    answers = tuple(replace(target, name=f"{name}#{at}", code=output) for at, output in outputs)
    return Read((new, old), answers)


def _in_line(record: Record, number: int, path: Path) -> Read:
    """Read an in-line completion; library and version are in the record, or in the names of folder and file."""
    if "API_Call" in record:
        raise RecordError(
            "API_Call: a document of an API is no program; give a file of examples", code="record_of_document"
        )
    meta_data = record.get("meta_data")
    record = record | (meta_data if isinstance(meta_data, dict) else {})
    if record.get("reference_call") is None:
        # The published files have the rest of the expression, which the prompt begins.
        record |= {"reference_call": record.get("target"), "code_str": ""}
    checked(record, _IN_LINE, _OF_IN_LINE)
    version = record.get("version") or libevolutioneval.version_of(path.name)
    if version is None:
        raise RecordError(
            "version: missing, and the name of the file is not like v_2_0_0.jsonl; give one of them",
            code="record_field_missing",
        )
    left = record["prompt"].removesuffix(record["code_str"]) + record["reference_call"]
    imports = record.get("imports")
    if isinstance(imports, str) and not left.startswith(imports):
        left = f"{imports}\n{left}"
    code = (left + (record.get("right_context") or "")).replace("[token-mask]", _last_name(record))
    library = record.get("library") or (record.get("api") or "").partition(".")[0] or path.parent.name
    return Read((Program(_name(record, number), library, version, code),))


def _last_name(record: Record) -> str:
    """Return the name that masks in the context hide: the last one of the reference before its arguments."""
    reference = record["reference_call"]
    try:
        node: ast.AST = parse_python(reference.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        name = re.match(r"\w*", reference.removeprefix(record["code_str"]))
        return name[0] if name else ""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _problem(record: Record, path: Path) -> Read:
    checked(record, _PROBLEM, _OF_PROBLEM)
    module = gitchameleon.module_of(record["example_id"])
    tests = _hidden_tests(path, module)
    dependencies = record.get("additional_dependencies") or ""
    reference = Program(
        name=str(record["example_id"]),
        library=record["library"],
        version=record["version"],
        code=record["starting_code"] + record["solution"],
        python=record.get("python_version"),
        extra_dependencies=tuple(dependencies.split() if isinstance(dependencies, str) else map(str, dependencies)),
        test=record.get("test"),
        test_file=tests,
        module=module if tests else None,
    )
    answers = answers_in(record, "answer")
    names = numbered(reference.name, len(answers)) if answers else []
    answered = (replace(reference, name=name, code=code) for name, code in zip(names, answers, strict=True))
    return Read((reference,), tuple(answered))


def _hidden_tests(path: Path, module: str) -> str | None:
    """Return the hidden tests of a problem, from beside its file or from a folder there."""
    if not module.isidentifier():
        raise RecordError(
            f"example_id: nothing can be imported as {module!r:.60}; give letters, digits and _ alone",
            code="record_value_invalid",
        )
    for folder in (path.parent / gitchameleon.HIDDEN_TESTS, path.parent):
        tests = folder / f"test_{module}.py"
        if tests.is_file():
            try:
                return tests.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise RecordError(
                    f"{tests}: cannot be read ({error}); save it as UTF-8", code="record_test_unreadable"
                ) from None
    return None


def _in_project(name: str, path: str) -> Program:
    """Return a record that runs in a project, with the release in the first folder of its path."""
    folder, _, inside = path.partition("/")
    if not folder or not inside:
        raise RecordError(
            f"{path!r:.80}: not below the folder of a project; give PROJECT/… as the benchmark does",
            code="record_path_invalid",
        )
    release = _PROJECT.fullmatch(folder)
    return Program(name, release[1], release[2]) if release else Program(name, folder)


def _name(record: Record, number: int) -> str:
    return str(record.get("id") or number)
