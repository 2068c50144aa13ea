"""Uses and snippets per second on one core, beside jedi at the same names, and both held against the facts, in one run.

    python -m benchmarks.uses --json uses.json

The corpus are the Python files of the newest source distributions that uses.toml names; in each file the uses of every
library there are looked for. A snippet is what `pipeline.corpus.snippets` would cut out of a file, with what it needs;
of every fifth file the uses in them are looked for, and cutting itself is not counted. jedi is asked about all names
that were run (`Script.goto` through imports, then `infer` where that gives nothing) in files drawn from
tests/corpus/usages/truth: first about the uses, which nobody would know, then about the others. It gets the library's
files, of which we have the surface. Seconds are those of this process alone."""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sysconfig
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jedi  # type: ignore[import-untyped]
from packaging.version import Version
from rich.console import Console
from rich.table import Table

from benchmarks.published import fetcher, sdist
from benchmarks.uses_facts import Claim, Facts, all_facts, api_of, claims_of, held_out, judge, share
from pipeline.core.rules.load import RULES, load
from pipeline.core.settings import index_url
from pipeline.corpus.snippets.pieces import parse_file, pieces_of_file
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.find import scan
from pipeline.corpus.usages.rules import UsageRules
from pipeline.index.index import project
from pipeline.lake.collector import without_collector

FILES_ASKED = 40
MOST_NAMES = 600
# An attribute that a method assigns is for jedi a name inside the method.
_DEFINED_IN = re.compile(r"\.(?:__init__|__new__)(?=\.)")


@dataclass(slots=True)
class Measured:
    """What one way came to: seconds, and what was looked at and found meanwhile."""

    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)

    def rate(self, what: str) -> float:
        """Return how many of something there were a second."""
        return self.counts[what] / self.seconds if self.seconds else 0.0


def newest(library: str) -> str:
    """Return the newest final release of a library that has files."""
    releases = project(fetcher(), index_url(), library).releases
    finals = [version for version, files in releases.items() if files and not Version(version).is_prerelease]
    return max(finals, key=Version)


def corpus(projects: Iterable[str]) -> Iterator[str]:
    """Yield the text of the Python files of source distributions, tests and all."""
    for name in projects:
        source = sdist(name)
        for _, content in sorted(source.files.items()) if source else ():
            try:
                yield content.decode("utf-8")
            except UnicodeDecodeError:
                continue


def measure_files(texts: list[str], apis: list[Api]) -> Measured:
    """Find the uses of each library in each file that may use it."""
    measured = Measured()
    for text in texts:
        data = text.encode()
        started = time.process_time()
        scans = [scan(text, api) for api in apis]
        measured.seconds += time.process_time() - started
        measured.counts["files"] += 1
        measured.counts["files with uses"] += any(found.uses for found in scans)
        measured.counts["uses"] += sum(len(found.uses) for found in scans)
        measured.counts["unresolved"] += sum(len(found.unresolved) for found in scans)
        measured.counts["bytes"] += len(data)
    return measured


def measure_snippets(texts: list[str], apis: list[Api], rules: SnippetRules) -> Measured:
    """Find the uses of a library in the snippets that are cut out of files; cutting is not counted."""
    measured = Measured()
    for text in texts:
        for api in apis:
            if not any(f"import {root}" in text or f"from {root}" in text for root in api.roots):
                continue
            try:
                pieces = list(pieces_of_file(text, parse_file(text), api.roots, rules.samples))
            except SyntaxError:
                continue
            started = time.process_time()
            for piece in pieces:
                measured.counts["uses"] += len(scan(piece.preamble + piece.code, api).uses)
            measured.seconds += time.process_time() - started
            measured.counts["snippets"] += len(pieces)
    return measured


def drawn(facts: list[Facts]) -> list[Facts]:
    """Return the files that jedi is asked about: drawn, and none of so many names that it would take minutes."""
    small = [fact for fact in facts if len(fact.ran) <= MOST_NAMES]
    return random.Random(0).sample(small, min(FILES_ASKED, len(small)))  # noqa: S311 - drawn, not secret


def installed(facts: Iterable[Facts], folder: Path) -> dict[tuple[str, str], Path]:
    """Install the releases that the facts are about, each in a folder of its own, for jedi to read."""
    uv = str(Path(sysconfig.get_path("scripts"), "uv"))
    places = {}
    for library, version in sorted({(fact.library, fact.version) for fact in facts}):
        place = places[library, version] = folder / f"{library}-{version}"
        wanted = [f"{library}=={version}", "--only-binary", ":all:", "--python-version", "3.11"]
        subprocess.run([uv, "pip", "install", "-q", "--target", place, *wanted], check=True)
    return places


class Answers:
    """What jedi says about names of a file; it is given the library's own files."""

    def __init__(self, facts: Facts, place: Path, api: Api) -> None:
        self.api = api
        self.data = facts.source.encode()
        project = jedi.Project(place, added_sys_path=[str(place)], smart_sys_path=False)
        self.script = jedi.Script(facts.source, project=project)

    def about(self, ends: Iterable[int]) -> list[Claim]:
        """Return those of the names that end there that lead to the library, and where."""
        return [Claim(end, end, paths) for end in ends if (paths := self._paths(end))]

    def _paths(self, end: int) -> frozenset[str]:
        line = self.data.count(b"\n", 0, end) + 1
        column = len(self.data[self.data.rfind(b"\n", 0, end) + 1 : end].decode()) - 1
        try:
            names = self.script.goto(line, column, follow_imports=True) or self.script.infer(line, column)
            found = {_DEFINED_IN.sub("", name.full_name) for name in names if name.full_name}
        except Exception:  # noqa: BLE001 - whatever jedi stumbles over is no answer
            return frozenset()
        paths = {path for path in found if path.partition(".")[0] in self.api.roots and not self.api.is_module(path)}
        return frozenset(
            paths | {self.api.symbols[path]["canonical_path"] for path in paths if path in self.api.symbols}
        )


@dataclass(slots=True)
class Compared:
    """The same files, by jedi and by us; `told`: seconds of jedi for the uses alone, told where they are."""

    jedi: Measured = field(default_factory=Measured)
    ours: Measured = field(default_factory=Measured)
    told: float = 0.0


def compare(facts: list[Facts], places: dict[tuple[str, str], Path], rules: UsageRules) -> Compared:
    """Ask jedi about the uses in each file, and then about all its other names, as who looks for uses would have to."""
    found = Compared()
    for fact in facts:
        api = api_of(fact.library, fact.version, rules)
        answers = Answers(fact, places[fact.library, fact.version], api)
        started = time.process_time()
        claims = answers.about(sorted(fact.certain))
        told = time.process_time()
        claims += answers.about(sorted(fact.ran - fact.certain))
        asked = time.process_time()
        uses = scan(fact.source, api).uses
        found.ours.seconds += time.process_time() - asked
        found.jedi.seconds += asked - started
        found.told += told - started
        found.jedi.counts += judge(fact, claims) + Counter(names=len(fact.ran), uses=len(fact.certain))
        found.ours.counts += judge(fact, claims_of(uses, api.symbols))
    return found


def accuracy(facts: list[Facts], rules: UsageRules) -> dict[str, Counter[str]]:
    """Hold all that we find against all facts, by half."""
    counts: dict[str, Counter[str]] = {"looked at": Counter(), "held out": Counter()}
    for fact in facts:
        api = api_of(fact.library, fact.version, rules)
        half = "held out" if held_out(fact.project) else "looked at"
        counts[half] += judge(fact, claims_of(scan(fact.source, api).uses, api.symbols))
    return counts


def report(found: dict[str, Any]) -> Table:
    """Lay out what was found."""
    table = Table("what", "value", title="Uses of libraries in real files, one core")
    for what, value in found.items():
        table.add_row(what, f"{value:,.4g}" if isinstance(value, float) else f"{value:,}")
    return table


def main() -> None:
    """Measure, print a table, and write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--projects", type=int, default=None, help="take only so many projects")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rules = load(RULES / "usage.yaml", UsageRules)
    lists = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
    texts = list(corpus(lists["projects"][: arguments.projects]))
    apis = [api_of(library, newest(library), rules) for library in lists["libraries"]]
    facts = list(all_facts())
    asked = drawn(facts)
    with TemporaryDirectory() as folder, without_collector():
        found = compared(compare(asked, installed(asked, Path(folder)), rules))
    snippet_rules = load(RULES / "snippets.yaml", SnippetRules)
    with without_collector():
        found |= summary(measure_files(texts, apis), measure_snippets(texts[::5], apis, snippet_rules))
    for half, counts in accuracy(facts, rules).items():
        found |= {
            f"{half}: uses certain": counts["certain"],
            f"{half}: precision": share(counts, "right", "claimed"),
            f"{half}: recall": share(counts, "found", "certain"),
        }
    Console().print(report(found))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


def summary(files: Measured, snippets: Measured) -> dict[str, Any]:
    """Return the rates of the corpus."""
    return {
        "files": files.counts["files"],
        "files with uses": files.counts["files with uses"],
        "files a second": files.rate("files"),
        "uses": files.counts["uses"],
        "unresolved chains": files.counts["unresolved"],
        "MB a second": files.rate("bytes") / 1e6,
        "uses a second": files.rate("uses"),
        "snippets": snippets.counts["snippets"],
        "snippets a second": snippets.rate("snippets"),
        "uses in snippets a second": snippets.rate("uses"),
    }


def compared(found: Compared) -> dict[str, Any]:
    """Return what jedi and we came to in the same files."""
    theirs, mine = found.jedi, found.ours
    jedi_each = theirs.seconds * 1e3 / max(1, theirs.counts["right"])
    our_each = mine.seconds * 1e3 / max(1, mine.counts["right"])
    told_each = found.told * 1e3 / max(1, theirs.counts["uses"])
    return {
        "names that jedi was asked about": theirs.counts["names"],
        "ms a use found, jedi": jedi_each,
        "ms a use found, ours": our_each,
        "times faster": jedi_each / our_each,
        "ms a use, jedi told where they are": told_each,
        "times faster than jedi told where they are": told_each / our_each,
        "precision in these files, jedi": share(theirs.counts, "right", "claimed"),
        "precision in these files, ours": share(mine.counts, "right", "claimed"),
        "recall in these files, jedi": share(theirs.counts, "found", "certain"),
        "recall in these files, ours": share(mine.counts, "found", "certain"),
    }


if __name__ == "__main__":
    main()
