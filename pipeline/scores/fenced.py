"""The code of an answer that stands in a code block, as prompts for problems ask for it."""

from __future__ import annotations

import re

from pipeline.scores.fragments import parse_program

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def code_of(starting_code: str, sample: str) -> str:
    """Return the code of a solution: as it stands, or that of its last code block if it is no program as it stands.

    GitChameleon 2.0 asks for a block of Markdown, with thoughts before it and nothing after it (2507.12367, figures 17
    and 18).
    """
    if any(parse_program(text) for text in (f"{starting_code}{sample}", sample)):
        return sample
    return _last_block(sample) or sample


def _last_block(text: str) -> str:
    """Return what the last fenced block of a text holds, to its end where it is not closed; nothing without a block."""
    fence, lines = "", list[str]()
    for line in text.splitlines():
        mark = _FENCE.fullmatch(line)
        if fence and mark and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
        elif fence:
            lines.append(line)
        elif mark and "`" not in mark[2]:
            fence, lines = mark[1], []
    return "".join(f"{line}\n" for line in lines)
