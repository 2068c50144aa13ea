"""What a weekly refresh costs against the whole: libraries on loopback, some of which have one new release.

    python -m benchmarks.weekly --libraries 4 --releases 20 --new 1

The index is a server on loopback, so that every request is counted. Prints a line for the first refresh of all
releases, one for a week in which `--new` of the libraries have a release, and one for a week without any.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pipeline.orchestration.refresh import Refresh, counts_of, run_group
from pipeline.orchestration.stages.groups import GROUPS
from tests.index_server import Index, serve

START = datetime(2021, 1, 4, 3, tzinfo=UTC)
FUNCTION = '''

def make_{number}(text, times={times}):
    """Repeat a text with its number {number}, as often as somebody wants.

    >>> make_{number}("ab")
    '{expected}'
    """
    return f"{{text}}{number}" * times
'''


@dataclass(frozen=True, slots=True)
class Work:
    """What was done: stages that ran, releases fetched, environments built, programs run, requests to the index."""

    stages: int
    releases: int
    environments: int
    runs: int
    requests: int
    seconds: float


def source(release: int, functions: int) -> dict[str, str]:
    """Return a module of which each release changes the default of one function, and brings another."""
    texts = []
    for number in range(functions + release):
        times = 2 + (number < release and number % functions == (release - 1) % functions)
        texts.append(FUNCTION.format(number=number, times=times, expected=f"ab{number}" * times))
    return {"demo/__init__.py": '"""Demo."""\n' + "".join(texts)}


def publish(index: Index, library: str, release: int, functions: int) -> None:
    """Put a release on the index, a week after the one before."""
    uploaded = START + timedelta(days=7 * release + 1)
    files = {path.replace("demo", library): text for path, text in source(release, functions).items()}
    index.add_wheel(library, f"1.{release}", files, uploaded.isoformat(), requires_python=">=3.6")


@contextmanager
def counted(index: Index, data: Path, run: str) -> Iterator[list[Work]]:
    """Measure what happens inside, in a run of that name."""
    found: list[Work] = []
    before, requests, began = kept(data), sum(index.requests.values()), time.monotonic()
    files = {path for path, _ in index.asked}
    yield found
    after = kept(data)
    counts = counts_of(Refresh(run))
    found.append(
        Work(
            stages=sum(count.unchanged != count.units_in for count in counts),
            releases=len({path for path, _ in index.asked} - files),
            environments=after["environments"] - before["environments"],
            runs=after["runs"] - before["runs"],
            requests=sum(index.requests.values()) - requests,
            seconds=time.monotonic() - began,
        )
    )


def kept(data: Path) -> Mapping[str, int]:
    """Count what the caches hold."""
    database = data / "cache" / "runs.sqlite"
    runs = 0
    if database.is_file():
        with closing(sqlite3.connect(database)) as connection:
            [(runs,)] = connection.execute("SELECT count(*) FROM runs")
    return {"runs": runs, "environments": len(list((data / "cache" / "environments" / "records").glob("*.json")))}


def refresh(run: str, libraries: tuple[str, ...], since: datetime | None, until: datetime) -> None:
    """Refresh libraries over a period, without publishing."""
    asked = Refresh(run, "starter", libraries, since.isoformat() if since else None, until.isoformat())
    for library in libraries:
        for group in GROUPS:
            run_group(asked, group, library)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--libraries", type=int, default=4)
    parser.add_argument("--releases", type=int, default=20)
    parser.add_argument("--functions", type=int, default=10)
    parser.add_argument("--new", type=int, default=1)
    asked = parser.parse_args()
    names = tuple(f"demo{number}" for number in range(asked.libraries))
    end = START + timedelta(days=7 * asked.releases)
    sys.stdout.write("refresh              stages  releases  environments  runs  requests  seconds\n")
    with tempfile.TemporaryDirectory() as folder, serve(Index()) as index:
        data = Path(folder)
        os.environ.update(DRIFTLINE_DATA=folder, DRIFTLINE_INDEX_URL=index.simple)
        for name in names:
            for release in range(asked.releases):
                publish(index, name, release, asked.functions)
        after = end + timedelta(days=7)
        for label, new, since in (("all of it", 0, None), (f"{asked.new} new", asked.new, end), ("none new", 0, after)):
            for name in names[:new]:
                publish(index, name, asked.releases, asked.functions)
            until = since + timedelta(days=7) if since else end
            with counted(index, data, label) as found:
                refresh(label, names, since, until)
            [work] = found
            columns = work.stages, work.releases, work.environments, work.runs, work.requests
            sys.stdout.write(
                f"{label:<20} {'{:>6}  {:>8}  {:>12}  {:>4}  {:>8}'.format(*columns)}  {work.seconds:7.1f}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
