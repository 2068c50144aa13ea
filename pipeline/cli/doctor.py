"""`driftline doctor`: what works on this machine, and what to do about what does not."""

from __future__ import annotations

from dataclasses import asdict

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import PROBLEM, print_json, print_table, progress
from pipeline.core.credentials import cut_message
from pipeline.core.rules.load import RuleError
from pipeline.core.rules.profiles import load_profile, profile_names
from pipeline.core.settings import index_url, settings
from pipeline.execution.environments.diagnosis import Finding, diagnose
from pipeline.index.http import BadAnswer, Fetcher, NotFound, Unreachable
from pipeline.index.index import project
from pipeline.quality.all_rules import CurationRules


def doctor(json: Json = False) -> None:
    """Look at interpreters, sandbox, package index, rules and disk.

    Example: driftline doctor
    """
    with progress("looking at interpreters and sandbox") as tell:
        findings = [*diagnose()]
        tell("asking the package index", 0, 0)
        findings.append(_index())
        tell("reading the rules", 0, 0)
        findings.append(_rules())
    if json:
        print_json([asdict(finding) for finding in findings])
    else:
        print_table(
            "This machine",
            ["what", "works", "seen", "what to do"],
            [[f.name, "yes" if f.works else "NO", f.observed, f.advice] for f in findings],
        )
    raise typer.Exit(0 if all(finding.works for finding in findings) else PROBLEM)


def _index() -> Finding:
    """Ask the index for pip, which every index has that can install anything."""
    advice = "check the network, pip's configuration, or DRIFTLINE_INDEX_URL"
    try:
        url = index_url()
        found = project(Fetcher(timeout_s=settings().timeout_s, retries=0), url, "pip")
    except (Unreachable, NotFound, BadAnswer, RuntimeError) as error:
        return Finding("package index", False, str(error), advice)
    timed = any(file.uploaded for files in found.releases.values() for file in files)
    seen = f"{cut_message(url)}, with{'' if timed else 'out'} upload times"
    return Finding("package index", timed, seen, "" if timed else "releases cannot be placed in time: " + advice)


def _rules() -> Finding:
    try:
        CurationRules.read().try_out()
        profiles = [load_profile(name).name for name in profile_names()]
    except RuleError as error:
        return Finding("curation rules", False, str(error), "correct the file and line named")
    return Finding("curation rules", True, f"profiles: {', '.join(profiles)}")
