"""`driftline validate`: samples of users in pinned environments, in their own release or over a range of releases."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import groupby, islice
from pathlib import Path
from typing import Annotated, Any

import typer
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from rich.text import Text

from pipeline.cli.export import Format, as_samples
from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, notify, out, print_json, print_table, progress
from pipeline.core.rules.load import load
from pipeline.core.settings import index_url, settings
from pipeline.core.vocabularies.running import Outcome, Process
from pipeline.evaluation.export.format import ExportError
from pipeline.evaluation.export.formats import FORMATS
from pipeline.evaluation.export.in_projects import validate_in_projects
from pipeline.evaluation.export.records import detect
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.samples.engine import Engine
from pipeline.execution.validation.samples.planning import Catalogue
from pipeline.execution.validation.samples.validate import (
    NothingToValidate,
    Range,
    Summary,
    ValidationRequest,
    validate_file,
)
from pipeline.execution.validation.samples.verdict_file import NoVerdicts, Verdict, read_verdicts
from pipeline.execution.validation.samples.versions import Bisection, spans
from pipeline.families.repository_tasks.project_context import ProjectContext
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.index.http import Fetcher

DETAIL_CHARS = 240
"""Characters of a detail in the table."""

LISTED = 20
"""Failed samples that the command prints; the file has all."""

_ONLY_PROGRAMS = (
    "{} runs in projects, whose rules are in repository.yaml: leave out --only, --versions, --coverage, --repeats,"
    " --process, --timeout, --apart and --beside"
)

# Outcomes without a verdict; in a matrix all others are results.
_UNJUDGED = frozenset({Outcome.NO_ENVIRONMENT, Outcome.BAD_SAMPLE, Outcome.HARNESS_ERROR})


def validate(
    samples: Annotated[
        Path, typer.Argument(help="JSON lines, one sample each; - is standard input.", show_default=False)
    ],
    verdicts: Annotated[Path, typer.Option("--out", help="File of the verdicts, JSON lines.", show_default=False)],
    only: Annotated[list[str] | None, typer.Option(help="Only this id; may be given again.", metavar="ID")] = None,
    again: Annotated[bool, typer.Option("--again", help="Run samples again that did not pass before.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Forget the verdicts of earlier runs.")] = False,
    versions: Annotated[
        str | None, typer.Option(help="Run in every final release of this range.", metavar="RANGE")
    ] = None,
    prereleases: Annotated[bool, typer.Option("--prereleases", help="In pre-releases of the range too.")] = False,
    bisect: Annotated[
        bool, typer.Option("--bisect", help="Only find the release of the range where it breaks.")
    ] = False,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Report the lines of the code that its tests run.")
    ] = False,
    repeats: Annotated[
        int | None, typer.Option(min=1, max=100, help="Runs of each sample, to find flaky ones.")
    ] = None,
    process: Annotated[Process | None, typer.Option(help="A new process for each run, or a fork server.")] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.1, max=3600, help="Seconds of a run, unless a sample sets it.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=256, help="Environments and runs at a time.")] = None,
    apart: Annotated[
        bool | None,
        typer.Option(
            "--apart/--beside",
            help="Refuse tests that cannot be isolated from the code; or run all in its process (trusted code only).",
            show_default=False,
        ),
    ] = None,
    export_format: Format = None,
    answers: Annotated[
        Path | None, typer.Option(help="Answers to the records of a file of GitChameleon or EvoCodeBench.")
    ] = None,
    json: Json = False,
) -> None:
    """Run samples in pinned environments, each with the dependencies of its release's day, in the sandbox.

    Files of the benchmarks are read too: answers of a model in them, else the references.

    A killed run resumes when the same command is repeated. Ends with status 0 if every sample passed (with --versions:
    if every run has a verdict), 1 if not, 2 for bad usage.

    Example: driftline validate samples.jsonl --out verdicts.jsonl
    """
    span = _range(versions, prereleases, bisect)
    if answers and not answers.is_file():
        fail(f"--answers {answers}: no such file", BAD_USAGE)
    if again and restart:
        fail("--again keeps what passed and --restart keeps nothing; give one of them", BAD_USAGE)
    engine = replace(_engine(repeats, process, timeout, workers, coverage), apart=apart)
    catalogue = Catalogue(engine.store.facts.project)
    try:
        with _file(samples, verdicts) as file, progress("samples") as report:
            detected = export_format or detect(file)
            if detected and FORMATS[detected].in_projects:
                if span or only or coverage or repeats or process or timeout or apart is not None:
                    fail(_ONLY_PROGRAMS.format(detected), BAD_USAGE)
                tools = _project_context(engine)
                summary = validate_in_projects(
                    file, detected, verdicts, tools, report, answers, again=again, restart=restart
                )
            else:
                with as_samples(file, detected, answers) as path:
                    request = ValidationRequest(path, verdicts, frozenset(only or ()), again, restart, span)
                    summary = validate_file(request, engine, catalogue, report)
    except (NothingToValidate, NoVerdicts, ExportError) as error:
        fail(error, BAD_USAGE)
    if json:
        print_json(as_json(summary))
    else:
        _print(summary, verdicts, span)
    failing = _UNJUDGED if span else set(Outcome) - {Outcome.PASSED}
    if any(summary.outcomes.get(outcome) for outcome in failing):
        raise typer.Exit(PROBLEM)


def _project_context(engine: Engine) -> ProjectContext:
    """Return the context that runs tests of projects on this machine."""
    current = settings()
    rules = load(current.rules / "repository.yaml", RepositoryRules)
    fetcher = Fetcher(timeout_s=current.timeout_s)
    sources = ProjectSources(current.cache / "projects", fetcher, index_url(), rules)
    return ProjectContext(sources, engine.store, engine.sandbox, rules, engine.workers)


def _range(versions: str | None, prereleases: bool, bisect: bool) -> Range | None:
    if versions is None:
        if bisect or prereleases:
            fail("--bisect and --prereleases need a range: add --versions, such as --versions '>=1.3,<2.3'", BAD_USAGE)
        return None
    try:
        return Range(SpecifierSet(versions), prereleases, bisect)
    except InvalidSpecifier:
        fail(f"--versions {versions!r} is no range by PEP 440; write it like '>=1.3,<2.3'", BAD_USAGE)


def _engine(
    repeats: int | None, process: Process | None, timeout: float | None, workers: int | None, cover: bool
) -> Engine:
    """Return the engine that runs samples; rules and settings are the defaults of options."""
    current = settings()
    requested = {"repeats": repeats, "process": process, "sample_time_s": timeout}
    rules = load(current.rules / "validation.yaml", ValidationRules)
    changed = {name: value for name, value in requested.items() if value is not None}
    rules = ValidationRules.model_validate(rules.model_dump() | changed)
    at_once = workers or current.workers
    sandbox = find_sandbox()
    store = EnvironmentStore(
        current.cache / "environments",
        index_url=index_url(),
        rules=environment_rules(),
        workers=at_once,
        sandbox=sandbox,
    )
    return Engine(store, sandbox, rules, at_once, cover)


@contextmanager
def _file(samples: Path, verdicts: Path) -> Iterator[Path]:
    """Yield a file of samples that can be read repeatedly: a copy where it is a pipe."""
    if str(samples) != "-":
        if not samples.exists():
            fail(f"{samples}: no such file", BAD_USAGE)
        if samples.is_dir() or verdicts.is_dir():
            fail(f"{samples if samples.is_dir() else verdicts} is a folder; name a file", BAD_USAGE)
        if verdicts.exists() and samples.samefile(verdicts):
            fail(f"--out {verdicts} is the file of the samples; name another one", BAD_USAGE)
    if samples.is_file():
        yield samples
        return
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as copy:
        if str(samples) == "-":
            shutil.copyfileobj(sys.stdin.buffer, copy)
        else:
            with samples.open("rb") as pipe:
                shutil.copyfileobj(pipe, copy)
        copy.flush()
        yield Path(copy.name)


def as_json(summary: Summary) -> dict[str, Any]:
    """Return the summary as JSON; the verdicts themselves are in the file."""
    return {
        "samples": sum(summary.outcomes.values()),
        "outcomes": dict(sorted(summary.outcomes.items())),
        "kept": summary.reused,
        "environments": summary.environments,
        "seconds": summary.seconds,
        "unknown_fields": dict(summary.unknown),
        "bisections": [{"line": line, **asdict(bisection)} for line, bisection in summary.bisections.items()],
    }


def _print(summary: Summary, verdicts: Path, span: Range | None) -> None:
    if span:
        for line in matrix_lines(read_verdicts(verdicts), summary.bisections):
            out.print(line)
    else:
        _print_failures(verdicts)
    total = sum(summary.outcomes.values())
    counts = [
        (outcome, summary.outcomes[outcome], outcome.meaning) for outcome in Outcome if outcome in summary.outcomes
    ]
    print_table(_counted(total, "run" if span else "sample"), ("outcome", "number", "meaning"), counts)
    environments = _counted(summary.environments, "environment")
    finished = f"{total - summary.reused} now, in {environments} and {summary.seconds:.0f} s"
    earlier = f"; {summary.reused} kept from before (--again, --restart run them again)" if summary.reused else ""
    notify(f"{finished}{earlier}. The verdicts: {verdicts}")
    for name, count in sorted(summary.unknown.items()):
        notify(f"{name!r} is no field of a sample and was ignored, in {count} of them")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _print_failures(verdicts: Path) -> None:
    failed = (verdict for verdict in read_verdicts(verdicts) if verdict.outcome is not Outcome.PASSED)
    listed = list(islice(failed, LISTED))
    more = sum(1 for _ in failed)
    if listed:
        title = f"{len(listed) + more} did not pass" + (f", the first {LISTED}" if more else "")
        print_table(
            title, ("id", "outcome", "detail"), [(result.id, result.outcome, _summary_of(result)) for result in listed]
        )
        out.print()


def _summary_of(verdict: Verdict) -> str:
    """Return the first and the last line of a detail."""
    lines = [line for line in (verdict.detail or "").splitlines() if line.strip()]
    text = " … ".join(dict.fromkeys((lines[0], lines[-1]))) if lines else ""
    return text if len(text) <= DETAIL_CHARS else f"{text[: DETAIL_CHARS - 1]}…"


_STYLES = {Outcome.PASSED: "green", Outcome.NO_ENVIRONMENT: "dim", Outcome.BAD_SAMPLE: "dim"}


def matrix_lines(verdicts: Iterable[Verdict], bisections: Mapping[int, Bisection]) -> Iterator[Text]:
    """Yield lines on the verdicts of samples over releases, ordered by sample and release."""
    for line, group in groupby(verdicts, key=lambda verdict: verdict.line):
        of_sample = list(group)
        first = of_sample[0]
        yield Text.assemble((str(first.id), "bold"), f"  {first.library or ''}")
        if first.version is None:
            yield Text(f"  {first.outcome}: {first.detail}")
        elif line in bisections:
            yield Text(f"  {describe_bisection(bisections[line])}")
        yield from _spans(of_sample)


def describe_bisection(bisection: Bisection) -> str:
    """Describe the result of a bisection."""
    if bisection.last is None or bisection.first is None:
        judged = [outcome for outcome in bisection.outcomes.values() if outcome is not Outcome.NO_ENVIRONMENT]
        return f"no change seen in the {len(judged)} releases run" if judged else "could not be run in any release"
    change = "starts to work in" if bisection.starts else "breaks in"
    between = f"; between them could not be judged: {', '.join(bisection.unknown)}" if bisection.unknown else ""
    twice = "" if bisection.monotone else "; it goes back and forth, so this is one place of several"
    return f"{change} {bisection.first}, after {bisection.last}{between}{twice}"


def _spans(verdicts: list[Verdict]) -> Iterator[Text]:
    outcomes = {verdict.version: verdict.outcome for verdict in verdicts if verdict.version}
    for span in spans(outcomes):
        releases = span.first if span.count == 1 else f"{span.first} to {span.last} ({span.count})"
        yield Text(f"  {releases:<32} {span.outcome}", _STYLES.get(span.outcome, "red"))
    yield Text()
