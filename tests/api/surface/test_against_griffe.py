"""Our surface of real releases against what griffe itself gives when it loads them: each difference has its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.api.surface.parse.sources import paths_in_scope, sources_in_scope
from pipeline.api.surface.parse_cache import Records
from pipeline.api.surface.reader import SurfaceReader
from pipeline.core.rules.load import RULES, load
from pipeline.core.settings import index_url
from pipeline.index.artifacts import ArtifactStore, choose_artifact
from pipeline.index.http import Fetcher
from pipeline.index.index import project
from pipeline.index.manifest import Artifact
from pipeline.index.rules import CrawlRules
from pipeline.index.tree import SourceTree
from pipeline.lake.collector import without_collector
from tests.api.surface.griffe_differences import What, compare
from tests.api.surface.griffe_evidence import Sources
from tests.api.surface.griffe_reasons import Reason, reason_of
from tests.api.surface.griffe_surface import load_release
from tests.api.surface.trees import READING_RULES, SURFACE_RULES

RELEASES = (
    *(
        "attrs 23.2.0",
        "click 8.1.7",
        "flask 2.3.0",
        "httpx 0.27.0",
        "humanize 4.9.0",
        "jinja2 3.1.3",
        "marshmallow 3.20.1",
    ),
    *("packaging 23.2", "requests 2.31.0", "tqdm 4.66.4", "typing-extensions 4.9.0", "zope-interface 6.1"),
)
MORE = (
    *("attrs 19.3.0", "click 7.1.2", "flask 0.12.5", "google-auth 2.20.0", "httpx 0.18.2", "jinja2 2.7.3"),
    *("markupsafe 2.1.3", "networkx 2.8.8", "networkx 3.2", "packaging 20.9", "pydantic 1.10.13", "pydantic 2.7.0"),
    *("requests 2.18.4", "rich 13.7.0", "ruamel-yaml 0.17.32", "scikit-learn 1.3.0", "scipy 1.11.4"),
    *("sqlalchemy 2.0.23", "tornado 6.4", "werkzeug 0.16.1", "werkzeug 3.0.1"),
)
REASONS: dict[str, Counter[Reason]] = {}
"""By release, the reasons for its differences."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ArtifactStore:
    return ArtifactStore(
        tmp_path_factory.mktemp("artifacts"), Fetcher(timeout_s=60), load(RULES / "crawl.yaml", CrawlRules)
    )


def fetched(store: ArtifactStore, library: str, version: str) -> SourceTree:
    """Return the sources in scope of a release."""
    file = choose_artifact(project(store.fetcher, index_url(), library).releases[version])
    assert file is not None
    artifact = Artifact(file.url, file.sha256, file.size, file.kind)
    return store.read(artifact, library, lambda paths: paths_in_scope(paths, SURFACE_RULES))[0]


def unpack(store: ArtifactStore, tree: SourceTree, folder: Path) -> None:
    """Write the files that we read, and no others, so that griffe has the same scope."""
    files = list(sources_in_scope(tree, SURFACE_RULES))
    contents = store.contents([file.sha256 for file in files])
    for file in files:
        place = folder / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(contents[file.sha256])


def told(counts: Counter[Reason]) -> Iterator[str]:
    return (f"{count} {reason}" for reason, count in counts.most_common())


@pytest.mark.slow
@pytest.mark.parametrize("release", [*RELEASES, *(pytest.param(release, marks=pytest.mark.soak) for release in MORE)])
def test_each_difference_has_a_reason(release: str, store: ArtifactStore, tmp_path: Path) -> None:
    tree = fetched(store, *release.split())
    unpack(store, tree, tmp_path)
    surface = SurfaceReader(Records(None, READING_RULES, store.contents)).read(tree)
    with without_collector():
        compared = compare(surface.symbols, load_release(tmp_path, tree.import_names))
    sources = Sources(tmp_path)
    differing = {d.path: d for d in compared.differences if d.what in {What.ONLY_OURS, What.KIND, What.CANONICAL}}
    reasons = [(d, reason_of(d, sources, differing)) for d in compared.differences]
    counts = Counter(reason for _, reason in reasons if reason is not None)
    REASONS[release] = counts
    equal = len(compared.paths - {d.path for d in compared.differences})
    print(f"\n| {release} | {len(compared.paths)} | {equal} | {', '.join(told(counts))} |")
    assert compared.paths
    assert [f"{d.path}: {d.what}" for d, reason in reasons if reason is None] == []


@pytest.mark.slow
@pytest.mark.soak
def test_no_reason_is_idle() -> None:
    if REASONS.keys() != {*RELEASES, *MORE}:
        pytest.skip("needs all releases in one process")
    assert set(Reason) - set().union(*REASONS.values()) == set()


def test_the_documentation_tells_the_reasons() -> None:
    told = (RULES.parent / "docs" / "contributing" / "griffe.md").read_text("utf-8")
    assert [reason for reason in Reason if f"| {reason} | {reason.meaning} |" not in told] == []
