"""Runs tests of a project with the pytest of its environment, and says what became of each."""

import glob
import hashlib
import os
import signal
import sys
import time
import unittest

import pytest

from .tracing import Tracer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import Any

    from pipeline.execution.validation.inside.deciding import code_of, deciding
else:
    from .deciding import code_of, deciding

_ARGUMENTS = ("-q", "--tb=line", "--color=no", "--continue-on-collection-errors", "--rootdir=.")
_PLUGINS = ("cacheprovider", "randomly", "random_order", "cov", "xdist", "benchmark", "sugar")
# What a project adds to every call of pytest is for its own machines: reports, coverage, many processes.
_OVERRIDDEN = ("addopts=", "required_plugins=", "xfail_strict=false", "log_cli=false")
_RANK = ("passed", "skipped", "failed", "error", "timed_out")
_LONGEST = 300
_AGAIN_S = 0.1


class OutOfTime(BaseException):
    """A test took longer than it may."""


class Recorder:
    """A plugin that picks the tests, bounds their time, and keeps how each came out."""

    # no attribute of an instance can stand before a method
    __slots__ = (
        *("spec", "folder", "tracer", "collected", "chosen", "outcomes", "broken", "running", "raised"),
        *("before", "bodies", "helpers", "honest", "messages", "session"),
    )

    def __init__(self, spec: "dict[str, Any]", folder: str) -> None:
        self.spec, self.folder = spec, folder
        self.tracer = Tracer(folder, spec["sources"], spec["test_calls"], self.hurry) if spec["trace"] else None
        self.collected = 0
        self.chosen: list[str] = []
        self.outcomes: dict[str, str] = {}
        self.broken: list[str] = []
        self.running: str | None = None
        self.raised = False
        self.before: list[Any] = []
        self.bodies: dict[str, Any] = {}
        self.helpers: dict[str, Any] = {}
        self.honest = True
        self.messages: dict[str, str] = {}
        self.session: Any = None

    def pytest_load_initial_conftests(self) -> None:
        """Note what decides how a test comes out: pytest has patched itself (first), its project comes in (last)."""
        self.before = deciding()

    def is_untouched(self) -> bool:
        """Whether all that decides how a test comes out is what it was, and nobody follows the tests."""
        following = self.tracer.enter if self.tracer else None
        return deciding() == self.before and sys.gettrace() in (None, following) and sys.getprofile() is None

    def pytest_pycollect_makemodule(self, parent: "Any") -> None:
        """Look at the files before each of them is imported: what is imported may put them back."""
        self.honest = self.honest and changed_files(self.spec, self.folder) == []

    def pytest_collectreport(self, report: "Any") -> None:
        """Note a module that could not be read."""
        if report.failed:
            self.broken.append(f"{report.nodeid}: {last_line(report.longrepr)}")

    def choose(self, items: "list[Any]") -> "list[Any]":
        """Return the tests that are asked for, or of all those whose hashes are smallest, in their order."""
        requested, quota = self.spec["tests"], self.spec["quota"]
        if requested:
            named = set(requested)
            return [item for item in items if item.nodeid in named]
        ranked = sorted(items, key=lambda item: hashlib.sha256(item.nodeid.encode("utf-8", "replace")).hexdigest())
        chosen_ids = {id(item) for item in ranked[:quota]}
        return [item for item in items if id(item) in chosen_ids]

    def begin_import(self) -> None:
        """Give what is imported before the tests its time; 0 is no limit. Code that catches its end is told again."""
        signal.signal(signal.SIGVTALRM, end_import)
        signal.setitimer(signal.ITIMER_VIRTUAL, self.spec["import_cpu_s"], _AGAIN_S)

    def pytest_collection_finish(self, session: "Any") -> None:
        """Keep of the collected tests those that are to be run."""
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self.session = session
        self.collected = len(session.items)
        session.items[:] = self.choose(session.items)
        self.chosen = [item.nodeid for item in session.items]
        self.bodies = {item.nodeid: body_of(item) for item in session.items}
        self.helpers = {item.nodeid: helpers_of(item) for item in session.items}
        self.honest = self.honest and self.is_untouched() and changed_files(self.spec, self.folder) == []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: "Any") -> "Iterator[None]":
        """Give a test its time, and follow what it and its fixtures execute, if it is the one that was collected."""
        self.honest = self.honest and self.bodies.get(item.nodeid) == body_of(item)
        signal.signal(signal.SIGALRM, self.out_of_time)
        # A test that catches what ends it is told again.
        signal.setitimer(signal.ITIMER_REAL, self.spec["test_time_s"], _AGAIN_S)
        if self.tracer:
            self.tracer.begin(item.nodeid)
        yield
        if self.tracer:
            self.tracer.end()
        signal.setitimer(signal.ITIMER_REAL, 0)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: "Any") -> "Generator[None, Any, None]":
        """A phase of a test, which may be ended; pytest itself may not."""
        self.running = item.nodeid
        outcome = yield
        self.running = None
        # A test passes with what it has itself for comparing, or not at all.
        changed = any(code_of(getattr(owner, name, None)) != code for owner, name, code in self.helpers[item.nodeid])
        self.raised = outcome.excinfo is not None or changed

    pytest_runtest_call = pytest_runtest_teardown = pytest_runtest_setup

    def hurry(self) -> None:
        """Have a test end now that makes more calls than are followed."""
        signal.setitimer(signal.ITIMER_REAL, 0.001, _AGAIN_S)

    def out_of_time(self, number: int, frame: "Any") -> None:
        """End a test that takes too long."""
        if self.running is not None:
            self.note(self.running, "timed_out")
            if self.spec["first_time_out"]:
                self.session.shouldfail = "a test ran out of time"
            raise OutOfTime("took longer, or made more calls, than a test may")

    def pytest_runtest_logreport(self, report: "Any") -> None:
        """Note how one phase of a test came out."""
        if report.skipped:
            self.note(report.nodeid, "skipped")
        elif report.failed:
            self.messages.setdefault(report.nodeid, last_line(report.longrepr))
            self.note(report.nodeid, "failed" if report.when == "call" else "error")
        elif report.when == "call":
            # A hook may have made a pass of what raised.
            self.honest = self.honest and self.is_untouched()
            self.note(report.nodeid, "passed" if self.honest and not self.raised else "failed")

    def pytest_sessionfinish(self) -> None:
        """Look once more when all tests have run; pytest takes its own patches back after that."""
        self.honest = self.honest and self.is_untouched() and changed_files(self.spec, self.folder) == []

    def note(self, nodeid: str, outcome: str) -> None:
        """Keep the worst outcome of a test's phases."""
        before = self.outcomes.get(nodeid, "passed")
        self.outcomes[nodeid] = max(before, outcome, key=_RANK.index)


def end_import(number: int, frame: "Any") -> None:
    """End an import that takes too long."""
    raise OutOfTime("importing it took longer than it may")


def body_of(item: "Any") -> "Any":
    """Return which function a test is, and what of an item stands before it."""
    return code_of(vars(item).get("_obj")), "runtest" in vars(item), "reportinfo" in vars(item)


def helpers_of(item: "Any") -> "list[tuple[Any, str, Any]]":
    """Return what a test may compare by: functions of its module and what its class has of unittest, with its code."""
    module, kind = getattr(item, "module", None), getattr(item, "cls", None)
    names = [(module, name) for name, value in list(getattr(module, "__dict__", {}).items()) if code_of(value)]
    if kind is not None and issubclass(kind, unittest.TestCase):
        names += [(kind, name) for name in dir(unittest.TestCase)]
    return [(owner, name, code_of(getattr(owner, name, None))) for owner, name in names]


def changed_files(spec: "dict[str, Any]", folder: str) -> "list[str]":
    """Return the files of tests and settings that are not as the archive had them, or that it has not at all."""
    changed = []
    protected = {os.path.join(folder, *path.split("/")): digest for path, digest in spec["protected"].items()}
    for path, digest in protected.items():
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError:
            content = b""
        if hashlib.sha256(content).hexdigest() != digest:
            changed.append(path)
        place, name = os.path.split(path)
        # what pytest would take for a test without looking at its source, or would load beside it
        caches = glob.glob(os.path.join(glob.escape(place), "__pycache__", glob.escape(name[:-3]) + ".*-pytest-*"))
        beside = os.path.join(place, "conftest.py")
        changed += [*caches, *([beside] if os.path.lexists(beside) and beside not in spec_places(spec, folder) else [])]
    return changed


def spec_places(spec: "dict[str, Any]", folder: str) -> "set[str]":
    """Return the paths of the files that are protected, or replaced."""
    return {os.path.join(folder, *path.split("/")) for path in (*spec["protected"], *spec["replacements"])}


def run_tests(spec: "dict[str, Any]", folder: str) -> "dict[str, Any]":
    """Run the tests that are asked for; return their outcomes, and what they executed if that is asked for."""
    run = Recorder(spec, folder)
    started = time.monotonic()
    arguments = [*spec["files"], *_ARGUMENTS, *spec["options"]]
    for name in _PLUGINS:
        arguments += ["-p", "no:" + name]
    for setting in _OVERRIDDEN:
        arguments += ["-o", setting]
    sys.argv = ["pytest"]
    run.begin_import()
    try:
        status = pytest.main(arguments, plugins=[run])
    finally:
        # Without a collection that ends, the time would go on, and end what reports.
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    os.chdir(folder)
    if not run.honest:
        run.outcomes = {test: max(outcome, "failed", key=_RANK.index) for test, outcome in run.outcomes.items()}
    return {
        "status": int(status),
        "collected": run.collected,
        "chosen": run.chosen,
        "outcomes": run.outcomes,
        "broken": sorted(run.broken),
        "messages": run.messages,
        "trace": run.tracer.report() if run.tracer else None,
        "seconds": time.monotonic() - started,
    }


def derandomize() -> None:
    """Have hypothesis, where a project uses it, try the same few examples each time.

    It is loaded before the project is, of which it may use what is installed.
    """
    try:
        from hypothesis import HealthCheck, settings
    except ImportError:
        return
    checks = [check for check in HealthCheck if check.name not in ("return_value", "not_a_test_method")]
    settings.register_profile(
        "driftline",
        settings(derandomize=True, database=None, deadline=None, max_examples=20, suppress_health_check=checks),
    )
    settings.load_profile("driftline")


def last_line(text: "Any") -> str:
    """Return the last line of a report, which says what was raised."""
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return lines[-1][:_LONGEST] if lines else ""


derandomize()
