"""Which release a mention stands for, and which mentions agree."""

from __future__ import annotations

from datetime import datetime

import pytest

from pipeline.core.rules.load import RULES
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.stack_overflow.mentions import Mention, MentionReader, stack_overflow_rules
from pipeline.corpus.stack_overflow.versions import Chosen, Day, NotChosen, Releases, agreed, choose
from tests.corpus.stack_overflow.builders import PANDAS, day, release

READER = MentionReader(stack_overflow_rules(RULES), "pandas")
RELEASES = Releases(PANDAS)
NOW = day(2024)


def chosen(text: str, created: datetime = NOW, edited: datetime | None = None) -> Chosen | NotChosen:
    mention = agreed(READER.read(text))
    return choose(mention, RELEASES, Day(created, edited or created)) if isinstance(mention, Mention) else mention


@pytest.mark.parametrize(
    ("text", "created", "edited", "version"),
    [
        ("pandas 1.3.5", NOW, None, "1.3.5"),
        ("pandas 1.3", NOW, None, "1.3.5"),
        ("pandas 1.3", day(2021, 9), None, "1.3.0"),
        ("pandas 1.3", day(2021, 9), NOW, "1.3.0"),
        ("pandas 1.3", day(2020, 9), NOW, "1.3.5"),
        ("pandas==1.3", NOW, None, "1.3.0"),
        ("pandas 1.x", NOW, None, "1.3.5"),
        ("pandas 1.2.x", NOW, None, "1.2.4"),
        ("pandas v1.0.0", NOW, None, "1.0.0"),
        ("pandas >= 1.3", NOW, None, "1.3.5"),
        ("pandas 1.3. I have pandas 1.3.0", NOW, None, "1.3.0"),
        ("pandas 1.3.0", day(2020), NOW, "1.3.0"),
        ("As of 2.0, this is gone", NOW, None, "2.0.3"),
    ],
)
def test_releases(text: str, created: datetime, edited: datetime | None, version: str) -> None:
    result = chosen(text, created, edited)
    assert isinstance(result, Chosen), result
    assert result.version == version


@pytest.mark.parametrize(
    ("text", "created", "reason", "words"),
    [
        ("pandas 0.17.1", NOW, RejectReason.VERSION_NOT_COVERED, "no release 0.17.1"),
        ("pandas 0.17", NOW, RejectReason.VERSION_NOT_COVERED, "no release of 0.17"),
        ("pandas==1.4", NOW, RejectReason.VERSION_NOT_COVERED, "no release 1.4"),
        ("pandas 2.0", day(2022), RejectReason.VERSION_UNKNOWN, "2.0 was not released on 2022-01-01"),
        ("pandas 2.0.0", day(2022), RejectReason.VERSION_UNKNOWN, "2.0.0 was not released on 2022-01-01"),
        ("pandas 1.2 to 1.3", NOW, RejectReason.VERSION_UNKNOWN, "several versions"),
        ("pandas 1.3.0, pandas 1.3.5", NOW, RejectReason.VERSION_UNKNOWN, "several versions"),
        ("pandas 1.3; pandas 1.3.0; pandas 1.3.5", NOW, RejectReason.VERSION_UNKNOWN, "several versions"),
        ("before pandas 1.3", NOW, RejectReason.VERSION_UNKNOWN, "which version it is not for"),
        ("pandas<2.0", NOW, RejectReason.VERSION_UNKNOWN, "which version it is not for"),
    ],
)
def test_refusals_quote_the_mention(text: str, created: datetime, reason: RejectReason, words: str) -> None:
    result = chosen(text, created)
    assert isinstance(result, NotChosen), result
    assert result.reason is reason
    assert words in result.detail
    assert "pandas" in result.detail


def test_a_release_that_is_spelled_otherwise_is_the_same() -> None:
    releases = Releases([release("1.0", day(2020))])
    mention = Mention("1.0.0", True, False, True, 0, "pandas==1.0.0")
    assert choose(mention, releases, Day(NOW, NOW)) == Chosen("1.0", "pandas==1.0.0")


@pytest.mark.parametrize(
    ("version", "is_release"),
    [("1.3", True), ("1.3.5", True), ("2.0", False), ("1.3.7", False), ("3.1", False), ("1.x", True), ("a", False)],
)
def test_numbers_of_releases_by_day(version: str, is_release: bool) -> None:
    day_of_post = Day(day(2022), day(2022))
    assert RELEASES.know(Mention(version, False, False, False, 0, ""), day_of_post) is is_release
