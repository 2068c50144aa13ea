"""Where a text names a version of a library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipeline.core.rules.load import RuleError, load
from pipeline.corpus.stack_overflow.rules import Example, LibraryWords, MentionPattern, StackOverflowRules

RULE_FILE = "stack_overflow.yaml"
_SENTENCE = re.compile(r"[.!?;](?=\s)|\n")
_MAX_SENTENCE = 400
_MAX_WORDS = 80


@dataclass(frozen=True, slots=True)
class Mention:
    """A version as a text names it, and the words that do.

    `exact` says that one release is meant, not every one that begins like it; `unclear` that others than it are
    meant; `named` that the words name the library too.
    """

    version: str
    exact: bool
    unclear: bool
    named: bool
    start: int
    words: str


@dataclass(frozen=True, slots=True)
class _Searched:
    pattern: re.Pattern[str]
    exact: bool
    unclear: bool
    named: bool


class MentionReader:
    """Finds the versions of one library in texts, by the rules; patterns are compiled when a text first needs them."""

    def __init__(self, rules: StackOverflowRules, library: str) -> None:
        self.library = library
        self.words = rules.words_of(library)
        self._rules = rules
        self._filled = _Placeholders(rules, self.words)
        self.name = self._filled.name
        # Without releases nothing shows whether a bare number is the library's.
        self._has_unnamed = library not in rules.foreign
        self._cues = rules.unnamed_cues if self._has_unnamed else frozenset()
        self._spellings = _spellings([*self.words.names, *self._filled.artifacts])
        self._spellings |= {f"{alias}.__version__".lower() for alias in self.words.aliases}
        self._number = re.compile(r"\d" if self.words.whole_numbers else r"\d\.[\dx*]", re.IGNORECASE)

    @cached_property
    def _named(self) -> list[_Searched]:
        packages = self._rules.packages.get(self._rules.language_of(self.library), ()) if self.words.packages else ()
        patterns = (*self.words.mentions, *packages, *self._rules.named)
        return [self._filled.searched(pattern, named=True) for pattern in patterns]

    @cached_property
    def _unnamed(self) -> list[_Searched]:
        patterns = self._rules.unnamed if self._has_unnamed else ()
        return [self._filled.searched(pattern, named=False) for pattern in patterns]

    @cached_property
    def _continued(self) -> re.Pattern[str]:
        return self._filled.compiled(self._rules.continued)

    @cached_property
    def _not_after(self) -> re.Pattern[str]:
        return self._filled.compiled(self._rules.not_after)

    @cached_property
    def _in_title(self) -> re.Pattern[str]:
        return self._filled.compiled(self.name)

    @cached_property
    def _others(self) -> re.Pattern[str]:
        libraries = {*self._rules.libraries, *self._rules.foreign}
        names = {name for library in libraries for name in (library, *self._rules.words_of(library).names)}
        others = (names | set(self._rules.others)) - {self.library, *self.words.names}
        return self._filled.compiled(rf"(?<![\w.-])(?:{_any(sorted(others))})(?![\w-])")

    def read(self, text: str, *, unnamed: bool = True) -> list[Mention]:
        """Return the mentions of a text in their order; of several patterns that read one place the first counts."""
        mentions: dict[int, Mention] = {}
        if not self._number.search(text):
            return []
        lowered = text.lower()
        if any(spelling in lowered for spelling in self._spellings):
            for searched in self._named:
                self._search(searched, text, mentions)
        if unnamed and any(cue in lowered for cue in self._cues):
            for searched in self._unnamed:
                self._search(searched, text, mentions)
        return [mentions[start] for start in sorted(mentions)]

    def may_find(self, text: str) -> bool:
        """Tell whether a text, which may have markup, can hold a mention: most have no such number or no such word."""
        if not self._number.search(text):
            return False
        lowered = text.lower()
        return any(word in lowered for words in (self._spellings, self._cues) for word in words)

    def read_tags(self, tags: Iterable[str]) -> list[Mention]:
        """Return the versions that tags name: angular-8."""
        pattern = self._filled.compiled(self._rules.tag)
        matches = [(tag, pattern.fullmatch(tag)) for tag in tags if self._number.search(tag)]
        return [Mention(m["version"], False, False, True, 0, tag) for tag, m in matches if m]

    def is_named(self, title: str) -> bool:
        """Tell whether a title names the library."""
        return self._in_title.search(title) is not None

    def _search(self, searched: _Searched, text: str, mentions: dict[int, Mention]) -> None:
        for match in searched.pattern.finditer(text):
            if self._not_after.match(text, match.end("version")):
                continue
            if not searched.named and not self._is_ours(match, text):
                continue
            for version, start, end in self._versions(match, text):
                words = " ".join(text[match.start() : end].split())[-_MAX_WORDS:]
                mention = Mention(version, searched.exact, searched.unclear, searched.named, start, words)
                mentions.setdefault(start, mention)

    def _versions(self, match: re.Match[str], text: str) -> Iterator[tuple[str, int, int]]:
        """Yield the version of a match, and those that follow it: from pandas 1.2 to 1.3."""
        following: re.Match[str] | None = match
        while following:
            yield following["version"], following.start("version"), following.end()
            following = self._continued.match(text, following.end())
            if following and self._not_after.match(text, following.end()):
                return

    def _is_ours(self, match: re.Match[str], text: str) -> bool:
        """Tell whether a version that stands without a name may be the library's: nothing else is spoken of."""
        if re.fullmatch(self._rules.not_unnamed, match["version"]):
            return False
        first = max(0, match.start() - _MAX_SENTENCE)
        begin = max((m.end() for m in _SENTENCE.finditer(text, first, match.start())), default=first)
        end = _SENTENCE.search(text, match.end(), match.end() + _MAX_SENTENCE)
        last = end.start() if end else match.end() + _MAX_SENTENCE
        return self._others.search(text, begin, last) is None


class _Placeholders:
    """What stands for the placeholders of patterns."""

    def __init__(self, rules: StackOverflowRules, words: LibraryWords) -> None:
        self.artifacts = [package.rpartition(":")[2] for package in words.packages]
        self.name = rf"(?<![\w.@/-])(?:{_any(words.names)})(?![\w])"
        number = f"{rules.version}|{rules.whole_number}" if words.whole_numbers else rules.version
        self._values = {
            "NAME": self.name,
            "ALIAS": rf"(?<![\w.])(?:{_any(words.aliases)})",
            "PACKAGE": f"(?:{_any(words.packages)})",
            "ARTIFACT": f"(?:{_any(self.artifacts)})",
            "TAG": f"(?:{_any(words.tags)})",
            "VERSION": f"(?P<version>{number})",
        }

    def compiled(self, pattern: str) -> re.Pattern[str]:
        filled = re.sub("|".join(self._values), lambda match: self._values[match[0]], pattern)
        return re.compile(filled, re.IGNORECASE | re.MULTILINE)

    def searched(self, pattern: MentionPattern, *, named: bool) -> _Searched:
        return _Searched(self.compiled(pattern.pattern), pattern.exact, pattern.unclear, named)


def _any(names: Sequence[str]) -> str:
    """Return a pattern of any of the names, the longest first; `-`, `_` and spaces may stand for each other."""
    spelled = (re.sub(r"(?:\\-|_|\\ )+", "[-_ ]?", re.escape(name)) for name in sorted(names, key=len, reverse=True))
    return "|".join(spelled) or "(?!)"


def _spellings(names: Sequence[str]) -> frozenset[str]:
    """Return how the names are written in lower case, with each of what may stand between their parts."""
    return frozenset(re.sub(r"[-_ ]+", between, name.lower()) for name in names for between in ("-", "_", " ", ""))


def stack_overflow_rules(folder: Path) -> StackOverflowRules:
    """Load the rules of posts from a folder of rule files.

    Errors: RuleError with what is wrong in the file.
    """
    return load(folder / RULE_FILE, StackOverflowRules)


def try_examples(rules: StackOverflowRules) -> None:
    """Try every example of the rules; that takes as long as to read all other rule files together.

    Errors: RuleError with every example that is read otherwise.
    """
    readers: dict[str, MentionReader] = {}
    wrong = []
    for pattern in _patterns(rules):
        for example in (*pattern.examples, *pattern.unclear_examples, *map(_nothing, pattern.not_examples)):
            reader = readers.setdefault(example.library, MentionReader(rules, example.library))
            wrong += _wrong(reader, pattern, example)
    if wrong:
        raise RuleError("\n".join(wrong), code="mention_example_wrong")


def _patterns(rules: StackOverflowRules) -> Iterator[MentionPattern]:
    for patterns in (rules.named, rules.unnamed, *rules.packages.values()):
        yield from patterns
    for foreign in rules.foreign.values():
        yield from foreign.mentions


def _nothing(text: str) -> Example:
    return Example(text=text, gives="")


def _wrong(reader: MentionReader, pattern: MentionPattern, example: Example) -> list[str]:
    """Return what is wrong about an example in a sentence, or nothing."""
    unclear = example in pattern.unclear_examples
    mentions = reader.read(example.text)
    versions = ", ".join(m.version for m in mentions if m.unclear is unclear)
    if versions == example.gives:
        return []
    return [f"{RULE_FILE}: {pattern.pattern!r}: {example.text!r} gives {versions!r}, not {example.gives!r}"]
