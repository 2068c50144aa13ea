"""Text is not change: what differs in spelling only is the same, and what differs in annotations alone modifies nothing."""

import pytest

from pipeline.core.vocabularies.changes import OF_TYPES, LibEvolutionEvalTag
from tests.api.history.releases import TAGGING, changes, described, history

DEFAULTS = [
    ("5", "5.0", True),
    ("5", "5.5", False),
    ("1", "True", False),
    ("'a'", '"a"', True),
    ("'a'", "b'a'", False),
    ("1_000", "1000", True),
    ("0x10", "16", True),
    ("60 * 60", "3600", True),
    ("1 << 20", "1048576", True),
    ("2 ** 0.5", "3", False),
    ("1 / 0", "0", False),
    ("9 ** 9 ** 9 ** 9", "1", False),
    ("-1", "~0", True),
    ("-1", "- 1", True),
    ("(1, 2.0)", "(1.0, 2)", True),
    ("(1, 2)", "[1, 2]", False),
    ("{'a': 1, 'b': 2}", "{'b': 2.0, 'a': 1}", True),
    ("{'a': 1}", "{'a': True}", False),
    ("np.nan", "numpy.nan", True),
    ("np.nan", "nan", True),
    ("ft.partial(f)", "partial(f)", True),
    ("np.nan", "None", False),
    ("np.nan", "np.inf", False),
    ("Color.RED", "colors.Color.RED", True),
    ("Color.RED", "Color.BLUE", False),
    ("Color.RED", "Fruit.RED", False),
    ("torch.float", "float", False),
]
"""A default, another one, and whether they are the same."""


@pytest.mark.parametrize(("old", "new", "same"), DEFAULTS)
def test_defaults(old, new, same):
    there, back = (
        described(changes(f"def f(a={a}): ...\n", f"def f(a={b}): ...\n")) for a, b in [(old, new), (new, old)]
    )
    assert there == back == ([] if same else ["parameter_default pkg.f a"])


@pytest.mark.parametrize(("old", "new", "same"), [("5", "5.0", True), ("60 * 60", "3600", True), ("2 * 2", "5", False)])
def test_values(old, new, same):
    assert described(changes(f"X = {old}\n", f"X = {new}\n")) == ([] if same else ["attribute_value pkg.X"])


ANNOTATIONS = [
    ("typing.Optional[X]", "X | None", True),
    ("t.Optional[X]", "Optional[X]", True),
    ("Optional['X']", "'X | None'", True),
    ("Union[int, None, str]", "str | int | None", True),
    ("List[int]", "list[int]", True),
    ("typing.DefaultDict[str, List[int]]", "defaultdict[str, list[int]]", True),
    ("Dict[str, 'X']", "dict[str, ft.X]", True),
    ("np.ndarray", "numpy.ndarray", True),
    ("np.ndarray", "'ndarray'", True),
    ("torch.float", "float", False),
    ("builtins.str", "str", True),
    ("P.args", "Q.args", False),
    ("Literal['a', 'b']", 'typing.Literal["a", "b"]', True),
    ("Literal['a']", "Literal[a]", False),
    ("t.Optional[t.Literal['a']]", "Literal['a'] | None", True),
    ("List[int]", "List[str]", False),
    ("X", "Optional[X]", False),
    ("'any text'", "'any  text'", True),
    ("'any text'", "'other text'", False),
    ("'a\\x00b'", "'a'", False),
]
"""An annotation, another one, and whether they are the same."""


@pytest.mark.parametrize(("old", "new", "same"), ANNOTATIONS)
def test_annotations(old, new, same):
    head = "import typing\nimport typing as t\nfrom typing import Literal\n"
    before, after = (f"{head}def f(a: {each}) -> {each}: ...\nx: {each}\n" for each in (old, new))
    for rows in (changes(before, after), changes(after, before)):
        expected = [] if same else ["parameter_type pkg.f a", "returns pkg.f", "attribute_type pkg.x"]
        assert described(rows) == expected
        assert not any(row["breaking"] or row["gitchameleon_category"] for row in rows)


def test_what_changes_in_annotations_alone_is_not_modified():
    typed = "def f(a: int) -> int: ...\n", "def f(a: str) -> str: ...\n"
    other = "def g(a=1): ...\n", "def g(a=2): ...\n"
    _, lived = history(typed[0] + other[0], typed[1] + other[1])
    modified = {row["path"]: row["modified_in"] for row in lived.tables["lifecycles"]}
    assert (modified["pkg.f"], modified["pkg.g"]) == ([], ["1.1"])
    tags = {row["kind"]: row["libevolutioneval_tag"] for row in lived.tables["changes"]}
    assert tags["returns"] == tags["parameter_type"] == LibEvolutionEvalTag.UNCHANGED
    assert {TAGGING.changes[kind].libevolutioneval for kind in OF_TYPES} == {LibEvolutionEvalTag.UNCHANGED}
