"""The text of Python files in the encodings that they state."""

from __future__ import annotations

import io
import re
import tokenize

_BREAKS = re.compile(r"\r\n?")


def source_text(content: bytes) -> str | None:
    """Return Python source as text, lines ended by `\\n`, in the encoding that it states (PEP 263, 3120).

    None where it is not in that encoding, states one that there is not, or is no text.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        text = content.decode(encoding)
    except (SyntaxError, UnicodeError, LookupError):
        return None
    return None if "\0" in text else _BREAKS.sub("\n", text)
