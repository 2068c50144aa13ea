"""What is hidden is shown where it stands: the spans of the masks, against masking itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.completions_and_migrations.masks import MASKS, unmask
from pipeline.quality.annotation.panes import end_of, hidden_spans, panes_of
from tests.families.compatibilities.rows import compatibility
from tests.quality.flags.world import world

NAME = "fetch"
PIECES = st.lists(st.text("ab \n()é", max_size=8), min_size=2, max_size=6)


@given(PIECES, st.sampled_from(Granularity), st.text("xyz\n", min_size=1, max_size=9))
def test_spans_cover_exactly_the_masked_text(pieces: list[str], level: Granularity, answer: str) -> None:
    masked = pieces[0] + MASKS[level] + MASKS[Granularity.TOKEN].join(pieces[1:])
    code = unmask(masked, level, answer, NAME)
    spans = hidden_spans(
        {"code": code, "masked_code": masked, "granularity": level, "answer": answer, "core_token": NAME}
    )
    hidden = [code[start:end] for start, end in spans]
    first = NAME if level == Granularity.TOKEN else answer
    assert hidden == [first, *[NAME] * (len(pieces) - 2)]
    left, at = [], 0
    for start, end in spans:
        left.append(code[at:start])
        at = end
    assert "".join([*left, code[at:]]) == "".join(pieces)


def test_spans_of_real_completions() -> None:
    for row in world().completions:
        assert [row["code"][slice(*span)] for span in hidden_spans(row)] == [row["core_token"]]


@pytest.mark.parametrize("code", ["", "other code", "fetc"])
def test_masks_that_do_not_fit_their_code_hide_nothing(code: str) -> None:
    row = world().completions[0]
    assert hidden_spans(row | {"code": code}) == ()


ABOVE = '''"""What this is.

It is long.
"""

import os


def first(path):
    """Say it
    in two lines."""
    return os.path.join(
        path,
        "a",
    )


def second(path):
    if path:
        '''


@pytest.mark.parametrize("length", range(1, len(ABOVE) + 2))
def test_the_file_above_a_cursor_begins_with_a_statement(length: int) -> None:
    statements = ('"""What', "import", "def first", '    """Say', "    return", "def second", "    if")
    shown = end_of(ABOVE, length)
    assert ABOVE.endswith(shown)
    assert shown.startswith(statements), shown
    assert len(shown) <= length or shown.startswith("    if"), "the last statement is whole"


def test_a_file_of_a_single_string_is_rendered_whole() -> None:
    assert end_of(ABOVE[:20], 5) == ABOVE[:20]


def test_releases_are_lines_and_the_program_is_of_a_release_in_which_it_runs() -> None:
    row = compatibility("snippet", version="2.0", releases=["1.0", "1.1", "2.0"], compatible=["1.0", "1.1"])
    panes = {pane.name: pane for pane in panes_of(Family.COMPATIBILITY, row, None)}
    assert (panes["releases"].text, panes["compatible"].text) == ("1.0\n1.1\n2.0", "1.0\n1.1")
    assert panes["code"].version == "1.1"
