"""What tests expect of errors: their codes, and the names of what is at fault, not their sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

E = TypeVar("E", bound=BaseException)


@contextmanager
def raises(kind: type[E] | tuple[type[E], ...], *names: str, code: str = "") -> Iterator[pytest.ExceptionInfo[E]]:
    """Expect an error with a code, whose message names each of `names`: a file, a line, a key, a command."""
    with pytest.raises(kind) as caught:
        yield caught
    if code:
        assert getattr(caught.value, "code", "no code") == code, str(caught.value)
    for name in names:
        assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", str(caught.value)), f"{name!r} is not in: {caught.value}"
