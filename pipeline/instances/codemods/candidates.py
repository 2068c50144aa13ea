"""Which snippets are rewritten, for which release, and the pairs that they make with what they were."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipeline.instances.codemods.rewrite import Rewritten, rewrite
from pipeline.instances.codemods.rules import CodemodRules
from pipeline.instances.codemods.signatures import Unfit
from pipeline.instances.codemods.transitions import Step, Transition, transitions
from pipeline.instances.history import History
from pipeline.instances.pairs import Pair, Side, similarity
from pipeline.lake import Reject, Row, content_id
from pipeline.snippets import source_of
from pipeline.terms import Direction, RejectReason


def rewritten_examples(
    snippets: Iterable[Row],
    usages: Mapping[str, Sequence[Row]],
    changes: Iterable[Row],
    lifecycles: Iterable[Row],
    history: History,
    rules: CodemodRules,
) -> Iterator[Pair | Reject]:
    """Yield a pair, or a reject, for each snippet that uses what changes between its release and a neighbour.

    A snippet of the older release is written for the newer one. One that the older release does not have is written
    backwards, where the inverse is known. A snippet in which nothing changes is no candidate.
    """
    users = _Users(snippets, usages)
    for transition in transitions(changes, lifecycles, history):
        for snippet in users.of(transition):
            result = _pair(snippet, usages[snippet["id"]], transition, rules)
            if result is not None:
                yield result


class _Users:
    """The snippets of a library by the paths that they use."""

    def __init__(self, snippets: Iterable[Row], usages: Mapping[str, Sequence[Row]]) -> None:
        self.by_path: dict[str, dict[str, Row]] = defaultdict(dict)
        self.first_use: dict[str, Row] = {}
        for snippet in sorted(snippets, key=lambda row: row["id"]):
            for usage in usages.get(snippet["id"], ()):
                self.by_path[usage["path"]][snippet["id"]] = snippet
                self.first_use.setdefault(usage["path"], usage)

    def of(self, transition: Transition) -> list[Row]:
        """Return the snippets that a transition may touch, by id."""
        found: dict[str, Row] = {}
        for path, usage in self.first_use.items():
            if transition.step(usage) is not None:
                found |= {key: row for key, row in self.by_path[path].items() if _belongs(row, transition)}
        return [found[key] for key in sorted(found)]


def _belongs(snippet: Row, transition: Transition) -> bool:
    holds = [
        transition.history.within(version, snippet["version"], snippet["last_version"])
        for version in (transition.source, transition.target)
    ]
    return holds[0] if transition.direction == Direction.OLD_TO_NEW else holds == [True, False]


def _pair(snippet: Row, usages: Sequence[Row], transition: Transition, rules: CodemodRules) -> Pair | Reject | None:
    key = f"{snippet['id']} {transition.target}"
    steps = [step for usage in usages if (step := transition.step(usage)) is not None]
    steps = [step for step in steps if step.basis in rules.follow]
    lines = source_of(snippet).count("\n") + 1
    if not steps:
        return None
    if lines > rules.max_lines:
        return Reject(key, RejectReason.TOO_LONG, f"{lines} lines, the rule for codemods takes {rules.max_lines}")
    try:
        written = rewrite(snippet, [step.task for step in steps])
    except Unfit as error:
        return Reject(key, RejectReason.NO_CODEMOD, f"{steps[0].task.usage['path']}: {error}")
    return None if written is None else _as_pair(snippet, steps, written, transition)


def _as_pair(snippet: Row, steps: Sequence[Step], written: Rewritten, transition: Transition) -> Pair:
    edited = {edit["path"] for edit in written.edits}
    done = [step for step in steps if step.task.usage["path"] in edited]
    core = min(done, key=lambda step: (step.task.usage["path"] != snippet["path"], step.task.usage["start_byte"]))
    row = _row(snippet, done, written, transition)
    here = Side(snippet, transition.source, core.task.usage["path"])
    there = Side(snippet, transition.target, core.path, row)
    old, new = (here, there) if transition.direction == Direction.OLD_TO_NEW else (there, here)
    return Pair(old, new, core.basis, similarity(old.code, new.code))


def _row(snippet: Row, done: Sequence[Step], written: Rewritten, transition: Transition) -> Row:
    pieces = written.pieces
    statements = pieces.statements or [check["statement"] for check in snippet["checks"]]
    return {
        "id": content_id("rewrite", snippet["library"], transition.target, pieces.preamble, pieces.code, *statements),
        "library": snippet["library"],
        "version": transition.target,
        "snippet_id": snippet["id"],
        "snippet_version": transition.source,
        "changes": sorted({change for step in done for change in step.change_ids}),
        "preamble": pieces.preamble,
        "code": pieces.code,
        "checks": [
            {**check, "statement": statement} for check, statement in zip(snippet["checks"], statements, strict=True)
        ],
        "edits": list(written.edits),
    }
