"""Taking out comments that would reveal an answer.

Masking hides the very name wherever it stands, but what is left of `# use df.append here, concat is slow` still says
what the code does at that place, in words that only the author of the answer could know.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator

from pipeline.corpus.snippets.needs import words_of

_TYPE = re.compile(r"#\s*type:")


def without_comments(code: str, names: Collection[str]) -> tuple[str, int]:
    """Return code without the comments that name one of `names` (in lower case), and how many those were.

    Comments on lines of their own that follow each other are one, and go with their lines. Type comments are code.
    Code that cannot be read stays.
    """
    if "#" not in code:
        return code, 0
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code, newline="").readline))
    except (tokenize.TokenError, SyntaxError):
        return code, 0
    if any(token.type == tokenize.ERRORTOKEN for token in tokens):
        return code, 0
    lines = code.split("\n")
    revealing = [comment for comment in _comments(tokens) if any(_reveals(token.string, names) for token in comment)]
    for token in reversed([token for comment in revealing for token in comment]):
        row, column = token.start
        code_part = lines[row - 1][:column].rstrip()
        lines[row - 1 : row] = [code_part] if code_part else []
    return "\n".join(lines), len(revealing)


def _comments(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[list[tokenize.TokenInfo]]:
    """Yield the comments, those together that stand on lines of their own and follow each other."""
    together: list[tokenize.TokenInfo] = []
    for token in tokens:
        if token.type != tokenize.COMMENT or _TYPE.match(token.string):
            continue
        alone = token.line[: token.start[1]].strip() == ""
        if together and (not alone or token.start[0] != together[-1].start[0] + 1):
            yield together
            together = []
        together.append(token)
        if not alone:
            yield together
            together = []
    if together:
        yield together


def _reveals(comment: str, names: Collection[str]) -> bool:
    return any(word.lower() in names for word in words_of(comment))
