from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.resolution.failures import StepFailed
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.execution.environments.resolution.interpreters import discover
from pipeline.execution.environments.resolution.pinned import read_lock
from pipeline.execution.environments.resolution.resolver import Resolver, portable_log
from tests.errors import raises
from tests.index_server import Index, wheel

MAY = "2021-05-01T00:00:00Z"


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (
            "warning: noise\nerror: No solution found\n  cause: because lib==1 has no usable wheels\n\nhint: try",
            "error: No solution found\ncause: because lib==1 has no usable wheels",
        ),
        ("Failed to fetch: http://127.0.0.1:4321/simple/lib/", "Failed to fetch: …"),
        ("Request failed after 3 retries in 7.4s", "Request failed after 3 retries"),
        ('File "/srv/data/env/lib/lib.py", line 2', 'File "lib.py", line 2'),
        ("at `/cache/uv/x.whl`", "at `x.whl`"),
        ("a/b and 1/2 stay", "a/b and 1/2 stay"),
        ("from SECRET-INDEX", "from …"),
    ],
)
def test_telling(log: str, expected: str) -> None:
    assert portable_log(log, ["SECRET-INDEX"]) == expected


@given(st.text(max_size=2000))
def test_telling_is_short_and_has_no_address(log: str) -> None:
    said = portable_log(log + "\nhttps://user:password@example.org/simple")
    assert len(said) <= 800
    assert "password" not in said


def test_metadata_that_uv_cannot_read_is_put_right(index: Index, tmp_path: Path) -> None:
    index.add("lib", "1.0", wheel("lib", "1.0", {"lib.py": ""}, Requires_Dist="dep (>=2011k)"), MAY)
    index.add("dep", "2011.12", wheel("dep", "2011.12", {"dep.py": ""}), MAY)
    python = next(found for found in discover() if found.python == "3.9")
    resolver = Resolver(IndexFacts(index.simple), tmp_path, 60)
    cutoff = datetime(2021, 6, 1, tzinfo=UTC)
    lock = resolver.lock(["lib==1.0"], python, cutoff)
    assert [pin.requirement for pin in read_lock(lock)] == ["dep==2011.12", "lib==1.0"]
    index.add("bad", "1.0", wheel("bad", "1.0", {"bad.py": ""}, Requires_Dist="what is this ???"), MAY)
    with raises(StepFailed, "metadata") as failed:
        resolver.lock(["bad==1.0"], python, cutoff)
    assert failed.value.outcome == EnvironmentOutcome.UNRESOLVABLE
