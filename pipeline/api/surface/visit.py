"""One source file, visited: needs nothing but the file, so equal files need only be visited once."""

from __future__ import annotations

import ast
import importlib.util
import logging
import re
import warnings
from collections.abc import Callable
from pathlib import PurePath

from pipeline.api.surface.extract.bindings import bind_names
from pipeline.api.surface.extract.class_calls import write_classes
from pipeline.api.surface.extract.definitions import read_members
from pipeline.api.surface.extract.deprecations import directive_mark, read_advice, warning_mark
from pipeline.api.surface.extract.exports import read_exports, read_parts
from pipeline.api.surface.extract.functions import Visited
from pipeline.api.surface.extract.lazy_globals import binds_dynamically, binds_unobservably, listed_names
from pipeline.api.surface.extract.literal_globals import bind_literal_globals
from pipeline.api.surface.extract.module_getattr import read_getattr, read_makers
from pipeline.api.surface.extract.signature_decorators import HelperRules
from pipeline.api.surface.parse.bound_names import deleted_in, only_imports
from pipeline.api.surface.parse.class_patches import patched_members
from pipeline.api.surface.parse.cleaning import read_docstring
from pipeline.api.surface.parse.conditional import conditional_statements
from pipeline.api.surface.parse.conditions import settle_branches
from pipeline.api.surface.parse.deep import TOO_DEEP, without_deep
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.api.surface.parse.module_model import Definition, ModuleRecord
from pipeline.api.surface.parse.pieces import FunctionParser, parse_alone, parse_in_pieces
from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.api.surface.parse.scopes import take_apart
from pipeline.api.surface.parse.syntax import described_by
from pipeline.api.surface.resolve.labels import OPAQUE
from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.surface import SourceKind

_PRIVATE = re.compile(r"\.(_\w*)\Z")
"""What a name is given that leads to a private method."""

_WARNS_AS = re.compile(
    r"\bwarn(?:_explicit)?[ \t]+as[ \t]+(\w+)|^(\w+)[ \t]*=[ \t]*warnings\.warn(?:_explicit)?[ \t]*$", re.M
)
"""Another name of what warns: `from warnings import warn as w`, `w = warnings.warn`."""

# griffe reads parameter sections of docstrings, and logs what it finds wrong with them
logging.getLogger("griffe").setLevel(logging.CRITICAL)


class UnparsedError(ValueError):
    """A source file does not parse; the message has the line and the parser's words.

    It is asked for where the file is no Python 2 either, and only then is all of the file parsed to tell.
    """

    def __init__(self, content: bytes, error: Exception) -> None:
        super().__init__(content, error)
        self._content = content
        self._error = error

    def __str__(self) -> str:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                parse_python(importlib.util.decode_source(self._content))
        except SyntaxError as error:
            return f"line {error.lineno or 0}: {error.msg}"
        except ValueError as error:
            return f"line 0: {error}"
        except TOO_DEEP:
            return "line 0: nested too deeply for the parser"
        return f"line 0: {self._error}"


def visit_file(
    name: str,
    path: str,
    content: bytes,
    rules: SurfaceRules,
    helpers: HelperRules | None = None,
    directives: DirectiveRules | None = None,
    parse_function: FunctionParser = parse_alone,
    *,
    unsure: bool = False,
    whole: bool = False,
) -> ModuleRecord:
    """Visit one file as the module of that dotted name; `path` is its place from the import root.

    With `helpers` the decorators that they mean change what a function can be called with; with `directives` a
    parameter is deprecated if the docstring says so under it. `parse_function` may remember functions of other
    files that were visited by the same rules. If it is `unsure` that the file parses, the bodies of its functions are
    parsed too. Methods with a private name are read only if the `whole` is wanted: no path leads to them but where
    something public is given their value.

    A statement that is nested too deeply is left out, with a line in `left_out`.

    Errors: UnparsedError if the file is not Python 3, or not in the encoding it declares (PEP 263).
    """

    def visit(source: str) -> ModuleRecord:
        tree, bodies = parse_in_pieces(source, parse_function, unsure=unsure)
        file = Visited(
            rules.calling(_other_names_of_warn(source)), helpers, bodies, directives, is_stub=path.endswith(".pyi")
        )
        return _record(name, path, tree, file, whole=whole)

    try:
        text = importlib.util.decode_source(content)
        with warnings.catch_warnings():
            # old sources have invalid escapes in strings: the compiler's advice about them is not for us
            warnings.simplefilter("ignore")
            try:
                return visit(text)
            except TOO_DEEP:
                return _visit_shallow(text, visit)
    except (SyntaxError, ValueError, *TOO_DEEP) as error:
        raise UnparsedError(content, error) from None


def _other_names_of_warn(text: str) -> frozenset[str]:
    if "warnings" not in text:
        return frozenset()
    return frozenset(name for groups in _WARNS_AS.findall(text) for name in groups if name)


def _visit_shallow(text: str, visit: Callable[[str], ModuleRecord]) -> ModuleRecord:
    """Visit a source without the statements that are nested too deeply; what they bind is opaque.

    Errors: those of `visit`.
    """

    def is_deep(statement: str) -> bool:
        try:
            visit(statement)
        except TOO_DEEP:
            return True
        except (SyntaxError, ValueError):
            # it may parse where it stands
            pass
        return False

    shallow = without_deep(text, is_deep)
    record = visit(shallow.text)
    for place in shallow.names:
        *classes, name = place.split(".")
        members = record.definitions
        for class_ in classes:
            members = members[class_].members if class_ in members else {}
        if name in members:
            members[name] = Definition(name, "attribute", runtime=members[name].runtime, labels=[OPAQUE])
    record.left_out = [f"line {line}: a statement that is nested too deeply for the parser" for line in shallow.lines]
    record.binds_more |= shallow.binds_more
    return record


def _deleted_behind_stars(tree: ast.Module) -> list[str]:
    """Return the names that a module deletes after its last star import: of these no star brings any."""
    imports = [(at, s) for at, s in enumerate(tree.body) if isinstance(s, ast.ImportFrom)]
    stars = [at for at, statement in imports if statement.names[0].name == "*"]
    return sorted(deleted_in(tree.body[stars[-1] :])) if stars else []


def _record(name: str, path: str, tree: ast.Module, file: Visited, *, whole: bool) -> ModuleRecord:
    rules = file.rules
    stem = path.rpartition("/")[2].partition(".")[0]
    bind_literal_globals(tree, file.bodies, name, is_package=stem == "__init__")
    # loops are gone once branches are settled
    binds_more = binds_unobservably(tree, file.bodies, name)
    answered = read_getattr(tree, file.bodies, name, rules, is_package=stem == "__init__")
    makers = read_makers(tree, file.bodies, name, rules, is_package=stem == "__init__")
    file.patched = patched_members(tree.body, rules.member_decorators)
    is_package = PurePath(path).stem == "__init__"
    if not is_package and path.endswith(".py") and only_imports(tree):
        file.passes_on = f"{name.partition('.')[0]}."
    write_classes(tree, file.bodies.rest)
    settle_branches(tree, rules, sets="setattr" in file.bodies.rest)
    file.conditional = conditional_statements(tree, rules)
    scope, imports = bind_names(tree, name, stem == "__init__", file.bodies.comment_on, whole=whole)
    listed = listed_names(tree, file.bodies, name, is_package=stem == "__init__")
    docstring, line = read_docstring(described_by(tree.body[0] if tree.body else None), file.bodies.rest)
    warned = warning_mark(tree.body, rules, {"__name__": name})
    record = ModuleRecord(
        name=name,
        file=path,
        is_package=is_package,
        source=SourceKind.PYI if path.endswith(".pyi") else SourceKind.PY,
        definitions=read_members(scope, file, imports),
        stars=[bound.target for bound in scope.bound.values() if bound.target and "/" in bound.name],
        deleted=_deleted_behind_stars(tree),
        parts=read_parts(tree, name) if is_package else [],
        exports=read_exports(tree, file.bodies),
        dynamic=binds_dynamically(tree, file.bodies),
        binds_more=binds_more,
        answers_any=answered.answers_any,
        getattr_maker=answered.maker,
        makers=makers,
        lazy=answered.names | listed.names,
        virtual_modules=listed.submodules,
        docstring=docstring,
        docstring_line=line,
        deprecation=warned or directive_mark(docstring, rules),
        lines=file.lines,
        advice=read_advice(tree.body, rules),
        unread=sorted(file.unread),
    )
    record.deprecators = [
        definition.name for definition in record.definitions.values() if definition.deprecates is not None
    ]
    record.asks = sorted(
        {match[1] for definition in record.definitions.values() if (match := _PRIVATE.search(definition.value or ""))}
    )
    take_apart(scope)
    return record
