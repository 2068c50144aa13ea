"""What a result depends on, as plain JSON in one fixed order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel


def plain(value: Any) -> Any:
    """Return rules as plain JSON values: models become mappings, and sets are sorted.

    A set has another order in every process, which would make a stage look undone.
    """
    if isinstance(value, BaseModel):
        return plain(value.model_dump())
    if isinstance(value, re.Pattern):
        # Its repr is cut after 200 letters, so that two long expressions would look alike.
        return value.pattern
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
