"""What a release offers and how it is read: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


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
    REEXPORT = "reexport", "a package imports it into its __init__, or a module passes it on, and has no __all__"
    INHERITED = "inherited", "a public class inherits it"
    GETATTR = "getattr", "the module's __getattr__ answers to it"
    UNLISTED = "unlisted", "it is defined here, has no leading underscore, and `__all__` does not list it"
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
    ARGS = "args", "the body unpacks *args into it"
    PASSED_ON = "passed_on", "**kwargs are passed on to a base or to another callable, which has it"


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
