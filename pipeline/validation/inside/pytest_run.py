"""Runs a test module with the pytest of the environment, and says what became of each test."""

import os
import sys

from .outcomes import Failed, failed, failure
from .program import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ARGUMENTS = ["-q", "--tb=short", "--color=no", "-p", "no:cacheprovider", "-p", "no:randomly"]


class Seen:
    """A plugin that keeps what each test raised, and counts: what pytest's exit status alone does not say."""

    def __init__(self, import_names: "list[str]", backwards: bool) -> None:
        self.import_names = import_names
        self.backwards = backwards
        self.collected: list[str] = []
        self.ended: set[str] = set()
        self.ran = 0
        self.skipped = ""
        self.raised: dict[str, Failed] = {}
        self.failing: dict[str, str] = {}
        self.broken_off: Failed | None = None

    def pytest_collection_modifyitems(self, items: "list[Any]") -> None:
        """Note the tests in the order of the module, and turn it round if asked to."""
        self.collected = [item.nodeid for item in items]
        if self.backwards:
            items.reverse()

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
        found = failed(error, error.__traceback__, self.import_names)
        name, (outcome, message) = type(error).__name__, found.args
        if name == "FixtureLookupError":
            return Failed("harness_error", "fixture '{}' is not there".format(getattr(error, "argname", "?")))
        own = name == "Failed" and type(error).__module__.split(".")[0] in ("_pytest", "builtins")
        return Failed("failed_assertion", message) if own else Failed(outcome, message)

    def pytest_collectreport(self, report: "Any") -> None:
        """Note a module or class that could not be read, or asks to be skipped."""
        if report.failed:
            self.note(report)
        elif report.skipped:
            self.skipped = self.skipped or reason(report)

    def pytest_runtest_logreport(self, report: "Any") -> None:
        """Note how one phase of a test came out."""
        if report.failed:
            self.note(report)
        elif report.skipped and not hasattr(report, "wasxfail"):
            self.skipped = self.skipped or reason(report)
        elif report.when == "call":
            self.ran += 1
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
        if not self.collected or not self.ran:
            why = "skipped: " + self.skipped if self.skipped else "no test was found"
            raise Failed("harness_error", f"nothing was tested, {why}")
        if status != 0 or set(self.collected) - self.ended:
            ran = f"{len(self.ended)} of {len(self.collected)}"
            raise Failed("wrong_exception", f"pytest ended with status {int(status)} after {ran} tests")


def reason(report: "Any") -> str:
    """Return why something was skipped."""
    said = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
    return str(said)


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
    try:
        import pytest
    except ImportError as error:
        raise Failed("harness_error", f"no pytest in the environment: {error}") from None
    seen = Seen(spec["import_names"], spec["backwards"])
    sys.argv = ["pytest"]
    if traced:
        traced.start(path)
    try:
        status = pytest.main([tests, *_ARGUMENTS], plugins=[seen])
    except BaseException:  # noqa: BLE001 - SystemExit of the module, for example
        raise failure(spec["import_names"]) from None
    seen.judge(status)
