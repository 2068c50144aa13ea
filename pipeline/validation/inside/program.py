"""Runs the code of a case as a script would run, and its asserts after it in the same namespace."""

from .execute import as_bytes, enter_main, run

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

        runners = Runners(main, names, spec["backwards"])
        runners.watch(spec["code"] + test)
    if traced:
        traced.start(path)
    futures = run(as_bytes(spec["code"]), path, main.__dict__, names, ended=runners.ended if runners else None)
    if test and runners:
        from .script_tests import run_script_tests

        run_script_tests(test, main, runners, futures)
    if runners:
        runners.judge()
