"""How much is downloaded of real wheels, which is what reading them by ranges is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.settings import index_url
from pipeline.index.artifacts import ArtifactStore, choose_artifact
from pipeline.index.http import Fetcher
from pipeline.index.index import project
from pipeline.index.manifest import Artifact
from pipeline.index.rules import CrawlRules
from pipeline.index.tree import SourceTree
from tests.index_server import without_tests


def read(store: ArtifactStore, library: str, version: str) -> tuple[SourceTree, int]:
    """Return the sources of a release without its tests, and how many bytes that took."""
    file = choose_artifact(project(store.fetcher, index_url(), library).releases[version])
    assert file is not None
    before = store.fetcher.received_bytes
    artifact = Artifact(file.url, file.sha256, file.size, file.kind)
    tree, _ = store.read(artifact, library, without_tests)
    assert store.contents(tree.files.values()).keys() == set(tree.files.values())
    return tree, store.fetcher.received_bytes - before


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path, Fetcher(timeout_s=60), load(RULES / "crawl.yaml", CrawlRules))


@pytest.mark.slow
def test_of_a_wheel_of_755_megabytes_eight_are_fetched(store: ArtifactStore) -> None:
    tree, received = read(store, "torch", "2.2.0")
    assert received < 8_000_000
    assert len(tree.files) > 1300
    assert "torch/_C.cpython-312-x86_64-linux-gnu.so" in tree.compiled


@pytest.mark.slow
def test_of_a_bug_fix_release_little_is_fetched(store: ArtifactStore) -> None:
    _, first = read(store, "pandas", "2.2.2")
    tree, second = read(store, "pandas", "2.2.3")
    assert "pandas/core/frame.py" in tree.files
    assert first < 3_000_000
    assert second < 700_000
