"""The same code over the releases of its library: the matrix of where it works, and the release where that changes."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pipeline.environments import EnvironmentRules
from pipeline.terms import Outcome
from pipeline.validation.pins import loosened
from pipeline.validation.planning import Catalogue, Job, Release, job_of
from pipeline.validation.samples import Sample
from pipeline.validation.validate import Engine, run_jobs
from pipeline.validation.verdict_file import Verdict

# These say nothing about whether the code works in a release.
_UNKNOWN = frozenset({Outcome.NO_ENVIRONMENT, Outcome.HARNESS_ERROR, Outcome.FLAKY, Outcome.BAD_SAMPLE})

Outcomes = Mapping[str, Outcome]
Asking = Generator[tuple[str, ...], Outcomes, "Bisection"]


@dataclass(frozen=True, slots=True)
class Bisection:
    """Where a sample breaks, or starts to work, within some releases.

    `last` and `first` are the neighbours, both run, between which that happens: `last` passes and `first` does not, or
    the other way round if `starts`; both None: it came out alike wherever it was run. `unknown` are releases between
    the two that could not be judged. Not `monotone`: what was run passes, fails and passes again, or the other way
    round, so that there is more than one such place.
    """

    last: str | None
    first: str | None
    starts: bool
    monotone: bool
    unknown: tuple[str, ...]
    outcomes: Outcomes


def in_release(sample: Sample, release: Release) -> Sample:
    """Return a sample as it is run in another release: on its own Python where the release allows that.

    Elsewhere the rules choose the Python. What is pinned exactly beside the library belongs to the sample's own
    release; in others only the names hold, and are resolved as of the day of the release.
    """
    if Version(release.version) == Version(sample.version):
        return sample
    fits = sample.python is None or _allows(release.requires_python, sample.python)
    changed = {"version": release.version, "extra_dependencies": loosened(sample.extra_dependencies)}
    return sample.model_copy(update=changed | ({} if fits else {"python": None}))


def _allows(requires_python: str | None, python: str) -> bool:
    """Whether a release runs on some patch of a Python X.Y; one that does not say so runs on any."""
    allowed = specifiers(requires_python)
    return allowed is None or any(allowed.contains(f"{python}.{patch}") for patch in (0, 99))


def matrix(sample: Sample, versions: Sequence[str], engine: Engine, catalogue: Catalogue) -> list[Verdict]:
    """Run a sample in each of some releases of its library and return the verdicts in the order of the versions.

    Errors: SampleError for a version that does not exist; those of the index.
    """
    samples = [in_release(sample, catalogue.find(sample.library, version)) for version in versions]
    jobs = [
        job_of(line, one, catalogue.find(one.library, one.version), engine.settings)
        for line, one in enumerate(samples)
    ]
    found: dict[int, Verdict] = {}
    run_jobs(engine, jobs, samples, lambda verdict: found.update({verdict.line or 0: verdict}))
    return [found[job.line] for job in jobs]


def bisect(sample: Sample, versions: Sequence[str], engine: Engine, catalogue: Catalogue) -> Bisection:
    """Find where among some releases a sample breaks or starts to work, without running it in all of them.

    Errors: as `matrix`.
    """
    asking = bisection(versions)
    asked = next(asking)
    while True:
        verdicts = matrix(sample, asked, engine, catalogue)
        try:
            asked = asking.send({version: verdict.outcome for version, verdict in zip(asked, verdicts, strict=True)})
        except StopIteration as end:
            found: Bisection = end.value
            return found


def bisection(versions: Sequence[str]) -> Asking:
    """Yield versions to run, be sent their outcomes, and return the bisection.

    Both ends are run first. Where they differ, halving finds two neighbours that differ; where they do not, three
    points between are looked at. Then the releases on either side of the neighbours are run too: a pattern that goes
    back and forth there is told.
    """
    known: dict[str, Outcome] = {}
    low, high = yield from _ends(versions, known)
    if low is not None and high is not None and _passes(known, versions[low]) == _passes(known, versions[high]):
        yield from _ask([versions[low + (high - low) * part // 4] for part in (1, 2, 3)], known)
        low, high = _change(versions, known) or (low, high)
    if low is None or high is None or _passes(known, versions[low]) == _passes(known, versions[high]):
        return Bisection(None, None, False, True, _unjudged(versions, known), known)
    ...
