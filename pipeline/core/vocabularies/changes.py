"""What changed, what documentation says of it, and the field's own tags: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class ChangeKind(Term):
    INTRODUCED = "introduced", "the release before does not have the API"
    REMOVED = "removed", "the API is gone in this release"
    RENAMED = "renamed", "the API lives on under another name"
    MOVED = "moved", "the API lives on in another place under the same name"
    PARAMETER_ADDED_REQUIRED = "parameter_added_required", "a parameter without default came"
    PARAMETER_ADDED_OPTIONAL = "parameter_added_optional", "a parameter with default came"
    PARAMETER_REMOVED = "parameter_removed", "a parameter went"
    PARAMETER_RENAMED = "parameter_renamed", "a parameter has another name in the same place"
    PARAMETER_MOVED = "parameter_moved", "a positional parameter stands elsewhere"
    PARAMETER_KIND = "parameter_kind", "a parameter became positional-only, keyword-only or free"
    PARAMETER_DEFAULT = "parameter_default", "a parameter has another default"
    PARAMETER_REQUIRED = "parameter_required", "an optional parameter became required"
    PARAMETER_OPTIONAL = "parameter_optional", "a required parameter became optional"
    PARAMETER_DEPRECATED = "parameter_deprecated", "a parameter, or a way to give it, is marked as deprecated"
    PARAMETER_TYPE = "parameter_type", "a parameter's annotation changed"
    ATTRIBUTE_VALUE = "attribute_value", "an attribute or constant has another value"
    ATTRIBUTE_TYPE = "attribute_type", "an attribute's annotation changed"
    RETURNS = "returns", "the return annotation changed"
    OVERLOADS = "overloads", "the signatures that its overloads give changed"
    BASES = "bases", "a class has other bases"
    KIND = "kind", "the API became another kind of thing, a class a function for example"
    ASYNC = "async", "a function became a coroutine, or ceased to be one"
    DEPRECATED = "deprecated", "the API is marked as deprecated from this release on"
    UNDEPRECATED = "undeprecated", "the mark of deprecation was taken back"


OF_PARAMETERS = frozenset(
    {
        ChangeKind.PARAMETER_ADDED_REQUIRED,
        ChangeKind.PARAMETER_ADDED_OPTIONAL,
        ChangeKind.PARAMETER_REMOVED,
        ChangeKind.PARAMETER_RENAMED,
        ChangeKind.PARAMETER_MOVED,
        ChangeKind.PARAMETER_KIND,
        ChangeKind.PARAMETER_DEFAULT,
        ChangeKind.PARAMETER_REQUIRED,
        ChangeKind.PARAMETER_OPTIONAL,
    }
)
"""Changes of what a function can be called with."""

OF_TYPES = frozenset({ChangeKind.PARAMETER_TYPE, ChangeKind.ATTRIBUTE_TYPE, ChangeKind.RETURNS, ChangeKind.OVERLOADS})
"""Changes of annotations alone: nothing runs otherwise."""


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


class DirectiveKind(Term):
    VERSIONADDED = "versionadded", "it came in that version"
    VERSIONCHANGED = "versionchanged", "something about it changed in that version"
    DEPRECATED = "deprecated", "it is deprecated since that version"
    VERSIONREMOVED = "versionremoved", "it is removed in that version"


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
