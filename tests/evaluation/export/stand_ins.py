"""Stand-ins for the published scorers: written from the description of what each reads, on the folder of an export.

None shares code with `driftline score`, and each stops with a KeyError where the real one would.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def corruptions(reference: str) -> list[str]:
    """Thirty answers made of a reference: most are wrong, some are the reference with other blanks."""
    name = re.search(r"[A-Za-z_]\w*(?=\W*$|\()", reference)
    word = name[0] if name else reference
    half = len(reference) // 2
    made = [
        *(reference[: len(reference) * part // 8] for part in range(1, 8)),
        *(reference[len(reference) * part // 8 :] for part in range(1, 8)),
        reference.replace(word, word.upper()),
        reference.replace(word, f"{word}x"),
        reference.replace(word, f"x{word}"),
        reference.replace(word, word[::-1]),
        reference.replace(word, "print"),
        reference.replace("(", "(None, "),
        reference.replace("(", "(new=1, "),
        reference.replace(")", ""),
        reference.replace("=", "=="),
        reference.replace(" ", ""),
        reference.replace("import ", "import not_"),
        f"# {reference}",
        f"{reference}\n{reference}",
        f"pass\n{reference}",
        reference[half:] + reference[:half],
        "None",
    ]
    assert len(made) == 30
    return made


# VersiCode: EM, the best common prefix (ISM, PM), and the later CDC on `core_line`.


def versicode_records(file: Path) -> list[Record]:
    """The records of a file, whose other keys the scorer ignores."""
    return list(json.loads(file.read_text())["data"])


def versicode_reference(record: Record) -> str:
    """The answer that is right."""
    if "edit_order" in record:
        return str(record["new_code" if record["edit_order"] == "old_to_new" else "old_code"])
    return str(record[{"token": "answer", "line": "masked_line", "block": "code"}[record["granularity"]]])


def versicode_name(record: Record) -> str:
    """The core API name of the answer."""
    if "edit_order" in record:
        return str(record["new_name" if record["edit_order"] == "old_to_new" else "old_name"])
    return str(record["answer"])


def versicode_em(record: Record, output: str) -> bool:
    """Equal tokens; in a line or block the name occurs as a whole word."""
    if record.get("granularity") == "token":
        return output == str(record["answer"])
    return re.search(rf"\b{re.escape(versicode_name(record))}\b", output) is not None


def versicode_match(record: Record, output: str, pattern: str) -> float:
    """The best common prefix over any pair of lines, in parts of a pattern; a block without the name has none."""
    if not versicode_em(record, output):
        return 0.0
    if record.get("granularity") != "line" and not parses(output):
        return 0.0
    best = 0.0
    for expected in versicode_reference(record).splitlines():
        parts = re.findall(pattern, expected)
        for line in output.splitlines():
            others = re.findall(pattern, line)
            same = 0
            while same < min(len(parts), len(others)) and parts[same] == others[same]:
                same += 1
            best = max(best, same / len(parts) if parts else 0.0)
    return best


def versicode_cdc(record: Record, output: str) -> bool:
    """The later scorer: the line with the core token, read by a regular expression."""
    name, expected = versicode_name(record), record["core_line"]
    assert record["language"] == "python"
    assert record["task"]
    line = next((line for line in output.splitlines() if re.search(rf"\b{re.escape(name)}\b", line)), "")
    masked = record.get("masked_code", "").replace("<mask>", output)
    if not line or not parses(masked if record.get("granularity") == "line" else output):
        return False
    arguments, others = _arguments(expected, name), _arguments(line, name)
    keywords = {one.split("=")[0].strip() for one in arguments if "=" in one}
    if ("with " in expected) > ("with " in line):
        return False
    return len(arguments) == len(others) and all(any(one.strip().startswith(key) for one in others) for key in keywords)


def _arguments(line: str, name: str) -> list[str]:
    found = re.search(rf"\b{re.escape(name)}\s*\((.*)\)", line)
    return [one for one in found[1].split(",") if one.strip()] if found else []


def parses(code: str) -> bool:
    """Whether code is valid."""
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        return False
    return True


# LibEvolutionEval: EM, edit similarity, micro-averaged F1 of the sets of identifiers.


def libevolutioneval_records(folder: Path) -> list[Record]:
    """The examples of all sources and versions."""
    files = sorted((folder / "data" / "eval_examples").glob("*/v_*.jsonl"))
    records = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    for record in records:
        assert record["prompt"].endswith(record["left_context"] + record["code_str"])
        assert isinstance(record["imports"], list)
        assert record["comment_str"].startswith("#")
        assert record["api"]
        assert isinstance(record["meta_data"], dict)
    return records


def libevolutioneval_scores(records: Sequence[Record], outputs: Sequence[str]) -> Mapping[str, float]:
    """EM and edit similarity as means, and F1 over all identifiers."""
    exact = similar = 0.0
    right = predicted = expected = 0
    for record, output in zip(records, outputs, strict=True):
        target = record["target"]
        exact += output.strip() == target.strip()
        similar += difflib.SequenceMatcher(None, output, target, autojunk=False).ratio()
        wanted, found = identifiers(target), identifiers(output)
        right, predicted, expected = right + len(wanted & found), predicted + len(found), expected + len(wanted)
    f1 = 2 * right / (predicted + expected) if predicted + expected else 1.0
    return {"em": exact / len(records), "es": similar / len(records), "f1": f1}


def identifiers(code: str) -> set[str]:
    """The identifiers of code outside of strings."""
    code = re.sub(r"'[^']*'|\"[^\"]*\"", "", code)
    return set(re.findall(r"[A-Za-z_]\w*", code)) - {"None", "True", "False", "lambda", "for", "in", "not", "if"}


# GitChameleon 2.0: an integer id, a module of the program, and pytest.


def gitchameleon_passes(folder: Path, record: Record, answer: str, work: Path, run: Callable[..., bool]) -> bool:
    """Whether a program of an answer passes the hidden tests in the environment of a Python."""
    number = int(record["example_id"])
    assert record["python_version"] in {"3.7", "3.9", "3.10"}
    module = f"sample_{number}"
    work.mkdir(parents=True)
    (work / f"{module}.py").write_text(record["starting_code"] + answer)
    (work / f"test_{module}.py").write_bytes((folder / "hidden_tests" / f"test_{module}.py").read_bytes())
    return run(work, [f"test_{module}.py"])


# EvoCodeBench: plain `pytest NODE_ID` through a shell, in the folder of the project, with its `myenv`.


def evocodebench_passes(folder: Path, record: Record, completion: str) -> bool:
    """Whether the tests pass with a completion in place of the body, which is put back."""
    path = folder / "Source_Code" / record["completion_path"]
    project = folder / "Source_Code" / record["completion_path"].split("/")[0]
    first, last = record["body_position"]
    before = path.read_text()
    lines = before.splitlines(keepends=True)
    path.write_text("".join(lines[: first - 1]) + completion + "".join(lines[last:]))
    environment = {"PATH": f"{project / 'myenv' / 'bin'}:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return all(
            subprocess.run(
                f"pytest {test}", shell=True, cwd=project, env=environment, capture_output=True, check=False, timeout=20
            ).returncode
            == 0
            for test in record["tests"]
        )
    finally:
        path.write_text(before)


# Codev-Bench: absolute paths, commands of `metadatas`, and files put back from `Source_Code_Copy`.


def codevbench_passes(folder: Path, record: Record, response: str) -> bool:
    """Whether the commands of the unit tests pass with prefix + response + suffix as the file."""
    path = Path(record["block_key"].partition("#")[0])
    assert path.is_absolute()
    assert (folder / "metadatas" / "test_file_cosine.output.csv").is_file()
    project, _, inside = str(path.relative_to(folder / "Source_Code")).partition("/")
    file = folder / "metadatas" / project / "test_metadata_funcname_passed_called.jsonl"
    commands = {one["did"]: one["run_command"] for one in map(json.loads, file.read_text().splitlines())}
    path.write_text(record["prefix"] + response + record["suffix"])
    environment = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return all(
            subprocess.run(
                commands[did], shell=True, cwd="/", env=environment, capture_output=True, check=False
            ).returncode
            == 0
            for did in record["item_dids"]
        )
    finally:
        path.write_bytes((folder / "Source_Code_Copy" / project / inside).read_bytes())
