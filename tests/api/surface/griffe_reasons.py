"""Why our surface differs from griffe's: a closed list, each reason decided by what stands in the sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pipeline.core.vocabularies.term import Term
from tests.api.surface import griffe_branches as branches
from tests.api.surface import griffe_members as members
from tests.api.surface import griffe_names as names
from tests.api.surface.griffe_differences import Difference, What
from tests.api.surface.griffe_evidence import Sources
from tests.api.surface.griffe_stubs import stub


class Reason(Term):
    """Why a difference is meant; the meaning is the sentence of docs/contributing/griffe.md."""

    BELOW = "below another", "a member of an API that differs itself: it differs with its owner"
    LAZY = "module __getattr__", "the module's `__getattr__` answers the name; griffe does not read it"
    REEXPORT = (
        "re-export of a package",
        "a package imports it into its `__init__`, where users import it; for griffe all imports are private",
    )
    PASSED_ON = (
        "passed on",
        "`from a import b as b`, `b = b` below an import, or a module that does nothing but import, passes `b` on; griffe: private",
    )
    ALL = (
        "__all__ that griffe does not read",
        "`__all__` is extended, sorted, or made as the module is imported; griffe reads literals, `+` and `+=`",
    )
    UNLISTED = (
        "unlisted",
        "the module defines it, and `__all__` does not list it: a row that says so for us, for griffe it is private",
    )
    NAMESPACE = (
        "namespace package",
        "a folder without `__init__`, which other distributions share: no module of the release; griffe makes one",
    )
    STAR_MODULE = (
        "star import of a module",
        "a star import brings the modules too that a package imported; griffe brings only what modules bind",
    )
    SHADOWED = (
        "a definition hides a module",
        "the package binds the name of its submodule to something else; in griffe's tree the module wins",
    )
    UNSEEN = (
        "compiled, or made at import",
        "the package imports it from a module that no source shows: we have an opaque row",
    )
    OTHER_BRANCH = (
        "another branch runs",
        "several branches bind it, or one of Python 2: we take what runs on CPython 3.11 on Linux, griffe the last, of attributes the first",
    )
    HANDLER = (
        "fallback",
        "an `except` branch binds it: we take the name that it replaces, or nothing if there is none; griffe takes it",
    )
    TYPING_ONLY = (
        "for type checkers only",
        "it is bound under TYPE_CHECKING, or a TypeVar or alias of a type that is not in `__all__`",
    )
    TYPING_ELSE = (
        "else of TYPE_CHECKING",
        "the bindings at run time are there; griffe takes those for type checkers, and no star import brings the others",
    )
    PROGRAM = "of a program", "it is bound under `if __name__ == '__main__'`"
    SCRATCH = "scratch", "a loop binds it in passing, or `del` unbinds it"
    BORROWED = (
        "another library's",
        "a star import hands on what the other module itself imported from another distribution, and does not list",
    )
    SECOND_NAME = (
        "second name",
        "`new = old` gives a class or function a second name: an alias for us, an attribute for griffe",
    )
    MADE_BY_TYPE = (
        "made by a call of type",
        "`name = type('name', bases, members)` makes a class: a class for us, an attribute for griffe",
    )
    DECORATED = (
        "decorated below",
        "`name = decorator(name)` follows a definition: a decorator for us, for griffe an attribute in its place",
    )
    SET_ELSEWHERE = (
        "set outside __init__",
        "a method other than `__init__` sets it, a loop, `with` or `setattr` of `__init__`, or an assignment below the class",
    )
    FIELDS = "fields", "`__slots__` or `namedtuple(…)` declares it"
    MADE_PARAMETERS = (
        "parameters made of fields",
        "the class is a NamedTuple, attrs or pydantic class, or a dataclass, whose parameters are its fields",
    )
    UNFOLLOWED = (
        "a base that griffe loses",
        "a base of the class is in the release, and griffe does not find it: the inherited members are missing there",
    )
    NEW = "__new__", "the class has no `__init__`; it is called as its `__new__` says"
    KWARGS = (
        "behind **kwargs",
        "the docstring, the body or a base that they are passed on to says which parameters `**kwargs` takes",
    )
    HELPED = (
        "a decorator takes it",
        "a decorator takes a parameter that the signature does not have, or no longer by that name",
    )
    MANGLED = "private name", "inside a class Python makes `_Class__x` of `__x`: that is the name of the parameter"
    OVERLOADS = (
        "overloads only",
        "a stub defines it by overloads alone, which for griffe are no definition; we take the first",
    )
    UNPACKED = (
        "unpacked",
        "one assignment binds several names in a class body or in `__init__`; griffe reads those of a module",
    )
    THROUGH_GLOBALS = (
        "through globals()",
        "the module binds a literal name in its namespace: `globals()['name'] = …`, also in a loop over literals",
    )
    PROPERTY = "property", "a call of `property`, or a decorator that griffe does not know, makes a property"
    REFUSED = (
        "only raises",
        "all that the property does is to raise an AttributeError, which takes away what a base has: no instance has it",
    )
    STUB = (
        "stub",
        "a stub is beside the source: it completes the source for us, and replaces it for griffe",
    )
    REBOUND = "imported, then bound", "the module binds the name again after importing it: its own, and public"


_ABSENT = frozenset({What.ONLY_OURS, What.ONLY_GRIFFE})
_LEADS = frozenset({What.CANONICAL, What.KIND})
_STATED = frozenset({What.PARAMETERS, What.RETURNS, What.VALUE, What.BASES})
_OURS, _THEIRS, _CALLED = frozenset({What.ONLY_OURS}), frozenset({What.ONLY_GRIFFE}), frozenset({What.PARAMETERS})

_PREDICATES: dict[Reason, tuple[frozenset[What], Callable[[Difference, Sources], bool]]] = {
    Reason.LAZY: (_OURS, names.lazy),
    Reason.REBOUND: (frozenset({What.PUBLIC}), names.rebound),
    Reason.REEXPORT: (frozenset({What.PUBLIC}), names.reexport),
    Reason.PASSED_ON: (_LEADS | {What.PUBLIC, What.RETURNS, What.VALUE}, names.passed_on),
    Reason.SHADOWED: (_LEADS | _OURS | {What.PUBLIC}, names.shadowed),
    Reason.UNLISTED: (frozenset({What.PUBLIC}), names.unlisted),
    Reason.NAMESPACE: (_THEIRS, names.namespace),
    Reason.PROGRAM: (_THEIRS, branches.program),
    Reason.SCRATCH: (_THEIRS, branches.scratch),
    Reason.DECORATED: (frozenset({What.KIND}), names.decorated_below),
    Reason.REFUSED: (_THEIRS, members.only_raises),
    Reason.PROPERTY: (_OURS | {What.KIND}, members.made_property),
    Reason.MADE_PARAMETERS: (_CALLED, members.made_parameters),
    Reason.KWARGS: (_CALLED, members.kwargs),
    Reason.HELPED: (_CALLED, members.helped),
    Reason.MANGLED: (_CALLED, members.mangled),
    Reason.NEW: (_CALLED, members.new),
    Reason.HANDLER: (_LEADS | _STATED | _THEIRS, branches.handler),
    Reason.TYPING_ONLY: (_LEADS | _STATED | _THEIRS, branches.typing_only),
    Reason.TYPING_ELSE: (_OURS | _LEADS | _STATED, branches.typing_else),
    Reason.OTHER_BRANCH: (_LEADS | _STATED | _ABSENT, branches.other_branch),
    Reason.BORROWED: (_THEIRS, names.borrowed),
    Reason.SET_ELSEWHERE: (_OURS | _LEADS | _STATED, members.set_elsewhere),
    Reason.UNPACKED: (_OURS | {What.KIND, What.VALUE}, members.unpacked),
    Reason.THROUGH_GLOBALS: (_OURS, names.through_globals),
    Reason.FIELDS: (_OURS | _LEADS | _STATED, members.fields),
    Reason.SECOND_NAME: (_LEADS | _OURS, names.second_name),
    Reason.MADE_BY_TYPE: (frozenset({What.KIND}), names.made_by_type),
    Reason.STAR_MODULE: (_OURS, names.star_module),
    Reason.ALL: (_OURS | {What.PUBLIC}, names.unread_all),
    Reason.STUB: (_LEADS | _STATED | _THEIRS, stub),
    Reason.OVERLOADS: (_OURS | _CALLED, members.overloads_only),
    Reason.UNFOLLOWED: (_OURS | _CALLED, members.unfollowed),
    Reason.UNSEEN: (_OURS | {What.KIND}, names.unseen),
}
"""The differences that a reason can explain, and whether the sources give it for one of them."""


def reason_of(difference: Difference, sources: Sources, above: Mapping[str, Difference]) -> Reason | None:
    """Return the first reason that the sources give for a difference; `above` are those of presence, by path."""
    for reason, (explains, holds) in _PREDICATES.items():
        if difference.what in explains and holds(difference, sources):
            return reason
    parent = difference.path.rpartition(".")[0]
    return Reason.BELOW if difference.what in _ABSENT and parent in above else None
