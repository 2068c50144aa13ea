"""What the reference makes of inputs, recorded by running it in its own environment."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pipeline.lake import Row
from pipeline.problems.program import Written, call
from pipeline.problems.rules import ProblemRules
from pipeline.problems.stated import Outcome, outcome_of_literal
from pipeline.problems.tasks import CaseOf, Task

_MARK = "driftline-recorded "
# Runs after the program, in its namespace. A result is kept if a literal makes an equal one of the same kind, or if its
# representation tells more than an address.
_RECORDER = """
def _record(number, made):
    import ast, json
    try:
        value = made()
        told = {"number": number, "shown": repr(value), "is_literal": False}
    except Exception:
        return
    try:
        again = ast.literal_eval(told["shown"])
        told["is_literal"] = type(again) is type(value) and bool(again == value)
    except Exception:
        pass
    print("\\n" + %r + json.dumps(told), flush=True)
"""


def recorder(task: Task, written: Written, inputs: Sequence[tuple[str, ...]]) -> str:
    """Return a script that calls the function with inputs, and prints what each gives."""
    calls = [
        f"_record({number}, lambda: {call(written, CaseOf(arguments, Outcome()))})"
        for number, arguments in enumerate(inputs)
    ]
    return "\n".join([*task.argument_imports, _RECORDER % _MARK, *calls, ""])


def read_recorded(output: str, inputs: Sequence[tuple[str, ...]], rules: ProblemRules) -> list[CaseOf]:
    """Read what a recorder printed; the cases that the rules keep, new results before those that others give too."""
    cases: list[CaseOf] = []
    for line in output.splitlines():
        told = _told(line)
        if told is None or not 0 <= told["number"] < len(inputs):
            continue
        outcome = outcome_of_literal(told["shown"]) if told["is_literal"] else _shown(told["shown"])
        if outcome is not None and len(told["shown"]) <= rules.max_recorded_characters:
            cases.append(CaseOf(inputs[told["number"]], outcome))
    return cases


def choose(recorded: Sequence[CaseOf], stated: Sequence[CaseOf], limit: int) -> list[CaseOf]:
    """Choose recorded cases to be tested: not what is stated, and new results first."""
    known = {case.arguments for case in stated}
    results = {case.outcome for case in stated}
    fresh: list[CaseOf] = []
    same: list[CaseOf] = []
    for case in recorded:
        if case.arguments in known:
            continue
        (same if case.outcome in results else fresh).append(case)
        known.add(case.arguments)
        results.add(case.outcome)
    return [*fresh, *same][:limit]


def _told(line: str) -> Row | None:
    if not line.startswith(_MARK):
        return None
    try:
        told = json.loads(line.removeprefix(_MARK))
        fits = isinstance(told["number"], int) and isinstance(told["shown"], str)
    except (ValueError, TypeError, KeyError):
        return None
    return told if fits else None


def _shown(text: str) -> Outcome | None:
    vague = not text or text.startswith("<") or "0x" in text or "…" in text
    return None if vague else Outcome(shown=text)
