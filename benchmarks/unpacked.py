"""All final releases of a library as an installer would unpack them, for benchmarks."""

from __future__ import annotations

import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.specifiers import SpecifierSet

from benchmarks.published import fetcher, kept
from pipeline.core.settings import index_url
from pipeline.index.index import project
from pipeline.index.release_selection import Candidate, finals_of

MOST_BYTES = 1 << 30


def fetch(library: str, folder: Path) -> list[tuple[str, Path]]:
    """Fetch the archives of all final releases that have one; return versions and archives in order."""
    finals, _ = finals_of(project(fetcher(), index_url(), library), SpecifierSet(""))

    def one(final: Candidate) -> tuple[str, Path]:
        assert final.file is not None
        return final.version, kept(final.file, folder, MOST_BYTES)

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(one, finals))


def unpack(archives: list[tuple[str, Path]], folder: Path) -> None:
    """Unpack each archive into a folder named like its release, whole, as an installer would."""
    for version, path in archives:
        target = folder / version
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as wheel:
                wheel.extractall(target)  # noqa: S202 - the archives are those that the index announced
        else:
            with tarfile.open(path) as sdist:
                sdist.extractall(target, filter="data")


def search_path(folder: Path, name: str) -> Path | None:
    """Return where in an unpacked release its package can be imported from."""
    places = sorted(folder.rglob(f"{name}/__init__.py"), key=lambda path: (len(path.parts), str(path)))
    places += sorted(folder.rglob(f"{name}.py"), key=lambda path: (len(path.parts), str(path)))
    if not places:
        return None
    return places[0].parent.parent if places[0].name == "__init__.py" else places[0].parent
