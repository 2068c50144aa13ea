"""By which modules a distribution is imported, read from what was installed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.environments import bare_environment
from pipeline.environments.installed import installed_names, principal


@pytest.mark.parametrize(
    ("record", "names"),
    [
        (["lib/__init__.py", "lib/tests/x.py", "../../bin/lib"], ("lib",)),
        (["single.py", "fast.cpython-39-x86_64-linux-gnu.so"], ("fast", "single")),
        (["shapely/__init__.py", "Shapely.libs/libgeos--no-undefined-b94097bf.so", ".libs/libx.so"], ("shapely",)),
        (["lib/__init__.py", "tests/__init__.py", "_lib.so", "lib.pth", "no-name/x.py"], ("lib",)),
        (["lib/data.json"], ()),
    ],
)
def test_names_of_record(tmp_path: Path, record: list[str], names: tuple[str, ...]) -> None:
    info = tmp_path / "Some_Lib-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Some_Lib\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in record))
    environment = replace(bare_environment(), site_packages=tmp_path)
    assert installed_names(environment, "some-lib") == names
    assert installed_names(environment, "another") == ()


def test_the_module_that_bears_the_name_stands_for_all() -> None:
    assert principal(("extra", "some_lib"), "some-lib") == ("some_lib",)
    assert principal(("sklearn", "extra"), "scikit-learn") == ("sklearn", "extra")
