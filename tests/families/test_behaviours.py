"""Programs with other results in the next release show that the API changed which they use, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.validation.cases import Result
from pipeline.families.behaviours import behaviours_stage, by_place, retagged
from pipeline.lake.rows import EnvironmentRow, ReleaseRow, SnippetRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from tests.families.completions_and_migrations.rows import (
    LIBRARY,
    TAGGING,
    change,
    releases,
    snippet,
    symbol,
    usages,
    verdict,
)

COMPARED = "expected: 'two'\ngot: 'one'"
PROGRAM = snippet(
    "fetch(1)\n",
    "lib.fetch",
    "2.0",
    preamble="from lib import fetch\n",
    checks=[{"statement": "fetch(1)\n", "expected": "'two'\n", "options": []}],
)
USES = usages(PROGRAM, {"fetch": "lib.fetch"})
SYMBOLS = [symbol(path, "1.0", "2.0") for path in ("lib.fetch", "lib.load")]


def environment(version: str, python: str = "3.9", beside: Sequence[str] = ()) -> EnvironmentRow:
    lock = "".join(f"{pin} \\\n    --hash=sha256:0\n" for pin in (f"{LIBRARY}=={version}", *beside))
    return {"library": LIBRARY, "version": version, "outcome": "built", "python": python, "lock": lock}


SAME = [environment("1.0"), environment("2.0")]


@dataclass
class Runner:
    """Installs a release as it is asked to, and gives one result of whatever runs there."""

    outcome: Outcome = Outcome.FAILED_ASSERTION
    requests: list[EnvironmentRequest] = field(default_factory=list)

    @property
    def store(self) -> Runner:
        return self

    def build(self, request: EnvironmentRequest) -> EnvironmentRow:
        self.requests.append(request)
        built = environment(request.version, str(request.python), request.pins)
        return built | {"outcome": EnvironmentOutcome.BUILT}

    def run(
        self, environment: EnvironmentRow, runs: Sequence[Any], release: ReleaseRow, snippets: SnippetRow
    ) -> list[Result]:
        return [Result(run.subject_id, self.outcome, COMPARED, 0.1, None) for run in runs]


def stage(
    before: tuple[Outcome, str | None] = (Outcome.FAILED_ASSERTION, COMPARED),
    after: tuple[Outcome, str | None] = (Outcome.PASSED, None),
    runner: Runner | None = None,
    **tables: list[Any],
) -> Output:
    known: dict[str, list[Any]] = {
        "releases": releases("1.0", "2.0"),
        "snippets": [PROGRAM],
        "usages": USES,
        "symbols": SYMBOLS,
        "changes": [],
        "environments": SAME,
        "verdicts": [
            verdict(PROGRAM["id"], version, outcome, detail=detail)
            for version, (outcome, detail) in {"1.0": before, "2.0": after}.items()
        ],
    }
    output = behaviours_stage(known | tables, TAGGING, runner or Runner())  # type: ignore[arg-type]
    for row in output.tables["behaviours"]:
        table("behaviours").check(row)
    return output


def test_an_example_with_another_output_shows_that_its_api_changed() -> None:
    (row,) = stage().tables["behaviours"]
    expected = {
        "kind": "behaviour",
        "path": "lib.fetch",
        "old_version": "1.0",
        "new_version": "2.0",
        "old": "`fetch(1)` gives 'one'",
        "new": "'two'",
        "breaking": True,
        "evidence": "executed",
        "libevolutioneval_tag": "modified",
        "old_outcome": "failed_assertion",
        "new_outcome": "passed",
        "snippet_id": PROGRAM["id"],
    }
    assert {name: row[name] for name in expected} == expected


def test_a_program_of_a_test_is_of_the_api_whose_results_it_shows() -> None:
    of_test: Any = PROGRAM | {"source": SnippetSource.OWN_TEST, "example_of": ["lib.load"]}
    uses = usages(of_test, {"fetch": "lib.fetch", "load": "lib.load"})
    (row,) = stage(snippets=[of_test], usages=uses).tables["behaviours"]
    assert row["path"] == "lib.load"


ENDS = {
    "raised before": (
        (Outcome.WRONG_EXCEPTION, "ValueError: no"),
        (Outcome.PASSED, None),
        "ValueError: no",
        None,
        False,
    ),
    "raises now": ((Outcome.PASSED, None), (Outcome.WRONG_EXCEPTION, "ValueError: no"), None, "ValueError: no", True),
}


@pytest.mark.parametrize("case", ENDS)
def test_only_code_that_ran_before_breaks(case: str) -> None:
    before, after, old, new, breaking = ENDS[case]
    (row,) = stage(before, after).tables["behaviours"]
    assert (row["old"], row["new"], row["breaking"]) == (old, new, breaking)


@pytest.mark.parametrize("outcome", [Outcome.API_MISSING, Outcome.SIGNATURE_MISMATCH, Outcome.FLAKY, Outcome.TIMED_OUT])
def test_what_is_no_other_result_shows_nothing(outcome: Outcome) -> None:
    assert stage((outcome, "")).units_in == 0


def two(**columns: Any) -> tuple[list[Any], list[Any]]:
    both = snippet("fetch(1)\nload(1)\n", "lib.fetch", "2.0", preamble="from lib import fetch, load\n", **columns)
    return [both | {"id": PROGRAM["id"]}], usages(
        both | {"id": PROGRAM["id"]}, {n: f"lib.{n}" for n in ("fetch", "load")}
    )


CATALOGUE = {
    "of the API": change(ChangeKind.PARAMETER_DEFAULT, "lib.fetch", "1.0", "2.0", parameter="size"),
    "of its module": change(ChangeKind.KIND, "lib", "1.0", "2.0"),
    "under another path": change(ChangeKind.BASES, "lib.core.fetch", "1.0", "2.0", canonical_path="lib.fetch"),
}


@pytest.mark.parametrize("case", CATALOGUE)
def test_what_the_catalogue_explains_is_no_change_of_behaviour(case: str) -> None:
    output = stage(changes=[CATALOGUE[case]])
    assert not output.tables["behaviours"]
    assert [reject.reason for reject in output.rejects] == [RejectReason.OTHER_CAUSE]


UNRELATED = {
    "an annotation": change(ChangeKind.RETURNS, "lib.fetch", "1.0", "2.0"),
    "a mark": change(ChangeKind.DEPRECATED, "lib.fetch", "1.0", "2.0"),
    "another API": change(ChangeKind.REMOVED, "lib.load", "1.0", "2.0"),
    "another release": change(ChangeKind.PARAMETER_DEFAULT, "lib.fetch", "0.9", "1.0", parameter="size"),
}


@pytest.mark.parametrize("case", UNRELATED)
def test_what_changes_no_result_explains_nothing(case: str) -> None:
    assert stage(changes=[UNRELATED[case]]).units_out == 1


def test_a_program_that_ends_at_warnings_shows_no_other_results() -> None:
    strict: Any = {**PROGRAM, "code": f"import warnings\nwarnings.simplefilter('error')\n{PROGRAM['code']}"}
    output = stage(snippets=[strict])
    assert (output.tables["behaviours"], output.rejects) == ([], [])


def test_of_two_apis_nobody_knows_which_changed() -> None:
    snippets, uses = two()
    output = stage(snippets=snippets, usages=uses)
    assert [reject.reason for reject in output.rejects] == [RejectReason.UNLISTED_CHANGE]


def test_two_members_of_the_documented_class_show_that_the_class_changed() -> None:
    snippets, uses = two()
    members = {"lib.fetch": "lib.Page.fetch", "lib.load": "lib.Page.load"}
    uses = [use | {"path": members[use["path"]]} for use in uses]
    uses.append(uses[0] | {"id": "class", "path": "lib.Page"})
    rows = stage(
        snippets=[snippets[0] | {"path": "lib.Page"}],
        usages=uses,
        symbols=[symbol(path, "1.0", "2.0") for path in ("lib.Page", *members.values())],
    ).tables["behaviours"]
    assert [row["path"] for row in rows] == ["lib.Page"]


OTHERWISE = {
    "another Python": environment("1.0", "3.8", ["setuptools==41.0"]),
    "another dependency": environment("1.0", "3.9", ["setuptools==40.0"]),
}


@pytest.mark.parametrize("case", OTHERWISE)
def test_where_more_than_the_library_differs_it_runs_again_beside_the_same(case: str) -> None:
    environments = [OTHERWISE[case], environment("2.0", "3.9", ["setuptools==41.0"])]
    runner = Runner()
    assert stage(environments=environments, runner=runner).units_out == 1
    assert [(each.version, each.python, each.pins) for each in runner.requests] == [
        ("1.0", "3.9", ("setuptools==41.0",))
    ]
    output = stage(environments=environments, runner=Runner(Outcome.PASSED))
    assert [reject.reason for reject in output.rejects] == [RejectReason.OTHER_CAUSE]


@pytest.mark.parametrize("work", ["_explaining", "_row"])
def test_a_program_that_raises_is_a_reject(work: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(*args: Any) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(f"pipeline.families.behaviours.{work}", planted)
    output = stage()
    assert [reject.reason for reject in output.rejects] == [RejectReason.INTERNAL_ERROR]


def test_an_instance_that_says_unchanged_has_the_tags_of_the_change() -> None:
    (row,) = stage().tables["behaviours"]
    places = by_place([row])
    instance: Any = {"path": "lib.fetch", "version": "2.0", "libevolutioneval_tag": "unchanged", "change_id": None}
    assert retagged(instance, places)["libevolutioneval_tag"] == "modified"
    assert retagged(instance, places)["change_id"] == row["id"]
    for other in ({"path": "lib.load"}, {"version": "1.0"}, {"libevolutioneval_tag": "introduced"}):
        assert retagged(instance | other, places) == instance | other
