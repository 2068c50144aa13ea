"""What tests of several sources share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.corpus.github.hub import Hub, serve


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A GitHub without repositories that really listens."""
    with serve(Hub()) as served:
        yield served
