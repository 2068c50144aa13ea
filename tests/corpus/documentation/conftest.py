from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.corpus.documentation.builders import put_site
from tests.corpus.documentation.site_server import Pages, served


@pytest.fixture
def pages() -> Iterator[Pages]:
    """A server with the site of 1.0 at /en/1.0/."""
    with served() as pages:
        put_site(pages, "/en/1.0/")
        yield pages
