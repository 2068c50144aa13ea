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
    released = as_released(masked)
    assert "-mask]" not in released
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
def test_whatever_is_told_makes_the_code_whole(
    granularity: Granularity, before: str, after: list[str], answer: str
) -> None:
    masked = f"{before}[{granularity}-mask]" + "[token-mask]".join(after)
    code = masked.replace(f"[{granularity}-mask]", answer).replace("[token-mask]", "name")
    found = from_released(as_released(masked), code, "name", granularity)
    assert found is not None
    assert found[0].replace(f"[{granularity}-mask]", found[1]).replace("[token-mask]", "name") == code
    assert as_released(found[0]) == as_released(masked)
