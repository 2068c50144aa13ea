"""The picture: the same bytes for the same counts, and every count in it as text."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from pipeline.api.history.evolution import Step
from pipeline.api.history.timeline_svg import evolution_svg
from tests.errors import raises

SVG = "{http://www.w3.org/2000/svg}"


def steps(number: int) -> list[Step]:
    start = datetime(2020, 1, 1, tzinfo=UTC)
    return [
        Step(
            f"{at // 10}.{at % 10}",
            start + timedelta(days=30 * at),
            at % 10 == 0,
            at > 0,
            at,
            at % 3,
            7 * (at % 4),
            at % 2,
            at + 2,
            at % 5,
            100 + at,
        )
        for at in range(number)
    ]


@pytest.mark.parametrize("number", [1, 5, 25, 70, 120])
def test_every_count_can_be_read(number: int) -> None:
    picture = ElementTree.fromstring(evolution_svg("lib", steps(number)))
    description = picture.findtext(f"{SVG}desc") or ""
    assert picture.findtext(f"{SVG}title") == "How the public API of lib evolved"
    assert description.splitlines()[0] == "0.0 (2020-01-01): nothing to compare with, 100 public paths"
    assert len(description.splitlines()) == number
    for step in steps(number)[1:]:
        counts = f"{step.introduced} introduced, {step.deprecated} deprecated, {step.removed} removed, "
        counts += f"{step.moved} renamed or moved, {step.modified} modified ({step.breaking} can break calls)"
        assert counts in description


def test_every_bar_names_its_count() -> None:
    shown = steps(12)
    titles = [node.text for node in ElementTree.fromstring(evolution_svg("lib", shown)).iter(f"{SVG}title")][1:]
    labels: dict[str, Callable[[Step], int]] = {
        "introduced": lambda s: s.introduced,
        "removed, renamed or moved": lambda s: s.removed + s.moved,
        "of which renamed or moved": lambda s: s.moved,
        "modified": lambda s: s.modified,
        "of which can break calls": lambda s: s.breaking,
        "deprecated": lambda s: s.deprecated,
    }
    expected = [f"{s.version}: {count(s)} {label}" for label, count in labels.items() for s in shown if count(s)]
    assert sorted(map(str, titles)) == sorted(expected)


def test_the_same_counts_give_the_same_bytes_whatever_the_users_style() -> None:
    first = evolution_svg("lib", steps(30))
    with mpl.rc_context({"font.size": 20, "svg.fonttype": "path", "axes.facecolor": "black"}):
        assert evolution_svg("lib", steps(30)) == first
    assert not re.search(r"<dc:date>|Matplotlib v", first)


def test_text_stays_text_and_the_source_is_named() -> None:
    words = " ".join(
        node.text or "" for node in ElementTree.fromstring(evolution_svg("lib", steps(30))).iter(f"{SVG}text")
    )
    assert "Source: driftline, 30 final releases of lib on the package index" in words
    for legend in ("introduced", "deprecated", "removed, renamed or moved", "modified"):
        assert legend in words


def test_names_are_no_markup() -> None:
    assert ElementTree.fromstring(evolution_svg("a<b>&c", steps(3))).findtext(f"{SVG}title") == (
        "How the public API of a<b>&c evolved"
    )


def test_nothing_cannot_be_drawn() -> None:
    with raises(ValueError, "lib"):
        evolution_svg("lib", [])
