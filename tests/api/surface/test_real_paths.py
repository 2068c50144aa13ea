"""Names are found where a user writes them, in real releases: four ways in which they do not stand there."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import pytest

from pipeline.api.surface.parse_cache import Records
from pipeline.api.surface.reader import SurfaceReader
from pipeline.core.vocabularies.surface import PublicBecause, SymbolKind
from pipeline.index.artifacts import ArtifactStore
from tests.api.surface.test_against_griffe import fetched, store
from tests.api.surface.trees import READING_RULES

__all__ = ["store"]


@functools.cache
def symbols(store: ArtifactStore, release: str) -> Mapping[str, Any]:
    tree = fetched(store, *release.split())
    return SurfaceReader(Records(None, READING_RULES, store.contents)).read(tree).symbols


def row(store: ArtifactStore, release: str, path: str) -> Any:
    return symbols(store, release)[path]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "path", "canonical"),
    [
        ("flask 2.3.0", "flask.Flask", "flask.app.Flask"),
        ("httpx 0.27.0", "httpx.Client", "httpx._client.Client"),
        ("attrs 23.2.0", "attrs.validators.instance_of", "attr.validators.instance_of"),
        ("networkx 3.2", "networkx.dispersion", "networkx.algorithms.centrality.dispersion.dispersion"),
        ("markupsafe 2.1.3", "markupsafe.escape", "markupsafe._speedups.escape"),
        # out of files that only Python 3.12 parses, and classes that only stubs tell
        ("numpy 2.5.5", "numpy.ndarray", "numpy.ndarray"),
        # of two branches that of Windows is the first
        ("twisted 24.3.0", "twisted.internet.stdio.StandardIO", "twisted.internet._posixstdio.StandardIO"),
        # imported as itself, by modules that are no packages
        ("fastapi 0.110.0", "fastapi.testclient.TestClient", "starlette.testclient.TestClient"),
        ("jax 0.5.0", "jax.random.normal", "jax._src.random.normal"),
        # in a module that does nothing but import
        ("seaborn 0.13.2", "seaborn.objects.Plot", "seaborn._core.plot.Plot"),
        # in a module that is only called like tests
        ("twisted 24.3.0", "twisted.trial.unittest.TestCase", "twisted.trial._asynctest.TestCase"),
    ],
)
def test_a_re_export(store: ArtifactStore, release: str, path: str, canonical: str) -> None:
    assert row(store, release, path)["canonical_path"] == canonical


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "path", "kind"),
    [
        ("flask 2.3.0", "flask.signals_available", SymbolKind.LAZY),
        ("flask 2.3.0", "flask.escape", SymbolKind.LAZY),
        # `return getattr(_lil, name)`
        ("scipy 1.11.4", "scipy.sparse.lil.lil_matrix", SymbolKind.ALIAS),
    ],
)
def test_a_name_that_getattr_answers(store: ArtifactStore, release: str, path: str, kind: SymbolKind) -> None:
    found = row(store, release, path)
    assert (found["kind"], found["public_because"]) == (kind, PublicBecause.GETATTR)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "path", "canonical"),
    [
        ("networkx 3.2", "networkx.MultiDiGraph.has_node", "networkx.classes.graph.Graph.has_node"),
        ("httpx 0.27.0", "httpx.Client.build_request", "httpx._client.BaseClient.build_request"),
        ("flask 2.3.0", "flask.Flask.get", "flask.scaffold.Scaffold.get"),
        ("click 8.1.7", "click.Option.get_default", "click.core.Option.get_default"),
        # the fourth of its bases in the order of Python 2.2, the second in that of Python 3
        ("sqlalchemy 1.4.50", "sqlalchemy.orm.FromStatement.bind", "sqlalchemy.sql.base.Executable.bind"),
        # the base stands in a module that a star import brings back to its own package
        ("altair 5.3.0", "altair.Angle.copy", "altair.utils.schemapi.SchemaBase.copy"),
        ("nltk 3.8.1", "nltk.corpus.BCP47CorpusReader.abspath", "nltk.corpus.reader.api.CorpusReader.abspath"),
        ("numpy 2.1.0", "numpy.ndarray.argmax", "numpy._ArrayOrScalarCommon.argmax"),
    ],
)
def test_an_inherited_member(store: ArtifactStore, release: str, path: str, canonical: str) -> None:
    assert row(store, release, path)["canonical_path"] == canonical


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "path", "canonical"),
    [
        # `__all__.extend([…])`
        ("networkx 2.8.8", "networkx.OrderedGraph", "networkx.classes.ordered.OrderedGraph"),
        # `__all__ = _distn_names + _distn_gen_names + ['rv_histogram']`, both made as the module is imported
        ("scipy 1.11.4", "scipy.stats.norm", "scipy.stats._continuous_distns.norm"),
        ("scipy 1.11.4", "scipy.stats.distributions.chi2", "scipy.stats._continuous_distns.chi2"),
        # `__all__ = [s for s in dir() if not s.startswith('_')]`
        ("scipy 1.11.4", "scipy.signal.butter", "scipy.signal._filter_design.butter"),
    ],
)
def test_a_name_that_all_builds_at_import(store: ArtifactStore, release: str, path: str, canonical: str) -> None:
    assert row(store, release, path)["canonical_path"] == canonical
