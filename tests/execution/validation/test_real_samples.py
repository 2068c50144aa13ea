"""Real releases of 2014 to 2023, from the real index: samples that hold in one release and not in its neighbours."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from pipeline.core.rules.load import RULES, load
from pipeline.core.settings import index_url
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.samples.engine import Engine
from pipeline.execution.validation.samples.planning import Catalogue
from pipeline.execution.validation.samples.validate import Range, Summary, ValidationRequest, validate_file
from pipeline.execution.validation.samples.verdict_file import read_verdicts

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parent / "samples" / "small.jsonl"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    sandbox = find_sandbox()
    root = tmp_path_factory.mktemp("environments")
    store = EnvironmentStore(root, index_url=index_url(), rules=environment_rules(), workers=2, sandbox=sandbox)
    return Engine(store, sandbox, load(RULES / "validation.yaml", ValidationRules), workers=2)


def run(engine: Engine, asked: ValidationRequest) -> Summary:
    return validate_file(asked, engine, Catalogue(engine.store.facts.project), lambda what, done, total: None)


def test_every_sample_passes_in_its_release(engine: Engine, tmp_path: Path) -> None:
    summary = run(engine, ValidationRequest(SAMPLES, tmp_path / "out"))
    failed = [(one.id, one.outcome, one.detail) for one in read_verdicts(tmp_path / "out") if one.outcome != "passed"]
    assert failed == []
    assert sum(summary.outcomes.values()) == len(SAMPLES.read_text().splitlines())


@pytest.mark.parametrize(
    ("name", "versions", "last", "first", "starts"),
    [
        ("jinja-contextfilter", ">=2.11,<3.2", "3.0.3", "3.1.0", False),
        ("flask-async", ">=1.1,<2.2", "1.1.4", "2.0.0", True),
        ("click-seven", ">=7,<8.2", "7.1.2", "8.0.0", False),
    ],
)
def test_the_release_where_a_sample_breaks(
    engine: Engine, tmp_path: Path, name: str, versions: str, last: str, first: str, starts: bool
) -> None:
    asked = ValidationRequest(
        SAMPLES, tmp_path / "out", frozenset({name}), range=Range(SpecifierSet(versions), bisect=True)
    )
    (found,) = run(engine, asked).bisections.values()
    assert (found.last, found.first, found.starts) == (last, first, starts), found.outcomes
    assert Outcome.NO_ENVIRONMENT not in found.outcomes.values()


def test_a_sample_that_works_for_a_while(engine: Engine, tmp_path: Path) -> None:
    """Up to Flask 2.1 an answer is decoded without its application, which the sample lets go."""
    span = Range(SpecifierSet(">=1.1,<2.3"), bisect=True)
    summary = run(engine, ValidationRequest(SAMPLES, tmp_path / "out", frozenset({"flask-async"}), range=span))
    (found,) = summary.bisections.values()
    assert (found.monotone, found.outcomes["1.1.0"], found.outcomes["2.2.5"]) == (
        False,
        Outcome.API_MISSING,
        Outcome.WRONG_EXCEPTION,
    )


def test_the_samples_are_of_many_libraries_and_pythons() -> None:
    samples = [json.loads(line) for line in SAMPLES.read_text().splitlines()]
    assert len({sample["library"] for sample in samples}) >= 15
    assert set(Counter(sample["python"] for sample in samples)) == {"3.7", "3.9", "3.10"}
