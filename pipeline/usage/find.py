"""Finding the uses of a library's API in a piece of code, without running it."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import tree_sitter
import tree_sitter_python

from pipeline.usage.api import Api
from pipeline.usage.chains import Unresolved, Use
from pipeline.usage.flow import Flow
from pipeline.usage.scopes import depth_of

# Deeper trees are generated data, not code that anyone reads; the recursion of the finder stays far below
# Python's own limit.
MAX_DEPTH = 120


@dataclass(frozen=True, slots=True)
class Scan:
    """What was found in one source: uses and chains that lead to no public path, each in order of position."""

    uses: tuple[Use, ...]
    unresolved: tuple[Unresolved, ...]
    too_deep: bool = False


def scan(source: str, api: Api) -> Scan:
    """Return the uses and the unresolved chains of a source, in order of position.

    Direct and indirect uses are those of LibEvolutionEval (section 3.2): a chain from an import, or a member of an
    object that such a chain made.
    """
    tree = _parser().parse(source.encode("utf-8", "surrogatepass"))
    if depth_of(tree.root_node) > MAX_DEPTH:
        return Scan((), (), too_deep=True)
    flow = Flow(api)
    flow.run(tree.root_node)
    return Scan(
        tuple(sorted(set(flow.uses), key=lambda use: (use.name_start_byte, use.end_byte, use.path))),
        tuple(sorted(set(flow.unresolved), key=lambda chain: (chain.start_byte, chain.chain))),
    )


@functools.cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
