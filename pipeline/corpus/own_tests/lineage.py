"""The same test in two releases: by qualified name, then by likeness."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Mapping


def match(old: Mapping[str, str], new: Mapping[str, str], similarity: float) -> dict[str, str]:
    """Return the old id of each new test that the old release has too; both map node ids to the text of the test.

    A test that only the new release has is one that vanished where both have one name below their files and no other
    has it, or else where their texts are most similar: of tests in one file, or of one function name. It is none where
    a test of one function name that both have is as similar: each of them fills in the same form for another API.
    """
    predecessors = {test: test for test in new if test in old}
    removed, added = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    matched: set[str] = set()
    by_name = defaultdict(list)
    for test in removed:
        by_name[_name(test)].append(test)
    names = [_name(test) for test in added]
    for test in added:
        same = by_name[_name(test)]
        if len(same) == 1 and names.count(_name(test)) == 1:
            predecessors[test] = same[0]
            matched.add(same[0])
    pairs = [
        (ratio, test, other)
        for test in added
        if test not in predecessors
        for other in removed
        if other not in matched and _is_near(test, other)
        if (ratio := _ratio(old[other], new[test], similarity)) >= similarity
    ]
    stayed = defaultdict(list)
    for test in new.keys() & old.keys():
        stayed[_place(test)].append(new[test])
    for ratio, test, other in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if test not in predecessors and other not in matched:
            if any(_ratio(text, new[test], ratio) >= ratio for text in stayed[_place(test)]):
                continue
            predecessors[test] = other
            matched.add(other)
    return predecessors


def _name(test: str) -> str:
    return test.partition("::")[2]


def _place(test: str) -> tuple[str, str]:
    """Return the file of a test and the name of its function."""
    return test.partition("::")[0], test.rpartition("::")[2]


def _is_near(one: str, other: str) -> bool:
    same_file = one.partition("::")[0] == other.partition("::")[0]
    return same_file or one.rpartition("::")[2] == other.rpartition("::")[2]


def _ratio(one: str, other: str, least: float) -> float:
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
        return 0.0
    return matcher.ratio()
