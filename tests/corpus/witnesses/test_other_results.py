"""Tests of one release that print something else in the release beside it: old source, new source, test, program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.changes import ChangeKind, Reach
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.usages.api import Api
from pipeline.corpus.witnesses.candidates import Catalogue
from pipeline.corpus.witnesses.changed_uses import TestScripts
from pipeline.corpus.witnesses.other_results import OtherResults
from pipeline.corpus.witnesses.script_runs import ScriptRuns
from pipeline.lake.rows import WitnessRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Reject
from tests.corpus.own_tests.suites import RULE
from tests.corpus.witnesses.libraries import run_in_folders
from tests.families.completions_and_migrations.rows import change, releases, symbol

OLD = "import warnings\ndef clean(text): return text\ndef half(x): return x // 2\ndef _inner(x): return x\n"
OLD += "def lent(): return 'a'\ndef noisy(): warnings.warn('noisy'); return 1\ndef place(): return '/tmp/a'\n"
OLD += "class Box:\n    def __init__(self, x): self.x = x\n"
NEW = "def clean(text): return text.strip()\ndef half(x): return x // 2\ndef _inner(x): return -x\n"
NEW += "def lent(): return 'b'\ndef noisy(): return 1\ndef place(): return '/tmp/b'\n"
NEW += "class Box:\n    def __init__(self, x): self.x = x\n    def __getitem__(self, place): return self.x[place]\n"
PATHS = {"lib": "module", "lib.Box": "class"}
PATHS |= dict.fromkeys([f"lib.{name}" for name in ("clean", "half", "_inner", "noisy", "place")], "function")
ONE_ALONE = {"lib.lent": "1"}
"""An API whose surface the newer release lacks, though code there may still use it."""


WAITS = """import contextlib
import warnings
@contextlib.contextmanager
def assert_warning():
    with warnings.catch_warnings(record=True) as caught:
        yield
    if not caught:
        raise RuntimeError("no warning")
"""


def own_test(body: str, first: str, last: str, preamble: str = "") -> Any:
    code = "def test_it(fixture):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    row = {"id": body, "library": "lib", "version": first, "last_version": last, "test_id": body, "case": ""}
    row |= {"test": "test_a.py::test_it", "preamble": f"import lib\nimport pytest\n{preamble}", "code": code}
    return row | {"apis": ["lib.clean"], "file": "test_a.py", "line": 1}


def searched(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *tests: Any, changes: tuple[Any, ...] = (), most: int = 9
) -> tuple[list[WitnessRow], list[Reject]]:
    run_in_folders(monkeypatch, folder, "lib", {"1": OLD, "2": NEW}, Outcome.WRONG_EXCEPTION)
    rows: Any = [symbol(path, "1", None, kind=kind) for path, kind in PATHS.items()]
    alone: Any = [symbol(path, version, version, kind="function") for path, version in ONE_ALONE.items()]
    apis = {
        version: Api({row["path"]: row for row in (*rows, *(alone if version == "1" else ()))}, ["lib"], {})
        for version in ("1", "2")
    }
    runner: Any = None
    search = OtherResults(
        TestScripts(tests, apis, ("1", "2")),
        apis,
        Catalogue(changes),
        ScriptRuns({}, runner),
        RULE.witness.model_copy(update={"per_release": most}),
    )
    made, rejects = search.witnesses(releases("1", "2"), tests)
    for row in made:
        table("witnesses").check(row)
    return made, rejects


SHOWN = {
    "a test that came": (
        own_test("unused = lib.half(4)\nassert lib.clean(' a ') == 'a'\nassert lib.clean('b') == 'b'", "2", "2"),
        (None, "import lib\n\nprint(lib.clean(' a '))  # a\n"),
    ),
    "a test that went": (
        own_test("text = ' a'\nassert lib.clean(text) == ' a'", "1", "1"),
        ("import lib\n\ntext = ' a'\nprint(lib.clean(text))  #  a\n", None),
    ),
    "a value in place of yes": (
        own_test("want = sorted('b')[0]\nassert lib.clean(' b') == want", "2", "2"),
        (None, "import lib\n\nprint(lib.clean(' b'))  # b\n"),
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_test_is_cut_down_to_what_comes_out_otherwise(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    test, codes = SHOWN[name]
    (row,), _ = searched(monkeypatch, tmp_path, test)
    assert (row["old_code"], row["new_code"]) == codes
    assert (row["change_id"], row["old_version"], row["new_version"]) == (None, "1", "2")
    assert {row["old_path"], row["new_path"]} == {None, "lib.clean"}


USE = change(ChangeKind.USE, "lib.Box", "1", "2", reach=Reach.LISTED, old=None, new="x[y]")
LISTED = change(ChangeKind.PARAMETER_DEFAULT, "lib.clean", "1", "2", reach=Reach.LISTED, parameter="text", old="1")
REFUSED = {
    "both print the same": (own_test("assert lib.half(4) == 2", "2", "2"), (), "unchanged"),
    "it fails at home": (own_test("assert lib.clean(' a') == ' a'", "2", "2"), (), "not_proven"),
    "it needs a fixture": (own_test("assert lib.clean(fixture) == 'a'", "2", "2"), (), "no_check"),
    "a listed change says why": (own_test("assert lib.clean(' a ') == 'a'", "2", "2"), (LISTED,), "other_cause"),
    "an operator came": (own_test("box = lib.Box('ab')\nassert box[1] == 'b'", "2", "2"), (USE,), "other_cause"),
    "two APIs in one line": (own_test("assert lib.clean(' ' * lib.half(4)) == ''", "2", "2"), (), "other_cause"),
    "it waits for a warning": (
        own_test("with assert_warning():\n    lib.noisy()\nassert lib.noisy() == 1", "1", "1", WAITS),
        (),
        "other_cause",
    ),
    "a private API": (own_test("assert lib._inner(2) == 2", "1", "1"), (), "unfit_name"),
    "an API that one release lists": (own_test("assert lib.lent() == 'a'", "1", "1"), (), "other_cause"),
    "a path": (own_test("assert lib.place() == '/tmp/a'", "1", "1"), (), "not_proven"),
    "over 60 lines": (
        own_test("x = ' '\n" + "x += ' '\n" * 70 + "assert lib.clean(x) == ''", "2", "2"),
        (),
        "too_long",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_shows_no_other_result_is_a_reject(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    test, changes, reason = REFUSED[name]
    rows, rejects = searched(monkeypatch, tmp_path, test, changes=changes)
    assert (rows, [each.reason for each in rejects]) == ([], [reason])


def test_a_test_of_both_releases_is_none_of_one_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert searched(monkeypatch, tmp_path, own_test("assert lib.clean('a') == 'a'", "1", "2")) == ([], [])


def test_so_many_tests_of_a_release_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tests = [own_test(f"assert lib.half({number}) == {number // 2}", "2", "2") for number in (2, 4, 6)]
    rows, rejects = searched(monkeypatch, tmp_path, *tests, most=2)
    assert rows == []
    assert sorted(each.reason for each in rejects) == ["over_quota", "unchanged", "unchanged"]
