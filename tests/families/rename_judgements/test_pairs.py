"""Which pairs of APIs a model is asked to judge, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pipeline.api.surface.sketches import line_hashes, sketch
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource
from pipeline.families.rename_judgements.bodies import body_head
from pipeline.families.rename_judgements.pairs import Pair, pairs
from pipeline.index.tree import SourceTree
from pipeline.lake.rows import ChangeRow, SymbolParameter, SymbolRow
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.tasks.rules import draft_rules
from tests.families.completions_and_migrations.rows import TAGGING, change, symbol

R = draft_rules(RULES, load(RULES / "models.yaml", ModelRules)).rename_judgement
SURE = TAGGING.likeness.sure_enough


def guess(path: str, new: str, confidence: float) -> ChangeRow:
    row: ChangeRow = change(ChangeKind.RENAMED, path, "1.0", "1.1", new=new, confidence=confidence)
    return row


def parameter(name: str) -> SymbolParameter:
    kind, source = ParameterKind.POSITIONAL_OR_KEYWORD, ParameterSource.SIGNATURE
    return {"name": name, "kind": kind, "default": None, "annotation": None, "known_from": source, "deprecation": None}


def state(path: str, version: str, parameters: str, body: str) -> SymbolRow:
    lines = sketch(line_hashes(body.encode()))
    listed = [parameter(name) for name in parameters.split()]
    row: SymbolRow = symbol(path, version, parameters=listed, body_sketch=lines)
    return row


def chosen_pairs(
    changes: Sequence[ChangeRow], symbols: Sequence[SymbolRow] = (), rested_on: frozenset[str] = frozenset()
) -> list[Pair]:
    return pairs(changes, symbols, [], rested_on, TAGGING, R)


def test_guesses_on_which_instances_rest_come_first_then_the_least_sure() -> None:
    sure, unsure, resting, certain = (
        guess("lib.a", "lib.b", 0.8), guess("lib.c", "lib.d", 0.6), guess("lib.e", "lib.f", 0.85),
        guess("lib.g", "lib.h", 0.95),
    )  # fmt: skip
    found = chosen_pairs([certain, sure, unsure, resting], rested_on=frozenset({resting["id"], certain["id"]}))
    assert [pair.path for pair in found] == ["lib.e", "lib.c", "lib.a"]
    assert {pair.change_id for pair in found} == {resting["id"], unsure["id"], sure["id"]}


BODY = "a\nb\nc\nd\ne\nf\n"
WENT, CAME = (
    change(ChangeKind.REMOVED, "lib.read_it", "1.0", "1.1"),
    change(ChangeKind.INTRODUCED, "lib.read", "1.0", "1.1"),
)


@pytest.mark.parametrize(
    ("parameters", "body", "there"),
    [("x", BODY, False), ("y", BODY.replace("a\nb\nc\n", "g\nh\ni\n"), True), ("p q r", "k\nl\nm\nn\n", False)],
    ids=["sure enough to be a rename", "nearly", "unlike"],
)
def test_what_went_and_what_came_in_one_release_is_asked_about_if_it_is_nearly_one(
    parameters: str, body: str, there: bool
) -> None:
    symbols = [state("lib.read_it", "1.0", "x", BODY), state("lib.read", "1.1", parameters, body)]
    found = chosen_pairs([WENT, CAME], symbols)
    assert [(pair.path, pair.new_path, pair.change_id) for pair in found] == [("lib.read_it", "lib.read", None)] * there
    assert all(R.from_confidence <= pair.confidence < SURE for pair in found)


def test_what_came_with_another_release_is_no_pair() -> None:
    symbols = [state("lib.read_it", "1.0", "x", BODY), state("lib.read", "1.2", "y", BODY)]
    later = change(ChangeKind.INTRODUCED, "lib.read", "1.1", "1.2")
    assert chosen_pairs([WENT, later], symbols) == []


SOURCE = '''
class Box:
    """A box."""
    def grow(self, by):
        """Grow."""
        self.size += by
        # more
        return self.size
def grow(): pass
def grow(by):
    return by
def said(): "only words"
'''


@pytest.mark.parametrize(
    ("canonical", "lines", "head"),
    [
        ("lib.core.Box.grow", 9, "        self.size += by\n        # more\n        return self.size"),
        ("lib.core.Box.grow", 1, "        self.size += by"),
        ("lib.core.Box.grow", 0, ""),
        ("lib.core.grow", 9, "    return by"),
        ("lib.core.said", 9, ""),
        ("lib.core.gone", 9, ""),
    ],
)
def test_the_head_of_a_body_is_its_first_lines_without_the_docstring(canonical: str, lines: int, head: str) -> None:
    tree = SourceTree({"lib/core.py": "s1"}, "lib-1.0/", ("lib",))
    row = symbol("lib.grow", "1.0", canonical=canonical, file="lib-1.0/lib/core.py")
    assert body_head(row, tree, lambda _: {"s1": SOURCE.encode()}, lines) == head


@pytest.mark.parametrize("source", [b"def (", b"\0", b"\xff\xfe"])
def test_what_does_not_parse_has_no_body(source: bytes) -> None:
    tree = SourceTree({"lib/core.py": "s1"}, "", ("lib",))
    assert body_head(symbol("lib.grow", "1.0", canonical="lib.core.grow"), tree, lambda _: {"s1": source}, 9) == ""


def test_of_a_file_that_the_sources_lack_nothing_is_shown() -> None:
    tree = replace(SourceTree({}, "", ("lib",)))
    assert body_head(symbol("lib.grow", "1.0"), tree, lambda _: {}, 9) == ""
