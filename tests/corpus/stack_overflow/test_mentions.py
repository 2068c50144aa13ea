"""What names a version of a library, and what does not: beside the examples of the rule file, which are tried as it loads."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES, RuleError
from pipeline.corpus.stack_overflow.mentions import MentionReader, stack_overflow_rules, try_examples
from tests.errors import raises

RULE = stack_overflow_rules(RULES)
READERS = {
    name: MentionReader(RULE, name) for name in ("pandas", "scikit-learn", "pyyaml", "angular", "newtonsoft.json")
}


@pytest.mark.parametrize(
    ("library", "text", "expected"),
    [
        ("pandas", "", []),
        ("pandas", "pandas", []),
        ("pandas", "PANDAS 1.3", ["1.3"]),
        ("pandas", "pandas 1.3, pandas 1.4", ["1.3", "1.4"]),
        ("pandas", "pandas 1.3.5 / 1.4.0", ["1.3.5", "1.4.0"]),
        ("pandas", "pandas 1.3.5 vs. numpy 1.21.0", ["1.3.5"]),
        ("pandas", "pandas==1.3.5.", ["1.3.5"]),
        ("pandas", "pandas==1.4.0rc0", ["1.4.0rc0"]),
        ("pandas", "pandas 1.0.x", ["1.0.x"]),
        ("pandas", "pandas 1.*", ["1.*"]),
        ("pandas", "pandas 1.3.5, Python 3.8.10, numpy 1.21", ["1.3.5"]),
        ("pandas", "pandas 0.5%", []),
        ("pandas", "pandas 1.3x faster", []),
        ("pandas", "pandas: 1.3 µs", []),
        ("pandas", "pandas 12:30", []),
        ("pandas", "pandas 1,000.5 rows", []),
        ("pandas", "dask.pandas 1.3", []),
        ("pandas", "pandas_ta 0.3.14", []),
        ("pandas", "pandastable 0.12", []),
        ("pandas", "since 1.0, but not since Python 3.7", []),
        ("pandas", "Since 1.0. Not since Python 3.7.", ["1.0"]),
        ("pandas", "as of 3.8", []),
        ("scikit-learn", "scikit learn version 0.22.1", ["0.22.1"]),
        ("scikit-learn", "sklearn.__version__ == '0.22.1'", ["0.22.1"]),
        ("scikit-learn", "scikit-image 0.18", []),
        ("pyyaml", "PyYAML 5.1", ["5.1"]),
        ("pyyaml", "yaml.__version__\n'5.4.1'", ["5.4.1"]),
        ("pyyaml", "yaml 1.2 is a format", []),
        ("angular", "Angular 8", ["8"]),
        ("angular", "Angular v12.0.1", ["12.0.1"]),
        ("angular", "angularjs 1.5", []),
        ("angular", "Angular 8.2 and 9", ["8.2", "9"]),
        ("angular", "since 8.0", []),
        ("newtonsoft.json", "Json.NET 12.0.3", ["12.0.3"]),
    ],
)  # fmt: skip
def test_mentions(library: str, text: str, expected: list[str]) -> None:
    assert [mention.version for mention in READERS[library].read(text)] == expected


def test_words_are_quoted_as_they_stand() -> None:
    mention, later = READERS["pandas"].read("I have the\n  pandas   version: 1.2.4 and 1.3.")
    assert mention.words == "pandas version: 1.2.4"
    assert later.words == "pandas version: 1.2.4 and 1.3"


@pytest.mark.parametrize(
    ("library", "tags", "expected"),
    [
        ("angular", ["angular", "angular-8", "javascript"], ["8"]),
        ("angular", ["angular8"], ["8"]),
        ("pandas", ["pandas-1.x", "python-3.7", "pandas-groupby", "geopandas-0.9"], ["1.x"]),
        ("pandas", ["pandas"], []),
    ],
)
def test_tags_that_name_a_version(library: str, tags: list[str], expected: list[str]) -> None:
    assert [mention.version for mention in READERS[library].read_tags(tags)] == expected


NAMINGS = [
    "pandas 1.3",
    "Pandas==1.3.5",
    "pd.__version__\n'1.2.4'",
    "before pandas 1.0",
    "since 2.0",
    "version 1.x of pandas",
]
PIECES = st.sampled_from(
    [*NAMINGS, " to 1.4", ", and 2.0.1", " 1.3", "pandas", " s", "=", "<", "'", "(", "-", ".", "v"]
)


@given(st.lists(PIECES), st.sampled_from(NAMINGS), st.lists(PIECES))
def test_every_mention_has_its_position(before: list[str], naming: str, after: list[str]) -> None:
    text = f"{' '.join(before)}\n{naming} it is\n{''.join(after)}"
    mentions = READERS["pandas"].read(text)
    assert mentions
    starts = [mention.start for mention in mentions]
    assert starts == sorted(set(starts))
    assert all(text.startswith(mention.version, mention.start) for mention in mentions)


@pytest.mark.parametrize(
    "unit",
    [
        "pandas ",
        "pandas 1.3 ",
        "since 2.0 ",
        "\n",
        " ",
        "pandas  ",
        "before ",
        "pd.__version__ ",
        "1.",
        "will be a ",
        "a",
        "and to ",
    ],
)
def test_no_text_takes_long(unit: str) -> None:
    text = (unit * 30_000)[:30_000]
    begun = time.process_time()
    for reader in READERS.values():
        reader.read(f"pandas since {text} 1.0")
    assert time.process_time() - begun < 5


def test_an_example_that_is_read_otherwise_is_an_error_with_pattern_and_text(tmp_path: Path) -> None:
    text = (RULES / "stack_overflow.yaml").read_text(encoding="utf-8")
    changed = text.replace('"I am using pandas 1.3", gives: "1.3"', '"I am using pandas 1.3", gives: "1.4"')
    (tmp_path / "stack_overflow.yaml").write_text(changed.replace('- "python 3.7"', '- "pandas 3.7"'), encoding="utf-8")
    with pytest.raises(RuleError) as caught:
        try_examples(stack_overflow_rules(tmp_path))
    assert "'I am using pandas 1.3' gives '1.3', not '1.4'" in str(caught.value)
    assert "'pandas 3.7' gives '3.7', not ''" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("  pandas: {aliases", "  Pandas: {aliases", "rule_name_invalid"),
        ("language: csharp", "language: python", "rule_contradiction"),
        ("language: csharp", "language: cobol", "rule_invalid"),
        ("PACKAGE:VERSION", "PACKAGE", "rule_placeholder_missing"),
        ("tag: TAG-", "tags: TAG-", "rule_unknown_key"),
    ],
)
def test_errors_in_curated_examples_are_reported(tmp_path: Path, old: str, new: str, code: str) -> None:
    text = (RULES / "stack_overflow.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "stack_overflow.yaml").write_text(text.replace(old, new), encoding="utf-8")
    with raises(RuleError, "stack_overflow.yaml", code=code):
        stack_overflow_rules(tmp_path)
