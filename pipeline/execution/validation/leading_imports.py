"""What a case imports of its library before it does anything else: a server may load just that unnoticed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.execution.validation.cases import MODULE

_Import = ast.Import | ast.ImportFrom


def leading_imports(specification: Mapping[str, Any], site_packages: Path) -> tuple[str, ...] | None:
    """Return the modules of the library that a case imports first, in its order, as `inside.guard.load` takes them.

    Empty, where the case does not name the library. None, where its own process is to decide what is imported: for
    pytest modules, for a module that may shadow others, for a moved clock, and where imports come after statements
    that could tell what is loaded.
    """
    may_shadow = specification["as_module"] and specification["module"] != MODULE
    if may_shadow or specification["test_file"] is not None or specification["clock_shift_s"]:
        return None
    names = frozenset(specification["import_names"])
    if not any(named(name, specification) for name in names):
        return ()
    modules = dict.fromkeys(
        module
        for statement in _leading_statements(specification)
        for module in _imported(statement, site_packages)
        if module.partition(":")[0].split(".")[0] in names
    )
    # `import a` says nothing beside `import a.b`
    inner = [module for module in modules if not any(m.startswith((f"{module}.", f"{module}:")) for m in modules)]
    return tuple(inner) or None


def _leading_statements(specification: Mapping[str, Any]) -> list[_Import]:
    """Return the imports that a case makes before anything else, and those of the module that its tests import."""
    if not specification["as_module"] or specification["tests"] is None:
        sources = specification["statements"] or [specification["code"]]
        return _before_anything([specification["preamble"], *sources])[0]
    imports: list[_Import] = []
    for statement in _before_anything([specification["tests"]["preamble"]])[0]:
        if MODULE not in _modules(statement):
            imports.append(statement)
            continue
        of_module, has_ended = _before_anything([specification["preamble"] + specification["code"]])
        imports += of_module
        if not has_ended:
            break
    return imports


def named(name: str, specification: Mapping[str, Any]) -> bool:
    """Say whether a case names a module anywhere in its code or tests."""
    parts = ("preamble", "code", "test", "test_file", "tests", "statements")
    return any(re.search(rf"\b{re.escape(name)}\b", str(specification[part])) for part in parts)


def _before_anything(sources: Iterable[str]) -> tuple[list[_Import], bool]:
    """Return the absolute imports that only imports, literals and plain definitions precede, which observe nothing.

    The flag says whether nothing else follows.
    """
    imports: list[_Import] = []
    for source in sources:
        try:
            body = parse_python(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return imports, False
        for statement in body:
            if isinstance(statement, ast.Import) or (isinstance(statement, ast.ImportFrom) and not statement.level):
                imports.append(statement)
            elif not _observes_nothing(statement):
                return imports, False
    return imports, True


def _modules(statement: _Import) -> list[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    return [statement.module or ""]


def _observes_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef):
        has_values = statement.args.defaults or any(statement.args.kw_defaults) or statement.returns
        annotated = any(argument.annotation for argument in ast.walk(statement.args) if isinstance(argument, ast.arg))
        return not (has_values or annotated or statement.decorator_list)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) or _prints_literal(statement.value)
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Name) for target in statement.targets) and _is_literal(statement.value)
    return False


def _prints_literal(value: ast.expr) -> bool:
    """Say whether it is `print("...")`, as between the lines of a program whose outputs are to be separated."""
    match value:
        case ast.Call(ast.Name("print"), [ast.Constant()], []):
            return True
    return False


def _is_literal(value: ast.expr) -> bool:
    try:
        literal_eval(value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _imported(statement: _Import, site_packages: Path) -> Iterator[str]:
    """Yield what a statement loads: `a.b`, and `a.b:c` where `from a.b import c` may load a module c."""
    if isinstance(statement, ast.Import):
        yield from _modules(statement)
        return
    module = statement.module or ""
    folder = site_packages.joinpath(*module.split("."))
    for alias in statement.names:
        place = folder / alias.name
        yield f"{module}:{alias.name}" if place.is_dir() or place.with_suffix(".py").is_file() else module
