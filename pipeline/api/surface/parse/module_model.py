"""What is kept of one source file: plain data that no longer needs griffe, and does not know the other files."""

from __future__ import annotations

import msgspec

from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource, SourceKind
from pipeline.lake.rows import SymbolDeprecation, SymbolParameter, SymbolParameterDeprecation

ALTERNATIVE = "%otherwise"
"""Suffix of the name of a definition that holds only if something cannot be had (`except ImportError`)."""

UNSEEN_SIGNATURE = "unseen_signature"
"""Label of a function that another one takes the place of, which is not in the same file."""

ASYNC_GENERATOR = "async_generator"
"""Label of an `async def` that yields (PEP 525): nobody awaits what it returns."""

DEFAULT_VALUE = "default:"
"""Prefix of the labels that give the value of a default that is written as the name of a constant: `name=value`."""

SENTINEL_DEFAULT = "sentinel_default:"
"""Prefix of the labels that name parameters whose default is a sentinel, an object without content."""

UNSEEN_MEMBERS = "unseen_members"
"""Label of a class that is given members whose names only running tells: by `setattr` below it, or by a decorator."""

PATCHED_BY = "given:"
"""Prefix of the label that names what a module calls to give a class members: which, only running tells."""

BY_METACLASS = "by_metaclass:"
"""Prefix of the labels that name what a class has from its metaclass: `Class.name`, and not `Class().name`."""

INSTEAD = "instead:"
"""Prefix of the labels of a module that say what to use for a name that it has no more: `name=replacement`."""

KWARGS_UNSEEN = "kwargs_unseen"
"""Label of a callable whose `**kwargs` go where the sources do not show which names are taken."""

ARGS_HANDED_ON = "args_handed_on"
"""Label of a callable that gives its `*args` to another call, or counts them: the signature does not limit them."""

GONE = "gone"
"""Label of a property that does nothing but raise AttributeError: `hasattr` says that it is not there."""

NOT_TOTAL = "total=False"
"""Label of a TypedDict whose keys may be missing (PEP 589)."""

Parameter = SymbolParameter
Mark = SymbolDeprecation
ParameterMark = SymbolParameterDeprecation


def parameter_row(
    name: str,
    kind: ParameterKind,
    default: str | None = None,
    annotation: str | None = None,
    source: ParameterSource = ParameterSource.SIGNATURE,
    deprecation: ParameterMark | None = None,
) -> Parameter:
    """Return a parameter as the column `parameters` has it."""
    return {
        "name": name,
        "kind": kind,
        "default": default,
        "annotation": annotation,
        "known_from": source,
        "deprecation": deprecation,
    }


class Field(msgspec.Struct, gc=False):
    """A field of a class whose parameters are made from its fields."""

    name: str
    annotation: str | None
    default: str | None
    keyword_only: bool


class PassedKwargs(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call by which a constructor passes its `**kwargs` on to that of a base.

    `base` is as written, empty with `super()`. The call itself gives the first `positional` parameters, and `names`.
    """

    base: str = ""
    positional: int = 0
    names: tuple[str, ...] = ()


class HandedOn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that a function hands its `**kwargs` on to.

    `of` is "self" or "super" where `to` is a member found by an instance, empty where it is a dotted name as written,
    and "?" where the source does not show what is called; `to` is empty where the own class is called. The call itself
    gives the first `positional` parameters, and `names`.
    """

    to: str
    of: str = ""
    positional: int = 0
    names: tuple[str, ...] = ()


class Definition(msgspec.Struct, omit_defaults=True):
    """One name that a module or class binds.

    `kind` is class, function, property, attribute or import; `target` is the absolute path of an import, which is
    `passed_on` where it is made for others (`from a import b as b`); `called` are the parameters including self.
    `synthesised` says by which convention a class makes parameters of its fields (dataclass, attrs, namedtuple), if it
    does. `deprecates` is the mark that it gives what it decorates, whose calls warn. `warns_by` are marks that it has
    if a name of the library means a category of deprecations, or a function that warns of one. `overloads` are
    signatures as they are shown to people; `sketch` says what the body is like, see
    `pipeline.api.surface.sketches`. `passes_kwargs` is how a constructor calls that of a base;
    `hands_on` is where the `**kwargs` of any function go. `signature` are the parameters that a class writes as its
    `__signature__`, without self.
    """

    name: str
    kind: str
    target: str | None = None
    runtime: bool = True
    plain_import: bool = False
    passed_on: bool = False
    called: list[Parameter] = msgspec.field(default_factory=list)
    returns: str | None = None
    value: str | None = None
    bases: list[str] = msgspec.field(default_factory=list)
    metaclass: str | None = None
    decorators: list[str] = msgspec.field(default_factory=list)
    labels: list[str] = msgspec.field(default_factory=list)
    docstring: str | None = None
    deprecation: Mark | None = None
    deprecates: Mark | None = None
    warns_by: list[tuple[str, Mark]] = msgspec.field(default_factory=list)
    members: dict[str, Definition] = msgspec.field(default_factory=dict)
    synthesised: str | None = None
    fields: list[Field] = msgspec.field(default_factory=list)
    overloads: list[str] = msgspec.field(default_factory=list)
    sketch: list[int] = msgspec.field(default_factory=list)
    passes_kwargs: PassedKwargs | None = None
    hands_on: list[HandedOn] = msgspec.field(default_factory=list)
    signature: list[Parameter] | None = None


class Exports(msgspec.Struct):
    """What `__all__` was found to be: parts in order, and whether every part was understood.

    A part is ("add", name), ("remove", name) or ("all_of", dotted name of another module as written here).
    """

    parts: list[tuple[str, str]]
    complete: bool


class LazyName(msgspec.Struct, omit_defaults=True, frozen=True):
    """A name that a module's `__getattr__` answers: its mark of deprecation, and the absolute path that it leads to.

    The target is None where only running tells it. `by_maker` if it is passed to the function of the module's maker,
    which then decides whether it is answered.
    """

    mark: Mark | None = None
    target: str | None = None
    by_maker: bool = False


class ModuleRecord(msgspec.Struct, omit_defaults=True):
    """One source file, read.

    `dynamic` if it may bind names in ways that cannot be read, `binds_more` if it does; `answers_any` if its
    `__getattr__` answers names that cannot be told here, where `getattr_maker` names the function that may tell them;
    `makers` are the functions here that make a `__getattr__`, with its answers by module and name, where the empty
    module stands for all others;
    `virtual_modules` are submodules that no file stands for, by the name below this one, with the absolute path of each
    name in them; `deleted` are names that it deletes after all
    its star imports; `parts` are the names that a package imports from itself, which bind none but the submodule's;
    `problem` says why the file does not parse, and then nothing is known of it; `failed` that an exception was raised
    at it; `left_out` names statements that are not read; `skeleton` is a hash of what decides where its names lead;
    `lines` are first lines of docstrings by dotted name, where they are not 1: definitions do not tell them, so that
    they are equal wherever they stand. `unread` are names of methods that have no definition here, since as a rule
    nobody outside of their class calls them; `asks` are names of methods of which something here is given the value,
    so that they are asked for all the same. `deprecators` are names of decorators that deprecate.
    """

    name: str
    file: str
    is_package: bool
    source: SourceKind
    definitions: dict[str, Definition] = msgspec.field(default_factory=dict)
    stars: list[str] = msgspec.field(default_factory=list)
    deleted: list[str] = msgspec.field(default_factory=list)
    parts: list[str] = msgspec.field(default_factory=list)
    exports: Exports | None = None
    dynamic: bool = False
    binds_more: bool = False
    answers_any: bool = False
    getattr_maker: str | None = None
    makers: dict[str, dict[str, dict[str, LazyName]]] = msgspec.field(default_factory=dict)
    lazy: dict[str, LazyName] = msgspec.field(default_factory=dict)
    virtual_modules: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    docstring: str | None = None
    docstring_line: int = 1
    deprecation: Mark | None = None
    problem: str | None = None
    failed: bool = False
    left_out: list[str] = msgspec.field(default_factory=list)
    skeleton: str = ""
    lines: dict[str, int] = msgspec.field(default_factory=dict)
    unread: list[str] = msgspec.field(default_factory=list)
    deprecators: list[str] = msgspec.field(default_factory=list)
    advice: dict[str, str] = msgspec.field(default_factory=dict)
    asks: list[str] = msgspec.field(default_factory=list)
