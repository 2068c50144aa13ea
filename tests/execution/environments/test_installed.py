from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.execution.environments.installed import principal
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.store import EnvironmentStore
from tests.index_server import Index


@pytest.mark.parametrize(
    ("names", "library", "expected"),
    [
        (("pkg_resources", "setuptools"), "setuptools", ("setuptools",)),
        (("matplotlib", "mpl_toolkits", "pylab"), "matplotlib", ("matplotlib",)),
        (("pytorch_lightning",), "pytorch-lightning", ("pytorch_lightning",)),
        (("sklearn",), "scikit-learn", ("sklearn",)),
        (("google",), "google-cloud-storage", ("google",)),
        (("PIL",), "pillow", ("PIL",)),
        (("a", "b"), "c", ("a", "b")),
        ((), "types-all", ()),
    ],
)
def test_principal(names: tuple[str, ...], library: str, expected: tuple[str, ...]) -> None:
    assert principal(names, library) == expected


def test_names_are_read_from_what_was_installed(
    index: Index, store_at: Callable[..., EnvironmentStore], tmp_path: Path
) -> None:
    files = ["first.py", "second/__init__.py", "spaced/deep/x.py", "fast.cpython-39-x86_64-linux-gnu.so"]
    files += ["_private.py", "tests/__init__.py", "not-a-module.py", "data/file.txt", "some-1.0.data/scripts/run.py"]
    index.add_wheel("Some", "1.0", dict.fromkeys(files, ""), "2021-05-01T00:00:00Z")
    index.projects["some"] = index.projects.pop("Some")
    store = store_at(tmp_path)
    row = store.build(EnvironmentRequest("some", "1.0", python="3.9"))
    assert row["import_names"] == ["fast", "first", "second", "spaced"], row["detail"]
