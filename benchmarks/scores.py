"""Predictions scored per second on one core, side by side with plain scoring of each by itself, in one run.

    python -m benchmarks.scores starter --samples 5 --json scores.json

For each completion and migration of a snapshot five kinds of answers are written, all of them different texts: the
reference, one that uses another API, one that does not parse, one with another argument, one with a line more. Both
sides read the same file of predictions. The plain side is what one writes with the standard library: `json`, `re`,
`tokenize` and `ast`, a parse for each metric and prediction, the reference parsed again each time. Both must come to
the same EM and CDC. Rounds alternate, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import sys
import textwrap
import time
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from pipeline.cli.snapshots import find_snapshot
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Granularity
from pipeline.evaluation.scores.predictions import read_predictions
from pipeline.evaluation.scores.rules import ScoreRules
from pipeline.evaluation.scores.tally import tally
from pipeline.evaluation.scores.tasks import Task, read_tasks
from pipeline.snapshots.format.reader import Snapshot

ROUNDS = 5

_FAMILIES: frozenset[Family] = frozenset({Family.COMPLETION, Family.MIGRATION})

Totals = Mapping[str, float]
"""Sum over all samples of each metric that both sides have."""

Asked = tuple[str, str, str]
"""Granularity, reference and core token of a task."""


def asked(task: Task) -> Asked:
    """Return what a task asks for."""
    if task.family is Family.MIGRATION:
        return Granularity.BLOCK, task.row["target_code"], task.row["target_name"]
    return task.row["granularity"], task.row["answer"], task.row["core_token"]


def of_code(by_family: Mapping[Family, Task]) -> dict[Family, Task]:
    """Return those tasks of an id that both sides score."""
    return {family: task for family, task in by_family.items() if family in _FAMILIES}


def answers(reference: str, name: str, samples: int) -> Iterator[str]:
    """Yield different answers: right ones, wrong ones, and ones that do not parse."""
    for number in range(samples):
        kind, other = number % 5, f"{name}_{number}"
        if kind == 0:
            yield reference if number == 0 else f"{reference}  # {number}"
        elif kind == 1:
            yield reference.replace(name, other)
        elif kind == 2:
            yield f"{reference} ({number}"
        elif kind == 3:
            yield reference.replace("(", f"(key_{number}=1, ", 1)
        else:
            yield f"value_{number} = 1\n{textwrap.dedent(reference)}"


def ours(path: Path, tasks: Mapping[str, Mapping[Family, Task]], rules: ScoreRules) -> Totals:
    """Score a file as `driftline score` does."""
    with path.open("rb") as file:
        found = tally(tasks, read_predictions(file, rules), rules, lambda task: ())
    totals: dict[str, float] = defaultdict(float)
    for by_metric in found.scores.values():
        for metric, scores in by_metric.items():
            totals[metric] += sum(scores)
    return totals


def plain(path: Path, tasks: Mapping[str, Asked]) -> Totals:
    """Score a file with the standard library, each prediction by itself."""
    totals: dict[str, float] = defaultdict(float)
    with path.open() as file:
        for line in file:
            prediction = json.loads(line)
            granularity, reference, name = tasks[prediction["id"]]
            for sample in prediction["completions"]:
                if granularity == Granularity.TOKEN:
                    totals["em"] += sample.strip() == name
                    continue
                named = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sample) is not None
                totals["em"] += named
                totals["ism"] += begun(names_of(sample), names_of(reference))
                totals["pm"] += begun(tokens_of(sample), tokens_of(reference))
                totals["cdc"] += named and critical_diff(sample, reference, name)
                totals["api_f1"] += f1(expressions_of(sample), expressions_of(reference))
    return totals


def tree_of(code: str) -> ast.Module | None:
    """Parse a fragment as one would."""
    text = textwrap.dedent(code).strip()
    body = f"{text} pass" if text.endswith(":") else text
    hanging = [f"if True:\n{' ' * margin}{text}" for margin in (4, 8, 12, 16)]
    for attempt in (
        text,
        body,
        *hanging,
        f"if True:\n    pass\n{body}",
        f"try:\n    pass\n{body}",
        f"{text}\ndef f(): pass",
    ):
        try:
            return ast.parse(attempt)
        except SyntaxError:
            continue
    return None


def tokens_of(code: str) -> list[str]:
    """Return the tokens of code, as far as it can be read."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.string.strip():
                found.append(token.string)  # noqa: PERF401 - what was found before an error counts
    except (tokenize.TokenError, IndentationError):
        pass
    return found


def names_of(code: str) -> list[str]:
    """Return the identifiers of code."""
    return [token for token in tokens_of(code) if token.isidentifier()]


def begun(found: list[str], wanted: list[str]) -> float:
    """Return how much of a sequence another one begins with."""
    same = 0
    for one, other in zip(found, wanted, strict=False):
        if one != other:
            break
        same += 1
    return same / len(wanted) if wanted else 0.0


def calls_of(tree: ast.Module, name: str) -> list[ast.Call]:
    """Return the calls of a name."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = (call for call in calls if getattr(call.func, "attr", getattr(call.func, "id", None)) == name)
    return sorted(named, key=lambda call: (call.lineno, call.col_offset))


def critical_diff(sample: str, reference: str, name: str) -> bool:
    """Say whether the rules 2 to 5 of the critical diff check hold."""
    found, wanted = tree_of(sample), tree_of(reference)
    if found is None or wanted is None:
        return False
    has_with = [any(isinstance(node, ast.With | ast.AsyncWith) for node in ast.walk(tree)) for tree in (wanted, found)]
    if has_with == [True, False]:
        return False
    asks = calls_of(wanted, name)[:1]
    calls = calls_of(found, name)
    for call in asks:
        count, keywords = len(call.args) + len(call.keywords), {keyword.arg for keyword in call.keywords} - {None}
        alike = [other for other in calls if len(other.args) + len(other.keywords) == count]
        if keywords:
            alike = [other for other in alike if {keyword.arg for keyword in other.keywords} - {None} == keywords]
        if not alike:
            return False
    return True


def expressions_of(code: str) -> Counter[str]:
    """Return the calls and attributes of code."""
    tree = tree_of(code)
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)} if tree else set()
    inner |= {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)} if tree else set()
    found: Counter[str] = Counter()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            found[dotted(node.func)] += 1
        elif isinstance(node, ast.Attribute) and id(node) not in inner:
            found[dotted(node)] += 1
    return found


def dotted(node: ast.expr) -> str:
    """Return a dotted name."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def f1(found: Counter[str], wanted: Counter[str]) -> float:
    """Return the F1 of two bags."""
    total = found.total() + wanted.total()
    return 2 * (found & wanted).total() / total if wanted and total else 0.0


def timed(work: Callable[[], Totals]) -> tuple[float, Totals]:
    """Return the seconds that work took, and what it returned."""
    started = time.process_time()
    done = work()
    return time.process_time() - started, done


def agree(one: Totals, other: Totals) -> Iterable[str]:
    """Yield what the two sides do not agree on; those that have more than one definition are not compared."""
    for metric in ("em", "cdc"):
        if round(one[metric], 6) != round(other[metric], 6):
            yield f"{metric}: {one[metric]} and {other[metric]}"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot", nargs="?", default="starter")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rules = load(RULES / "scores.yaml", ScoreRules)
    whole = read_tasks(Snapshot(find_snapshot(arguments.snapshot)), rules.facets)
    tasks = {of: of_code(by) for of, by in whole.items()}
    wanted = {of: asked(next(iter(by.values()))) for of, by in tasks.items() if by}
    seconds: dict[str, list[float]] = {"driftline": [], "plain": []}
    with TemporaryDirectory() as folder:
        path = Path(folder, "predictions.jsonl")
        with path.open("w") as file:
            for of, (_, reference, name) in wanted.items():
                texts = list(answers(reference, name, arguments.samples))
                file.write(json.dumps({"id": of, "completions": texts}) + "\n")
        for _ in range(ROUNDS):
            spent, of_ours = timed(lambda: ours(path, tasks, rules))
            seconds["driftline"].append(spent)
            spent, of_plain = timed(lambda: plain(path, wanted))
            seconds["plain"].append(spent)
    if different := list(agree(of_ours, of_plain)):
        sys.exit("the two sides do not agree: " + "; ".join(different))
    report(seconds, len(wanted) * arguments.samples, arguments.json)


def report(seconds: Mapping[str, list[float]], samples: int, path: Path | None) -> None:
    """Print a line for each side."""
    rates = {side: samples / median(spent) for side, spent in seconds.items()}
    table = Table("side", "predictions a second on a core, median", "best", "ratio")
    for side, spent in seconds.items():
        table.add_row(
            side, f"{rates[side]:,.0f}", f"{samples / min(spent):,.0f}", f"{rates[side] / rates['plain']:.1f}"
        )
    Console().print(f"{samples:,} different predictions, read from a file")
    Console().print(table)
    if path:
        path.write_text(json.dumps({"predictions": samples, "seconds": seconds, "rates": rates}, indent=1) + "\n")


if __name__ == "__main__":
    main()
