"""Harbor's tasks: their scripts are run in containers without an engine, and their verdicts are those of scoring."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import uv
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.progress import no_progress
from pipeline.core.rules.load import RULES, load
from pipeline.core.settings import index_url
from pipeline.core.vocabularies.changes import GitChameleonCategory
from pipeline.core.vocabularies.exports import ExportFormat, Unsupported
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.core.vocabularies.samples import Direction, Granularity
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.export.archive import archive
from pipeline.evaluation.export.artifacts import answer_in, answered
from pipeline.evaluation.export.folder import export
from pipeline.evaluation.export.format import ExportError
from pipeline.evaluation.scores import running
from pipeline.evaluation.scores.planning import Sources
from pipeline.evaluation.scores.running import Runners
from pipeline.evaluation.scores.runs import RunFile
from pipeline.evaluation.scores.tally import as_answer
from pipeline.evaluation.scores.tasks import read_tasks
from pipeline.execution.environments.resolution.interpreters import discover
from pipeline.execution.environments.resolution.pinned import lock_id_of
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.environment import Environment, bare_environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.samples.engine import Engine
from pipeline.families.repository_tasks.project_context import ProjectContext
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.index.http import Fetcher, Unreachable
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot
from tests.evaluation.export.columns import TIME, filled
from tests.evaluation.export.containers import Containers
from tests.evaluation.export.rows import snapshot_of
from tests.evaluation.scores.snapshots import RULES_OF_SCORES
from tests.families.completions_and_migrations.rows import releases
from tests.snapshots.lakes import Tables, contents

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
LOCK = f"demo==1.0 \\\n    --hash=sha256:{'0' * 64}\n"
BUILT = f"old==0.1 \\\n    --hash=sha256:{'1' * 64}\n    # built from source as of 2019-05-04T03:02:01Z with setuptools<60\n"
CODE = "from textwrap import wrap\nlines = wrap('a b', 1)\nlines\n"
CHECKS = [
    {"statement": "from textwrap import wrap\n", "expected": None, "options": []},
    {"statement": "lines = wrap('a b', 1)\n", "expected": None, "options": []},
    {"statement": "lines\n", "expected": "['a', 'b']\n", "options": []},
]
SOLVE = "from textwrap import wrap\n\ndef solve(text):\n"
TESTS = "from body import solve\ndef test_normal_input_1():\n    assert solve('a b') == ['a', 'b']\n"
COMMON = {
    "library": "lib",
    "version": "2.0",
    "lock_id": lock_id_of(PYTHON, LOCK),
    "canary": "the canary of these tests",
}


def completion(name: str, masked: str, answer: str, **columns: Any) -> Any:
    told = {"id": name, "granularity": name, "masked_code": masked, "answer": answer, "snippet_id": "s1"}
    of_wrap = {"code": CODE, "core_token": "wrap", "reference_outcome": Outcome.PASSED}
    return filled("published_completions", **COMMON | of_wrap | told | columns)


def function(name: str, masked: str, answer: str, **columns: Any) -> Any:
    told = {
        "id": f"f-{name}",
        "granularity": name,
        "masked_code": SOLVE.replace(" wrap", " [token-mask]") + masked,
        "answer": answer,
    }
    of_wrap = {"core_token": "wrap", "tests": TESTS, "module": "body"}
    return filled("published_functions", **COMMON | of_wrap | told | columns)


def problem(**columns: Any) -> Any:
    told = {
        "id": "0123abcd",
        "release_time": TIME,
        "starting_code": "import textwrap\ndef solve(text):\n",
        "solution": "    return textwrap.wrap(text, 1)\n",
        "hidden_tests": TESTS,
        "test": "assert solve('') == []\n",
        "module": "body",
        "python": PYTHON,
        "problem": "Split it.",
        "category": GitChameleonCategory.NAME,
    }
    return filled("published_problems", **COMMON | told | columns)


def tables(python: str = PYTHON, lock: str = LOCK) -> Tables:
    environment = {
        "library": "lib",
        "version": "2.0",
        "outcome": EnvironmentOutcome.BUILT,
        "python": python,
        "lock": lock,
        "lock_id": lock_id_of(python, lock),
        "import_names": ["textwrap"],
    }
    line = "lines = wrap('a b', 1)"
    migration = {
        "id": "migration",
        "target_version": "2.0",
        "direction": Direction.OLD_TO_NEW,
        "source_code": "import textwrap\ntextwrap.split('a b')\n",
        "target_code": CODE,
        "target_path": "textwrap.wrap",
        "source_name": "split",
        "target_name": "wrap",
        "target_snippet_id": "s1",
        "target_lock_id": COMMON["lock_id"],
    }
    return {
        "releases": releases("1.0", "2.0"),
        "published_completions": [
            completion("token", CODE.replace("wrap(", "[token-mask](").replace(" wrap", " [token-mask]"), "wrap"),
            completion("line", CODE.replace(line, "[line-mask]").replace("wrap", "[token-mask]"), line),
            completion("block", "from textwrap import [token-mask]\n[block-mask]\n", f"{line}\nlines"),
        ],
        "published_migrations": [filled("published_migrations", **COMMON | migration)],
        "published_problems": [problem()],
        "published_functions": [
            function("token", "    return [token-mask](text, 1)\n", "wrap"),
            function("line", "    if text:\n        [line-mask]\n", "return wrap(text, 1)"),
            function("block", "    [block-mask]\n", "pieces = wrap(text, 1)\n    return pieces"),
        ],
        "snippets": [filled("snippets", id="s1", library="lib", version="2.0", code=CODE, checks=CHECKS)],
        **{name: [filled(name, **environment)] for name in ENVIRONMENTS},
    }


ENVIRONMENTS = ("environments", "function_environments", "problem_environments")
ANSWERS = {
    "token": ["fill", " wrap ", "textwrap", "**`wrap`**"],
    "line": ["lines = wrap('a b', width=1)", "lines = wrap('a b')"],
    "block": ["lines = ['a', 'b']\nlines", "lines = wrap('a  b', 1)\nlines", "lines = wrap('a b', 1)\n", CODE],
    "migration": ["from textwrap import wrap\nprint(wrap('a b', 1))\n", "x = 1\n", "def\n"],
    "0123abcd": [
        "    return text.split()\n",
        "    return textwrap.wrap(text)\n",
        "    raise SystemExit\n",
        "    return [\n",
        "return textwrap.wrap(text, 1)",
    ],
    "f-token": ["fill", "list", "`wrap`"],
    "f-line": ["return text.split()", "return wrap(text)", "```python\nreturn wrap(text, 1)\n```"],
    "f-block": [
        "return text.split()",
        "    return wrap(text, 1)",
        "return wrap(text)",
        f"{SOLVE}    return wrap(text, 1)\n",
    ],
}
"""Right and wrong answers beside references and empty ones."""


class Shelf:
    """Environments of no library: the interpreter that runs us."""

    rules = environment_rules()

    def open(self, row: Any) -> Environment:
        return bare_environment()


@pytest.fixture(scope="module", autouse=True)
def runners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runners]:
    store, sandbox = cast(EnvironmentStore, Shelf()), find_sandbox()
    if not sandbox.two_users:
        pytest.skip("a verifier runs as root, and no namespaces for that can be made here")
    engine = Engine(store, sandbox, load(RULES / "validation.yaml", ValidationRules))
    rules = load(RULES / "repository.yaml", RepositoryRules)
    of_tests = Runners(engine, ProjectContext(cast(Any, None), store, sandbox, rules))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DRIFTLINE_DATA", str(tmp_path_factory.mktemp("data")))
        patched.setattr(running, "runners_at", lambda _: of_tests)
        yield of_tests


@pytest.fixture(scope="module")
def snapshot(runners: Runners, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot with rows of every family."""
    return snapshot_of(tables(), tmp_path_factory.mktemp("snapshot"))


@pytest.fixture(scope="module")
def folder(snapshot: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its tasks."""
    out = tmp_path_factory.mktemp("tasks") / "out"
    export(snapshot, ExportFormat.HARBOR, out, cast(Any, None))
    return out


def written(content: Tables, place: Path) -> Any:
    return export(snapshot_of(content, place), ExportFormat.HARBOR, place / "out", cast(Any, None))


def rows_in(folder: Path) -> dict[str, tuple[Path, Family, Any]]:
    """The folder, the family and the row of each task by the id of the row."""
    content = {row["id"]: row for table in tables().values() for row in table if "id" in row}
    records = [json.loads(line) for line in (folder / "tasks.jsonl").read_text().splitlines()]
    return {one["id"]: (folder / one["task"], Family(one["family"]), content[one["id"]]) for one in records}


def reference(family: Family, row: Any) -> str:
    return str(row[{Family.PROBLEM: "solution", Family.MIGRATION: "target_code"}.get(family, "answer")])


def trial(task: Path, place: Path, answer: str | None, environment: Environment | None = None) -> Containers:
    """A trial of a task; an answer of None is the oracle's."""
    containers = Containers(task, place, environment or bare_environment())
    containers.oracle() if answer is None else containers.answer(answer)
    return containers


def test_oracles_get_one_and_empty_answers_nothing(folder: Path, tmp_path: Path) -> None:
    rewards = {}
    for of, (task, family, row) in rows_in(folder).items():
        oracle = trial(task, tmp_path / f"{of}-oracle", None)
        assert (oracle.folder / "app" / "solution.py").read_text() == answered(family, row, reference(family, row))
        untouched = Containers(task, tmp_path / f"{of}-untouched", bare_environment())
        empty = trial(task, tmp_path / f"{of}-empty", answered(family, row, ""))
        rewards[of] = [one.verify()[0] for one in (oracle, untouched, empty)]
    assert rewards == {of: ["1", "0", "0"] for of in ANSWERS}


def test_verdicts_are_those_of_scoring(snapshot: Path, folder: Path, runners: Runners, tmp_path: Path) -> None:
    reader = Snapshot(snapshot)
    tasks, sources = read_tasks(reader, (), running=True), Sources.read(reader, None)
    samples = {
        (family, of): [as_answer(family, row.get("granularity"), text) for text in ANSWERS[of]]
        for of, (_, family, row) in rows_in(folder).items()
    }
    passes = running.run_samples(samples, tasks, sources, runners, RunFile(None, None), no_progress)
    scored = {of: values[Metric.PASS] for (_, of), values in passes.scores.items()}
    rewards = {
        of: [
            float(trial(task, tmp_path / f"{of}-{number}", answered(family, row, text)).verify()[0] or "nan")
            for number, text in enumerate(ANSWERS[of])
        ]
        for of, (task, family, row) in rows_in(folder).items()
    }
    assert rewards == scored
    assert {value for values in scored.values() for value in values} == {0.0, 1.0}


HOSTILE = {
    "reads": "    return open('/tests/case.json') and ['a', 'b']\n",
    "reads_judge": "    import os\n    return open('/proc/%d/mem' % os.getppid(), 'rb') and ['a', 'b']\n",
    "writes": "    open('/logs/verifier/reward.json', 'w').write('{\"reward\": 1}')\n",
    "replaces": "    import os\n    os.rename('/logs/verifier', '/tmp/verifier')\n    return ['a', 'b']\n",
    "kills": "    import os\n    os.kill(os.getppid(), 9)\n    return ['a', 'b']\n",
    "stays": """    import os, time
    if not os.fork():
        os.setsid()
        while True:
            time.sleep(0.01)
            try:
                open('/logs/verifier/reward.json', 'w').write('{"reward": 1}')
            except OSError:
                pass
""",
}


@pytest.mark.parametrize("way", HOSTILE)
def test_an_answer_reaches_neither_what_is_expected_nor_the_reward(way: str, folder: Path, tmp_path: Path) -> None:
    task, family, row = rows_in(folder)["0123abcd"]
    containers = trial(task, tmp_path / "trial", answered(family, row, HOSTILE[way]))
    (containers.folder / "logs").chmod(0o777)  # as Harbor leaves it
    assert containers.verify()[0] == "0"
    assert {path.name for path in (containers.folder / "logs").iterdir()} == {"reward.txt", "verdict.json"}


def test_without_a_verdict_there_is_no_reward(folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "environment"
    (broken / "lib" / "python3" / "site-packages").mkdir(parents=True)
    (broken / "bin").mkdir()
    (broken / "bin" / "python").write_text("#!/bin/sh\nexit 3\n")
    (broken / "bin" / "python").chmod(0o755)
    environment = replace(bare_environment(), python=broken / "bin" / "python", folders=(broken,))
    task, _, _ = rows_in(folder)["0123abcd"]
    reward, verdict = trial(task, tmp_path / "trial", None, environment).verify()
    assert (reward, verdict["outcome"]) == (None, Outcome.HARNESS_ERROR)


@pytest.mark.parametrize("artifact", ["folder", "binary", "long"])
def test_a_file_that_is_no_program_is_an_empty_answer(artifact: str, folder: Path, tmp_path: Path) -> None:
    task, family, row = rows_in(folder)["0123abcd"]
    containers = trial(task, tmp_path / "trial", None)
    place = containers.folder / "checked" / "solution.py"
    (containers.folder / "app" / "solution.py").unlink()
    if artifact == "folder":
        place.mkdir()
    else:
        long = answered(family, row, f"{row['solution']}{'#' * RULES_OF_SCORES.sample_chars}").encode()
        place.write_bytes(b"\xff\xfe" if artifact == "binary" else long)
    assert containers.verify()[0] == "0"


def test_an_agent_sees_neither_tests_nor_reference(folder: Path) -> None:
    for task, family, row in rows_in(folder).values():
        seen = "".join(path.read_text() for path in (task / "environment").rglob("*") if path.is_file())
        seen += (task / "instruction.md").read_text()
        assert "test_normal_input_1" not in seen
        if row.get("granularity") != Granularity.TOKEN and family is not Family.MIGRATION:
            assert reference(family, row) not in seen
        assert seen.splitlines()[-1]


def test_tasks_are_what_harbor_loads(folder: Path) -> None:
    dataset = tomllib.loads((folder / "dataset.toml").read_text())
    digests = {one["name"]: one["digest"] for one in dataset["tasks"]}
    assert len(digests) == len(ANSWERS)
    for of, (task, family, _) in rows_in(folder).items():
        settings = tomllib.loads((task / "task.toml").read_text())
        assert settings["metadata"] | {"id": of, "family": str(family)} == settings["metadata"]
        assert settings["artifacts"] == ["/app/solution.py"]
        assert settings["verifier"]["environment_mode"] == "separate"
        assert settings["verifier"]["environment"]["network_mode"] == "no-network"
        assert digests[settings["task"]["name"]] == f"sha256:{digest(task)}"
        assert (task / "instruction.md").read_text().startswith("<!-- canary the canary of these tests -->\n")


def digest(task: Path) -> str:
    paths = sorted(path.relative_to(task).as_posix() for path in task.rglob("*") if path.is_file())
    whole = "".join(f"{path}\0{hashlib.sha256((task / path).read_bytes()).hexdigest()}\n" for path in paths)
    return hashlib.sha256(whole.encode()).hexdigest()


@pytest.mark.slow(minutes=2)
def test_harbor_itself_finds_nothing_wrong(folder: Path, tmp_path: Path) -> None:
    try:
        Fetcher(timeout_s=10).get(f"{index_url()}/harbor/")
    except Unreachable as error:
        pytest.skip(f"no package index answers, which has harbor: {error}")
    venv = tmp_path / "harbor"
    program = uv.find_uv_bin()
    pythons = [str(one.path) for one in discover() if one.python == "3.12"]
    if not pythons:
        pytest.skip("Harbor needs Python 3.12, which is not installed")
    subprocess.run([program, "venv", "-q", "--python", pythons[0], str(venv)], check=True)
    install = [program, "pip", "install", "-q", "--python", str(venv), "--index-url", index_url(), "harbor==0.26.0"]
    subprocess.run(install, check=True)
    tasks = [str(task) for task, _, _ in rows_in(folder).values()]
    linted = subprocess.run([venv / "bin" / "harbor", "lint", "--json", *tasks], capture_output=True, check=True)
    assert json.loads(linted.stdout) == []
    synced = tmp_path / "synced"  # it writes the file in a form of its own
    shutil.copytree(folder, synced)
    subprocess.run([venv / "bin" / "harbor", "sync", str(synced)], capture_output=True, check=True)
    before, after = (tomllib.loads((place / "dataset.toml").read_text())["tasks"] for place in (folder, synced))
    assert after == before


def test_tasks_made_again_are_the_same(snapshot: Path, folder: Path, tmp_path: Path) -> None:
    archive.cache_clear()
    export(snapshot, ExportFormat.HARBOR, tmp_path / "again", cast(Any, None))
    assert contents(tmp_path / "again") == contents(folder)


def test_rows_without_a_verdict_or_prompt_are_refused(tmp_path: Path) -> None:
    content = tables()
    content["published_completions"] += [
        completion("line", "x = 1\n[line-mask]\n", "wrap('')", id="unrun", reference_outcome=None),
        completion("line", CODE.replace("wrap('a b', 1)", "[line-mask]"), "wrap('a b', 1)", id="lost", lock_id="gone"),
    ]
    content["published_functions"] += [
        function("line", "    [line-mask]\n    return ['a', 'b']\n", "wrap('')", id="empty"),
        function(
            "line", "    [line-mask]\n", "return wrap(text, 1)", id="whole", tests="def test_it():\n    print()\n"
        ),
        function("line", "    [line-mask]\n", "return wrap(text, 1)", id="leak", description="Call wrap."),
    ]
    refused = written(content, tmp_path).refused
    assert refused == {
        ("completions", Unsupported.NOT_RUNNABLE): 2,
        ("functions", Unsupported.NOT_RUNNABLE): 1,
        ("functions", Unsupported.NO_PROMPT): 1,
        ("functions", Unsupported.EMPTY_PASSES): 1,
    }


def test_an_id_is_a_folder_of_its_own_whatever_it_is(tmp_path: Path) -> None:
    ids = ["_x", "A", "a b", "é" * 99, "x" * 99, "[x]"]
    canary = "canary -->\n# canary\nof it, long enough"
    written(tables() | {"published_problems": [problem(id=of, canary=canary) for of in ids]}, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"out", "lake", "candidates", "snapshots"}
    records = [json.loads(line) for line in (tmp_path / "out" / "tasks.jsonl").read_text().splitlines()]
    tasks = {one["id"]: tmp_path / "out" / one["task"] for one in records if one["family"] == Family.PROBLEM}
    assert tasks.keys() == set(ids)
    for of, task in tasks.items():
        assert re.fullmatch(r"problem-x[0-9a-f]{32}", task.name)
        assert tomllib.loads((task / "task.toml").read_text())["metadata"]["id"] == of
        assert (task / "instruction.md").read_text().splitlines()[1] == ""


@pytest.mark.parametrize(
    ("python", "lock"),
    [("three", LOCK), ("3.11 && rm -r x", LOCK), (PYTHON, f"{LOCK}--index-url http://127.0.0.1:1\n")],
)
def test_an_environment_that_is_more_than_pins(python: str, lock: str, tmp_path: Path) -> None:
    content = tables(python, lock)
    content["published_problems"] = [problem(lock_id=lock_id_of(python, lock))]
    with pytest.raises((ExportError, SnapshotError)):
        written(content, tmp_path)
    assert not (tmp_path / "out").exists()


def test_source_distributions_are_built_as_of_their_time(tmp_path: Path) -> None:
    lock = f"{BUILT}{LOCK}"
    content = tables(lock=lock)
    content["published_problems"] = [problem(lock_id=lock_id_of(PYTHON, lock))]
    written(content, tmp_path)
    (task,) = (tmp_path / "out").glob("problem-*")
    for image in ("environment", "tests"):
        assert (task / image / "lock.txt").read_text() == LOCK
        assert (task / image / "built-1.txt").read_text() == BUILT
        assert (task / image / "constraints-built-1.txt").read_text() == "setuptools<60\n"
        (build,) = (
            line
            for line in (task / image / "Dockerfile").read_text().splitlines()
            if "built-1.txt" in line and "RUN" in line
        )
        assert "--no-binary old --exclude-newer 2019-05-04T03:02:01Z " in build
        assert "--require-hashes" in build


def test_a_verifier_needs_nothing_installed(folder: Path) -> None:
    (verifier, *_) = folder.glob("*/tests/verifier.pyz")
    with zipfile.ZipFile(verifier) as packed:
        modules = [name for name in packed.namelist() if "/inside/" not in name]
        for name in modules:
            for node in ast.parse(packed.read(name)).body:
                roots = {node.module or ""} if isinstance(node, ast.ImportFrom) else set()
                roots |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
                assert {root.split(".")[0] for root in roots} <= {"pipeline", *sys.stdlib_module_names}, name


MASKED = [(Family.COMPLETION, row) for row in tables()["published_completions"]]
MASKED += [(Family.FUNCTION, row) for row in tables()["published_functions"]]


@given(st.sampled_from([*MASKED, (Family.PROBLEM, problem())]), st.text("ab (=\n#`é", max_size=30))
def test_the_answer_in_a_file_is_the_one_that_was_put_there(of: tuple[Family, Any], answer: str) -> None:
    family, row = of
    found = answer_in(family, row, answered(family, row, answer))
    assert found.rstrip("\n") == answer.rstrip("\n")


def test_an_answer_may_leave_other_masks_and_the_last_newline() -> None:
    line = next(row for row in tables()["published_completions"] if row["granularity"] == "line")
    text = line["masked_code"].replace("[line-mask]", "x = 1").rstrip("\n")
    assert answer_in(Family.COMPLETION, line, text) == "x = 1"
    changed = f"import os\n{text}"
    assert answer_in(Family.COMPLETION, line, changed) == changed
