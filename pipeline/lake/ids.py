"""Content hashes: an id is made of what makes a row itself, never of a position or a time of running."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from pathlib import Path
from typing import Any


def content_id(*parts: Any) -> str:
    """Return 32 hex digits (128 bits of SHA-256) over the parts as canonical JSON.

    Canonical JSON keeps `("a", "bc")` and `("ab", "c")` apart, which joining strings would not.
    """
    return sha256_json(parts)[:32]


def sha256_json(value: Any) -> str:
    """Return the SHA-256 hex digest of a value as canonical JSON (sorted keys, UTF-8, no spaces)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_text)
    return sha256_text(text)


def _text(value: Any) -> str:
    """Return the text of a value that JSON has no form for; what has none but its address is a mistake."""
    if isinstance(value, (datetime, Path)):
        return str(value)
    raise TypeError(f"a {type(value).__name__} cannot be hashed as JSON: {value!r}")


def sha256_text(text: str) -> str:
    """Return the SHA-256 hex digest of a text in UTF-8 (lone surrogates are escaped)."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def sha256_bytes(content: bytes) -> str:
    """Return the SHA-256 hex digest of bytes."""
    return hashlib.sha256(content).hexdigest()


def sha256_file(path: Path) -> str | None:
    """Return the SHA-256 hex digest of a file, None where there is none, or a folder in its place."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, IsADirectoryError):
        return None
