"""VersiCode's one mask for three, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.samples import Granularity
from pipeline.evaluation.export.masks import MASK, as_released, filled, from_released

CASES = [
    (Granularity.TOKEN, "[token-mask](1)\n[token-mask]", "f", "f(1)\nf", "f"),
    (Granularity.LINE, "import [token-mask]\n[line-mask]\n", "f", "import f\nf(1)\n", "f(1)"),
    (Granularity.LINE, "[line-mask]\nx.[token-mask]", "f", "a.f\nx.f", "a.f"),
    (
        Granularity.BLOCK,
        "import [token-mask]\n[block-mask]\nz.[token-mask]\n",
        "f",
        "import f\nf(1)\nf(2)\nz.f\n",
        "f(1)\nf(2)",
    ),
    (Granularity.BLOCK, "[block-mask]", "f", "f()", "f()"),
]


@pytest.mark.parametrize(("granularity", "masked", "name", "code", "answer"), CASES)
def test_masks_that_were_made_one_are_told_apart(
    granularity: Granularity, masked: str, name: str, code: str, answer: str
) -> None:
    released = as_released(masked, granularity)
    assert "-mask]" not in released
    assert released.count(MASK) == (2 if granularity is Granularity.TOKEN else 1)
    assert from_released(released, code, name, granularity) == (masked, answer)
    assert filled(released, answer, name, granularity, code) == code


@pytest.mark.parametrize("granularity", Granularity)
@pytest.mark.parametrize("released", ["no mask", f"other {MASK}", f"{MASK} twice {MASK}"])
def test_masks_that_do_not_fit_the_code(granularity: Granularity, released: str) -> None:
    assert from_released(released, "x.f(1)", "f", granularity) is None
    assert filled(released, "answer", "f", granularity, "x.f(1)").count("answer") == (
        released.count(MASK) if granularity is Granularity.TOKEN else min(released.count(MASK), 1)
    )


TEXTS = st.text(st.sampled_from("xf( \n"), max_size=6)


@given(st.sampled_from([Granularity.LINE, Granularity.BLOCK]), TEXTS, st.lists(TEXTS, min_size=1, max_size=3), TEXTS)
def test_code_is_masked_and_restored(granularity: Granularity, before: str, after: list[str], answer: str) -> None:
    masked = f"{before}[{granularity}-mask]" + "[token-mask]".join(after)
    code = masked.replace(f"[{granularity}-mask]", answer).replace("[token-mask]", "name")
    found = from_released(as_released(masked, granularity), code, "name", granularity)
    assert found is not None
    assert found == (masked, answer)


@pytest.mark.parametrize(
    ("granularity", "masked"),
    [
        (Granularity.TOKEN, "import <token_mask>\n<token_mask>(1)\n"),
        (Granularity.LINE, "import f\n<line_mask>\n"),
        (Granularity.LINE, "import <mask>\n<mask>\n"),
        (Granularity.LINE, "import <mask>\n<line_mask>\n"),
        (Granularity.BLOCK, "import [token-mask]\n<block_mask>\n"),
    ],
)
def test_the_masks_of_later_and_earlier_files(granularity: Granularity, masked: str) -> None:
    answer = "f" if granularity is Granularity.TOKEN else "f(1)"
    restored = from_released(masked, "import f\nf(1)\n", "f", granularity)
    assert restored is not None
    assert restored[1] == answer
    assert filled(masked, answer, "f", granularity, "import f\nf(1)\n") == "import f\nf(1)\n"


def test_a_block_may_be_answered_by_the_whole_program() -> None:
    program = "import f\nf(2)\n"
    assert filled(f"import f\n{MASK}\n", program, "f", Granularity.BLOCK, "import f\nf(1)\n") == program
