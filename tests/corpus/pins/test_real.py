"""What is read of the sources of real projects, beside what their own build wrote down of the same requirements."""

from __future__ import annotations

import tempfile

import pytest

from pipeline.core.settings import index_url
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.corpus.pins.read import is_pin_file, read_pins
from pipeline.corpus.pins.statements import PYTHON, Statement
from pipeline.index.archives import ArchiveLimits, read_members
from pipeline.index.http import Fetcher
from pipeline.index.index import project

pytestmark = pytest.mark.slow

# Lists in setup.py, files that it reads, setup.cfg, PEP 621, Poetry, flit; markers, conditions, extras, old and new.
RELEASES = [
    ("bokeh", "0.12.16"),
    ("celery", "5.2.7"),
    ("connexion", "2.14.2"),
    ("dash", "2.8.1"),
    ("flask", "2.1.3"),
    ("flask-cors", "4.0.0"),
    ("flask-restx", "1.0.5"),
    ("great-expectations", "0.15.46"),
    ("httpie", "0.9.9"),
    ("kedro", "0.17.1"),
    ("lifelines", "0.27.4"),
    ("mkdocs-material", "5.5.2"),
    ("moto", "2.2.12"),
    ("pandas-profiling", "3.4.0"),
    ("parsel", "1.7.0"),
    ("scrapy", "2.7.1"),
    ("tox", "3.24.0"),
    ("xarray", "0.20.2"),
]


def files_of(name: str, version: str) -> dict[str, bytes]:
    fetcher = Fetcher(timeout_s=60)
    (sdist,) = [
        file for file in project(fetcher, index_url(), name).releases[version] if file.kind is ArtifactKind.SDIST
    ]
    with tempfile.TemporaryFile() as archive:
        fetcher.download(sdist.url, archive, sha256=sdist.sha256, max_bytes=50_000_000)
        members = read_members(archive, is_pin_file, ArchiveLimits())
        return {member.name.split("/", 1)[1]: member.content for member in members}


@pytest.mark.parametrize(("name", "version"), RELEASES)
def test_sources_agree_with_the_build(name: str, version: str) -> None:
    pins = read_pins(files_of(name, version))
    own = [statement for statement in pins.statements if statement.group is None and statement.library != PYTHON]
    built = {item.library for item in own if written_by_a_build(item)}
    read = {item.library for item in own if not written_by_a_build(item)}
    assert built
    assert built <= read


def written_by_a_build(statement: Statement) -> bool:
    return statement.file.endswith(("PKG-INFO", ".egg-info/requires.txt"))
