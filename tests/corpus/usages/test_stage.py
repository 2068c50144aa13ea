from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.rules import UsageRules
from pipeline.corpus.usages.stage import nearest, usage_stage, why_not
from pipeline.corpus.usages.text import source_of
from pipeline.lake.ids import content_id
from pipeline.lake.rows import SnippetRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from tests.corpus.usages.rows import LIB, surfaces, symbols_of

USAGE_RULES = load(RULES / "usage.yaml", UsageRules)


def snippet(code: str, preamble: str = "", version: str = "1", language: str = "python") -> Any:
    result = {"library": "lib", "version": version, "path": "lib", "preamble": preamble, "code": code}
    return result | {"id": content_id(*result.values()), "language": language}


def run(*snippets: SnippetRow) -> Output:
    renamed = LIB["lib/__init__.py"].replace("find, ", "find as finding, ").replace('"find"', '"finding"')
    releases, surface = surfaces({"1": LIB, "2": {**LIB, "lib/__init__.py": renamed}})
    output = usage_stage(
        {"releases": releases, "snippets": snippets, "symbols": surface.tables["symbols"]}, USAGE_RULES
    )
    for row in output.tables["usages"]:
        table("usages").check(row)
    return output


def test_a_usage_lies_in_the_text_that_everybody_uses() -> None:
    own = snippet("x = 'é'; make(b=1, a=2).plain", "from lib import make")
    first, second = run(own).tables["usages"]
    data = source_of(own).encode()
    assert data[first["name_start_byte"] : first["name_end_byte"]] == b"make"
    assert data[second["start_byte"] : second["end_byte"]] == b"make(b=1, a=2).plain"
    assert (first["line"], first["keywords"], first["snippet_id"]) == (2, ["b", "a"], own["id"])


def test_uses_in_the_preamble_do_not_count() -> None:
    output = run(snippet("x.plain()\n", "import lib\nx = lib.make()\n"))
    assert [row["path"] for row in output.tables["usages"]] == ["lib.Thing.plain"]
    assert (output.units_in, output.units_out) == (1, 1)


def test_unresolved_names_in_the_preamble_are_no_rejects() -> None:
    output = run(snippet("lib.make()\nlib.gone()\n", "import lib\nX = lib.missing\n"))
    assert [reject.key.partition(" ")[2] for reject in output.rejects] == ["lib.gone @42"]
    assert output.units_in == 2


def test_a_snippet_is_read_against_its_own_version() -> None:
    code = "import lib\nlib.find(1)\nlib.find(2)\n"
    old, new = snippet(code), snippet(code, version="2")
    output = run(old, new)
    assert [(row["path"], row["version"]) for row in output.tables["usages"]] == [("lib.find", "1")] * 2
    assert [reject.key for reject in output.rejects] == [f"{new['id']} lib.find @15", f"{new['id']} lib.find @27"]
    assert {reject.reason for reject in output.rejects} == {"unresolved_name"}
    assert output.rejects[0].detail == "line 2: lib.find; nearest public path: lib.finding"
    assert output.units_in == output.units_out + 2


def test_usage_ids_differ_within_a_snippet_and_stay_from_run_to_run() -> None:
    own = snippet("import lib\nlib.make(); lib.make(); lib.make().same().same()\n")
    ids = [row["id"] for row in run(own).tables["usages"]]
    assert len(set(ids)) == 5
    assert ids == [row["id"] for row in run(own).tables["usages"]]


def test_snippets_in_other_languages_are_ignored() -> None:
    output = run(snippet("import lib; lib.make();", language="javascript"))
    assert (output.units_in, output.tables["usages"], output.notes) == (0, [], [])


def test_a_snippet_nested_too_deep_is_a_note() -> None:
    own = snippet("import lib\n" + "(" * 200 + "lib.make()" + ")" * 200)
    output = run(own)
    assert (output.units_in, [(note.key, note.reason) for note in output.notes]) == (0, [(own["id"], "too_long")])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("lib._impl.make", "private; public path of it: lib.make"),
        ("lib.makes", "nearest public path: lib.make"),
        ("lib.Wide.owns", "the sources do not show all names of lib.Wide; nearest public path: lib.Wide.own"),
        ("other.qqqqqqq", "nearest public path: none"),
    ],
)
def test_why_a_path_is_not_public(path: str, expected: str) -> None:
    assert why_not(path, Api(symbols_of(LIB), ["lib"]), 0.6) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("lib.makes", "lib.make"),
        ("lib.Thing.inherit", "lib.Thing.inherited"),
        ("lib.helper", "lib.sub.helper"),
        ("lib.qqqqqqq", None),
    ],
)
def test_the_nearest_public_path(path: str, expected: str | None) -> None:
    assert nearest(path, Api(symbols_of(LIB), ["lib"]), 0.6) == expected
