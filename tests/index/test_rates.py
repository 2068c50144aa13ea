"""Hosts are asked no more often than the rules say, by all processes together."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.index.http import Fetcher
from pipeline.index.rates import FILE, Frequency, HostRule, RateRules, Rates
from tests import servers
from tests.errors import raises

TEN_A_SECOND = RateRules(default=(Frequency(requests=10, seconds=1),))


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("api.github.com", "api.github.com"),
        ("flask.readthedocs.io", ".readthedocs.io"),
        ("readthedocs.io.example.com", "readthedocs.io.example.com"),
        ("docs.example.org", "docs.example.org"),
    ],
)
def test_the_shipped_rules_count_hosts(host: str, name: str) -> None:
    rules = load(RULES / FILE, RateRules)
    counted, frequencies = rules.of(host)
    assert counted == name
    assert (frequencies == rules.default) == (not any(rule.host == name for rule in rules.hosts))


def test_a_rule_without_a_number_names_its_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("default:\n  - {requests: 0, seconds: 1}\n")
    with raises(RuleError, "rates.yaml:2", "default.0.requests", code="rule_invalid"):
        load(tmp_path / FILE, RateRules)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """The address of a Redis of our own."""
    with servers.redis(tmp_path) as address:
        yield address


def _ask(place: Path | str, times: int, told: multiprocessing.Queue[list[float]]) -> None:
    """Take turns at a host with two threads, as a worker does."""
    rates = Rates(TEN_A_SECOND, place)

    def turn(_: int) -> float:
        rates.wait("https://example.org/simple/")
        return time.time()

    with ThreadPoolExecutor(2) as pool:
        told.put(list(pool.map(turn, range(times))))


@pytest.mark.slow
@pytest.mark.parametrize("where", ["file", "redis"])
def test_processes_together_keep_the_rate(where: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    place = tmp_path / "rates.sqlite" if where == "file" else request.getfixturevalue("redis")
    context = multiprocessing.get_context("spawn")
    told: multiprocessing.Queue[list[float]] = context.Queue()
    workers = [context.Process(target=_ask, args=(place, 9, told)) for _ in range(3)]
    for worker in workers:
        worker.start()
    times = sorted(time for _ in workers for time in told.get(timeout=60))
    for worker in workers:
        worker.join(120)
    assert len(times) == 27
    # 27 turns begin in three windows; processes that count alone would need one
    assert times[-1] - times[0] > 1.7


def test_a_redis_that_does_not_answer_is_told_without_its_password() -> None:
    rates = Rates(TEN_A_SECOND, "redis://:a-password@127.0.0.1:1/0")
    with raises(ConnectionError, "127.0.0.1") as told:
        rates.wait("https://example.org/")
    assert "a-password" not in str(told.value)


def test_a_host_that_is_not_limited_is_not_counted(tmp_path: Path) -> None:
    rules = TEN_A_SECOND.model_copy(update={"unlimited": frozenset({"127.0.0.1"})})
    place = tmp_path / "rates.sqlite"
    for _ in range(50):
        Rates(rules, place).wait("http://127.0.0.1:8080/simple/")
    assert not place.exists()


class _Empty(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


def test_every_request_of_a_fetcher_waits_for_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = RateRules(
        default=(Frequency(requests=1000, seconds=1),),
        hosts=(HostRule(host="127.0.0.1", at_most=(Frequency(requests=4, seconds=1),)),),
    )
    (tmp_path / FILE).write_text(rules.model_dump_json())
    monkeypatch.setenv("DRIFTLINE_RULES", str(tmp_path))
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Empty)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        fetcher = Fetcher(timeout_s=5)
        began = time.monotonic()
        for _ in range(9):
            fetcher.get(f"http://127.0.0.1:{server.server_port}/")
        assert time.monotonic() - began > 1.9
    finally:
        server.shutdown()
        server.server_close()
