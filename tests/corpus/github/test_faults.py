"""What goes wrong with one search, repository or archive is a reject, and the others go on."""

from __future__ import annotations

import io
import tarfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.github.source import GitHub
from pipeline.index.http import BadAnswer, NotFound, Unreachable
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject
from tests.corpus.github.conftest import MakeGitHub
from tests.corpus.github.hub import Hub, Twist, json_reply, serve
from tests.corpus.github.test_source import IN_2021, PINNED, collect, user
from tests.errors import raises
from tests.index_server import Reply

HTML = Reply(200, {"Content-Type": "text/html"}, b"<html><h1>Unicorn!</h1></html>")
NO_CODE = {"code_queries": ()}


def cut(reply: Reply) -> Reply:
    return replace(reply, body=reply.body[: len(reply.body) // 2])


def broken_off(reply: Reply) -> Reply:
    """Announce all of a body, send half of it, and close."""
    headers = reply.headers | {"Content-Length": str(len(reply.body)), "Connection": "close"}
    return replace(reply, headers=headers, body=reply.body[: len(reply.body) // 2])


def always(reply: Reply) -> Twist:
    return lambda _: reply


def shaped(body: object) -> Twist:
    return always(json_reply(200, body))


def tar_of(*infos: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for info in infos:
            archive.addfile(info, io.BytesIO(b"\0" * info.size))
    return buffer.getvalue()


def member(name: str, size: int = 0, link: str | None = None) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    if link:
        info.type, info.linkname = tarfile.SYMTYPE, link
    return info


def both(hub: Hub) -> tuple[str, str]:
    """Add a repository that something will be wrong with, and one that is well; return the paths of the first."""
    commit = user(hub, "ada/app")
    user(hub, "bob/well")
    return "/repos/ada/app", f"/codeload/ada/app/legacy.tar.gz/{commit.sha}"


def only_bob(samples: list[CodeSample]) -> bool:
    return {item.origin for item in samples} == {"github:bob/well"}


API: list[tuple[Twist, RejectReason, str]] = [
    (always(HTML), RejectReason.BAD_ANSWER, "not JSON but text/html"),
    (cut, RejectReason.BAD_ANSWER, "not JSON but application/json"),
    (broken_off, RejectReason.SOURCE_UNREACHABLE, "broke off"),
    (shaped({}), RejectReason.BAD_ANSWER, "another shape"),
    (shaped([1, None, "x"]), RejectReason.BAD_ANSWER, "another shape"),
    (shaped("words"), RejectReason.BAD_ANSWER, "another shape"),
    (shaped([{"sha": "../../etc", "commit": {"committer": {"date": "2021-05-01T00:00:00Z"}}}]), RejectReason.BAD_ANSWER, "another shape"),
    (shaped([{"sha": "a" * 40, "commit": {"committer": {"date": "yesterday"}}}]), RejectReason.BAD_ANSWER, "another shape"),
    (shaped([{"sha": 5, "commit": None}]), RejectReason.BAD_ANSWER, "another shape"),
    (always(json_reply(404, {"message": "Not Found"})), RejectReason.VANISHED, "status 404: Not Found"),
    (always(json_reply(410, {"message": "Gone"})), RejectReason.VANISHED, "status 410"),
    (always(json_reply(451, {"message": "Repository access blocked", "block": {"reason": "dmca"}})), RejectReason.VANISHED, "status 451"),
    (always(json_reply(403, {"message": "Repository access blocked"})), RejectReason.VANISHED, "status 403"),
    (always(json_reply(403, {"message": "Resource not accessible by personal access token"})), RejectReason.BAD_ANSWER, "Resource not"),
    (always(replace(HTML, status=403)), RejectReason.BAD_ANSWER, "status 403"),
    (always(json_reply(422, {"message": "Validation Failed"})), RejectReason.BAD_ANSWER, "Validation Failed"),
    (always(json_reply(409, {"message": "Git Repository is empty."})), RejectReason.NO_USE, "empty"),
    (always(replace(HTML, status=502)), RejectReason.SOURCE_UNREACHABLE, "status 502"),
    (always(json_reply(202, {})), RejectReason.SOURCE_UNREACHABLE, "still making"),
    (always(json_reply(200, ["x" * 3000])), RejectReason.BAD_ANSWER, "longer than the limit of 2500 bytes"),
    (always(json_reply(301, {}, {"Location": "/repos/ada/app/commits"})), RejectReason.BAD_ANSWER, "moved more than"),
]  # fmt: skip


@pytest.mark.parametrize(("twist", "reason", "words"), API)
def test_a_bad_answer_about_a_repository(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], twist: Twist, reason: RejectReason, words: str
) -> None:
    path, _ = both(hub)
    hub.twists = {f"{path}/commits": twist}
    samples, rejects = collect(github(search=NO_CODE, ask={"max_answer_bytes": 2500}), releases)
    assert only_bob(samples)
    assert [(reject.key, reject.reason) for reject in rejects] == [("github:ada/app", reason)]
    assert words in rejects[0].detail


ARCHIVES: list[tuple[Twist, RejectReason, str]] = [
    (always(HTML), RejectReason.BAD_ARCHIVE, "ReadError"),
    (cut, RejectReason.BAD_ARCHIVE, "EOFError"),
    (broken_off, RejectReason.SOURCE_UNREACHABLE, "broke off"),
    (always(Reply(200, {}, b"")), RejectReason.BAD_ARCHIVE, "ReadError"),
    (always(Reply(404, {}, b"")), RejectReason.VANISHED, "status 404"),
    (always(Reply(403, {}, b"")), RejectReason.BAD_ANSWER, "status 403"),
    (always(Reply(500, {}, b"")), RejectReason.SOURCE_UNREACHABLE, "status 500"),
    (always(Reply(200, {}, tar_of(member("../up.py")))), RejectReason.UNSAFE_ARCHIVE, "climbs out"),
    (always(Reply(200, {}, tar_of(member("/etc/x.py")))), RejectReason.UNSAFE_ARCHIVE, "climbs out"),
    (always(Reply(200, {}, tar_of(member("a/x.py", link="../../y")))), RejectReason.UNSAFE_ARCHIVE, "leads out"),
    (always(Reply(200, {}, tar_of(member("a/x.py", size=20_000_000)))), RejectReason.UNSAFE_ARCHIVE, "unpacks to more"),
    (always(Reply(200, {"Content-Length": str(2 << 30)}, b"")), RejectReason.TOO_LARGE, "2147483648 bytes are announced"),
]  # fmt: skip


@pytest.mark.parametrize(("twist", "reason", "words"), ARCHIVES)
def test_a_bad_archive(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], twist: Twist, reason: RejectReason, words: str
) -> None:
    _, archive = both(hub)
    hub.twists = {archive: twist}
    samples, rejects = collect(github(search=NO_CODE), releases)
    assert only_bob(samples)
    assert [(reject.key, reject.reason) for reject in rejects] == [("github:ada/app", reason)]
    assert words in rejects[0].detail


def test_an_archive_of_two_gigabytes_that_nobody_announced(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]
) -> None:
    _, archive = both(hub)
    sent = hub.endless(archive, 2 << 30)
    samples, rejects = collect(github(search=NO_CODE, take={"max_archive_bytes": 1 << 20}), releases)
    assert only_bob(samples)
    assert [(reject.reason, reject.detail) for reject in rejects] == [
        (RejectReason.TOO_LARGE, "more than the 1048576 bytes that the rule allows")
    ]
    assert sum(sent) < 16 << 20


SEARCHES: list[tuple[Twist, RejectReason]] = [
    (always(HTML), RejectReason.BAD_ANSWER),
    (cut, RejectReason.BAD_ANSWER),
    (shaped({}), RejectReason.BAD_ANSWER),
    (shaped([]), RejectReason.BAD_ANSWER),
    (shaped({"total_count": "many", "items": []}), RejectReason.BAD_ANSWER),
    (shaped({"total_count": 1, "items": [{"full_name": "../../x"}]}), RejectReason.BAD_ANSWER),
    (shaped({"total_count": 1, "items": "x"}), RejectReason.BAD_ANSWER),
    (always(json_reply(422, {"message": "Validation Failed", "errors": [{"field": "q"}]})), RejectReason.BAD_ANSWER),
]


@pytest.mark.parametrize(("twist", "reason"), SEARCHES)
def test_a_search_that_fails_leaves_the_other_searches(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], twist: Twist, reason: RejectReason
) -> None:
    both(hub)
    hub.twists = {"/search/repositories": twist}
    samples, rejects = collect(github(), releases)
    assert {item.origin for item in samples} == {"github:ada/app", "github:bob/well"}
    # Two queries, two licences, two windows.
    assert Counter(reject.reason for reject in rejects) == {reason: 8}
    assert rejects[0].key == (
        "github:topic:demo language:Python license:mit stars:>=10 fork:false is:public"
        " created:2021-01-01T00:00:00Z..2021-12-31T23:59:59Z"
    )


def test_failures_are_not_cached(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    path, archive = both(hub)
    hub.twists = {f"{path}/commits": cut, archive: cut, "/search/code": always(HTML)}
    collect(github(), releases)
    hub.twists = {archive: cut}
    collect(github(), releases)
    hub.twists = {}
    samples, rejects = collect(github(), releases)
    assert {item.origin for item in samples} == {"github:ada/app", "github:bob/well"}
    assert rejects == []


def test_passing_failures_are_retried(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    path, _ = both(hub)
    hub.faults = {f"{path}/commits": [replace(HTML, status=502), replace(HTML, status=503)]}
    samples, rejects = collect(github(), releases)
    assert len(samples) == 2
    assert rejects == []


def test_a_renamed_repository_comes_under_its_new_name(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]
) -> None:
    hub.add("ada/new").commit("2021-05-01T00:00:00Z", PINNED)
    hub.renamed = {"ada/old": "ada/new"}
    hub.twists = {"/search/code": lambda reply: replace(reply, body=reply.body.replace(b"ada/new", b"ada/old"))}
    samples, rejects = collect(github(), releases)
    assert {item.origin for item in samples} == {"github:ada/new"}
    assert rejects == []


def test_a_move_to_another_host_is_not_followed(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    path, _ = both(hub)
    with serve(Hub()) as other:
        moved = json_reply(301, {}, {"Location": f"{other.url}/repos/ada/app/commits"})
        hub.twists = {f"{path}/commits": always(moved)}
        samples, rejects = collect(github(search=NO_CODE), releases)
        assert not other.requests
    assert only_bob(samples)
    assert [reject.reason for reject in rejects] == [RejectReason.BAD_ANSWER]
    assert "moved to another host" in rejects[0].detail


@pytest.mark.parametrize("path", ["/repos/ada/app/commits", "archive"])
def test_silence_about_a_repository(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], path: str) -> None:
    _, archive = both(hub)
    hub.delays = {archive if path == "archive" else path: 3}
    samples, rejects = collect(github(timeout_s=1, search=NO_CODE, ask={"retries": 0}), releases)
    assert only_bob(samples)
    assert [(reject.key, reject.reason) for reject in rejects] == [("github:ada/app", RejectReason.SOURCE_UNREACHABLE)]


@pytest.mark.parametrize("path", ["/repos/ada/app/commits", "archive"])
def test_an_answer_that_drips(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], path: str) -> None:
    _, archive = both(hub)
    hub.drip = {archive if path == "archive" else path: 0.05}
    source = github(search=NO_CODE, ask={"retries": 0, "max_answer_s": 0.3, "max_archive_s": 0.3})
    samples, rejects = collect(source, releases)
    assert only_bob(samples)
    assert [(reject.key, reject.reason) for reject in rejects] == [("github:ada/app", RejectReason.SOURCE_UNREACHABLE)]
    assert "not whole after" in rejects[0].detail


def test_silence_about_several_in_a_row_ends_it(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    names = [f"ada/app{number}" for number in range(6)]
    for name in names:
        user(hub, name)
    for name in names[2:]:
        hub.twists[f"/repos/{name}/commits"] = always(replace(HTML, status=503))
    source = github(search=NO_CODE, ask={"retries": 0})
    received: list[CodeSample | Reject] = []
    with raises(Unreachable, "app4", "503", code="unreachable"):
        received.extend(source.find("demo", releases, IN_2021))
    hub.twists = {}
    samples, _ = collect(source, releases)
    assert len(samples) == 6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda hub, make: make(token=None), "set GITHUB_TOKEN"),
        (lambda hub, make: make(token=""), "set GITHUB_TOKEN"),
        (lambda hub, make: make(token="wrong"), "status 401: Bad credentials. Is GITHUB_TOKEN still valid"),
        (lambda hub, make: replace(make(ask={"retries": 0}), url="http://127.0.0.1:9"), "DRIFTLINE_GITHUB_URL"),
        (lambda hub, make: replace(make(), url=f"{hub.url}/elsewhere"), "status 404"),
    ],
)
def test_an_unavailable_source_has_a_reason(
    hub: Hub, github: MakeGitHub, change: Callable[[Hub, MakeGitHub], GitHub], words: str
) -> None:
    assert words in (change(hub, github).unavailable() or "")


def test_a_reachable_source_is_available(hub: Hub, github: MakeGitHub) -> None:
    assert github().unavailable() is None
    hub.twists = {"/rate_limit": always(json_reply(401, {"message": "Bad credentials"}))}
    assert "Bad credentials" in (github().unavailable() or "")


def test_json_too_deep_to_read(hub: Hub, github: MakeGitHub, releases: list[ReleaseRow]) -> None:
    path, _ = both(hub)
    deep = Reply(200, {"Content-Type": "application/json"}, b"[" * 200_000 + b"]" * 200_000)
    hub.twists = {f"{path}/commits": always(deep)}
    samples, rejects = collect(github(search=NO_CODE), releases)
    assert only_bob(samples)
    assert [reject.reason for reject in rejects] == [RejectReason.BAD_ANSWER]


@pytest.mark.parametrize("error", [NotFound("no project"), BadAnswer("no JSON")])
def test_without_index_releases_nothing_is_requested(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], error: Exception
) -> None:
    def published(library: str) -> NoReturn:
        raise error

    both(hub)
    samples, rejects = collect(replace(github(), published=published), releases)
    assert (samples, [(reject.key, reject.reason) for reject in rejects]) == (
        [],
        [("demo", RejectReason.BAD_INDEX_ANSWER)],
    )
    assert not hub.requests
