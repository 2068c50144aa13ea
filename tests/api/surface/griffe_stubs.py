"""Names that a stub binds beside a source: whether what griffe says of them stands in the stub."""

from __future__ import annotations

import ast
import re

from pipeline.core.vocabularies.surface import ParameterSource
from tests.api.surface.griffe_branches import places
from tests.api.surface.griffe_differences import Difference, What
from tests.api.surface.griffe_evidence import Sources
from tests.api.surface.griffe_members import signature_from
from tests.api.surface.griffe_surface import Signature, State

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def stub(difference: Difference, sources: Sources) -> bool:
    """Return whether the stub binds the very name, and says of it what griffe says."""
    found = [b.node for place in places(difference, sources) for b in sources.bindings(place, ".pyi")]
    state = difference.theirs
    if not found or state is None:
        return False
    match difference.what:
        case What.RETURNS:
            return any(_says(node, state.returns) for node in found)
        case What.PARAMETERS:
            made = [n for place in places(difference, sources) for n in _functions(place, sources)]
            # a class without a constructor in the stub takes nothing for griffe
            bare = not state.parameters and any(isinstance(node, ast.ClassDef) for node in found)
            return bare or _takes(made, state.parameters, difference)
        case What.BASES:
            return any(tuple(map(ast.unparse, n.bases)) == state.bases for n in found if isinstance(n, ast.ClassDef))
        case What.VALUE:
            return any(isinstance(n, ast.Assign) and ast.unparse(n.value) == state.value for n in found)
        case What.KIND | What.ONLY_GRIFFE | What.CANONICAL:
            return _stands_in_stub(difference, state, sources)
    return False


def _functions(place: str, sources: Sources) -> list[_Function]:
    found = [*sources.bindings(place, ".pyi"), *sources.bindings(f"{place}.__init__", ".pyi")]
    return [b.node for b in found if isinstance(b.node, _Function)]


def _says(node: ast.stmt, returns: str | None) -> bool:
    annotation = node.returns if isinstance(node, _Function) else getattr(node, "annotation", None)
    # griffe joins the annotations of overloads with `|`
    return annotation is not None and returns is not None and _bare(ast.unparse(annotation)) in _bare(returns)


def _bare(annotation: str) -> str:
    return re.sub(r"Optional\[(\w+)\]", r"\1|None", re.sub(r"[\s\"']", "", annotation))


def _takes(functions: list[_Function], parameters: Signature, difference: Difference) -> bool:
    """Return whether griffe's annotations are those of the stub, for the parameters of the source or of the stub."""
    told: dict[str, set[str]] = {}
    for argument in (a for function in functions for a in ast.walk(function.args) if isinstance(a, ast.arg)):
        if argument.annotation is not None:
            told.setdefault(argument.arg, set()).add(_bare(ast.unparse(argument.annotation)))
    annotated = [(name, _bare(annotation)) for name, _, _, annotation in parameters if annotation is not None]
    theirs = [name for name, *_ in parameters]
    written = [name for name, *_ in signature_from(difference, ParameterSource.SIGNATURE)]
    return (
        bool(annotated)
        and (theirs == written or told.keys() >= {*theirs})
        and all(any(one in annotation for one in told.get(name, ())) for name, annotation in annotated)
    )


def _stands_in_stub(difference: Difference, state: State, sources: Sources) -> bool:
    """Return whether the stub binds a name as griffe has it: as what it is there, or where the source binds nothing."""
    if state.made is not None and str(state.made.filepath).endswith(".pyi"):
        return True
    lines = {b.line for place in places(difference, sources) for b in sources.bindings(place, ".pyi")}
    return state.line in lines or (state.made is not None and state.made.lineno in lines)
