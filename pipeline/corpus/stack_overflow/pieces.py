"""The blocks of code of a question and its answers, each with the version that the words around it name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.core.vocabularies.samples import Language, SnippetSource, VersionEvidence
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.stack_overflow.blocks import refusal
from pipeline.corpus.stack_overflow.markup import Segment
from pipeline.corpus.stack_overflow.mentions import Mention, MentionReader
from pipeline.corpus.stack_overflow.posts import Post
from pipeline.corpus.stack_overflow.rules import StackOverflowRules
from pipeline.corpus.stack_overflow.threads import Evidence, Thread
from pipeline.corpus.stack_overflow.versions import Chosen, Day, NotChosen, Releases, agreed, choose
from pipeline.lake.stage import Reject


class Pieces:
    """Makes pieces of code of the posts of one library; without releases the version is taken as it is stated."""

    def __init__(self, rules: StackOverflowRules, reader: MentionReader, releases: Releases | None) -> None:
        self._rules = rules
        self._reader = reader
        self._releases = releases
        self._language = Language.PYTHON if releases is not None else rules.language_of(reader.library)

    def of_thread(self, question: Post, posts: Iterable[Post]) -> Iterator[CodeSample | Reject]:
        """Yield the blocks of those posts of a question for which something names a version."""
        thread = Thread(question, self._reader)
        for post in posts:
            text = thread.text_of(post)
            for number, block in text.blocks:
                if evidence := thread.evidence_for(text, number, self._counts):
                    yield self._piece(thread.question, post, block, evidence)

    def _counts(self, mention: Mention, post: Post) -> bool:
        """Tell whether a mention is one: without the library's name it must be the number of a release of that day."""
        return mention.named or (self._releases is not None and self._releases.know(mention, _day(post)))

    def _piece(self, question: Post, post: Post, block: Segment, evidence: Evidence) -> CodeSample | Reject:
        key = f"{post.place}:{block.line}"
        if refused := refusal(block, self._language, self._rules.blocks):
            return Reject(key, *refused)
        chosen = self._chosen(evidence)
        if isinstance(chosen, NotChosen):
            return Reject(key, chosen.reason, f"{evidence.where}: {chosen.detail}")
        return CodeSample(
            source=SnippetSource.STACK_OVERFLOW,
            library=self._reader.library,
            version=chosen.version,
            version_evidence=VersionEvidence.TEXT,
            version_statement=f"{evidence.where}: {chosen.words}",
            origin=f"stack_overflow:{post.question}",
            place=post.place,
            url=post.url,
            file="",
            line=block.line,
            text=block.text,
            language=self._language,
            created_time=post.created,
            licence=post.spdx,
            attribution=post.attribution(question.title),
            title=question.title,
            score=post.score,
            accepted=None if post.is_question else question.accepted_answer == post.id,
        )

    def _chosen(self, evidence: Evidence) -> Chosen | NotChosen:
        """Return the version that was meant on the day of the post that says it."""
        mention = agreed(evidence.mentions)
        if isinstance(mention, NotChosen):
            return mention
        if self._releases is None:
            return Chosen(mention.version, mention.words)
        return choose(mention, self._releases, _day(evidence.post))


def _day(post: Post) -> Day:
    return Day(post.created, max(post.created, post.edited or post.created))
