"""Changes of names that a library does not offer, and whom they break where code uses these."""

from typing import Any

import pytest

from pipeline.api.history.in_use import changes_in_use, paths_in_use
from pipeline.core.vocabularies.changes import Reach
from pipeline.lake.rows import OwnTestRow, UsageRow
from tests.api.history.releases import TAGGING, changes

OLD = {
    "pkg/__init__.py": "",
    "pkg/tools.py": "__all__ = ['cut']\ndef cut(a): ...\ndef sew(a, b): ...\nclass Kit:\n    def open(self): ...\n",
}
NEW = {"pkg/__init__.py": "", "pkg/tools.py": "__all__ = ['cut']\ndef cut(a, b=1): ...\ndef sew(a, b, c=1): ...\n"}


def reaches(*used: str) -> dict[str, tuple[Reach, bool]]:
    rows: list[Any] = changes_in_use(changes(OLD, NEW), used, TAGGING)
    return {row["path"]: (row["reach"], row["breaking"]) for row in rows}


OFFERED = {"pkg.tools.cut": (Reach.LISTED, False)}
KIT, SEW = (Reach.UNLISTED, False), (Reach.UNLISTED, False)


@pytest.mark.parametrize(
    ("used", "kit", "sew"),
    [
        ((), KIT, SEW),
        (("pkg.tools.cut", "pkg.tools"), KIT, SEW),
        (("pkg.tools.sew",), KIT, (Reach.USED, False)),
        (("pkg.tools.Kit",), (Reach.USED, True), SEW),
        (("pkg.tools.Kit.open",), (Reach.USED, True), SEW),
    ],
)
def test_what_code_uses_breaks_it(used: tuple[str, ...], kit: tuple[Reach, bool], sew: tuple[Reach, bool]) -> None:
    assert reaches(*used) == {**OFFERED, "pkg.tools.Kit": kit, "pkg.tools.sew": sew}


@pytest.mark.parametrize(
    ("usages", "own_tests", "kit"),
    [
        ([], [], KIT),
        ([{"path": "pkg.tools.Kit"}], [], (Reach.USED, True)),
        ([], [{"apis": ["pkg.tools.cut", "pkg.tools.Kit.open"]}], (Reach.USED, True)),
        ([], [{"apis": ["pkg.tools.cut"]}], KIT),
    ],
)
def test_own_tests_are_code_that_breaks(
    usages: list[UsageRow], own_tests: list[OwnTestRow], kit: tuple[Reach, bool]
) -> None:
    assert reaches(*paths_in_use(usages, own_tests))["pkg.tools.Kit"] == kit
