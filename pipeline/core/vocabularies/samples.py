"""Snippets, uses, instances and drafts: closed vocabularies."""

from dataclasses import dataclass
from typing import Self

from pipeline.core.vocabularies.term import Term


class Evidence(Term):
    STATIC = "static", "found by comparing sources"
    DOCUMENTED = "documented", "stated by the library's own documentation"
    EXECUTED = "executed", "seen by running in both neighbouring releases"


class SnippetStyle(Term):
    DOCTEST = "doctest", "interactive prompts"
    NUMPY = "numpy", "an Examples section in NumPy style"
    GOOGLE = "google", "an Example or Examples section in Google style"
    SPHINX = "sphinx", "a literal or code block of reStructuredText"
    MARKDOWN = "markdown", "a fenced code block"
    FUNCTION = "function", "a function of a file, with what it needs of the file"
    METHOD = "method", "a method with the head of its class, and what they need of the file"
    CLASS_BODY = "class_body", "statements of a class that are no methods, with its head and what they need of the file"
    STATEMENTS = "statements", "statements of a module's top level, with what they need of the file"
    POST = "post", "a block of code of a post"
    PAGE = "page", "a block of code of a documentation page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is said of the code of a source; how it is got is a `CodeSource` of `corpus/NAME/`."""

    style: SnippetStyle | None = None
    """Its rows are blocks without prompts, of this style; None: whole files, or blocks whose style their text tells."""
    files: bool = False
    """Its rows are whole files, out of which examples are cut."""
    purl: str = ""
    """What makes a package URL of a place that is none."""
    versicode: str | None = None
    """What VersiCode calls it; None where no code is exported."""
    not_rebuilt: str | None = None
    """Why `driftline verify` does not make its rows again, and what names the original all the same."""


class SnippetSource(Term):
    source: Source

    DOCSTRING = "docstring", "an example in the library's own docstring", Source(versicode="library_source_code")
    DOWNSTREAM = (
        "downstream",
        "a source distribution of a package that depends on the library",
        Source(files=True, versicode="downstream_application_code"),
    )
    GITHUB = (
        "github",
        "a repository on GitHub, at a commit",
        Source(
            files=True,
            purl="pkg:github/",
            versicode="downstream_application_code",
            not_rebuilt="verify does not fetch repositories; place names the commit",
        ),
    )
    DOCUMENTATION = (
        "documentation",
        "a page of the library's documentation site",
        Source(
            style=SnippetStyle.PAGE,
            versicode="library_source_code",
            not_rebuilt="a page can be edited, and no hash of it is published; url names the page",
        ),
    )
    STACK_OVERFLOW = (
        "stack_overflow",
        "a question or answer on Stack Overflow",
        Source(
            style=SnippetStyle.POST,
            versicode="stackoverflow",
            not_rebuilt="a post can be edited, and no hash of it is published; url names the post",
        ),
    )
    OWN_TEST = (
        "own_test",
        "a test of the library's own suite, cut down to one assertion, which prints what it looks at",
        Source(
            versicode="Library Source Code",
            not_rebuilt="runs chose the lines that are left of the test; file and line name it",
        ),
    )
    CHANGE = (
        "change",
        "a change of the library: code was written from the signatures and documents of both releases, and run in both",
        Source(versicode="Library Source Code", not_rebuilt="nothing writes code from a change again"),
    )

    def __new__(cls, value: str, meaning: str = "", source: Source | None = None) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        if source is not None:
            member.source = source
        return member


class ExternalSource(Term):
    """Where code of other people is crawled: what a refresh can be told to ask."""

    DOWNSTREAM = SnippetSource.DOWNSTREAM.value, SnippetSource.DOWNSTREAM.meaning
    GITHUB = SnippetSource.GITHUB.value, SnippetSource.GITHUB.meaning
    DOCUMENTATION = SnippetSource.DOCUMENTATION.value, SnippetSource.DOCUMENTATION.meaning
    STACK_OVERFLOW = SnippetSource.STACK_OVERFLOW.value, SnippetSource.STACK_OVERFLOW.meaning


class DocumentSource(Term):
    SITE = "site", "the documentation site of that version"
    DOCSTRING = "docstring", "the docstring in the release"


class VersionEvidence(Term):
    """From the strongest to the weakest."""

    RELEASE_ARTIFACT = "release_artifact", "the code stands in the release's own file or documentation"
    LOCK = "lock", "a lock file beside the code names the release"
    EXACT_PIN = "exact_pin", "a requirement beside the code allows this release alone"
    DEPENDENCY_MATRIX = "dependency_matrix", "the newest release that the requirements beside the code allowed then"
    TEXT = "text", "the text around the code names the version"


class Language(Term):
    PYTHON = "python", "Python"
    JAVA = "java", "Java"
    CSHARP = "csharp", "C#"
    JAVASCRIPT = "javascript", "JavaScript"


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
    REPLACEMENT = "replacement", "the library states what replaces the old API or its parameter"
    PARAMETERS = "parameters", "the parameters of the API changed, so that it is called otherwise"
    TEST_CHANGED = "test_changed", "a test of the library says the same in both releases, by other code"
    DEPENDENT_CHANGED = (
        "dependent_changed",
        "a package that depends on the library has the same function in releases for either side, by other code",
    )
    MODEL = "model", "a language model wrote one side, where no rule could; it gives the outputs that the other states"


class Codemod(Term):
    """What rewrote a piece of a program for another release."""

    NAME = "name", "the API is named otherwise, or reached on another way"
    IMPORT = "import", "an import statement was changed or added"
    KEYWORD = "keyword", "an argument is given under another name"
    BY_NAME = "by_name", "an argument that was given by position is given by name"
    BY_POSITION = "by_position", "an argument that was given by name is given by position"
    LEFT_OUT = "left_out", "an argument is left out whose value both releases take anyway"
    ADDED = "added", "an argument is given whose value the other release took by default"
    MOCK = "mock", "a module of another package is mocked where that is not installed"


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
    MODEL = "model", "written by a language model, and checked"
    ANNOTATOR = "annotator", "written by a person who reviewed it"


class Improves(Term):
    MISSING = "missing", "texts that the offline drafter cannot write"
    REDACTED = "redacted", "texts out of which it had to cut a name"
    ALL = "all", "every text"


class DraftField(Term):
    DESCRIPTION = "description", "what the code does, without the masked name"
    QUERY = "query", "what an expression is to do, without its name and arguments"


class DocumentPart(Term):
    PATH = "path", "the public path"
    SIGNATURE = "signature", "how it is called"
    DESCRIPTION = "description", "the prose"
    PARAMETERS = "parameters", "names and descriptions of the parameters"
    RETURNS = "returns", "what is returned"
    EXAMPLES = "examples", "blocks of code"


class RetrieverKind(Term):
    BM25 = "bm25", "words in common, weighted by how rare they are (Okapi BM25)"
    EMBEDDING = "embedding", "nearness in meaning (cosine of static sentence embeddings)"
