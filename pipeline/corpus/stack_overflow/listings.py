"""Questions about a library with their answers, page by page from the API into the store."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.stack_overflow.api import Answer, RateLimited, StackExchange
from pipeline.corpus.stack_overflow.markup import markdown_to_html
from pipeline.corpus.stack_overflow.mentions import MentionReader
from pipeline.corpus.stack_overflow.posts import Post
from pipeline.corpus.stack_overflow.rules import StackOverflowRules
from pipeline.corpus.stack_overflow.store import ListingPosition, PostStore
from pipeline.corpus.stack_overflow.threads import is_about
from pipeline.index.http import BadAnswer
from pipeline.index.release_selection import Period
from pipeline.lake.stage import Reject

SITE = "stackoverflow"

_OF_POSTS = ("body", "content_license", "creation_date", "last_edit_date", "owner", "score")
_FIELDS = {
    "": ("backoff", "error_id", "error_message", "error_name", "has_more", "items", "quota_remaining"),
    "question": (
        *_OF_POSTS,
        "accepted_answer_id",
        "answer_count",
        "answers",
        "last_activity_date",
        "question_id",
        "tags",
        "title",
    ),
    "answer": (*_OF_POSTS, "answer_id"),
    "shallow_user": ("display_name", "user_id"),
}
_MAX_BAD_PAGES = 2
"""So many answers in a row that cannot be read end a listing."""

Parameters = dict[str, str | int]


def create_filter(api: StackExchange) -> str:
    """Return the name of the filter that gives the fields we read, which the API makes anew under the same name.

    Errors: as StackExchange.ask().
    """
    included = [f"{kind}.{field}" for kind, fields in _FIELDS.items() for field in fields]
    parameters = {"include": ";".join(included), "base": "none", "unsafe": "false"}
    items = api.ask("filters/create", parameters).items
    name = items[0].get("filter") if items else None
    if not isinstance(name, str):
        raise BadAnswer(f"filters/create: no filter in {json.dumps(items)[:200]}")
    return name


class Listings:
    """Brings the questions about a library in a period into a store, going on where it stopped the last time."""

    def __init__(self, api: StackExchange, store: PostStore, filter_name: str, rules: StackOverflowRules) -> None:
        self._api = api
        self._store = store
        self._filter = filter_name
        self._rules = rules

    def read(self, reader: MentionReader, period: Period) -> Iterator[Reject]:
        """Read all pages about a library that are not in the store yet, and yield what went wrong.

        Errors: Unreachable.
        """
        for method, parameters in self._queries(reader, period):
            try:
                yield from self._pages(method, parameters, reader, again=period.until is None)
            except RateLimited as error:
                yield Reject(f"{reader.library}:{method}", RejectReason.RATE_LIMITED, str(error))
                return

    def _queries(self, reader: MentionReader, period: Period) -> Iterator[tuple[str, Parameters]]:
        """Yield what to ask: questions with a tag, and those that name the library in their title.

        Sorted by activity, since an answer of the period may stand below an older question.
        """
        usual: Parameters = {"site": SITE, "sort": "activity", "order": "asc", "filter": self._filter}
        usual["pagesize"] = self._rules.asking.page_size
        if period.since:
            usual["min"] = int(period.since.timestamp())
        if period.until:
            usual["todate"] = int(period.until.timestamp()) - 1
        for tag in reader.words.tags:
            yield "questions", usual | {"tagged": tag}
        if reader.words.titles:
            for tag in sorted(self._rules.title_tags):
                for name in reader.words.names:
                    yield "search/advanced", usual | {"title": name, "tagged": tag}

    def _pages(self, method: str, parameters: Parameters, reader: MentionReader, *, again: bool) -> Iterator[Reject]:
        """Read the pages of one listing; one that ended is read `again` where its period has no end.

        A page begins at the time of the last question of the one before: counted from the beginning, questions that
        move to the end while we read would make others slip between two pages.
        """
        query = f"{method}?{json.dumps(parameters, sort_keys=True)}"
        begin = ListingPosition(int(parameters.get("min", 0)), 1)
        place = self._store.listing(query) or begin
        if place.ended:
            if not again:
                return
            place = begin
        bad, whole = 0, True
        while bad < _MAX_BAD_PAGES and not place.ended:
            try:
                answer = self._api.ask(method, parameters | {"min": place.activity, "page": place.page})
            except BadAnswer as error:
                # What comes after is kept, but the next time it goes on from here.
                bad, whole = bad + 1, False
                key = f"{reader.library}:{method}:{place.activity}:{place.page}"
                yield Reject(key, RejectReason.BAD_ANSWER, str(error))
                place = ListingPosition(place.activity, place.page + 1)
                continue
            bad = 0
            yield from self._keep(answer.items, reader, f"{query}, page {place.page} from {place.activity}")
            place = _after(place, answer)
            if whole:
                self._store.note_listing(query, place)

    def _keep(self, items: list[dict[str, Any]], reader: MentionReader, place: str) -> list[Reject]:
        """Keep a page, all or nothing; return what of it is no question."""
        threads, rejects = [], []
        for item in items:
            try:
                threads.append(self._thread(item))
            except (BadAnswer, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                detail = f"{place}: not a question with answers: {type(error).__name__}: {error}"
                rejects.append(Reject(str(item.get("question_id", place)), RejectReason.BAD_ANSWER, detail))
        with self._store.transaction():
            for thread in threads:
                if is_about(thread[0], reader, self._rules.title_tags):
                    self._store.assign(reader.library, thread[0].id)
                    for post in thread:
                        self._store.add(post)
        return rejects

    def _thread(self, item: Mapping[str, Any]) -> list[Post]:
        """Return a question and its answers, asking for those that did not come with it."""
        question = read_question(item)
        answers = list(item.get("answers") or ())
        page = 0
        while page * self._rules.asking.page_size < item.get("answer_count", 0) > len(answers):
            page += 1
            usual: Parameters = {"site": SITE, "filter": self._filter, "pagesize": self._rules.asking.page_size}
            answer = self._api.ask(f"questions/{question.id}/answers", usual | {"page": page})
            answers = [*(answers if page > 1 else ()), *answer.items]
        return [question, *(read_answer(answer, question.id) for answer in answers)]


def _after(place: ListingPosition, answer: Answer) -> ListingPosition:
    """Return where the page behind an answer begins."""
    times = [time for item in answer.items if isinstance(time := item.get("last_activity_date"), int)]
    last = max(times, default=place.activity)
    if last > place.activity:
        return ListingPosition(last, 1, ended=not answer.has_more)
    return ListingPosition(place.activity, place.page + 1, ended=not answer.has_more)


def read_question(item: Mapping[str, Any]) -> Post:
    """Return a question as the API gives it.

    Errors: KeyError, TypeError, ValueError where it is not one; the same of read_answer.
    """
    accepted = item.get("accepted_answer_id")
    return _post(
        item,
        id=int(item["question_id"]),
        question=int(item["question_id"]),
        title=html.unescape(item["title"]),
        tags=tuple(html.unescape(tag) for tag in item.get("tags") or ()),
        accepted_answer=None if accepted is None else int(accepted),
    )


def read_answer(item: Mapping[str, Any], question: int) -> Post:
    """Return an answer as the API gives it."""
    return _post(item, id=int(item["answer_id"]), question=question)


def _post(item: Mapping[str, Any], **more: Any) -> Post:
    owner = item.get("owner") or {}
    edited, name, author = item.get("last_edit_date"), owner.get("display_name"), owner.get("user_id")
    # `body` is what the dump has; answers kept with another filter may have the Markdown only.
    body = item["body"] if "body" in item else markdown_to_html(item["body_markdown"])
    return Post(
        body=body,
        score=int(item["score"]),
        created=_time(item["creation_date"]),
        edited=None if edited is None else _time(edited),
        author=html.unescape(name) if name else None,
        author_id=None if author is None else int(author),
        licence=item.get("content_license"),
        **more,
    )


def _time(seconds: Any) -> datetime:
    """Return a time of the API, which is seconds since 1970 (UTC)."""
    return datetime.fromtimestamp(int(seconds), UTC)
