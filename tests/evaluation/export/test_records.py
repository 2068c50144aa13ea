"""Files of the benchmarks as they may come: which format they have, and what of them can be used."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export.folder import export
from pipeline.evaluation.export.format import ExportError, Unpack
from pipeline.evaluation.export.programs import read_record
from pipeline.evaluation.export.records import BadRecord, RecordError, detect, read_records
from pipeline.evaluation.export.samples import write_samples
from pipeline.execution.validation.samples.samples import read_sample
from tests.errors import raises
from tests.evaluation.export.test_folder import FILES

TOKEN = {
    "dependency": "lib",
    "version": "==1.1",
    "code": "import lib\nlib.fetch(1)\n",
    "masked_code": "import lib\nlib.<mask>(1)\n",
    "answer": "fetch",
    "granularity": "token",
}
LINE = TOKEN | {
    "granularity": "line",
    "masked_code": "import lib\n<mask>\n",
    "masked_line": "lib.fetch(1)",
}
MIGRATION = {
    "dependency": "lib",
    "old_version": "==1.1",
    "new_version": "2.0",
    "old_code": "import lib\nlib.fetch(1)",
    "new_code": "import lib\nlib.load(1)",
    "old_name": "fetch",
    "new_name": "load",
}
PROBLEM = {
    "example_id": "7",
    "python_version": "3.9",
    "library": "lib",
    "version": "2.0",
    "starting_code": "def f():\n",
    "solution": "    return 1\n",
    "test": "assert f() == 1",
    "additional_dependencies": "numpy==1.21.6 scipy",
}
IN_LINE = {
    "prompt": "x = 1\ny = ",
    "code_str": "lib.",
    "reference_call": "lib.fetch(x)",
    "right_context": "\nz = [token-mask]\n",
    "imports": "import lib",
    "version": "1.1",
    "library": "lib",
}


def write(path: Path, *records: Any, whole: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(record) + "\n" for record in records)
    path.write_text(json.dumps({"data": list(records)}, indent=1) if whole else lines)
    return path


def samples(path: Path, wanted: ExportFormat) -> list[dict[str, Any]]:
    out = io.StringIO()
    write_samples(path, wanted, out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("wanted", FILES)
def test_every_exported_file_tells_its_format_and_has_no_bad_record(
    wanted: ExportFormat, snapshot: Path, sources: Unpack, tmp_path: Path
) -> None:
    export(snapshot, wanted, tmp_path / "out", sources)
    for file in (name for name in FILES[wanted] if not name.startswith(("projects", "ids", "metadatas"))):
        assert detect(tmp_path / "out" / file) is wanted
        ((number, record),) = (one for one in read_records(tmp_path / "out" / file) if not isinstance(one, BadRecord))
        if record.get("language") != "java" and "API_Call" not in record:
            assert read_record(wanted, record, number, tmp_path / "out" / file).programs


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "[]",
        "1\n",
        "{}",
        '{"id": 1, "code": "x"}\n',
        '{"data": 1}',
        '{"data"',
        "\0",
        "[" * 100_000,
        '"data"',
    ],
)
def test_other_files_are_of_no_format(text: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    assert detect(tmp_path / "x") is None


@given(st.binary(max_size=200), st.sampled_from([*ExportFormat]))
def test_no_bytes_end_in_anything_but_a_told_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, wanted: ExportFormat
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "x"
    path.write_bytes(content)
    detect(path)
    problems = []
    try:
        problems = [bad.detail for bad in write_samples(path, wanted, io.StringIO()).bad]
    except ExportError as error:
        problems = [str(error)]
    assert any(problems)


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.text(max_size=3), max_size=3)
RECORDS = [
    (ExportFormat.VERSICODE, TOKEN | {"model_output_token_clear": "['fetch']"}),
    (
        ExportFormat.VERSICODE,
        LINE | {"id": "a", "core_token": "fetch", "time": "2021", "description": "", "source": "x"},
    ),
    (ExportFormat.VERSICODE, MIGRATION),
    (ExportFormat.LIBEVOLUTIONEVAL, IN_LINE),
    (ExportFormat.GITCHAMELEON, PROBLEM),
    (
        ExportFormat.EVOCODEBENCH,
        {"namespace": "a.b", "completion_path": "a-1.0/a.py", "body_position": [1, 2], "tests": []},
    ),
    (
        ExportFormat.CODEVBENCH,
        {
            "block_key": "Source_Code/a/a.py#L1-L2",
            "test_prefix": "",
            "test_suffix": "",
            "test_middle": "",
            "unit_test_ids": [],
        },
    ),
]


@given(st.sampled_from(RECORDS), st.data())
def test_a_record_with_any_value_in_a_field_is_read_or_told(known: Any, data: st.DataObject) -> None:
    wanted, record = known
    changed = record | {data.draw(st.sampled_from(sorted(record))): data.draw(VALUES)}
    told = ""
    try:
        told = read_record(wanted, changed, 1, Path("v_1_0.jsonl")).programs[0].name
    except RecordError as error:
        told = str(error)
    assert told


@pytest.mark.parametrize(
    ("wanted", "record", "name", "code"),
    [
        (ExportFormat.VERSICODE, {"dependency": "lib"}, "masked_code", "record_field_missing"),
        (ExportFormat.VERSICODE, TOKEN | {"version": 1.1}, "version", "record_value_invalid"),
        (ExportFormat.VERSICODE, TOKEN | {"granularity": "word"}, "granularity", "record_value_invalid"),
        (ExportFormat.VERSICODE, MIGRATION | {"direction": "up"}, "edit_order", "record_value_invalid"),
        (ExportFormat.VERSICODE, TOKEN | {"language": "java"}, "java", "record_not_python"),
        (ExportFormat.VERSICODE, TOKEN | {"model_output_token_clear": "fetch"}, "fetch", "record_value_invalid"),
        (
            ExportFormat.VERSICODE,
            TOKEN | {"masked_code": "x", "model_output_token_clear": ["f"]},
            "masked_code",
            "record_without_mask",
        ),
        (ExportFormat.LIBEVOLUTIONEVAL, {"API_Call": "lib.f"}, "API_Call", "record_of_document"),
        (ExportFormat.LIBEVOLUTIONEVAL, IN_LINE | {"version": None}, "version", "record_field_missing"),
        (ExportFormat.GITCHAMELEON, PROBLEM | {"example_id": "../../x"}, "example_id", "record_value_invalid"),
        (ExportFormat.GITCHAMELEON, PROBLEM | {"solution": None}, "solution", "record_field_missing"),
        (ExportFormat.EVOCODEBENCH, {"namespace": "a"}, "completion_path", "record_field_missing"),
        (
            ExportFormat.EVOCODEBENCH,
            {"namespace": "a", "completion_path": "a.py", "body_position": [1, 2], "tests": []},
            "a.py",
            "record_path_invalid",
        ),
    ],
)
def test_what_is_wrong_with_a_record(wanted: ExportFormat, record: dict[str, Any], name: str, code: str) -> None:
    with raises(RecordError, name, code=code):
        read_record(wanted, record, 1, Path("x.jsonl"))


def test_answers_take_the_place_of_references(tmp_path: Path) -> None:
    answered = [TOKEN | {"id": "a", "model_output_token_clear": "['fetch', 'load']"}, LINE | {"id": "b"}]
    made = samples(write(tmp_path / "x.json", *answered, whole=True), ExportFormat.VERSICODE)
    assert [(one["id"], one["code"]) for one in made] == [
        ("a#1", "import lib\nlib.fetch(1)\n"),
        ("a#2", "import lib\nlib.load(1)\n"),
        ("b", "import lib\nlib.fetch(1)\n"),
    ]
    assert {one["version"] for one in made} == {"1.1"}


@pytest.mark.parametrize(
    ("file", "direction", "version"),
    [
        ("x.json", {}, "2.0"),
        ("migration_new_to_old.json", {}, "1.1"),
        ("x.json", {"direction": "new_to_old"}, "1.1"),
        ("x.json", {"edit_order": "new_to_old"}, "1.1"),
        ("migration_new_to_old.json", {"direction": "old_to_new"}, "2.0"),
    ],
)
def test_a_migration_is_answered_in_the_version_that_it_leads_to(
    file: str, direction: dict[str, str], version: str, tmp_path: Path
) -> None:
    record = MIGRATION | direction | {"model_output_block_clear": "['import lib']"}
    (made,) = samples(write(tmp_path / file, record, whole=True), ExportFormat.VERSICODE)
    assert (made["id"], made["version"], made["code"]) == ("1#1", version, "import lib")


def test_both_sides_of_a_migration_run_each_in_its_version(tmp_path: Path) -> None:
    made = samples(write(tmp_path / "x.json", MIGRATION, whole=True), ExportFormat.VERSICODE)
    assert [(one["id"], one["version"]) for one in made] == [("1/new", "2.0"), ("1/old", "1.1")]


def test_a_problem_brings_its_hidden_tests_and_pins(tmp_path: Path) -> None:
    path = write(tmp_path / "problems.jsonl", PROBLEM, PROBLEM | {"example_id": 8, "answer": "def f(): return 1"})
    write(tmp_path / "hidden_tests" / "test_sample_7.py")
    (tmp_path / "hidden_tests" / "test_sample_7.py").write_text("from sample_7 import f")
    first, second = samples(path, ExportFormat.GITCHAMELEON)
    assert first == {
        "id": "7",
        "library": "lib",
        "version": "2.0",
        "python": "3.9",
        "extra_dependencies": ["numpy==1.21.6", "scipy"],
        "code": "def f():\n    return 1\n",
        "test": "assert f() == 1",
        "test_file": "from sample_7 import f",
        "module": "sample_7",
    }
    assert (second["code"], "test_file" in second) == ("def f(): return 1", False)
    for line in (first, second):
        read_sample(json.dumps(line | {"extra_dependencies": ["numpy==1.21.6"]}).encode())


@pytest.mark.parametrize("count", ['"count": 1, ', '"count" : 1,\n'])
def test_a_count_beside_the_records_of_versicode(count: str, tmp_path: Path) -> None:
    path = tmp_path / "token.json"
    path.write_text(f'{{{count}"data": [{json.dumps(TOKEN)}]}}')
    assert detect(path) is ExportFormat.VERSICODE
    assert len(samples(path, ExportFormat.VERSICODE)) == 1


def test_an_in_line_completion_with_a_target(tmp_path: Path) -> None:
    record = {
        "prompt": "import torch\nx = torch.",
        "target": "ones(1)",
        "api": "torch.ones",
        "imports": ["torch"],
        "comment_str": "# torch 2.0",
        "left_context": "x = ",
        "right_context": "\n",
        "meta_data": {},
    }
    path = write(tmp_path / "realistic" / "v_2_0_0.jsonl", record)
    assert detect(path) is ExportFormat.LIBEVOLUTIONEVAL
    (made,) = samples(path, ExportFormat.LIBEVOLUTIONEVAL)
    assert (made["library"], made["version"]) == ("torch", "2.0.0")
    assert made["code"] == "import torch\nx = torch.ones(1)\n"


def test_an_in_line_completion_is_a_program_again(tmp_path: Path) -> None:
    known = {name: value for name, value in IN_LINE.items() if name not in ("version", "library")}
    (made,) = samples(write(tmp_path / "torch" / "v_2_0_0.jsonl", known), ExportFormat.LIBEVOLUTIONEVAL)
    assert (made["library"], made["version"]) == ("torch", "2.0.0")
    assert made["code"] == "import lib\nx = 1\ny = lib.fetch(x)\nz = fetch\n"


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ('lib.Version.parse("1")', "parse"),
        ("lib.Version(\n    1,\n).bump(lib.x())", "bump"),
        ("lib.LIMIT", "LIMIT"),
        ("lib.table[0]", "table"),
        ("lib.fetch(", "fetch"),
    ],
)
def test_the_name_that_masks_hide_is_the_last_of_the_reference(reference: str, name: str, tmp_path: Path) -> None:
    """semver.VersionInfo.parse(…): what stands masked elsewhere is parse, and not VersionInfo."""
    record = IN_LINE | {"reference_call": reference}
    (made,) = samples(write(tmp_path / "v_1_1.jsonl", record), ExportFormat.LIBEVOLUTIONEVAL)
    assert made["code"].endswith(f"\nz = {name}\n")


def test_a_bad_record_is_counted_and_gets_a_line_of_its_own(tmp_path: Path) -> None:
    out = io.StringIO()
    path = write(tmp_path / "x.jsonl", PROBLEM, {"example_id": 1}, PROBLEM | {"example_id": 2})
    converted = write_samples(path, ExportFormat.GITCHAMELEON, out)
    assert (converted.samples, [bad.number for bad in converted.bad]) == (2, [2])
    assert "library, version, starting_code, solution: missing" in converted.bad[0].detail
    assert [json.loads(line)["id"] for line in out.getvalue().splitlines()] == ["7", "record 2", "2"]


def test_answers_in_a_file_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path / "problems.jsonl", PROBLEM, PROBLEM | {"example_id": 8})
    told = [("7", "one"), (7, "two"), ("9", "none"), (None, "x")]
    answers = write(tmp_path / "a.jsonl", *({"example_id": key, "answer": text} for key, text in told), "no record")
    out = io.StringIO()
    converted = write_samples(path, ExportFormat.GITCHAMELEON, out, answers)
    made = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(one["id"], one["code"]) for one in made if "code" in one] == [("7#1", "one"), ("7#2", "two")]
    assert (converted.samples, converted.answers) == (2, 2)
    assert [(bad.number, bad.detail) for bad in converted.bad] == [
        (4, "a.jsonl: example_id or answer is missing, or no text; give both"),
        (5, "a.jsonl: no object {…}"),
        (3, "a.jsonl: problems.jsonl has no record with example_id '9'"),
    ]


def test_formats_that_keep_answers_in_their_records(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", TOKEN, whole=True)
    with raises(ExportError, "--answers", code="answers_in_records"):
        write_samples(path, ExportFormat.VERSICODE, io.StringIO(), path)


def test_records_of_projects_are_no_samples(tmp_path: Path) -> None:
    with raises(ExportError, code="records_no_programs"):
        write_samples(write(tmp_path / "x.jsonl", {}), ExportFormat.EVOCODEBENCH, io.StringIO())
