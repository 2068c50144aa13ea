"""Finding the uses of a library's API in a piece of code, without running it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.expressions import EXPRESSIONS
from pipeline.corpus.usages.flow import STATEMENTS, rebound_elsewhere, run
from pipeline.corpus.usages.scopes import NOT_VOLATILE
from pipeline.corpus.usages.state import State
from pipeline.corpus.usages.syntax import Source
from pipeline.corpus.usages.uses import Unresolved, Use
from pipeline.corpus.usages.values import Foreign, Nothing, Unknown, Value


@dataclass(frozen=True, slots=True)
class Scan:
    """What was found in one source: uses and chains that lead to no public path, each in order of position.

    `too_deep`: something nests deeper than `state.MAX_DEPTH`, and was not looked into.
    """

    uses: tuple[Use, ...]
    unresolved: tuple[Unresolved, ...]
    too_deep: bool = False


def scan(source: str, api: Api) -> Scan:
    """Return the uses and the unresolved chains of a source, in order of position.

    Direct and indirect uses are those of LibEvolutionEval (section 3.2): a chain from an import, or a member of an
    object that such a chain made.
    """
    data = source.encode("utf-8", "surrogatepass")
    if not _may_use(data, api.roots):
        return Scan((), ())
    state = _walked(api, Source(data))
    return Scan(
        tuple(sorted(set(state.uses), key=lambda use: (use.name_start_byte, use.end_byte, use.path))),
        tuple(sorted(set(state.unresolved), key=lambda chain: (chain.start_byte, chain.chain))),
        state.too_deep,
    )


def _walked(api: Api, source: Source) -> State:
    """Walk a source, and again where the first walk recorded arguments of calls or values of volatile names."""
    state = State(api, source, EXPRESSIONS, STATEMENTS, {})
    volatile = rebound_elsewhere(state) or NOT_VOLATILE
    run(state, volatile)
    passed = {key: recorded for key, arguments in state.call_arguments.items() if (recorded := _informative(arguments))}
    if passed or _informative(volatile.observed):
        # What functions do to names of others, and are given by others, is known only now.
        state = State(api, source, EXPRESSIONS, STATEMENTS, passed)
        run(state, replace(volatile, settled=volatile.observed, observed={}))
    return state


_IMPORT = rb"\b(?:from|import)\b(?:\\\r?\n|[^\n])*\b(?:%s)\b|['\"](?:%s)\b"


def _may_use(data: bytes, roots: Collection[str]) -> bool:
    """Tell whether a source may import a library at all, by a statement or by its name in a string."""
    names = "|".join(re.escape(root) for root in sorted(roots)).encode()
    return bool(roots) and re.search(_IMPORT % (names, names), data) is not None


def _informative(names: dict[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in names.items() if not isinstance(value, Unknown | Nothing | Foreign)}
