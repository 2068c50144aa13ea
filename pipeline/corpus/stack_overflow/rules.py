"""What a curator decides about posts: `curation_rules/stack_overflow.yaml`."""

from __future__ import annotations

from packaging.utils import canonicalize_name
from pydantic import Field, field_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.samples import Language


class Example(Rule):
    """A text about a library, and the version that is read out of it."""

    text: str
    gives: str
    library: str = "pandas"


class MentionPattern(Rule):
    """Words that name a version of a library: a regular expression with placeholders, searched in any case.

    NAME is any of the library's names, ALIAS what code imports it as, PACKAGE its coordinates in full, ARTIFACT the
    last part of them, VERSION the version. `exact` words mean that one release, others all that begin like it;
    `unclear` ones mean other releases than the one that they name.
    """

    pattern: str
    exact: bool = False
    unclear: bool = False
    examples: tuple[Example, ...] = ()
    unclear_examples: tuple[Example, ...] = ()
    not_examples: tuple[str, ...] = ()

    @field_validator("pattern")
    @classmethod
    def _has_version(cls, pattern: str) -> str:
        if pattern.count("VERSION") != 1:
            raise InputError(f"{pattern!r} must have the placeholder VERSION once", code="rule_placeholder_missing")
        return pattern


class LibraryWords(Rule):
    """How posts name a library; what is empty stands for the library's own name.

    `whole_numbers` says that a version may be written without a point: Angular 8.
    """

    tags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    mentions: tuple[MentionPattern, ...] = ()
    whole_numbers: bool = False
    titles: bool = True


class ForeignLibrary(LibraryWords):
    """A library of another language, of which there are no releases in the lake.

    `imports` are the packages that its code imports from, `api` names of it that tell its code where nothing is
    imported by name: after `using` in C# and `import x.*` in Java, and of what a page loads.
    """

    language: Language
    imports: tuple[str, ...] = ()
    api: frozenset[str] = frozenset()
    tags: tuple[str, ...] = Field(min_length=1)
    titles: bool = False

    @field_validator("language")
    @classmethod
    def _foreign(cls, language: Language) -> Language:
        if language is Language.PYTHON:
            raise InputError("libraries of Python stand under `libraries`", code="rule_contradiction")
        return language


class AskingRules(Rule):
    """How the API is asked: posts a page, and for how long we wait when it tells us to."""

    page_size: int = Field(ge=1, le=100)
    max_wait_s: float = Field(ge=0)
    max_tries: int = Field(ge=1)


class BlockRules(Rule):
    """Which blocks of code are taken; `hints` are the names by which a block says its language.

    `min_lines` and `max_error_share`, the share of lines at which a grammar finds an error, hold for other languages
    than Python, whose code is judged where snippets are cut.
    """

    max_characters: int = Field(ge=1)
    min_lines: int = Field(ge=1)
    max_error_share: float = Field(ge=0, le=1)
    hints: dict[Language, frozenset[str]]

    def language_of(self, hint: str) -> Language | None:
        """Return the language that a hint names, None where it is none that we take."""
        return next((language for language, names in self.hints.items() if hint.lower() in names), None)


class StackOverflowRules(Rule):
    """The rules of `curation_rules/stack_overflow.yaml`.

    `version` is what VERSION stands for, `whole_number` what it may be beside that, and `not_after` what must not
    follow: 1.3 seconds. `continued` names a further version behind one. `unnamed` words name none of the libraries;
    they have one of `unnamed_cues`, and count only where nothing of `others` stands in their sentence and the number is
    none of `not_unnamed`.
    """

    asking: AskingRules
    blocks: BlockRules
    max_post_bytes: int = Field(ge=1)
    version: str
    whole_number: str
    not_after: str
    continued: str
    named: tuple[MentionPattern, ...]
    unnamed: tuple[MentionPattern, ...]
    unnamed_cues: frozenset[str]
    others: tuple[str, ...]
    not_unnamed: str
    tag: str
    title_tags: frozenset[str]
    packages: dict[Language, tuple[MentionPattern, ...]]
    libraries: dict[str, LibraryWords]
    foreign: dict[str, ForeignLibrary]

    @field_validator("libraries")
    @classmethod
    def _normalised(cls, libraries: dict[str, LibraryWords]) -> dict[str, LibraryWords]:
        if wrong := [name for name in libraries if name != canonicalize_name(name)]:
            raise InputError(f"not the normalised names of distributions: {', '.join(wrong)}", code="rule_name_invalid")
        return libraries

    def words_of(self, library: str) -> LibraryWords:
        """Return how posts name a library, the defaults filled in."""
        words = self.foreign.get(library) or self.libraries.get(library) or LibraryWords()
        changed = {
            "tags": words.tags or (library,),
            "names": words.names or (library,),
            "aliases": words.aliases or words.names or (library,),
        }
        return words.model_copy(update=changed)

    def language_of(self, library: str) -> Language:
        """Return the language of a library, Python where the rules do not say otherwise."""
        return self.foreign[library].language if library in self.foreign else Language.PYTHON
