"""What a choice leaves: the profile, and a table of every library that was considered, with its reason."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from pipeline.orchestration.library_choice.choose import Considered
from pipeline.orchestration.library_choice.rules import ChoosingRules

COLUMNS = ("rank", "library", "verdict", "detail", "asked", "releases", "pure", "licence")

_HEAD = """\
# Made by `driftline libraries choose` from curation_rules/libraries.yaml and data/libraries: change those, not this.
# The {count} most downloaded libraries that suit, and all their releases. Of those that the index was not asked about
# only rank, newest release and summary are known: {unasked}.
name: {name}
libraries:
"""


def profile_text(considered: Sequence[Considered], rules: ChoosingRules) -> str:
    """Return the profile as a file of `curation_rules/profiles`."""
    chosen = [each for each in considered if each.reason is None]
    unasked = sum(each.fact is None for each in chosen)
    head = _HEAD.format(count=len(chosen), unasked=unasked, name=rules.profile)
    return head + "".join(f"  - {each.ranked.library}\n" for each in chosen)


def considered_text(considered: Sequence[Considered]) -> str:
    """Return a CSV with a line for each library that was considered: `chosen`, or why not."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in considered:
        fact = one.fact
        columns = (fact.observed, fact.releases, fact.pure, fact.licence) if fact else ("", "", "", "")
        verdict = str(one.reason) if one.reason else "chosen"
        writer.writerow((one.ranked.rank, one.ranked.library, verdict, one.detail, *columns))
    return text.getvalue()
