"""What strangers write into names and licences, and a table of Markdown as its reader splits it."""

from __future__ import annotations

import re

HOSTILE = [
    "a | b",
    "two\nlines\r\nand\u2028three",
    "---",
    "\n---\nlicense: mit\n---\n",
    "`code` and ``more``",
    "<script>alert(1)</script>",
    "&lt;b&gt;",
    "[text](javascript:alert) ![image](x)",
    "\\| \\\\| \\",
    "**bold** __bold__ ~~gone~~",
    "# heading",
    "\x00\x1b[31mred\x07",
    "\u202eeht fo esnecil",
    "{{ 1 + 1 }} {% raw %}",
]


def cells(line: str) -> list[str]:
    """The cells of a line of a table, as a reader of Markdown splits them (GitHub Flavored Markdown, 4.10)."""
    return re.split(r"(?<!\\)(?:\\\\)*\|", line.strip())[1:-1]
