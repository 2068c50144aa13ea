from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.vocabularies.running import VerdictRole as Role
from pipeline.execution.validation.runs import Run, plan_runs, planned_versions
from pipeline.lake.rows import ChangeRow, CompletionRow, SnippetRow, SymbolRow
from tests.quality.flags.world import EXECUTABLE_SOURCES


def snippet(name: str, version: str, last: str, source: str = "docstring", language: str = "python") -> SnippetRow:
    return {"id": name, "version": version, "last_version": last, "source": source, "language": language}


def symbol(path: str, kind: str, first: str = "1.0", last: str = "3.0", labels: str = "", value: str = "1") -> Any:
    row = {"path": path, "canonical_path": path, "kind": kind, "first_version": first, "last_version": last}
    return row | {"labels": labels.split(), "value": value, "parameters": []}


def function(*parameters: str, known_from: str = "signature") -> Any:
    return symbol("lib.f", "function") | {"parameters": [{"name": p, "known_from": known_from} for p in parameters]}


def change(kind: str, path: str, new: str | None = None, parameter: str | None = None) -> ChangeRow:
    versions = {"old_version": "1.0", "new_version": "2.0"}
    return {"id": path, "kind": kind, "path": path, "new": new, "parameter": parameter, **versions}


SNIPPETS = [snippet("s", "1.0", "2.0"), snippet("t", "3.0", "3.0")]


def releases(*versions: str) -> list[Any]:
    return [{"version": version} for version in versions]


def test_each_program_runs_once_in_every_release() -> None:
    assert plan_runs(releases("1.0", "2.0", "3.0"), SNIPPETS, [], [], [], [], EXECUTABLE_SOURCES) == (
        Run("t", "1.0", Role.OTHER_VERSION),
        Run("s", "1.0", Role.REFERENCE),
        Run("t", "2.0", Role.OTHER_VERSION),
        Run("s", "2.0", Role.REFERENCE),
        Run("s", "3.0", Role.OTHER_VERSION),
        Run("t", "3.0", Role.REFERENCE),
    )


def test_code_of_a_codemod_runs_in_every_release_and_in_both_of_its_migration() -> None:
    written: Any = {"source_rewrite_id": None, "target_rewrite_id": "r"}
    migration = written | {"snippet_id": "s", "version": "2.0", "target_snippet_id": "s", "target_version": "3.0"}
    rewrites: list[Any] = [{"id": "r", "version": "3.0"}]
    planned = plan_runs(releases("1.0"), SNIPPETS, [], [migration], [], [], EXECUTABLE_SOURCES, rewrites=rewrites)
    assert Run("r", "1.0", Role.OTHER_VERSION) in planned
    assert {(run.role, run.is_missed) for run in planned} == {(Role.REFERENCE, True), (Role.OTHER_VERSION, False)}
    assert [run for run in planned if run.version != "1.0"] == [
        Run("r", "2.0", Role.OTHER_VERSION),
        Run("s", "2.0", Role.REFERENCE),
        Run("s", "3.0", Role.OTHER_VERSION),
        Run("r", "3.0", Role.REFERENCE),
    ]


def test_what_is_part_of_a_project_is_not_run_and_what_it_uses_is_probed() -> None:
    completions: list[CompletionRow] = [
        {"snippet_id": "s", "version": "1.0", "previous_version": None, "path": "lib.f", "change_id": None},
        {"snippet_id": "s", "version": "2.0", "previous_version": "1.0", "path": "lib.f", "change_id": None},
        {"snippet_id": "s", "version": "2.0", "previous_version": "1.0", "path": "lib.Box.size", "change_id": None},
    ]
    symbols = [symbol("lib.f", "function"), symbol("lib.Box.size", "attribute"), symbol("lib.Box", "class")]
    runs = plan_runs([], [snippet("s", "1.0", "2.0", "github")], completions, [], [], symbols, EXECUTABLE_SOURCES)
    assert runs == (Run("lib.f", "1.0", Role.PROBE), Run("lib.f", "2.0", Role.PROBE))


def test_what_is_made_from_documentation_is_probed_where_it_is_asked_for_and_in_the_release_before() -> None:
    controlled: list[Any] = [
        {"version": "1.0", "previous_version": None, "path": "lib.f"},
        {"version": "3.0", "previous_version": "2.0", "path": "lib.f"},
        {"version": "3.0", "previous_version": "2.0", "path": "lib.Box.size"},
    ]
    symbols = [symbol("lib.f", "function"), symbol("lib.Box.size", "attribute"), symbol("lib.Box", "class")]
    runs = plan_runs([], [], [], [], [], symbols, EXECUTABLE_SOURCES, controlled_completions=controlled)
    assert runs == tuple(Run("lib.f", version, Role.PROBE) for version in ("1.0", "2.0", "3.0"))


@pytest.mark.parametrize("of_dependent", [True, False])
def test_what_has_no_program_is_probed_in_every_release_that_would_show_it(of_dependent: bool) -> None:
    """In 4.0 the path is set on instances, which a probe cannot see."""
    row: Any = {"snippet_id": "s", "version": "2.0", "previous_version": "1.0", "path": "lib.Box.f", "change_id": None}
    symbols = [
        symbol("lib.Box", "class", last="4.0"),
        symbol("lib.Box.f", "method", first="2.0"),
        symbol("lib.Box.f", "attribute", first="4.0", last="4.0"),
    ]
    runs = plan_runs(
        releases("1.0", "2.0", "3.0", "4.0", "5.0"),
        [snippet("s", "1.0", "3.0", "downstream")],
        [row] if of_dependent else [],
        *([], [], symbols, EXECUTABLE_SOURCES),
        controlled_completions=[] if of_dependent else [row],
    )
    assert [(run, run.is_missed) for run in runs] == [
        (Run("lib.Box.f", version, Role.PROBE), required)
        for version, required in (("1.0", True), ("2.0", True), ("3.0", False), ("5.0", False))
    ]


def test_other_languages_are_not_run() -> None:
    """Their versions need not even be versions in the sense of PEP 440."""
    java = snippet("j", "31.1-jre", "31.1-jre", "stack_overflow", "java")
    assert plan_runs(releases("1.0"), [java], [], [], [], [], EXECUTABLE_SOURCES) == ()


BOX = symbol("lib.Box", "class")


@pytest.mark.parametrize(
    ("changes", "symbols", "probed"),
    [
        ([change("removed", "lib.f")], [symbol("lib.f", "function", last="1.0")], ["lib.f"]),
        ([change("introduced", "lib.f")], [symbol("lib.f", "function", first="2.0")], ["lib.f"]),
        ([change("removed", "lib.f")], [symbol("lib.f", "function", first="3.0")], []),
        ([change("returns", "lib.f")], [symbol("lib.f", "function")], []),
        ([change("removed", "lib.X")], [symbol("lib.X", "attribute"), symbol("lib", "module")], ["lib.X"]),
        ([change("removed", "lib.Box.size")], [symbol("lib.Box.size", "attribute"), BOX], []),
        (
            [change("removed", "lib.Box.size")],
            [symbol("lib.Box.size", "attribute", labels="class-attribute"), BOX],
            ["lib.Box.size"],
        ),
        (
            [change("removed", "lib.Box.size")],
            [symbol("lib.Box.size", "attribute", labels="class-attribute", value="field(default=1)"), BOX],
            [],
        ),
        ([change("removed", "lib.Box.grow")], [symbol("lib.Box.grow", "method"), BOX], ["lib.Box.grow"]),
        (
            [change("renamed", "lib.f", "lib.g")],
            [symbol("lib.f", "function", last="1.0"), symbol("lib.g", "function", first="2.0")],
            ["lib.f", "lib.g"],
        ),
        ([change("moved", "lib.f", "lib.sub.f")], [symbol("lib.f", "function", last="1.0")], ["lib.f"]),
        ([change("kind", "lib.f")], [symbol("lib.f", "function")], ["lib.f"]),
        ([change("kind", "lib.f")], [symbol("lib.f", "function", first="2.0")], []),
        ([change("attribute_value", "lib.X")], [symbol("lib.X", "attribute"), symbol("lib", "module")], ["lib.X"]),
        (
            [change("attribute_value", "lib.Box.size")],
            [symbol("lib.Box.size", "attribute", labels="class-attribute set-outside-init"), BOX],
            [],
        ),
        ([change("parameter_renamed", "lib.f", "b", "a")], [function("a", "b")], ["lib.f"]),
        ([change("parameter_renamed", "lib.f", "b", "a")], [function("b", known_from="docstring")], []),
        ([change("parameter_removed", "lib.f", None, "a")], [function("a", known_from="synthesised")], ["lib.f"]),
        ([change("parameter_removed", "lib.f", None, "a")], [function("a", known_from="passed_on")], ["lib.f"]),
        ([change("parameter_removed", "lib.f", None, "a")], [function("a", known_from="stub")], []),
        ([change("parameter_deprecated", "lib.f", None, "a")], [function("a")], []),
        (
            [change("renamed", "lib.Old.f", "lib.Old.g")],
            [
                symbol("lib.Old", "class", last="1.0") | {"canonical_path": "lib.Box"},
                symbol("lib.Old", "alias", first="2.0") | {"canonical_path": "lib.Box"},
                symbol("lib.Box", "class", first="2.0"),
                symbol("lib.Old.f", "method", last="1.0"),
                symbol("lib.Box.g", "method", first="2.0"),
            ],
            ["lib.Old.f", "lib.Old.g"],
        ),
    ],
)
def test_probes_are_made_in_both_releases(
    changes: list[ChangeRow], symbols: list[SymbolRow], probed: list[str]
) -> None:
    expected = tuple(Run(path, version, Role.PROBE) for version in ("1.0", "2.0") for path in probed)
    assert plan_runs([], [], [], [], changes, symbols, EXECUTABLE_SOURCES) == expected


def test_every_release_needs_an_environment_if_there_is_a_program() -> None:
    held, found = releases("2.8", "2.9", "2.10"), [snippet("f", "2.9", "2.9", "github")]
    tables: dict[str, Any] = dict.fromkeys(("completions", "migrations", "changes", "symbols"), ())
    wanted = [
        planned_versions(held, snippets=snippets, executable_sources=EXECUTABLE_SOURCES, **tables)
        for snippets in ([snippet("a", "2.10", "2.10")], found)
    ]
    assert wanted == [("2.8", "2.9", "2.10"), ()]
