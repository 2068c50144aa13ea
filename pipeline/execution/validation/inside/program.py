"""Runs the code of a case as a script would run, and its asserts after it in the same namespace."""

import contextlib

from .deciding import deciding
from .execute import as_bytes, enter_main, run
from .outcomes import Failed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RUNNERS = ("unittest", "doctest", "pytest")
"""Modules with runners of tests that a script may call itself."""


def run_program(spec: "dict[str, Any]", traced: "Any" = None) -> None:
    """Run preamble, code and asserts in a fresh `__main__`; leaving by SystemExit is not the end."""
    path, main = enter_main(spec)
    names = spec["import_names"]
    test, runners = spec["test"] or "", None
    if test or any(name in spec["code"] for name in RUNNERS):
        from .runners import Runners

        before: list[Any] = []
        if test:
            # Before any code, which may put other modules and functions in their place.
            from .script_tests import run_script_tests

            if "def test" in test or "class Test" in test:
                with contextlib.suppress(ImportError):
                    import pytest  # noqa: F401 - its functions are among those that decide
            before = deciding()
        runners = Runners(main, names, spec["backwards"])
        runners.watch(spec["code"] + test)
    if traced:
        traced.start(path)
    futures = run(as_bytes(spec["code"]), path, main.__dict__, names, ended=runners.ended if runners else None)
    if test and runners:
        if deciding() != before:
            raise Failed("wrong_exception", "the code changed what decides how a test comes out")
        run_script_tests(test, main, runners, futures)
    if runners:
        runners.judge()
