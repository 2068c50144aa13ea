"""Runs a test module with the pytest of the environment, and says what became of each test."""

import ast
import inspect
import os
import sys
import traceback

from .deciding import code_of, deciding
from .execute import written
from .outcomes import Failed, failed, failure, is_own
from .vacuous import (
    generator,
    is_empty,
    is_generator,
    nothing_tested,
    parsed,
    refuse_lost,
    refuse_returned,
    watch_coroutines,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Exceptions by which a test is skipped, or expected to fail, or all of them end.
_SKIPS = {"Skipped", "SkipTest", "XFailed", "Exit"}
_HOOKS = ("pytest_pyfunc_call", "pytest_runtest_call", "pytest_runtest_makereport", "pytest_runtest_protocol")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ARGUMENTS = ["-q", "--tb=short", "--color=no", "-p", "no:cacheprovider", "-p", "no:randomly"]


class Recorder:
    """A plugin that keeps what each test raised, and counts: what pytest's exit status alone does not say."""

    def __init__(self, import_names: "list[str]", backwards: bool, source: str = "", code: str = "") -> None:
        """`source` is that of the tests, and `code` the file of what they test, where these are two files."""
        self.import_names = import_names
        self.backwards = backwards
        self.code, self.named = code, tests_named(source)
        self.may_skip = not source or any(word in source for word in ("skip", "xfail"))
        self.before: list[Any] = []
        self.honest = True
        self.brings_plugins = "pytest_plugins" in source
        self.plugins: Any = None
        self.called: list[tuple[int, int]] = []
        self.initial_plugins: set[Any] = set()
        self.collected: list[str] = []
        self.ended: set[str] = set()
        self.proven = 0
        self.skipped, self.expected = "", False
        self.empty: set[str] = set()
        self.raised: dict[str, Failed] = {}
        self.failing: dict[str, str] = {}
        self.broken_off: Failed | None = None

    def pytest_load_initial_conftests(self) -> None:
        """Note what decides how a test comes out: pytest has patched itself, and no code has come in yet."""
        self.before = deciding()

    def pytest_collection(self, session: "Any") -> None:
        """Note the plugins that are there before any code is."""
        self.plugins = session.config.pluginmanager
        self.initial_plugins = {id(each) for each in self.plugins.get_plugins()}
        self.called = self.hooks()

    def hooks(self) -> "list[tuple[int, int]]":
        """Return the implementations of the hooks that run and report a test, with the functions that they call."""
        callers = [vars(self.plugins.hook).get(name) for name in _HOOKS]
        implemented = [each for caller in callers if caller for each in implementations(caller)]
        return [(id(each), id(each.function)) for each in implemented]

    def look(self) -> None:
        """Note whether something stands now where pytest or this harness decide that was not there before."""
        if self.plugins and not self.brings_plugins:
            others = {id(each) for each in self.plugins.get_plugins()} - self.initial_plugins
            self.honest = self.honest and not others and self.hooks() == self.called
        self.honest = self.honest and deciding() == self.before

    def pytest_collection_finish(self) -> None:
        """Look when the code has been imported."""
        self.look()

    def pytest_sessionfinish(self) -> None:
        """Look once more when all tests have run; pytest takes its own patches back after that."""
        self.look()

    def pytest_runtest_makereport(self, item: "Any", call: "Any") -> None:
        """Note a test that the code skips, or expects to fail, which only tests may."""
        error = call.excinfo.value if call.excinfo else None
        names = {kind.__name__ for kind in type.mro(type(error))} if error else set()
        if error and names & _SKIPS and (not self.may_skip or self.passed_through_code(error)):
            self.failing.setdefault(item.nodeid, "skipped")
            self.raised[item.nodeid] = Failed("wrong_exception", f"the code skipped it: {type(error).__name__}")

    def passed_through_code(self, error: BaseException) -> bool:
        """Say whether the code under test raised an exception, or called what did."""
        return any(frame.filename == self.code for frame in traceback.extract_tb(error.__traceback__))

    def pytest_collection_modifyitems(self, items: "list[Any]") -> None:
        """Note the tests in the order of the module, and turn it round if asked to."""
        self.collected = [item.nodeid for item in items]
        for item in items:
            function, owner = getattr(item, "obj", None), getattr(item, "cls", None)
            if is_generator(function):
                self.failing[item.nodeid] = "a generator"
                self.raised[item.nodeid] = generator(item.name)
            if is_empty(function, owner, bool(getattr(item, "fixturenames", ()))):
                self.empty.add(item.nodeid)
        if self.backwards:
            items.reverse()

    def pytest_pyfunc_call(self, pyfuncitem: "Any") -> "Any":
        """Run a coroutine function, which pytest would skip, unless a plugin has done so."""
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        import asyncio

        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(pyfuncitem.obj(**arguments))
        finally:
            loop.close()
        return True

    def pytest_exception_interact(self, node: "Any", call: "Any") -> None:
        """Classify what a test, or the import of the module, raised; not called for skips and expected failures."""
        error = call.excinfo.value
        while type(error).__name__ == "CollectError" and (error.__cause__ or error.__context__):
            error = error.__cause__ or error.__context__
        self.raised.setdefault(node.nodeid, self.classified(error))

    def pytest_keyboard_interrupt(self, excinfo: "Any") -> None:
        """Note that `pytest.exit`, or an interrupt, broke off the whole."""
        self.broken_off = self.classified(excinfo.value)

    def pytest_internalerror(self, excinfo: "Any") -> None:
        """Note what went through pytest itself: SystemExit of a module, for example."""
        self.broken_off = self.classified(excinfo.value)

    def classified(self, error: "Any") -> Failed:
        """Return what an exception means; pytest has two of its own."""
        if isinstance(error, Failed):
            return error
        problem = failed(error, error.__traceback__, self.import_names)
        name, (outcome, message) = type(error).__name__, problem.args
        if self.code and self.passed_through_code(error):
            return Failed("wrong_exception", message) if outcome == "bad_sample" else problem
        if name == "FixtureLookupError":
            missing = "fixture '{}' is not there: define it, or require the plugin that has it"
            return Failed("bad_sample", missing.format(getattr(error, "argname", "?")))
        if "'yield' keyword is allowed in fixtures" in message:  # from pytest 8.4 on
            return generator("a test")
        own = name == "Failed" and type(error).__module__.split(".")[0] in ("_pytest", "builtins")
        return Failed("failed_assertion", message) if own else Failed(outcome, message)

    def pytest_collectreport(self, report: "Any") -> None:
        """Note a module or class that could not be read, or asks to be skipped."""
        if report.failed:
            self.note(report)
        elif report.skipped:
            self.skipped = self.skipped or reason(report)
            place = report.longrepr[0] if isinstance(report.longrepr, tuple) else ""
            if not self.may_skip or (self.code and os.path.realpath(str(place)) == os.path.realpath(self.code)):
                self.failing.setdefault(report.nodeid, "skipped")
                self.raised[report.nodeid] = Failed("wrong_exception", f"the code skipped the tests: {self.skipped}")

    def pytest_runtest_logreport(self, report: "Any") -> None:
        """Note how one phase of a test came out."""
        if report.failed:
            self.note(report)
        elif hasattr(report, "wasxfail"):
            self.expected = True
        elif report.skipped:
            self.skipped = self.skipped or reason(report)
        elif report.when == "call" and report.nodeid not in self.empty:
            self.look()
            self.proven += 1
        if report.when == "teardown":
            self.ended.add(report.nodeid)

    def note(self, report: "Any") -> None:
        """Keep a failure; what was raised, if anything was, is told after it."""
        self.failing.setdefault(report.nodeid, str(report.longrepr))

    def judge(self, status: int) -> None:
        """Raise Failed unless tests were run, all that were collected, and none failed."""
        if self.failing:
            name = min(
                self.failing, key=lambda nodeid: self.collected.index(nodeid) if nodeid in self.collected else -1
            )
            outcome, message = self.raised.get(name, Failed("failed_assertion", self.failing[name])).args
            more = len(self.failing) - 1
            rest = f"\n({more + 1} of {len(self.collected)} tests failed)" if more else ""
            raise Failed(outcome, "{}: {}{}".format(name.split("::", 1)[-1], message[:3500], rest))
        if self.broken_off:
            raise self.broken_off
        if not self.honest:
            raise Failed("wrong_exception", "the code changed what decides how a test comes out")
        lost = self.named - {nodeid.split("[")[0].rpartition("::")[2] for nodeid in self.collected}
        if lost and not self.skipped:
            raise Failed("wrong_exception", f"{min(lost)} was not collected: the code took it away")
        if not self.proven:
            raise nothing_tested(self.idle())
        if status != 0 or set(self.collected) - self.ended:
            ran = f"{len(self.ended)} of {len(self.collected)}"
            raise Failed("wrong_exception", f"pytest ended with status {int(status)} after {ran} tests")

    def idle(self) -> str:
        """Return why nothing was tested, where nothing was."""
        if self.skipped:
            return "skipped: " + self.skipped
        if self.expected:
            return "every test is expected to fail"
        return "no test names anything" if self.collected else "no test was found: write functions test_…"


def tests_named(source: str) -> "set[str]":
    """Return the names of functions and methods of a test module that pytest is sure to collect."""
    try:
        unsure = "__test__" in source or "exit" in source
        body = [] if unsure else ast.parse(source.lstrip("\ufeff")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    functions = [node for node in body if isinstance(node, _FUNCTIONS) and node.name.startswith("test")]
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            members = [each for each in node.body if isinstance(each, _FUNCTIONS)]
            if all(each.name not in ("__init__", "__new__") for each in members):
                functions += [each for each in members if each.name.startswith("test")]
    stored = {each.id for node in body for each in ast.walk(node) if isinstance(each, ast.Name) and is_bound(each)}
    plain = [node for node in functions if "fixture" not in ast.dump(ast.Tuple(node.decorator_list, ast.Load()))]
    return {node.name for node in plain} - stored


def is_bound(name: ast.Name) -> bool:
    """Say whether a name is set or deleted where it stands."""
    return not isinstance(name.ctx, ast.Load)


def reason(report: "Any") -> str:
    """Return why something was skipped."""
    text = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
    return str(text)


def run_tests(spec: "dict[str, Any]", traced: "Any" = None) -> None:
    """Write code and tests as files of one folder, and run the tests.

    Errors: Failed, as a harness error where the environment has no pytest.
    """
    module = spec["module"].split(".")
    for depth in range(1, len(module)):
        os.mkdir(os.path.join(*module[:depth]))
        written("/".join(module[:depth]) + "/__init__.py", "")
    path = written("/".join(module) + ".py", spec["preamble"] + spec["code"])
    tests = written("test_" + module[-1] + ".py", spec["test_file"])
    recorder = Recorder(spec["import_names"], spec["backwards"], spec["test_file"], path)
    sys.argv = ["pytest"]
    leave_out_runners(spec["test_file"])
    watch_coroutines(tests)
    tree = parsed(spec["test_file"].lstrip("\ufeff"))
    if tree:
        refuse_returned(tree)
    if traced:
        traced.start(path)
    own, plugin = own_functions(), Recorder
    try:
        status = run_pytest([tests], recorder)
    except Failed:
        raise
    except BaseException:  # noqa: BLE001 - SystemExit of the module, for example
        raise failure(spec["import_names"]) from None
    if own_functions() != own or type(recorder) is not plugin or "judge" in vars(recorder):
        # No Failed: that may be among what was changed. The process ends as one that did not come to its end.
        raise RuntimeError("the code changed this harness")
    recorder.judge(status)
    refuse_lost()


def own_functions() -> "list[Any]":
    """Return what stands now in the classes that say how tests came out."""
    return [(name, code_of(value)) for kind in (Recorder, Failed) for name, value in list(vars(kind).items())]


def run_pytest(places: "list[str]", recorder: Recorder) -> int:
    """Run files with pytest and return its status.

    Errors: Failed, as a harness error where the environment has no pytest.
    """
    try:
        import pytest
    except ImportError as error:
        # Where a module of that name is loaded, the code has put it there.
        replaced = "pytest" in sys.modules
        why = "the code replaced pytest" if replaced else "no pytest in the environment"
        raise Failed("wrong_exception" if replaced else "harness_error", f"{why}: {error}") from None
    return int(pytest.main([*places, *_ARGUMENTS], plugins=[recorder]))


class SkippedRunners:
    """Whether runners were left out that the module calls as it is imported: its tests are run by us, and count."""

    def __init__(self) -> None:
        self.process = self.any = False

    def here(self, process: bool = False) -> bool:
        """Say whether a runner that is called now is to be left out: a module of the case is being imported."""
        frame = sys._getframe(2)  # type: Any
        while frame is not None and not (is_own(frame.f_code.co_filename) and frame.f_code.co_name == "<module>"):
            frame = frame.f_back
        self.any = self.any or frame is not None
        self.process = self.process or (process and frame is not None)
        return frame is not None

    def execute(self, run: "Any", loader: "Any", module: "Any") -> "Any":
        """Import a module of tests: one that ends itself with the status of its runner has only come to its end."""
        try:
            return run(loader, module)
        except SystemExit:
            # pytest before 5 names the module, and has forgotten it by now.
            if not self.any or isinstance(module, str):
                raise
            return None
        except Exception:
            if self.process:
                wrong = (
                    "it runs pytest in a process of its own as it is imported: leave that out, its tests are run anyway"
                )
                raise Failed("bad_sample", wrong) from None
            raise


def implementations(caller: "Any") -> "list[Any]":
    """Return the implementations of a hook; before pluggy 0.7 they stand in two lists of its caller."""
    if hasattr(caller, "get_hookimpls"):
        return list(caller.get_hookimpls())
    return [*caller._nonwrappers, *caller._wrappers]


def leave_out_runners(source: str) -> None:
    """Let runners of tests do nothing where a module calls them as pytest imports it, nor its exit by their status."""
    try:
        import pytest
        from _pytest.assertion.rewrite import AssertionRewritingHook as Loader
    except ImportError:
        return  # whoever runs it says so
    skipped, method = SkippedRunners(), "exec_module" if hasattr(Loader, "exec_module") else "load_module"
    execute = getattr(Loader, method)
    setattr(Loader, method, lambda self, module: skipped.execute(execute, self, module))
    if "unittest" in source:
        import unittest

        def run_program(self: "Any", run: "Any" = unittest.TestProgram.runTests) -> None:
            self.result = unittest.TestResult()
            if not skipped.here():
                run(self)

        def run_suite(self: "Any", test: "Any", run: "Any" = unittest.TextTestRunner.run) -> "Any":
            return unittest.TestResult() if skipped.here() else run(self, test)

        unittest.TestProgram.runTests = run_program  # type: ignore
        unittest.TextTestRunner.run = run_suite  # type: ignore
    if "pytest" in source:
        import subprocess

        main, start, system = pytest.main, subprocess.Popen.__init__, os.system

        def start_process(self: "Any", args: "Any", *more: "Any", **named: "Any") -> None:
            if names_pytest(args) and skipped.here(process=True):
                args, named["shell"] = [sys.executable, "-c", ""], False
            start(self, args, *more, **named)

        pytest.main = lambda *args, **named: 0 if skipped.here() else main(*args, **named)
        os.system = lambda command: 0 if names_pytest(command) and skipped.here(process=True) else system(command)
        subprocess.Popen.__init__ = start_process  # type: ignore


def names_pytest(command: "Any") -> bool:
    """Say whether a command, as text or in words, runs pytest."""
    words = command.split() if isinstance(command, str) else command if isinstance(command, (list, tuple)) else ()
    return any(os.path.basename(str(word)) in ("pytest", "py.test") for word in words)
