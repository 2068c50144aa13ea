"""Taking out comments that would reveal an answer.

Masking hides the very name wherever it stands, but what is left of `# use df.append here, concat is slow` still says
what the code does at that place, in words that only the author of the answer could know.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Collection

from pipeline.snippets.needs import words_of

_TYPE = re.compile(r"#\s*type:")


def without_comments(code: str, names: Collection[str]) -> tuple[str, int]:
    """Return code without the comments that name one of `names` (in lower case), and how many those were.

    A comment on a line of its own goes with its line. Type comments are code. Code that cannot be read stays.
    """
    if "#" not in code:
        return code, 0
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code, newline="").readline))
    except (tokenize.TokenError, SyntaxError):
        return code, 0
    lines = code.split("\n")
    told = [token for token in tokens if token.type == tokenize.COMMENT and _names_one(token.string, names)]
    for token in reversed(told):
        row, column = token.start
        kept = lines[row - 1][:column].rstrip()
        lines[row - 1 : row] = [kept] if kept else []
    return "\n".join(lines), len(told)


def _names_one(comment: str, names: Collection[str]) -> bool:
    return not _TYPE.match(comment) and any(word.lower() in names for word in words_of(comment))
