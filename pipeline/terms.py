"""The closed vocabularies of every table: one enum per idea, each member with its meaning.

`schemas/*.yaml` name these enums, and the dataset card prints the meanings, so that a value and
its explanation exist once.
"""

from enum import StrEnum


class Term(StrEnum):
    """A member of a closed vocabulary; `meaning` is the sentence that users read in the card."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> "Term":
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


class ArtifactKind(Term):
    WHEEL = "wheel", "a built distribution"
    SDIST = "sdist", "a source distribution"


class SymbolKind(Term):
    MODULE = "module", "a module or package"
    CLASS = "class", "a class"
    FUNCTION = "function", "a function of a module"
    METHOD = "method", "a function of a class"
    PROPERTY = "property", "a property of a class"
    ATTRIBUTE = "attribute", "a variable of a module, or of a class or its instances"
    ALIAS = "alias", "a second public path of a symbol that has a row of its own"
    EXTERNAL = "external", "a name that the library re-exports from another distribution"
    LAZY = "lazy", "a name that the module's __getattr__ answers"


class PublicBecause(Term):
    ROOT = "root", "it is a top-level module of the distribution"
    DUNDER_ALL = "dunder_all", "its module lists it in __all__"
    NAME = "name", "it is defined here and its name has no leading underscore"
    REEXPORT = "reexport", "a package imports it into its __init__ and has no __all__"
    INHERITED = "inherited", "a public class inherits it"
    GETATTR = "getattr", "the module's __getattr__ answers to it"
    IMPORTED = "imported", "it is public in another release, and can be imported here all the same"


class ParameterKind(Term):
    POSITIONAL_ONLY = "positional_only", "can be given by position only"
    POSITIONAL_OR_KEYWORD = "positional_or_keyword", "can be given by position or by name"
    VAR_POSITIONAL = "var_positional", "collects further positional arguments"
    KEYWORD_ONLY = "keyword_only", "can be given by name only"
    VAR_KEYWORD = "var_keyword", "collects further keyword arguments"


class ParameterSource(Term):
    SIGNATURE = "signature", "stands in the signature"
    SYNTHESISED = "synthesised", "is made by a decorator such as dataclass"
    KWARGS = "kwargs", "the body takes it out of **kwargs"
    DOCSTRING = "docstring", "the docstring describes it, and **kwargs takes it"
    STUB = "stub", "stands in the type stub beside the source"
    HELPER = "helper", "a decorator still accepts it, under a name that the signature no longer has"
    DECORATOR = "decorator", "a decorator adds it to the signature"
    UNPACKED = "unpacked", "a TypedDict says that **kwargs takes it (PEP 692)"


class SourceKind(Term):
    PY = "py", "read from Python source"
    PYI = "pyi", "read from a type stub"
    PY2 = "py2", "read from Python 2 source"
    COMPILED = "compiled", "a compiled module without a stub: nothing is known of what is in it"
    INSPECTED = "inspected", "seen by importing it in the pinned environment, in the sandbox"


class ParameterDeprecation(Term):
    ENTIRELY = "entirely", "the parameter is deprecated"
    BY_POSITION = "by_position", "giving it by position is deprecated, by name is not"
    NAME = "name", "this name of it is deprecated, another one stands for it"


class HelperEffect(Term):
    RENAMED = "renamed", "an old name is still accepted for a parameter"
    DEPRECATED = "deprecated", "the named parameters are still accepted, and will go"
    POSITION_FROM = "position_from", "the named parameter and those after it are still accepted by position"
    POSITION_OF = "position_of", "the named parameters are still accepted by position"
    POSITION_BUT = "position_but", "all but the named ones (unnamed: the required ones) are still accepted by position"
    POSITION_REST = "position_rest", "what the signature makes keyword-only is still accepted by position"
    POSITION_ORDER = "position_order", "the named keyword-only parameters are still accepted by position, in that order"
    ADDED = "added", "the parameters of `adds` are accepted too"
    REPLACED = "replaced", "the parameters of `adds` are accepted, and no others"


class HelperArgument(Term):
    SINCE = "since", "the version that deprecates"
    REMOVAL = "removal", "the version that removes"
    OLD = "old", "the old name, or several"
    NEW = "new", "the new name, or as many; None where the parameter goes without one"
    RENAMES = "renames", "a mapping of old names to new ones"
    NAMES = "names", "the parameter that the effect is about, or several"
    ALLOWED = "allowed", "parameters that the effect is not about, where it is about all others"
    DEPRECATED = "deprecated", "parameters that will go, beside the effect on others"
    REPLACEMENT = "replacement", "what to use instead"
    CATEGORY = "category", "a class of warnings"
    PIECE = "piece", "stands in `adds` where its name does, in braces: a name, pairs of name and default, or a value"
    SPECS = "specs", "the keyword is a parameter's name, its value (since, message)"
    IGNORED = "ignored", "says nothing about parameters"


class DeprecationChannel(Term):
    DECORATOR = "decorator", "a decorator says so"
    WARNING = "warning", "the body warns with a deprecation category"
    DIRECTIVE = "directive", "the docstring has a deprecation directive"


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


class Evidence(Term):
    STATIC = "static", "found by comparing sources"
    DOCUMENTED = "documented", "stated by the library's own documentation"
    EXECUTED = "executed", "seen by running in both neighbouring releases"


class SnippetSource(Term):
    DOCSTRING = "docstring", "an example in the library's own docstring"


class SnippetStyle(Term):
    DOCTEST = "doctest", "interactive prompts"
    NUMPY = "numpy", "an Examples section in NumPy style"
    GOOGLE = "google", "an Example or Examples section in Google style"
    SPHINX = "sphinx", "a literal or code block of reStructuredText"
    MARKDOWN = "markdown", "a fenced code block"


class VersionEvidence(Term):
    RELEASE_ARTIFACT = "release_artifact", "the code stands in the release's own file"


class Access(Term):
    DIRECT = "direct", "the chain starts at an import"
    INDIRECT = "indirect", "the chain starts at an object that a direct use made"


class UsageForm(Term):
    CALL = "call", "the API is called"
    ATTRIBUTE = "attribute", "the API is referred to"
    DECORATOR = "decorator", "the API decorates a definition"
    BASE = "base", "the API is the base of a class"


class Granularity(Term):
    TOKEN = "token", "the name of the API is masked"
    LINE = "line", "the statement that uses the API is masked"
    BLOCK = "block", "several statements around the use are masked"


class MigrationBasis(Term):
    EXAMPLE_CHANGED = "example_changed", "the example of the same API differs"
    RENAMED = "renamed", "the old API lives on under another path"
    REPLACEMENT = "replacement", "the library states what replaces the old API"


class Direction(Term):
    OLD_TO_NEW = "old_to_new", "an upgrade"
    NEW_TO_OLD = "new_to_old", "a downgrade"


class VersionPattern(Term):
    MAJOR_TO_MAJOR = "major_to_major", "X.0.0 to Y.0.0"
    MAJOR_TO_MINOR = "major_to_minor", "X.0.0 to any other"
    MINOR_TO_MAJOR = "minor_to_major", "any other to X.0.0"
    MINOR_TO_MINOR = "minor_to_minor", "neither is X.0.0"


class Drafter(Term):
    OFFLINE = "offline", "made from docstrings by rules, without a model"


class DraftField(Term):
    DESCRIPTION = "description", "what the code does, without the masked name"


class EnvironmentOutcome(Term):
    BUILT = "built", "resolved, installed, and the library imports"
    NO_INTERPRETER = "no_interpreter", "no installed Python fits the release"
    NO_FILES = "no_files", "the release has no file that can be installed here"
    UNRESOLVABLE = "unresolvable", "no set of dependencies fits as of the cut-off"
    BUILD_FAILED = "build_failed", "a source distribution could not be built"
    INSTALL_FAILED = "install_failed", "the pinned files could not be installed"
    MISSING_SYSTEM_LIBRARY = "missing_system_library", "a compiled module needs a library that this system lacks"
    IMPORT_FAILED = "import_failed", "installed, but the library does not import"
    NO_SPACE = "no_space", "the disk is full"
    TIMED_OUT = "timed_out", "a step took longer than the rule allows"


class Rung(Term):
    WHEELS = "wheels", "wheels only, as of the cut-off"
    BUILDS = "builds", "source distributions are built too, as of the cut-off"
    WHEELS_LATER = "wheels_later", "wheels only, as of 180 days after the cut-off"
    BUILDS_LATER = "builds_later", "source distributions are built too, as of 180 days after the cut-off"


class VerdictRole(Term):
    REFERENCE = "reference", "a snippet in its own version"
    OTHER_VERSION = "other_version", "a snippet in another version of its library"
    PROBE = "probe", "import the API's path and nothing else"


class Outcome(Term):
    PASSED = "passed", "ran to its end, and every stated output was met"
    FAILED_ASSERTION = "failed_assertion", "an assertion or a stated output was not met"
    WRONG_EXCEPTION = "wrong_exception", "ended with an exception"
    UNDEFINED_NAME = "undefined_name", "uses a name that nothing defines: an incomplete example"
    IMPORT_ERROR = "import_error", "a module could not be imported"
    API_MISSING = "api_missing", "the library has no such name"
    SIGNATURE_MISMATCH = "signature_mismatch", "the call does not fit the signature"
    SYNTAX_ERROR = "syntax_error", "does not compile on this Python"
    TIMED_OUT = "timed_out", "ran longer than allowed"
    OUT_OF_MEMORY = "out_of_memory", "wanted more memory than allowed"
    SANDBOX_VIOLATION = "sandbox_violation", "tried what the sandbox forbids, or was killed"
    FLAKY = "flaky", "did not come out the same on every repeat"
    HARNESS_ERROR = "harness_error", "could not be judged"
    NO_ENVIRONMENT = "no_environment", "not run: its release could not be installed"
    BAD_SAMPLE = "bad_sample", "not run: the sample itself cannot be read, or asks for what does not exist"


class Process(Term):
    FRESH = "fresh", "each case in a new sandbox and a new interpreter"
    FORK = "fork", "cases of one environment as forks of one process that has imported the library"


class Variation(Term):
    HASH_SEED = "hash_seed", "another seed of Python's hashes, so another order of sets"
    ORDER = "order", "the tests of a module backwards"
    CLOCK = "clock", "a later day, as far as Python's own clock functions tell"


class FlagKind(Term):
    LICENCE_UNCLEAR = "licence_unclear", "no SPDX licence could be read from the release"
    DESCRIPTION_REDACTED = "description_redacted", "the name had to be cut out of the description"
    NO_DESCRIPTION = "no_description", "the docstring gives no sentence to describe the code"
    LABEL_CONTRADICTED = "label_contradicted", "running contradicts what the comparison says"
    RENAME_UNSURE = "rename_unsure", "the rename is a guess from similarity"
    NOT_DISCRIMINATING = "not_discriminating", "the old code passes in the new release too"
    TOO_LONG = "too_long", "longer than the rule allows"
    DOCUMENTATION_DISAGREES = "documentation_disagrees", "the documentation states another version than was found"
    AUDIT = "audit", "drawn at random, so that the error rate of the rest is known"


class ReviewStatus(Term):
    UNFLAGGED = "unflagged", "nothing was in doubt, nobody has looked"
    PENDING = "pending", "flagged, nobody has decided yet"


class RejectReason(Term):
    NO_SUCH_LIBRARY = "no_such_library", "the index does not know the name"
    INDEX_UNREACHABLE = "index_unreachable", "the index did not answer, or only with errors"
    BAD_INDEX_ANSWER = "bad_index_answer", "the index answered with something else than its format"
    NO_RELEASES = "no_releases", "nothing is left after the rules"
    INVALID_VERSION = "invalid_version", "the version is not PEP 440"
    PRE_RELEASE = "pre_release", "a pre-release or development release"
    YANKED = "yanked", "withdrawn by its authors"
    NO_FILES = "no_files", "the release has no usable file"
    WRONG_HASH = "wrong_hash", "the file's sha256 is not the one that the index states"
    BAD_ARCHIVE = "bad_archive", "the archive is truncated or not an archive"
    UNSAFE_ARCHIVE = "unsafe_archive", "a member climbs out, is a link, or unpacks too large"
    NO_MODULES = "no_modules", "the release has no importable module to read"
    UNPARSED_SOURCE = "unparsed_source", "a source file does not parse"
    NO_PREDECESSOR = "no_predecessor", "the release before is not in the lake"
    BROKEN_EXAMPLE = "broken_example", "the example does not parse as Python"
    TOO_SHORT = "too_short", "too little code to be of use"
    TOO_LONG = "too_long", "more code than the rule allows"
    NO_USE = "no_use", "the code does not use the library"
    DUPLICATE = "duplicate", "the same content is there already"
    UNRESOLVED_NAME = "unresolved_name", "the chain leads to no public path of that version"
    LEAKS_ANSWER = "leaks_answer", "the answer can be read elsewhere in the instance"
    UNFIT_NAME = "unfit_name", "the API is used under another name, or its name is too short to hide"
    NO_BLOCK = "no_block", "no block of the wanted size stands around the use"
    OVER_QUOTA = "over_quota", "more than the rule takes of one kind"
    NO_PARTNER = "no_partner", "the other version has no example to pair with"
    SAME_CODE = "same_code", "both sides are the same code"
    NO_TEXT = "no_text", "nothing to write it from"
    NO_ENVIRONMENT = "no_environment", "the release could not be installed to run it"
    NO_SPACE = "no_space", "the disk was full"
    NOT_PROVEN = "not_proven", "the reference does not pass in its own environment"
    LABEL_REFUTED = "label_refuted", "running in the neighbouring release contradicts the tag"
    LICENCE = "licence", "the licence is not on the allow-list"
    FLAGGED = "flagged", "held back until a person has decided"
