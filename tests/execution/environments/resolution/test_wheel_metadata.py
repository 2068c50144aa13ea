from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from pipeline.execution.environments.resolution.wheel_metadata import WheelMetadata, repaired, repaired_requirement
from pipeline.index.http import Fetcher, NotFound
from pipeline.index.index import project
from tests.errors import raises
from tests.index_server import Index, wheel

MAY = "2021-05-01T00:00:00Z"


@pytest.mark.parametrize(
    ("stated", "meant"),
    [
        ("pytz (>=2011k)", "pytz (>=2011.11)"),  # pandas 0.24.2
        ("pytz (>=2011k) ; python_version < '3'", "pytz (>=2011.11) ; python_version < '3'"),
        ("numpy (>=1.12.*)", "numpy (>=1.12)"),
        ("scipy (>=1.0,<=1.2.*)", "scipy (>=1.0,<=1.2)"),
        ("futures (>=dev)", "futures"),
        ("requests (<3,>=dev)", "requests (<3)"),
        ("numpy (>=1.12,!=1.13.*)", "numpy (>=1.12,!=1.13.*)"),
        ("six", "six"),
        ("what is this ???", "what is this ???"),
    ],
)
def test_requirements_that_only_an_old_pip_could_read(stated: str, meant: str) -> None:
    assert repaired_requirement(stated) == meant


@given(st.from_regex(r"[a-z]{1,8}( ?\((>=|<|==|~=)[0-9]{1,4}(\.[0-9a-z*]{1,3}){0,2}\))?", fullmatch=True))
def test_what_could_be_read_stays_and_what_is_repaired_can_be_read(text: str) -> None:
    once = repaired_requirement(text)
    assert repaired_requirement(once) == once
    assert Requirement(once).name == Requirement(text.split("(")[0]).name


def test_only_requirements_of_the_head_are_touched() -> None:
    text = "Metadata-Version: 2.1\nName: lib\nRequires-Dist: pytz (>=2011k)\nX: (>=2011k)\n\nRequires-Dist: pytz (>=2011k)\n"
    better = repaired(text)
    assert better.splitlines()[2] == "Requires-Dist: pytz (>=2011.11)"
    assert better.replace("2011.11", "2011k") == text
    assert SpecifierSet(">=2011.11").contains("2018.5")


def test_a_wheel_is_read_in_parts_and_once(index: Index) -> None:
    packed = wheel("lib", "1.0", {"lib.py": "x = 1\n" * 100_000}, Requires_Dist="pytz (>=2011k)")
    index.add("lib", "1.0", packed, MAY)
    fetcher = Fetcher(timeout_s=5, retries=0)
    file = project(fetcher, index.simple, "lib").releases["1.0"][0]
    about = WheelMetadata(fetcher)
    assert b"Requires-Dist: pytz (>=2011.11)\n" in about.read(file)
    asked = list(index.asked)
    assert all(span for _, span in asked)
    assert about.read(file)
    assert index.asked == asked
    index.ranges = False
    assert WheelMetadata(fetcher).read(file) == about.read(file)


def test_a_wheel_without_metadata(index: Index) -> None:
    index.add("lib", "1.0", ("lib-1.0-py3-none-any.whl", b"not a zip"), MAY)
    fetcher = Fetcher(timeout_s=5, retries=0)
    file = project(fetcher, index.simple, "lib").releases["1.0"][0]
    with raises(NotFound, code="not_found"):
        WheelMetadata(fetcher).read(file)
