"""How often a host is asked by all processes: those of one machine count in a file, those of several in Redis."""

from __future__ import annotations

import functools
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field
from pyrate_limiter import AbstractBucket, Duration, Rate, RateItem, RedisBucket, SQLiteBucket

from pipeline.core.rules.load import Rule, load
from pipeline.core.settings import SettingsError, settings
from pipeline.lake.damage import heal_database
from pipeline.lake.ids import sha256_text

log = logging.getLogger(__name__)

FILE = "rates.yaml"
_MARGIN_MS = 5
_AHEAD_MS = 60_000
"""A request counted so much later than now was so by a clock that has been set back since; clocks of several machines
differ by less."""

_FORGOTTEN_AFTER = 100
"""So many turns of a process after which it drops the times that count no more."""


class Frequency(Rule):
    """At most so many requests in so many seconds."""

    requests: int = Field(gt=0)
    seconds: float = Field(gt=0)

    def rate(self) -> Rate:
        """Return it as the limiter has it."""
        return Rate(self.requests, max(1, round(self.seconds * int(Duration.SECOND))))


class HostRule(Rule):
    """How often a host may be asked; `host` is its name, or `.name` for all hosts below it, which count together."""

    host: str
    at_most: tuple[Frequency, ...] = Field(min_length=1)

    def covers(self, host: str) -> bool:
        """Tell whether a host is meant."""
        return host == self.host or (self.host.startswith(".") and host.endswith(self.host))


class RateRules(Rule):
    """How often each host may be asked: the first rule that covers it, else `default`; `unlimited` is never counted."""

    default: tuple[Frequency, ...] = Field(min_length=1)
    hosts: tuple[HostRule, ...] = ()
    unlimited: frozenset[str] = frozenset()

    def of(self, host: str) -> tuple[str, Sequence[Frequency]]:
        """Return under which name a host is counted, and how often it may be asked."""
        rule = next((rule for rule in self.hosts if rule.covers(host)), None)
        return (rule.host, rule.at_most) if rule else (host, self.default)


def rate_rules(folder: Path) -> RateRules:
    """Read the rules in a folder of rules.

    Errors: RuleError.
    """
    return load(folder / FILE, RateRules)


class Rates:
    """The turns of this process at every host; `place` is a file, or the address of a Redis (redis://…, rediss://…).

    Errors: SettingsError where the library for Redis is not installed.
    """

    def __init__(self, rules: RateRules, place: Path | str) -> None:
        self._rules = rules
        self._place = place
        self._troubles: tuple[type[Exception], ...] = (sqlite3.Error,)
        if isinstance(place, str):
            self._troubles += _troubles_of_redis()
        self._buckets: dict[str, AbstractBucket] = {}
        self._turns = 0
        self._lock = threading.Lock()
        if isinstance(place, Path):
            heal_database(place)

    def wait(self, url: str) -> None:
        """Wait until the host of an address may be asked once more, and count that it is.

        Errors: ConnectionError where requests cannot be counted.
        """
        host = (urlsplit(url).hostname or "").lower()
        if not host or host in self._rules.unlimited:
            return
        try:
            self._turn(*self._rules.of(host))
        except self._troubles as error:
            raise ConnectionError(
                f"requests cannot be counted in {_without_password(self._place)} ({error}): see that it answers and"
                " has space; DRIFTLINE_RATES names it, and without it a file in the cache is taken"
            ) from error

    def _turn(self, name: str, frequencies: Sequence[Frequency]) -> None:
        # Not the library's own waiting: it adds up what it meant to sleep, and falls behind on a busy machine.
        while wait_ms := self._try(name, frequencies):
            time.sleep((wait_ms + _MARGIN_MS) / 1000)

    def _try(self, name: str, frequencies: Sequence[Frequency]) -> int:
        """Count a request if it may be sent now; return after how many milliseconds to try again, 0 if it may."""
        with self._lock:
            bucket = self._buckets.get(name) or self._buckets.setdefault(name, self._bucket(name, frequencies))
            self._turns += 1
            item = RateItem(name, round(time.time() * 1000))
            if self._turns % _FORGOTTEN_AFTER == 0:
                bucket.leak(item.timestamp)
            if bucket.put(item):
                return 0
            newest = bucket.peek(0)
            if isinstance(newest, RateItem) and newest.timestamp > item.timestamp + _AHEAD_MS:
                seconds = round((newest.timestamp - item.timestamp) / 1000)
                log.warning("the clock was set back by %d s: requests to %s are counted from now on", seconds, name)
                bucket.flush()
                return _MARGIN_MS
            wait_ms = bucket.waiting(item)
            return max(1, wait_ms) if isinstance(wait_ms, int) else _MARGIN_MS

    def _bucket(self, name: str, frequencies: Sequence[Frequency]) -> AbstractBucket:
        rates = sorted((frequency.rate() for frequency in frequencies), key=lambda rate: rate.interval)
        key = f"host_{sha256_text(name)[:16]}"
        if isinstance(self._place, str):
            return _in_redis(self._place, rates, f"driftline:rates:{name}")
        self._place.parent.mkdir(parents=True, exist_ok=True)
        return SQLiteBucket.init_from_file(rates, table=key, db_path=str(self._place), use_file_lock=True)


def _troubles_of_redis() -> tuple[type[Exception], ...]:
    try:
        from redis.exceptions import RedisError
    except ImportError:
        raise SettingsError(
            "DRIFTLINE_RATES names a Redis, and the library for it is not installed: pip install 'driftline[cluster]'",
            code="redis_not_installed",
        ) from None
    return (RedisError,)


def _in_redis(address: str, rates: list[Rate], key: str) -> AbstractBucket:
    from redis import Redis

    bucket = RedisBucket.init(rates, Redis.from_url(address), key)
    assert isinstance(bucket, RedisBucket)
    return bucket


def _without_password(place: Path | str) -> str:
    """Return where requests are counted, without a password."""
    return str(place) if isinstance(place, Path) else f"the Redis at {urlsplit(place).hostname}"


def wait_for_turn(url: str) -> None:
    """Wait until a host may be asked, under the rules and in the place that the settings name."""
    current = settings()
    _rates(os.getpid(), current.rules, current.rates or current.cache / "rates.sqlite").wait(url)


@functools.cache
def _rates(process: int, rules: Path, place: Path | str) -> Rates:
    """Return the turns of a process: a connection that two processes share would mix their answers."""
    return Rates(rate_rules(rules), place)
