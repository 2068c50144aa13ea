"""Words of a text that spell a hidden name."""

from __future__ import annotations

import pytest

from pipeline.llm.names import spelling_words
from tests.families.problems.examples import SPELLED_NAME

SPELLED = {
    "the same words": (
        "interleave_evenly",
        "Interleave them so that they are evenly spread.",
        ["Interleave", "evenly"],
    ),
    "the beginning of a word": ("polynomial_eval", "Evaluate a polynomial.", ["polynomial", "Evaluate"]),
    "words that begin alike": ("is_prime", "It is so by a primality test.", ["is", "primality"]),
    "a longer part": ("windowed_iter", "A window of an iterable.", ["window", "iterable"]),
    "capitals": ("AbsTimedelta", "The absolute timedelta.", ["absolute", "timedelta"]),
    "three parts": ("polynomial_from_roots", "A polynomial's terms from its roots.", ["polynomial", "from", "roots"]),
    "first letters": (
        "idft",
        "Inverse Discrete Fourier Transform of it.",
        ["Inverse", "Discrete", "Fourier", "Transform"],
    ),
    "a name in code": ("range_start", "It begins at `range_start`.", ["range", "start"]),
}
HIDDEN = {
    "one part": ("transpose", "Transpose the rows."),
    "a part that is missing": ("complement_int_list", "The complement of a string of integers."),
    "the middle of a word": ("to_dict", "Convert it to an OrderedDict."),
    "two letters that begin a word": ("is_even", "Return an isolated even number."),
    "four letters of a short part": ("sort_it", "It takes the sorb tree."),
    "three letters in common": ("is_valid", "What is of value."),
    "two first letters": ("ci", "The chunked items."),
    "first letters that do not follow each other": ("dft", "A discrete, if fast, Fourier transform."),
    "no text": ("take_first", ""),
    "no name": ("_", "Some text."),
}


@pytest.mark.parametrize("case", SPELLED)
def test_words_that_spell_a_name(case: str) -> None:
    name, text, words = SPELLED[case]
    assert spelling_words(name, text, SPELLED_NAME) == words


@pytest.mark.parametrize("case", HIDDEN)
def test_a_name_with_a_part_that_no_word_spells_stays_hidden(case: str) -> None:
    assert spelling_words(*HIDDEN[case], SPELLED_NAME) == []
