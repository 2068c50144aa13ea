"""How `driftline validate --versions` tells where samples work: for each the spans of releases that come out alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from rich.text import Text

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.validation.samples.verdict_file import Verdict
from pipeline.execution.validation.samples.versions import Bisection, spans

_STYLES = {Outcome.PASSED: "green", Outcome.NO_ENVIRONMENT: "dim", Outcome.BAD_SAMPLE: "dim"}


def matrix_lines(verdicts: Iterable[Verdict], bisections: Mapping[int, Bisection]) -> Iterator[Text]:
    """Write the verdicts of samples over releases, which stand in the order of samples and releases."""
    for line, group in groupby(verdicts, key=lambda verdict: verdict.line):
        of_sample = list(group)
        first = of_sample[0]
        yield Text.assemble((str(first.id), "bold"), f"  {first.library or ''}")
        if first.version is None:
            yield Text(f"  {first.outcome}: {first.detail}")
        elif line in bisections:
            yield Text(f"  {told(bisections[line])}")
        yield from _spans(of_sample)


def told(found: Bisection) -> str:
    """Say in words what a bisection found."""
    if found.last is None or found.first is None:
        judged = [outcome for outcome in found.outcomes.values() if outcome is not Outcome.NO_ENVIRONMENT]
        return f"no change seen in the {len(judged)} releases run" if judged else "could not be run in any release"
    what = "starts to work in" if found.starts else "breaks in"
    between = f"; between them could not be judged: {', '.join(found.unknown)}" if found.unknown else ""
    twice = "" if found.monotone else "; it goes back and forth, so this is one place of several"
    return f"{what} {found.first}, after {found.last}{between}{twice}"


def _spans(verdicts: list[Verdict]) -> Iterator[Text]:
    outcomes = {verdict.version: verdict.outcome for verdict in verdicts if verdict.version}
    for span in spans(outcomes):
        releases = span.first if span.count == 1 else f"{span.first} to {span.last} ({span.count})"
        yield Text(f"  {releases:<32} {span.outcome}", _STYLES.get(span.outcome, "red"))
    yield Text()
