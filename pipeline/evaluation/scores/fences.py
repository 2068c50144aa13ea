"""The code of an answer that a chat model has put into a Markdown code block, as GitChameleon's prompts ask for."""

from __future__ import annotations

import re

from pipeline.core.vocabularies.families import Family
from pipeline.evaluation.scores.fragments import parse_fragment
from pipeline.families.all_families import BY_NAME

_FENCE = "```"
# Of an answer that was cut off the end is missing.
_BLOCK = re.compile(r"^ {0,3}```[^`\n]*\n(.*?)(?:^ {0,3}```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


def unfenced(family: Family, sample: str) -> str:
    """Return what stands in the last code block of a sample; the sample itself if it has none, or is code as it stands.

    The last one, since reasoning comes before the answer (GitChameleon 2.0, 2507.12367, figure 17). A scene's text
    goes to a cursor as it is: there a fence may be what is missing, as in a docstring.
    """
    if _FENCE not in sample or BY_NAME[family].verbatim:
        return sample
    blocks = _BLOCK.findall(sample.replace("\r\n", "\n"))
    return blocks[-1] if blocks and parse_fragment(sample) is None else sample
