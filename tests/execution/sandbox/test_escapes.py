"""Real escapes, attempted from inside each sandbox that works here; each is seen to work without one."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.execution.sandbox.escapes import ESCAPES, NOT_KEPT, Escape, attempt, attempt_unprotected
from tests.execution.sandbox.kinds import KINDS, Opened, everyones, marks

_PARAMETERS = [
    pytest.param(kind, escape, id=f"{kind}: {escape.name}", marks=marks(kind)) for kind in KINDS for escape in ESCAPES
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
