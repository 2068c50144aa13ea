"""The sources as a profile wants them, made of settings and rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.profiles import CodeRule, LibraryRule, Profile
from pipeline.core.settings import settings
from pipeline.core.vocabularies.samples import ExternalSource
from pipeline.corpus.code_source import CodeSample
from pipeline.index.artifacts import ArtifactStore
from pipeline.index.http import Fetcher, Unreachable
from pipeline.index.release_selection import Period
from pipeline.orchestration.resources.code_sources import CodeSources
from pipeline.quality.all_rules import CurationRules
from tests.index_server import Index, sdist, wheel

VERSIONS = {"1.0": "2021-01-01", "1.1": "2021-02-01"}


def made(index: Index, monkeypatch: pytest.MonkeyPatch, *sources: ExternalSource, capped: bool = True) -> CodeSources:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    rules = CurationRules.read()
    seeds = rules.dependents.model_copy(update={"seeds": {"demo": ("user",)}})
    pins = rules.pins.model_copy(update={"capped": frozenset({"demo"} if capped else ())})
    known = settings()
    artifacts = ArtifactStore(known.cache / "artifacts", Fetcher(timeout_s=5, retries=0), rules.crawl)
    profile = Profile(name="mine", libraries=(LibraryRule(library="demo"),), code=CodeRule(sources=sources))
    return CodeSources(known, replace(rules, dependents=seeds, pins=pins), artifacts, profile)


def release(version: str) -> Any:
    day = datetime.fromisoformat(VERSIONS[version]).replace(tzinfo=UTC)
    return {"library": "demo", "version": version, "release_time": day, "import_names": ["demo"]} | {
        "requires_python": None
    }


@pytest.mark.parametrize(("capped", "version"), [(True, "1.0"), (False, "1.1")])
def test_a_library_that_others_cap_is_resolved_with_them(
    index: Index, data: Path, monkeypatch: pytest.MonkeyPatch, capped: bool, version: str
) -> None:
    for number, day in VERSIONS.items():
        index.add_wheel("demo", number, {"demo.py": ""}, f"{day}T00:00:00Z")
    index.add("caps", "1.0", wheel("caps", "1.0", {"caps.py": ""}, Requires_Dist="demo<1.1"), "2021-01-15T00:00:00Z")
    files = {"user.py": "import demo\n", "setup.py": "setup(install_requires=['demo', 'caps'])"}
    index.add("user", "3.0", sdist("user", "3.0", files), "2021-03-01T00:00:00Z")
    (source,) = made(index, monkeypatch, ExternalSource.DOWNSTREAM, capped=capped).configured()
    (piece,) = source.find("demo", [release(number) for number in VERSIONS], Period())
    assert isinstance(piece, CodeSample)
    assert piece.version == version
    assert ("narrowed by the other requirements" in piece.version_statement) is capped


def test_what_cannot_be_reached_is_left_out_and_finds_nothing(
    index: Index, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = made(index, monkeypatch, ExternalSource.STACK_OVERFLOW, ExternalSource.DOCUMENTATION)
    for source in sources.configured():
        assert "no way to http://127.0.0.1:1" in (source.unavailable() or "")
        assert list(source.find("demo", [], Period())) == []
    assert sources.sites() is None


@pytest.mark.parametrize(
    ("sources", "token", "expected"),
    [((ExternalSource.GITHUB,), "a", True), ((ExternalSource.GITHUB,), "", False), ((), "a", False)],
)
def test_repositories_need_a_token_and_a_profile_with_github(
    index: Index,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    sources: tuple[ExternalSource, ...],
    token: str,
    expected: bool,
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", token)
    assert (made(index, monkeypatch, *sources).repositories() is not None) is expected


@pytest.mark.slow
def test_an_index_that_is_silent_while_resolving_is_told(
    index: Index, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = made(index, monkeypatch)
    index.faults["/simple/demo/"] = [503] * 99
    with pytest.raises(Unreachable):
        sources._narrow("demo", ["demo"], "3.11", datetime(2021, 5, 1, tzinfo=UTC))


def test_every_source_that_is_offered_can_be_had(index: Index, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = made(index, monkeypatch, *ExternalSource).configured()
    assert [str(source.name) for source in sources] == [str(source) for source in ExternalSource]
