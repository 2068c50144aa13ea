"""Every source of code says what is asked of its rows."""

import pytest

from pipeline.core.vocabularies.samples import ExternalSource, SnippetSource, SnippetStyle


@pytest.mark.parametrize("name", ExternalSource)
def test_a_source_of_others_is_made_of_files_or_blocks_and_has_a_name_in_exports(name: ExternalSource) -> None:
    described = SnippetSource(name)
    assert (described.meaning, described.source.files) == (name.meaning, described.source.style is None)
    assert described.source.versicode


@pytest.mark.parametrize("name", SnippetSource)
def test_a_source_is_made_again_or_says_why_not(name: SnippetSource) -> None:
    made_again = {SnippetSource.DOCSTRING, SnippetSource.DOWNSTREAM}
    assert (name.source.not_rebuilt is None) == (name in made_again)


def test_blocks_have_styles_of_their_own() -> None:
    styles = [source.source.style for source in SnippetSource if source.source.style]
    assert len(styles) == len(set(styles)) == len(set(styles) & set(SnippetStyle))
