"""What a program needs to pass hidden tests: the library, and each of its parameters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from pipeline.core.syntax_trees import literal_eval, parse_python

# A module object is no function, no class to derive from, nothing to iterate over: whatever is done with it raises.
# Modules of the library are replaced that nothing has loaded yet, too: a program may import it in its function.
_WITHOUT_LIBRARY = """
def without_library(*arguments{named}):
    import importlib, sys, types

    class Unavailable(types.ModuleType):
        def __getattr__(self, name):
            return Unavailable(name)

    before = dict(sys.modules)
    try:
        for name in {{*before, *{roots}}}:
            if name.split(".")[0] in {roots}:
                sys.modules[name] = Unavailable(name)
        del sys.modules[{module!r}]
        return importlib.import_module({module!r}).{function}(*arguments{named})
    finally:
        for name in {roots}:
            sys.modules.pop(name, None)
        sys.modules.update(before)
"""
# Whatever holds the API is given something else in its place: its class, or each module of the library. First that
# raises; then, where the reference does something with what the API returns, it calls the API and returns a value of
# which no use can be made, so that a call whose value is thrown away shows: the result stays the same.
# The library itself still calls functions: older ones may now do their work by the new one. A property is read.
_WITHOUT_API = """
def without_api(*arguments{named}):
    import copy, importlib, sys

    first, *inner, name = {path!r}.split(".")
    owner = importlib.import_module(first)
    for part in inner:
        if not hasattr(owner, part):
            importlib.import_module(owner.__name__ + "." + part)
        owner = getattr(owner, part)
    before = dict(sys.modules)
    if isinstance(owner, type):
        holders = [(one, name) for one in owner.__mro__ if name in vars(one)][:1]
    else:
        api = getattr(owner, name)
        modules = [owner, *(before[key] for key in before if key.split(".")[0] == first)]
        holders = [(one, key) for one in modules for key in list(vars(one)) if vars(one)[key] is api]
    if not holders:
        return None  # what instances alone have cannot be taken away, so nothing raises
    values = [vars(one)[key] for one, key in holders]
    unbound = isinstance(values[0], (classmethod, staticmethod))
    is_read = isinstance(owner, type) and not unbound and not callable(values[0])
    own = values[0].__get__(None, owner) if unbound else values[0].__get__ if is_read else values[0]

    def unavailable(*arguments, **named):
        if sys._getframe(1).f_globals.get("__name__", "").split(".")[0] == first:
            return own(*arguments, **named)
        raise LookupError({path!r})

    def without_use(*arguments, **named):
        value = own(*arguments, **named)
        return value if sys._getframe(1).f_globals.get("__name__", "").split(".")[0] == first else Useless()

    class Useless:
        def use(self, *arguments):
            raise LookupError({path!r})

        __bool__ = __eq__ = __hash__ = __repr__ = __str__ = __format__ = use

    kind = staticmethod if unbound else property if is_read else lambda function: function

    try:
        for (one, key), value in zip(holders, values):
            setattr(one, key, value)
    except TypeError:
        return None  # of a class of compiled code nothing can be taken away, so nothing raises

    def called(replacement, arguments, named):
        try:
            for one, key in holders:
                setattr(one, key, kind(replacement))
            del sys.modules[{module!r}]
            return importlib.import_module({module!r}).{function}(*arguments, **named)
        finally:
            for (one, key), value in zip(holders, values):
                setattr(one, key, value)
            for key in [key for key in sys.modules if key not in before and key.split(".")[0] == first]:
                del sys.modules[key]
            sys.modules.update(before)

    call_arguments = arguments, {given}
    try:
        others = [copy.deepcopy(call_arguments) for _ in range(2)] if {uses_value} else []
    except Exception:
        others = []  # what cannot be copied serves for one call
    try:
        return called(unavailable, *call_arguments)
    except Exception as error:
        if not others:
            raise
        raised = error
    normal = importlib.import_module({module!r}).{function}(*others[0][0], **others[0][1])
    result = called(without_use, *others[1])
    try:
        same = result is normal or bool(result == normal)
    except Exception:
        same = False
    if same:
        return result
    raise raised
"""
_IN_LIBRARY = 'sys._getframe(1).f_globals.get("__name__", "").split(".")[0] == first'
_OWN = """    own = values[0].__get__(None, owner) if unbound else values[0].__get__ if is_read else values[0]
"""
# Of a new parameter only calls are taken away that give it: by its name, or by its place where a signature tells that.
_LACKS_PARAMETER = """
    def lacks_parameter(arguments, named):
        import inspect

        try:
            bound = inspect.signature(own).bind_partial(*arguments, **named).arguments
        except (TypeError, ValueError):
            bound = ()
        return {parameter!r} not in [*named, *bound]
"""
NEEDS_LIBRARY = "test_needs_library"
"""The test that only a program passes which does not do without the library."""
NEEDS_API = "test_needs_api"
"""The test that only a program passes which calls an API and, unless the reference discards it, uses its value."""

# The first call with other arguments decides: that is how a function may answer which never looks at the parameter.
# Objects without a representation of their own are told apart by their state.
_IGNORING = """

def _ignoring(function, number):
    import functools, inspect, pickle
    signature, known = inspect.signature(function), {{}}

    @functools.wraps(function)
    def ignoring(*arguments, **named):
        bound = signature.bind(*arguments, **named)
        bound.apply_defaults()
        given = [value for place, value in enumerate(bound.arguments.values()) if place != number]
        key = repr(given)
        if " at 0x" in key:
            key = pickle.dumps(given)
        if key not in known:
            try:
                known[key] = function(*arguments, **named), None
            except Exception as error:
                known[key] = None, error
        value, error = known[key]
        if error is not None:
            raise error
        return value

    return ignoring

{function} = _ignoring({function}, {number})
"""


def without_library(function: str, module: str, roots: Iterable[str], *, named: bool = False) -> str:
    """Return a helper of tests that calls a function of a program where each use of the library raises.

    `roots` are the modules of the library, `module` is the one by which tests import the program; `named`: the helper
    takes arguments by their names too.
    """
    names = "(" + "".join(f"{name!r}, " for name in sorted(roots)) + ")"
    more = ", **named" if named else ""
    return _WITHOUT_LIBRARY.format(roots=names, module=module, function=function, named=more)


def without_api(
    function: str,
    module: str,
    path: str,
    *,
    named: bool = False,
    reference: str | None = None,
    helper: str = "without_api",
    parameter: str | None = None,
) -> str:
    """Return a helper of tests: it calls a function of a program whose own uses of the API at a public path raise.

    It also asks that the result needs what the API returns, unless the `reference` throws that away itself. `module` is
    the one by which tests import the program; `named`: the helper takes arguments by their names too. A method of a
    compiled class cannot be replaced: there it raises nothing, so that no program passes the test. With a `parameter`
    only calls count that give it, so that a program fails the test which calls the API as an older release has it.
    """
    template = _WITHOUT_API.replace("def without_api(", f"def {helper}(")
    if parameter is not None:
        template = template.replace(_IN_LIBRARY, f"({_IN_LIBRARY} or lacks_parameter(arguments, named))")
        template = template.replace(_OWN, _OWN + _LACKS_PARAMETER)
    return template.format(
        parameter=parameter,
        path=path,
        module=module,
        function=function,
        named=", **named" if named else "",
        given="named" if named else "{}",
        uses_value=not (reference and _discards(reference, path.rpartition(".")[2])),
    )


def _discards(program: str, name: str) -> bool:
    """Say whether a program calls what has a name only in statements of their own."""
    tree = parse_python(program)
    aliases = [alias for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names]
    names = {name, *(alias.asname for alias in aliases if alias.name == name and alias.asname)}
    uses = [node for node in ast.walk(tree) if _is_use(node, names)]
    calls = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    discarded = [call.func for call in calls if _is_use(call.func, names)]
    return bool(uses) and len(uses) == len(discarded)


def _is_use(node: ast.AST, names: Collection[str]) -> bool:
    own = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None
    return own in names


def needs_api(*calls: str) -> dict[str, list[str]]:
    """Return the test, by its name, that one of such calls raises: each is of `without_api`, for an API of its own."""
    return {NEEDS_API: ["\n    ".join(["with pytest.raises(Exception):", *calls])]}


def needs_library(call: str) -> dict[str, list[str]]:
    """Return the test, by its name, that such a call, of `without_library`, raises."""
    return {NEEDS_LIBRARY: [f"with pytest.raises(Exception):\n    {call}"]}


def with_library_test(tests: str, function: str, module: str, roots: Iterable[str]) -> str | None:
    """Return a pytest module with one more test, which only a program passes that does not do without the library.

    It repeats the first telling call of a test that is to give a value. None where no test has such a call, beside what
    prepares its arguments, in a statement of its own.
    """
    helpers = {"without_library": without_library(function, module, roots, named=True)}
    return _with_test(tests, function, needs_library, helpers)


def without_api_test(tests: str, function: str, module: str, roots: Iterable[str]) -> str:
    """Return a pytest module in which any API of the library will do, where it wants one called.

    Other releases call another API for the same. Its arguments are as in `with_library_test`.
    """
    test = next((each for each in parse_python(tests).body if getattr(each, "name", None) == NEEDS_API), None)
    if test is None:
        return tests
    lines = tests.splitlines(keepends=True)
    others = "".join([*lines[: test.lineno - 1], *lines[test.end_lineno :]])
    return with_library_test(others, function, module, roots) or others


def with_api_test(
    tests: str, function: str, module: str, paths: Sequence[str], reference: str | None = None
) -> str | None:
    """Return a pytest module with one more test, which only a program passes that uses an API at one of public paths.

    Its call, and None, are as in `with_library_test`, `reference` as in `without_api`.
    """
    helpers = {
        name: without_api(function, module, path, named=True, reference=reference, helper=name)
        for name, path in zip(api_helpers(len(paths)), paths, strict=True)
    }
    return _with_test(tests, function, needs_api, helpers)


def api_helpers(count: int) -> list[str]:
    """Return the names of so many helpers of `without_api`."""
    return [f"without_api_{number}" if number > 1 else "without_api" for number in range(1, count + 1)]


def _with_test(
    tests: str, function: str, test: Callable[..., dict[str, list[str]]], helpers: Mapping[str, str]
) -> str | None:
    """Return a pytest module with one more test, of a call that goes by each of the helpers, their texts by name."""
    calls = list(_tested_calls(tests, function))
    if not calls:
        return None
    before, call = next((pair for pair in calls if has_contents(map(ast.unparse, pair[1].args))), calls[0])
    arguments = ast.unparse(ast.Call(ast.Name(""), call.args, call.keywords))
    ((test_name, lines),) = test(*(f"{name}{arguments}" for name in helpers)).items()
    body = "".join(f"    {line}\n" for text in [*before, *lines] for line in text.split("\n"))
    head = "" if "import pytest\n" in tests else "import pytest\n"
    return f"{head}{tests}\n" + "\n".join(helpers.values()) + f"\n\ndef {test_name}():\n{body}"


def _tested_calls(tests: str, function: str) -> Iterator[tuple[list[str], ast.Call]]:
    """Yield the first call of each test that is to give a value, and the statements that prepare its arguments."""
    for test in parse_python(tests).body:
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test") and not test.args.args:
            for number, statement in enumerate(test.body):
                if call := next(_calls(statement, function), None):
                    earlier = test.body[:number]
                    yield [ast.unparse(node) for node in earlier if not isinstance(node, ast.Assert | ast.With)], call
                    break


def has_contents(arguments: Iterable[str]) -> bool:
    """Say whether no argument is an empty or zero constant: of nothing a body may do nothing, or raise by itself."""
    for argument in arguments:
        try:
            if not literal_eval(argument):
                return False
        except (ValueError, SyntaxError):
            continue
    return True


def ignoring(program: str, function: str, number: int) -> str:
    """Return a program whose function does not look at the parameter of this number: it gives what it gave before."""
    return program + _IGNORING.format(function=function, number=number)


def parameters_of(function: ast.FunctionDef) -> list[str]:
    """Return the names of a function's parameters in their order."""
    args = function.args
    stars = [[star] if star else [] for star in (args.vararg, args.kwarg)]
    return [parameter.arg for parameter in (*args.posonlyargs, *args.args, *stars[0], *args.kwonlyargs, *stars[1])]


def _calls(node: ast.AST, function: str) -> Iterator[ast.Call]:
    """Yield the calls of a function in a simple statement whose arguments are bound there."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function:
        yield node
    inner = (ast.With, ast.For, ast.While, ast.If, ast.Try, ast.FunctionDef, ast.ClassDef, ast.Lambda)
    if not isinstance(node, (*inner, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        for child in ast.iter_child_nodes(node):
            yield from _calls(child, function)
