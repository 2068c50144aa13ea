"""A question or an answer, as every way of reading gives it, and what must be said of whose it is."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

SITE = "https://stackoverflow.com"

_LICENCE_URL = "https://creativecommons.org/licenses/by-sa/{}/"
_LICENCES = ((datetime(2011, 4, 8, tzinfo=UTC), "2.5"), (datetime(2018, 5, 2, tzinfo=UTC), "3.0"))
_NEWEST_LICENCE = "4.0"


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """A question, or an answer to `question`; `body` is HTML, and empty where only the head of a question is known.

    `accepted_answer`, `title` and `tags` are those of a question. Times are UTC, to the second; `edited` is the last
    edit of the text. `author` is a name as it is shown, None where it is not known; `licence` is what the source says.
    """

    id: int
    question: int
    body: str
    score: int
    created: datetime
    edited: datetime | None = None
    author: str | None = None
    author_id: int | None = None
    licence: str | None = None
    title: str = ""
    tags: tuple[str, ...] = ()
    accepted_answer: int | None = None

    @property
    def is_question(self) -> bool:
        """Whether it is a question."""
        return self.id == self.question

    @property
    def place(self) -> str:
        """The question, or the question and the answer, by their numbers."""
        return str(self.id) if self.is_question else f"{self.question}/{self.id}"

    @property
    def url(self) -> str:
        """The permanent link to the post, of the form that the site's "Share" gives."""
        return f"{SITE}/{'q' if self.is_question else 'a'}/{self.id}"

    @property
    def licence_version(self) -> str:
        """The version of CC BY-SA under which the post stands: as stated, or by its date.

        2.5 before 2011-04-08, 3.0 before 2018-05-02, 4.0 since (https://stackoverflow.com/help/licensing).
        """
        if self.licence and self.licence.startswith("CC BY-SA "):
            return self.licence.removeprefix("CC BY-SA ")
        return next((version for until, version in _LICENCES if self.created < until), _NEWEST_LICENCE)

    @property
    def spdx(self) -> str:
        """The licence as an SPDX identifier."""
        return f"CC-BY-SA-{self.licence_version}"

    def attribution(self, title: str) -> str:
        """Return what must be shown with the code: the site, the author with a link to the profile, link and licence.

        The site asks for these where content is shown elsewhere (https://stackoverflow.com/legal/terms-of-service,
        section 6, and https://stackoverflow.blog/2009/06/25/attribution-required/).
        """
        kind = "question" if self.is_question else "answer"
        author = self.author or (f"user{self.author_id}" if self.author_id else "a user whose account was removed")
        profile = f" ({SITE}/users/{self.author_id})" if self.author_id else ""
        licence = f"CC BY-SA {self.licence_version} ({_LICENCE_URL.format(self.licence_version)})"
        return f"“{title}” on Stack Overflow, {kind} by {author}{profile}, {self.url}, {licence}"
