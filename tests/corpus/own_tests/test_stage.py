"""The stage `own_tests`: real source distributions of an index that listens on loopback."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.dependents.sdists import SdistStore
from pipeline.corpus.github.source import GitHub
from pipeline.corpus.own_tests.cutter import cut
from pipeline.corpus.own_tests.rules import OwnTestRules
from pipeline.corpus.own_tests.sources import ReleaseSdists
from pipeline.corpus.own_tests.stage import own_tests_stage
from pipeline.corpus.python_files import PythonFileRules
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.corpus.usages.rules import UsageRules
from pipeline.index.http import Fetcher
from pipeline.lake.stage import Output
from tests.corpus.github.conftest import github_rules
from tests.corpus.github.hub import TOKEN, Hub, Snapshot
from tests.corpus.own_tests.suites import RULE
from tests.errors import raises
from tests.index_server import Index, sdist

USAGE = load(RULES / "usage.yaml", UsageRules)
SECRETS = [rule for rule in load(RULES / "snippets.yaml", SnippetRules).samples.redactions if rule.name in RULE.secrets]
FILES = load(RULES / "python_files.yaml", PythonFileRules)
TOTAL = "import demo\n\n\ndef test_total():\n    assert demo.total([1]) == {}\n"


def symbol(path: str, kind: str) -> Any:
    row: dict[str, Any] = {
        "path": path,
        "canonical_path": path,
        "kind": kind,
        "labels": [],
        "bases": [],
        "returns": None,
    }
    return row | {"file": "demo/__init__.py", "first_version": "1.0", "last_version": None}


SYMBOLS = [symbol("demo", "module"), symbol("demo.total", "function")]


@pytest.fixture
def run(index: Index, tmp_path: Path):
    """Serve releases of `demo` with these files of their suites, and run the stage."""

    def run_stage(*suites: dict[str, str] | None, hub: Hub | None = None, home: str = "") -> Output:
        releases: list[Any] = []
        for number, suite in enumerate(suites, 1):
            version = f"{number}.0"
            if suite is not None:
                files = {"demo/__init__.py": "def total(x): ..."} | suite
                index.add("demo", version, sdist("demo", version, files, home), f"202{number}-01-01T00:00:00Z")
            releases.append(
                {
                    "library": "demo",
                    "version": version,
                    "predecessor": f"{number - 1}.0" if number > 1 else None,
                    "import_names": ["demo"],
                    "release_time": datetime(2020 + number, 1, 1, tzinfo=UTC),
                    "purl": f"pkg:pypi/demo@{version}",
                    "licence": "MIT",
                    "attribution": "Ada Example",
                }
            )
        fetcher = Fetcher(timeout_s=5, retries=1, backoff_s=0.01)
        github = (
            GitHub(hub.url, TOKEN, fetcher, github_rules(), FILES, tmp_path / "github", lambda _: []) if hub else None
        )
        sdists = ReleaseSdists(SdistStore(tmp_path, fetcher, RULE), index.simple, github)
        return own_tests_stage({"releases": releases, "symbols": SYMBOLS}, sdists, RULE, USAGE, SECRETS)

    return run_stage


def test_a_program_that_stays_is_one_row_and_one_that_changes_has_one_test(run) -> None:
    stays = "import demo\n\n\ndef test_stays():\n    assert demo.total([]) == 0\n"
    output = run(
        {"tests/test_a.py": TOTAL.format(1), "tests/test_b.py": stays},
        {"tests/test_a.py": TOTAL.format("1.0"), "tests/test_b.py": stays},
    )
    rows = {(row["test"], row["version"]): row for row in output.tables["own_tests"]}
    assert set(rows) == {
        ("tests/test_a.py::test_total", "1.0"),
        ("tests/test_a.py::test_total", "2.0"),
        ("tests/test_b.py::test_stays", "1.0"),
    }
    old, new = (rows["tests/test_a.py::test_total", version] for version in ("1.0", "2.0"))
    assert old["test_id"] == new["test_id"]
    assert old["last_version"] == "1.0"
    assert rows["tests/test_b.py::test_stays", "1.0"]["last_version"] == "2.0"
    assert old["apis"] == ["demo.total"]
    assert (output.units_in, output.units_out, list(output.rejects)) == (3, 3, [])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def test_it():\n    assert 1 + 1 == 2\n", RejectReason.NO_USE),
        (
            "import demo\n\ndef test_it():\n    assert demo.total(['ghp_0123456789abcdefghijklmnopqrstuvwxyz'])\n",
            RejectReason.SECRET,
        ),
        ("import demo\n\ndef test_it(mocker):\n    assert demo.total(mocker)\n", RejectReason.NO_FIXTURE),
    ],
)
def test_what_is_no_row_is_a_reject(run, source: str, reason: RejectReason) -> None:
    output = run({"tests/test_a.py": source})
    assert [reject.reason for reject in output.rejects] == [reason]
    assert output.tables["own_tests"] == []


def test_a_test_that_raises_is_a_reject_and_the_others_are_cut(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(test: Any, suite: Any) -> Any:
        if test.function.name == "test_raises":
            raise ZeroDivisionError("planted")
        return cut(test, suite)

    monkeypatch.setattr("pipeline.corpus.own_tests.stage.cut", raising)
    output = run({"tests/test_a.py": f"{TOTAL}\n\ndef test_raises():\n    assert demo.total([])\n"})
    assert [(reject.reason, "planted" in reject.detail) for reject in output.rejects] == [
        (RejectReason.INTERNAL_ERROR, True)
    ]
    assert [row["test"] for row in output.tables["own_tests"]] == ["tests/test_a.py::test_total"]


@pytest.mark.parametrize(
    ("suite", "reason"),
    [
        (None, RejectReason.NO_FILES),
        ({}, RejectReason.NO_FILES),
        ({"tests/test_a.py": "def test_it(:\n"}, RejectReason.UNPARSED_SOURCE),
    ],
)
def test_a_suite_that_cannot_be_read_is_a_note(run, suite: dict[str, str] | None, reason: RejectReason) -> None:
    output = run({"tests/test_a.py": TOTAL.format(1)}, suite)
    assert [note.reason for note in output.notes] == [reason]
    assert [row["last_version"] for row in output.tables["own_tests"]] == ["1.0"]


@pytest.mark.parametrize("tag", ["v1.0", "1.0", "demo-1.0", "rel_1_0"])
def test_a_suite_that_the_source_distribution_lacks_is_read_in_the_repository(run, hub: Hub, tag: str) -> None:
    hub.add("ada/demo").tags[tag] = Snapshot("2021-01-01T00:00:00Z", {"tests/test_a.py": TOTAL.format(1)})
    (row,) = run({}, hub=hub, home="https://github.com/ada/demo#readme").tables["own_tests"]
    assert (row["test"], row["apis"]) == ("tests/test_a.py::test_total", ["demo.total"])


@pytest.mark.parametrize(
    ("home", "status", "reason"),
    [
        ("https://github.com/ada/demo", 200, RejectReason.VANISHED),
        ("https://github.com/ada/none", 200, RejectReason.VANISHED),
        ("https://github.com/ada/demo", 500, RejectReason.SOURCE_UNREACHABLE),
        ("https://example.org/demo", 200, RejectReason.NO_FILES),
        ("", 200, RejectReason.NO_FILES),
    ],
)
def test_a_repository_without_the_release_is_a_note(
    run, hub: Hub, home: str, status: int, reason: RejectReason
) -> None:
    hub.add("ada/demo").tags["v2.0"] = Snapshot("2021-01-01T00:00:00Z", {"tests/test_a.py": TOTAL.format(1)})
    if status != 200:
        hub.gone["ada/demo"] = status
    output = run({}, hub=hub, home=home)
    assert [note.reason for note in output.notes] == [reason]
    assert not output.tables["own_tests"]


@pytest.mark.parametrize("between", [None, {}])
def test_a_release_whose_suite_cannot_be_read_ends_no_row(run, between: dict[str, str] | None) -> None:
    output = run({"tests/test_a.py": TOTAL.format(1)}, between, {"tests/test_a.py": TOTAL.format(1)})
    assert [(row["version"], row["last_version"]) for row in output.tables["own_tests"]] == [("1.0", "3.0")]


def test_a_tag_may_spell_the_version_with_underscores() -> None:
    assert "rel_1_4_0" in RULE.tags_of("sqlalchemy", "1.4.0")


@pytest.mark.parametrize(
    "tags", ["[]", '["release"]', '["v{release}"]', '["v{version.major}"]', '["{version"]', '["rel_{version_}"]']
)
def test_a_tag_needs_the_version(tmp_path: Path, tags: str) -> None:
    text = (RULES / "own_tests.yaml").read_text(encoding="utf-8")
    changed, count = re.subn(r"(?m)^tags: .*$", f"tags: {tags}", text)
    assert count == 1
    (tmp_path / "own_tests.yaml").write_text(changed, encoding="utf-8")
    with raises(RuleError, "own_tests.yaml"):
        load(tmp_path / "own_tests.yaml", OwnTestRules)
