"""The stage `witnesses`: the smallest programs of tests of which running shows a change of the library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from packaging.version import Version

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.own_tests.rules import OwnTestRules
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.rules import UsageRules
from pipeline.corpus.witnesses.candidates import Catalogue
from pipeline.corpus.witnesses.change_search import ChangeSearch
from pipeline.corpus.witnesses.changed_uses import TestScripts, side_before_mark, sides_of
from pipeline.corpus.witnesses.distinctive import plain_code, rank
from pipeline.corpus.witnesses.other_results import OtherResults
from pipeline.corpus.witnesses.script_runs import ScriptRuns
from pipeline.corpus.witnesses.scripts import OF_RAISED
from pipeline.corpus.witnesses.two_forms import changed_forms, forms_of, run_forms, within_quota, witness_of
from pipeline.corpus.witnesses.values_of_tests import ValuesOfTests
from pipeline.corpus.witnesses.written import ProgramWriter
from pipeline.execution.validation.stage import Runner
from pipeline.lake.guard import guarded, parted
from pipeline.lake.intervals import chains, holding_at
from pipeline.lake.rows import Tables, WitnessRow
from pipeline.lake.stage import Output, Reject


def witnesses_stage(tables: Tables, runner: Runner, rules: OwnTestRules, usage: UsageRules) -> Output:
    """Run what may show a change in the releases on either side of it, and keep the smallest programs that do.

    One unit is a change that running can show. Of the tests of either release those are cut down that use the API, or
    give the parameter. Where none shows the change, programs are written from it. One that passes at home is a row
    where it fails in the other release at the line of the use, and the failure names what changed.

    The other unit is a test with another program in the next release. It is a row where the old program fails in the
    new release, the new program prints there what the old one printed in its own, and the line that fails uses an API
    that the catalogue says to have changed. Where the catalogue says nothing of it, it is the reject UNLISTED_CHANGE.

    The third unit is a test that a release has and its neighbour has not. It is a row without a change where it prints
    something else there, and the API that it uses is in both and not listed as changed.

    A release without an environment is a note.

    Errors: those of `EnvironmentStore.open`.
    """
    if not rules.enabled:
        return Output({"witnesses": []}, 0, 0)
    releases = {row["version"]: row for row in tables["releases"]}
    library = next((row["library"] for row in releases.values()), None)
    returns = usage.returns_of(library) if library else {}
    pairs = list(changed_forms(tables["releases"], tables["own_tests"]))
    forms, rejects = parted(guarded(pairs, lambda pair: pair[1]["id"], lambda pair: [forms_of(*pair, rules.witness)]))
    forms, over = within_quota(forms, tables["changes"], rules.witness)
    rejects += over
    by_id = sorted(tables["changes"], key=lambda row: row["id"])
    changes = [change for change in by_id if sides_of(change) or side_before_mark(change)]
    versions = {side.home for change in changes for side in (*sides_of(change), *side_before_mark(change))} | {
        version for each in forms for version in each.versions
    }
    versions |= {version for chain in chains(tables["releases"]) for version in chain if tables["own_tests"]}
    apis = {
        version: Api(
            {row["path"]: row for row in holding_at(tables["symbols"], version)},
            releases[version]["import_names"],
            returns,
        )
        for version in sorted(versions, key=Version)
    }
    runs = ScriptRuns(releases, runner)
    scripts = TestScripts(tables["own_tests"], apis, releases)
    # Each test is parsed for its values, which takes its time.
    values = ValuesOfTests(tables["own_tests"] if rules.written.programs else (), tables["symbols"], rules.written)
    writer = ProgramWriter(scripts, apis, values, rules.written)
    catalogue = Catalogue(tables["changes"])
    search = ChangeSearch(scripts, writer, apis, catalogue, runs, rules.witness)
    of_changes, refused = search.of_changes(changes)
    rejects += refused
    run_forms(forms, runs)
    of_pairs, refused = parted(
        guarded(
            forms, lambda each: each.key, lambda each: [witness_of(each, runs.results, catalogue, apis, rules.witness)]
        )
    )
    other_results = OtherResults(scripts, apis, catalogue, runs, rules.witness)
    of_results, unshown = other_results.witnesses(tables["releases"], tables["own_tests"])
    rejects += unshown
    rows, surplus = _one_of_each([*of_changes, *of_pairs, *of_results], apis, rules)
    rejects += [*refused, *surplus]
    return Output({"witnesses": rows}, len(rows) + len(rejects), len(rows), rejects, runs.notes)


def _rank_of(row: WitnessRow) -> tuple[int, int]:
    """Order witnesses as programs; what they raise counts as nothing."""
    code, path = row["old_code"] or row["new_code"] or "", row["old_path"] or row["new_path"] or ""
    checks = row["old_checks"] or row["new_checks"]
    return rank(
        code,
        path,
        [check["expected"] for check in checks if check["expected"] and OF_RAISED not in check["statement"]],
    )


def _one_of_each(
    rows: Sequence[WitnessRow], apis: Mapping[str, Api], rules: OwnTestRules
) -> tuple[list[WitnessRow], list[Reject]]:
    """Keep so many programs and pairs for a side of a change: distinctive ones, that show more of the API, then short.

    Of programs that are written differently and mean the same one is kept.
    """
    counts: Counter[str] = Counter()
    by_meaning: dict[tuple[str, ...], WitnessRow] = {}
    rejects: list[Reject] = []
    size = {row["id"]: sum(len(row[side] or "") for side in ("old_code", "new_code")) for row in rows}

    def order(row: WitnessRow) -> tuple[object, ...]:
        return not row["distinctive"], _rank_of(row), size[row["id"]], row["id"], row["test_id"] or ""

    for row in sorted(rows, key=order):
        key = f"{row['test'] or 'written'} {row['old_version']} {row['new_version']}"
        most = rules.witness.per_change if row["source"] == SnippetSource.OWN_TEST else rules.written.per_change
        change = row["change_id"] or f"{row['old_path'] or row['new_path']} {row['new_version']}"
        change += f" {bool(row['old_code'])} {bool(row['new_code'])}"
        meaning = (
            row["old_version"],
            row["new_version"],
            plain_code(row["old_code"], row["old_path"], apis.get(row["old_version"])),
            plain_code(row["new_code"], row["new_path"], apis.get(row["new_version"])),
        )
        if meaning in by_meaning:
            rejects.append(Reject(key, RejectReason.DUPLICATE, "another test has the same program"))
        elif counts[change] >= (1 if OF_RAISED in f"{row['old_code']}{row['new_code']}" else most):
            rejects.append(Reject(key, RejectReason.OVER_QUOTA, f"the rule takes {most} programs of a change"))
        else:
            counts[change] += 1
            by_meaning[meaning] = row
    return sorted(by_meaning.values(), key=lambda row: row["id"]), rejects
