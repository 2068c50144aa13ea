from __future__ import annotations

from typing import Any

import pytest

from pipeline.audit.survival.withdrawn import OnIndex, has_file, of_lock
from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.index.http import Fetcher
from tests.audit.survival.published import DAY, environment, released
from tests.errors import raises
from tests.index_server import Index, sdist, wheel

FOREIGN = wheel("lib", "1.0", {"lib.py": ""})[1]


def facts(index: Index) -> IndexFacts:
    return IndexFacts(index.simple, Fetcher(timeout_s=5, retries=0))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, OnIndex((), ())),
        ({"yanked": True}, OnIndex((), ("lib==1.0",))),
        ({"sha256": "0" * 64}, OnIndex(("lib==1.0",), ())),
        ({"filename": "lib-1.0-cp39-cp39-win_amd64.whl"}, OnIndex(("lib==1.0",), ())),
    ],
    ids=str,
)
def test_what_the_index_says_of_a_pin(index: Index, changed: dict[str, Any], expected: OnIndex) -> None:
    file = released(index)
    row: Any = environment(file)
    for name, value in changed.items():
        setattr(file, name, value)
    assert of_lock(row, facts(index)) == expected


def test_one_of_several_files_is_enough(index: Index) -> None:
    row: Any = environment(released(index))
    index.add("lib", "1.0", ("lib-1.0-cp39-cp39-win_amd64.whl", FOREIGN), DAY, yanked=True)
    assert of_lock(row, facts(index)) == OnIndex((), ())


def test_what_is_built_needs_its_source_and_no_wheel(index: Index) -> None:
    file = index.add("lib", "1.0", sdist("lib", "1.0", {"setup.py": ""}), DAY)
    assert file is not None
    row: Any = environment(file)
    assert of_lock(row, facts(index)).gone == ("lib==1.0",)
    row["lock"] += "    # built from source as of 2021-05-01T00:00:00Z\n"
    assert of_lock(row, facts(index)) == OnIndex((), ())
    assert has_file("lib", file.sha256, facts(index))
    assert not has_file("lib", "0" * 64, facts(index))


def test_a_project_that_is_not_there_has_no_file(index: Index) -> None:
    row: Any = environment(released(index))
    index.projects.clear()
    assert of_lock(row, facts(index)).gone == ("lib==1.0",)
    assert not has_file("lib", "0" * 64, facts(index))


def test_an_index_that_is_down_is_no_answer(index: Index) -> None:
    row: Any = environment(released(index))
    index.faults = {"/pypi/lib/json": [503], "/simple/lib/": [503]}
    with pytest.raises(IndexUnreachable):
        of_lock(row, facts(index))
    with raises(ValueError, code="lock_line_invalid"):
        of_lock(row | {"lock": "lib @ file:///etc\n"}, facts(index))
