"""Trees are made in one thread while another parses in the middle of it, in a finalizer or in a child that was forked."""

from __future__ import annotations

import ast
import gc
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.lake.collector import without_collector

PROGRAM = "\n".join(
    f"def f{number}(a, b=[{number}]):\n    return [a + b for a in {{1: (2, 3)}}]" for number in range(200)
)
MOST_S = 10
"""A thread that waits longer than this waits forever."""


@pytest.fixture
def _soon() -> Iterator[None]:
    thresholds = gc.get_threshold()
    gc.collect()
    gc.set_threshold(200)
    yield
    gc.set_threshold(*thresholds)


class Left:
    """An object in a circle, in whose finalizer another thread does something."""

    def __init__(self, act: Callable[[], object], pool: ThreadPoolExecutor) -> None:
        self.itself, self.act, self.pool = self, act, pool

    def __del__(self) -> None:
        self.pool.submit(self.act).result(MOST_S)


def _disturbed(parse: Callable[[str], ast.AST], act: Callable[[], object]) -> str:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        Left(act, pool)
        dumped = ast.dump(parse(PROGRAM))
        gc.collect()
    return dumped


def _format() -> str:
    try:
        return str([1 + None for _ in "a"])  # type: ignore[operator]
    except TypeError:
        return traceback.format_exc()


@pytest.mark.skipif(sys.version_info >= (3, 11, 8), reason="gh-106905 is solved")
@pytest.mark.usefixtures("_soon")
def test_python_itself_mixes_up_the_depths_of_threads() -> None:
    with pytest.raises(SystemError):
        _disturbed(ast.parse, lambda: ast.parse("1"))
    with pytest.raises(SystemError):
        _disturbed(ast.parse, _format)


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("act", [lambda: parse_python("1"), lambda: ast.parse("1"), lambda: literal_eval("1"), _format])
def test_another_thread_that_parses_in_a_finalizer_disturbs_nothing(act: Callable[[], object]) -> None:
    assert _disturbed(parse_python, act) == ast.dump(ast.parse(PROGRAM))


def test_the_collector_is_as_it_was() -> None:
    assert gc.isenabled()
    parse_python("1")
    with pytest.raises(SyntaxError):
        parse_python("1 +")
    assert gc.isenabled()
    with without_collector():
        parse_python("1")
        assert not gc.isenabled()
    assert gc.isenabled()


def test_many_threads_leave_the_collector_on() -> None:
    def parse_many(number: int) -> None:
        for _ in range(100):
            with without_collector():
                parse_python(f"{number}")
            parse_python(f"{number}")

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(parse_many, range(8))) == [None] * 8
    assert gc.isenabled()


def _in_child(number: int) -> tuple[int, bool]:
    return int(literal_eval(f"{number}")), gc.isenabled()


def test_a_process_that_is_forked_while_another_thread_parses_can_parse() -> None:
    ended = threading.Event()

    def parse_on() -> None:
        while not ended.is_set():
            parse_python(PROGRAM)

    thread = threading.Thread(target=parse_on)
    thread.start()
    try:
        for number in range(5):
            with get_context("fork").Pool(1) as pool:
                assert pool.apply_async(_in_child, (number,)).get(MOST_S) == (number, True)
    finally:
        ended.set()
        thread.join()


def test_values_and_errors_are_those_of_python() -> None:
    for text in (" [1, 'a', -2j]", "\tNone", "{1: {2}}"):
        assert literal_eval(text) == ast.literal_eval(text)
        assert literal_eval(ast.parse(text.strip(), mode="eval")) == ast.literal_eval(text)
    for text in ("f()", "", "\n 1", "1\0", "(" * 300):
        with pytest.raises((SyntaxError, ValueError)) as ours:
            literal_eval(text)
        with pytest.raises(ours.type):
            ast.literal_eval(text)
    assert ast.dump(parse_python("(int) -> str", mode="func_type")) == ast.dump(
        ast.parse("(int) -> str", mode="func_type")
    )
    assert ast.dump(parse_python(b"# coding: latin-1\n'\xe9'")) == ast.dump(parse_python("'é'"))
