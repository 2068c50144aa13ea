"""Real escapes, attempted from inside each sandbox that works here; each is seen to work without one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator

import pytest

from pipeline.environments import Environment, Sandbox
from pipeline.environments.container import EngineFailed
from tests.environments.escapes import ESCAPES, NOT_KEPT, Escape, attempt, attempt_unprotected
from tests.environments.kinds import KINDS, NotHere, everyones, open_kind

Opened = tuple[Sandbox, Environment]


@pytest.fixture(scope="session")
def opened() -> Iterator[Callable[[str], Opened]]:
    """Sets a kind up once, or skips the test with the reason."""
    known: dict[str, Opened | str] = {}
    with contextlib.ExitStack() as stack:

        def of(kind: str) -> Opened:
            if kind not in known:
                try:
                    known[kind] = stack.enter_context(open_kind(kind))
                except (NotHere, EngineFailed) as error:
                    known[kind] = str(error)
            found = known[kind]
            if isinstance(found, str):
                pytest.skip(found)
            return found

        yield of


_PARAMETERS = [
    pytest.param(kind, escape, id=f"{kind}: {escape.name}", marks=[pytest.mark.slow] if kind == "container" else [])
    for kind in KINDS
    for escape in ESCAPES
]


@pytest.mark.parametrize(("kind", "escape"), _PARAMETERS)
def test_escape(opened: Callable[[str], Opened], kind: str, escape: Escape) -> None:
    tried = attempt(escape, *opened(kind))
    assert tried.escaped is (escape.promise in NOT_KEPT.get(kind, ())), tried.said


@pytest.mark.parametrize("escape", [pytest.param(escape, id=escape.name) for escape in ESCAPES])
def test_without_a_sandbox_the_same_succeeds(escape: Escape) -> None:
    if escape.control is None:
        pytest.skip("needs a network, or would harm")
    if escape.needs_root and os.getuid() != 0:
        pytest.skip("works for root only")
    tried = attempt_unprotected(escape, everyones())
    assert tried.escaped, tried.said
