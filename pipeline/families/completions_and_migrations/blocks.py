"""Block completion instances of other languages: all of a post's code but its imports is masked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity, Language
from pipeline.families.completions_and_migrations.foreign import LibraryNames, read_code
from pipeline.families.completions_and_migrations.head import Candidates
from pipeline.families.completions_and_migrations.masks import MASKS
from pipeline.families.completions_and_migrations.rules import BlockRules
from pipeline.lake.guard import guarded
from pipeline.lake.ids import content_id
from pipeline.lake.rows import BlockCompletionRow, SnippetRow
from pipeline.lake.stage import Reject

_UNKNOWN = LibraryNames()


def make_blocks(
    snippets: Iterable[SnippetRow], libraries: Mapping[str, LibraryNames], rules: BlockRules
) -> Candidates[BlockCompletionRow]:
    """Make a block completion of each snippet that is not in Python; `libraries` says how code shows its library.

    The core token is hidden in the imports too. A snippet in which no name can be tied to the library is refused:
    nobody could say whether a completion uses it.
    """
    candidates: Candidates[BlockCompletionRow] = Candidates()
    foreign = (snippet for snippet in snippets if snippet["language"] != Language.PYTHON)
    for result in guarded(
        foreign,
        lambda snippet: str(snippet["id"]),
        lambda snippet: [_block(snippet, libraries.get(snippet["library"], _UNKNOWN), rules)],
    ):
        candidates.add(result)
    return candidates


def _block(snippet: SnippetRow, library: LibraryNames, rules: BlockRules) -> BlockCompletionRow | Reject:
    text = snippet["code"]
    if any(mask in text for mask in MASKS.values()):
        return Reject(snippet["id"], RejectReason.LEAKS_ANSWER, "the code holds the text of a mask")
    code = read_code(text, snippet["language"], library)
    answer = code.body.rstrip("\n")
    lines = answer.count("\n") + 1
    if not rules.min_lines <= lines <= rules.max_lines:
        reason = RejectReason.NO_BLOCK if lines < rules.min_lines else RejectReason.TOO_LONG
        return Reject(snippet["id"], reason, f"{lines} lines below the imports")
    if code.core is None:
        detail = "no name in it can be tied to the library by its imports or by curation_rules/stack_overflow.yaml"
        return Reject(snippet["id"], RejectReason.UNRESOLVED_NAME, detail)
    head = re.sub(rf"(?<!\w){re.escape(code.core)}(?!\w)", MASKS[Granularity.TOKEN], code.head)
    masked = head + MASKS[Granularity.BLOCK] + code.body[len(answer) :]
    return {
        "id": content_id("block", snippet["library"], snippet["version"], text),
        "library": snippet["library"],
        "version": snippet["version"],
        "language": snippet["language"],
        "snippet_id": snippet["id"],
        "code": text,
        "masked_code": masked,
        "answer": answer,
        "core_token": code.core,
    }
