"""What is hidden of a task function at each level."""

from __future__ import annotations

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.completions_and_migrations.masks import unmask
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import parse_source
from pipeline.families.functions.masking import mask_function
from pipeline.lake.stage import Reject

MASKING = load(RULES / "masking.yaml", MaskingRules)
BODY = "    whole = take(items)\n    return whole\n"
PLAIN = f"from lib import take\n\n\ndef solve(items):\n{BODY}"
TOLD = f'from lib import take\n\n\ndef solve(items):\n    """Do it."""\n{BODY}'
OWN = "import lib\n\n\nclass Mine(lib.take):\n    pass\n\n\ndef solve(items):\n    return Mine(items)\n"
HEAD = "from lib import [token-mask]\n\n\ndef solve(items):\n"

MASKED = {
    (PLAIN, Granularity.TOKEN): f"{HEAD}    whole = [token-mask](items)\n    return whole\n",
    (PLAIN, Granularity.LINE): f"{HEAD}    [line-mask]\n    return whole\n",
    (PLAIN, Granularity.BLOCK): f"{HEAD}    [block-mask]\n",
    (TOLD, Granularity.BLOCK): f'{HEAD}    """Do it."""\n    [block-mask]\n',
}


@pytest.mark.parametrize(("program", "level"), MASKED)
def test_what_is_hidden_can_be_put_back(program: str, level: Granularity) -> None:
    start = program.rindex("take")
    masked = mask_function(parse_source(program), (start, start + 4), level, MASKING)
    assert not isinstance(masked, Reject)
    assert masked.masked_code == MASKED[program, level]
    assert unmask(masked.masked_code, level, masked.answer, "take") == program


def test_nobody_can_know_a_whole_program() -> None:
    start = OWN.index("take")
    masked = mask_function(parse_source(OWN), (start, start + 4), Granularity.BLOCK, MASKING)
    assert isinstance(masked, Reject)
    assert masked.reason == RejectReason.UNKNOWABLE


def test_a_description_may_show_a_value() -> None:
    program = "from lib import take\n\n\ndef solve(items):\n    taken = take(items, 'Ada')\n    return taken\n"
    start, level = program.rindex("take("), Granularity.LINE
    assert isinstance(mask_function(parse_source(program), (start, start + 4), level, MASKING), Reject)
    assert not isinstance(
        mask_function(parse_source(program), (start, start + 4), level, MASKING, "Take Ada's items."), Reject
    )


@pytest.mark.parametrize("program", ["from lib import take\n", "def solve(take=1): return 2\n"])
def test_a_use_beside_the_body_has_no_block(program: str) -> None:
    start = program.index("take")
    masked = mask_function(parse_source(program), (start, start + 4), Granularity.BLOCK, MASKING)
    assert isinstance(masked, Reject)


@pytest.mark.parametrize(
    ("body", "pieces"),
    [
        ("    graph = lib.Graph(items)\n    return list(lib.take(graph, number))\n", None),
        ("    taken = lib.take(items)\n    return taken(number)\n", None),
        ("    taken = lib.Taken(items, number)\n    return taken.take()\n", None),
        ("    graph = lib.Graph(items)\n    graph.add(number)\n    return lib.take(graph)\n", "what number is"),
        ("    taken = lib.take(items)\n    return taken[number]\n", "what number is, taken[number]"),
        ("    pairs = lib.pairs(items, number)\n    return lib.take(pairs)\n", "what items is, what number is"),
        ("    taken = lib.take(items, number)\n    return sorted(taken)\n", "sorted(taken)"),
        ("    taken = lib.take(items, number)\n    return taken.first\n", "taken.first"),
        ("    club = lib.club()\n    return lib.take(club, items, number)\n", "lib.club()"),
    ],
)
def test_every_input_and_step_of_what_is_hidden_is_explained(body: str, pieces: str | None) -> None:
    """A block once had an index and a graph of the library that no text names."""
    program = f"import lib\n\n\ndef solve(items, number):\n{body}"
    start = program.rindex("take(")
    masked = mask_function(
        parse_source(program), (start, start + 4), Granularity.BLOCK, MASKING, "Do it.", "lib.Taken.take"
    )
    if pieces is None:
        assert not isinstance(masked, Reject)
    else:
        assert isinstance(masked, Reject)
        assert (masked.reason, masked.detail) == (RejectReason.UNKNOWABLE, f"nothing explains {pieces}")


@pytest.mark.parametrize(("text", "known"), [("Take `number` items.", False), ("Take `number` sorted items.", True)])
def test_a_description_explains_steps(text: str, known: bool) -> None:
    program = (
        "import lib\n\n\ndef solve(items, number):\n    taken = sorted(lib.take(items, number))\n    return taken\n"
    )
    start = program.rindex("take(")
    masked = mask_function(parse_source(program), (start, start + 4), Granularity.LINE, MASKING, text)
    assert isinstance(masked, Reject) != known
