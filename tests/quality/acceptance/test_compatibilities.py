"""Which compatibilities are published."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.review import FlagKind, RejectReason
from pipeline.core.vocabularies.samples import Evidence
from pipeline.families.compatibilities.rules import CompatibilityRules
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.quality.acceptance.compatibilities import compatibilities_acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from tests.families.compatibilities.rows import compatibility
from tests.families.completions_and_migrations.rows import releases, snippet

QUALITY = load(RULES / "quality.yaml", QualityRules)
SNIPPET = snippet("import lib\n", "lib.fetch", "1.1", licence="MIT")


def accepted(*rows: Any, rules: QualityRules = QUALITY, **tables: Any) -> Output:
    inputs: Any = {
        "compatibilities": rows,
        "snippets": [SNIPPET],
        "releases": releases("1.0", "1.1"),
        "published_changes": [{"id": "change", "parameter": None}, {"id": "keyword", "parameter": "size"}],
        "flags": [],
        "reviews": [],
    }
    own_rules = load(RULES / "compatibilities.yaml", CompatibilityRules)
    output = compatibilities_acceptance_stage(inputs | tables, rules, own_rules)
    for row in output.tables["published_compatibilities"]:
        table("published_compatibilities").check(row)
    return output


def row(id_: str, code: str = "import lib\nprint(lib.fetch(1))  # 1\n", **columns: Any) -> Any:
    return compatibility(SNIPPET["id"], **{"id": id_, "code": code, "change_id": "change"} | columns)


def test_a_row_is_executed_and_discriminating() -> None:
    (published,) = accepted(row("a")).tables["published_compatibilities"]
    assert (published["evidence"], published["discriminating"]) == (Evidence.EXECUTED, True)
    assert (published["change_id"], published["licence"]) == ("change", "MIT")


def test_a_change_that_is_not_published_is_not_named() -> None:
    (published,) = accepted(row("a"), published_changes=[]).tables["published_compatibilities"]
    assert published["change_id"] is None


@pytest.mark.parametrize(
    ("columns", "refused"),
    [
        ({"code": "import lib\nnumber = 1\nprint(lib.fetch(number))  # 1\n"}, ["b"]),
        # code for the other side of the change
        ({"code": "import lib\nnumber = 1\nprint(lib.load(number))  # 1\n", "compatible": ["1.0"]}, []),
        ({"code": "import lib\nnumber = 1\nprint(lib.fetch(number))  # 1\n", "path": "lib.other"}, []),
        ({"code": "import lib\nprint(lib.fetch(1, size=2))  # 1\n", "change_id": "keyword"}, []),
        # the same program asks for the same, whatever it is about
        ({"path": "lib.other"}, ["b"]),
    ],
    ids=["a longer program", "another answer", "another API", "a parameter of it", "the same program"],
)
def test_one_program_asks_for_one_api(columns: Any, refused: list[str]) -> None:
    output = accepted(row("b", **columns), row("a"))
    assert [(reject.key, reject.reason) for reject in output.rejects] == [
        (key, RejectReason.NEAR_DUPLICATE) for key in refused
    ]


def test_a_source_without_a_licence_is_refused() -> None:
    (reject,) = accepted(row("a"), snippets=[{**SNIPPET, "licence": None}]).rejects
    assert reject.reason == RejectReason.LICENCE


def test_a_flag_holds_it_back() -> None:
    flag = {"instance_id": "a", "kind": FlagKind.LICENCE_UNCLEAR, "evidence": "", "rule": "", "id": "flag"}
    rules = QUALITY.model_copy(update={"hold_back": frozenset({FlagKind.LICENCE_UNCLEAR})})
    (reject,) = accepted(row("a"), rules=rules, flags=[flag]).rejects
    assert reject.reason == RejectReason.FLAGGED
