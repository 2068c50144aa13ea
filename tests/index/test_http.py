"""Parts of files from a server that serves ranges, and from servers that get them wrong."""

from __future__ import annotations

import os
from dataclasses import replace
from multiprocessing import get_context

import pytest

from pipeline.index.http import BadAnswer, BrokenOff, Fetcher, FetchError, NoRanges, NotFound
from tests.errors import raises
from tests.index_server import Index, Reply, Twist

CONTENT = bytes(range(256)) * 4
PATH = "/files/demo.bin"


@pytest.fixture
def served(index: Index) -> Index:
    index.add("demo", "1.0", ("demo.bin", CONTENT), "2021-01-01T00:00:00Z")
    return index


def fetcher() -> Fetcher:
    return Fetcher(timeout_s=5, retries=2, backoff_s=0.01)


def headers(**changed: str) -> Twist:
    """Return a twist that sets headers."""
    named = {name.replace("_", "-"): value for name, value in changed.items()}
    return lambda reply: replace(reply, headers=reply.headers | named)


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (0, 1, (0, 1)),
        (10, 20, (10, 20)),
        (1000, 1024, (1000, 1024)),
        (1000, 5000, (1000, 1024)),
        (-24, None, (1000, 1024)),
        (-5000, None, (0, 1024)),
    ],
)
def test_a_part_is_what_a_slice_is(served: Index, start: int, stop: int | None, expected: tuple[int, int]) -> None:
    client = fetcher()
    span = client.get_span(served.url + PATH, start, stop)
    assert (span.start, span.content, span.total) == (expected[0], CONTENT[slice(*expected)], 1024)
    assert (client.requests, client.received_bytes) == (1, expected[1] - expected[0])


@pytest.mark.parametrize(
    ("twist", "error"),
    [
        (lambda reply: Reply(200, {}, CONTENT), NoRanges),
        (headers(Content_Encoding="br"), NoRanges),
        (headers(Content_Range="bytes 10-19/*"), NoRanges),
        (lambda reply: Reply(416, {"Content-Range": "bytes */5"}, b""), NoRanges),
        (headers(Content_Range="bytes 10-20/1024"), BadAnswer),
        (headers(Content_Range="bytes 11-20/1024"), BadAnswer),
        (headers(Content_Range="bytes 19-10/1024"), BadAnswer),
        (headers(Content_Range="items 10-19/1024"), BadAnswer),
        (headers(Content_Range=""), BadAnswer),
        (headers(Content_Type="multipart/byteranges; boundary=x", Content_Range=""), BadAnswer),
        (lambda reply: replace(reply, body=reply.body + b"more"), BadAnswer),
        (lambda reply: replace(reply, body=reply.body[1:]), BadAnswer),
        (lambda reply: Reply(403, {}, b""), BadAnswer),
        (lambda reply: Reply(404, {}, b""), NotFound),
    ],
)
def test_another_answer_than_asked_for_is_an_error_with_the_address(
    served: Index, twist: Twist, error: type[Exception]
) -> None:
    served.twists = {PATH: [twist]}
    with pytest.raises(error) as caught:
        fetcher().get_span(served.url + PATH, 10, 20)
    assert type(caught.value) is error
    assert served.url + PATH in str(caught.value)


@pytest.mark.parametrize(
    "reply", [Reply(404, {}, b""), Reply(403, {}, b""), Reply(503, {}, b""), Reply(200, {}, CONTENT)]
)
def test_no_message_tells_how_one_signs_in(served: Index, reply: Reply) -> None:
    served.twists = {PATH: [lambda _: reply] * 3}
    address = served.url.replace("://", "://name:secret@") + PATH
    with pytest.raises(FetchError) as caught:
        fetcher().get_span(address, 10, 20)
    assert served.url + PATH in str(caught.value)
    assert "secret" not in repr(caught.value)


def test_no_way_does_not_tell_how_one_signs_in() -> None:
    nobody = "http://name:secret@localhost:9"
    why = fetcher().no_way_to(nobody)
    assert why is not None
    assert "http://localhost:9" in why
    assert "secret" not in why


def test_a_range_behind_the_end_is_no_range(served: Index) -> None:
    with raises(NoRanges, "416", code="no_ranges"):
        fetcher().get_span(served.url + PATH, 2000, 2001)


def test_status_416_for_a_whole_document_is_a_bad_answer(served: Index) -> None:
    served.faults = {PATH: [416]}
    with raises(BadAnswer, "416", code="bad_answer"):
        fetcher().get(served.url + PATH)


@pytest.mark.parametrize(("etags", "tag"), [(True, '"another"'), (True, None), (False, None)])
def test_a_file_that_changed_is_no_range(served: Index, etags: bool, tag: str | None) -> None:
    served.etags = etags
    if tag:
        with raises(NoRanges, "200", code="no_ranges"):
            fetcher().get_span(served.url + PATH, 10, 20, etag=tag)
    else:
        span = fetcher().get_span(served.url + PATH, 10, 20)
        assert fetcher().get_span(served.url + PATH, 10, 20, etag=span.etag) == span
        assert (span.etag is not None) == etags


def test_a_weak_tag_is_not_sent(served: Index) -> None:
    assert fetcher().get_span(served.url + PATH, 10, 20, etag='W/"another"').content == CONTENT[10:20]


@pytest.mark.parametrize(("broken", "works"), [(1, True), (2, True), (3, False)])
def test_a_part_that_breaks_off_is_begun_again(served: Index, broken: int, works: bool) -> None:
    served.truncate = {PATH: [5] * broken}
    client = fetcher()
    if works:
        assert client.get_span(served.url + PATH, 10, 20).content == CONTENT[10:20]
        assert client.received_bytes == 5 * broken + 10
    else:
        with raises(BrokenOff, PATH.lstrip("/"), code="broken_off"):
            client.get_span(served.url + PATH, 10, 20)
    assert client.requests == min(broken, 2) + 1


def test_a_forked_process_has_connections_of_its_own(served: Index) -> None:
    client = fetcher()

    def reads_right(length: int) -> bool:
        spans = [client.get_span(served.url + PATH, start, start + length) for start in range(200)]
        return all(span.content == CONTENT[span.start : span.start + length] for span in spans)

    assert reads_right(10)
    workers = [get_context("fork").Process(target=lambda: os._exit(0 if reads_right(11) else 3)) for _ in range(2)]
    for worker in workers:
        worker.start()
    assert reads_right(12)
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]


def test_retries_count_as_requests(served: Index) -> None:
    served.faults = {PATH: [503, 429]}
    client = fetcher()
    client.get_span(served.url + PATH, 10, 20)
    assert client.requests == served.requests[PATH] == 3


def test_no_way_is_told_at_once(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(retry: object, response: object = None) -> None:
        raise AssertionError("waited to try again")

    monkeypatch.setattr("urllib3.util.retry.Retry.sleep", wait)
    fetcher = Fetcher(timeout_s=5)
    assert fetcher.no_way_to(f"{index.simple}/nonesuch/") is None, "a refusal is an answer"
    why = fetcher.no_way_to("http://127.0.0.1:1/api")
    assert why is not None
    assert why.startswith("no way to http://127.0.0.1:1/api: ")


def test_a_host_cannot_make_us_wait_for_hours(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("urllib3.util.retry.Retry._sleep_backoff", lambda self: None)
    monkeypatch.setattr("urllib3.util.retry.time.sleep", lambda seconds: waits.append(seconds))
    index.add("demo", "1.0", None, "")
    index.twists["/simple/demo/"] = [lambda reply: Reply(503, {"Retry-After": "86400"}, b"")]
    assert Fetcher(timeout_s=5).get(f"{index.simple}/demo/").ok
    assert max(waits) == 120
