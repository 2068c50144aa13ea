"""Downstream code from an index that really listens, and really misbehaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.samples import SnippetSource, VersionEvidence
from pipeline.corpus.code_source import CodeSample, CodeSource
from pipeline.corpus.dependents.rules import DependentRules
from pipeline.corpus.dependents.source import Downstream
from pipeline.corpus.gather import gather_stage
from pipeline.corpus.python_files import PythonFileRules
from pipeline.index.artifacts import ArtifactStore
from pipeline.index.http import Fetcher, Unreachable
from pipeline.index.licences import LicenceRules
from pipeline.index.release_selection import Period, ReleaseRequest
from pipeline.index.releases import releases_stage
from pipeline.index.rules import CrawlRules
from pipeline.lake.schema import table
from pipeline.lake.stage import Reject
from tests.index_server import Index, Reply, sdist, serve, wheel

RULE = load(RULES / "dependents.yaml", DependentRules)
FILES = load(RULES / "python_files.yaml", PythonFileRules)
LICENCES = load(RULES / "licences.yaml", LicenceRules)
CRAWL = load(RULES / "crawl.yaml", CrawlRules)
HISTORY = [("1.0", "2021-01-01T00:00:00Z"), ("1.1", "2021-02-01T00:00:00Z"), ("2.0", "2021-03-01T00:00:00Z")]
BETWEEN = "2021-02-15T00:00:00Z"
USES = {"user/main.py": "import demo\n\ndemo.run()\n", "user/other.py": "x = 1\n", "requirements.txt": "demo>=1\n"}


def library(index: Index) -> None:
    for version, uploaded in HISTORY:
        index.add_wheel("demo", version, {"demo/__init__.py": "def run(): ...\n"}, uploaded)


def dependent(index: Index, name: str = "user", version: str = "1.0", uploaded: str = BETWEEN, **files: str) -> None:
    """Add a release of a dependent; `user__main_py` is the file user/main.py."""
    named = {
        path.replace("__", "/").replace("_py", ".py").replace("_txt", ".txt"): text for path, text in files.items()
    }
    index.add(name, version, sdist(name, version, named or USES), uploaded)


def lake(index: Index, tmp_path: Path, versions: str = "") -> list[Any]:
    store = ArtifactStore(tmp_path / "artifacts", Fetcher(timeout_s=5), CRAWL)
    request = ReleaseRequest("demo", SpecifierSet(versions), None, Period())
    return list(releases_stage(request, {"releases": []}, index.simple, store, LICENCES, 2).tables["releases"])


def source(index: Index, tmp_path: Path, *seeds: str, workers: int = 2, **rules: int) -> Downstream:
    chosen = RULE.model_copy(update={"seeds": {"demo": seeds or ("user",)}} | rules)
    fetcher = Fetcher(timeout_s=5, retries=2, backoff_s=0.01)
    crawled = (ArtifactStore(tmp_path / "artifacts", fetcher, CRAWL).sources,)
    return Downstream(index.simple, fetcher, tmp_path / "downstream", chosen, FILES, LICENCES, crawled, workers)


def find(index: Index, tmp_path: Path, *seeds: str, versions: str = "", **rules: int) -> list[CodeSample | Reject]:
    return list(source(index, tmp_path, *seeds, **rules).find("demo", lake(index, tmp_path, versions), Period()))


def summary(results: list[CodeSample | Reject]) -> list[tuple[str, str]]:
    return [
        (item.key, str(item.reason)) if isinstance(item, Reject) else (f"{item.place}#{item.file}", item.version)
        for item in results
    ]


def test_a_file_that_uses_the_library_is_a_row_of_the_table(index: Index, tmp_path: Path) -> None:
    library(index)
    dependent(index)
    releases = lake(index, tmp_path)
    plug: CodeSource = source(index, tmp_path)
    assert (plug.name, plug.unavailable()) == (SnippetSource.DOWNSTREAM, None)
    output = gather_stage("demo", {"releases": releases, "code_samples": []}, [plug], Period())
    [row] = output.tables["code_samples"]
    table("code_samples").check(row)
    assert (row["version"], row["version_evidence"]) == ("1.1", VersionEvidence.DEPENDENCY_MATRIX)
    assert (row["place"], row["file"], row["origin"]) == ("pkg:pypi/user@1.0", "user/main.py", "pypi:user")
    assert (row["text"], row["line"], row["licence"]) == (USES["user/main.py"], 1, "MIT")
    assert row["version_statement"].startswith("requirements.txt:1: demo>=1")


@pytest.mark.parametrize(
    ("requirement", "version", "evidence"),
    [
        ("demo", "1.1", VersionEvidence.DEPENDENCY_MATRIX),
        ("demo<1.1", "1.0", VersionEvidence.DEPENDENCY_MATRIX),
        ("demo==1.0", "1.0", VersionEvidence.EXACT_PIN),
    ],
)
def test_the_version_is_that_of_the_day_of_release(
    index: Index, tmp_path: Path, requirement: str, version: str, evidence: VersionEvidence
) -> None:
    library(index)
    dependent(index, user__main_py="import demo\n", requirements_txt=requirement)
    [sample] = find(index, tmp_path)
    assert isinstance(sample, CodeSample)
    assert (sample.version, sample.version_evidence) == (version, evidence)


@pytest.mark.parametrize(
    ("requirement", "versions", "reason"),
    [
        ("demo<1.1", ">=1.1", "version_not_covered"),
        ("demo<1", "", "version_unknown"),
        ("other", "", "version_unknown"),
    ],
)
def test_an_unknown_version_is_a_single_reject_of_the_release(
    index: Index, tmp_path: Path, requirement: str, versions: str, reason: str
) -> None:
    library(index)
    dependent(index, user__a_py="import demo\n", user__b_py="import demo\n", requirements_txt=requirement)
    assert summary(find(index, tmp_path, versions=versions)) == [("pkg:pypi/user@1.0", reason)]


def test_files_that_only_mention_the_library_are_no_uses(index: Index, tmp_path: Path) -> None:
    library(index)
    dependent(index, a_py='"""How to import demo."""\n', b_py="from .demo import x\nimport demos, x.demo\n")
    assert summary(find(index, tmp_path)) == [("pkg:pypi/user@1.0", "no_use")]


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("tests__test_main_py", "import demo\n", "out_of_scope"),
        ("user___vendor__main_py", "import demo\n", "out_of_scope"),
        ("demo__copy_py", "import demo\n", "out_of_scope"),
        ("user__data_py", "import demo\nx = '" + "y" * 300_000 + "'\n", "too_large"),
        ("user__old_py", "# -*- coding: no-such-codec -*-\nimport demo\n", "unreadable"),
        ("user__nul_py", "import demo\n\0", "unreadable"),
    ],
)
def test_a_file_that_is_no_example_is_a_reject_of_its_own(
    index: Index, tmp_path: Path, path: str, text: str, reason: str
) -> None:
    library(index)
    dependent(index, user__main_py="import demo\n", requirements_txt="demo\n", **{path: text})
    (key, refused), sample = summary(find(index, tmp_path))
    assert (key.split("#")[0], refused) == ("pkg:pypi/user@1.0", reason)
    assert sample == ("pkg:pypi/user@1.0#user/main.py", "1.1")


def test_a_requirement_that_cannot_be_read_is_named_and_the_others_count(index: Index, tmp_path: Path) -> None:
    library(index)
    dependent(index, user__main_py="import demo\n", requirements_txt="demo<1.1\n=?= what\n")
    assert summary(find(index, tmp_path)) == [
        ("pkg:pypi/user@1.0#requirements.txt:2", "bad_requirement"),
        ("pkg:pypi/user@1.0#user/main.py", "1.0"),
    ]


def announce(size: int) -> Callable[[Reply], Reply]:
    def twist(reply: Reply) -> Reply:
        document = json.loads(reply.body)
        for files in document["releases"].values():
            for file in files:
                file["size"] = size
        body = json.dumps(document).encode()
        return Reply(reply.status, {"Content-Type": "application/json"}, body)

    return twist


DOCUMENT = "/pypi/user/json"
FILE = "/files/user-1.0.tar.gz"
BAD: list[tuple[str, Callable[[Index], object], str, str]] = [
    ("announced as 2 GB", lambda index: index.twists.update({DOCUMENT: [announce(2 << 30)]}), "user@1.0", "too_large"),
    ("gone since it was listed", lambda index: index.faults.update({FILE: [404]}), "user@1.0", "vanished"),
    ("out of order", lambda index: index.faults.update({FILE: [503] * 9}), "user@1.0", "index_unreachable"),
    ("refused", lambda index: index.faults.update({FILE: [403]}), "user@1.0", "bad_answer"),
    ("breaks off each time", lambda index: index.truncate.update({FILE: [50] * 9}), "user@1.0", "index_unreachable"),
    ("no such project", lambda index: index.projects.pop("user"), "user", "vanished"),
    ("document out of order", lambda index: index.faults.update({DOCUMENT: [500] * 9}), "user", "index_unreachable"),
    (
        "HTML in place of JSON, twice",
        lambda index: index.twists.update(
            {
                DOCUMENT: [lambda reply: Reply(200, {"Content-Type": "text/html"}, b"<h1>hello</h1>")],
                "/simple/user/": [lambda reply: Reply(200, {"Content-Type": "text/x-odd"}, b"<h1>hello</h1>")],
            }
        ),
        "user",
        "bad_answer",
    ),
]


@pytest.mark.parametrize(("harm", "key", "reason"), [bad[1:] for bad in BAD], ids=[bad[0] for bad in BAD])
def test_a_bad_dependent_stops_no_other(
    index: Index, tmp_path: Path, harm: Callable[[Index], object], key: str, reason: str
) -> None:
    library(index)
    dependent(index)
    dependent(index, "good")
    harm(index)
    refused, sample = find(index, tmp_path, "user", "good")
    assert isinstance(refused, Reject)
    assert (refused.key, str(refused.reason)) == (f"pkg:pypi/{key}", reason)
    assert summary([sample]) == [("pkg:pypi/good@1.0#user/main.py", "1.1")]


def test_large_distributions_are_not_requested(index: Index, tmp_path: Path) -> None:
    library(index)
    dependent(index)
    index.twists[DOCUMENT] = [announce(2 << 30)]
    find(index, tmp_path)
    assert not [path for path, _ in index.asked if path == FILE]


@pytest.mark.parametrize(
    ("file", "yanked", "reason"),
    [(sdist("user", "1.0", USES), True, "yanked"), (wheel("user", "1.0", USES), False, "no_files")],
)
def test_a_release_without_an_available_source_distribution(
    index: Index, tmp_path: Path, file: tuple[str, bytes], yanked: bool, reason: str
) -> None:
    library(index)
    index.add("user", "1.0", file, BETWEEN, yanked=yanked)
    assert summary(find(index, tmp_path)) == [("pkg:pypi/user@1.0", reason)]


def test_a_dependent_without_releases_in_the_days_of_the_lake_is_a_reject(index: Index, tmp_path: Path) -> None:
    library(index)
    dependent(index, uploaded="2020-01-01T00:00:00Z")
    assert summary(find(index, tmp_path)) == [("pkg:pypi/user", "no_releases")]


def test_no_more_releases_than_the_rule_takes(index: Index, tmp_path: Path) -> None:
    library(index)
    for version, day in (("0.1", "2021-01-05"), ("0.2", "2021-02-05"), ("0.3", "2021-02-06"), ("0.4", "2021-03-05")):
        dependent(index, version=version, uploaded=f"{day}T00:00:00Z")
    assert [version for _, version in summary(find(index, tmp_path))] == ["1.0", "1.1", "2.0"]
    assert len(find(index, tmp_path, releases_per_dependent=2)) == 2


def test_where_the_index_does_not_answer_for_the_library_the_source_stops(index: Index, tmp_path: Path) -> None:
    library(index)
    releases = lake(index, tmp_path)
    index.faults["/pypi/demo/json"] = [503] * 9
    with pytest.raises(Unreachable):
        list(source(index, tmp_path).find("demo", releases, Period()))


def test_an_index_that_is_silent_while_a_version_is_resolved_costs_that_release(index: Index, tmp_path: Path) -> None:
    library(index)
    dependent(index, "first", user__main_py="import demo\n", requirements_txt="demo")
    dependent(index, "second", user__main_py="import demo\n", requirements_txt="demo==1.0")

    def silent(library: str, requirements: Sequence[str], python: str, as_of: datetime) -> str | None:
        raise Unreachable(f"{index.simple}/{library}/: status 503")

    downstream = replace(source(index, tmp_path, "first", "second"), narrow=silent)
    results = list(downstream.find("demo", lake(index, tmp_path), Period()))
    assert summary(results) == [
        ("pkg:pypi/first@1.0", "index_unreachable"),
        ("pkg:pypi/second@1.0#user/main.py", "1.0"),
    ]


def test_a_library_without_releases_has_no_users(index: Index, tmp_path: Path) -> None:
    assert list(source(index, tmp_path).find("demo", [], Period())) == []


def test_asking_again_fetches_nothing_again(index: Index, tmp_path: Path) -> None:
    library(index)
    dependent(index)
    first = find(index, tmp_path)
    downstream = len(index.asked)
    assert find(index, tmp_path) == first
    assert len(index.asked) == downstream


def test_the_rows_are_the_same_from_another_mirror_and_with_other_workers(index: Index, tmp_path: Path) -> None:
    def world(served: Index, name: str, workers: int) -> list[CodeSample | Reject]:
        library(served)
        for version in ("0.1", "0.2", "0.3"):
            dependent(served, version=version, uploaded=f"2021-0{version[-1]}-05T00:00:00Z")
            dependent(served, "more", version, uploaded=f"2021-0{version[-1]}-06T00:00:00Z")
        served.faults["/files/more-0.2.tar.gz"] = [404]
        results = source(served, tmp_path / name, "user", "gone", "more", workers=workers)
        return list(results.find("demo", lake(served, tmp_path / name), Period()))

    with serve(Index()) as other:
        assert world(index, "one", 1) == world(other, "other", 4)


def test_crawled_releases_reveal_dependents_that_no_rule_names(index: Index, tmp_path: Path) -> None:
    library(index)
    dependent(index, "unnamed")
    index.add("unnamed", "0.9", wheel("unnamed", "0.9", {"u.py": ""}, Requires_Dist="demo"), "2021-01-05T00:00:00Z")
    dependent(index)
    store = ArtifactStore(tmp_path / "artifacts", Fetcher(timeout_s=5), CRAWL)
    assert summary(find(index, tmp_path)) == [("pkg:pypi/user@1.0#user/main.py", "1.1")]
    releases_stage(
        ReleaseRequest("unnamed", SpecifierSet("==0.9"), None, Period()),
        {"releases": []},
        index.simple,
        store,
        LICENCES,
        1,
    )
    assert summary(find(index, tmp_path, dependents_per_library=1)) == [("pkg:pypi/user@1.0#user/main.py", "1.1")]
    assert ("pkg:pypi/unnamed@1.0#user/main.py", "1.1") in summary(find(index, tmp_path))
