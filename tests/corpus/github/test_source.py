"""GitHub as a source of code, against a server that speaks its documented protocol, and one that does not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import VersionEvidence
from pipeline.corpus.code_source import CodeSample, CodeSource
from pipeline.index.release_selection import Period
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject
from tests.corpus.github.conftest import MakeGitHub, day
from tests.corpus.github.hub import TOKEN, Hub, Snapshot

USE = "import demo\n\nprint(demo.load('x'))\n"
PINNED = {"requirements.txt": "demo==1.1\n", "app/main.py": USE, "README.md": "a demo user"}
IN_2021 = Period(day("2021-01-01"), day("2022-01-01"))


def collect(
    source: CodeSource, releases: list[ReleaseRow], period: Period = IN_2021
) -> tuple[list[CodeSample], list[Reject]]:
    both = list(source.find("demo", releases, period))
    return [item for item in both if isinstance(item, CodeSample)], [
        entry for entry in both if isinstance(entry, Reject)
    ]


def reasons(rejects: list[Reject]) -> dict[RejectReason, int]:
    return dict(Counter(reject.reason for reject in rejects))


def test_a_file_comes_with_its_version_its_commit_and_whose_it_is(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]
) -> None:
    commit = hub.add("ada/app", topics=("demo",)).commit("2021-05-01T12:00:00Z", PINNED)
    source: CodeSource = github()
    samples, rejects = collect(source, releases)
    assert rejects == []
    assert [
        (
            item.version,
            item.version_evidence,
            item.version_statement,
            item.origin,
            item.place,
            item.file,
            item.text,
            item.licence,
        )
        for item in samples
    ] == [
        (
            "1.1",
            VersionEvidence.EXACT_PIN,
            "requirements.txt:1: demo==1.1",
            "github:ada/app",
            f"ada/app@{commit.sha}",
            "app/main.py",
            USE,
            "MIT",
        )
    ]
    assert samples[0].url == f"https://github.com/ada/app/blob/{commit.sha}/app/main.py"
    assert (samples[0].created_time, samples[0].attribution) == (day("2021-05-01").replace(hour=12), "ada/app")


def user(hub: Hub, name: str = "ada/app", files: dict[str, str | bytes] | None = None, **more: object) -> Snapshot:
    """Add a repository that is found by its topic."""
    return hub.add(name, topics=("demo",), **more).commit("2021-05-01T12:00:00Z", PINNED | (files or {}))


def test_asking_again_asks_nothing_and_gives_the_same(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    for name in ("ada/app", "bob/app"):
        user(hub, name, {"other.py": f"import demo  # {name}\n"})
    first = collect(github(), releases)
    hub.requests.clear()
    assert collect(github(), releases) == first
    assert len(first[0]) == 4
    assert not hub.requests


def test_old_answers_are_requested_by_entity_tag_at_no_cost(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]
) -> None:
    user(hub)
    first = collect(github(ask={"fresh_hours": 0}), releases)
    hub.limits = {"core": 100, "search": 100, "code_search": 100}
    hub.statuses.clear()
    assert collect(github(ask={"fresh_hours": 0}), releases) == first
    assert set(hub.statuses) == {304}
    assert set(hub.limits.values()) == {100}
    assert sum(count for path, count in hub.requests.items() if path.startswith("/codeload")) == 1


def test_a_change_is_read(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    user(hub)
    collect(github(ask={"fresh_hours": 0}), releases)
    hub.repos["ada/app"].commit("2021-06-01T00:00:00Z", {"requirements.txt": "demo==1.0\n", "main.py": USE})
    samples, _ = collect(github(ask={"fresh_hours": 0}), releases)
    assert [(item.file, item.version) for item in samples] == [("main.py", "1.0")]


def test_the_token_is_neither_stored_nor_sent_elsewhere_nor_printed(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], tmp_path: Path
) -> None:
    user(hub)
    source = github()
    collect(source, releases)
    contents = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert contents
    assert not any(TOKEN.encode() in content for content in contents)
    assert hub.tokens == {None}
    assert TOKEN not in repr(source)


def test_commits_releases_and_tags_of_the_period_are_read(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]
) -> None:
    repo = hub.add("ada/app", topics=("demo",))
    for number, month in enumerate(("2020-12", "2021-03", "2021-09", "2022-02")):
        commit = repo.commit(f"{month}-01T00:00:00Z", {"requirements.txt": "demo", "a.py": f"{USE}# {month}\n"})
        repo.releases[f"v{number}"] = commit
    repo.releases["v9rc1"] = repo.commits[2]
    other = hub.add("bob/app", topics=("demo",))
    other.tags["old"] = other.commit("2021-03-01T00:00:00Z", {"requirements.txt": "demo==1.0", "a.py": USE})
    other.commit("2021-10-01T00:00:00Z", {"requirements.txt": "demo==1.1", "a.py": USE})
    samples, _ = collect(github(take={"tagged": 5}), releases)
    assert [(item.origin, f"{item.created_time:%Y-%m}", item.version) for item in samples] == [
        ("github:ada/app", "2021-03", "1.1"),
        ("github:ada/app", "2021-09", "1.1"),
        ("github:bob/app", "2021-03", "1.0"),
        ("github:bob/app", "2021-10", "1.1"),
    ]
    repo.pushed = "2022-02-01T00:00:00Z"
    later, _ = collect(github(take={"tagged": 0}), releases, Period(day("2022-01-01"), None))
    assert [(item.origin, f"{item.created_time:%Y-%m}", item.version) for item in later] == [
        ("github:ada/app", "2022-02", "2.0")
    ]


def test_repositories_are_searched_by_the_requirements_in_their_files(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]
) -> None:
    hub.add("ada/app").commit("2021-05-01T00:00:00Z", PINNED)
    hub.add("bob/unpopular", stars=3).commit("2021-05-01T00:00:00Z", PINNED)
    hub.add("cid/copyleft", licence="GPL-3.0").commit("2021-05-01T00:00:00Z", PINNED)
    hub.add("dan/fork", fork=True).commit("2021-05-01T00:00:00Z", PINNED)
    hub.add("eve/secret", private=True).commit("2021-05-01T00:00:00Z", PINNED)
    hub.add("fay/late", created="2022-02-01T00:00:00Z").commit("2022-02-01T00:00:00Z", PINNED)
    hub.add("gus/early", pushed="2020-02-01T00:00:00Z").commit("2020-02-01T00:00:00Z", PINNED)
    hub.add("hal/unclear", licence="NOASSERTION").commit("2021-05-01T00:00:00Z", PINNED)
    hub.add("ivy/huge", size=10**9).commit("2021-05-01T00:00:00Z", PINNED)
    samples, rejects = collect(github(), releases)
    assert {item.origin for item in samples} == {"github:ada/app"}
    assert {(reject.key, reject.reason) for reject in rejects} == {
        ("github:bob/unpopular", RejectReason.NOT_SELECTED),
        ("github:cid/copyleft", RejectReason.LICENCE),
        ("github:dan/fork", RejectReason.NOT_SELECTED),
        ("github:private repository", RejectReason.NOT_SELECTED),
        ("github:fay/late", RejectReason.NOT_SELECTED),
        ("github:gus/early", RejectReason.NOT_SELECTED),
        ("github:hal/unclear", RejectReason.LICENCE),
        ("github:ivy/huge", RejectReason.TOO_LARGE),
    }


def test_repositories_with_the_most_stars_are_selected(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]
) -> None:
    for stars in (20, 50, 30, 40):
        user(hub, f"ada/app{stars}", stars=stars)
    samples, rejects = collect(github(take={"max_repositories": 2}, search={"code_queries": ()}), releases)
    assert {item.origin for item in samples} == {"github:ada/app40", "github:ada/app50"}
    assert rejects == []
    samples, rejects = collect(github(take={"max_repositories": 2}), releases)
    assert {item.origin for item in samples} == {"github:ada/app40", "github:ada/app50"}
    assert {(reject.key, reject.reason) for reject in rejects} == {
        ("github:ada/app20", RejectReason.OVER_QUOTA),
        ("github:ada/app30", RejectReason.OVER_QUOTA),
    }


FILES: dict[str, tuple[str | bytes, RejectReason]] = {
    "tests/test_main.py": (USE, RejectReason.OUT_OF_SCOPE),
    "pkg/_vendor/x.py": (USE, RejectReason.OUT_OF_SCOPE),
    "pkg/made.py": ("# Code generated by a tool. DO NOT EDIT.\n" + USE, RejectReason.OUT_OF_SCOPE),
    "demo/own.py": (USE, RejectReason.OUT_OF_SCOPE),
    "pkg/long.py": (USE + "x = 1\n" * 60_000, RejectReason.TOO_LARGE),
    "pkg/odd.py": (USE.encode() + b"s = '\xff\xfe'\n", RejectReason.UNREADABLE),
    "pkg/strange.py": (b"# coding: klingon\n" + USE.encode(), RejectReason.UNREADABLE),
    "other/a.py": (USE, RejectReason.VERSION_NOT_COVERED),
}


def test_files_that_are_no_example_are_rejects_and_the_others_come(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]
) -> None:
    files: dict[str, str | bytes] = {path: text for path, (text, _) in FILES.items()} | {
        "other/requirements.txt": "demo==0.9\n",
        "requirements/dev.txt": "demo==1.1\n=== what is this\n",
        "latin.py": b"# -*- coding: latin-1 -*-\nimport demo\ns = '\xe9'\r\n",
        "no_use.py": "import demonstration  # demo\n",
    }
    commit = user(hub, files=files)
    samples, rejects = collect(github(), releases)
    assert [item.file for item in samples] == ["app/main.py", "latin.py"]
    assert samples[1].text.endswith("s = 'é'\n")
    place = f"github:ada/app@{commit.sha}#"
    assert {reject.key: reject.reason for reject in rejects} == {
        place + path: reason for path, (_, reason) in FILES.items()
    } | {place + "requirements/dev.txt:2": RejectReason.BAD_REQUIREMENT}


def test_without_a_requirement_the_version_is_unknown(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    commit = hub.add("ada/app", topics=("demo",)).commit("2021-05-01T00:00:00Z", {"a.py": USE, "b.py": "x = 1\n"})
    samples, rejects = collect(github(), releases)
    assert samples == []
    assert [(reject.key, reject.reason) for reject in rejects] == [
        (f"github:ada/app@{commit.sha}#a.py", RejectReason.VERSION_UNKNOWN)
    ]


def test_for_a_library_without_releases_nothing_is_requested(hub: Hub, github: MakeGitHub) -> None:
    user(hub)
    assert collect(github(), []) == ([], [])
    assert not hub.requests


def test_a_repository_without_use_is_a_reject(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    hub.add("ada/app", topics=("demo",)).commit("2021-05-01T00:00:00Z", {"a.py": "x = 1\n"})
    _, rejects = collect(github(), releases)
    assert [(reject.reason, reject.detail) for reject in rejects] == [
        (RejectReason.NO_USE, "none of its 1 Python files imports demo")
    ]


def test_nothing_in_the_period_is_a_reject(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    hub.add("ada/app", topics=("demo",)).commit("2020-05-01T00:00:00Z", PINNED)
    assert collect(github(), releases) == (
        [],
        [Reject("github:ada/app", RejectReason.NOT_SELECTED, "no commit in the covered period")],
    )


def test_the_end_of_the_period_is_not_in_it(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    repo = hub.add("ada/app", topics=("demo",))
    inside = repo.commit("2021-12-31T23:59:59Z", PINNED)
    repo.commit("2022-01-01T00:00:00Z", PINNED)
    samples, rejects = collect(github(), releases)
    assert [item.place for item in samples] == [f"ada/app@{inside.sha}"]
    assert rejects == []


def test_rows_do_not_depend_on_the_order_in_which_github_lists(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]
) -> None:
    for name in ("zoe/app", "Ada/app", "bob/app"):
        user(hub, name, {"b.py": USE, "a.py": USE})
    first = collect(github(ask={"fresh_hours": 0}), releases)
    hub.repos = dict(reversed(hub.repos.items()))
    for number, repo in enumerate(hub.repos.values()):
        repo.stars += number
    second = collect(github(ask={"fresh_hours": 0}), releases)
    assert first == second
    assert [item.origin for item in first[0]][::3] == ["github:Ada/app", "github:bob/app", "github:zoe/app"]
