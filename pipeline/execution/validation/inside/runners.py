"""Test runners that a case calls itself (`unittest.main()`, `doctest.testmod()`, `pytest.main()`): their results count.

A script that goes on after a failed test, or looks at no result, does not pass; one that leaves after it passed does.
"""

import contextlib
import os
import sys
import traceback
import types

from .execute import written
from .outcomes import Failed, failed, is_own
from .vacuous import generator, is_empty, is_generator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_MODULE = "test_case"
_OF_MODULES = frozenset(vars(types.ModuleType("")))


class Runners:
    """What the runners that a case calls have found, and the tests of the case that they have run."""

    def __init__(self, main: types.ModuleType, import_names: "list[str]", backwards: bool) -> None:
        self.namespace, self.import_names, self.backwards = vars(main), import_names, backwards
        self.calls, self.passed, self.collected = 0, 0, 0
        self.failures: list[Failed] = []
        self.idle = "no statement of it can fail, and it defines no test"
        self.ran: dict[int, object] = {}
        self.is_running = False
        self.watched: list[tuple[Any, str, Any]] = []

    def watch(self, source: str) -> None:
        """Observe the runners that source names; what it does not name is not imported for it."""
        if "unittest" in source:
            self.watch_unittest()
        if "doctest" in source:
            self.watch_doctest()
        if "pytest" in source:
            with contextlib.suppress(ImportError):
                self.watch_pytest()

    def replace(self, owner: "Any", name: str, function: "Any") -> None:
        """Put an observing function in the place of one of a runner."""
        setattr(owner, name, function)
        self.watched.append((owner, name, vars(owner)[name]))

    def refuse_replaced(self) -> None:
        """Raise Failed if code has put something in the place of what observes a runner: its tests were not run."""
        for owner, name, function in self.watched:
            if vars(owner).get(name) is not function:
                raise Failed("wrong_exception", f"the code replaced {name} of a test runner")

    def ended(self, error: BaseException, name: str) -> bool:
        """Say whether source of that name left as a runner does after its tests, and nothing that it called did."""
        own = {frame.filename for frame in traceback.extract_tb(error.__traceback__) if is_own(frame.filename)}
        is_after_tests = isinstance(error, SystemExit) and self.calls > 0 and own == {name}
        return is_after_tests and (bool(self.failures) or not error.code)  # type: ignore[attr-defined]

    def judge(self) -> None:
        """Raise Failed if any test failed."""
        if self.failures:
            raise self.failures[0]

    def run_defined(self, names: "set[str]") -> None:
        """Run with pytest what is a test among the definitions of these names, and was not run."""
        tests = {name for name in names if self.is_test(name)}
        if tests:
            from .pytest_run import run_pytest

            path, calls = self.write_module(tests), len(self.failures)
            self.count_pytest(lambda recorder: run_pytest([path], recorder))
            functions = [name for name in tests if not isinstance(self.namespace[name], type)]
            if functions and not self.collected and len(self.failures) == calls:
                self.failures.append(Failed("wrong_exception", f"pytest did not come to {functions[0]}"))

    def is_case(self, name: str) -> bool:
        """Say whether a name is that of a class of unittest's tests."""
        value, unittest = self.namespace.get(name), sys.modules.get("unittest")  # type: Any, Any
        return isinstance(value, type) and unittest is not None and issubclass(value, unittest.TestCase)

    def is_test(self, name: str) -> bool:
        """Say whether pytest would take what has a name for a test, and it was not run."""
        value = self.namespace.get(name)
        is_named = name.startswith("Test" if isinstance(value, type) else "test") and callable(value)
        return (is_named or self.is_case(name)) and id(value) not in self.ran

    def write_module(self, tests: "set[str]") -> str:
        """Return the path of a module for pytest that has these tests, and of the namespace all that is no test.

        It is loaded already, so that no statement runs a second time.
        """
        names = {name for name in self.namespace if name in tests or not self.is_test(name)} - _OF_MODULES
        module = types.ModuleType(_MODULE)
        vars(module).update({name: self.namespace[name] for name in names})
        module.__file__ = written(_MODULE + ".py", "")
        self.ran.update({id(self.namespace[name]): self.namespace[name] for name in tests})
        sys.modules[_MODULE] = module
        return module.__file__

    def count_pytest(self, run: "Callable[[Any], int]") -> int:
        """Run pytest with a plugin that counts, and return its status."""
        from .pytest_run import Recorder

        recorder = Recorder(self.import_names, self.backwards)
        with self.running():
            status = run(recorder)
        self.passed += recorder.proven
        self.collected = len(recorder.collected)
        self.idle = recorder.idle()
        try:
            recorder.judge(status)
        except Failed as problem:
            if recorder.proven or recorder.failing or recorder.broken_off:
                self.failures.append(problem)
        return status

    @contextlib.contextmanager
    def running(self) -> "Iterator[None]":
        """Count a call of a runner; what its tests do with runners is their own matter."""
        self.calls += 1
        self.is_running = True
        try:
            yield
        finally:
            self.is_running = False

    def counts(self) -> bool:
        """Say whether a runner is called for the case itself: not by a test, nor by code that a test calls."""
        files, frame = [], sys._getframe(2)  # type: list[str], Any
        while frame is not None:
            files += [frame.f_code.co_filename] if is_own(frame.f_code.co_filename) else []
            frame = frame.f_back
        return not self.is_running and bool(files) and files[0] == files[-1]

    def watch_unittest(self) -> None:
        """Observe the runner of unittest, which `unittest.main()` uses too."""
        import unittest

        run = unittest.TextTestRunner.run

        def observed(runner: "Any", test: "Any") -> "Any":
            if not self.counts():
                return run(runner, test)
            make, empty = runner._makeResult, []  # type: Any, list[object]
            runner._makeResult = lambda: self.observed_result(make(), empty)
            with self.running():
                result = run(runner, test)
            unproven = [*result.skipped, *result.expectedFailures, *result.unexpectedSuccesses, *empty]
            self.passed += max(0, result.testsRun - len(unproven))
            if not self.failures and result.unexpectedSuccesses:
                self.failures.append(Failed("failed_assertion", f"{result.unexpectedSuccesses[0]}: unexpected success"))
            unproven_only = "every test is skipped, expected to fail, or names nothing"
            self.idle = unproven_only if result.testsRun else "no test was found"
            return result

        self.replace(unittest.TextTestRunner, "run", observed)

    def observed_result(self, result: "Any", empty: "list[object]") -> "Any":
        """Let a result of unittest tell which tests it gets, and what they raise."""

        def reporting(method: "Any") -> "Any":
            def report(test: "Any", *of_test: "Any") -> "Any":
                if of_test[-1] is not None:  # a subtest that passed
                    outcome, message = failed(of_test[-1][1], of_test[-1][2], self.import_names).args
                    self.failures.append(Failed(outcome, f"{test}: {message}"))
                return method(test, *of_test)

            return report

        start = result.startTest

        def started(test: "Any") -> "Any":
            self.ran[id(type(test))] = type(test)
            function = getattr(test, getattr(test, "_testMethodName", ""), None)
            empty.extend([test] if is_empty(function, type(test), has_fixtures=False) else [])
            self.failures.extend([generator(str(test))] if is_generator(function) else [])
            return start(test)

        for name in ("addError", "addFailure", "addSubTest"):
            setattr(result, name, reporting(getattr(result, name)))
        result.startTest = started
        return result

    def watch_doctest(self) -> None:
        """Observe the runner of doctest, which `doctest.testmod()` and `testfile()` use too."""
        import doctest

        run = doctest.DocTestRunner.run

        def observed(runner: "Any", test: "Any", *options: "Any", **named: "Any") -> "Any":
            if not self.counts():
                return run(runner, test, *options, **named)
            with self.running():
                result = run(runner, test, *options, **named)
            self.passed += result.attempted - result.failed
            self.idle = "no example was found"
            if result.failed:
                problem = f"{test.name}: {result.failed} of {result.attempted} examples failed"
                self.failures.append(Failed("failed_assertion", problem))
            return result

        self.replace(doctest.DocTestRunner, "run", observed)

    def watch_pytest(self) -> None:
        """Observe `pytest.main()`: of files it runs those that are there, else the tests of the case itself."""
        import pytest

        run = pytest.main

        def observed(args: "Any" = None, plugins: "Any" = None) -> int:
            if not self.counts():
                return int(run(args, plugins))
            arguments = args.split() if isinstance(args, str) else [str(argument) for argument in args or ()]
            others = [argument for argument in arguments if not is_own(place_of(argument))]
            if not any(os.path.exists(place_of(argument)) for argument in others):
                others.append(self.write_module({name for name in self.namespace if self.is_defined(name)}))
            return self.count_pytest(lambda recorder: int(run(others, [*(plugins or ()), recorder])))

        self.replace(pytest, "main", observed)

    def is_defined(self, name: str) -> bool:
        """Say whether a name is that of a test which the case itself defines."""
        return self.is_test(name) and getattr(self.namespace[name], "__module__", "") == "__main__"


def place_of(argument: str) -> str:
    """Return the path that an argument of pytest names, if it is one."""
    return os.path.abspath(argument.split("::")[0])
