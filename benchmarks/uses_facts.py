"""The facts of tests/corpus/usages/truth, and how answers are held against them: ours, and those of others."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from benchmarks.published import sdist, symbols_of
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.find import scan
from pipeline.corpus.usages.rules import UsageRules
from pipeline.corpus.usages.uses import Use
from pipeline.lake.rows import SymbolState

TRUTH = Path(__file__).parent.parent / "tests" / "corpus" / "usages" / "truth"


@dataclass(frozen=True, slots=True)
class Facts:
    """What running a file told of its uses of a library; positions are the bytes after a name.

    `certain`: names that beyond doubt lead to a public path, `of_object` those of them that are attributes of a class
    or object. `paths`: what each name leads to that leads to the library at all. `ran`: all names that were read.
    """

    project: str
    file: str
    library: str
    version: str
    source: str
    certain: frozenset[int]
    of_object: frozenset[int]
    paths: Mapping[int, frozenset[str]]
    ran: frozenset[int]


@dataclass(frozen=True, slots=True)
class Claim:
    """An answer: from `start` a chain leads to a name that ends at `end`, which is any of these paths."""

    start: int
    end: int
    paths: frozenset[str]


def held_out(project: str) -> bool:
    """Tell whether a project is of the half that nobody looks at while the finder is made."""
    return hashlib.sha256(project.encode()).digest()[0] % 2 == 1


def all_facts() -> Iterator[Facts]:
    """Yield the facts by file and library; the sources come from the index.

    Errors: ValueError where the index has other bytes than those that were run.
    """
    for path in sorted(TRUTH.glob("*.json")):
        told = json.loads(path.read_text())
        source = sdist(told["project"], told["version"])
        if source is None or source.sha256 != told["sha256"]:
            raise ValueError(f"{path.name}: the index does not have the sdist that was run, {told['sha256']}")
        for name, about in told["files"].items():
            ran = frozenset(accumulate(int(step) for step in about["ran"].split()))
            for library, uses in about["uses"].items():
                yield Facts(
                    told["project"],
                    name,
                    library,
                    told["libraries"][library],
                    source.files[name].decode(),
                    frozenset(int(mark.lstrip(".")) for mark in uses if not mark.startswith("?")),
                    frozenset(int(mark[1:]) for mark in uses if mark.startswith(".")),
                    {int(mark.lstrip(".?")): frozenset(paths) for mark, paths in uses.items()},
                    ran,
                )


def judge(facts: Facts, claims: Iterable[Claim]) -> Counter[str]:
    """Count claims about names that ran (`claimed`), and those that are `right`; certain uses, and those `found`.

    A link inside a chain that is claimed as a whole counts neither way. `missed_of_object`: of those not found, the
    attributes of classes and objects.
    """
    by_end = {claim.end: claim for claim in claims}
    inside = {end for claim in by_end.values() for end in facts.certain if claim.start < end < claim.end}
    told = {end: claim for end, claim in by_end.items() if end in facts.ran}
    right = {end for end, claim in told.items() if claim.paths & facts.paths.get(end, frozenset())}
    asked = facts.certain - (inside - by_end.keys())
    missed = asked - right
    return Counter(
        claimed=len(told),
        right=len(right),
        certain=len(asked),
        found=len(asked & right),
        missed_of_object=len(missed & facts.of_object),
    )


def api_of(library: str, version: str, rules: UsageRules) -> Api:
    """Return the API of a release, as the stage makes it."""
    symbols, roots = symbols_of(library, version)
    return Api(symbols, roots, rules.returns_of(library))


def claims_of(uses: Iterable[Use], symbols: Mapping[str, SymbolState]) -> list[Claim]:
    """Return our uses as claims."""
    return [
        Claim(use.start_byte, use.name_end_byte, frozenset({use.path, symbols[use.path]["canonical_path"]}))
        for use in uses
    ]


def judged(facts: Facts, rules: UsageRules) -> Counter[str]:
    """Hold what we find in a file against the facts."""
    api = api_of(facts.library, facts.version, rules)
    return judge(facts, claims_of(scan(facts.source, api).uses, api.symbols))


def share(counts: Mapping[str, int], part: str, whole: str) -> float:
    """Return a share, 0 of nothing."""
    return counts[part] / counts[whole] if counts[whole] else 0.0
