"""The stage `other_answers`: which other names pass the run of a completion, in its release or in the other one."""

from __future__ import annotations

import ast
import inspect
import keyword
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.core.vocabularies.samples import Granularity, SnippetSource
from pipeline.core.vocabularies.surface import ParameterKind, SymbolKind
from pipeline.corpus.usages.text import parse_program, source_of
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.running import hurried
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.families.completions_and_migrations.alike import Descriptions
from pipeline.families.completions_and_migrations.expected_outputs import displaying
from pipeline.families.completions_and_migrations.masks import unmask
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.intervals import holding_at
from pipeline.lake.place import at_release
from pipeline.lake.rows import (
    ChangeRow,
    CompletionRow,
    EnvironmentRow,
    OtherAnswerRow,
    SymbolRow,
    SymbolState,
    Tables,
)
from pipeline.lake.stage import Output, Reject
from pipeline.llm.rules import DraftingRules


@dataclass(frozen=True, slots=True)
class _Program:
    """The program of a completion, and by other name the same program with it: names of its release, of the other one.

    `neighbour` is the release on the other side of the change.
    """

    completion: CompletionRow
    reference: Case
    others: Mapping[str, Case]
    neighbour: str | None
    of_neighbour: Mapping[str, Case]


def other_answers_stage(
    tables: Tables, rules: MutationRules, drafting: DraftingRules, fails: Collection[Outcome], runner: Runner
) -> Output:
    """Make the table `other_answers` of a library; the unit is a completion of a name that a change is about.

    The neighbours of the hidden name are tried: public names of its module or class, or the other parameters. Where a
    text describes the API, only names are tried that it describes as well, and those of the same object or value;
    of an argument all are tried, as texts describe what is called. Names that only the other side of the change has
    are tried in both releases, with a text those that it describes there: what passes there may pass here too, or ends
    here in one of `fails`. A completion with a text and no name to try is no unit, nor is one whose program did not
    pass in its release.

    Errors: those of `EnvironmentStore.open`.
    """
    built = {row["version"]: row for row in tables["environments"] if row["outcome"] == EnvironmentOutcome.BUILT}
    passed = {(row["subject_id"], row["version"]) for row in tables["verdicts"] if row["outcome"] == Outcome.PASSED}
    texts = {row["subject_id"]: row for row in tables["drafts"]}
    descriptions = Descriptions(tables["documents"], tables["lifecycles"], drafting, rules.like_description)
    names = {row["version"]: row["import_names"] for row in tables["releases"]}
    snippets = {row["id"]: row for row in tables["snippets"]}
    candidates = [
        row
        for row in tables["completions"]
        if row["granularity"] == Granularity.TOKEN
        and row["change_id"] is not None
        and row["version"] in built
        and (row["snippet_id"], row["version"]) in passed
    ]
    by_version: Mapping[str, list[CompletionRow]] = defaultdict(list)
    for row in candidates:
        by_version[row["version"]].append(row)
    rows: list[OtherAnswerRow] = []
    rejects: list[Reject] = []
    units = 0
    changes = {row["id"]: row for row in tables["changes"]}

    @cache
    def symbols_of(version: str) -> Mapping[str, SymbolRow]:
        return {symbol["path"]: symbol for symbol in holding_at(tables["symbols"], version)}

    for version, group in by_version.items():

        def fill(row: CompletionRow, symbols: Mapping[str, SymbolRow] = symbols_of(version)) -> list[_Program]:
            neighbour = _other_side(changes.get(row["change_id"] or ""), row["version"])
            neighbour = neighbour if neighbour in built else None
            there = symbols_of(neighbour) if neighbour else {}
            absent = _names_of_neighbour(row, symbols, there, rules.other_names)
            others = list(_other_names(row, symbols, rules.other_names))
            draft, snippet = texts.get(row["id"]), snippets[row["snippet_id"]]
            # Of code that was written from a change, a text without the name says too little.
            is_vague = draft is None or (snippet["source"] == SnippetSource.CHANGE and draft["redacted"])
            if draft is not None and not is_vague and not _hides_argument(row):
                described = descriptions.alike(draft["text"], row["path"], others, row["version"])
                others = sorted({*described, *names_of_same(row["path"], symbols)})
                absent = sorted(descriptions.alike(draft["text"], row["path"], absent, neighbour)) if neighbour else []
                if not others and not absent:
                    return []
            reference = source_of(snippet)
            cases = {
                name: replace(
                    displaying(snippet, reference, unmask(row["masked_code"], Granularity.TOKEN, name, name)),
                    import_names=names[row["version"]],
                )
                for name in (row["core_token"], *others, *absent)
            }
            own, of_neighbour = {name: cases[name] for name in others}, {name: cases[name] for name in absent}
            return [_Program(row, cases[row["core_token"]], own, neighbour, of_neighbour)]

        with at_release(version):
            programs, broken = parted(guarded(group, lambda row: row["id"], fill))
            scored = attempt(version, _run, built, version, programs, names, fails, runner, rules)
        units += len(programs) + len(broken)
        rejects += broken
        if isinstance(scored, Reject):
            rejects += [replace(scored, key=program.completion["id"]) for program in programs]
        else:
            rows += scored
    return Output({"other_answers": rows}, units_in=units, units_out=len(rows), rejects=rejects)


def _other_side(change: ChangeRow | None, version: str) -> str | None:
    """Return the release on the other side of a change; of a release that is on neither there is none."""
    sides = (change["old_version"], change["new_version"]) if change else ()
    return next((side for side in sides if side != version), None) if version in sides else None


def _names_of_neighbour(
    row: CompletionRow, here: Mapping[str, SymbolRow], there: Mapping[str, SymbolRow], most: int
) -> list[str]:
    """Return the names of the other release that may stand in the place of the hidden one and that this one lacks."""
    if not _hides_argument(row):
        return list(_other_names(row, {path: symbol for path, symbol in there.items() if path not in here}, most))
    own = {parameter["name"] for parameter in here[row["path"]]["parameters"]} if row["path"] in here else None
    return [] if own is None else [name for name in _other_names(row, there, most) if name not in own]


def _hides_argument(row: CompletionRow) -> bool:
    return row["core_token"] != row["path"].rpartition(".")[2]


def _other_names(row: CompletionRow, symbols: Mapping[str, SymbolRow], most: int) -> Iterator[str]:
    """Yield the names that may stand in the place of the hidden one: of its module, class or signature."""
    if _hides_argument(row):
        symbol = symbols.get(row["path"])
        for parameter in symbol["parameters"] if symbol else ():
            if parameter["kind"] in _BY_NAME and parameter["name"] != row["core_token"]:
                yield parameter["name"]
        return
    # A program that only another Python parses is not read.
    tree = parse_program(unmask(row["masked_code"], Granularity.TOKEN, _HIDDEN, _HIDDEN))
    yield from neighbours(row["path"], calls_of(tree, _HIDDEN) if tree else (), symbols, most)


_ENUMERATIONS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})


def names_of_same(path: str, symbols: Mapping[str, SymbolState]) -> set[str]:
    """Return the names beside an API of the same object: aliases, attributes of one name, enum members of one value."""
    if path not in symbols:
        return set()
    hidden = symbols[path]
    place, _, name = path.rpartition(".")
    value, bases = hidden["value"], symbols[place]["bases"] if place in symbols else ()
    is_member = any(base.rpartition(".")[2] in _ENUMERATIONS for base in bases)
    # `auto()` gives another value each time; of `A = B = 1 << next(counter)` a run tells
    is_value = value is not None and (
        (is_member and "auto(" not in value) or (value.isidentifier() and not keyword.iskeyword(value))
    )
    values = {name, value} if is_value else {name}
    same = set()
    for other, symbol in symbols.items():
        parent, _, its_name = other.rpartition(".")
        is_same = (
            symbol["canonical_path"] == hidden["canonical_path"] or symbol["value"] in values or its_name in values
        )
        if parent == place and is_same:
            same.add(its_name)
    return same - {name}


_HIDDEN = "hidden_name_of_the_completion"
"""A name that no program has: a function of another library may have the name that is hidden."""


def neighbours(path: str, calls: Collection[ast.Call], symbols: Mapping[str, SymbolState], most: int) -> list[str]:
    """Return other public names of an API's module or class whose signatures take the arguments of calls.

    At most so many, the likeliest mistakes: first what is defined in the same file, and there the most similar names.
    """
    place, _, hidden = path.rpartition(".")
    home = symbols[path]["file"] if path in symbols else None
    ranked: list[tuple[bool, float, str]] = []
    for other, symbol in symbols.items():
        parent, _, name = other.rpartition(".")
        if parent == place and other != path and all(_takes(symbol, call) for call in calls):
            ranked.append((symbol["file"] != home, -SequenceMatcher(None, hidden, name).ratio(), name))
    return sorted(name for *_, name in sorted(ranked)[:most])


def namesakes(path: str, calls: Collection[ast.Call], symbols: Mapping[str, SymbolState]) -> list[str]:
    """Return the public paths in other modules of something else of an API's name that takes the arguments of calls.

    Of several paths of one thing it is the first by the alphabet.
    """
    if path not in symbols:
        return []
    place, _, name = path.rpartition(".")
    there: dict[str, str] = {}
    for other, symbol in symbols.items():
        parent, _, its_name = other.rpartition(".")
        is_another = its_name == name and symbol["canonical_path"] != symbols[path]["canonical_path"]
        modules = {each for each in (parent, place) if each in symbols and symbols[each]["kind"] == SymbolKind.MODULE}
        if is_another and modules == {parent, place} and all(_takes(symbol, call) for call in calls):
            there[symbol["canonical_path"]] = min(there.get(symbol["canonical_path"], other), other)
    return sorted(there.values())


def calls_of(tree: ast.AST, name: str) -> list[ast.Call]:
    """Return the calls of what has a name."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and name_of(node.func) == name]


def name_of(node: ast.expr) -> str | None:
    """Return the name of what is called, by whatever path; None where it has none."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


def _takes(symbol: SymbolState, call: ast.Call) -> bool:
    """Return whether a signature takes the arguments of a call; where one of both is not known, it is to be tried."""
    spread = any(isinstance(argument, ast.Starred) for argument in call.args)
    has_signature = symbol["parameters"] or symbol["kind"] in (SymbolKind.FUNCTION, SymbolKind.METHOD)
    if not has_signature or spread or not all(keyword.arg for keyword in call.keywords):
        return symbol["kind"] != SymbolKind.MODULE
    try:
        parameters = [
            inspect.Parameter(each["name"], _KINDS[each["kind"]], default=each["default"] or inspect.Parameter.empty)
            for each in symbol["parameters"]
        ]
        inspect.Signature(parameters).bind(*call.args, **{str(keyword.arg): keyword for keyword in call.keywords})
    except (TypeError, ValueError):  # a source may name parameters that no signature can have
        return False
    return True


_KINDS: Mapping[str, Any] = {
    ParameterKind.POSITIONAL_ONLY: inspect.Parameter.POSITIONAL_ONLY,
    ParameterKind.POSITIONAL_OR_KEYWORD: inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ParameterKind.VAR_POSITIONAL: inspect.Parameter.VAR_POSITIONAL,
    ParameterKind.KEYWORD_ONLY: inspect.Parameter.KEYWORD_ONLY,
    ParameterKind.VAR_KEYWORD: inspect.Parameter.VAR_KEYWORD,
}


_BY_NAME = (ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY)


def _run(
    built: Mapping[str, EnvironmentRow],
    version: str,
    programs: Sequence[_Program],
    names: Mapping[str, Sequence[str]],
    fails: Collection[Outcome],
    runner: Runner,
    rules: MutationRules,
) -> list[OtherAnswerRow]:
    """Run all programs of a release together; where the reference itself takes too long, no name is known to pass.

    Names of the other release are run there too, unless what came of them here says nothing, as a time-out does.
    """
    here = _outcomes(
        built[version],
        {
            (program.completion["id"], name): case
            for program in programs
            for name, case in [("", program.reference), *program.others.items(), *program.of_neighbour.items()]
        },
        *(runner, rules),
    )
    to_run_there: Mapping[str, dict[tuple[str, str], Case]] = defaultdict(dict)
    for program in programs:
        id_, neighbour = program.completion["id"], program.neighbour
        for name, case in program.of_neighbour.items() if here[id_, ""] == Outcome.PASSED else ():
            if neighbour and (here[id_, name] == Outcome.PASSED or here[id_, name] in fails):
                to_run_there[neighbour][id_, name] = replace(case, import_names=names[neighbour])
    there: dict[tuple[str, str], Outcome] = {}
    for neighbour, cases in to_run_there.items():
        there |= _outcomes(built[neighbour], cases, runner, rules)
    rows = []
    for program in programs:
        id_ = program.completion["id"]
        is_proven = here[id_, ""] == Outcome.PASSED
        own = {name for name in program.others if is_proven and here[id_, name] == Outcome.PASSED}
        right_there = {name for name in program.of_neighbour if there.get((id_, name)) == Outcome.PASSED}
        in_both = {name for name in right_there if here[id_, name] == Outcome.PASSED}
        tried = len(program.others) if is_proven else 0
        rows.append(_row(program, built[version], tried, sorted(own | in_both), sorted(right_there - in_both)))
    return rows


def _outcomes(
    environment: EnvironmentRow, cases: Mapping[tuple[str, str], Case], runner: Runner, rules: MutationRules
) -> dict[tuple[str, str], Outcome]:
    """Run programs in a release, and return how they end."""
    quick = hurried(runner, rules.model_copy(update={"time_s": rules.other_name_time_s}))
    numbered = [replace(case, id=str(number)) for number, case in enumerate(cases.values())]
    opened = runner.store.open(environment)
    results = run_cases(opened, numbered, quick.sandbox, quick.rules, quick.workers, memory=quick.memory)
    return {key: result.outcome for key, result in zip(cases, results, strict=True)}


def _row(
    program: _Program, environment: EnvironmentRow, tried: int, passing: list[str], right_there: list[str]
) -> OtherAnswerRow:
    library, version, lock_id = environment["library"], environment["version"], environment["lock_id"]
    assert lock_id is not None  # what was built has one
    return {
        "id": content_id(library, program.completion["id"], version, lock_id),
        "completion_id": program.completion["id"],
        "library": library,
        "version": version,
        "lock_id": lock_id,
        "tried": tried,
        "passing": passing,
        "neighbour_version": program.neighbour,
        "neighbour_answers": right_there,
    }
