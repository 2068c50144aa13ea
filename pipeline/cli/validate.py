"""`driftline validate`: anybody's samples in pinned environments, in their own release or over a range of them."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from pipeline.cli.imports import Format, as_samples
from pipeline.cli.matrix import matrix_lines
from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, out, print_json, print_table, progress, say
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
from pipeline.families.repository_tasks.project_context import Workshop
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.index.http import Fetcher

TOLD = 240
"""Characters of a detail that it tells."""

SHOWN = 20
"""Samples that did not pass of which the command tells itself; the file tells of all."""

_ONLY_PROGRAMS = (
    "{} runs in projects, whose rules are in repository.yaml: leave out --only, --versions, --coverage, --repeats,"
    " --process, --timeout, --apart and --beside"
)

# What says that something was not judged; in a matrix anything else is an answer.
_UNJUDGED = frozenset({Outcome.NO_ENVIRONMENT, Outcome.BAD_SAMPLE, Outcome.HARNESS_ERROR})


def validate(
    samples: Annotated[
        Path, typer.Argument(help="JSON lines, one sample each; - is standard input.", show_default=False)
    ],
    verdicts: Annotated[Path, typer.Option("--out", help="File of the verdicts, JSON lines.", show_default=False)],
    only: Annotated[list[str] | None, typer.Option(help="Only this id; may be given again.", metavar="ID")] = None,
    again: Annotated[bool, typer.Option("--again", help="Run again what did not pass in an earlier run.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Forget the verdicts of earlier runs.")] = False,
    versions: Annotated[
        str | None, typer.Option(help="Run in every final release of this range.", metavar="RANGE")
    ] = None,
    prereleases: Annotated[bool, typer.Option("--prereleases", help="In pre-releases of the range too.")] = False,
    bisect: Annotated[
        bool, typer.Option("--bisect", help="Only find the release of the range where it breaks.")
    ] = False,
    coverage: Annotated[bool, typer.Option("--coverage", help="Tell which lines of the code its tests run.")] = False,
    repeats: Annotated[
        int | None, typer.Option(min=1, max=100, help="Runs of each sample, to find flaky ones.")
    ] = None,
    process: Annotated[Process | None, typer.Option(help="A new process for each run, or a fork server.")] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.1, max=3600, help="Seconds of a run, unless a sample says.")
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
    wanted: Format = None,
    answers: Annotated[
        Path | None, typer.Option(help="Answers to the records of a file of GitChameleon or EvoCodeBench.")
    ] = None,
    json: Json = False,
) -> None:
    """Run samples in pinned environments, each with the dependencies of its release's day, in the sandbox.

    Files of the benchmarks are read too: what a model answered in them, else the references.

    A killed run goes on where it was when the same command is given again. Ends with status 0 if every sample passed
    (with --versions: if every run could be judged), 1 if not, 2 for bad usage.

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
        with _file(samples, verdicts) as given, progress("samples") as tell:
            found = wanted or detect(given)
            if found and FORMATS[found].in_projects:
                if span or only or coverage or repeats or process or timeout or apart is not None:
                    fail(_ONLY_PROGRAMS.format(found), BAD_USAGE)
                tools = _workshop(engine)
                summary = validate_in_projects(
                    given, found, verdicts, tools, tell, answers, again=again, restart=restart
                )
            else:
                with as_samples(given, found, answers) as path:
                    asked = ValidationRequest(path, verdicts, frozenset(only or ()), again, restart, span)
                    summary = validate_file(asked, engine, catalogue, tell)
    except (NothingToValidate, NoVerdicts, ExportError) as error:
        fail(str(error), BAD_USAGE)
    if json:
        print_json(as_json(summary))
    else:
        _print(summary, verdicts, span)
    failing = _UNJUDGED if span else set(Outcome) - {Outcome.PASSED}
    if any(summary.outcomes.get(outcome) for outcome in failing):
        raise typer.Exit(PROBLEM)


def _workshop(engine: Engine) -> Workshop:
    """Return what runs the tests of projects on this machine."""
    current = settings()
    rules = load(current.rules / "repository.yaml", RepositoryRules)
    fetcher = Fetcher(timeout_s=current.timeout_s)
    sources = ProjectSources(current.cache / "projects", fetcher, index_url(), rules)
    return Workshop(sources, engine.store, engine.sandbox, rules, engine.workers)


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
    """Return what runs the samples; what is not said is as the rules and settings have it."""
    current = settings()
    asked = {"repeats": repeats, "process": process, "sample_time_s": timeout}
    rules = load(current.rules / "validation.yaml", ValidationRules)
    changed = {name: value for name, value in asked.items() if value is not None}
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
    """Return a file of samples that can be read more than once, which a pipe cannot."""
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
    """Return what came out for a program to read; the verdicts themselves are in the file."""
    return {
        "samples": sum(summary.outcomes.values()),
        "outcomes": dict(sorted(summary.outcomes.items())),
        "kept": summary.reused,
        "environments": summary.environments,
        "seconds": summary.seconds,
        "unknown_fields": dict(summary.unknown),
        "bisections": [{"line": line, **asdict(found)} for line, found in summary.bisections.items()],
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
    made = f"{total - summary.reused} now, in {environments} and {summary.seconds:.0f} s"
    kept = f"; {summary.reused} kept from before (--again, --restart run them again)" if summary.reused else ""
    say(f"{made}{kept}. The verdicts: {verdicts}")
    for name, count in sorted(summary.unknown.items()):
        say(f"{name!r} is no field of a sample and was left aside, in {count} of them")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _print_failures(verdicts: Path) -> None:
    failed = (verdict for verdict in read_verdicts(verdicts) if verdict.outcome is not Outcome.PASSED)
    shown = list(islice(failed, SHOWN))
    more = sum(1 for _ in failed)
    if shown:
        title = f"{len(shown) + more} did not pass" + (f", the first {SHOWN}" if more else "")
        print_table(title, ("id", "outcome", "detail"), [(one.id, one.outcome, _telling(one)) for one in shown])
        out.print()


def _telling(verdict: Verdict) -> str:
    """Return the lines of a detail that tell most: the first, and the last of a log."""
    lines = [line for line in (verdict.detail or "").splitlines() if line.strip()]
    told = " … ".join(dict.fromkeys((lines[0], lines[-1]))) if lines else ""
    return told if len(told) <= TOLD else f"{told[: TOLD - 1]}…"
