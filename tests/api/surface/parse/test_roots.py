from __future__ import annotations

import pytest

from pipeline.api.surface.parse.roots import Roots


@pytest.mark.parametrize(
    ("modules", "roots", "inside", "outside"),
    [
        (["pkg", "pkg.a", "pkg.a.b", "other"], {"pkg", "other"}, ["pkg.no.such", "other"], ["pkgs", "os.path"]),
        # a folder without __init__ in a package is the package's
        (["pkg", "pkg.plain.deep"], {"pkg"}, ["pkg.plain"], []),
        (
            ["google.cloud.storage", "google.cloud.storage.client", "google.resumable"],
            {"google.cloud.storage", "google.resumable"},
            ["google.cloud.storage", "google.cloud.storage.gone", "google.resumable"],
            ["google", "google.cloud", "google.auth", "google.cloud.stor", "google.cloud.storages"],
        ),
    ],
)
def test_where_a_distribution_begins(
    modules: list[str], roots: set[str], inside: list[str], outside: list[str]
) -> None:
    found = Roots.of(modules)
    assert set(found) == roots
    assert [path for path in inside + outside if found.reach(path)] == inside
