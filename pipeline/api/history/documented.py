"""What a library's documentation states about versions, beside what the comparison of its releases found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.version import Version

from pipeline.api.history.agreement import Statement, Verdict, judge
from pipeline.api.history.occurrences import Occurrences, Timeline
from pipeline.api.surface.extract.directives import Directive, demote_later_additions, name_parameters, read_directives
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.core.vocabularies.changes import Agreement, ChangeKind, DirectiveKind, DirectiveOwner, kinds_of_directive
from pipeline.core.vocabularies.samples import Evidence
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ChangeRow, DirectiveRow, DocumentRow, Tables
from pipeline.lake.stage import Output, Reject


def directives_stage(
    tables: Tables,
    rules: DirectiveRules,
) -> Output:
    """Make the table `directives` of a library out of its docstrings; the unit is a row of `documents`.

    A docstring that several public paths share (an inherited method) gives each of them its rows, so that each can
    be looked up; they are judged by the life of the definition, under whichever path it began.
    """
    timeline = Timeline(tables["releases"])
    occurrences = Occurrences(timeline, tables["symbols"], tables["lifecycles"], tables["changes"])
    statements, failed = _statements(tables["documents"], occurrences, rules)
    rows, notes = parted(
        guarded(
            statements,
            lambda statement: f"{statement.path} {statement.first_version} {statement.directive.kind}",
            lambda statement: [_row(statement, judge(statement, occurrences, rules))],
        )
    )
    return Output({"directives": rows}, len(tables["documents"]), len(tables["documents"]) - len(failed), failed, notes)


def _statements(
    documents: Iterable[DocumentRow], occurrences: Occurrences, rules: DirectiveRules
) -> tuple[list[Statement], list[Reject]]:
    """Read the directives; one that the next docstring of the path has unchanged goes on."""
    failed: list[Reject] = []
    by_directive: dict[tuple[str, Directive], list[Statement]] = {}
    timeline = occurrences.timeline
    for row in sorted(documents, key=lambda row: (row["path"], Version(row["first_version"]))):
        directives = attempt(f"{row['path']} {row['first_version']}", _directives, row, occurrences, rules)
        if isinstance(directives, Reject):
            failed.append(directives)
            continue
        for directive in dict.fromkeys(directives):
            earlier = by_directive.setdefault((row["path"], directive), [])
            if earlier and timeline.follows(row["first_version"], earlier[-1].last_version):
                earlier[-1].last_version = row["last_version"]
            else:
                earlier.append(_statement(row, directive))
    return [statement for statements in by_directive.values() for statement in statements], failed


def _directives(document: DocumentRow, occurrences: Occurrences, rules: DirectiveRules) -> list[Directive]:
    read = read_directives(document["docstring"], rules)
    if not read:
        return []
    state = occurrences.state_at(document["path"], document["first_version"])
    parameters = {parameter["name"] for parameter in state["parameters"]} if state else set()
    return demote_later_additions(name_parameters(read, parameters, rules))


def _statement(document: DocumentRow, directive: Directive) -> Statement:
    return Statement(
        library=document["library"],
        path=document["path"],
        canonical_path=document["canonical_path"],
        first_version=document["first_version"],
        last_version=document["last_version"],
        directive=directive,
    )


def _row(statement: Statement, verdict: Verdict) -> DirectiveRow:
    directive = statement.directive
    head = [statement.library, statement.path, statement.first_version]
    of_parameter = directive.owner is DirectiveOwner.PARAMETER
    return {
        "id": content_id(
            *head, directive.kind, directive.owner, directive.name, directive.version_text, directive.text
        ),
        "library": statement.library,
        "path": statement.path,
        "canonical_path": statement.canonical_path,
        "first_version": statement.first_version,
        "last_version": statement.last_version,
        "directive": directive.kind,
        "owner": directive.owner,
        "parameter": directive.name if of_parameter else None,
        "attribute": None if of_parameter else directive.name,
        "stated_version": directive.version_text,
        "text": directive.text,
        "found_version": verdict.found_version,
        "agreement": verdict.agreement,
        "disagreement": verdict.disagreement,
    }


def document_changes(
    changes: Iterable[ChangeRow], directives: Iterable[DirectiveRow], rules: DirectiveRules
) -> list[ChangeRow]:
    """Return the changes, with the evidence `documented` instead of `static` where a directive states the same.

    The same is: the same definition or path, parameter, release and kind of change.
    """
    documented = {key for row in directives if row["agreement"] == Agreement.AGREES for key in _keys(row, rules)}
    return [_documented(change, documented) for change in changes]


_Key = tuple[str, str | None, str | None, ChangeKind]


def _keys(row: DirectiveRow, rules: DirectiveRules) -> Iterator[_Key]:
    """Yield what a directive states: path, parameter, release and kind of change."""
    member = f".{row['attribute']}" if row["attribute"] else ""
    if row["directive"] == DirectiveKind.VERSIONCHANGED:
        kinds = rules.kinds_in(row["text"])
    else:
        kinds = kinds_of_directive(DirectiveKind(row["directive"]), of_parameter=row["parameter"] is not None)
    for path in {row["path"], row["canonical_path"]}:
        for kind in kinds:
            yield path + member, row["parameter"], row["found_version"], kind


def _documented(change: ChangeRow, documented: set[_Key]) -> ChangeRow:
    if change["evidence"] != Evidence.STATIC:
        return change
    names = (
        {change["parameter"], change["new"]}
        if change["kind"] == ChangeKind.PARAMETER_RENAMED
        else {change["parameter"]}
    )
    keys = {
        (path, name, change["new_version"], change["kind"])
        for path in (change["path"], change["canonical_path"])
        for name in names
    }
    return change | {"evidence": Evidence.DOCUMENTED} if keys & documented else change


def contradiction_of(row: DirectiveRow) -> str:
    """Say in words what a directive states and what was found instead."""
    about = f" of {row['parameter'] or row['attribute']}" if row["parameter"] or row["attribute"] else ""
    statement = f"{row['directive']} {row['stated_version']}{about}"
    return f"{row['path']}: the documentation states {statement}, the comparison found {row['found_version']}"
