"""A piece of a project runs without the rest of it, and the library is the real one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.corpus.usages.text import source_of
from pipeline.families.completions_and_migrations.codemods.mocks import with_mocks
from pipeline.lake.rows import RewriteRow
from tests.families.completions_and_migrations.test_dependent_pairs import form


def program(preamble: str, code: str, file: str = "user/web/core.py") -> RewriteRow:
    return with_mocks(form("1.0.0", code, preamble=preamble, file=file), "1.0.0", ["lib"])


def run(row: RewriteRow, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a program beside a library that has one function."""
    (tmp_path / "lib.py").write_text("def fetch(function): return function\n")
    (tmp_path / "program.py").write_text(source_of(row))
    return subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False)


RUN = {
    "packages": ("import other.deep.er\nfrom another import a, b as c\nfrom lib import fetch\n", "x = fetch(other.deep.er.x(a, c))\n"),
    "relative imports": ("from . import a\nfrom .b import c\nfrom ..d import e\nfrom lib import fetch\n", "@a\n@c(e)\n@fetch\ndef f(): pass\n"),
    "a base": ("from other import Base\nfrom lib import fetch\n", "class A(Base):\n    x = fetch(1)\n"),
    "future imports": ("from __future__ import annotations\nfrom other import A\nfrom lib import fetch\n", "def f(x: A) -> B: return fetch(x)\n"),
    "nothing else": ("import os\nfrom lib import fetch\n", "x = fetch(os)\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", RUN)
def test_it_runs(name: str, tmp_path: Path) -> None:
    done = run(program(*RUN[name]), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_the_library_lacks_is_missed(tmp_path: Path) -> None:
    done = run(program("from other import a\nfrom lib import gone\n", "x = gone(a)\n"), tmp_path)
    assert done.returncode == 1
    assert "cannot import name 'gone' from 'lib'" in done.stderr


def test_what_is_installed_has_no_stand_in(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("a = 7\n")
    done = run(program("from other import a\nfrom lib import fetch\n", "print(fetch(a))\n"), tmp_path)
    assert done.stdout == "7\n"


def test_the_edits_name_the_modules() -> None:
    row = program("import os, one.two\nfrom .b import c\nfrom lib import fetch\n", "x = fetch(c)\n")
    assert [edit["new"] for edit in row["edits"]] == ["one", "one.two", "user", "user.web", "user.web.b"]
    assert {edit["codemod"] for edit in row["edits"]} == {"mock"}
    alone = program("import os\nfrom lib import fetch\n", "x = fetch(c)\n")
    assert (alone["code"], alone["edits"]) == ("import os\nfrom lib import fetch\nx = fetch(c)\n", [])


def test_an_import_from_beyond_the_package_is_left_to_fail(tmp_path: Path) -> None:
    row = program("from ....b import c\nfrom other import d\nfrom lib import fetch\n", "x = fetch(c)\n")
    assert [edit["new"] for edit in row["edits"]] == ["b", "other"]
    assert "ImportError" in run(row, tmp_path).stderr


def test_a_folder_of_sources_is_no_package() -> None:
    row = program("from .b import c\nfrom lib import fetch\n", "x = fetch(c)\n", file="src/user/core.py")
    assert '__package__ = "user"\n' in row["code"]
