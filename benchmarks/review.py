"""How fast the review queue answers with many samples and many annotators at once, and what it takes of memory.

    python benchmarks/review.py                          100,000 samples, 20 annotators, a minute
    python benchmarks/review.py --samples 5000 --seconds 10

A process of its own fills a review database and serves the page; this one is the annotators. Each opens the queue under
some filter, takes the next sample, looks at it for a while, decides, and so on. Reported are the times until the whole
answer is there: of a first page, and of the next sample, which is two requests (the sample is taken, its page is read).
They begin within some seconds of each other; what it takes when all ask for a first page at the same moment is told
beside.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import random
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil
from fastapi import HTTPException, Request
from rich.console import Console

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.lake.ids import content_id
from pipeline.quality.annotation.entries import Flag, Validation
from pipeline.quality.annotation.filling import Flagged, fill
from pipeline.quality.annotation.queue import choices
from pipeline.quality.annotation.store import open_store
from pipeline.quality.annotation.view import Change, Choice, Document, Pane, RunLog, View
from pipeline.quality.annotation.web.access import Annotator, PageKeys
from pipeline.quality.annotation.web.app import create_app
from pipeline.quality.annotation.web.single_user import listen, serve
from pipeline.quality.annotation_rules import AnnotationRules

LIBRARIES = 50
LINES = 40
"""Lines of code of a sample, each side of a migration."""


@dataclass
class Timed:
    """Seconds of each request, by what it was for."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, what: str, seconds: float) -> None:
        """Keep one."""
        with self.lock:
            self.seconds.setdefault(what, []).append(seconds)


def samples(library: int, count: int) -> Iterator[Flagged]:
    """Yield the samples of a library, no two with the same code, over families, flags and sources."""
    kinds, sources = list(FlagKind), list(SnippetSource)
    for number in range(library, count, LIBRARIES):
        draw = random.Random(number)  # noqa: S311 - no secret
        family = Family.MIGRATION if draw.random() < 0.5 else Family.COMPLETION
        view = _view(number, family)
        yield Flagged(
            id=content_id("sample", number),
            family=family,
            library=f"library-{library}",
            version="1.5.3",
            title=view.title,
            source=draw.choice(sources),
            flags=tuple(Flag(kind, f"evidence {number}") for kind in draw.sample(kinds, 2)),
            content=content_id("content", number),
            view=view,
        )


def _view(number: int, family: Family) -> View:
    old = "".join(f"value_{number}_{n} = frame.append(other_{n}, ignore_index=True)  # {n}\n" for n in range(LINES))
    new = old.replace("frame.append(", "pd.concat([frame, ").replace(", ignore", "], ignore")
    start = old.index("append")
    panes = [
        Pane("description", "Description", f"Put the rows of table {number} below each other.", "text", editable=True),
        Pane("source_code", "Code", old, "python", "1.5.3", ((start, start + 6),), editable=True),
    ]
    if family == Family.MIGRATION:
        panes.append(Pane("target_code", "Code", new, "python", "2.0.0", editable=True))
    return View(
        title=f"library_{number % LIBRARIES}.module.function_{number % 997}",
        panes=tuple(panes),
        choices=(Choice("version", "Version", "1.5.3", ("1.5.2", "1.5.3")),),
        compare=("source_code", "target_code") if family == Family.MIGRATION else None,
        change=Change("removed", "a.b", None, "append", None, "1.5.3", "2.0.0", True, "executed", 1.0, "concat"),
        documents=tuple(Document(version, "a.b", f"Documentation of {number}.\n" * 20, None) for version in ("1", "2")),
        runs=(RunLog("reference", "1.5.3", "passed", "3.11", None),),
    )


class NoRuns:
    """Nothing is edited here."""

    def check(self, sample_id: str, after: dict[str, str]) -> Validation:
        """Refuse: the samples are made up, and have no release to run in."""
        raise HTTPException(409, f"{sample_id} is made up for the benchmark: there is nothing to run")


def by_cookie(request: Request) -> Annotator:
    """Take the annotator whom a cookie names."""
    if not (name := request.cookies.get("annotator")):
        raise HTTPException(401)
    return Annotator(name, decides=True)


def site(folder: str, count: int, told: Any) -> None:
    """Fill a review database and serve its page; `told` gets the seconds of filling, and then the port."""
    store = open_store(f"sqlite:///{folder}/reviews.sqlite", load(RULES / "annotation.yaml", AnnotationRules))
    begun = time.perf_counter()
    for library in range(LIBRARIES):
        if f"library-{library}" not in choices(store).libraries:
            fill(store, f"library-{library}", samples(library, count))
    told.put(time.perf_counter() - begun)
    listening = listen(0)
    told.put(listening.getsockname()[1])
    serve(create_app(store, NoRuns(), by_cookie, PageKeys(b"benchmark")), listening)


class Browser:
    """What one annotator does: ask, and wait for the whole answer."""

    def __init__(self, port: int, number: int, timed: Timed) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._headers = {"cookie": f"annotator=annotator-{number}", "origin": f"http://127.0.0.1:{port}"}
        self._timed = timed
        self.draw = random.Random(number)  # noqa: S311 - no secret
        self._headers["x-driftline-token"] = self._token(self.get("/"))

    def get(self, path: str) -> str:
        """Read a page."""
        return self._ask("GET", path, None)

    def post(self, path: str, **body: object) -> Any:
        """Send a change."""
        return json.loads(self._ask("POST", path, json.dumps(body)))

    def session(self, ends: float, look_s: float) -> None:
        """Decide until it is time to end, looking at each sample for about `look_s` seconds."""
        time.sleep(self.draw.uniform(0, 5 * look_s))
        while time.monotonic() < ends:
            wanted = self._filters()
            with self._timing("first page"):
                self.get(f"/?{urlencode(wanted)}")
            after = 0
            for _ in range(10):
                with self._timing("next sample"):
                    sample_id = self.post("/next", filters=wanted, after=after)["id"]
                    page = self.get(f"/samples/{sample_id}?{urlencode(wanted)}") if sample_id else ""
                if not sample_id or time.monotonic() > ends:
                    break
                after = int(re.findall(r'data-seq="(\d+)"', page)[0])
                time.sleep(self.draw.uniform(0.5, 1.5) * look_s)
                with self._timing("decision"):
                    self.post(f"/samples/{sample_id}/decisions", **self._decision())

    def _filters(self) -> dict[str, str]:
        choices = [
            {},
            {"flag": str(self.draw.choice(list(FlagKind)))},
            {"library": f"library-{self.draw.randrange(LIBRARIES)}"},
            {"family": str(Family.MIGRATION), "source": str(self.draw.choice(list(SnippetSource)))},
        ]
        return self.draw.choice(choices)

    def _decision(self) -> dict[str, str]:
        if self.draw.random() < 0.7:
            return {"kind": "accept"}
        return {"kind": "reject", "objection": "bad_code"}

    @contextmanager
    def _timing(self, what: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self._timed.add(what, time.perf_counter() - begun)

    def _ask(self, method: str, path: str, body: str | None) -> str:
        headers = self._headers | ({"content-type": "application/json"} if body else {})
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        text = answer.read().decode()
        if answer.status != http.client.OK:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:200]}")
        return text

    def _token(self, page: str) -> str:
        return str(re.findall(r'driftline-token" content="([^"]*)', page)[0])


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--look", type=float, default=1.0, help="seconds that an annotator looks at a sample, on average"
    )
    parser.add_argument("--folder", type=Path, help="keep the review database there, and fill it only once")
    asked = parser.parse_args()
    console = Console(soft_wrap=True, highlight=False)
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        told = context.Queue()
        arguments = (str(asked.folder or folder), asked.samples, told)
        server = context.Process(target=site, args=arguments, daemon=True)
        server.start()
        console.print(f"{asked.samples} samples came into the queue in {told.get():.0f} s")
        try:
            console.print(*measure(told.get(), psutil.Process(server.pid), asked), sep="\n")
        finally:
            server.terminate()
            server.join()


def measure(port: int, server: psutil.Process, asked: argparse.Namespace) -> Iterator[str]:
    """Let the annotators work, and yield lines of what they waited for."""
    timed, idle = Timed(), psutil.cpu_times().idle
    browsers = [Browser(port, number, timed) for number in range(asked.annotators)]
    with ThreadPoolExecutor(asked.annotators) as pool:
        last = _at_once(browsers, pool)
        yield f"all {len(browsers)} at the same moment: the last has its first page after {last:.0f} ms"
        before, ends = server.cpu_times(), time.monotonic() + asked.seconds
        sessions = [pool.submit(browser.session, ends, asked.look) for browser in browsers]
        memory = [server.memory_info().rss]
        while time.monotonic() < ends:
            time.sleep(asked.seconds / 12)
            memory.append(server.memory_info().rss)
        for session in sessions:
            session.result()
    for what, seconds in sorted(timed.seconds.items()):
        middle, slow = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
        yield f"{what:12} {len(seconds):6} times  median {middle * 1000:6.1f} ms  95th percentile {slow * 1000:6.1f} ms"
    yield f"MiB of the server, from beginning to end: {' '.join(str(round(size / 2**20)) for size in memory)}"
    after = server.cpu_times()
    used = (after.user + after.system - before.user - before.system) / asked.seconds
    yield f"cores that the server used: {used:.2f}; cores idle: {(psutil.cpu_times().idle - idle) / asked.seconds:.2f}"


def _at_once(browsers: Sequence[Browser], pool: ThreadPoolExecutor) -> float:
    """Return the milliseconds until everybody has a first page who asked for it at the same moment."""
    begun = time.perf_counter()
    for _ in pool.map(lambda browser: browser.get("/"), browsers):
        pass
    return (time.perf_counter() - begun) * 1000


if __name__ == "__main__":
    main()
