"""Run tests of a project in the sandbox, on its own tree or with some of its files replaced, and judge answers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

from pipeline.core.rules.fingerprint import plain
from pipeline.execution.validation import harness
from pipeline.execution.validation.run_cache import remembered, run_key, sources_sha256
from pipeline.families.repository_tasks.answers import Answer, judge_by
from pipeline.families.repository_tasks.project import Project, Variant, specification
from pipeline.families.repository_tasks.variant_runs import TestRun, run_share
from pipeline.lake.ids import sha256_json

_INSIDE = Path(__file__).with_name("inside")


def judge_answers(project: Project, answers: Sequence[Answer], workers: int = 1) -> list[TestRun]:
    """Run the tests of answers, `workers` at a time, as `judge_by` says; results in the order of the answers."""
    texts = {answer.path: project.tree.text(answer.path) or "" for answer in answers}
    return judge_by(lambda variants: run_variants(project, variants, workers), texts, answers)


def run_variants(project: Project, variants: Sequence[Variant], workers: int = 1, repeat: int = 0) -> list[TestRun]:
    """Run the tests of many variants of a project, `workers` at a time; results in the order of the variants.

    Each has a tree and a process of its own, forked from one that has imported pytest where the sandbox has a user for
    the cases; after one that breaks that process the next has another sandbox. Only what the program under test
    itself cannot write is believed (see `validation.inside.guard`). What the project's memory has of the same
    variant is not run.
    """

    def run(places: list[int]) -> list[TestRun]:
        return _run_variants(project, [variants[place] for place in places], workers, repeat)

    if project.memory is None:
        return run(list(range(len(variants))))
    basis = _basis(project, repeat)
    keys = [
        sha256_json([basis, specification(project, variant, repeat) | {"site_packages": None}]) for variant in variants
    ]
    runs = remembered(project.memory, keys, TestRun, run)
    return [replace(done, id=variant.id) for done, variant in zip(runs, variants, strict=True)]


def _basis(project: Project, repeat: int) -> str:
    """Return the hash of all that decides how tests come out beside what is asked of a variant."""
    where = run_key(project.environment), project.sandbox.kind, sha256(project.tree.archive).hexdigest()
    return sha256_json(["project", _programs(), *where, repeat, plain(project.rules)])


@cache
def _programs() -> list[str]:
    return [sources_sha256(_INSIDE), sources_sha256(Path(harness.__file__).parent / "inside")]


def _run_variants(project: Project, variants: Sequence[Variant], workers: int, repeat: int) -> list[TestRun]:
    shares = [variants[start::workers] for start in range(max(1, min(workers, len(variants))))]
    with ThreadPoolExecutor(len(shares)) as pool:
        done = {
            run.id: run for share in pool.map(lambda share: run_share(project, share, repeat), shares) for run in share
        }
    return [done[variant.id] for variant in variants]
