"""The starter profile against the real package index: it must stay what the README promises."""

from __future__ import annotations

import pytest
from packaging.specifiers import SpecifierSet

from pipeline.core.rules.profiles import LibraryRule, load_profile
from pipeline.core.settings import index_url
from pipeline.index.http import Fetcher
from pipeline.index.index import project
from pipeline.index.release_selection import finals_of


@pytest.mark.slow
@pytest.mark.parametrize("rule", load_profile("starter").libraries, ids=lambda rule: rule.library)
def test_a_library_has_six_consecutive_final_releases_in_a_closed_range(rule: LibraryRule) -> None:
    found = project(Fetcher(timeout_s=60), index_url(), rule.library)
    finals, _ = finals_of(found, SpecifierSet(rule.versions))
    taken = [final for final in finals if SpecifierSet(rule.versions).contains(final.version)]
    assert len(taken) >= 6
    assert [final.predecessor for final in taken[1:]] == [final.version for final in taken[:-1]]
    assert any(operator in rule.versions for operator in ("<", "=="))
