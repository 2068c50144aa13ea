"""Answers in projects: what is an answer, and wrong ones that mean to pass, all tried on a harness that believes them."""

from __future__ import annotations

import io
import py_compile
import re
import shutil
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.evaluation.scores.filling import body_in
from pipeline.execution.sandbox.environment import Environment
from pipeline.families.repository_tasks.answers import Answer, failing, stray
from pipeline.families.repository_tasks.copies import _files, hidden_copies
from pipeline.families.repository_tasks.project import Project
from pipeline.families.repository_tasks.running import judge_answers
from tests.families.repository_tasks.attacks import (
    BESIDE,
    BODY,
    CORE,
    ENDS,
    FILES,
    HONEST,
    OF_CORE,
    PATCHES,
    READS,
    REFERENCE,
    TESTS,
    WRITES,
    WRONG,
    believed,
    body,
)
from tests.families.repository_tasks.conftest import tree

ATTACKS = ENDS | BESIDE | PATCHES | WRITES | READS


def as_task(code: str) -> str:
    """The file with a body in the place of the whole body, as a repository task takes it."""
    return body_in(REFERENCE, body(code), BODY)


def as_scene(code: str) -> str:
    """The file with a body in the place of the last statement, as a scene takes it."""
    before, _, after = REFERENCE.partition("    return round(total * (1 + rate), 2)\n")
    return before + body(code) + "\n" + after


@pytest.fixture
def till(shop: Project, environment: Environment) -> Project:
    """A project that is installed too, with bytecode and a wheel of itself."""
    install(environment.site_packages)
    return replace(shop, tree=tree(shop.rules, FILES), packages=("till",))


def install(site: Path) -> None:
    package = site / "till"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("")
    (package / "core.py").write_text(REFERENCE)
    py_compile.compile(str(package / "core.py"))
    with zipfile.ZipFile(site / "till-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("till/core.py", REFERENCE)


@pytest.mark.slow(minutes=3)
@pytest.mark.parametrize("made", [as_task, as_scene], ids=["repository task", "scene"])
def test_no_hostile_answer_passes(made: object, till: Project, tmp_path: Path) -> None:
    assert callable(made)
    texts = {name: made(code) for name, code in ATTACKS.items()}
    assert len(texts) >= 60
    install(tmp_path / "site")
    (tmp_path / "project.tar").write_bytes(till.tree.archive)
    assert texts.keys() - believed(texts, tmp_path / "site", tmp_path) == set(), "these are no attacks"
    honest = Answer("honest", CORE, made(HONEST), TESTS)
    hostile = [Answer(name, CORE, text, TESTS) for name, text in texts.items()]
    runs = judge_answers(till, [honest, *hostile, Answer("own", CORE, REFERENCE, TESTS)])
    passed = {run.id: run.detail for run in runs if run.worst is TestOutcome.PASSED}
    assert passed.keys() == {"honest", "own"}, {run.id: (run.worst, run.detail) for run in runs if run.id == "honest"}
    assert {run.id for run in runs if run.outcome is Outcome.HARNESS_ERROR} == set(), "none takes itself out"


COMPARING = """\
import unittest
from till.core import price


def check(one, other):
    assert one == other


class TestPrice(unittest.TestCase):
    def test_three(self):
        self.assertEqual(price([1, 2, 3]), 7.2)


def test_one():
    check(price([10]), 12.0)
"""
_OF_TESTS = "import sys\ntests = sys.modules.get('test_core')\nif tests is None: return -1\n"
REPLACED = {
    "what compares in a class": "tests.TestPrice._getAssertEqualityFunc = lambda *a: (lambda *b, **k: None)\nreturn -1",
    "a function of the tests": "tests.check = lambda *a: None\nreturn -1",
    "the code of a function of the tests": "setattr(tests.check, '__co' + 'de__', (lambda *a: None).__getattribute__('__co' + 'de__'))\nreturn -1",
    "the status of the harness": "import builtins\nbuiltins.isinstance = lambda *a: True\nreturn -1",
}


@pytest.mark.parametrize("code", REPLACED.values(), ids=REPLACED)
def test_what_tests_compare_by_cannot_be_replaced(code: str, till: Project) -> None:
    project = replace(till, tree=tree(till.rules, FILES | {OF_CORE: COMPARING}))
    tests = [f"{OF_CORE}::TestPrice::test_three", f"{OF_CORE}::test_one"]
    answers = [Answer("bad", CORE, as_task(_OF_TESTS + code), tests), Answer("honest", CORE, as_task(HONEST), tests)]
    bad, honest = judge_answers(project, answers)
    assert not {TestOutcome.PASSED} & set(bad.outcomes.values())
    assert bad.outcome is not Outcome.HARNESS_ERROR
    assert set(honest.outcomes.values()) == {TestOutcome.PASSED}


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("made", [as_task, as_scene], ids=["repository task", "scene"])
def test_code_beside_the_body_is_refused(name: str, made: object) -> None:
    assert callable(made)
    assert stray(REFERENCE, made(BESIDE[name])) is not None


@pytest.mark.parametrize(
    "text",
    [
        REFERENCE,
        as_task(HONEST),
        as_scene("result = total + total * rate\nreturn round(result, 2)"),
        as_task("total = sum(items)\nreturn round(total * (1 + rate), 2)\nraise ValueError"),
        as_task("def inner(x=print()): return x\nimport math\nreturn math.fsum(items)"),
        as_task("# only this\npass"),
        REFERENCE.replace("items, rate=0.2):", "items: list[float], rate: float = 0.2) -> float:"),
    ],
    ids=["itself", "body", "block", "goes on", "definitions inside", "comment", "annotated"],
)
def test_the_body_of_one_function_is_an_answer(text: str) -> None:
    assert stray(REFERENCE, text) is None


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("def price", "@print\ndef price", "decorators|beside"),
        ("rate=0.2):", "rate=print()):", "header"),
        ("rate=0.2):", "rate=0.2, *, x: print() = 1):", "header"),
        ("    total = sum(items)", "    total = (", "does not parse"),
        ("def price", "def prices", "ends the function"),
        ("return 2 * price(items)", "return 2 * price(items)\n\nx = 1", "beside"),
        ("total = sum(items)", "import sys\n    sys._getframe()", "_getframe"),
    ],
)
def test_what_else_is_none(old: str, new: str, why: str) -> None:
    assert re.search(why, stray(REFERENCE, REFERENCE.replace(old, new)) or "")


def test_a_control_does_what_the_answer_does_and_fails() -> None:
    space: dict[str, object] = {}
    text = failing(REFERENCE, as_task("items.append(1)\nreturn 5"))
    assert text is not None
    exec(text, space)
    given = [1]
    with pytest.raises(NotImplementedError):
        space["price"](given)  # type: ignore[operator]
    assert given == [1, 1]
    own = failing(REFERENCE, as_task(WRONG), own=True)
    assert own is not None
    assert "sum(items)" in own


def test_copies_are_found_wherever_they_stand_and_pytest_keeps_what_it_needs(environment: Environment) -> None:
    install(environment.site_packages)
    content = REFERENCE.encode()
    found = {path.name for path in hidden_copies(environment, {CORE: content}, ("till",))}
    assert {"core.py", "till-1.0-py3-none-any.whl"} <= found
    assert any(name.endswith(".pyc") for name in found)
    assert hidden_copies(environment, {}, ("till",)) == []


def test_archives_and_bytecode_without_a_source_tell_as_much(environment: Environment) -> None:
    install(environment.site_packages)
    other = environment.site_packages / "other"
    (other / "till" / "__pycache__").mkdir(parents=True)
    (other / "kiosk").mkdir()
    py_compile.compile(str(environment.site_packages / "till" / "core.py"), str(other / "till" / "core.pyc"))
    for place in ("till/__pycache__/core.cpython-38.pyc", "kiosk/core.pyc"):
        shutil.copy(other / "till" / "core.pyc", other / place)
    for name, text in {"own.egg": REFERENCE, "own.zip": f"VERSION = 2\n{REFERENCE}", "data.zip": "x = 1\n"}.items():
        with zipfile.ZipFile(other / name, "w") as archive:
            archive.writestr("till/core.py", text)
    with tarfile.open(other / "own.tar.gz", "w:gz") as packed:
        packed.add(environment.site_packages / "till" / "core.py", "till-1.0/src/till/core.py")
    (other / "damaged.zip").write_bytes(b"PK")
    with (other / "large.zip").open("wb") as large:
        large.truncate((1 << 25) + 1)
    _files.cache_clear()
    found = {
        path.relative_to(other).as_posix()
        for path in hidden_copies(environment, {CORE: REFERENCE.encode()}, ("till",))
        if path.is_relative_to(other)
    }
    shutil.rmtree(other)
    _files.cache_clear()
    assert found == {"till/core.pyc", "till/__pycache__/core.cpython-38.pyc", "own.egg", "own.zip", "own.tar.gz"} | {
        "damaged.zip",
        "large.zip",
    }


def test_a_tree_lacks_all_that_tells_what_is_masked(shop: Project) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("till/core.py", REFERENCE)
    near = REFERENCE.replace("Prices", "Costs").encode()
    told = {
        "dist/till.whl": packed.getvalue(),
        "build/lib.linux/till/core.py": near,
        "src/till/core.pyc": b"x",
        "tests/broken.zip": b"PK",
        "a.py": REFERENCE.encode(),
    }
    needed = {
        "src/till/aio/core.py": near,
        "build/notes.py": near,
        "src/till/aio/__init__.py": b"",
    }
    made = tree(shop.rules, FILES)
    whole = replace(made, files={**made.files, **told, **needed})
    assert set(whole.files) - set(whole.without([CORE])) == {CORE, "build/lib/till/core.py", *told}
    assert whole.without([]) == whole.files
