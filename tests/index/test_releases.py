"""The releases stage against an index that really listens, and really misbehaves."""

from __future__ import annotations

import io
import itertools
import tarfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.review import RejectReason
from pipeline.index.artifacts import ArtifactStore
from pipeline.index.http import Fetcher, Unreachable
from pipeline.index.layout import Choose
from pipeline.index.licences import LicenceRules
from pipeline.index.release_selection import Period, ReleaseRequest
from pipeline.index.releases import releases_stage
from pipeline.index.rules import CrawlRules
from pipeline.index.sources import SourceStore
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from tests.index_server import Index, Reply, sdist, wheel, without_tests, zip_bytes

RULE = load(RULES / "crawl.yaml", CrawlRules)
LICENCES = load(RULES / "licences.yaml", LicenceRules)
WEEKS = [(f"1.{n}", f"2021-01-{7 * n + 1:02}T00:00:00Z") for n in range(4)]
SOURCES = {"demo/__init__.py": "x = 1\n", "demo/part.py": "y = 2\n", "tests/test_demo.py": ""}


def crawl(
    index: Index,
    tmp_path: Path,
    *,
    versions: str = "",
    latest: int | None = None,
    period: Period | None = None,
    known: list[Any] | None = None,
    rules: CrawlRules = RULE,
    timeout_s: float = 5,
    choose: Choose | None = None,
    progress: Mapping[str, Any] | None = None,
    named: Sequence[str] = (),
) -> Output:
    store = ArtifactStore(tmp_path / "artifacts", Fetcher(timeout_s=timeout_s, retries=2, backoff_s=0.01), rules)
    wanted = ReleaseRequest("demo", SpecifierSet(versions), latest, period or Period(), frozenset(map(Version, named)))
    output = releases_stage(wanted, {"releases": known or []}, index.simple, store, LICENCES, 2, choose, progress)
    for row in output.tables["releases"]:
        table("releases").check(row)
    return output


def versions_of(output: Output) -> list[str]:
    return [row["version"] for row in output.tables["releases"]]


def test_a_row_says_what_the_release_is(index: Index, tmp_path: Path) -> None:
    file = index.add_wheel("demo", "1.0", SOURCES, "2021-05-11T19:46:30Z", requires_python=">=3.6")
    [row] = crawl(index, tmp_path).tables["releases"]
    assert file is not None
    assert row["sha256"] == file.sha256
    assert row["release_time"] == datetime(2021, 5, 11, 19, 46, 30, tzinfo=UTC)
    assert (row["requires_python"], row["import_names"], row["predecessor"]) == (">=3.6", ["demo"], None)
    assert (row["licence"], row["attribution"], row["purl"]) == ("MIT", "Ada Example", "pkg:pypi/demo@1.0")


def test_versions_are_ordered_by_pep_440_and_not_by_spelling(index: Index, tmp_path: Path) -> None:
    for version in ("1.10", "1.9", "1.2.post1", "1.2"):
        index.add_wheel("demo", version, SOURCES, "2021-01-01T00:00:00Z")
    rows = crawl(index, tmp_path).tables["releases"]
    assert [(row["version"], row["predecessor"]) for row in rows] == [
        ("1.2", None),
        ("1.2.post1", "1.2"),
        ("1.9", "1.2.post1"),
        ("1.10", "1.9"),
    ]


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("2.0rc1", RejectReason.PRE_RELEASE),
        ("2.0.dev3", RejectReason.PRE_RELEASE),
        ("final-final", RejectReason.INVALID_VERSION),
    ],
)
def test_versions_that_are_not_taken(index: Index, tmp_path: Path, version: str, reason: RejectReason) -> None:
    index.add_wheel("demo", "1.0", SOURCES, "2021-01-01T00:00:00Z")
    index.add("demo", version, wheel("demo", "3.0", SOURCES), "2021-01-01T00:00:00Z")
    output = crawl(index, tmp_path)
    assert versions_of(output) == ["1.0"]
    assert [(reject.key, reject.reason) for reject in output.rejects] == [(version, reason)]


def test_a_release_without_files_is_a_reject(index: Index, tmp_path: Path) -> None:
    index.add("demo", "1.0", None, "")
    output = crawl(index, tmp_path)
    assert [(r.key, r.reason) for r in output.rejects] == [("1.0", RejectReason.NO_FILES)]


def test_a_yanked_release_is_a_reject_and_no_predecessor(index: Index, tmp_path: Path) -> None:
    for version, yanked in (("1.0", False), ("1.1", True), ("1.2", False)):
        index.add_wheel("demo", version, SOURCES, "2021-01-01T00:00:00Z", yanked=yanked)
    output = crawl(index, tmp_path)
    assert [(r.key, r.reason) for r in output.rejects] == [("1.1", RejectReason.YANKED)]
    assert output.tables["releases"][1]["predecessor"] == "1.0"


def test_a_release_that_is_named_is_taken_whatever_it_is(index: Index, tmp_path: Path) -> None:
    for version in ("1.0", "1.1", "2.0.dev3", "2.0rc1", "2.0rc2"):
        index.add_wheel("demo", version, SOURCES, "2021-01-01T00:00:00Z", yanked=version == "1.1")
    output = crawl(index, tmp_path, named=["1.1", "2.0-RC.1", "2.0dev3"])
    rows = output.tables["releases"]
    assert [(row["version"], row["predecessor"]) for row in rows] == [
        ("1.0", None),
        ("1.1", "1.0"),
        ("2.0.dev3", "1.1"),
        ("2.0rc1", "2.0.dev3"),
    ]
    assert [reject.key for reject in output.rejects] == ["2.0rc2"]


@pytest.mark.parametrize(
    ("folders", "names"),
    [
        (["requests-stubs"], ["requests"]),
        (["demo", "demo-stubs"], ["demo"]),
        # what an installer puts beside the packages (PEP 427)
        (["demo-1.0.data/purelib/demo"], ["demo"]),
        (["demo-1.0.data/scripts"], []),
    ],
)
def test_the_folders_of_a_wheel(index: Index, tmp_path: Path, folders: list[str], names: list[str]) -> None:
    files = {f"{folder}/__init__.py{'i' if folder.endswith('-stubs') else ''}": "x: int = 1\n" for folder in folders}
    index.add_wheel("demo", "1.0", files, "2021-01-01T00:00:00Z")
    output = crawl(index, tmp_path)
    assert [name for row in output.tables["releases"] for name in row["import_names"]] == names
    assert [reject.reason for reject in output.rejects] == [RejectReason.NO_MODULES] * (not names)


def test_a_library_that_does_not_exist(index: Index, tmp_path: Path) -> None:
    output = crawl(index, tmp_path)
    assert [(r.key, r.reason) for r in output.rejects] == [("demo", RejectReason.NO_SUCH_LIBRARY)]


def test_a_library_that_is_new_is_taken_from_its_beginning_and_later_week_by_week(index: Index, tmp_path: Path) -> None:
    for version, uploaded in WEEKS:
        index.add_wheel("demo", version, SOURCES, uploaded)
    start, end = datetime(2021, 1, 10, tzinfo=UTC), datetime(2021, 1, 17, tzinfo=UTC)
    assert versions_of(crawl(index, tmp_path, period=Period(start, end))) == ["1.1", "1.2"], "with a predecessor"
    week = Period(start, end, from_start_if_new=True)
    first = crawl(index, tmp_path, period=week)
    assert versions_of(first) == ["1.0", "1.1", "1.2"]
    known, progress = [*first.tables["releases"]], first.progress
    assert crawl(index, tmp_path, period=week, known=known, progress=progress).tables == first.tables
    after = Period(end, datetime(2021, 1, 24, tzinfo=UTC), from_start_if_new=True)
    assert versions_of(crawl(index, tmp_path, period=after, known=known, progress=progress)) == [
        "1.0",
        "1.1",
        "1.2",
        "1.3",
    ]


def test_a_range_without_releases_is_said(index: Index, tmp_path: Path) -> None:
    index.add_wheel("demo", "1.0", SOURCES, "2021-01-01T00:00:00Z")
    output = crawl(index, tmp_path, versions=">=7")
    assert [r.reason for r in output.rejects] == [RejectReason.NO_RELEASES]


def test_the_index_fails_twice_and_then_answers(index: Index, tmp_path: Path) -> None:
    index.add_wheel("demo", "1.0", SOURCES, "2021-01-01T00:00:00Z")
    index.faults = {"/pypi/demo/json": [503, 503], "/files/demo-1.0-py3-none-any.whl": [503]}
    output = crawl(index, tmp_path)
    assert versions_of(output) == ["1.0"]
    assert index.requests["/pypi/demo/json"] == 3


def test_the_index_is_down_and_what_is_known_stays(index: Index, tmp_path: Path) -> None:
    index.add_wheel("demo", "1.0", SOURCES, "2021-01-01T00:00:00Z")
    known = list(crawl(index, tmp_path).tables["releases"])
    index.faults = {"/pypi/demo/json": [503] * 9}
    output = crawl(index, tmp_path, known=known)
    assert output.tables["releases"] == known
    [reject] = output.rejects
    assert reject.reason is RejectReason.INDEX_UNREACHABLE
    assert "503" in reject.detail


def test_an_index_that_is_silent_is_given_up(index: Index, tmp_path: Path) -> None:
    index.delays = {"/pypi/demo/json": 1.0}
    output = crawl(index, tmp_path, timeout_s=0.1)
    assert [r.reason for r in output.rejects] == [RejectReason.INDEX_UNREACHABLE]


def test_one_file_fails_for_good_and_the_others_are_taken(index: Index, tmp_path: Path) -> None:
    for version in ("1.0", "1.1", "1.2"):
        index.add_wheel("demo", version, SOURCES, "2021-01-01T00:00:00Z")
    index.faults = {"/files/demo-1.1-py3-none-any.whl": [503] * 9}
    output = crawl(index, tmp_path)
    assert versions_of(output) == ["1.0", "1.2"]
    assert [(r.key, r.reason) for r in output.rejects] == [("1.1", RejectReason.INDEX_UNREACHABLE)]


def test_a_download_that_breaks_off_is_begun_again(index: Index, tmp_path: Path) -> None:
    index.add_wheel("demo", "1.0", SOURCES, "2021-01-01T00:00:00Z")
    index.truncate = {"/files/demo-1.0-py3-none-any.whl": [100]}
    assert versions_of(crawl(index, tmp_path)) == ["1.0"]
    assert index.requests["/files/demo-1.0-py3-none-any.whl"] == 2


def test_a_wrong_hash_is_refused_and_not_kept(index: Index, tmp_path: Path) -> None:
    index.add_wheel("demo", "1.0", SOURCES, "2021-01-01T00:00:00Z", sha256="0" * 64)
    output = crawl(index, tmp_path)
    assert [(r.key, r.reason) for r in output.rejects] == [("1.0", RejectReason.WRONG_HASH)]
    assert list(SourceStore(tmp_path / "artifacts" / "sources.sqlite").manifests()) == []


def climbing() -> tuple[str, bytes]:
    return "demo-1.0-py3-none-any.whl", zip_bytes({"demo/__init__.py": b"", "../../evil.py": b"x"})


def bomb() -> tuple[str, bytes]:
    return "demo-1.0-py3-none-any.whl", zip_bytes({"demo/__init__.py": b"", "demo/data.bin": b"\0" * 50_000_000})


def linking() -> tuple[str, bytes]:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        link = tarfile.TarInfo("demo-1.0/demo/__init__.py")
        link.type, link.linkname = tarfile.SYMTYPE, "../../../etc/passwd"
        archive.addfile(link)
    return "demo-1.0.tar.gz", buffer.getvalue()


def truncated() -> tuple[str, bytes]:
    name, content = sdist("demo", "1.0", {"demo/__init__.py": "x = 1\n" * 5000, "demo/a.py": "print(1)\n" * 999})
    return name, content[: len(content) // 2]


def truncated_wheel() -> tuple[str, bytes]:
    name, content = wheel("demo", "1.0", SOURCES)
    return name, content[: len(content) // 2]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (climbing(), RejectReason.UNSAFE_ARCHIVE),
        (bomb(), RejectReason.UNSAFE_ARCHIVE),
        (linking(), RejectReason.UNSAFE_ARCHIVE),
        (truncated(), RejectReason.BAD_ARCHIVE),
        (truncated_wheel(), RejectReason.BAD_ARCHIVE),
        (("demo-1.0.tar.gz", b"<html>moved</html>"), RejectReason.BAD_ARCHIVE),
        (sdist("demo", "1.0", {"README": "nothing to import"}), RejectReason.NO_MODULES),
    ],
    ids=["climbing", "bomb", "linking", "truncated", "truncated_wheel", "html", "empty"],
)
def test_bad_archives_are_rejects_that_name_the_file(
    index: Index, tmp_path: Path, file: tuple[str, bytes], reason: RejectReason
) -> None:
    index.add("demo", "1.0", file, "2021-01-01T00:00:00Z")
    index.add_wheel("demo", "1.1", SOURCES, "2021-01-02T00:00:00Z")
    output = crawl(index, tmp_path)
    assert versions_of(output) == ["1.1"]
    [reject] = output.rejects
    assert (reject.key, reject.reason) == ("1.0", reason)
    assert file[0] in reject.detail


def test_a_file_over_the_limit_is_not_fetched(index: Index, tmp_path: Path) -> None:
    index.add_wheel("demo", "1.0", SOURCES, "2021-01-01T00:00:00Z")
    output = crawl(index, tmp_path, rules=RULE.model_copy(update={"max_download_bytes": 10}))
    assert [r.reason for r in output.rejects] == [RejectReason.BAD_ARCHIVE]
    assert not index.requests["/files/demo-1.0-py3-none-any.whl"]


@pytest.mark.parametrize(("documents", "simple_json"), [(True, True), (False, True)])
def test_a_mirror_without_project_documents_gives_the_same_rows(
    index: Index, tmp_path: Path, documents: bool, simple_json: bool
) -> None:
    for version, uploaded in WEEKS[:2]:
        index.add_wheel("demo", version, SOURCES, uploaded)
    index.documents, index.simple_json = documents, simple_json
    rows = crawl(index, tmp_path).tables["releases"]
    assert [(row["version"], row["release_time"].day) for row in rows] == [("1.0", 1), ("1.1", 8)]


def test_a_mirror_without_upload_times_is_a_reject_that_says_so(index: Index, tmp_path: Path) -> None:
    index.add_wheel("demo", "1.0", SOURCES, "2021-01-01T00:00:00Z")
    index.documents = index.simple_json = False
    output = crawl(index, tmp_path)
    assert [r.reason for r in output.rejects] == [RejectReason.BAD_INDEX_ANSWER]
    assert "upload time" in output.rejects[0].detail


def test_a_period_takes_its_releases_and_the_predecessor_of_each(index: Index, tmp_path: Path) -> None:
    for version, uploaded in WEEKS:
        index.add_wheel("demo", version, SOURCES, uploaded)
    period = Period(datetime(2021, 1, 15, tzinfo=UTC), datetime(2021, 1, 22, tzinfo=UTC))
    assert versions_of(crawl(index, tmp_path, period=period)) == ["1.1", "1.2"]


def test_periods_taken_in_any_order_give_the_same_rows(index: Index, tmp_path: Path) -> None:
    for version, uploaded in WEEKS:
        index.add_wheel("demo", version, SOURCES, uploaded)
    bounds = [datetime(2021, 1, day, tzinfo=UTC) for day in (1, 8, 15, 22, 29)]
    periods = [Period(a, b) for a, b in itertools.pairwise(bounds)]
    results = []
    for order in (periods, periods[::-1]):
        known: dict[str, Any] = {}
        progress = None
        for period in [*order, periods[-1]]:
            output = crawl(index, tmp_path, period=period, known=list(known.values()), progress=progress)
            assert all(period.until and row["release_time"] < period.until for row in output.tables["releases"])
            known |= {row["version"]: row for row in output.tables["releases"]}
            progress = output.progress
        results.append(output.tables["releases"])
    assert results[0] == results[1]
    assert [row["version"] for row in results[0]] == ["1.0", "1.1", "1.2", "1.3"]
    assert [row["as_of"] and row["as_of"].day for row in results[0]] == [8, 15, 22, 29]


def test_a_file_that_was_refused_is_not_fetched_again_until_the_rules_are_others(index: Index, tmp_path: Path) -> None:
    index.add("demo", "1.0", truncated(), "2021-01-01T00:00:00Z")
    first = crawl(index, tmp_path)
    asked = len(index.asked)
    second = crawl(index, tmp_path, progress=first.progress)
    assert second.rejects == first.rejects
    assert len(index.asked) == asked
    crawl(index, tmp_path, progress=second.progress, rules=RULE.model_copy(update={"max_download_bytes": 1 << 20}))
    assert len(index.asked) > asked


def test_a_wheel_that_came_after_the_period_is_not_taken_for_the_source_that_was_there(
    index: Index, tmp_path: Path
) -> None:
    index.add("demo", "1.0", sdist("demo", "1.0", SOURCES), "2021-01-02T00:00:00Z")
    index.add_wheel("demo", "1.0", SOURCES, "2021-01-12T00:00:00Z")
    week, later = (Period(datetime(2021, 1, day, tzinfo=UTC), datetime(2021, 1, day + 7, tzinfo=UTC)) for day in (1, 8))
    index.add_wheel("demo", "1.1", SOURCES, "2021-01-13T00:00:00Z")
    after = crawl(index, tmp_path, period=later)
    assert [row["artifact_kind"] for row in after.tables["releases"]] == ["wheel", "wheel"]
    before = crawl(index, tmp_path, period=week, known=list(after.tables["releases"]), progress=after.progress)
    assert [row["artifact_kind"] for row in before.tables["releases"]] == ["sdist"]


def test_a_file_that_was_fetched_is_not_fetched_again(index: Index, tmp_path: Path) -> None:
    index.add_wheel("demo", "1.0", SOURCES, "2021-01-01T00:00:00Z")
    crawl(index, tmp_path)
    crawl(index, tmp_path)
    assert index.requests["/files/demo-1.0-py3-none-any.whl"] == 1


def by_ranges(over_bytes: int = 0) -> CrawlRules:
    ranges = RULE.ranges.model_copy(update={"over_bytes": over_bytes, "tail_bytes": 100, "gap_bytes": 0})
    return RULE.model_copy(update={"ranges": ranges})


def test_wheels_read_by_ranges_give_the_same_rows(index: Index, tmp_path: Path) -> None:
    for version, uploaded in WEEKS[:2]:
        index.add_wheel("demo", version, SOURCES, uploaded)
    whole = crawl(index, tmp_path / "whole").tables["releases"]
    index.asked.clear()
    assert crawl(index, tmp_path / "ranges", rules=by_ranges()).tables["releases"] == whole
    assert all(wanted for _, wanted in index.asked)


def test_the_sources_that_are_wanted_are_in_the_store_when_the_stage_ends(index: Index, tmp_path: Path) -> None:
    index.add_wheel("demo", "1.0", SOURCES | {"demo/tests/test_a.py": "assert 1\n"}, "2021-01-01T00:00:00Z")
    [row] = crawl(index, tmp_path, rules=by_ranges(), choose=without_tests).tables["releases"]
    index.faults = {"/files/demo-1.0-py3-none-any.whl": [503] * 99}
    store = ArtifactStore(tmp_path / "artifacts", Fetcher(timeout_s=5, retries=0), by_ranges())
    tree = store.tree(row, without_tests)
    assert store.contents(tree.files.values())[tree.files["demo/part.py"]] == b"y = 2\n"
    with pytest.raises(Unreachable):
        store.tree(row)


def test_a_range_answer_that_is_malformed_is_a_reject_that_names_the_file(index: Index, tmp_path: Path) -> None:
    index.add_wheel("demo", "1.0", SOURCES, "2021-01-01T00:00:00Z")
    index.twists = {"/files/demo-1.0-py3-none-any.whl": [lambda reply: Reply(206, {}, reply.body)]}
    output = crawl(index, tmp_path, rules=by_ranges())
    [reject] = output.rejects
    assert reject.reason is RejectReason.NO_FILES
    assert reject.detail.startswith("demo-1.0-py3-none-any.whl: status 206 for bytes=-100")


def test_an_index_without_sizes_gives_those_of_the_files(index: Index, tmp_path: Path) -> None:
    file = index.add_wheel("demo", "1.0", SOURCES, "2021-01-01T00:00:00Z")
    assert file is not None
    index.documents = index.sizes = False
    for rules in (by_ranges(), by_ranges(over_bytes=1 << 20)):
        [row] = crawl(index, tmp_path / str(rules.ranges.over_bytes), rules=rules).tables["releases"]
        assert row["size"] == len(file.content)
