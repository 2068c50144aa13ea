"""Changes of what a library does not offer, where code of the corpus or its own tests use it: they break that code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from pipeline.api.history.rules import LifecycleRules
from pipeline.core.vocabularies.changes import OFFERED, ChangeKind, Reach
from pipeline.lake.rows import ChangeRow, OwnTestRow, UsageRow


def changes_in_use(changes: Iterable[ChangeRow], paths: Iterable[str], rules: LifecycleRules) -> list[ChangeRow]:
    """Return the changes, with the reach USED for those of paths that the library does not offer and code uses.

    `paths` are those of the uses, of any release. Who uses a member uses its class, its module and no more. Such a
    change is breaking as its kind is; where the comparison saw that no code breaks, it has left `griffe_kind` empty.
    """
    used = {above for path in set(paths) for above in _with_parents(path)}
    return [_in_use(change, used, rules) for change in changes]


def paths_in_use(usages: Iterable[UsageRow], own_tests: Iterable[OwnTestRow]) -> Iterator[str]:
    """Yield the public paths that code of the corpus uses, and those that the library's own tests use."""
    yield from (usage["path"] for usage in usages)
    for test in own_tests:
        yield from test["apis"]


def _with_parents(path: str) -> Iterable[str]:
    while path:
        yield path
        path = path.rpartition(".")[0]


def _in_use(change: ChangeRow, used: Set[str], rules: LifecycleRules) -> ChangeRow:
    if change["reach"] in OFFERED or change["path"] not in used:
        return change
    tags = rules.changes[ChangeKind(change["kind"])]
    if change["kind"] == ChangeKind.USE:
        # a use that only came breaks nothing
        can_fail = change["old"] is not None
    else:
        can_fail = tags.breaking and (tags.griffe is None or change["griffe_kind"] is not None)
    return change | {"reach": Reach.USED, "breaking": can_fail}
