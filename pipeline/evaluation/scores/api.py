"""Which APIs code calls: the API hit rate of GitChameleon, and the F1 of API expressions of LibEvolutionEval."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from operator import itemgetter

import tree_sitter_python
from tree_sitter import Language, Node, Parser

from pipeline.evaluation.scores.reading import REMEMBERED, read

_CALLS = frozenset({"call", "decorator"})


def api_hit(answer: str, reference_calls: Collection[str], preceding: str = "") -> bool | None:
    """Return whether an answer calls every API that the reference calls; None where the reference calls none.

    `reference_calls` are dotted names as `calls_of` returns them; imports of `preceding` code hold in the answer.
    A call on an object matches by its last name, since its type is unknown (GitChameleon 2.0, 2507.12367, section 4).
    """
    if not reference_calls:
        return None
    called = set(calls_of(answer, preceding))
    last = {name.rpartition(".")[2] for name in called}
    return all(name in called or ("." in name and name.rpartition(".")[2] in last) for name in reference_calls)


def api_f1(prediction: str, reference: str, preceding: str = "") -> float | None:
    """Return the F1, 0 to 1, of the API expressions of a completion against the reference's, None if it has none.

    An expression is the dotted name of a call, or of an attribute that is not called; each occurrence counts
    (LibEvolutionEval, 2412.04478, section 4). Both sides begin with `preceding`, whose own expressions do not count.
    """
    expected, predicted = (_beyond(expressions_of(preceding + code), preceding) for code in (reference, prediction))
    if not expected:
        return None
    if predicted == expected:
        return 1.0
    return 2 * (Counter(predicted) & Counter(expected)).total() / (len(predicted) + len(expected))


def _beyond(expressions: Sequence[str], preceding: str) -> Sequence[str]:
    if not preceding:
        return expressions
    return tuple((Counter(expressions) - Counter(expressions_of(preceding))).elements())


def calls_of(code: str, preceding: str = "") -> list[str]:
    """Return the dotted names that code calls, in order and with repetitions; invalid code is read as far as it parses.

    Names that imports bind, also in `preceding`, are spelled out: `np.zeros` is `numpy.zeros`.
    """
    bound = dict((*_called_and_bound(preceding)[1], *_called_and_bound(code)[1]))
    return [_spelled_out(name, bound) for name in _called_and_bound(code)[0]]


@functools.lru_cache(REMEMBERED)
def _called_and_bound(code: str) -> tuple[Sequence[str], Sequence[tuple[str, str]]]:
    whole = read(code)
    if whole.valid:
        called = sorted([*((call.place, call.dotted) for call in whole.calls), *whole.decorators], key=itemgetter(0))
        return [name for _, name in called], whole.bound
    root = _tree(code)
    names = [name for node in _walk(root) if node.type in _CALLS and (name := _called(node))]
    return names, tuple(_bound_by_imports(root))


def expressions_of(code: str) -> Sequence[str]:
    """Return the dotted names in code that are called or are attributes, as written, even if it does not parse."""
    whole = read(code)
    return whole.expressions if whole.valid else _expressions(code)


@functools.lru_cache(REMEMBERED)
def _expressions(code: str) -> Sequence[str]:
    """Read the expressions of code that is not valid, as far as it can be read."""
    expressions: list[str] = []
    for node in _walk(_tree(code)):
        name = _called(node) if node.type == "call" else None
        if node.type == "attribute" and not _is_part(node):
            name = _dotted(node)
        expressions += [name] if name else []
    return tuple(expressions)


@functools.cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_python.language()))


def _tree(code: str) -> Node:
    return _parser().parse(code.encode("utf-8", "replace")).root_node


def _walk(root: Node) -> Iterator[Node]:
    """Yield every node in the order of the text; no recursion, since the depth of predictions has no limit."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.named_children)


def _called(node: Node) -> str | None:
    function = node.child_by_field_name("function") if node.type == "call" else node.named_children[-1:]
    if isinstance(function, list):
        function = function[0] if function else None
    return _dotted(function) if function else None


def _dotted(node: Node) -> str | None:
    """Return `a.b.c`; of `f(x).g` and `x[0].g` only `.g`."""
    names: list[str] = []
    while node.type == "attribute":
        name, owner = node.child_by_field_name("attribute"), node.child_by_field_name("object")
        if name is None or owner is None:
            return None
        names.append(_text(name))
        node = owner
    names.append(_text(node) if node.type == "identifier" else "")
    return ".".join(reversed(names)) or None


def _is_part(node: Node) -> bool:
    """Say whether an attribute is called, or another one is taken of it."""
    parent = node.parent
    return parent is not None and (
        parent.type == "attribute" or (parent.type == "call" and parent.child_by_field_name("function") == node)
    )


def _bound_by_imports(root: Node) -> Iterator[tuple[str, str]]:
    for node in _walk(root):
        if node.type not in ("import_statement", "import_from_statement"):
            continue
        module = node.child_by_field_name("module_name")
        prefix = f"{_text(module)}." if module else ""
        for imported in node.children_by_field_name("name"):
            name, alias = imported.child_by_field_name("name"), imported.child_by_field_name("alias")
            full = prefix + _text(name or imported)
            if alias:
                yield _text(alias), full
            elif prefix:
                yield _text(imported), full


def _spelled_out(name: str, bound: dict[str, str]) -> str:
    first, dot, rest = name.partition(".")
    return f"{bound.get(first, first)}{dot}{rest}"


def _text(node: Node) -> str:
    return (node.text or b"").decode()
