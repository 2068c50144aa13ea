"""The plan for the profile follows from what was measured, from the facts about its libraries and from the rules."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.plan import MEASURED, PAGE, stages_of_costs, stages_of_runs
from benchmarks.plan_held import refresh_of
from benchmarks.plan_page import page, size_of_profile
from pipeline.lake.runner import Count, write_json


def test_the_page_is_what_the_measurements_give() -> None:
    made = page(json.loads(MEASURED.read_text()))
    assert PAGE.read_text() == made, "run: python -m benchmarks.plan write"


def test_what_was_never_asked_about_counts_as_the_mean_of_the_others() -> None:
    size = size_of_profile()
    assert size.libraries == 300
    assert size.known <= 300
    assert size.releases == round(size.releases_known * 300 / size.known)


def test_of_runs_the_libraries_count_that_came_to_an_end(tmp_path: Path) -> None:
    for library, stages in [("whole", ("crawl", "validation", "scenes_acceptance")), ("cut", ("crawl", "validation"))]:
        for stage in stages:
            count = Count(stage, library, units_in=5, units_out=4, rejected={"yanked": 1}, unchanged=0, seconds=2.0)
            write_json(tmp_path / "counts" / f"{library}.{stage}.json", asdict(count))
    assert stages_of_runs([tmp_path, tmp_path])["validation"] == {
        "units": 10,
        "seconds": 4.0,
        "libraries": 2,
        "releases": 8,
    }


def test_of_a_stage_that_was_repeated_the_first_line_counts(tmp_path: Path) -> None:
    cost = {"library": "a", "units_in": 3, "units_out": 2, "seconds": 1.5, "cpu_seconds": 1.0, "received_bytes": 10}
    lines = [cost | {"stage": "crawl"}, cost | {"stage": "crawl", "seconds": 0.1}, {"library": "a", "folders": {}}]
    (tmp_path / "costs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = stages_of_costs(tmp_path / "costs.jsonl")["crawl"]
    assert (found["units"], found["releases"], found["seconds"], found["cpu_seconds"]) == (3, 2, 1.5, 1.0)


def test_seconds_of_many_small_stages_add_up(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "one"
    told: dict[str, object] = {
        "began": "2026-11-22T10:00:00+00:00",
        "ended": "2026-11-22T10:01:00+00:00",
        "since": None,
        "libraries": [],
    }
    write_json(run / "run.json", told)
    write_json(run / "published.json", {"rows": {}, "manifest_sha256": "0"})
    for number in range(40):
        count = Count("crawl", f"lib{number}", units_in=1, units_out=1, rejected={}, unchanged=0, seconds=0.04)
        write_json(run / "counts" / f"lib{number}.crawl.json", asdict(count))
    assert refresh_of(tmp_path, run)["stages"]["crawl"]["seconds"] == 1.6


def vars_of(count: Count) -> dict[str, object]:
    return {name: getattr(count, name) for name in count.__dataclass_fields__}
