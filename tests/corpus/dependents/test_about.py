"""What metadata says of a dependent's release, as real releases write it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES, load
from pipeline.corpus.dependents.about import github_repository, read_about
from pipeline.index.licences import LicenceRules

LICENCES = load(RULES / "licences.yaml", LicenceRules)


@pytest.mark.parametrize(
    ("lines", "url"),
    [
        ("Home-page: https://a.example/", "https://a.example/"),
        ("Home-page: UNKNOWN", None),
        ("Home-page: a.example", None),
        ("", None),
        ("Home-page: https://a.example/\nProject-URL: Source Code, https://b.example/", "https://b.example/"),
        (
            "Project-URL: Changelog, https://b.example/changes\nProject-URL: homepage, https://c.example/",
            "https://c.example/",
        ),
        (
            "Project-URL: Homepage, https://c.example/\nProject-URL: Repository, https://d.example/",
            "https://d.example/",
        ),
        ("Project-URL: Source\nHome-page: http://a.example/", "http://a.example/"),
        ("Project-URL: Source, git@b.example:x\nHome-page: https://a.example/", "https://a.example/"),
    ],
)
def test_the_address_is_where_the_code_is_else_the_home_page(lines: str, url: str | None) -> None:
    assert read_about(f"Metadata-Version: 2.1\nName: user\n{lines}\n", LICENCES).url == url


def test_licence_and_author() -> None:
    about = read_about("Name: user\nAuthor: Ada\nClassifier: License :: OSI Approved :: MIT License\n", LICENCES)
    assert (about.licence, about.attribution) == ("MIT", "Ada")
    assert read_about("", LICENCES) == read_about("\0 no metadata at all", LICENCES)


FIELDS = ["Name", "License", "License-Expression", "Classifier", "Project-URL", "Home-page", "Author", "Requires-Dist"]


@given(st.lists(st.tuples(st.sampled_from(FIELDS), st.text(max_size=40)), max_size=8), st.text(max_size=40))
def test_no_metadata_is_too_odd(fields: list[tuple[str, str]], body: str) -> None:
    about = read_about("".join(f"{field}: {value}\n" for field, value in fields) + "\n" + body, LICENCES)
    assert about.url is None or about.url.startswith("http")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("Home-page: https://github.com/ada/demo", "ada/demo"),
        ("Project-URL: Source, https://www.github.com/ada/demo.git", "ada/demo"),
        ("Home-page: https://github.com/ada/demo/tree/main/docs", "ada/demo"),
        ("Project-URL: Fund, https://github.com/sponsors/ada\nHome-page: https://github.com/ada/demo", "ada/demo"),
        ("Project-URL: Source Code, https://github.com/ada/one\nHome-page: https://github.com/ada/two", "ada/one"),
        ("Home-page: https://example.org/github.com/ada/demo", None),
        ("", None),
    ],
)
def test_the_repository_that_metadata_name(fields: str, expected: str | None) -> None:
    assert github_repository(f"Metadata-Version: 2.1\nName: demo\n{fields}\n") == expected
