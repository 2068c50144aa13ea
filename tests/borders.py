"""Which borders of a module its tests do not notice: `python -m tests.borders pipeline/a/b.py [tests …]`.

Each comparison, number, `and` and `or` in its functions is changed, one at a time, and the tests that reach its line are
run. Tests are collected once: each change runs in a child, in which the function has other code.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import signal
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest

OTHER: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
SPARE_S = 20
"""How much longer than its tests a change may take: one that never ends is noticed."""


def changes_of(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Change a tree in one place after the other; yield the line, and the change, while the tree has it."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                for at, operator in enumerate(node.ops):
                    node.ops[at] = OTHER[type(operator)]()
                    yield node.lineno, ast.unparse(node)
                    node.ops[at] = operator
            case ast.BoolOp(op=operator):
                node.op = ast.Or() if isinstance(operator, ast.And) else ast.And()
                yield node.lineno, ast.unparse(node)
                node.op = operator
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                for other in (value - 1, value + 1):
                    node.value = other
                    yield node.lineno, f"{other} in place of {value}"
                node.value = value


def functions_in(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the outermost functions of a module."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        elif isinstance(child, ast.ClassDef):
            yield from functions_in(child)


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of every function below a code."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes_in(constant)


def in_child(work: Callable[[], bool], time_s: float = 0) -> bool:
    """Do work in a child, within some seconds; say whether it ended well."""
    if child := os.fork():
        return os.waitpid(child, 0)[1] == 0
    os.setpgid(0, 0)
    signal.alarm(int(time_s))
    well = False
    try:
        well = work()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
        os._exit(not well)


class Borders:
    """A plugin of pytest that runs the collected tests against a module with one change after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[str, list[int]] = defaultdict(list)
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed = False
        self.survivors: list[str] = []
        self.total = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> bool:
        self.failed |= report.failed
        self.seconds[report.nodeid] += report.duration
        return True

    def run(self, items: list[pytest.Item], *, traced: bool = False) -> bool:
        """Run tests until one fails; say whether none did."""
        for item, after in zip(items, [*items[1:], None], strict=True):
            if traced:
                sys.settrace(self.tracer(item.nodeid))
                threading.settrace(self.tracer(item.nodeid))
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            sys.settrace(None)
            if self.failed:
                return False
        return True

    def tracer(self, test: str) -> Callable[[FrameType, str, object], Any]:
        path, lines = str(self.path), self.lines[test]

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            if frame.f_code.co_filename != path:
                return None
            lines.append(frame.f_lineno)
            return trace

        return trace

    def learn(self, items: list[pytest.Item]) -> None:
        """Find the lines that each test reaches, and its seconds."""
        with tempfile.NamedTemporaryFile() as file:

            def work() -> bool:
                well = self.run(items, traced=True)
                lines = {test: sorted({*numbers}) for test, numbers in self.lines.items()}
                Path(file.name).write_text(json.dumps([lines, self.seconds]))
                return well

            if not in_child(work):
                raise pytest.UsageError("tests fail without any change")
            self.lines, self.seconds = json.loads(Path(file.name).read_text())

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.learn(session.items)
        tree = ast.parse(self.path.read_text())
        live: dict[str, list[FunctionType]] = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__.co_filename == str(self.path):
                live[each.__code__.co_qualname].append(each)
        for function in functions_in(tree):
            for line, change in changes_of(function):
                self.total += 1
                code = compile(tree, str(self.path), "exec")
                reaching = [item for item in session.items if line in self.lines.get(item.nodeid, ())]
                reaching.sort(key=lambda item: self.seconds[item.nodeid])

                def work(code: CodeType = code, reaching: list[pytest.Item] = reaching) -> bool:
                    for other in codes_in(code):
                        for each in live.get(other.co_qualname, ()):
                            if each.__code__.co_firstlineno == other.co_firstlineno:
                                each.__code__ = other
                    return self.run(reaching)

                time_s = SPARE_S + 3 * sum(self.seconds[item.nodeid] for item in reaching)
                if not reaching or in_child(work, time_s):
                    self.survivors.append(
                        f"{self.path.name}:{line}: {change}{'' if reaching else ' (no test is here)'}"
                    )
                    print(self.survivors[-1], flush=True)
        print(f"{self.path.name}: {len(self.survivors)} of {self.total} changes unnoticed", flush=True)
        return True


def mirrored(path: Path) -> str:
    """Return the tests of a module: the file that mirrors it, else the nearest folder that mirrors its package."""
    own = Path("tests", *path.parts[1:-1], f"test_{path.name}")
    return str(own if own.is_file() else next(folder for folder in own.parents if folder.is_dir()))


def main(module: str, *tests: str) -> None:
    """Run the tests of a module, or others, against it with every change."""
    plugin = Borders(Path(module).resolve())
    options = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:terminalreporter"]
    pytest.main([*options, *(tests or [mirrored(Path(module))])], plugins=[plugin])


if __name__ == "__main__":
    main(*sys.argv[1:])
