"""What changed, what documentation says of it, and the field's own tags: closed vocabularies."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from operator import itemgetter
from typing import Self

from pipeline.core.vocabularies import change_words as words
from pipeline.core.vocabularies.change_words import Change
from pipeline.core.vocabularies.term import Term


class DirectiveKind(Term):
    VERSIONADDED = "versionadded", "it came in that version"
    VERSIONCHANGED = "versionchanged", "something about it changed in that version"
    DEPRECATED = "deprecated", "it is deprecated since that version"
    VERSIONREMOVED = "versionremoved", "it is removed in that version"


class Reach(Term):
    """How far an API reaches, the farthest first; changes of what is not OFFERED stand apart and do not break."""

    LISTED = "listed", "`__all__` lists it, a package imports it, a top-level module has it; or it is a member of such"
    DOCUMENTED = "documented", "it has a docstring or warns of its removal, and no other path stands for its module"
    USED = "used", "the library does not offer it, and code of the corpus or its own tests use it"
    UNLISTED = "unlisted", "its module defines it, and the `__all__` of the module does not list it"
    INTERNAL = "internal", "only its name has no underscore"


OFFERED = frozenset({Reach.LISTED, Reach.DOCUMENTED, Reach.USED})
"""APIs that a library offers to its users, or that these take all the same: their changes break code."""


class Work(Enum):
    """What a change asks of a user of the library: the groups of `driftline diff`, the most urgent first."""

    REWRITE = "Code that uses these fails: rewrite"
    NEW_PATH = "Write the new path"
    CHECK = "Check your calls"
    PREPARE = "Prepare: deprecated, and what to use"
    NEW = "New"
    NOTHING = "Nothing to do"
    TYPES = "Types: annotations alone"
    UNLISTED = "Unlisted: not in `__all__`"
    INTERNAL = "Internal: nothing offers these to users"


APART = frozenset({Work.TYPES, Work.UNLISTED, Work.INTERNAL})
"""Groups that have a block of their own beside the other changes of an API."""


class Probe(Enum):
    """What importing the API in both releases can show of a change."""

    NOTHING = auto()
    PLACE = auto()
    """Whether the path is there."""
    STATE = auto()
    """What is found at the path."""
    SIGNATURE = auto()
    """How it can be called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """Everything that a kind of change is known by, but for its tags and `breaking` (`curation_rules/tags.yaml`)."""

    words: Callable[[Change], str]
    """The phrase for one change."""
    work: Work
    """The group of one that is not breaking, see `group_of`."""
    probe: Probe
    """A kind that is not NOTHING or PLACE needs a predicate, see `quality/acceptance/predicates.py`."""
    of_parameter: bool = False
    """Its rows name a parameter."""
    replaceable: bool = False
    """The library may state a replacement, which its words do not have."""
    with_members: bool = False
    """It concerns the members of a class or module, too."""
    last_to_work: bool = False
    """The code that tells the releases apart is right before the change and fails after it."""
    directive: DirectiveKind | None = None
    """The directive of a docstring that states such a change."""
    heading: Callable[[Change], str | None] | None = None
    """The phrase that several changes of one API share; None for a change that has one of its own."""
    member: Callable[[Change], str] = itemgetter("parameter")
    """One change below such a heading."""


class ChangeKind(Term):
    """The kinds of change, each with all that its consumers ask; the order is that in which they are listed."""

    behaviour: Behaviour

    def __new__(cls, value: str, meaning: str = "", behaviour: Behaviour | None = None) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        if behaviour is not None:
            member.behaviour = behaviour
        return member

    INTRODUCED = (
        "introduced",
        "the release before does not have the API",
        Behaviour(
            words=words.introduced,
            work=Work.NEW,
            probe=Probe.PLACE,
            with_members=True,
            directive=DirectiveKind.VERSIONADDED,
        ),
    )
    REMOVED = (
        "removed",
        "the API is gone in this release",
        Behaviour(
            words=words.removed,
            work=Work.REWRITE,
            probe=Probe.PLACE,
            with_members=True,
            replaceable=True,
            last_to_work=True,
            directive=DirectiveKind.VERSIONREMOVED,
        ),
    )
    RENAMED = (
        "renamed",
        "the API lives on under another name",
        Behaviour(
            words=lambda c: f"renamed to {c['new']}",
            work=Work.NEW_PATH,
            probe=Probe.PLACE,
            with_members=True,
        ),
    )
    MOVED = (
        "moved",
        "the API lives on in another place under the same name",
        Behaviour(
            words=lambda c: f"moved to {c['new']}",
            work=Work.NEW_PATH,
            probe=Probe.PLACE,
            with_members=True,
        ),
    )
    PARAMETER_ADDED_REQUIRED = (
        "parameter_added_required",
        "a parameter without default came",
        Behaviour(
            words=words.parameter_added_required,
            work=Work.NOTHING,
            probe=Probe.SIGNATURE,
            of_parameter=True,
            directive=DirectiveKind.VERSIONADDED,
        ),
    )
    PARAMETER_ADDED_OPTIONAL = (
        "parameter_added_optional",
        "a parameter with default came",
        Behaviour(
            words=words.parameter_added_optional,
            work=Work.NOTHING,
            probe=Probe.SIGNATURE,
            of_parameter=True,
            directive=DirectiveKind.VERSIONADDED,
        ),
    )
    PARAMETER_REMOVED = (
        "parameter_removed",
        "a parameter went",
        Behaviour(
            words=words.parameter_removed,
            work=Work.NOTHING,
            probe=Probe.SIGNATURE,
            of_parameter=True,
            replaceable=True,
            last_to_work=True,
            directive=DirectiveKind.VERSIONREMOVED,
        ),
    )
    PARAMETER_RENAMED = (
        "parameter_renamed",
        "a parameter has another name in the same place",
        Behaviour(
            words=lambda c: f"{words.parameter(c)} renamed to `{c['new']}`",
            work=Work.NOTHING,
            probe=Probe.SIGNATURE,
            of_parameter=True,
            directive=DirectiveKind.VERSIONADDED,
        ),
    )
    PARAMETER_MOVED = (
        "parameter_moved",
        "a positional parameter stands elsewhere",
        Behaviour(
            words=words.moved_parameter,
            work=Work.NOTHING,
            probe=Probe.SIGNATURE,
            of_parameter=True,
            heading=words.moved_parameters,
            member=words.moved_parameter,
        ),
    )
    PARAMETER_KIND = (
        "parameter_kind",
        "a parameter became positional-only, keyword-only or free",
        Behaviour(
            words=words.parameter_kind,
            work=Work.NOTHING,
            probe=Probe.SIGNATURE,
            of_parameter=True,
            last_to_work=True,
            heading=words.parameter_kind,
        ),
    )
    PARAMETER_DEFAULT = (
        "parameter_default",
        "a parameter has another default",
        Behaviour(
            words=lambda c: f"default of {words.parameter(c)}: {words.before_after(c)}",
            work=Work.NOTHING,
            probe=Probe.SIGNATURE,
            of_parameter=True,
        ),
    )
    PARAMETER_REQUIRED = (
        "parameter_required",
        "an optional parameter became required",
        Behaviour(
            words=lambda c: f"{words.parameter(c)} is required now (default was {c['old']})",
            work=Work.NOTHING,
            probe=Probe.SIGNATURE,
            of_parameter=True,
            last_to_work=True,
        ),
    )
    PARAMETER_OPTIONAL = (
        "parameter_optional",
        "a required parameter became optional",
        Behaviour(
            words=lambda c: f"{words.parameter(c)} is optional now ({c['new']})",
            work=Work.NOTHING,
            probe=Probe.SIGNATURE,
            of_parameter=True,
        ),
    )
    PARAMETER_DEPRECATED = (
        "parameter_deprecated",
        "a parameter, or a way to give it, is marked as deprecated",
        Behaviour(
            words=words.parameter_deprecated,
            work=Work.PREPARE,
            probe=Probe.NOTHING,
            of_parameter=True,
            replaceable=True,
            directive=DirectiveKind.DEPRECATED,
            heading=words.deprecated_by_position,
        ),
    )
    PARAMETER_TYPE = (
        "parameter_type",
        "a parameter's annotation changed",
        Behaviour(
            words=lambda c: f"type of {words.parameter(c)}: {words.before_after(c)}",
            work=Work.TYPES,
            probe=Probe.NOTHING,
            of_parameter=True,
        ),
    )
    ATTRIBUTE_VALUE = (
        "attribute_value",
        "an attribute or constant has another value",
        Behaviour(
            words=lambda c: f"value: {words.before_after(c)}",
            work=Work.NOTHING,
            probe=Probe.STATE,
        ),
    )
    ATTRIBUTE_TYPE = (
        "attribute_type",
        "an attribute's annotation changed",
        Behaviour(
            words=lambda c: f"type: {words.before_after(c)}",
            work=Work.TYPES,
            probe=Probe.NOTHING,
        ),
    )
    RETURNS = (
        "returns",
        "the return annotation changed",
        Behaviour(
            words=lambda c: f"returns: {words.before_after(c)}",
            work=Work.TYPES,
            probe=Probe.NOTHING,
        ),
    )
    OVERLOADS = (
        "overloads",
        "the signatures that its overloads give changed",
        Behaviour(
            words=lambda c: f"overloads: {words.before_after(c)}",
            work=Work.TYPES,
            probe=Probe.NOTHING,
        ),
    )
    BASES = (
        "bases",
        "a class has other bases",
        Behaviour(
            words=lambda c: f"bases: {words.before_after(c)}",
            work=Work.NOTHING,
            probe=Probe.STATE,
        ),
    )
    KIND = (
        "kind",
        "the API became another kind of thing, a class a function for example",
        Behaviour(
            words=words.kind,
            work=Work.NOTHING,
            probe=Probe.STATE,
            with_members=True,
        ),
    )
    ASYNC = (
        "async",
        "a function became a coroutine, or ceased to be one",
        Behaviour(
            words=words.awaited,
            work=Work.NOTHING,
            probe=Probe.STATE,
        ),
    )
    USE = (
        "use",
        "a way to use the API came or went: by syntax, on the class, by assignment, by making instances or subclasses",
        Behaviour(
            words=words.use,
            work=Work.NOTHING,
            probe=Probe.NOTHING,
            last_to_work=True,
        ),
    )
    BEHAVIOUR = (
        "behaviour",
        "its signature stays, and one program that uses it comes out otherwise",
        Behaviour(
            words=words.behaviour,
            work=Work.NOTHING,
            probe=Probe.NOTHING,
        ),
    )
    DEPRECATED = (
        "deprecated",
        "the API is marked as deprecated from this release on",
        Behaviour(
            words=words.deprecated,
            work=Work.PREPARE,
            probe=Probe.STATE,
            replaceable=True,
            directive=DirectiveKind.DEPRECATED,
        ),
    )
    USE_DEPRECATED = (
        "use_deprecated",
        "a way to use the API is marked as deprecated, to assign it for example; to read it is not",
        Behaviour(
            words=words.use_deprecated,
            work=Work.PREPARE,
            probe=Probe.NOTHING,
        ),
    )
    UNDEPRECATED = (
        "undeprecated",
        "the mark of deprecation was taken back",
        Behaviour(
            words=lambda c: "no longer deprecated",
            work=Work.NOTHING,
            probe=Probe.NOTHING,
        ),
    )


def _kinds(holds: Callable[[Behaviour], bool]) -> frozenset[ChangeKind]:
    return frozenset(kind for kind in ChangeKind if holds(kind.behaviour))


RELOCATED = _kinds(lambda b: b.work is Work.NEW_PATH)
"""The API can be had under another path, which is the change's `new`."""

WHOLE = _kinds(lambda b: b.probe is Probe.PLACE)
"""The API came or went, with all its members."""

GONE = WHOLE - _kinds(lambda b: b.work is Work.NEW)
"""Kinds after which the old path must be missing."""

OF_TYPES = _kinds(lambda b: b.work is Work.TYPES)
"""Changes of annotations alone: nothing runs otherwise."""

MARKED = _kinds(lambda b: b.work is Work.PREPARE)
"""A mark of deprecation came."""

CALLED_OTHERWISE = _kinds(lambda b: b.of_parameter) - OF_TYPES
"""A parameter changed in more than its annotation."""

OF_PARAMETERS = CALLED_OTHERWISE - MARKED
"""Changes of what a function can be called with."""

PROBED = _kinds(lambda b: b.probe in {Probe.STATE, Probe.SIGNATURE})
"""The path stays, and a probe of it in both releases may show the change: each has a predicate."""

REPLACEABLE = _kinds(lambda b: b.replaceable)
"""The library may state what to use instead."""

REPLACEABLE_APIS = REPLACEABLE - CALLED_OTHERWISE
"""What it states is another API, not another parameter."""

WITH_MEMBERS = _kinds(lambda b: b.with_members)
"""Whoever uses a member of the class or module is concerned, too."""

LAST_TO_WORK = _kinds(lambda b: b.last_to_work)
"""The code that tells the releases apart is right before the change and fails after it."""


@functools.cache
def kinds_of_directive(directive: DirectiveKind, *, of_parameter: bool) -> frozenset[ChangeKind]:
    """Return the kinds of change that a directive of a docstring states, of an API or of a parameter."""
    return _kinds(lambda b: b.directive is directive and b.of_parameter == of_parameter)


def group_of(change: Change) -> Work:
    """Return the group of a change: that of its kind, or CHECK where it is breaking and its kind is less urgent.

    Whatever changed about an API that is not offered is UNLISTED or INTERNAL, by its reach.
    """
    if change["reach"] not in OFFERED:
        return Work.UNLISTED if change["reach"] == Reach.UNLISTED else Work.INTERNAL
    work = ChangeKind(change["kind"]).behaviour.work
    order = list(Work)
    return min(work, Work.CHECK, key=order.index) if change["breaking"] else work


class Same(Term):
    """What a model says of two APIs, one that went and one that came."""

    YES = "yes", "both are one API under two paths"
    NO = "no", "they are two"
    UNSURE = "unsure", "the sources do not tell"


class VersiCodeTag(Term):
    ADDITION = "addition", "new in this version"
    DEPRECATION = "deprecation", "this is the last version that has it"
    GENERAL = "general", "inherited from the version before"


class LibEvolutionEvalTag(Term):
    INTRODUCED = "introduced", "new in this version"
    DEPRECATED = "deprecated", "present now, gone in the next version"
    MODIFIED = "modified", "same name, arguments or meaning changed in this version"
    UNCHANGED = "unchanged", "as in the version before"


class GitChameleonCategory(Term):
    ARGUMENT_OR_ATTRIBUTE = "argument_or_attribute", "an argument or attribute changed"
    NAME = "name", "a function or class has another name or place"
    SEMANTICS = "semantics", "the same call behaves differently"
    NEW_FEATURE = "new_feature", "a new feature or a dependency-based change"


class DirectiveOwner(Term):
    API = "api", "about the API itself"
    PARAMETER = "parameter", "about a parameter"
    ATTRIBUTE = "attribute", "about an attribute that the docstring of its class describes"
    PART = "part", "about a part that has no name of its own: a value of a parameter, a return value, an example"


class Agreement(Term):
    AGREES = "agrees", "the comparison of the releases found the same"
    CONTRADICTS = "contradicts", "the comparison of the releases found another version"
    NOT_FOUND = "not_found", "the surface does not show the API, the parameter or the change that it is about"
    NOT_COVERED = "not_covered", "the lake lacks the stated release or the one before, and shows nothing against it"
    NOT_COMPARABLE = "not_comparable", "it is about behaviour or about a part, which no surface shows"
    UNREADABLE = "unreadable", "no version by PEP 440 can be read in it"


class Disagreement(Term):
    BEHIND_KWARGS = "behind_kwargs", "the signature had **kwargs, which may have taken the parameter"
    UNSEEN = "unseen", "the signature cannot be read from the sources: compiled, or made when it runs"
    NOT_IN_SIGNATURE = "not_in_signature", "the signature has no such parameter, and no **kwargs"
    NO_SUCH_MEMBER = "no_such_member", "no source of the class shows an attribute of that name"
    SET_BY_BASE = "set_by_base", "a base class sets the attribute; since when objects of this one have it is not told"
    NO_MARK = "no_mark", "nothing in the code marks it as deprecated"
    NO_SUCH_CHANGE = "no_such_change", "no change of that kind was found"
    INHERITED_BEFORE = "inherited_before", "in the stated release an own definition took the place of an inherited one"
    PLACEHOLDER = "placeholder", "the signature's default was a placeholder, the documentation tells what it stood for"
    SAME_SERIES = "same_series", "found in another release of the stated minor series"
    BACKPORT = "backport", "found, with the statement, in a patch of an earlier series than the stated one"
    ANNOUNCED = "announced", "the statement was there before the release that it names"
    THERE_BEFORE = "there_before", "found before the stated release, where nothing stated it"
    MISSED_RELEASE = "missed_release", "found in the series after the stated one, and nothing stated it before"
    LIVED_ELSEWHERE = "lived_elsewhere", "found long after the stated release, and nothing public stated it before"
    FOUND_LATER = "found_later", "stated before it was found"
