"""Changes between real releases that were confirmed without us: see real_changes.yaml."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.orchestration.adhoc import Diff, diff_releases
from tests.api.history.releases import described

CASES = yaml.safe_load((Path(__file__).parent / "real_changes.yaml").read_text())

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _data(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DRIFTLINE_DATA", str(tmp_path_factory.mktemp("data")))
        yield


@functools.cache
def compared(library: str, old: str, new: str) -> Diff:
    return diff_releases(library, old, new)


CHECKS = {"reported", "only", "excluded", "offered", "marks", "parameters"}


def test_each_case_checks_something() -> None:
    keys = CHECKS | {"what", "library", "old", "new"}
    assert [row for row in CASES if not CHECKS & row.keys() or row.keys() - keys] == []


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{row['what']} ({row['library']} {row['new']})") for row in CASES]
)
def test_what_is_confirmed_is_told(row):
    diff = compared(row["library"], row["old"], row["new"])
    found = described(diff.changes)
    lacking = [line for line in row.get("reported", row.get("only", ())) if line not in found]
    wrongly = [line for line in found if line.startswith(tuple(row.get("excluded", ())))]
    wrongly += [line for line in found if "only" in row and line not in row["only"]]
    unseen = [path for path in row.get("offered", ()) if diff.new.find(path) is None]
    marks = {path: mark_of(diff, path, wanted) for path, wanted in row.get("marks", {}).items()}
    takes = {path: parameters_of(diff, path) for path in row.get("parameters", {})}
    expected: tuple[Any, ...] = ([], [], [], row.get("marks", {}), row.get("parameters", {}))
    assert (lacking, wrongly, unseen, marks, takes) == expected


def mark_of(diff: Diff, path: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return of the mark of deprecation in the new release what the case says something about."""
    # a second name may have a mark of its own
    states = (diff.new.rows.get(path), diff.new.find(path))
    mark: Mapping[str, Any] = next((row["deprecation"] for row in states if row and row["deprecation"]), {})
    return {key: mark.get(key) for key in wanted}


def parameters_of(diff: Diff, path: str) -> list[str]:
    """Return the names of the parameters that a path takes in the new release."""
    row = diff.new.find(path)
    return [parameter["name"] for parameter in row["parameters"]] if row else []


@pytest.mark.parametrize(
    ("library", "old", "new", "path", "kind", "unread"),
    [
        # a stub beside an import that another release's surface has
        ("numpy", "2.2.2", "2.2.3", "numpy.bytes_", "class", {"compiled"}),
        # 0.7.3 was yanked, 8.0.0rc1 is a pre-release
        ("schema", "0.7.2", "0.7.3", "schema.Schema", "class", set()),
        ("click", "7.1.2", "8.0.0rc1", "click.Command", "class", set()),
        # stubs alone; stubs beside a compiled module
        ("types-requests", "2.28.0", "2.31.0.1", "requests.get", "function", set()),
        ("ujson", "5.9.0", "5.10.0", "ujson.dumps", "function", set()),
        # a compiled module without a stub is there, and nothing of it is called absent
        ("lxml", "5.1.1", "5.2.0", "lxml.etree", "module", {"compiled"}),
        # a source distribution in Python 2 with implicit relative imports, then a wheel in Python 3
        ("pyyaml", "3.11", "3.12", "yaml.load", "function", set()),
        # a module that names something `async`, which is no Python of today, costs that module alone; its C modules are hidden
        ("aiohttp", "0.21.6", "0.22.0", "aiohttp.ClientSession", "class", {"compiled", "unparsed_source"}),
        # a namespace package, from which modules of tests went
        ("protobuf", "3.13.0", "3.14.0", "google.protobuf.message.Message", "class", set()),
        # a wheel in which its build folder was packed
        ("setuptools", "3.3", "3.4", "setuptools.Command", "class", set()),
    ],
)
def test_releases_of_unusual_make_are_read_and_what_is_not_is_named(library, old, new, path, kind, unread):
    diff = compared(library, old, new)
    assert [str(state["kind"]) for state in diff.states(path) or ()] == [kind, kind]
    assert {str(reject.reason) for reject in diff.rejects} == unread
