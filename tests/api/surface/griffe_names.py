"""Names that only one of two readers of a release has, or that lead elsewhere: what the sources say of them."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from pipeline.api.surface.parse.bound_names import only_imports
from pipeline.core.vocabularies.surface import SourceKind
from tests.api.surface.griffe_differences import Difference, What
from tests.api.surface.griffe_evidence import Sources


def lazy(difference: Difference, sources: Sources) -> bool:
    """Return whether a module that gives us the name has a `__getattr__`, and the name in the text of what makes it."""
    module, _, name = difference.path.rpartition(".")
    modules = [module, difference.home.rpartition(".")[0], *sources.star_sources(module)]
    return any(
        name in sources.words(text)
        for other in modules
        for b in sources.bindings(f"{other}.__getattr__")
        if isinstance(b.node, ast.FunctionDef | ast.Assign)
        for text in (other, *_imported_from(other, sources))
    )


def _imported_from(module: str, sources: Sources) -> Iterator[str]:
    """Yield the modules beside one from which it imports, where a function that makes its `__getattr__` may be."""
    package = module if sources.is_package(module) else module.rpartition(".")[0]
    for node in ast.walk(sources.tree(module) or ast.Module([], [])):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            yield f"{package}.{node.module}"


def reexport(difference: Difference, sources: Sources) -> bool:
    """Return whether a package imports the name into its `__init__`."""
    package = difference.path.rpartition(".")[0]
    imported = any(isinstance(b.node, ast.Import | ast.ImportFrom) for b in sources.bindings(difference.path))
    return sources.is_package(_real(package, sources)) and imported


def passed_on(difference: Difference, sources: Sources) -> bool:
    """Return whether the name is imported as itself, given itself below its import, or its module only imports."""
    module, _, name = difference.path.rpartition(".")
    nodes = [b.node for b in sources.bindings(difference.path)]
    imports = [n for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for n in node.names]
    given = any(isinstance(n, ast.Assign) and isinstance(n.value, ast.Name) and n.value.id == name for n in nodes)
    as_itself = any(alias.name == name and (given or alias.asname == name) for alias in imports)
    tree = sources.tree(module)
    return as_itself or (bool(imports) and tree is not None and only_imports(tree))


def _real(module: str, sources: Sources) -> str:
    return module if sources.has(module) else ""


def unread_all(difference: Difference, sources: Sources) -> bool:
    """Return whether a module that binds the name, or star-imports it, has it in no part of `__all__` that griffe reads."""
    module, _, name = difference.path.rpartition(".")
    for other in {module, *sources.star_sources(module)}:
        read, unread = _exports(sources, other)
        binding = {other, *sources.star_sources(other)}
        if unread and name not in read and any(sources.bindings(f"{place}.{name}") for place in binding):
            return True
    return False


@functools.cache
def _exports(sources: Sources, module: str) -> tuple[frozenset[str], bool]:
    """Return the names that literals put into `__all__`, and whether something else changes it too."""
    tree = sources.tree(module) if "__all__" in sources.words(module) else None
    values = [value for node in ast.walk(tree) for value in _all_values(node)] if tree is not None else []
    read = {n.value for v in values if _is_read(v) for n in ast.walk(v) if isinstance(n, ast.Constant)}
    return frozenset(map(str, read)), not all(map(_is_read, values))


def _all_values(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="__all__"))):
            yield node
        case (
            ast.Assign(targets=[ast.Name(id="__all__")], value=value)
            | ast.AugAssign(target=ast.Name(id="__all__"), value=value)
        ):
            yield value


def _is_read(value: ast.expr) -> bool:
    """Return whether griffe reads a value of `__all__`: literals, sums, and `__all__` of other modules."""
    match value:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return all(map(_is_read, elements))
        case ast.Constant() | ast.Attribute(value=ast.Name(), attr="__all__"):
            return True
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _is_read(left) and _is_read(right)
        case ast.Starred(value=inner):
            return _is_read(inner)
    return False


def unlisted(difference: Difference, sources: Sources) -> bool:
    """Return whether the module of a name has an `__all__` that does not name it, and binds the name itself."""
    module, _, name = difference.path.rpartition(".")
    tree = sources.tree(module)
    values = [value for node in ast.walk(tree) for value in _all_values(node)] if tree is not None else []
    texts = {node.value for value in values for node in ast.walk(value) if isinstance(node, ast.Constant)}
    return bool(values) and name not in texts and difference.home.rpartition(".")[0] == module


def namespace(difference: Difference, sources: Sources) -> bool:
    """Return whether a module of griffe's is no file of the release."""
    kind = difference.theirs.kind if difference.theirs else None
    return kind == "module" and not sources.has(difference.path)


def star_module(difference: Difference, sources: Sources) -> bool:
    """Return whether a star import brings a module that the other module imported."""
    module, _, name = difference.path.rpartition(".")
    imports = [b.node for other in sources.star_sources(module) for b in sources.bindings(f"{other}.{name}")]
    return sources.has(difference.home) and any(isinstance(node, ast.Import | ast.ImportFrom) for node in imports)


def shadowed(difference: Difference, sources: Sources) -> bool:
    """Return whether the package of a module binds the name of the module to something else."""
    owner = difference.path.rpartition(".")[0]
    if difference.what is What.PUBLIC:
        # for us a member of what hides the module, for griffe what the module imports
        return sources.has(owner) and bool(sources.bindings(owner))
    if sources.has(difference.home):
        return False
    *_, module, name = ["", *difference.home.split(".")]
    if difference.theirs is None:
        return module == name
    return sources.has(difference.theirs.canonical_path)


def unseen(difference: Difference, sources: Sources) -> bool:
    """Return whether our row is of a compiled module or opaque, and no source binds what it is."""
    row = difference.ours
    opaque = row is not None and ("opaque" in row["labels"] or row["source"] == SourceKind.COMPILED)
    return opaque and not sources.bindings(difference.home)


def through_globals(difference: Difference, sources: Sources) -> bool:
    """Return whether no statement binds the name in a module that writes to its namespace."""
    tree = sources.tree(difference.home.rpartition(".")[0])
    written = ast.unparse(tree) if tree is not None else ""
    writes = re.search(r"\b(?:globals|locals|vars)\(\)(?:\[|\.update)|setattr\(sys\.modules", written)
    return writes is not None and not sources.bindings(difference.home)


def borrowed(difference: Difference, sources: Sources) -> bool:
    """Return whether griffe has a name that leads to another distribution."""
    theirs = difference.theirs
    return theirs is not None and theirs.kind == "unresolved" and not sources.has(theirs.canonical_path.split(".")[0])


def second_name(difference: Difference, sources: Sources) -> bool:
    """Return whether the name is assigned from another name."""
    places = [difference.path, *([difference.theirs.canonical_path] if difference.theirs else [])]
    found = [binding for place in places for binding in sources.bindings(place)]
    if any(isinstance(binding.value, ast.Name | ast.Attribute) for binding in found):
        return True
    # a class that derives from one by its second name inherits nothing for griffe
    owner = difference.home.rpartition(".")[0]
    return owner.rpartition(".")[2] in sources.named_twice(sources.split(owner)[0])


def made_by_type(difference: Difference, sources: Sources) -> bool:
    """Return whether the name is assigned what a call of `type` with a name, bases and members gives."""
    return any(
        isinstance(call := binding.value, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "type"
        and len(call.args) == 3
        for binding in sources.bindings(difference.home)
    )


def decorated_below(difference: Difference, sources: Sources) -> bool:
    """Return whether `name = decorator(name)` stands below a class or function of that name."""
    found = sources.bindings(difference.home)
    defined = any(isinstance(b.node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) for b in found)
    return defined and any(isinstance(b.value, ast.Call) and _innermost(b.value) == b.name for b in found)


def _innermost(call: ast.Call) -> str | None:
    match call.args:
        case [ast.Call() as inner]:
            return _innermost(inner)
        case [ast.Name(id=name)]:
            return name
    return None


def rebound(difference: Difference, sources: Sources) -> bool:
    """Return whether the module imports the name and binds it otherwise too."""
    kinds = [isinstance(b.node, ast.Import | ast.ImportFrom) for b in sources.bindings(difference.path)]
    return True in kinds and False in kinds
