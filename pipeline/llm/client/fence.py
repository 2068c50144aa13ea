"""Crawled text in a prompt: fenced, so that nothing in it can end the fence or pass for an instruction of ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

OPEN, CLOSE = "<data>", "</data>"


def fenced(fields: Mapping[str, Any]) -> str:
    """Return fields as JSON between two marks, without a `<` in it: `json.loads` of what is inside gives the fields."""
    text = json.dumps(fields, ensure_ascii=False, indent=1).replace("<", "\\u003c")
    return f"{OPEN}\n{text}\n{CLOSE}"
