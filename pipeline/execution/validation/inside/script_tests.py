"""Runs the asserts that follow a script in its namespace, then the test functions and classes that they define."""

import ast
import linecache
import types

from .execute import as_bytes, run
from .vacuous import (
    ASSERTED,
    REACHED,
    Marked,
    defined_in,
    has_effect,
    names_read,
    note_never_begun,
    nothing_tested,
    parsed,
    refuse_lost,
    refuse_returned,
    watch_coroutines,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .runners import Runners

NAME = "<test>"


def run_script_tests(test: str, main: types.ModuleType, runners: "Runners", flags: int) -> None:
    """Run `test` after a script; what it defines and does not call itself is run by pytest.

    Errors: Failed, as a bad sample where nothing was tested.
    """
    source, namespace = as_bytes(test), main.__dict__
    runners.refuse_replaced()
    linecache.cache[NAME] = (len(test), None, test.splitlines(True), NAME)
    watch_coroutines(NAME)
    marked = parsed(source)
    run(Marked().visit(marked) if marked else source, NAME, namespace, runners.import_names, flags, runners.ended)
    tree = ast.parse(source)
    refuse_returned(tree)
    asserted, reached = namespace.pop(ASSERTED, False), namespace.pop(REACHED, False)
    effective = [statement for statement in tree.body if has_effect(statement, namespace)]
    called = {name for statement in effective for name in names_read(statement)}
    defined = defined_in(tree)
    runners.run_defined({name for name in defined if runners.is_case(name) or name not in called})
    runners.judge()
    runners.refuse_replaced()
    if not (runners.passed or asserted or (reached and effective and not runners.calls)):
        uncalled = ", ".join(sorted(defined - called))
        why = (
            f"nothing calls {uncalled}: call it, or name it test_…" if uncalled and not runners.calls else runners.idle
        )
        raise nothing_tested(why)
    note_never_begun(namespace, NAME)
    refuse_lost()
