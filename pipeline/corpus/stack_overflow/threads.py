"""The versions that a question and its answers name, and which of them a block of code is for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from pipeline.corpus.stack_overflow.markup import Segment, read_html
from pipeline.corpus.stack_overflow.mentions import Mention, MentionReader
from pipeline.corpus.stack_overflow.posts import Post


@dataclass(frozen=True, slots=True)
class Evidence:
    """The mentions of one place, which place that is, and the post in which it stands."""

    where: str
    mentions: list[Mention]
    post: Post


class PostText:
    """The text of a post, read when it is needed: its segments, and what versions each of them names."""

    def __init__(self, post: Post, reader: MentionReader) -> None:
        self.post = post
        self._reader = reader

    @cached_property
    def segments(self) -> list[Segment]:
        """The paragraphs and blocks of code."""
        return read_html(self.post.body)

    @cached_property
    def _mentions(self) -> list[list[Mention]]:
        """The mentions of each segment; in code, what does not name the library is an output or another's."""
        if not self._reader.may_find(self.post.body):
            return [[] for _ in self.segments]
        return [self._reader.read(segment.text, unnamed=not segment.code) for segment in self.segments]

    @property
    def blocks(self) -> Iterator[tuple[int, Segment]]:
        """The blocks of code and their places among the segments."""
        return ((number, segment) for number, segment in enumerate(self.segments) if segment.code)

    @property
    def all_evidence(self) -> Evidence:
        """Everything that is said in the post."""
        if not self._reader.may_find(self.post.body):
            return self._evidence([])
        return self._evidence([mention for mentions in self._mentions for mention in mentions])

    def near(self, number: int) -> Iterator[Evidence]:
        """Yield what a block says itself, then each segment before it, the nearest first, then all that comes after."""
        for before in range(number, -1, -1):
            yield self._evidence(self._mentions[before])
        yield self._evidence([mention for mentions in self._mentions[number + 1 :] for mention in mentions])

    def _evidence(self, mentions: list[Mention]) -> Evidence:
        return Evidence(f"{'question' if self.post.is_question else 'answer'} {self.post.id}", mentions, self.post)


class Thread:
    """A question, of which only the head may be known, with what it says for all of its posts."""

    def __init__(self, question: Post, reader: MentionReader) -> None:
        self.question = question
        self._reader = reader
        self._text = PostText(question, reader)
        self._title = Evidence(f"title of {question.id}", reader.read(question.title, unnamed=False), question)
        self._tags = Evidence(f"tags of {question.id}", reader.read_tags(question.tags), question)

    @property
    def states_version(self) -> bool:
        """Whether title, tags or text of the question name a version."""
        return any(evidence.mentions for evidence in (self._title, self._tags, self._text.all_evidence))

    def text_of(self, post: Post) -> PostText:
        """Return the text of the question, or of an answer."""
        return self._text if post.is_question else PostText(post, self._reader)

    def evidence_for(self, text: PostText, number: int, counts: Callable[[Mention, Post], bool]) -> Evidence | None:
        """Return what says the version of a block: the first place that says something that counts.

        Places are the post itself from the block on, the title, the question's text, its tags.
        """
        for evidence in self._places(text, number):
            if mentions := [mention for mention in evidence.mentions if counts(mention, evidence.post)]:
                return Evidence(evidence.where, mentions, evidence.post)
        return None

    def _places(self, text: PostText, number: int) -> Iterator[Evidence]:
        yield from text.near(number)
        yield self._title
        if not text.post.is_question:
            yield self._text.all_evidence
        yield self._tags


def is_about(question: Post, reader: MentionReader, title_tags: frozenset[str]) -> bool:
    """Tell whether a question is about a library: by its tags, or by its title beside a tag of the language."""
    if not set(question.tags).isdisjoint(reader.words.tags):
        return True
    return reader.words.titles and not title_tags.isdisjoint(question.tags) and reader.is_named(question.title)
